/* wide_random.h - structured programs of a thread drawn by chance: slots, nested conditions and loops,
 * breaks out of several regions, early ends, gathers, shared memory between barriers, integer atomics.
 * What a thread writes depends on no other thread but through shared memory and a barrier.  A thread reads again
 * what it wrote itself: all of `cells` and `kept` where it is the only one, else its own elements of `out`.
 */
#ifndef TD_TESTS_WIDE_RANDOM_H
#define TD_TESTS_WIDE_RANDOM_H
#include "ir/wide_cases.h"

enum { DRAW_IN = 256, DRAW_OUT = 1024, DRAW_SLOTS = 7, DRAW_LOG = 4, DRAW_CELLS = 4 };

typedef struct draw {
    test_case *c;
    uint64_t state;
    td_val ints, floats, out, fout, sums, shared, slot[DRAW_SLOTS], tid, lin, gid, n, zero;
    td_val cells, kept; /* global and shared memory of a thread that is alone in the grid; TD_NONE: it is not */
    uint32_t nthread;   /* of a block */
    int depth, level, left; /* open regions, of those the breakable ones, statements to come */
    int together;           /* breakable regions that all threads leave together */
    bool ends, apart;       /* ends: exits are wanted; apart: threads' paths may differ here */
    bool wrapped;           /* all stands in a block; ends are breaks out of it */
} draw;

static inline uint64_t
draw_next(draw *d, uint64_t n)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return td_mix64(d->state) % n;
}

static td_val draw_int(draw *d, int deep);

/* Memory that this thread alone reads and writes, and a place in it. */
static inline td_val
draw_own(draw *d, td_val *at)
{
    td_fn *f = &d->c->f;
    uint64_t which = draw_next(d, 4);

    *at = td_const_int(f, TD_I32, (int64_t)draw_next(d, DRAW_CELLS));
    if (d->cells.i == UINT32_MAX) {
        *at = TD_E2(f, add, TD_E2(f, multiply, d->gid, td_const_int(f, TD_I32, DRAW_LOG)), *at);
        return d->out;
    }
    if (which == 3)
        *at = TD_E2(f, bitwise_and, draw_int(d, 0), td_const_int(f, TD_I32, DRAW_CELLS - 1));
    return which < 2 ? d->cells : d->kept;
}

static inline td_val
draw_own_load(draw *d)
{
    td_val at, p = draw_own(d, &at);

    return td_load(&d->c->f, p, at, TD_NONE, 1, 0);
}

/* Changes such memory.  No other thread touches it, so what an atomic operation gives is known, too. */
static inline void
draw_own_write(draw *d)
{
    static const td_op ops[] = {OP_atomic_add, OP_atomic_max, OP_atomic_exch, OP_atomic_xor};
    td_fn *f = &d->c->f;
    td_val at, p = draw_own(d, &at), v = draw_int(d, 1);

    if (draw_next(d, 3))
        td_store(f, p, at, v, TD_NONE, 0);
    else if (draw_next(d, 2))
        td_atomic(f, ops[draw_next(d, 4)], p, at, v, TD_NONE);
    else
        td_set(f, d->slot[draw_next(d, 3)],
               td_atomic(f, ops[draw_next(d, 4)], p, at, v, TD_NONE));
}

static inline td_val
draw_float(draw *d, int deep)
{
    static const td_op ops[] = {OP_add, OP_subtract, OP_multiply, OP_fmax};
    td_fn *f = &d->c->f;

    switch (deep ? draw_next(d, 6) : draw_next(d, 3)) {
    case 0: return td_get(f, d->slot[4]);
    case 1: return td_const(f, TD_F32, (double)draw_next(d, 64) / 8 - 3);
    case 2: return td_get(f, d->slot[5]);
    case 3: return td_cast(f, draw_int(d, deep - 1), TD_F32);
    case 4:
        return td_load(f, d->floats,
                       TD_E2(f, bitwise_and, draw_int(d, deep - 1), td_const_int(f, TD_I32, DRAW_IN - 1)),
                       TD_NONE, 1, 0);
    }
    return td_emit(f, ops[draw_next(d, 4)],
                   (td_val[]){draw_float(d, deep - 1), draw_float(d, deep - 1)});
}

static inline td_val
draw_int(draw *d, int deep)
{
    static const td_op ops[] = {OP_add,         OP_subtract, OP_multiply, OP_bitwise_and,
                                OP_bitwise_xor, OP_fmod,     OP_minimum};
    td_fn *f = &d->c->f;

    if (draw_next(d, 6) == 0)
        return draw_own_load(d);
    switch (deep ? draw_next(d, 10) : draw_next(d, 6)) {
    case 0:
    case 1: return td_get(f, d->slot[draw_next(d, 3)]);
    case 2: return td_const_int(f, TD_I32, (int64_t)draw_next(d, 40) - 9);
    case 3: return d->tid;
    case 4: return d->n;
    case 5: return td_cast(f, td_get(f, d->slot[3]), TD_I32);
    case 6:
        return td_load(f, d->ints,
                       TD_E2(f, bitwise_and, draw_int(d, deep - 1), td_const_int(f, TD_I32, DRAW_IN - 1)),
                       TD_NONE, 1, 0);
    case 7:
        return td_load(f, d->ints, TD_E2(f, add, d->tid, td_const_int(f, TD_I32, (int64_t)draw_next(d, 9))),
                       TD_NONE, 1, 0);
    }
    if (draw_next(d, 10) == 0) { /* an index from the end, as Python's */
        td_val i = TD_E2(f, subtract, d->tid, td_const_int(f, TD_I32, (int64_t)draw_next(d, 9)));

        i = TD_E3(f, select, TD_E2(f, less, i, d->zero), TD_E2(f, add, i, td_const_int(f, TD_I32, DRAW_IN)), i);
        return td_load(f, d->ints, i, TD_NONE, 1, 0);
    }
    return td_emit(f, ops[draw_next(d, 7)], (td_val[]){draw_int(d, deep - 1), draw_int(d, deep - 1)});
}

/* A condition; alike in all threads of the block unless they may part. */
static inline td_val
draw_cond(draw *d)
{
    static const td_op ops[] = {OP_less, OP_less_equal, OP_greater, OP_greater_equal, OP_equal, OP_not_equal};
    td_fn *f = &d->c->f;
    td_op op = ops[draw_next(d, 6)];
    td_val k = td_const_int(f, TD_I32, (int64_t)draw_next(d, 50) - 5), c;

    if (!d->apart)
        return td_emit(f, op, (td_val[]){d->n, k});
    switch (draw_next(d, 5)) {
    case 0: return td_emit(f, op, (td_val[]){d->tid, k});
    case 1: return td_emit(f, op, (td_val[]){TD_E2(f, add, d->gid, k), draw_int(d, 0)});
    case 2:
        c = td_emit(f, op, (td_val[]){d->tid, k});
        return TD_E2(f, logical_and, c, td_emit(f, op, (td_val[]){draw_int(d, 1), k}));
    case 3: return TD_E1(f, logical_not, TD_E2(f, less, d->tid, k));
    }
    return td_emit(f, op, (td_val[]){draw_int(d, 1), draw_int(d, 1)});
}

static void draw_body(draw *d, int n);

static inline void
draw_if(draw *d)
{
    td_if(&d->c->f, draw_cond(d));
    draw_body(d, 3);
    if (draw_next(d, 2)) {
        td_else(&d->c->f);
        draw_body(d, 3);
    }
    td_end(&d->c->f);
}

/* Counters are bounded: every loop ends. */
static inline void
draw_loop(draw *d)
{
    td_fn *f = &d->c->f;
    td_val lo, hi, i, k, seven = td_const_int(f, TD_I32, 7);

    d->level++;
    switch (draw_next(d, 3)) {
    case 0:
        lo = d->apart && draw_next(d, 2) ? TD_E2(f, fmod, draw_int(d, 1), seven)
                                         : td_const_int(f, TD_I32, (int64_t)draw_next(d, 4));
        hi = d->apart && draw_next(d, 2) ? TD_E2(f, fmod, draw_int(d, 1), seven)
                                         : td_const_int(f, TD_I32, (int64_t)draw_next(d, 6));
        if (d->apart && draw_next(d, 4) == 0) {
            lo = d->tid;
            hi = TD_E2(f, add, lo, hi);
        }
        i = td_for(f, lo, hi, td_const_int(f, TD_I32, 1 + (int64_t)draw_next(d, 3)));
        td_set(f, d->slot[draw_next(d, 2)], i);
        draw_body(d, 3);
        break;
    case 1:
        k = td_slot(f, TD_I32, 1);
        td_set(f, k, d->apart && draw_next(d, 2) ? TD_E2(f, fmod, draw_int(d, 1), seven) : d->zero);
        td_loop(f);
        td_break_if(f, TD_E2(f, greater, td_get(f, k), td_const_int(f, TD_I32, (int64_t)draw_next(d, 5))));
        td_set(f, k, TD_E2(f, add, td_get(f, k), td_const_int(f, TD_I32, 1)));
        draw_body(d, 3);
        break;
    default:
        td_block(f);
        draw_body(d, 3);
    }
    td_end(f);
    d->level--;
}

/* Threads exchange values: each writes its own element, reads another's behind a barrier. */
static inline void
draw_exchange(draw *d)
{
    td_fn *f = &d->c->f;
    td_val n = td_const_int(f, TD_I32, (int64_t)d->nthread), other;

    td_store(f, d->shared, d->lin, draw_int(d, 1), TD_NONE, 0);
    td_barrier(f);
    other = TD_E2(f, fmod, TD_E2(f, add, d->lin, td_const_int(f, TD_I32, (int64_t)draw_next(d, 30))), n);
    td_set(f, d->slot[draw_next(d, 3)], td_load(f, d->shared, other, TD_NONE, 1, 0));
    td_barrier(f);
}

static inline void
draw_write(draw *d)
{
    td_fn *f = &d->c->f;
    td_val own = TD_E2(f, multiply, d->gid, td_const_int(f, TD_I32, DRAW_LOG)), at;

    at = TD_E2(f, add, own, td_const_int(f, TD_I32, (int64_t)draw_next(d, DRAW_LOG)));
    switch (draw_next(d, 5)) {
    case 0: td_store(f, d->out, at, draw_int(d, 1), TD_NONE, 0); break;
    case 1: td_store(f, d->fout, d->gid, draw_float(d, 1), TD_NONE, 0); break;
    case 2:
    case 3: draw_own_write(d); break;
    default:
        at = TD_E2(f, bitwise_and, draw_int(d, 1), td_const_int(f, TD_I32, 7));
        if (draw_next(d, 2))
            td_atomic(f, OP_atomic_add, d->sums, at, draw_int(d, 1), TD_NONE);
        else
            td_atomic(f, OP_atomic_xor, d->sums, TD_E2(f, add, at, td_const_int(f, TD_I32, 8)),
                      draw_int(d, 1), TD_NONE);
    }
}

static inline void
draw_set(draw *d)
{
    td_fn *f = &d->c->f;

    switch (draw_next(d, 4)) {
    case 0: td_set(f, d->slot[4 + draw_next(d, 2)], draw_float(d, 2)); break;
    case 1: td_set(f, d->slot[3], td_cast(f, draw_int(d, 2), TD_I64)); break;
    default: td_set(f, d->slot[draw_next(d, 3)], draw_int(d, 2));
    }
}

static inline void
draw_end(draw *d)
{
    td_fn *f = &d->c->f;

    if (!d->wrapped) {
        td_exit_if(f, draw_cond(d));
        return;
    }
    td_if(f, draw_cond(d));
    if (draw_next(d, 2))
        draw_set(d);
    td_break_out(f, td_const_int(f, TD_BOOL, 1), d->level);
    td_else(f);
    td_end(f);
}

/* Within what comes threads may part, and no barrier stands. */
static inline void
draw_part(draw *d)
{
    if (!d->apart && draw_next(d, 2)) {
        d->apart = true;
        d->together = d->level;
    }
}

static inline void
draw_statement(draw *d)
{
    td_fn *f = &d->c->f;
    bool apart = d->apart;
    int together = d->together;

    switch (draw_next(d, 12)) {
    case 0:
    case 1:
    case 2:
    case 3: draw_set(d); return;
    case 4:
    case 5: draw_write(d); return;
    case 6:
    case 7:
        draw_part(d);
        draw_if(d);
        break;
    case 8:
    case 9:
        draw_part(d);
        draw_loop(d);
        break;
    case 10:
        if (d->ends && d->apart && draw_next(d, 3) == 0)
            draw_end(d);
        else if (d->level > together)
            td_break_out(f, draw_cond(d), (int)draw_next(d, (uint64_t)(d->level - together)));
        return;
    default:
        if (!d->apart && d->shared.i != UINT32_MAX)
            draw_exchange(d);
    }
    d->apart = apart;
    d->together = together;
}

static void
draw_body(draw *d, int n)
{
    if (++d->depth < 5)
        while (n-- > 0 && d->left-- > 0)
            draw_statement(d);
    d->depth--;
}

/* A kernel for blocks of `nthread` threads, two blocks at most, of one thread: one.  A third of the kernels have barriers, half
 * of them threads that end early. */
static inline void
wide_draw(test_case *c, uint64_t seed, uint32_t nthread)
{
    static const td_dtype slots[DRAW_SLOTS] = {TD_I32, TD_I32, TD_I32, TD_I64, TD_F32, TD_F32, TD_I32};
    td_fn *f = &c->f;
    draw d = {.c = c, .state = seed * 7919 + 13, .nthread = nthread, .left = 40};
    td_val row;

    d.ints = wide_in(c, TD_I32, DRAW_IN);
    d.floats = wide_in(c, TD_F32, DRAW_IN);
    d.out = test_out(c, TD_I32, DRAW_OUT, "out", 0);
    d.fout = test_out(c, TD_F32, DRAW_OUT, "fout", 0);
    d.sums = test_out(c, TD_I32, 16, "sums", 0);
    d.n = test_word(c, TD_I32, seed % 31);
    d.shared = seed % 3 == 1 ? td_shared(f, TD_I32, nthread) : TD_NONE;
    d.ends = seed % 2;
    d.cells = d.kept = TD_NONE;
    for (int k = 0; k < DRAW_SLOTS; k++)
        d.slot[k] = td_slot(f, slots[k], 1);
    d.zero = td_const_int(f, TD_I32, 0);
    if (nthread == 1) {
        d.cells = test_out(c, TD_I32, DRAW_CELLS, "cells", 0);
        d.kept = td_shared(f, TD_I32, DRAW_CELLS);
        for (int k = 0; k < DRAW_CELLS; k++)
            td_store(f, d.kept, td_const_int(f, TD_I32, k), td_const_int(f, TD_I32, 7 * k), TD_NONE, 0);
    }
    d.tid = td_index(f, OP_tid, 0);
    row = TD_E2(f, multiply, td_index(f, OP_tid, 2), td_index(f, OP_bdim, 1));
    row = TD_E2(f, add, row, td_index(f, OP_tid, 1));
    d.lin = TD_E2(f, add, TD_E2(f, multiply, row, td_index(f, OP_bdim, 0)), d.tid);
    d.gid = TD_E2(f, add, TD_E2(f, multiply, td_index(f, OP_bid, 0), td_const_int(f, TD_I32, nthread)), d.lin);
    d.apart = d.shared.i == UINT32_MAX;
    d.wrapped = d.apart && seed % 4 == 3;
    if (d.wrapped)
        td_block(f);
    if (!d.apart) { /* what a thread that ends leaves behind is known */
        td_store(f, d.shared, d.lin, d.zero, TD_NONE, 0);
        td_barrier(f);
    }
    while (d.left > 0)
        draw_body(&d, 6);
    td_store(f, d.fout, d.gid, td_get(f, d.slot[4]), TD_NONE, 0);
    for (int k = 0; k < 3; k++)
        td_store(f, d.out, TD_E2(f, add, TD_E2(f, multiply, d.gid, td_const_int(f, TD_I32, DRAW_LOG)),
                                 td_const_int(f, TD_I32, k)),
                 td_get(f, d.slot[k]), TD_NONE, 0);
    for (int k = 0; nthread == 1 && k < DRAW_CELLS; k++)
        td_store(f, d.out, td_const_int(f, TD_I32, DRAW_LOG + k),
                 td_load(f, d.kept, td_const_int(f, TD_I32, k), TD_NONE, 1, 0), TD_NONE, 0);
    if (d.wrapped)
        td_end(f);
}

#endif
