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

typedef struct wide_case {
    const char *name;
    void (*make)(test_case *c);
    uint32_t grid[3], block[3];
} wide_case;

static const wide_case wide_table[] = {
    {"vector_add", wide_vector_add, {4, 1, 1}, {256, 1, 1}},
    {"vector_add", wide_vector_add, {7, 1, 1}, {150, 1, 1}},
    {"vector_add", wide_vector_add, {1000, 1, 1}, {1, 1, 1}},
    {"vector_add", wide_vector_add, {1, 1, 1}, {1024, 1, 1}},
    {"stencil", wide_stencil, {8, 1, 1}, {128, 1, 1}},
    {"stencil", wide_stencil, {11, 1, 1}, {93, 1, 1}},
    {"stencil2d", wide_stencil2d, {3, 3, 1}, {16, 16, 1}},
    {"stencil2d", wide_stencil2d, {2, 5, 1}, {32, 8, 1}},
    {"stencil2d", wide_stencil2d, {6, 9, 1}, {7, 5, 1}},
    {"mandelbrot", wide_mandelbrot, {3, 3, 1}, {16, 16, 1}},
    {"mandelbrot", wide_mandelbrot, {5, 5, 1}, {9, 8, 1}},
    {"nbody", wide_nbody, {8, 1, 1}, {128, 1, 1}},
    {"nbody", wide_nbody, {3, 1, 1}, {350, 1, 1}},
    {"grid_stride", wide_grid_stride, {3, 1, 1}, {64, 1, 1}},
    {"grid_stride", wide_grid_stride, {2, 1, 1}, {37, 1, 1}},
    {"divergent", wide_divergent, {8, 1, 1}, {128, 1, 1}},
    {"divergent", wide_divergent, {10, 1, 1}, {111, 1, 1}},
    {"matmul", wide_matmul, {5, 5, 1}, {8, 8, 1}},
    {"tree", wide_tree, {9, 1, 1}, {128, 1, 1}},
    {"histogram", wide_histogram, {4, 1, 1}, {256, 1, 1}},
    {"histogram", wide_histogram, {9, 1, 1}, {123, 1, 1}},
    {"indices", wide_indices, {2, 3, 2}, {5, 4, 3}},
    {"indices", wide_indices, {1, 2, 3}, {32, 2, 4}},
    {"functions", wide_functions, {8, 1, 1}, {128, 1, 1}},
};
enum { N_WIDE = sizeof wide_table / sizeof *wide_table };

#endif
