/* lower_flow.h - kernels with control flow, slots, masks, scattered accesses and shared memory, for
 * the tests of the CPU and of the GPU code.
 */
#ifndef TD_TESTS_LOWER_FLOW_H
#define TD_TESTS_LOWER_FLOW_H
#include "ir/lower_cases.h"

enum { N_FLOW = 256 };

static inline td_val
flow_int(test_case *c, int64_t v)
{
    return td_const_int(&c->f, TD_I64, v);
}

static inline td_val
flow_noise(test_case *c, td_dtype dt)
{
    size_t size = td_dtype_size(dt);
    char *p = test_buffer(N_FLOW * size);

    for (int k = 0; k < N_FLOW; k++)
        if (td_dtype_is_float(dt)) {
            td_scalar s = {.dt = TD_F64, .f = {(double)(int)(test_random() % 2000) / 16.0 - 60}};
            uint64_t bits[2];

            td_scalar_bits(s, dt, bits);
            memcpy(p + (size_t)k * size, bits, size);
        } else {
            test_noise(dt, p + (size_t)k * size);
        }
    return test_in(c, dt, p, N_FLOW);
}

/* Nested for, if/else and break_if with slots of one lane: a small collatz with a triangle sum. */
static void
flow_nested(test_case *c, bool gpu)
{
    td_fn *f = &c->f;
    td_val in = flow_noise(c, TD_U8), out = test_out(c, TD_I64, N_FLOW, "steps", 0), i, x, n, sum,
           j, k, odd;

    i = test_each(c, N_FLOW, 1, gpu);
    n = td_slot(f, TD_I64, 1);
    sum = td_slot(f, TD_I64, 1);
    x = td_cast(f, td_load(f, in, i, TD_NONE, 1, 0), TD_I64);
    td_set(f, n, x);
    td_set(f, sum, flow_int(c, 0));
    td_loop(f);
    td_break_if(f, TD_E2(f, less_equal, td_get(f, n), flow_int(c, 1)));
    x = td_get(f, n);
    odd = td_cast(f, TD_E2(f, bitwise_and, x, flow_int(c, 1)), TD_BOOL);
    td_if(f, odd);
    td_set(f, n, TD_E2(f, add, TD_E2(f, multiply, x, flow_int(c, 3)), flow_int(c, 1)));
    td_if(f, TD_E2(f, greater, x, flow_int(c, 5000)));
    td_break_if(f, TD_E2(f, greater, td_get(f, sum), flow_int(c, 3000)));
    td_end(f);
    td_else(f);
    td_set(f, n, TD_E2(f, right_shift, x, flow_int(c, 1)));
    td_end(f);
    j = td_for(f, flow_int(c, -3), flow_int(c, 9), flow_int(c, 5));
    k = td_for(f, j, flow_int(c, 4), flow_int(c, 1));
    td_break_if(f, TD_E2(f, equal, k, flow_int(c, 2)));
    td_set(f, sum, TD_E2(f, add, td_get(f, sum), TD_E2(f, add, k, j)));
    td_end(f);
    td_set(f, sum, TD_E2(f, add, td_get(f, sum), flow_int(c, 10)));
    td_end(f);
    td_end(f);
    td_store(f, out, i, td_get(f, sum), TD_NONE, 0);
    td_end(f);
}

/* Counters near the end of their type, and loops that do not run. */
static void
flow_edges(test_case *c, bool gpu)
{
    static const int32_t bounds[][3] = {
        {INT32_MAX - 5, INT32_MAX, 3},     {INT32_MAX - 2, INT32_MAX, 1}, {5, 5, 1}, {7, -7, 2},
        {INT32_MIN, INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN + 4, 3}};
    td_fn *f = &c->f;
    td_val out = test_out(c, TD_I32, 64, "count", 0), i, n, last;

    i = test_each(c, 1, 1, gpu);
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++)
        /* bounds as constants, and from an argument: unknown.  From constants whose sum exceeds the type
         * LLVM makes a counter that wraps, which ptxas takes not to. */
        for (int form = gpu && bounds[k][0] == INT32_MIN; form < 2; form++) {
            td_val zero = td_cast(f, i, TD_I32), b[3];

            for (int e = 0; e < 3; e++) {
                b[e] = td_const_int(f, TD_I32, bounds[k][e]);
                if (form)
                    b[e] = TD_E2(f, add, b[e], zero);
            }
            n = td_slot(f, TD_I32, 1);
            last = td_slot(f, TD_I32, 1);
            b[0] = td_for(f, b[0], b[1], b[2]);
            td_set(f, n, TD_E2(f, add, td_get(f, n), td_const_int(f, TD_I32, 1)));
            td_set(f, last, b[0]);
            td_end(f);
            td_store(f, out, flow_int(c, (int64_t)(4 * k) + 2 * form), td_get(f, n), TD_NONE, 0);
            td_store(f, out, flow_int(c, (int64_t)(4 * k) + 2 * form + 1), td_get(f, last), TD_NONE,
                     0);
        }
    td_end(f);
}

/* A slot of several lanes carried through a loop, rotated and extracted. */
static void
flow_lanes(test_case *c, bool gpu)
{
    enum { W = 8 };
    td_fn *f = &c->f;
    td_val in = flow_noise(c, TD_F32), out = test_out(c, TD_F32, N_FLOW, "sums", 0);
    td_val firsts = test_out(c, TD_F32, N_FLOW, "lane 3", 0),
           bits = test_out(c, TD_U32, N_FLOW, "bits", 0);
    td_val flags = test_out(c, TD_BOOL, N_FLOW, "flags", 0), i, acc, any, k, v;

    i = test_each(c, N_FLOW, W, gpu);
    acc = td_slot(f, TD_F32, W);
    any = td_slot(f, TD_BOOL, W);
    v = td_load(f, in, i, TD_NONE, W, 0);
    td_set(f, acc, td_const(f, TD_F32, 0.5));
    td_set(f, any, td_const_int(f, TD_BOOL, 0));
    k = td_for(f, td_const_int(f, TD_I32, 0), td_const_int(f, TD_I32, 5),
               td_const_int(f, TD_I32, 2));
    v = TD_E2(f, multiply, v, td_cast(f, TD_E2(f, add, td_iota(f, TD_I32, W), k), TD_F32));
    td_set(f, acc, TD_E2(f, add, td_rotate(f, td_get(f, acc), 3), v));
    td_set(f, any,
           TD_E2(f, logical_xor, td_get(f, any), TD_E2(f, greater, v, td_const(f, TD_F32, 100))));
    td_end(f);
    td_store(f, out, i, td_get(f, acc), TD_NONE, 0);
    td_store(f, firsts, i, td_splat(f, td_extract(f, td_get(f, acc), 3), W), TD_NONE, 0);
    td_store(f, bits, i, td_bitcast(f, td_rotate(f, td_get(f, acc), -1), TD_U32), TD_NONE, 0);
    td_store(f, flags, i, td_get(f, any), TD_NONE, 0);
    td_end(f);
}

/* Masked accesses of every size, one-lane ones too; what is masked off is read as 0 and not
 * written. */
static void
flow_masked(test_case *c, bool gpu)
{
    static const td_dtype dts[] = {TD_BOOL, TD_U8, TD_I16, TD_F16, TD_F32, TD_I64};
    enum { COUNT = sizeof dts / sizeof *dts, W = 4 };
    td_fn *f = &c->f;
    td_val mask = flow_noise(c, TD_BOOL), in[COUNT], all[COUNT], some[COUNT], i, m, v;

    for (int k = 0; k < COUNT; k++)
        in[k] = flow_noise(c, dts[k]);
    for (int k = 0; k < COUNT; k++) {
        all[k] = test_out(c, dts[k], N_FLOW, "masked load", 0);
        some[k] = test_out(c, dts[k], N_FLOW, "masked store", 0);
    }
    i = test_each(c, N_FLOW, W, gpu);
    for (int k = 0; k < COUNT; k++) {
        m = td_load(f, mask, i, TD_NONE, W, 0);
        v = td_load(f, in[k], i, m, W, 0);
        td_store(f, all[k], i, v, TD_NONE, 0);
        td_store(f, some[k], i, v, TD_E1(f, invert, m), 0);
        m = td_load(f, mask, i, TD_NONE, 1, 0);
        v = td_load(f, in[k], i, m, 1, 0);
        td_store(f, all[k], i, v, m, 0);
    }
    td_end(f);
}

/* Gather and scatter, with and without masks; the lanes of a thread may meet, then the last one stays. */
static void
flow_scattered(test_case *c, bool gpu)
{
    static const td_dtype dts[] = {TD_BOOL, TD_I8, TD_U16, TD_F32, TD_F64};
    enum { COUNT = sizeof dts / sizeof *dts, W = 8 };
    td_fn *f = &c->f;
    td_val mask = flow_noise(c, TD_BOOL), in[COUNT], out[4][COUNT], i, m, v, at, own;

    for (int k = 0; k < COUNT; k++)
        in[k] = flow_noise(c, dts[k]);
    for (int k = 0; k < COUNT; k++) {
        out[0][k] = test_out(c, dts[k], N_FLOW, "gather", 0);
        out[1][k] = test_out(c, dts[k], N_FLOW, "masked gather", 0);
        out[2][k] = test_out(c, dts[k], N_FLOW, "scatter", 0);
        out[3][k] = test_out(c, dts[k], N_FLOW, "masked scatter", 0);
    }
    i = test_each(c, N_FLOW, W, gpu);
    m = td_load(f, mask, i, TD_NONE, W, 0);
    at = TD_E2(f, add, td_iota(f, TD_I64, W), i);
    at = TD_E2(f, bitwise_and, TD_E2(f, multiply, at, flow_int(c, 5)), flow_int(c, N_FLOW - 1));
    own = TD_E2(f, add, i, TD_E2(f, bitwise_or, td_iota(f, TD_I64, W), flow_int(c, 1)));
    for (int k = 0; k < COUNT; k++) {
        td_val index = k & 1 ? td_cast(f, at, TD_I32) : at;

        v = td_load(f, in[k], index, TD_NONE, W, 0);
        td_store(f, out[0][k], i, v, TD_NONE, 0);
        td_store(f, out[2][k], index, v, TD_NONE, 0);
        td_store(f, out[3][k], own, v, m, 0);
        v = td_load(f, in[k], index, m, W, 0);
        td_store(f, out[1][k], i, v, TD_NONE, 0);
    }
    td_end(f);
}

/* Scalar arguments and constants of every dtype. */
static void
flow_scalars(test_case *c, bool gpu)
{
    td_fn *f = &c->f;
    td_val out[2][TD_DTYPE_COUNT], in[TD_DTYPE_COUNT], i;

    for (int dt = 0; dt < TD_DTYPE_COUNT; dt++)
        if (!td_dtype_is_complex((td_dtype)dt)) {
            td_scalar s = {.dt = TD_F64, .f = {dt == TD_BOOL ? 1 : 113.9375}};
            uint64_t bits[2];

            td_scalar_bits(s, (td_dtype)dt, bits);
            out[0][dt] = test_out(c, (td_dtype)dt, 8, "argument", 0);
            out[1][dt] = test_out(c, (td_dtype)dt, 8, "constant", 0);
            in[dt] = test_word(c, (td_dtype)dt, bits[0]);
        }
    i = test_each(c, 8, 8, gpu);
    for (int dt = 0; dt < TD_DTYPE_COUNT; dt++)
        if (!td_dtype_is_complex((td_dtype)dt)) {
            td_store(f, out[0][dt], i, td_splat(f, in[dt], 8), TD_NONE, 0);
            td_store(f, out[1][dt], i, td_splat(f, td_const(f, (td_dtype)dt, 0.7), 8), TD_NONE, 0);
        }
    td_end(f);
}

/* The sum of a block: shuffles within a warp, then shared memory. */
static void
flow_block_sum(test_case *c, bool gpu)
{
    td_fn *f = &c->f;
    td_val in = flow_noise(c, TD_F64), out = test_out(c, TD_F64, 8, "sums", 0), n, tid, i, v, sh,
           mine;

    (void)gpu;
    c->block = 64;
    c->grid = N_FLOW / 64;
    n = test_word(c, TD_I64, N_FLOW);
    tid = td_index(f, OP_tid, 0);
    i = TD_E2(f, add, TD_E2(f, multiply, td_index(f, OP_bid, 0), td_index(f, OP_bdim, 0)), tid);
    v = td_load(f, in, i, TD_E2(f, less, td_cast(f, i, TD_I64), n), 1, 0);
    sh = td_shared(f, TD_F64, 2);
    mine = td_slot(f, TD_F64, 1);
    for (int k = 16; k; k /= 2)
        v = TD_E2(f, add, v, td_shuffle_xor(f, v, k));
    td_if(f, TD_E2(f, equal, TD_E2(f, bitwise_and, tid, td_const_int(f, TD_I32, 31)),
                   td_const_int(f, TD_I32, 0)));
    td_store(f, sh, TD_E2(f, right_shift, tid, td_const_int(f, TD_I32, 5)), v, TD_NONE, 0);
    td_end(f);
    td_barrier(f);
    td_if(f, TD_E2(f, equal, tid, td_const_int(f, TD_I32, 0)));
    td_set(f, mine,
           TD_E2(f, add, td_load(f, sh, td_const_int(f, TD_I32, 0), TD_NONE, 1, 0),
                 td_load(f, sh, td_const_int(f, TD_I32, 1), TD_NONE, 1, 0)));
    td_store(f, out, td_index(f, OP_bid, 0), td_get(f, mine), TD_NONE, 0);
    td_end(f);
}

/* Every dtype through a shuffle. */
static void
flow_shuffles(test_case *c, bool gpu)
{
    td_fn *f = &c->f;
    td_val in[TD_DTYPE_COUNT], out[TD_DTYPE_COUNT], tid;

    (void)gpu;
    c->block = 64;
    for (int dt = 0; dt < TD_DTYPE_COUNT; dt++)
        if (!td_dtype_is_complex((td_dtype)dt))
            in[dt] = flow_noise(c, (td_dtype)dt);
    for (int dt = 0; dt < TD_DTYPE_COUNT; dt++)
        if (!td_dtype_is_complex((td_dtype)dt))
            out[dt] = test_out(c, (td_dtype)dt, 64, td_dtype_name((td_dtype)dt), 0);
    tid = td_index(f, OP_tid, 0);
    for (int dt = 0; dt < TD_DTYPE_COUNT; dt++)
        if (!td_dtype_is_complex((td_dtype)dt))
            td_store(f, out[dt], tid,
                     td_shuffle_xor(f, td_load(f, in[dt], tid, TD_NONE, 1, 0), dt + 3), TD_NONE, 0);
}

/* Shared memory on both targets: a block of one thread on the CPU. */
static void
flow_shared(test_case *c, bool gpu)
{
    td_fn *f = &c->f;
    td_val in = flow_noise(c, TD_F32), out = test_out(c, TD_F32, N_FLOW, "reversed", 0), sh, k, at;

    (void)gpu;
    c->grid = N_FLOW / 32;
    at = TD_E2(f, multiply, td_index(f, OP_bid, 0), td_const_int(f, TD_I32, 32));
    sh = td_shared(f, TD_F32, 32);
    k = td_for(f, td_const_int(f, TD_I32, 0), td_const_int(f, TD_I32, 32), td_index(f, OP_bdim, 0));
    td_store(f, sh, TD_E2(f, subtract, td_const_int(f, TD_I32, 31), k),
             td_load(f, in, TD_E2(f, add, at, k), TD_NONE, 1, 0), TD_NONE, 0);
    td_end(f);
    td_barrier(f);
    k = td_for(f, td_const_int(f, TD_I32, 0), td_const_int(f, TD_I32, 32),
               td_const_int(f, TD_I32, 8));
    td_store(f, out, TD_E2(f, add, at, k), td_load(f, sh, k, TD_NONE, 8, 16), TD_NONE, 0);
    td_end(f);
}

/* So many lanes of a large function that a GPU calls it instead of holding copies. */
static void
flow_calls(test_case *c, bool gpu)
{
    td_fn *f = &c->f;
    td_val in = flow_noise(c, TD_F64), out = test_out(c, TD_F64, N_FLOW, "sin", 8), i, v;

    i = test_each(c, N_FLOW, 8, gpu);
    v = TD_E2(f, multiply, td_load(f, in, i, TD_NONE, 8, 0), td_const(f, TD_F64, 1e10));
    td_store(f, out, i, TD_E1(f, sin, v), TD_NONE, 0);
    td_end(f);
}

typedef struct flow_case {
    const char *name;
    void (*make)(test_case *c, bool gpu);
    enum flow_on { BOTH, GPU_ONLY, CPU_ONLY } on;
} flow_case;

static const flow_case flow_table[] = {
    {"nested", flow_nested, BOTH},       {"edges", flow_edges, BOTH},
    {"lanes", flow_lanes, BOTH},         {"masked", flow_masked, BOTH},
    {"scattered", flow_scattered, BOTH}, {"scalars", flow_scalars, BOTH},
    {"shared", flow_shared, BOTH},       {"calls", flow_calls, BOTH},
    {"block_sum", flow_block_sum, GPU_ONLY},  {"shuffles", flow_shuffles, GPU_ONLY},
};
enum { N_FLOWS = sizeof flow_table / sizeof *flow_table };

#endif
