/* wideloop.c - loops and blocks of a group of lanes.
 *
 * A loop that lanes leave one by one has a slot with the lanes still in it, and runs until the
 * last has left.  Two kinds of counted loops do better.  Lanes that count up to one bound always
 * are the first lanes.  And if lanes differ only in their number of iterations, the iterations
 * that all lanes do need no mask.
 */
#include "ir/wide/wide.h"

static td_val
live_lanes(wide *w)
{
    td_val live = td_slot(w->f, TD_BOOL, w->lanes), mask = w_mask(w);

    td_set(w->f, live, mask.i == UINT32_MAX ? w_int(w, TD_BOOL, 1) : mask);
    return live;
}

/* Emits the opener; the counter is defined. */
static void
open_wide_region(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];

    if (s->op == OP_loop)
        td_loop(w->f);
    else if (s->op == OP_block)
        td_block(w->f);
    else
        w_defined(w, i, td_for(w->f, w_one(w, s->arg[0]), w_one(w, s->arg[1]), w_one(w, s->arg[2])),
                  TD_NONE);
}

/* Keeps the lanes in the loop for which `more` holds; the loop ends with the last lane. */
static void
keep_going(wide *w, td_val live, td_val more)
{
    td_val left = td_get(w->f, live);

    if (more.i != UINT32_MAX) {
        left = TD_E2(w->f, logical_and, left, more);
        td_set(w->f, live, left);
    }
    td_break_if(w->f, TD_E1(w->f, logical_not, w_any(w, left)));
}

static void
body(wide *w, uint32_t i, td_val live)
{
    w->m = w_some(td_get(w->f, live), true);
    w_range(w, i + 1, w_end(w, i));
}

/* Do lanes leave loop i by its count alone, with step 1 and bounds that differ only in the
 * upper one? */
static bool
counts_only(const wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i], *step = &w->in->ins[w_src(w, s->arg[2])];

    for (uint32_t k = i + 1; k < w_end(w, i); k++)
        if (w->in->ins[k].op == OP_exit_if ||
            (w->in->ins[k].op == OP_break_if &&
             (w->at[k].target == i || !w_inside(w, w->at[k].target, i))))
            return false;
    return w_is_uniform(w_shape(w, s->arg[0])) && step->op == OP_const && step->imm == 1 &&
           w_end(w, i) - i <= W_SPLIT_MOST;
}

static td_val
least_lane(wide *w, td_val v)
{
    for (int k = w->lanes / 2; k; k /= 2) {
        td_val other = td_rotate(w->f, v, k);

        v = TD_E3(w->f, select, TD_E2(w->f, less, other, v), other, v);
    }
    return td_extract(w->f, v, 0);
}

/* Emits, without masks, the iterations that all lanes do.  Returns the counter after them. */
static td_val
for_together(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    td_fn *f = w->f;
    td_val lo = w_one(w, s->arg[0]), hi = least_lane(w, w_vec(w, s->arg[1]));
    uint32_t mark = w->nundo;
    wmask was = w->m;

    hi = TD_E3(f, select, TD_E2(f, less, lo, hi), hi, lo);
    w_defined(w, i, td_for(f, lo, hi, w_one(w, s->arg[2])), TD_NONE);
    w->m = (wmask){.kind = W_FULL, .any = true};
    w_range(w, i + 1, w_end(w, i));
    w_close(w, mark);
    td_end(f);
    w->m = was;
    return hi;
}

/* A `for` whose bounds differ between lanes.  The counter is a slot; it is uniform or affine
 * if possible. */
static void
for_apart(wide *w, uint32_t i, td_val live)
{
    const td_inst *s = &w->in->ins[i];
    td_fn *f = w->f;
    td_dtype dt = (td_dtype)s->dt;
    int bits = 8 * (int)td_dtype_size(dt);
    bool lanes = w->at[i].shape == W_LANES;
    bool all = w->m.kind == W_FULL && w->m.any && !lanes && counts_only(w, i);
    td_val first = all ? for_together(w, i) : TD_NONE;
    td_val n = td_slot(f, dt, lanes ? w->lanes : 1), hi = w_vec(w, s->arg[1]), step, limit, now,
           start;
    td_val least = w_int(w, dt, bits == 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1)));

    step = lanes ? w_vec(w, s->arg[2]) : w_one(w, s->arg[2]);
    limit = TD_E2(f, add, step, least); /* hi - step, computed so that it does not wrap */
    limit = TD_E2(f, subtract, TD_E3(f, select, TD_E2(f, less, limit, hi), hi, limit), step);
    start = all ? td_splat(f, first, w->lanes) : w_vec(w, s->arg[0]);
    td_set(f, n, all ? first : lanes ? start : w_one(w, s->arg[0]));
    td_set(f, live, TD_E2(f, logical_and, td_get(f, live), TD_E2(f, less, start, hi)));
    td_if(f, w_any(w, td_get(f, live)));
    td_loop(f);
    w_defined(w, i, lanes ? TD_NONE : td_get(f, n), lanes ? td_get(f, n) : TD_NONE);
    body(w, i, live);
    now = w_vec(w, (td_val){i});
    keep_going(w, live, TD_E2(f, less, now, limit));
    td_set(f, n, TD_E2(f, add, td_get(f, n), step));
    td_end(f);
    td_end(f);
}

/* hi - first, at most the number of lanes: int32; first < hi. */
static td_val
left_of(wide *w, td_val first, td_val hi)
{
    td_fn *f = w->f;
    td_dtype un = f->st || td_at(f, first)->dt == TD_I64 ? TD_U64 : TD_U32;
    td_val left = td_bitcast(f, TD_E2(f, subtract, hi, first), un), most = w_int(w, un, w->lanes);

    return td_cast(f, TD_E3(f, select, TD_E2(f, less, left, most), left, most), TD_I32);
}

/* Lanes that count up together to one bound: the active ones are always the first. */
static void
for_strip(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    td_fn *f = w->f;
    td_val hi = w_one(w, s->arg[1]), first, n;

    first = td_for(f, w_one(w, s->arg[0]), hi, w_one(w, s->arg[2]));
    n = left_of(w, first, hi);
    if (w->m.kind == W_COUNT)
        n = TD_E3(f, select, TD_E2(f, less, n, w->m.count), n, w->m.count);
    w->m = w->open[w->depth].m = (wmask){.kind = W_COUNT, .any = true, .count = n};
    w_defined(w, i, first, TD_NONE);
    w_range(w, i + 1, w_end(w, i));
    td_end(f);
}

uint32_t
w_loop(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    wmask was;
    uint32_t mark;
    td_val live = TD_NONE;
    bool strip = w->at[i].strip && !w->at[i].leak && w->m.kind != W_SOME;
    bool apart = s->op == OP_for && !strip &&
                 (!w_is_uniform(w_shape(w, s->arg[0])) || !w_is_uniform(w_shape(w, s->arg[1])) ||
                  !w_is_uniform(w_shape(w, s->arg[2])));

    w->f->line = s->line;
    if (w->at[i].leak || apart)
        live = live_lanes(w);
    was = w->m;
    mark = w->nundo;
    w_push(w, i, live);
    if (strip) {
        for_strip(w, i);
    } else if (apart) {
        for_apart(w, i, live);
    } else {
        open_wide_region(w, i);
        if (w->at[i].leak)
            body(w, i, live);
        else
            w_range(w, i + 1, w_end(w, i));
        if (w->at[i].leak && s->op != OP_block && !w->m.any)
            keep_going(w, live, TD_NONE);
        td_end(w->f);
    }
    w_close(w, mark);
    w->depth--;
    w->m = was;
    if (w->at[i].cross)
        w_refresh(w);
    return w_end(w, i) + 1;
}
