/* wide_cases.h - programs of a thread as users write them, for the widening pass: launched by blocks of
 * many shapes.
 */
#ifndef TD_TESTS_WIDE_CASES_H
#define TD_TESTS_WIDE_CASES_H
#include "ir/lower_cases.h"

enum { WIDE_N = 1000, WIDE_SIDE = 40 };

#define ADD(a, b)  TD_E2(&c->f, add, a, b)
#define SUB(a, b)  TD_E2(&c->f, subtract, a, b)
#define MUL(a, b)  TD_E2(&c->f, multiply, a, b)
#define LESS(a, b) TD_E2(&c->f, less, a, b)
#define I32(v)     td_const_int(&c->f, TD_I32, v)
#define F32(v)     td_const(&c->f, TD_F32, v)
#define LOAD(p, i) td_load(&c->f, p, i, TD_NONE, 1, 0)
#define STORE(p, i, v) td_store(&c->f, p, i, v, TD_NONE, 0)

/* Values that arithmetic keeps small. */
static inline td_val
wide_in(test_case *c, td_dtype dt, int64_t n)
{
    char *p = test_buffer((size_t)n * td_dtype_size(dt));

    for (int64_t k = 0; k < n; k++) {
        td_scalar s = {.dt = TD_F64, .f = {(double)(test_random() % 2000) / 16.0 - 60}};
        uint64_t bits[2] = {test_random() % 200};

        if (td_dtype_is_float(dt))
            td_scalar_bits(s, dt, bits);
        else if (dt == TD_BOOL)
            bits[0] &= 1;
        memcpy(p + (size_t)k * td_dtype_size(dt), bits, td_dtype_size(dt));
    }
    return test_in(c, dt, p, n);
}

static inline td_val
wide_axis(test_case *c, int axis)
{
    return ADD(MUL(td_index(&c->f, OP_bid, axis), td_index(&c->f, OP_bdim, axis)),
               td_index(&c->f, OP_tid, axis));
}

/* Opens `if i < n`; int64 indices, as Python's are. */
static inline td_val
wide_bounded(test_case *c)
{
    td_val n = test_word(c, TD_I64, WIDE_N), i = td_cast(&c->f, wide_axis(c, 0), TD_I64);

    td_if(&c->f, LESS(i, n));
    return i;
}

static inline void
wide_vector_add(test_case *c)
{
    td_val a = wide_in(c, TD_F32, WIDE_N), b = wide_in(c, TD_F32, WIDE_N),
           r = test_out(c, TD_F32, WIDE_N, "sum", 0), i = wide_bounded(c);

    STORE(r, i, ADD(LOAD(a, i), LOAD(b, i)));
    td_end(&c->f);
}

/* An early return, dtypes of all sizes, neighbours to both sides. */
static inline void
wide_stencil(test_case *c)
{
    static const td_dtype dts[] = {TD_I8, TD_U16, TD_I32, TD_F32, TD_F64, TD_I64, TD_U64};
    enum { N = sizeof dts / sizeof *dts };
    td_fn *f = &c->f;
    td_val in[N], out[N], i = wide_axis(c, 0), j, v;

    for (int k = 0; k < N; k++) {
        in[k] = wide_in(c, dts[k], WIDE_N);
        out[k] = test_out(c, dts[k], WIDE_N, "stencil", 0);
    }
    td_exit_if(f, TD_E2(f, greater_equal, ADD(i, I32(2)), I32(WIDE_N)));
    j = ADD(td_cast(f, i, TD_I64), td_const_int(f, TD_I64, 1));
    for (int k = 0; k < N; k++) {
        v = SUB(LOAD(in[k], i), LOAD(in[k], j));
        STORE(out[k], j, ADD(v, LOAD(in[k], ADD(i, I32(2)))));
    }
}

static inline void
wide_stencil2d(test_case *c)
{
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_F32, WIDE_SIDE * WIDE_SIDE),
           out = test_out(c, TD_F32, WIDE_SIDE * WIDE_SIDE, "2-d", 0), x = wide_axis(c, 0),
           y = wide_axis(c, 1), side = I32(WIDE_SIDE), i = ADD(MUL(y, side), x), v;

    v = TD_E2(f, logical_and, LESS(I32(0), x), LESS(I32(0), y));
    v = TD_E2(f, logical_and, v, LESS(x, SUB(side, I32(1))));
    td_if(f, TD_E2(f, logical_and, v, LESS(y, SUB(side, I32(1)))));
    v = ADD(LOAD(in, SUB(i, I32(1))), LOAD(in, ADD(i, I32(1))));
    STORE(out, i, ADD(v, ADD(LOAD(in, SUB(i, side)), LOAD(in, ADD(i, side)))));
    td_end(f);
}

static inline void
wide_mandelbrot(test_case *c)
{
    td_fn *f = &c->f;
    td_val r = test_out(c, TD_I32, WIDE_SIDE * WIDE_SIDE, "escapes", 0), x = wide_axis(c, 0),
           y = wide_axis(c, 1), side = I32(WIDE_SIDE), cr, ci, zr, zi, n, a, b;

    zr = td_slot(f, TD_F32, 1);
    zi = td_slot(f, TD_F32, 1);
    n = td_slot(f, TD_I32, 1);
    td_if(f, TD_E2(f, logical_and, LESS(x, side), LESS(y, side)));
    cr = SUB(MUL(td_cast(f, x, TD_F32), F32(3.0 / WIDE_SIDE)), F32(2.2));
    ci = SUB(MUL(td_cast(f, y, TD_F32), F32(2.4 / WIDE_SIDE)), F32(1.2));
    td_set(f, zr, F32(0));
    td_set(f, zi, F32(0));
    td_set(f, n, I32(0));
    td_loop(f);
    td_break_if(f, TD_E2(f, greater_equal, td_get(f, n), I32(200)));
    a = MUL(td_get(f, zr), td_get(f, zr));
    b = MUL(td_get(f, zi), td_get(f, zi));
    td_break_if(f, TD_E2(f, greater, ADD(a, b), F32(4)));
    td_set(f, zi, ADD(MUL(MUL(F32(2), td_get(f, zr)), td_get(f, zi)), ci));
    td_set(f, zr, ADD(SUB(a, b), cr));
    td_set(f, n, ADD(td_get(f, n), I32(1)));
    td_end(f);
    STORE(r, ADD(MUL(y, side), x), td_get(f, n));
    td_end(f);
}

static inline void
wide_nbody(test_case *c)
{
    td_fn *f = &c->f;
    td_val xs = wide_in(c, TD_F32, WIDE_N), ys = wide_in(c, TD_F32, WIDE_N),
           r = test_out(c, TD_F32, WIDE_N, "force", 0), ax = td_slot(f, TD_F32, 1),
           ay = td_slot(f, TD_F32, 1), n = test_word(c, TD_I64, 100), i, j, dx, dy, s;

    i = wide_bounded(c);
    td_set(f, ax, F32(0));
    td_set(f, ay, F32(0));
    j = td_for(f, td_const_int(f, TD_I64, 0), n, td_const_int(f, TD_I64, 1));
    dx = SUB(LOAD(xs, j), LOAD(xs, i));
    dy = SUB(LOAD(ys, j), LOAD(ys, i));
    s = ADD(ADD(MUL(dx, dx), MUL(dy, dy)), F32(0.01));
    s = TD_E2(f, divide, F32(1), MUL(s, TD_E1(f, sqrt, s)));
    td_set(f, ax, ADD(td_get(f, ax), MUL(dx, s)));
    td_set(f, ay, ADD(td_get(f, ay), MUL(dy, s)));
    td_end(f);
    STORE(r, i, ADD(td_get(f, ax), td_get(f, ay)));
    td_end(f);
}

/* Threads step through the elements by the number of threads; one of another bound each. */
static inline void
wide_grid_stride(test_case *c)
{
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_I32, WIDE_N), r = test_out(c, TD_I32, WIDE_N, "strides", 0),
           t = test_out(c, TD_I64, WIDE_N, "triangles", 0), sum = td_slot(f, TD_I64, 1),
           step = MUL(td_index(f, OP_bdim, 0), td_index(f, OP_gdim, 0)), i, j;

    i = td_for(f, wide_axis(c, 0), I32(WIDE_N), step);
    STORE(r, i, MUL(LOAD(in, i), I32(3)));
    td_set(f, sum, td_const_int(f, TD_I64, 0));
    j = td_for(f, I32(0), TD_E2(f, fmod, LOAD(in, i), I32(13)), I32(2));
    td_set(f, sum, ADD(td_get(f, sum), td_cast(f, LOAD(in, j), TD_I64)));
    td_end(f);
    j = td_for(f, TD_E2(f, fmod, LOAD(in, i), I32(5)), TD_E2(f, fmod, i, I32(11)), I32(1));
    td_set(f, sum, ADD(td_get(f, sum), td_cast(f, MUL(j, LOAD(in, j)), TD_I64)));
    td_end(f);
    STORE(t, i, td_get(f, sum));
    td_end(f);
}

/* A loop with continue, break out of two, and return. */
static inline void
wide_divergent(test_case *c)
{
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_I32, WIDE_N), r = test_out(c, TD_I32, WIDE_N, "path", 0),
           n = td_slot(f, TD_I32, 1), k = td_slot(f, TD_I32, 1), v, i, j;

    i = wide_bounded(c);
    v = LOAD(in, i);
    td_set(f, n, v);
    td_set(f, k, I32(0));
    td_loop(f);
    td_break_if(f, TD_E2(f, greater, td_get(f, k), TD_E2(f, fmod, v, I32(17))));
    td_set(f, k, ADD(td_get(f, k), I32(1)));
    td_block(f);
    td_break_if(f, TD_E2(f, equal, TD_E2(f, fmod, td_get(f, n), I32(3)), I32(0)));
    j = td_for(f, I32(0), td_get(f, k), I32(1));
    td_set(f, n, ADD(td_get(f, n), MUL(j, I32(5))));
    td_if(f, TD_E2(f, equal, TD_E2(f, fmod, td_get(f, n), I32(7)), I32(0)));
    STORE(r, i, I32(-1));
    td_break_out(f, TD_E2(f, greater, td_get(f, n), I32(300)), 2);
    td_break_out(f, TD_E2(f, greater, td_get(f, n), I32(200)), 1);
    td_exit_if(f, TD_E2(f, equal, TD_E2(f, fmod, v, I32(19)), I32(1)));
    td_else(f);
    td_set(f, n, SUB(td_get(f, n), I32(2)));
    td_end(f);
    td_end(f);
    td_set(f, n, ADD(td_get(f, n), I32(1)));
    td_end(f);
    td_set(f, n, ADD(td_get(f, n), I32(1)));
    td_end(f);
    STORE(r, i, td_get(f, n));
    td_end(f);
}

/* Two tiles in shared memory, blocks of 8 x 8. */
static inline void
wide_matmul(test_case *c)
{
    enum { T = 8 };
    td_fn *f = &c->f;
    td_val a = wide_in(c, TD_F32, WIDE_SIDE * WIDE_SIDE), b = wide_in(c, TD_F32, WIDE_SIDE * WIDE_SIDE),
           r = test_out(c, TD_F32, WIDE_SIDE * WIDE_SIDE, "product", 0), sa = td_shared(f, TD_F32, T * T),
           sb = td_shared(f, TD_F32, T * T), acc = td_slot(f, TD_F32, 1), x = wide_axis(c, 0),
           y = wide_axis(c, 1), tx = td_index(f, OP_tid, 0), ty = td_index(f, OP_tid, 1),
           side = I32(WIDE_SIDE), own = ADD(MUL(ty, I32(T)), tx), k, m;

    m = td_for(f, I32(0), I32(WIDE_SIDE), I32(T));
    STORE(sa, own, LOAD(a, ADD(MUL(y, side), ADD(m, tx))));
    STORE(sb, own, LOAD(b, ADD(MUL(ADD(m, ty), side), x)));
    td_barrier(f);
    k = td_for(f, I32(0), I32(T), I32(1));
    td_set(f, acc, ADD(td_get(f, acc), MUL(LOAD(sa, ADD(MUL(ty, I32(T)), k)),
                                           LOAD(sb, ADD(MUL(k, I32(T)), tx)))));
    td_end(f);
    td_barrier(f);
    td_end(f);
    STORE(r, ADD(MUL(y, side), x), td_get(f, acc));
}

/* A tree in shared memory: a while loop that the block runs as one, threads that take part in half of it. */
static inline void
wide_tree(test_case *c)
{
    enum { BLOCK = 128 };
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_I64, 2 * WIDE_N), r = test_out(c, TD_I64, 16, "sums", 0),
           s = td_shared(f, TD_I64, BLOCK), half = td_slot(f, TD_I32, 1), t = td_index(f, OP_tid, 0);

    STORE(s, t, LOAD(in, wide_axis(c, 0)));
    td_barrier(f);
    td_set(f, half, I32(BLOCK / 2));
    td_loop(f);
    td_break_if(f, TD_E2(f, equal, td_get(f, half), I32(0)));
    td_if(f, LESS(t, td_get(f, half)));
    STORE(s, t, ADD(LOAD(s, t), LOAD(s, ADD(t, td_get(f, half)))));
    td_end(f);
    td_barrier(f);
    td_set(f, half, TD_E2(f, right_shift, td_get(f, half), I32(1)));
    td_end(f);
    td_if(f, TD_E2(f, equal, t, I32(0)));
    STORE(r, td_index(f, OP_bid, 0), LOAD(s, I32(0)));
    td_end(f);
}

/* Counters in shared memory, then in global memory; threads that have no element end at once, and those
 * with a certain one later, before a barrier. */
static inline void
wide_histogram(test_case *c)
{
    enum { BINS = 50 };
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_I32, WIDE_N), r = test_out(c, TD_I32, BINS, "bins", 0),
           seen = test_out(c, TD_I32, WIDE_N, "seen", 0), s = td_shared(f, TD_I32, BINS),
           t = td_index(f, OP_tid, 0), n = td_index(f, OP_bdim, 0), i = wide_axis(c, 0), v, j;

    j = td_for(f, t, I32(BINS), n);
    STORE(s, j, I32(0));
    td_end(f);
    td_barrier(f);
    td_exit_if(f, TD_E2(f, greater_equal, i, I32(WIDE_N)));
    v = LOAD(in, i);
    td_atomic(f, OP_atomic_add, s, TD_E2(f, fmod, v, I32(BINS)), I32(1), TD_NONE);
    td_if(f, TD_E2(f, greater, t, I32(BINS)));
    td_exit_if(f, TD_E2(f, equal, v, I32(7)));
    td_end(f);
    td_barrier(f);
    STORE(seen, i, ADD(v, LOAD(s, I32(1))));
    td_if(f, LESS(t, I32(BINS)));
    td_atomic(f, OP_atomic_add, r, t, LOAD(s, t), TD_NONE);
    td_end(f);
}

/* Everything is a group's only: indices of blocks and threads in three dimensions. */
static inline void
wide_indices(test_case *c)
{
    td_fn *f = &c->f;
    td_val r = test_out(c, TD_I32, 4096, "indices", 0), v = I32(0), at = I32(0);

    for (int axis = 2; axis >= 0; axis--) {
        v = ADD(MUL(v, I32(17)), ADD(MUL(td_index(f, OP_bid, axis), I32(5)), td_index(f, OP_tid, axis)));
        at = ADD(MUL(at, MUL(td_index(f, OP_gdim, axis), td_index(f, OP_bdim, axis))), wide_axis(c, axis));
    }
    td_if(f, LESS(at, I32(4096)));
    STORE(r, at, v);
    td_end(f);
}

/* Functions of libm on lanes, some of them off. */
static inline void
wide_functions(test_case *c)
{
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_F32, WIDE_N), r = test_out(c, TD_F32, WIDE_N, "functions", 8),
           d = test_out(c, TD_F64, WIDE_N, "float64", 8), i = wide_bounded(c), v = LOAD(in, i), w;

    td_if(f, LESS(v, F32(0)));
    STORE(r, i, TD_E1(f, exp, MUL(v, F32(0.1))));
    td_else(f);
    STORE(r, i, TD_E1(f, sqrt, v));
    td_end(f);
    w = td_cast(f, v, TD_F64);
    STORE(d, i, TD_E2(f, divide, TD_E1(f, sin, w), ADD(w, td_const(f, TD_F64, 0.3))));
    td_end(f);
}

/* Sums by shuffles within warps, then of the warps' sums: any shape of block. */
static inline void
wide_shuffles(test_case *c)
{
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_I32, WIDE_N), r = test_out(c, TD_I32, WIDE_N, "warp sums", 0),
           bits = test_out(c, TD_U32, WIDE_N, "ballots", 0), m = test_out(c, TD_U32, WIDE_N, "matches", 0),
           d = test_out(c, TD_F64, WIDE_N, "moved", 0), all = td_const_int(f, TD_U32, UINT32_MAX), i, v, x;

    i = ADD(MUL(td_index(f, OP_tid, 2), td_index(f, OP_bdim, 1)), td_index(f, OP_tid, 1));
    i = ADD(MUL(i, td_index(f, OP_bdim, 0)), td_index(f, OP_tid, 0));
    v = LOAD(in, i);
    for (int k = 16; k; k /= 2)
        v = ADD(v, td_shuffle_xor(f, v, k));
    STORE(r, i, v);
    v = LOAD(in, i);
    STORE(m, i, td_match_any(f, TD_E2(f, fmod, v, I32(5)), all));
    x = td_cast(f, v, TD_F64);
    x = td_shuffle(f, x, TD_E2(f, fmod, ADD(td_lane(f), v), I32(32)), all);
    STORE(d, i, x);
    v = td_ballot(f, LESS(v, I32(90)), all);
    STORE(bits, i, v);
}

/* Lanes that part before they vote. */
static inline void
wide_votes(test_case *c)
{
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_I32, WIDE_N), r = test_out(c, TD_U32, WIDE_N, "votes", 0),
           all = td_const_int(f, TD_U32, UINT32_MAX), i = wide_axis(c, 0), v = LOAD(in, i), low, b;

    low = td_ballot(f, LESS(v, I32(100)), all);
    td_if(f, LESS(v, I32(100)));
    b = td_ballot(f, LESS(v, I32(50)), low);
    td_syncwarp(f, low);
    STORE(r, i, TD_E2(f, bitwise_xor, b, td_core(f, OP_activemask, NULL)));
    td_else(f);
    STORE(r, i, td_cast(f, td_lane(f), TD_U32));
    td_end(f);
}

/* Arrays of a thread's own, across barriers too; dynamic shared memory. */
static inline void
wide_local(test_case *c)
{
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_I32, WIDE_N), r = test_out(c, TD_I32, WIDE_N, "local", 0),
           a = td_local(f, TD_I32, 10), dyn = td_dynamic(f, TD_I32), i = wide_axis(c, 0),
           t = td_index(f, OP_tid, 0), n = td_index(f, OP_bdim, 0), k, v = td_slot(f, TD_I32, 1);

    k = td_for(f, I32(0), I32(10), I32(1));
    STORE(a, k, ADD(LOAD(in, k), MUL(k, i)));
    td_end(f);
    STORE(dyn, t, LOAD(a, TD_E2(f, fmod, LOAD(in, i), I32(10))));
    td_barrier(f);
    STORE(a, TD_E2(f, fmod, t, I32(10)), LOAD(dyn, SUB(SUB(n, I32(1)), t)));
    td_barrier(f);
    td_set(f, v, I32(0));
    k = td_for(f, I32(0), I32(10), I32(1));
    td_set(f, v, ADD(td_get(f, v), LOAD(a, k)));
    td_end(f);
    STORE(r, i, td_get(f, v));
}

/* Pairs of a float32 and an int64, packed: pointers that differ between threads. */
static inline void
wide_records(test_case *c)
{
    td_fn *f = &c->f;
    td_val raw = wide_in(c, TD_U8, 12 * WIDE_N), x = test_out(c, TD_U32, WIDE_N, "first", 0),
           y = test_out(c, TD_I64, WIDE_N, "second", 0), to = test_out(c, TD_U8, 12 * WIDE_N, "copy", 0), i, p, q;

    i = wide_bounded(c);
    p = td_at_byte(f, raw, MUL(i, td_const_int(f, TD_I64, 12)), TD_U32);
    STORE(x, i, LOAD(p, I32(0)));
    q = td_pointer(f, ADD(td_address(f, p), td_const_int(f, TD_U64, 4)), TD_I64);
    q = td_at_byte(f, q, td_const_int(f, TD_I64, 0), TD_I64);
    STORE(y, i, td_load(f, q, I32(0), TD_NONE, 1, 4));
    td_if(f, TD_E2(f, less, LOAD(raw, i), td_const_int(f, TD_U8, 100)));
    p = td_at_byte(f, to, MUL(i, td_const_int(f, TD_I64, 12)), TD_U32);
    STORE(p, I32(1), LOAD(x, i));
    td_end(f);
    td_end(f);
}

/* A barrier that counts, then a while loop on the count: each round the greatest threads leave off. */
static inline void
wide_counted(test_case *c)
{
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_I32, WIDE_N), r = test_out(c, TD_I32, WIDE_N, "rounds", 0),
           left = td_slot(f, TD_I32, 1), n = td_slot(f, TD_I32, 1), i = wide_axis(c, 0), k;

    td_set(f, left, TD_E2(f, fmod, LOAD(in, i), I32(6)));
    td_loop(f);
    k = td_barrier_count(f, LESS(I32(0), td_get(f, left)));
    td_break_if(f, TD_E2(f, equal, k, I32(0)));
    td_set(f, n, ADD(td_get(f, n), k));
    td_if(f, LESS(I32(0), td_get(f, left)));
    td_set(f, left, SUB(td_get(f, left), I32(1)));
    td_end(f);
    td_end(f);
    STORE(r, i, td_get(f, n));
}

/* Atomic operations give what was there; compare and swap until it holds. */
static inline void
wide_atomics(test_case *c)
{
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_I32, WIDE_N), r = test_out(c, TD_I32, 16, "cells", 0),
           mine = test_out(c, TD_I32, 16 * WIDE_N, "old", 0), i = wide_axis(c, 0),
           old = td_slot(f, TD_I32, 1), seen, v;

    td_exit_if(f, TD_E2(f, greater_equal, i, I32(WIDE_N)));
    v = LOAD(in, i);
    td_atomic(f, OP_atomic_max, r, I32(1), v, TD_NONE);
    td_atomic(f, OP_atomic_add, r, I32(2), I32(3), LESS(v, I32(80)));
    seen = td_atomic(f, OP_atomic_exch, mine, MUL(i, I32(16)), v, TD_NONE);
    STORE(mine, ADD(MUL(i, I32(16)), I32(1)), seen);
    td_set(f, old, LOAD(r, I32(3)));
    td_loop(f);
    seen = td_atomic_cas(f, r, I32(3), td_get(f, old), ADD(td_get(f, old), v), TD_NONE);
    td_break_if(f, TD_E2(f, equal, seen, td_get(f, old)));
    td_set(f, old, seen);
    td_end(f);
}

/* ---- functions: loops of independent iterations ---- */

/* Rows one after the other, the elements of a row at once. */
static inline void
wide_each_row(test_case *c)
{
    td_fn *f = &c->f;
    td_val r = test_out(c, TD_I32, WIDE_SIDE * WIDE_SIDE, "escapes", 0), sum = test_out(c, TD_I64, 1, "sum of rows", 0),
           side = test_word(c, TD_I64, WIDE_SIDE), total = td_slot(f, TD_I64, 1),
           zero = td_const_int(f, TD_I64, 0), n = td_slot(f, TD_I32, 1), z = td_slot(f, TD_F32, 1), x, y, cr;

    y = td_for(f, zero, side, td_const_int(f, TD_I64, 1));
    td_set(f, total, ADD(td_get(f, total), y));
    x = td_each(f, zero, side);
    cr = SUB(MUL(td_cast(f, ADD(x, y), TD_F32), F32(0.02)), F32(1.2));
    td_set(f, z, F32(0));
    td_set(f, n, I32(0));
    td_loop(f);
    td_break_if(f, TD_E2(f, logical_or, TD_E2(f, greater, td_get(f, z), F32(2)),
                         TD_E2(f, greater, td_get(f, n), I32(60))));
    td_set(f, z, ADD(MUL(td_get(f, z), td_get(f, z)), cr));
    td_set(f, n, ADD(td_get(f, n), I32(1)));
    td_end(f);
    STORE(r, ADD(MUL(y, side), x), ADD(td_get(f, n), td_cast(f, td_get(f, total), TD_I32)));
    td_end(f);
    td_end(f);
    STORE(sum, zero, td_get(f, total));
}

/* All pairs in pieces for the CPU's threads; arrays of an iteration's own; a loop that only looks independent. */
static inline void
wide_each_pair(test_case *c)
{
    td_fn *f = &c->f;
    td_val xs = wide_in(c, TD_F64, WIDE_N), r = test_out(c, TD_F64, WIDE_N, "force", 0),
           last = test_out(c, TD_I64, 1, "last", 0), zero = td_const_int(f, TD_I64, 0),
           n = test_word(c, TD_I64, WIDE_N - 3), kept = td_slot(f, TD_I64, 1), acc, p, i, j, d, own;

    p = td_pieces(f, zero, n, 7);
    acc = td_slot(f, TD_F64, 1);
    i = td_each(f, p, td_piece_end(f, p));
    own = td_local(f, TD_F64, 4);
    STORE(own, I32(1), LOAD(xs, i));
    td_set(f, acc, td_const(f, TD_F64, 0));
    j = td_for(f, zero, td_const_int(f, TD_I64, 50), td_const_int(f, TD_I64, 1));
    d = SUB(LOAD(xs, j), LOAD(own, I32(1)));
    td_set(f, acc, ADD(td_get(f, acc), MUL(d, TD_E1(f, fabs, d))));
    td_end(f);
    STORE(r, i, td_get(f, acc));
    td_end(f);
    td_end(f);
    i = td_each(f, zero, n);
    td_set(f, kept, ADD(td_get(f, kept), i));
    td_end(f);
    STORE(last, zero, td_get(f, kept));
}

#endif
