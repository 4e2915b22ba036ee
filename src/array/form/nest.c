/* nest.c - the loops round a kernel's work. */
#include "array/form/nest.h"

#include "base/parallel.h"

enum { OVERSPLIT = 4 }; /* shares a core */

/* ---- before the launch ---- */

td_nest
td_nest_on(const td_dev *d, int block, int team)
{
    const td_devinfo *info = td_dev_info(d);

    return (td_nest){.simt = info->simt,
                     .warp = info->warp,
                     .block = info->simt ? block : 1,
                     .team = info->simt ? team : 1};
}

td_hash
td_nest_key(td_hash h, const td_nest *n)
{
    return td_hash_u64(h, (uint64_t)n->block << 32 | (uint64_t)n->team << 16 |
                              (uint64_t)n->warp << 1 | n->simt);
}

int64_t
td_nest_shares(const td_dev *d, int64_t operations, int64_t least)
{
    const td_devinfo *info = td_dev_info(d);
    int units = info->simt ? info->units : td_parallel_cut();

    return operations < least || units < 2 ? 1 : (int64_t)units * OVERSPLIT;
}

void
td_nest_deal(td_nest *n, int64_t units, int64_t shares)
{
    n->units = units;
    if (n->simt) {
        n->per = 1;
        n->blocks = td_ceil_div(units, n->block / n->team);
        return;
    }
    n->per = td_ceil_div(units, units < shares ? units : shares);
    n->blocks = td_ceil_div(units, n->per);
}

/* ---- in the kernel ---- */

static td_val
big(td_fn *f, int64_t v)
{
    return td_const_int(f, TD_I64, v);
}

static td_val
index_of(td_fn *f, td_op which)
{
    return td_cast(f, td_index(f, which, 0), TD_I64);
}

td_place
td_nest_open(td_fn *f, const td_nest *n, td_val units, td_val per)
{
    td_place at = {.tid = TD_NONE, .lane = TD_NONE};
    td_val bid = index_of(f, OP_bid), lo, hi, teams, team;

    if (!n->simt) {
        lo = TD_E2(f, multiply, bid, per);
        hi = TD_E2(f, minimum, TD_E2(f, add, lo, per), units);
        at.unit = td_for(f, lo, hi, big(f, 1));
        return at;
    }
    at.tid = team = index_of(f, OP_tid);
    at.lane = big(f, 0);
    teams = n->block ? big(f, n->block / n->team) : index_of(f, OP_bdim);
    if (n->team > 1) {
        at.lane = TD_E2(f, bitwise_and, at.tid, big(f, n->team - 1));
        team = TD_E2(f, right_shift, at.tid, big(f, __builtin_ctz((unsigned)n->team)));
    }
    at.unit = n->block == n->team ? bid : TD_E2(f, add, TD_E2(f, multiply, bid, teams), team);
    return at;
}

void
td_nest_close(td_fn *f, const td_nest *n)
{
    if (!n->simt)
        td_end(f);
}

void
td_nest_steps(td_fn *f, td_val lo, td_val hi, int64_t step, td_nest_step *body, void *ctx)
{
    td_val whole, rest;

    body(ctx, td_for(f, lo, TD_E2(f, subtract, hi, big(f, step - 1)), big(f, step)), false);
    td_end(f);
    if (step == 1)
        return;
    whole = TD_E2(f, subtract, hi, lo);
    if (step & (step - 1))
        whole = TD_E2(f, multiply, TD_E2(f, truncate_divide, whole, big(f, step)), big(f, step));
    else
        whole = TD_E2(f, bitwise_and, whole, big(f, -step));
    rest = TD_E2(f, add, lo, whole);
    td_if(f, TD_E2(f, less, rest, hi));
    body(ctx, rest, true);
    td_end(f);
}

/* td_nest_lanes as steps. */
typedef struct vectors {
    td_fn *f;
    td_val hi;
    int lanes;
    td_nest_lane *body;
    void *ctx;
} vectors;

static void
one_vector(void *ctx, td_val at, bool last)
{
    const vectors *v = ctx;

    v->body(v->ctx, at, last ? td_nest_mask(v->f, v->lanes, at, v->hi) : TD_NONE);
}

void
td_nest_lanes(td_fn *f, td_val lo, td_val hi, int lanes, td_nest_lane *body, void *ctx)
{
    td_nest_steps(f, lo, hi, lanes, one_vector,
                  &(vectors){.f = f, .hi = hi, .lanes = lanes, .body = body, .ctx = ctx});
}

td_val
td_nest_mask(td_fn *f, int lanes, td_val at, td_val hi)
{
    return TD_E2(f, less, td_iota(f, TD_I64, lanes), TD_E2(f, subtract, hi, at));
}
