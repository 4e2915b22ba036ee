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

static const flow_case kernel_table[] = {
    {"levels", kernel_levels, false},
    {"atomics", kernel_atomics, false},
    {"unused", kernel_unused, false},
    {"pointers", kernel_pointers, false},
};
enum { N_KERNELS = sizeof kernel_table / sizeof *kernel_table };

#endif
