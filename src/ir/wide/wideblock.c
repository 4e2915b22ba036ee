/* wideblock.c - emits the block: control flow at block level, and loops over groups of lanes
 * between its barriers.
 */
#include "ir/wide/wide.h"

#include <string.h>

static bool
is_wanted(const wide *w, uint32_t slot)
{
    return w->at[slot].gets > 0;
}

/* ---- the entry ---- */

static td_val
hidden(wide *w, uint32_t k, td_dtype dt)
{
    td_inst s = td_inst_new(OP_param, dt, 1);

    s.imm = w->in->nparam + k;
    return td_push(w->f, s);
}

/* bid.y and bid.z come in 16 bits each. */
static void
block_indices(wide *w)
{
    td_fn *f = w->f;
    td_val yz = td_index(f, OP_gdim, 0);

    for (uint32_t k = 0; k < 3; k++) {
        w->bdim[k] = hidden(w, k, TD_I32);
        w->gdim[k] = hidden(w, 3 + k, TD_I32);
    }
    w->bid[0] = td_index(f, OP_bid, 0);
    w->bid[1] = TD_E2(f, bitwise_and, yz, w_int(w, TD_I32, 0xffff));
    w->bid[2] = TD_E2(f, right_shift, td_bitcast(f, yz, TD_U32), w_int(w, TD_U32, 16));
    w->bid[2] = td_bitcast(f, w->bid[2], TD_I32);
}

static td_val
local_arrays(wide *w, const td_inst *s)
{
    uint64_t threads = w->barriers ? TD_WIDE_THREADS : (uint64_t)w->lanes;

    return td_local(w->f, (td_dtype)s->dt, s->imm * threads);
}

void
w_storage(wide *w, uint32_t i, uint32_t end)
{
    for (; i < end; i++) {
        const td_inst *s = &w->in->ins[i];
        wat *v = &w->at[i];
        bool count = v->shape == W_PREFIX || v->shape == W_SUFFIX;

        if (s->op == OP_param || (!w->host && (s->op == OP_shared || s->op == OP_dynamic)))
            w_defined(w, i, td_push(w->f, *s), TD_NONE);
        if (s->op == OP_local)
            w_defined(w, i, local_arrays(w, s), TD_NONE);
        if (s->op == OP_slot && is_wanted(w, i))
            v->one = td_slot(w->f, (td_dtype)s->dt, v->shape == W_LANES ? w->lanes : 1);
        if (v->spill || (s->op == OP_slot && v->keep == W_ARRAY))
            v->array = td_shared(w->f, count ? TD_I32 : (td_dtype)s->dt, TD_WIDE_THREADS);
    }
}

static td_val
fetch_slot(wide *w, const wat *v, td_val array)
{
    bool lanes = v->shape == W_LANES;

    return td_load(w->f, array, w->place, lanes ? w->tail : TD_NONE, lanes ? w->lanes : 1, 0);
}

/* Does [i, end) hold an `op` of slot? */
static bool
touches(const wide *w, uint32_t slot, uint32_t i, uint32_t end, bool sets)
{
    for (uint32_t a = w->at[slot].next; a != W_ROOT; a = w->at[a].next)
        if (a >= i && a < end && (!sets || w->in->ins[a].op == OP_set))
            return true;
    return false;
}

/* Loads into the group's slots what its threads held, or zero where the threads begin. */
static void
take_slots(wide *w, uint32_t i, uint32_t end)
{
    for (uint32_t s = 0; s < w->in->n; s++) {
        const wat *v = &w->at[s];

        if (w->in->ins[s].op != OP_slot || !is_wanted(w, s) || v->keep == W_ONCE)
            continue;
        if (v->keep == W_ARRAY && touches(w, s, i, end, false))
            td_set(w->f, v->one, fetch_slot(w, v, v->array));
        else if (v->keep == W_LOCAL && v->zero)
            td_set(w->f, v->one, w_int(w, (td_dtype)w->in->ins[s].dt, 0));
    }
}

static void
give_slots(wide *w, uint32_t i, uint32_t end)
{
    for (uint32_t s = 0; s < w->in->n; s++) {
        const wat *v = &w->at[s];

        if (w->in->ins[s].op == OP_slot && is_wanted(w, s) && v->keep == W_ARRAY &&
            touches(w, s, i, end, true))
            td_store(w->f, v->array, w->place, td_get(w->f, v->one),
                     v->shape == W_LANES ? w->tail : TD_NONE, 0);
    }
}

/* ---- loops over the groups ---- */

/* Opens one loop over groups cut from the linear index; a group's threads may be in several
 * rows. */
static td_val
open_linear(wide *w)
{
    td_fn *f = w->f;
    td_val zero = w_int(w, TD_I32, 0), step = w_int(w, TD_I32, w->lanes), n, v;

    td_for(f, zero, w_int(w, TD_I32, 1), w_int(w, TD_I32, 1)); /* two regions, as open_rows opens */
    n = TD_E2(f, multiply, TD_E2(f, multiply, w->bdim[0], w->bdim[1]), w->bdim[2]);
    w->place = td_for(f, zero, n, step);
    v = TD_E2(f, add, td_iota(f, TD_I32, w->lanes), w->place);
    w->tid[0] = TD_E2(f, fmod, v, w->bdim[0]);
    v = TD_E2(f, truncate_divide, v, w->bdim[0]);
    w->tid[1] = TD_E2(f, fmod, v, w->bdim[1]);
    w->tid[2] = TD_E2(f, truncate_divide, v, w->bdim[1]);
    return TD_E2(f, subtract, n, w->place);
}

/* Opens the loops over rows and over the groups of a row; returns the number of threads left
 * in the row.  Counts y and z, since dividing would cost as much as a short row. */
static td_val
open_rows(wide *w)
{
    td_fn *f = w->f;
    td_val zero = w_int(w, TD_I32, 0), one = w_int(w, TD_I32, 1), row, next, whole;
    td_val y = td_slot(f, TD_I32, 1), z = td_slot(f, TD_I32, 1);

    td_set(f, y, zero);
    td_set(f, z, zero);
    row = td_for(f, zero, TD_E2(f, multiply, w->bdim[1], w->bdim[2]), one);
    w->tid[1] = td_get(f, y);
    w->tid[2] = td_get(f, z);
    next = TD_E2(f, add, w->tid[1], one);
    whole = TD_E2(f, equal, next, w->bdim[1]);
    td_set(f, y, TD_E3(f, select, whole, zero, next));
    td_set(f, z, TD_E2(f, add, w->tid[2], td_cast(f, whole, TD_I32)));
    w->place = TD_E2(f, multiply, row, w->bdim[0]);
    w->tid[0] = td_for(f, zero, w->bdim[0], w_int(w, TD_I32, w->lanes));
    w->place = TD_E2(f, add, w->place, w->tid[0]);
    return TD_E2(f, subtract, w->bdim[0], w->tid[0]);
}

static void
open_groups(wide *w)
{
    td_fn *f = w->f;
    td_val step = w_int(w, TD_I32, w->lanes), left = w->linear ? open_linear(w) : open_rows(w);

    left = TD_E3(f, select, TD_E2(f, less, left, step), left, step);
    w->m = (wmask){.kind = W_COUNT, .any = true, .count = left};
    if (w->barriers)
        w->tail = TD_E2(f, less, td_iota(f, TD_I32, w->lanes), left);
}

static void
close_groups(wide *w)
{
    td_end(w->f);
    td_end(w->f);
}

/* Zeroes the arrays of slots that may be read before they are set.  All threads are alive. */
static void
start_threads(wide *w)
{
    bool any = w->alive.i != UINT32_MAX;

    for (uint32_t s = 0; s < w->in->n; s++)
        any |= w->in->ins[s].op == OP_slot && w->at[s].keep == W_ARRAY && w->at[s].zero;
    if (!any)
        return;
    open_groups(w);
    for (uint32_t s = 0; s < w->in->n; s++) {
        const wat *v = &w->at[s];
        int lanes = v->shape == W_LANES ? w->lanes : 1;

        if (w->in->ins[s].op == OP_slot && v->keep == W_ARRAY && v->zero)
            td_store(w->f, v->array, w->place,
                     td_splat(w->f, w_int(w, (td_dtype)w->in->ins[s].dt, 0), lanes),
                     lanes > 1 ? w->tail : TD_NONE, 0);
    }
    if (w->alive.i != UINT32_MAX)
        td_store(w->f, w->alive, w->place, w->tail, w->tail, 0);
    close_groups(w);
}

/* ---- a phase ---- */

/* Emits once, before the groups, what is the same for the whole block: it does not depend on
 * what the groups do in this phase.  A read inside a region is emitted at the region. */
void
w_do_once(wide *w, uint32_t i, uint32_t end)
{
    w->epoch = 0;
    for (; i < end; i++) {
        const td_inst *s = &w->in->ins[i];
        bool once = s->op == OP_set ? w->at[s->arg[0].i].keep == W_ONCE
                                    : td_optab[s->op].value && w->at[i].shape == W_BLOCK;

        if (td_op_opens(s->op)) {
            for (uint32_t stop = w_end(w, i); i < stop; i++)
                if (w->in->ins[i].op == OP_get && w->at[w->in->ins[i].arg[0].i].keep == W_ONCE)
                    w_inst(w, i);
        } else if (once) {
            w_inst(w, i);
        }
    }
}

static bool
has_work(const wide *w, uint32_t i, uint32_t end)
{
    for (; i < end; i++) {
        const td_inst *s = &w->in->ins[i];

        if (s->op == OP_set ? w->at[s->arg[0].i].keep != W_ONCE && is_wanted(w, s->arg[0].i)
                            : !td_optab[s->op].value || td_op_is_atomic(s->op) || w->at[i].spill)
            return true;
    }
    return false;
}

static bool
holds_exit(const wide *w, uint32_t i, uint32_t end)
{
    while (i < end && w->in->ins[i].op != OP_exit_if)
        i++;
    return w->exits && i < end;
}

/* Runs the phase without the threads that ended in an earlier one. */
static void
run_alive(wide *w, uint32_t i, uint32_t end)
{
    td_val m = fetch_slot(w, &(wat){.shape = W_LANES}, w->alive);
    wframe *f = &w->open[0];
    uint32_t mark = w->nundo;

    td_set(w->f, f->live, m);
    td_if(w->f, td_all(w->f, m));
    w->m = f->m = (wmask){.kind = W_FULL, .any = true};
    w_range(w, i, end);
    w_close(w, mark);
    td_else(w->f);
    td_if(w->f, w_any(w, m));
    w->m = f->m = (wmask){.kind = W_SOME, .any = true, .cur = m};
    w_range(w, i, end);
    w_close(w, mark);
    td_end(w->f);
    td_end(w->f);
    if (holds_exit(w, i, end)) {
        m = td_get(w->f, f->live);
        td_store(w->f, w->alive, w->place, m, w->tail, 0);
        td_set(w->f, w->ended,
               TD_E2(w->f, logical_and, td_get(w->f, w->ended),
                     TD_E1(w->f, logical_not, w_any(w, m))));
    }
}

void
w_run_group(wide *w, uint32_t i, uint32_t end)
{
    wframe *f = &w->open[0];
    td_val mask;

    w->depth = 0;
    *f = (wframe){.opener = W_ROOT, .m = w->m, .live = TD_NONE};
    if (w->exits)
        f->live = td_slot(w->f, TD_BOOL, w->lanes);
    take_slots(w, i, end);
    if (w->alive.i != UINT32_MAX) {
        run_alive(w, i, end);
    } else {
        if (w->exits) {
            mask = w_mask(w);
            f->m = w->m;
            td_set(w->f, f->live, mask);
        }
        if (w->leaves)
            td_block(w->f);
        w_range(w, i, end);
        if (w->leaves)
            td_end(w->f);
    }
    give_slots(w, i, end);
}

static void
phase(wide *w, uint32_t i, uint32_t end)
{
    bool ends = holds_exit(w, i, end) && w->alive.i != UINT32_MAX;
    uint32_t mark = w->nundo;

    w_do_once(w, i, end);
    if (!has_work(w, i, end))
        return;
    if (ends)
        td_set(w->f, w->ended, w_int(w, TD_BOOL, 1));
    w->epoch = ++w->runs;
    open_groups(w);
    w_run_group(w, i, end);
    w_close(w, mark);
    close_groups(w);
    w->epoch = 0;
    if (ends)
        td_exit_if(w->f, td_get(w->f, w->ended));
}

/* Counts the threads that have not ended and for which the condition is true. */
static void
count_threads(wide *w, uint32_t i)
{
    td_fn *f = w->f;
    td_val n = td_slot(f, TD_I32, 1), mask;
    uint32_t mark = w->nundo;

    td_set(f, n, w_int(w, TD_I32, 0));
    w->epoch = ++w->runs;
    open_groups(w);
    mask = w->tail;
    if (w->alive.i != UINT32_MAX)
        mask = fetch_slot(w, &(wat){.shape = W_LANES}, w->alive);
    mask = w_and(w, mask, w_vec(w, w->in->ins[i].arg[0]));
    mask = td_cast(f, TD_E1(f, popcount, td_bits(f, mask)), TD_I32);
    td_set(f, n, TD_E2(f, add, td_get(f, n), mask));
    w_close(w, mark);
    close_groups(w);
    w->epoch = 0;
    w_defined(w, i, td_get(f, n), TD_NONE);
}

/* ---- the block's own control ---- */

static void block_range(wide *w, uint32_t i, uint32_t end);

static uint32_t
block_control(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];

    w->f->line = s->line;
    w->epoch = 0;
    switch (s->op) {
    case OP_break_if:      td_break_out(w->f, w_one(w, s->arg[0]), (int)s->imm); return i + 1;
    case OP_exit_if:       td_exit_if(w->f, w_one(w, s->arg[0])); return i + 1;
    case OP_barrier:       return i + 1;
    case OP_barrier_count: count_threads(w, i); return i + 1;
    case OP_if:            td_if(w->f, w_one(w, s->arg[0])); break;
    case OP_loop:          td_loop(w->f); break;
    case OP_block:         td_block(w->f); break;
    case OP_for:
        w_defined(w, i, td_for(w->f, w_one(w, s->arg[0]), w_one(w, s->arg[1]), w_one(w, s->arg[2])),
                  TD_NONE);
        break;
    }
    block_range(w, i + 1, s->jump);
    if (s->op == OP_if && w_has_else(w, i)) {
        td_else(w->f);
        block_range(w, s->jump + 1, w_end(w, i));
    }
    w->epoch = 0;
    td_end(w->f);
    return w_end(w, i) + 1;
}

static void
block_range(wide *w, uint32_t i, uint32_t end)
{
    while (i < end && !w->f->st) {
        uint32_t k = i;

        while (k < end && !w_edge(w, k))
            k = td_op_opens(w->in->ins[k].op) ? w_end(w, k) + 1 : k + 1;
        if (k > i)
            phase(w, i, k);
        i = k < end ? block_control(w, k) : k;
    }
}

void
w_entry(wide *w)
{
    w->f->nparam = w->in->nparam + TD_WIDE_WORDS;
    block_indices(w);
}

void
w_blocks(wide *w)
{
    w->epoch = 0;
    w_storage(w, 0, w->in->n);
    w->alive = w->ended = w->tail = TD_NONE;
    if (w->exits && w->barriers) {
        w->alive = td_shared(w->f, TD_BOOL, TD_WIDE_THREADS);
        w->ended = td_slot(w->f, TD_BOOL, 1);
    }
    start_threads(w);
    block_range(w, 0, w->in->n);
}
