/* acc.c - accumulators inside a kernel. */
#include "array/form/acc.h"

void
td_acc_start(td_fn *f, td_red red, bool pair, const td_dtype dt[], int lanes, td_val slot[])
{
    td_val init[TD_MAXACC];

    td_red_init(f, red, pair, dt, init);
    for (int i = 0; i < td_red_nacc(red, pair); i++) {
        slot[i] = td_slot(f, dt[i], lanes);
        td_set(f, slot[i], init[i]);
    }
}

void
td_acc_get(td_fn *f, td_red red, bool pair, const td_val slot[], td_val out[])
{
    for (int i = 0; i < td_red_nacc(red, pair); i++)
        out[i] = td_get(f, slot[i]);
}

void
td_acc_add(td_fn *f, td_red red, bool pair, const td_val slot[], const td_val x[], td_val mask)
{
    td_val old[TD_MAXACC] = {{0}}, sum[TD_MAXACC] = {{0}};

    td_acc_get(f, red, pair, slot, old);
    td_red_add(f, red, pair, old, x, sum);
    for (int i = 0; i < td_red_nacc(red, pair); i++) {
        if (mask.i != UINT32_MAX)
            sum[i] = TD_E3(f, select, mask, sum[i], old[i]);
        td_set(f, slot[i], sum[i]);
    }
}

void
td_acc_lanes(td_fn *f, td_red red, bool pair, int lanes, td_val acc[])
{
    td_val other[TD_MAXACC];

    for (int k = lanes / 2; k > 0; k /= 2) {
        for (int i = 0; i < td_red_nacc(red, pair); i++)
            other[i] = td_rotate(f, acc[i], k);
        td_red_merge(f, red, pair, acc, other, acc);
    }
    for (int i = 0; i < td_red_nacc(red, pair); i++)
        acc[i] = td_extract(f, acc[i], 0);
}

void
td_acc_warp(td_fn *f, td_red red, bool pair, int width, td_val acc[])
{
    td_val other[TD_MAXACC];

    for (int k = width / 2; k > 0; k /= 2) {
        for (int i = 0; i < td_red_nacc(red, pair); i++)
            other[i] = td_shuffle_xor(f, acc[i], k);
        td_red_merge(f, red, pair, acc, other, acc);
    }
}

static td_val
in_warp(td_fn *f, const td_nest *n, td_val tid)
{
    return TD_E2(f, bitwise_and, tid, td_const_int(f, TD_I64, n->warp - 1));
}

void
td_acc_put(td_fn *f, td_red red, bool pair, const td_dtype dt[], const td_val acc[],
           const td_nest *n, td_val tid, td_val mem[])
{
    int shift = __builtin_ctz((unsigned)n->warp);
    td_val warp = TD_E2(f, right_shift, tid, td_const_int(f, TD_I64, shift));

    for (int i = 0; i < td_red_nacc(red, pair); i++)
        mem[i] = td_shared(f, dt[i], (uint64_t)(n->team / n->warp));
    td_if(f, TD_E2(f, equal, in_warp(f, n, tid), td_const_int(f, TD_I64, 0)));
    for (int i = 0; i < td_red_nacc(red, pair); i++)
        td_store(f, mem[i], warp, acc[i], TD_NONE, 0);
    td_end(f);
}

void
td_acc_take(td_fn *f, td_red red, bool pair, const td_dtype dt[], const td_val mem[],
            const td_nest *n, td_val tid, td_val acc[])
{
    td_val slot[TD_MAXACC], lane = in_warp(f, n, tid);

    TD_ASSERT(n->team / n->warp <= n->warp);
    td_acc_start(f, red, pair, dt, 1, slot);
    td_if(f, TD_E2(f, less, lane, td_const_int(f, TD_I64, n->team / n->warp)));
    for (int i = 0; i < td_red_nacc(red, pair); i++)
        td_set(f, slot[i], td_load(f, mem[i], lane, TD_NONE, 1, 0));
    td_end(f);
    td_acc_get(f, red, pair, slot, acc);
    td_acc_warp(f, red, pair, n->warp, acc);
}

td_num
td_acc_shift(td_fn *f, bool pair, td_num x)
{
    return td_num_cast(f, x, pair ? TD_C128 : TD_F64);
}

td_num
td_acc_shifted(td_fn *f, bool pair, td_num x, td_num shift)
{
    if (shift.re.i == UINT32_MAX)
        return x;
    return td_num_emit(f, OP_subtract, (td_num[]){td_acc_shift(f, pair, x), shift});
}
