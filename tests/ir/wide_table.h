/* wide_table.h - programs whose lanes seldom part, and the table of all programs for the widening pass. */
#ifndef TD_TESTS_WIDE_TABLE_H
#define TD_TESTS_WIDE_TABLE_H
#include "ir/wide_cases.h"

/* An iteration that may end in the middle of a loop, as checked divisions do; variables that an iteration reads
 * before it sets them, but nobody uses what was read. */
static inline void
wide_each_checked(test_case *c)
{
    td_fn *f = &c->f;
    td_val xs = wide_in(c, TD_I32, WIDE_N), r = test_out(c, TD_I32, WIDE_N, "sums", 0),
           zero = td_const_int(f, TD_I64, 0), n = test_word(c, TD_I64, WIDE_N - 5), i, j, last, sum, x;

    i = td_each(f, zero, n);
    td_block(f);
    last = td_slot(f, TD_I32, 1);
    sum = td_slot(f, TD_I32, 1);
    td_set(f, sum, I32(0));
    j = td_for(f, zero, td_const_int(f, TD_I64, 20), td_const_int(f, TD_I64, 1));
    td_get(f, last);
    x = SUB(LOAD(xs, i), LOAD(xs, j));
    td_if(f, TD_E2(f, equal, x, I32(9)));
    STORE(r, i, I32(-1));
    td_break_out(f, td_const_int(f, TD_BOOL, 1), 1);
    td_end(f);
    td_set(f, last, x);
    td_set(f, sum, ADD(td_get(f, sum), x));
    td_end(f);
    td_get(f, last);
    STORE(r, i, td_get(f, sum));
    td_end(f);
    td_end(f);
}

/* i < 0 ? i + n : i */
static inline td_val
wide_python_index(test_case *c, td_val i, td_val n)
{
    return TD_E3(&c->f, select, LESS(i, td_const_int(&c->f, TD_I64, 0)), ADD(i, n), i);
}

/* Conditions that hold, or do not, for all but the threads at the edges; neighbours by Python's indices, in rows. */
static inline void
wide_edges(test_case *c)
{
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_F32, 2 * WIDE_N), r = test_out(c, TD_F32, 3 * WIDE_N, "edges", 0),
           n = test_word(c, TD_I64, WIDE_N), one = td_const_int(f, TD_I64, 1), zero = td_const_int(f, TD_I64, 0), i,
           left, first, last, inner;

    i = wide_bounded(c);
    left = ADD(n, wide_python_index(c, SUB(i, one), n));
    first = TD_E2(f, equal, i, zero);
    last = TD_E2(f, greater_equal, i, SUB(n, one));
    inner = TD_E2(f, logical_and, LESS(zero, i), LESS(i, SUB(n, one)));
    td_if(f, inner);
    STORE(r, i, SUB(ADD(LOAD(in, ADD(i, one)), LOAD(in, left)), MUL(F32(2), LOAD(in, ADD(n, i)))));
    td_else(f);
    STORE(r, i, ADD(LOAD(in, i), MUL(LOAD(in, left), F32(3))));
    td_end(f);
    td_if(f, TD_E2(f, logical_or, first, last));
    STORE(r, ADD(n, i), MUL(MUL(LOAD(in, i), LOAD(in, left)), MUL(LOAD(in, i), F32(7))));
    td_else(f);
    STORE(r, ADD(n, i), SUB(MUL(LOAD(in, left), F32(5)), MUL(LOAD(in, i), LOAD(in, SUB(i, one)))));
    td_end(f);
    td_if(f, TD_E1(f, logical_not, first));
    STORE(r, ADD(ADD(n, n), i), MUL(SUB(LOAD(in, left), F32(1)), ADD(LOAD(in, left), LOAD(in, i))));
    td_end(f);
    td_end(f);
}

/* Atomic operations on a block's own memory, whose old values count only as far as they do not depend on the order; a
 * loop whose iterations differ between lanes. */
static inline void
wide_own_counters(test_case *c)
{
    static const td_op op[] = {OP_atomic_add, OP_atomic_max, OP_atomic_min,
                               OP_atomic_and, OP_atomic_or,  OP_atomic_xor};
    enum { CELLS = 8, OPS = sizeof op / sizeof *op };
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_I32, WIDE_N), r = test_out(c, TD_I32, WIDE_N * OPS * CELLS, "cells", 0),
           seen = test_out(c, TD_I32, WIDE_N * 4, "old", 0), s = td_shared(f, TD_I32, OPS * CELLS),
           own = td_shared(f, TD_I32, 1024), t = td_index(f, OP_tid, 0), i = wide_axis(c, 0), v, k, old, b;

    k = td_for(f, t, I32(OPS * CELLS), td_index(f, OP_bdim, 0));
    STORE(s, k, I32(100));
    td_end(f);
    STORE(own, t, t);
    td_barrier(f);
    td_if(f, LESS(i, I32(WIDE_N)));
    v = LOAD(in, i);
    k = td_for(f, I32(0), ADD(I32(3), TD_E2(f, fmod, v, I32(3))), I32(1));
    for (int o = 0; o < OPS; o++)
        td_atomic(f, op[o], s, ADD(I32(o * CELLS), TD_E2(f, fmod, ADD(v, k), I32(CELLS))), ADD(v, k),
                  o % 2 ? LESS(v, I32(150)) : TD_NONE);
    td_end(f);
    old = td_atomic(f, OP_atomic_add, own, t, v, LESS(v, I32(120)));
    STORE(seen, i, old);
    td_end(f);
    td_barrier(f);
    b = td_index(f, OP_bid, 0);
    k = td_for(f, t, I32(OPS * CELLS), td_index(f, OP_bdim, 0));
    STORE(r, ADD(MUL(b, I32(OPS * CELLS)), k), LOAD(s, k));
    td_end(f);
}

/* Compare-and-swap by all lanes, and by some, of one place: the first gets what stood there. */
static inline void
wide_mailbox(test_case *c)
{
    enum { UNTOUCHED = 0x5a5a5a5a }; /* as test_buffer */
    td_fn *f = &c->f;
    td_val in = wide_in(c, TD_I32, WIDE_N), box = test_out(c, TD_I32, 4, "boxes", 0),
           seen = test_out(c, TD_I32, WIDE_N, "seen", 0), all = test_out(c, TD_I32, WIDE_N, "all", 0), i = wide_bounded(c),
           v = LOAD(in, i), zero = I32(0);

    STORE(all, i, td_atomic_cas(f, box, zero, I32(UNTOUCHED), I32(7), TD_NONE));
    td_if(f, LESS(v, zero));
    STORE(seen, i, td_atomic_cas(f, box, I32(1), I32(UNTOUCHED), I32(8), TD_NONE));
    td_else(f);
    STORE(seen, i, td_atomic_cas(f, box, I32(2), I32(3), I32(9), LESS(v, I32(100))));
    td_end(f);
    td_end(f);
}

typedef struct wide_case {
    const char *name;
    void (*make)(test_case *c);
    uint32_t grid[3], block[3], shared; /* of one thread: a function */
} wide_case;

static const wide_case wide_table[] = {
    {"vector_add", wide_vector_add, {4, 1, 1}, {256, 1, 1}, 0},
    {"vector_add", wide_vector_add, {7, 1, 1}, {150, 1, 1}, 0},
    {"vector_add", wide_vector_add, {1000, 1, 1}, {1, 1, 1}, 0},
    {"vector_add", wide_vector_add, {1, 1, 1}, {1024, 1, 1}, 0},
    {"stencil", wide_stencil, {8, 1, 1}, {128, 1, 1}, 0},
    {"stencil", wide_stencil, {11, 1, 1}, {93, 1, 1}, 0},
    {"stencil2d", wide_stencil2d, {3, 3, 1}, {16, 16, 1}, 0},
    {"stencil2d", wide_stencil2d, {2, 5, 1}, {32, 8, 1}, 0},
    {"stencil2d", wide_stencil2d, {6, 9, 1}, {7, 5, 1}, 0},
    {"mandelbrot", wide_mandelbrot, {3, 3, 1}, {16, 16, 1}, 0},
    {"mandelbrot", wide_mandelbrot, {5, 5, 1}, {9, 8, 1}, 0},
    {"nbody", wide_nbody, {8, 1, 1}, {128, 1, 1}, 0},
    {"nbody", wide_nbody, {3, 1, 1}, {350, 1, 1}, 0},
    {"grid_stride", wide_grid_stride, {3, 1, 1}, {64, 1, 1}, 0},
    {"grid_stride", wide_grid_stride, {2, 1, 1}, {37, 1, 1}, 0},
    {"divergent", wide_divergent, {8, 1, 1}, {128, 1, 1}, 0},
    {"divergent", wide_divergent, {10, 1, 1}, {111, 1, 1}, 0},
    {"matmul", wide_matmul, {5, 5, 1}, {8, 8, 1}, 0},
    {"tree", wide_tree, {9, 1, 1}, {128, 1, 1}, 0},
    {"histogram", wide_histogram, {4, 1, 1}, {256, 1, 1}, 0},
    {"histogram", wide_histogram, {9, 1, 1}, {123, 1, 1}, 0},
    {"indices", wide_indices, {2, 3, 2}, {5, 4, 3}, 0},
    {"indices", wide_indices, {1, 2, 3}, {32, 2, 4}, 0},
    {"shuffles", wide_shuffles, {1, 1, 1}, {256, 1, 1}, 0},
    {"shuffles", wide_shuffles, {1, 1, 1}, {100, 1, 1}, 0},
    {"shuffles", wide_shuffles, {1, 1, 1}, {16, 9, 1}, 0},
    {"shuffles", wide_shuffles, {1, 1, 1}, {3, 5, 7}, 0},
    {"shuffles", wide_shuffles, {1, 1, 1}, {64, 2, 3}, 0},
    {"votes", wide_votes, {5, 1, 1}, {64, 1, 1}, 0},
    {"votes", wide_votes, {9, 1, 1}, {48, 1, 1}, 0},
    {"local", wide_local, {5, 1, 1}, {100, 1, 1}, 400},
    {"local", wide_local, {3, 1, 1}, {256, 1, 1}, 1024},
    {"records", wide_records, {5, 1, 1}, {256, 1, 1}, 0},
    {"counted", wide_counted, {4, 1, 1}, {128, 1, 1}, 0},
    {"counted", wide_counted, {7, 1, 1}, {77, 1, 1}, 0},
    {"atomics", wide_atomics, {5, 1, 1}, {256, 1, 1}, 0},
    {"each_row", wide_each_row, {1, 1, 1}, {1, 1, 1}, 0},
    {"each_pair", wide_each_pair, {1, 1, 1}, {1, 1, 1}, 0},
    {"each_checked", wide_each_checked, {1, 1, 1}, {1, 1, 1}, 0},
    {"edges", wide_edges, {8, 1, 1}, {128, 1, 1}, 0},
    {"edges", wide_edges, {11, 1, 1}, {93, 1, 1}, 0},
    {"own_counters", wide_own_counters, {4, 1, 1}, {256, 1, 1}, 0},
    {"own_counters", wide_own_counters, {9, 1, 1}, {123, 1, 1}, 0},
    {"mailbox", wide_mailbox, {8, 1, 1}, {128, 1, 1}, 0},
    {"mailbox", wide_mailbox, {11, 1, 1}, {93, 1, 1}, 0},
    {"functions", wide_functions, {8, 1, 1}, {128, 1, 1}, 0},
};
enum { N_WIDE = sizeof wide_table / sizeof *wide_table };

#endif
