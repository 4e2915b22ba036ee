/* lower_kernel.h - kernels with what programs of threads use: levels of regions, early ends, atomic
 * instructions, pointers; for the tests of the CPU and of the GPU code.
 */
#ifndef TD_TESTS_LOWER_KERNEL_H
#define TD_TESTS_LOWER_KERNEL_H
#include "ir/lower_flow.h"

/* The number of a thread among all: threads of one block each on a CPU. */
static inline td_val
kernel_thread(test_case *c, bool gpu)
{
    td_fn *f = &c->f;

    c->block = gpu ? 64 : 1;
    c->grid = N_FLOW / c->block;
    return TD_E2(f, add,
                 TD_E2(f, multiply, td_index(f, OP_bid, 0), td_index(f, OP_bdim, 0)),
                 td_index(f, OP_tid, 0));
}

static inline td_val
kernel_int(test_case *c, int32_t v)
{
    return td_const_int(&c->f, TD_I32, v);
}

/* Blocks and loops, left one or several at a time, and threads that end early. */
static void
kernel_levels(test_case *c, bool gpu)
{
    td_fn *f = &c->f;
    td_val in = flow_noise(c, TD_U8), out = test_out(c, TD_I32, N_FLOW, "places", 0), i, x, n, j, k;

    i = kernel_thread(c, gpu);
    x = td_cast(f, td_load(f, in, i, TD_NONE, 1, 0), TD_I32);
    n = td_slot(f, TD_I32, 1);
    td_block(f);
    td_break_if(f, TD_E2(f, less, x, kernel_int(c, 40)));
    j = td_for(f, kernel_int(c, 0), x, kernel_int(c, 7));
    td_block(f);
    k = td_for(f, kernel_int(c, 0), j, kernel_int(c, 3));
    td_set(f, n, TD_E2(f, add, td_get(f, n), TD_E2(f, add, k, kernel_int(c, 1))));
    td_if(f, TD_E2(f, greater, td_get(f, n), kernel_int(c, 50)));
    td_break_out(f, TD_E2(f, less, x, kernel_int(c, 90)), 1);
    td_break_out(f, TD_E2(f, less, x, kernel_int(c, 130)), 2);
    td_break_out(f, TD_E2(f, less, x, kernel_int(c, 170)), 3);
    td_end(f);
    td_end(f);
    td_set(f, n, TD_E2(f, add, td_get(f, n), kernel_int(c, 1000)));
    td_end(f);
    td_set(f, n, TD_E2(f, add, td_get(f, n), kernel_int(c, 100)));
    td_end(f);
    td_set(f, n, TD_E2(f, add, td_get(f, n), kernel_int(c, 10000)));
    td_end(f);
    td_store(f, out, i, td_get(f, n), TD_NONE, 0);
    td_if(f, TD_E2(f, greater, x, kernel_int(c, 100)));
    td_exit_if(f, TD_E2(f, greater, x, kernel_int(c, 200)));
    td_end(f);
    td_store(f, out, i, TD_E1(f, invert, td_get(f, n)), TD_NONE, 0);
}

/* Every atomic instruction on every dtype that has it: old values, and what memory holds then. */
static void
kernel_atomics(test_case *c, bool gpu)
{
    static const td_dtype dts[] = {TD_I32, TD_U32, TD_I64, TD_U64, TD_F32, TD_F64, TD_F16, TD_BF16};
    enum { COUNT = sizeof dts / sizeof *dts, HOW = OP_atomic_cas - OP_atomic_add + 1, W = 4 };
    td_fn *f = &c->f;
    td_val in[COUNT], mem[COUNT][HOW], old[COUNT][HOW], mask = flow_noise(c, TD_BOOL), i, m, v, w;

    for (int k = 0; k < COUNT; k++)
        in[k] = flow_noise(c, dts[k]);
    for (int k = 0; k < COUNT; k++)
        for (int h = 0; h < HOW; h++) {
            bool is_float = td_dtype_is_float(dts[k]), half = td_dtype_is_half(dts[k]);
            int op = OP_atomic_add + h;
            bool counts = op == OP_atomic_inc || op == OP_atomic_dec,
                 bits = op == OP_atomic_and || op == OP_atomic_or || op == OP_atomic_xor;

            mem[k][h] = TD_NONE;
            if ((counts && td_dtype_kind(dts[k]) != 'u') || (bits && is_float) || (half && h))
                continue;
            mem[k][h] = test_out(c, dts[k], N_FLOW, td_optab[op].name, 0);
            old[k][h] = test_out(c, dts[k], N_FLOW, "old value", 0);
        }
    i = test_each(c, N_FLOW, W, gpu);
    m = td_load(f, mask, i, TD_NONE, W, 0);
    for (int k = 0; k < COUNT; k++)
        for (int h = 0; h < HOW; h++)
            for (int masked = 0; masked < 2 && mem[k][h].i != UINT32_MAX; masked++) {
                td_val on = masked ? m : TD_NONE;

                v = td_load(f, in[k], i, TD_NONE, W, 0);
                w = td_load(f, mem[k][h], i, TD_NONE, W, 0);
                w = masked ? TD_E3(f, select, td_rotate(f, m, 1), td_cast(f, w, TD_F64),
                                   td_cast(f, v, TD_F64))
                           : td_cast(f, w, TD_F64);
                w = OP_atomic_add + h == OP_atomic_cas
                        ? td_atomic_cas(f, mem[k][h], i, td_cast(f, w, dts[k]), v, on)
                        : td_atomic(f, OP_atomic_add + h, mem[k][h], i, v, on);
                td_store(f, old[k][h], i, w, on, 0);
            }
    td_end(f);
}

/* Atomic instructions whose old values nobody wants, on global and shared memory; a fence. */
static void
kernel_unused(test_case *c, bool gpu)
{
    td_fn *f = &c->f;
    td_val out = test_out(c, TD_U32, N_FLOW, "counted", 0), i, sh, one;

    i = kernel_thread(c, gpu);
    one = td_const_int(f, TD_U32, 1);
    sh = td_shared(f, TD_U32, 1);
    td_store(f, sh, kernel_int(c, 0), one, TD_NONE, 0);
    td_barrier(f);
    td_atomic(f, OP_atomic_add, sh, kernel_int(c, 0), one, TD_NONE);
    td_barrier(f);
    for (int scope = 0; scope < 3; scope++)
        td_fence(f, scope);
    td_atomic(f, OP_atomic_or, out, i, one, TD_NONE);
    td_atomic(f, OP_atomic_add, out, i, td_load(f, sh, kernel_int(c, 0), TD_NONE, 1, 0), TD_NONE);
}

/* Memory of a thread and of the launch; pointers a number of bytes on, as addresses, of another dtype. */
static void
kernel_pointers(test_case *c, bool gpu)
{
    td_fn *f = &c->f;
    td_val in = flow_noise(c, TD_F32), out = test_out(c, TD_F32, 2 * N_FLOW, "sums", 0), bits, i, mine,
           k, j, v, dyn;

    bits = test_out(c, TD_U16, 2 * N_FLOW, "halves", 0);
    i = kernel_thread(c, gpu);
    mine = td_local(f, TD_F32, 8);
    v = td_load(f, in, i, TD_NONE, 1, 0);
    k = td_for(f, kernel_int(c, 0), kernel_int(c, 8), kernel_int(c, 1));
    td_store(f, mine, k, TD_E2(f, multiply, v, td_cast(f, k, TD_F32)), TD_NONE, 0);
    td_end(f);
    j = TD_E2(f, bitwise_and, i, kernel_int(c, 7));
    td_store(f, out, i, td_load(f, mine, j, TD_NONE, 1, 0), TD_NONE, 0);
    dyn = td_at_byte(f, td_dynamic(f, TD_F64), TD_E2(f, multiply, td_index(f, OP_tid, 0), kernel_int(c, 4)),
                     TD_F32);
    td_store(f, dyn, kernel_int(c, 0), v, TD_NONE, 0);
    c->shared = 64 * 4;
    v = td_load(f, td_pointer(f, td_address(f, dyn), TD_F32), kernel_int(c, 0), TD_NONE, 1, 0);
    k = td_at_byte(f, out, flow_int(c, N_FLOW * 4), TD_F32);
    td_store(f, td_pointer(f, td_address(f, k), TD_F32), i, v, TD_NONE, 0);
    k = td_at_byte(f, mine, kernel_int(c, 6), TD_U16);
    td_store(f, bits, i, td_load(f, k, j, TD_NONE, 1, 0), TD_NONE, 0);
    k = td_pointer(f, td_address(f, mine), TD_U16);
    td_store(f, bits, TD_E2(f, add, i, kernel_int(c, N_FLOW)), td_load(f, k, j, TD_NONE, 1, 0), TD_NONE,
             0);
}

/* What threads of a warp tell each other, whole warps and halves. */
static void
kernel_warps(test_case *c, bool gpu)
{
    td_fn *f = &c->f;
    td_val in[TD_DTYPE_COUNT], out[TD_DTYPE_COUNT], told[4], t, l, full, halves, high, v, odd;

    (void)gpu;
    c->block = 64;
    for (int dt = 0; dt < TD_C64; dt++)
        in[dt] = flow_noise(c, (td_dtype)dt);
    for (int dt = 0; dt < TD_C64; dt++)
        out[dt] = test_out(c, (td_dtype)dt, 64, td_dtype_name((td_dtype)dt), 0);
    for (int k = 0; k < 4; k++)
        told[k] = test_out(c, TD_U32, 64 * TD_C64, "threads", 0);
    t = td_index(f, OP_tid, 0);
    l = td_lane(f);
    full = td_const_int(f, TD_U32, UINT32_MAX);
    high = TD_E2(f, greater_equal, l, kernel_int(c, 16));
    halves = TD_E3(f, select, high, td_const_int(f, TD_U32, 0xffff0000), td_const_int(f, TD_U32, 0xffff));
    odd = td_cast(f, TD_E2(f, bitwise_and, l, kernel_int(c, 1)), TD_BOOL);
    for (int dt = 0; dt < TD_C64; dt++) {
        td_val at = TD_E2(f, add, t, kernel_int(c, 64 * dt));

        v = td_load(f, in[dt], TD_E2(f, truncate_divide, t, kernel_int(c, 3)), TD_NONE, 1, 0);
        td_store(f, out[dt], t, td_shuffle(f, v, TD_E2(f, bitwise_xor, l, kernel_int(c, dt)), full), TD_NONE,
                 0);
        td_store(f, told[0], at, td_match_any(f, v, full), TD_NONE, 0);
        td_store(f, told[1], at, td_match_any(f, v, halves), TD_NONE, 0);
    }
    td_store(f, told[2], t, td_ballot(f, odd, full), TD_NONE, 0);
    td_if(f, high);
    td_store(f, told[2], TD_E2(f, add, t, kernel_int(c, 64)), td_ballot(f, odd, halves), TD_NONE, 0);
    td_store(f, told[3], t, td_core(f, OP_activemask, NULL), TD_NONE, 0);
    td_else(f);
    td_syncwarp(f, halves);
    td_end(f);
    td_store(f, told[3], TD_E2(f, add, t, kernel_int(c, 64)), td_cast(f, td_barrier_count(f, odd), TD_U32),
             TD_NONE, 0);
    td_exit_if(f, TD_E2(f, less, t, kernel_int(c, 40)));
    td_store(f, told[3], TD_E2(f, add, t, kernel_int(c, 128)),
             td_cast(f, td_barrier_count(f, TD_E1(f, invert, odd)), TD_U32), TD_NONE, 0);
}

/* A grid whose blocks are few enough to run at once: each reads what the next one wrote. */
static void
kernel_grid(test_case *c, bool gpu)
{
    static const uint32_t zero;
    td_fn *f = &c->f;
    uint32_t *counter = test_buffer(sizeof *counter);
    td_val sync, a = test_out(c, TD_I32, N_FLOW, "next", 0), b = test_out(c, TD_I32, N_FLOW, "after", 0), i,
                 next;

    *counter = zero;
    sync = test_in(c, TD_U32, counter, 1);
    i = kernel_thread(c, gpu);
    next = TD_E2(f, bitwise_and, TD_E2(f, add, i, kernel_int(c, 64)), kernel_int(c, N_FLOW - 1));
    td_store(f, b, i, i, TD_NONE, 0);
    td_grid_barrier(f, sync);
    td_store(f, a, i, td_load(f, b, next, TD_NONE, 1, 0), TD_NONE, 0);
    td_grid_barrier(f, sync);
    td_store(f, b, i, td_load(f, a, next, TD_NONE, 1, 0), TD_NONE, 0);
}

/* Lanes moved by other lanes, as bits and back, of every dtype and several numbers of lanes. */
static void
kernel_lanes(test_case *c, bool gpu)
{
    static const int lanes[] = {1, 2, 8, 16, 32, 64};
    enum { COUNT = sizeof lanes / sizeof *lanes };
    td_fn *f = &c->f;
    td_val at = flow_noise(c, TD_I32), in[TD_DTYPE_COUNT], out[TD_DTYPE_COUNT], bits, some, i, v, w;

    for (int dt = 0; dt < TD_C64; dt++)
        in[dt] = flow_noise(c, (td_dtype)dt);
    for (int dt = 0; dt < TD_C64; dt++)
        out[dt] = test_out(c, (td_dtype)dt, COUNT * N_FLOW, td_dtype_name((td_dtype)dt), 0);
    bits = test_out(c, TD_U64, COUNT * N_FLOW, "bits", 0);
    some = test_out(c, TD_BOOL, 4 * COUNT * N_FLOW, "any, all", 0);
    for (int k = 0; k < COUNT; k++) {
        int n = lanes[k];

        i = test_each(c, N_FLOW, n, false);
        for (int dt = 0; dt < TD_C64; dt++) {
            w = td_load(f, at, i, TD_NONE, n, 0);
            v = td_load(f, in[dt], i, TD_NONE, n, 0);
            v = td_permute(f, v, dt & 1 ? td_cast(f, w, TD_I64) : w);
            td_store(f, out[dt], TD_E2(f, add, i, flow_int(c, k * N_FLOW)), v, TD_NONE, 0);
        }
        w = TD_E2(f, less, w, td_const_int(f, TD_I32, 1 << 29));
        v = td_bits(f, w);
        td_store(f, bits, TD_E2(f, add, i, flow_int(c, k * N_FLOW)), v, TD_NONE, 0);
        v = td_unbits(f, TD_E2(f, right_shift, v, td_const_int(f, TD_U64, 1)), n);
        i = TD_E2(f, multiply, TD_E2(f, add, i, flow_int(c, k * N_FLOW)), flow_int(c, 4));
        td_store(f, some, i, v, TD_NONE, 0);
        td_store(f, some, i, td_any(f, v), TD_NONE, 0);
        td_store(f, some, TD_E2(f, add, i, flow_int(c, 1)), td_all(f, w), TD_NONE, 0);
        td_end(f);
    }
    if (gpu)
        c->grid = c->block = 1;
}

/* Time passes; a block's only thread counts itself. */
static void
kernel_times(test_case *c, bool gpu)
{
    td_fn *f = &c->f;
    td_val out = test_out(c, TD_I32, 2, "times", 0), before = td_core(f, OP_clock, NULL), passed;

    (void)gpu;
    td_core(f, OP_nanosleep, (td_val[]){kernel_int(c, 1000)});
    passed = TD_E2(f, greater_equal, td_core(f, OP_clock, NULL), before);
    td_store(f, out, kernel_int(c, 0), td_cast(f, passed, TD_I32), TD_NONE, 0);
    td_store(f, out, kernel_int(c, 1), td_barrier_count(f, passed), TD_NONE, 0);
}

/* Pieces of ranges: values, slots and pointers from before them; sums of each piece put together after. */
static void
kernel_pieces(test_case *c, bool gpu)
{
    enum { MOST = 7 };
    td_fn *f = &c->f;
    td_val in = flow_noise(c, TD_F32), scale = flow_noise(c, TD_F32), out = test_out(c, TD_F32, N_FLOW, "scaled", 0);
    td_val total = test_out(c, TD_F32, 4, "totals", 0), bounds = test_out(c, TD_I32, 64, "pieces", 0), n, by, sums,
           first, sum, i, v, p;

    (void)gpu;
    n = test_word(c, TD_I32, N_FLOW - 3);
    by = td_slot(f, TD_F32, 4);
    td_set(f, by, td_load(f, scale, kernel_int(c, 0), TD_NONE, 4, 0));
    for (int k = 0; k < 4; k++) {
        sums = td_local(f, TD_F32, MOST);
        first = td_pieces(f, kernel_int(c, k == 2 ? N_FLOW : 5 * k), k == 3 ? kernel_int(c, 18) : n, MOST);
        sum = td_slot(f, TD_F32, 1);
        i = td_for(f, first, td_piece_end(f, first), kernel_int(c, 1));
        v = TD_E2(f, multiply, td_load(f, in, i, TD_NONE, 1, 0), td_extract(f, td_get(f, by), k));
        td_store(f, out, i, v, TD_NONE, 0);
        td_set(f, sum, TD_E2(f, add, td_get(f, sum), v));
        td_end(f);
        p = td_piece(f, first);
        td_store(f, sums, p, td_get(f, sum), TD_NONE, 0);
        td_store(f, bounds, TD_E2(f, add, p, flow_int(c, 16 * k)), td_piece_end(f, first), TD_NONE, 0);
        td_end(f);
        sum = td_slot(f, TD_F32, 1);
        i = td_for(f, kernel_int(c, 0), kernel_int(c, k == 2 ? 0 : k == 3 ? 3 : MOST), kernel_int(c, 1));
        td_set(f, sum, TD_E2(f, add, td_get(f, sum), td_load(f, sums, i, TD_NONE, 1, 0)));
        td_end(f);
        td_store(f, total, kernel_int(c, k), td_get(f, sum), TD_NONE, 0);
    }
}

static const flow_case kernel_table[] = {
    {"levels", kernel_levels, BOTH},
    {"atomics", kernel_atomics, BOTH},
    {"unused", kernel_unused, BOTH},
    {"pointers", kernel_pointers, BOTH},
    {"warps", kernel_warps, GPU_ONLY},
    {"grid", kernel_grid, GPU_ONLY},
    {"lanes", kernel_lanes, BOTH},
    {"times", kernel_times, BOTH},
    {"pieces", kernel_pieces, CPU_ONLY},
};
enum { N_KERNELS = sizeof kernel_table / sizeof *kernel_table };

#endif
