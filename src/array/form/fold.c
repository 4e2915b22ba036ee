/* fold.c - kernels that reduce: their code.
 *
 * A unit is one row of results times one segment of what is reduced.  Two forms:
 *   along: the last dim is reduced; lanes run along it and are merged at the end.  On a GPU a thread, a
 *          warp or a block takes a unit.
 *   across: the last dim is kept; each lane owns a result and walks over the reduced dims.
 * When there are too few results to fill the machine, the reduced range is cut into segments whose
 * accumulators go to memory and are merged by a second kernel of the same form.  Segment bounds depend
 * on sizes and the device only, so results are the same from run to run.
 */
#include "array/form/fold.h"

#include "array/form/acc.h"
#include "array/plan/gen.h"

enum { NEAR = 16 }; /* float32 terms that are added up in float32 */

/* Sets d->shift to the first element of each result, which is subtracted from all its elements so that sums of squares lose
 * no digits. */
static void
find_shift(td_gen *g, td_fold *d)
{
    d->shift = td_num_of(TD_NONE);
    if (d->merging || !td_red_shifts(d->red))
        return;
    td_gen_uniform(g);
    td_gen_body(g);
    d->shift = td_acc_shift(g->f, d->pair, g->val[d->value[0]]);
}

/* The elements at g->j as accumulators. */
static void
lifted(td_gen *g, const td_fold *d, td_val index, td_val out[])
{
    if (d->merging)
        for (int i = 0; i < d->nacc; i++)
            out[i] = g->val[d->value[i]].re;
    else
        td_red_lift(g->f, d->red, d->pair, d->acc,
                    td_acc_shifted(g->f, d->pair, g->val[d->value[0]], d->shift), index, out);
    for (int i = 0; i < d->nacc; i++)
        out[i] = td_splat(g->f, out[i], g->lanes);
}

/* slot = merge(slot, elements at g->j), lanes under the mask only. */
static void
accumulate(td_gen *g, const td_fold *d, const td_val slot[], td_val index)
{
    td_val x[TD_MAXACC];

    td_gen_body(g);
    lifted(g, d, index, x);
    td_acc_add(g->f, d->red, d->pair, slot, x, g->mask);
}

/* Writes the accumulators, as results or into the segments' memory, at element `at`. */
static void
finish(td_gen *g, const td_fold *d, const td_val acc[], td_val at)
{
    td_num r;

    if (!d->final) {
        for (int i = 0; i < d->nacc; i++)
            td_store(g->f, d->out_ptr[i], at, acc[i], g->mask, 0);
        return;
    }
    r = td_red_finish(g->f, d->red, d->pair, acc, g->extra[TD_FOLD_COUNT], d->ddof_param, d->out);
    td_num_store(g->f, d->out_ptr[0], d->out, at, r, g->mask, 0);
}

static void
declare(td_gen *g, td_fold *d)
{
    td_gen_params(g, TD_FOLD_EXTRAS);
    d->ddof_param = td_param(g->f, TD_F64);
    for (int i = 0; i < (d->final ? 1 : d->nacc); i++)
        d->out_ptr[i] = td_num_param_ptr(g->f, d->final ? d->out : d->acc[i]);
}

/* Quotient by extra argument `by`, and the remainder. */
static td_val
split(td_gen *g, td_val a, int by, td_val *rest)
{
    td_val q = TD_G2(g, truncate_divide, a, g->extra[by]);

    *rest = TD_G2(g, subtract, a, TD_G2(g, multiply, q, g->extra[by]));
    return q;
}

/* Bounds of a segment. */
static void
bounds(td_gen *g, const td_fold *d, td_val seg, td_val *lo, td_val *hi)
{
    if (!d->cut) {
        *lo = td_gen_int(g, 0);
        *hi = g->extra[TD_FOLD_EXTENT];
        return;
    }
    *lo = TD_G2(g, multiply, seg, g->extra[TD_FOLD_SEGLEN]);
    *hi = TD_G2(g, minimum, TD_G2(g, add, *lo, g->extra[TD_FOLD_SEGLEN]), g->extra[TD_FOLD_EXTENT]);
}

/* The row of a unit of `along`, and its segment. */
static td_val
row_of(td_gen *g, const td_fold *d, td_val unit, td_val *seg)
{
    *seg = TD_NONE;
    return d->cut ? split(g, unit, TD_FOLD_SEGS, seg) : unit;
}

/* ---- along, CPU ---- */

/* Whole blocks of NEAR vectors from lo on: each lane adds up that many float32 in float32 before it is added to
 * the float64 accumulator.  The error is at most NEAR - 1 roundings of the sum of magnitudes; NumPy's pairwise
 * sum has 16 - 1 within its blocks of 128, too, then 3 for its 8 partial sums and log2(n / 128) between blocks.
 * Returns where the rest begins. */
static td_val
along_near(td_gen *g, const td_fold *d, const td_val slot[], td_val lo, td_val hi)
{
    td_fn *f = g->f;
    int64_t block = (int64_t)NEAR * g->lanes;
    td_val near = td_slot(f, TD_F32, g->lanes), at, n, wide;

    at = td_for(f, lo, TD_G2(g, subtract, hi, td_gen_int(g, block - 1)), td_gen_int(g, block));
    for (int k = 0; k < NEAR; k++) {
        g->j = TD_G2(g, add, at, td_gen_int(g, (int64_t)k * g->lanes));
        td_gen_body(g);
        wide = td_splat(f, g->val[d->value[0]].re, g->lanes);
        td_set(f, near, k ? TD_G2(g, add, td_get(f, near), wide) : wide);
    }
    wide = td_cast(f, td_get(f, near), TD_F64);
    td_acc_add(f, d->red, d->pair, slot, &wide, TD_NONE);
    td_end(f);
    n = TD_G2(g, maximum, TD_G2(g, subtract, hi, lo), td_gen_int(g, 0));
    return TD_G2(g, add, lo, TD_G2(g, bitwise_and, n, td_gen_int(g, ~(block - 1))));
}

/* A run of neighbouring elements that go into the accumulators at slot; its element 0 is number `first` of the row. */
typedef struct run {
    td_gen *g;
    const td_fold *d;
    const td_val *slot;
    td_val first;
} run;

static void
accumulate_vector(void *ctx, td_val at, td_val mask)
{
    const run *r = ctx;
    td_gen *g = r->g;
    td_val iota = td_iota(g->f, TD_I64, g->lanes);

    g->j = at;
    g->mask = mask;
    accumulate(g, r->d, r->slot, TD_G2(g, add, TD_G2(g, add, r->first, at), iota));
}

static void
along_run(td_gen *g, const td_fold *d, const td_val slot[], td_val lo, td_val hi, td_val first)
{
    run r = {.g = g, .d = d, .slot = slot, .first = first};

    td_gen_uniform(g);
    g->mask = TD_NONE;
    if (d->near)
        lo = along_near(g, d, slot, lo, hi);
    td_nest_lanes(g->f, lo, hi, g->lanes, accumulate_vector, &r);
    g->mask = TD_NONE;
}

/* Segments count rows of the reduced dims, or elements where there is one reduced dim. */
static void
along_cpu_unit(td_gen *g, td_fold *d, td_val unit)
{
    const td_plan *p = g->p;
    td_val slot[TD_MAXACC], acc[TD_MAXACC], seg, lo, hi, row, zero = td_gen_int(g, 0);
    bool rows = p->nd - p->nk > 1;

    row = row_of(g, d, unit, &seg);
    bounds(g, d, seg, &lo, &hi);
    td_gen_row(g, row, 0, p->nk, false);
    g->lanes = 1;
    g->j = zero;
    find_shift(g, d);
    g->lanes = d->lanes;
    td_acc_start(g->f, d->red, d->pair, d->acc, g->lanes, slot);
    if (rows) {
        td_gen kept = *g;
        td_val r = td_for(g->f, lo, hi, td_gen_int(g, 1)), n = g->dim[p->nd - 1];

        td_gen_row(g, r, p->nk, p->nd - 1, true);
        along_run(g, d, slot, zero, n, TD_G2(g, multiply, r, n));
        td_end(g->f);
        *g = kept;
    } else if (p->nd > p->nk) {
        along_run(g, d, slot, lo, hi, zero);
    } else { /* nothing is reduced: one element */
        td_gen_uniform(g);
        g->lanes = 1;
        accumulate(g, d, slot, zero);
    }
    td_acc_get(g->f, d->red, d->pair, slot, acc);
    td_acc_lanes(g->f, d->red, d->pair, d->lanes, acc);
    g->lanes = 1;
    finish(g, d, acc, unit);
    g->lanes = d->lanes;
}

/* ---- across, both: neighbouring units are neighbouring strips of one segment ---- */

/* Adds row r to the accumulators, or to `near`.  Lanes beyond the mask hold garbage, which is never stored. */
static void
across_row(td_gen *g, const td_fold *d, const td_val slot[], td_val near, td_val r)
{
    td_gen kept = *g;
    td_val x;

    td_gen_row(g, r, g->p->nk, g->p->nd - 1, true);
    td_gen_uniform(g);
    if (d->near) {
        td_gen_body(g);
        x = td_splat(g->f, g->val[d->value[0]].re, g->lanes);
        td_set(g->f, near, TD_G2(g, add, td_get(g->f, near), x));
    } else {
        accumulate(g, d, slot, r);
    }
    *g = kept;
}

/* Adds the rows [lo, hi).  count: their number if it is known, else 0; then each row has loads of its own, which the
 * processor's prefetcher follows. */
static void
across_rows(td_gen *g, const td_fold *d, const td_val slot[], td_val lo, td_val hi, int count)
{
    td_fn *f = g->f;
    td_val wide, near = TD_NONE;

    if (d->near) { /* NEAR rows at most */
        near = td_slot(f, TD_F32, g->lanes);
        td_set(f, near, td_splat(f, td_const(f, TD_F32, 0), g->lanes));
    }
    for (int k = 0; k < count; k++)
        across_row(g, d, slot, near, TD_G2(g, add, lo, td_gen_int(g, k)));
    if (!count) {
        across_row(g, d, slot, near, td_for(f, lo, hi, td_gen_int(g, 1)));
        td_end(f);
    }
    if (d->near) {
        wide = td_cast(f, td_get(f, near), TD_F64);
        td_acc_add(f, d->red, d->pair, slot, &wide, TD_NONE);
    }
}

static void
across_near(td_gen *g, const td_fold *d, const td_val slot[], td_val lo, td_val hi)
{
    td_val near = td_gen_int(g, NEAR), from = td_for(g->f, lo, hi, near);

    across_rows(g, d, slot, from, TD_G2(g, minimum, TD_G2(g, add, from, near), hi), 0);
    td_end(g->f);
}

/* Adds d->deep rows from r on, with all loads issued before the first is used.  A row that is not below hi (TD_NONE: all are)
 * is replaced by row r and left out of the sum. */
static void
across_round(const td_gen *g, const td_fold *d, const td_val slot[], td_val r, td_val hi)
{
    td_gen each[TD_FOLD_DEEP];
    td_val row[TD_FOLD_DEEP], ok[TD_FOLD_DEEP], x[TD_MAXACC];

    for (int u = 0; u < d->deep; u++) {
        td_gen *e = &each[u];

        *e = *g;
        ok[u] = TD_NONE;
        row[u] = TD_G2(e, add, r, td_gen_int(e, u));
        if (hi.i != UINT32_MAX) {
            ok[u] = TD_G2(e, less, row[u], hi);
            row[u] = TD_E3(e->f, select, ok[u], row[u], r);
        }
        td_gen_row(e, row[u], g->p->nk, g->p->nd - 1, true);
        for (int i = 0; i < g->p->nstep; i++)
            if (g->p->step[i].kind == TD_N_LEAF && !d->fixed[i])
                e->val[i] = td_gen_step(e, i);
    }
    for (int u = 0; u < d->deep; u++) {
        for (int i = 0; i < g->p->nstep; i++)
            if (g->p->step[i].kind != TD_N_LEAF && !d->fixed[i])
                each[u].val[i] = td_gen_step(&each[u], i);
        lifted(&each[u], d, row[u], x);
        td_acc_add(g->f, d->red, d->pair, slot, x, ok[u]);
    }
}

/* Rows below hi that go into the accumulators at slot. */
typedef struct row_range {
    td_gen *g;
    const td_fold *d;
    const td_val *slot;
    td_val hi;
} row_range;

static void
deep_rows(void *ctx, td_val at, bool last)
{
    const row_range *r = ctx;

    across_round(r->g, r->d, r->slot, at, last ? r->hi : TD_NONE);
}

static void
across_deep(td_gen *g, const td_fold *d, const td_val slot[], td_val lo, td_val hi)
{
    td_nest_steps(g->f, lo, hi, d->deep, deep_rows,
                  &(row_range){.g = g, .d = d, .slot = slot, .hi = hi});
}

static void
across_unit(td_gen *g, td_fold *d, td_val unit)
{
    const td_plan *p = g->p;
    td_val slot[TD_MAXACC], acc[TD_MAXACC], seg, lo, hi, at, row, strip, n = g->dim[p->nd - 1], j;

    at = unit;
    seg = d->cut ? split(g, unit, TD_FOLD_OWN, &at) : td_gen_int(g, 0);
    bounds(g, d, seg, &lo, &hi);
    strip = at;
    row = p->nk ? split(g, at, TD_FOLD_STRIPS, &strip) : td_gen_int(g, 0);
    td_gen_row(g, row, 0, p->nk, false);
    j = TD_G2(g, multiply, strip, td_gen_int(g, g->lanes));
    g->mask = d->masked ? td_nest_mask(g->f, g->lanes, j, n) : TD_NONE;
    td_acc_start(g->f, d->red, d->pair, d->acc, g->lanes, slot);
    g->j = j;
    find_shift(g, d);
    g->j = j;
    td_gen_fix(g, d->fixed);
    if (d->deep > 1)
        across_deep(g, d, slot, lo, hi);
    else if (d->near)
        across_near(g, d, slot, lo, hi);
    else
        across_rows(g, d, slot, lo, hi, 0);
    g->fixed = NULL;
    td_acc_get(g->f, d->red, d->pair, slot, acc);
    at = TD_G2(g, add, TD_G2(g, multiply, row, n), j);
    finish(g, d, acc, TD_G2(g, add, TD_G2(g, multiply, seg, g->extra[TD_FOLD_ROWS]), at));
    g->mask = TD_NONE;
}

/* ---- across, CPU, long rows: the rows are streamed, accumulators live in the segment's memory ---- */

/* Rows that are read between loading and storing the accumulators. */
enum { STREAM_ROWS = 8 };

/* Rows [from, to) of a segment, on top of what earlier rows left at `home`; fresh: there were none. */
typedef struct stream {
    td_gen *g;
    td_fold *d;
    td_val home, from, to, fresh;
} stream;

/* The strip of columns at j. */
static void
stream_strip(void *ctx, td_val j, td_val mask)
{
    const stream *s = ctx;
    td_gen *g = s->g;
    td_fold *d = s->d;
    td_fn *f = g->f;
    td_val from = s->from, to = s->to;
    td_val slot[TD_MAXACC], acc[TD_MAXACC], at = TD_G2(g, add, s->home, j);

    g->mask = mask;
    td_acc_start(g->f, d->red, d->pair, d->acc, g->lanes, slot);
    g->j = j;
    find_shift(g, d);
    td_if(f, TD_E1(f, logical_not, s->fresh));
    for (int i = 0; i < d->nacc; i++)
        td_set(f, slot[i], td_load(f, d->out_ptr[i], at, g->mask, g->lanes, 0));
    td_end(f);
    g->j = j;
    td_gen_fix(g, d->fixed);
    if (d->near) {
        td_if(f, TD_G2(g, equal, TD_G2(g, subtract, to, from), td_gen_int(g, STREAM_ROWS)));
        across_rows(g, d, slot, from, to, STREAM_ROWS);
        td_else(f);
        across_rows(g, d, slot, from, to, 0);
        td_end(f);
    } else {
        across_rows(g, d, slot, from, to, 0);
    }
    g->fixed = NULL;
    td_acc_get(g->f, d->red, d->pair, slot, acc);
    finish(g, d, acc, at);
}

static void
stream_unit(td_gen *g, td_fold *d, td_val unit)
{
    const td_plan *p = g->p;
    td_fn *f = g->f;
    td_val seg, row, lo, hi, n = g->dim[p->nd - 1], rows = td_gen_int(g, STREAM_ROWS);
    stream s = {.g = g, .d = d};

    seg = split(g, unit, TD_FOLD_OWN, &row);
    bounds(g, d, seg, &lo, &hi);
    td_gen_row(g, row, 0, p->nk, false);
    s.home =
        TD_G2(g, add, TD_G2(g, multiply, seg, g->extra[TD_FOLD_ROWS]), TD_G2(g, multiply, row, n));
    s.from = td_for(f, lo, hi, rows);
    s.to = TD_G2(g, minimum, TD_G2(g, add, s.from, rows), hi);
    s.fresh = TD_G2(g, equal, s.from, lo);
    td_nest_lanes(f, td_gen_int(g, 0), n, g->lanes, stream_strip, &s);
    g->mask = TD_NONE;
    td_end(f);
}

td_status
td_fold_build_cpu(void *ctx, td_fn *f)
{
    td_fold *d = ctx;
    td_gen g = {.f = f, .p = d->p};
    td_val unit;

    declare(&g, d);
    g.lanes = d->lanes;
    unit = td_nest_open(f, &d->nest, g.extra[TD_FOLD_UNITS], g.extra[TD_FOLD_PER]).unit;
    if (d->streamed)
        stream_unit(&g, d, unit);
    else if (d->p->tail_kept)
        across_unit(&g, d, unit);
    else
        along_cpu_unit(&g, d, unit);
    td_nest_close(f, &d->nest);
    return f->st;
}

/* ---- along, GPU ---- */

/* Elements first, first + step, … below hi, `lanes` at a time where they fit whole. */
static void
along_thread(td_gen *g, const td_fold *d, const td_val slot[], const td_val slot1[], td_val lo,
             td_val hi, td_val lane)
{
    td_fn *f = g->f;
    td_val v = td_gen_int(g, d->lanes), team = td_gen_int(g, d->nest.team), zero = td_gen_int(g, 0),
           from;

    g->lanes = d->lanes;
    td_gen_uniform(g);
    from = TD_G2(g, add, lo, TD_G2(g, multiply, lane, v));
    g->j = td_for(f, from, TD_G2(g, subtract, hi, td_gen_int(g, d->lanes - 1)),
                  TD_G2(g, multiply, team, v));
    accumulate(g, d, slot, TD_G2(g, add, g->j, td_iota(f, TD_I64, d->lanes)));
    td_end(f);
    if (d->lanes == 1)
        return;
    from =
        TD_G2(g, bitwise_and, TD_G2(g, subtract, hi, lo), td_gen_int(g, ~(int64_t)(d->lanes - 1)));
    from = TD_G2(g, add, TD_G2(g, add, lo, TD_G2(g, maximum, from, zero)), lane);
    g->lanes = 1;
    td_gen_uniform(g);
    g->j = td_for(f, from, hi, team);
    accumulate(g, d, slot1, g->j);
    td_end(f);
    g->lanes = d->lanes;
}

/* The same for several reduced dims, where the place of each element is worked out by divisions. */
static void
along_scattered(td_gen *g, const td_fold *d, const td_val slot[], td_val lo, td_val hi, td_val lane)
{
    const td_plan *p = g->p;
    td_gen kept = *g;
    td_val r = td_for(g->f, TD_G2(g, add, lo, lane), hi, td_gen_int(g, d->nest.team));
    td_val q;

    g->lanes = 1;
    if (p->nd > p->nk) {
        q = td_gen_divide(g, r, p->nd - 1, &g->j);
        td_gen_row(g, q, p->nk, p->nd - 1, true);
    }
    td_gen_uniform(g);
    accumulate(g, d, slot, r);
    td_end(g->f);
    *g = kept;
}

/* Merges acc of all threads of the team. */
static void
merge_team(td_gen *g, const td_fold *d, td_val acc[], td_val tid)
{
    td_val mem[TD_MAXACC];
    const td_nest *n = &d->nest;

    td_acc_warp(g->f, d->red, d->pair, n->team > n->warp ? n->warp : n->team, acc);
    if (n->team <= n->warp)
        return;
    td_acc_put(g->f, d->red, d->pair, d->acc, acc, n, tid, mem);
    td_barrier(g->f);
    td_acc_take(g->f, d->red, d->pair, d->acc, mem, n, tid, acc);
}

static void
along_gpu(td_gen *g, td_fold *d)
{
    const td_plan *p = g->p;
    td_fn *f = g->f;
    td_place at = td_nest_open(f, &d->nest, g->extra[TD_FOLD_UNITS], g->extra[TD_FOLD_PER]);
    td_val unit = at.unit, seg, lo, hi, row, slot[TD_MAXACC], slot1[TD_MAXACC];
    td_val acc[TD_MAXACC], acc1[TD_MAXACC];

    td_acc_start(g->f, d->red, d->pair, d->acc, d->lanes, slot);
    td_acc_start(g->f, d->red, d->pair, d->acc, 1, slot1);
    td_if(f, TD_G2(g, less, unit, g->extra[TD_FOLD_UNITS]));
    row = row_of(g, d, unit, &seg);
    bounds(g, d, seg, &lo, &hi);
    td_gen_row(g, row, 0, p->nk, false);
    g->lanes = 1;
    g->j = td_gen_int(g, 0);
    find_shift(g, d);
    if (p->nd - p->nk == 1)
        along_thread(g, d, slot, slot1, lo, hi, at.lane);
    else
        along_scattered(g, d, slot, lo, hi, at.lane);
    td_end(f);
    td_acc_get(f, d->red, d->pair, slot, acc);
    td_acc_lanes(f, d->red, d->pair, d->lanes, acc);
    td_acc_get(f, d->red, d->pair, slot1, acc1);
    td_red_merge(f, d->red, d->pair, acc, acc1, acc);
    merge_team(g, d, acc, at.tid);
    td_if(f, TD_G2(g, logical_and, TD_G2(g, equal, at.lane, td_gen_int(g, 0)),
                   TD_G2(g, less, unit, g->extra[TD_FOLD_UNITS])));
    g->lanes = 1;
    finish(g, d, acc, unit);
    td_end(f);
}

td_status
td_fold_build_gpu(void *ctx, td_fn *f)
{
    td_fold *d = ctx;
    td_gen g = {.f = f, .p = d->p, .aligned = d->lanes > 1};
    td_val unit;

    declare(&g, d);
    g.lanes = d->lanes;
    if (!d->p->tail_kept) {
        along_gpu(&g, d);
        return f->st;
    }
    unit = td_nest_open(f, &d->nest, g.extra[TD_FOLD_UNITS], g.extra[TD_FOLD_PER]).unit;
    td_if(f, TD_G2(&g, less, unit, g.extra[TD_FOLD_UNITS]));
    across_unit(&g, d, unit);
    td_end(f);
    return f->st;
}
