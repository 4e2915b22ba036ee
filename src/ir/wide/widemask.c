/* widemask.c - control flow of a group of lanes, by masks.
 *
 * The mask of active lanes is a value as long as possible.  A region that lanes leave one by one
 * also has a slot, from which a break or an exit removes lanes; code after such a region takes
 * its mask from there.  Code with an effect of its own (a store of one lane, a loop) never runs
 * without an active lane.
 *
 * A group of the first n lanes (the block's last group, or lanes below a bound) keeps only n as
 * long as possible.  Where a mask is first needed, the rest of the region is emitted twice: for
 * all lanes without a mask, and for fewer.
 */
#include "ir/wide/wide.h"

enum { SELECT_MOST = 6 };

td_val
w_any(wide *w, td_val mask)
{
    return td_any(w->f, mask);
}

td_val
w_and(wide *w, td_val a, td_val b)
{
    if (a.i == UINT32_MAX || b.i == UINT32_MAX)
        return a.i == UINT32_MAX ? b : a;
    return TD_E2(w->f, logical_and, a, b);
}

static td_val
and_not(wide *w, td_val a, td_val b)
{
    return w_and(w, a, TD_E1(w->f, logical_not, b));
}

static td_val
mask_of(wide *w, const wmask *m)
{
    switch (m->kind) {
    case W_FULL:  return TD_NONE;
    case W_COUNT: return TD_E2(w->f, less, td_iota(w->f, TD_I32, w->lanes), m->count);
    case W_SOME:  break;
    }
    return m->cur;
}

td_val
w_mask(wide *w)
{
    if (w->m.kind == W_COUNT) {
        w->m.cur = mask_of(w, &w->m);
        w->m.kind = W_SOME;
    }
    return mask_of(w, &w->m);
}

wmask
w_some(td_val cur, bool any)
{
    return (wmask){.kind = W_SOME, .any = any, .count = TD_NONE, .cur = cur};
}

void
w_push(wide *w, uint32_t i, td_val live)
{
    w->open[++w->depth] = (wframe){.opener = i, .m = w->m, .live = live};
}

/* Recomputes the mask after lanes left from inside: the innermost region's initial mask
 * without the lanes that are gone. */
void
w_refresh(wide *w)
{
    const wframe *f = &w->open[w->depth];
    uint32_t d = w->depth;
    td_val own = TD_NONE;

    if (f->live.i == UINT32_MAX)
        own = mask_of(w, &f->m);
    while (w->open[d].live.i == UINT32_MAX)
        d--;
    w->m = w_some(w_and(w, own, td_get(w->f, w->open[d].live)), false);
}

/* ---- emitting the rest of a region twice ---- */

static bool
pure(unsigned op)
{
    return op < TD_OPS || op == OP_cast || op == OP_bitcast || op == OP_const || op == OP_get ||
           td_optab[op].threads == TD_THREADS_PLACE;
}

/* Is i the first instruction for which the active lanes matter? */
static bool
wants_mask(const wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];

    if (pure(s->op) || s->op == OP_exit_if || td_optab[s->op].wide == TD_WIDE_ONCE)
        return false;
    switch (s->op) {
    case OP_for:     return !w->at[i].strip || w->at[i].leak;
    case OP_if:      return w_shape(w, s->arg[0]) != W_PREFIX || w_has_else(w, i);
    case OP_set:     return w->at[i].partial;
    case OP_load:    return w->at[i].shape == W_LANES;
    case OP_slot:
    case OP_shared:
    case OP_dynamic:
    case OP_local:
    case OP_at:
    case OP_pointer:
    case OP_address:
    case OP_lane:
    case OP_param:   return false;
    }
    return true;
}

static void
split_group(wide *w, uint32_t i, uint32_t end)
{
    wframe *f = &w->open[w->depth];
    wmask was = w->m, entry = f->m;
    uint32_t mark = w->nundo;

    td_if(w->f, TD_E2(w->f, equal, was.count, w_int(w, TD_I32, w->lanes)));
    f->m = w->m = (wmask){.kind = W_FULL, .any = true};
    w_range(w, i, end);
    w_close(w, mark);
    td_else(w->f);
    w->m = was;
    w_mask(w);
    f->m = w->m;
    w_range(w, i, end);
    w_close(w, mark);
    td_end(w->f);
    f->m = entry;
    w->m = was;
    w->m.any = false; /* all lanes may have left */
}

/* ---- if ---- */

/* Is the body so short and simple that testing for active lanes would cost more? */
static bool
is_short(const wide *w, uint32_t i, uint32_t end)
{
    if (end - i - 1 > SELECT_MOST)
        return false;
    for (uint32_t k = i + 1; k < end; k++) {
        const td_inst *s = &w->in->ins[k];

        if (s->op == OP_store || s->op == OP_load) {
            if (w_once(w, k) || !w_is_uniform(w_shape(w, s->arg[0])))
                return false;
        } else if (!pure(s->op) && s->op != OP_set) {
            return false;
        }
    }
    return true;
}

/* Emits one branch of an `if`, from its opener to end, for the lanes of m. */
static void
emit_branch(wide *w, uint32_t opener, uint32_t end, wmask m)
{
    wmask was = w->m;

    w->m = m;
    w_push(w, opener, TD_NONE);
    w_range(w, opener + 1, end);
    w->depth--;
    w->m = was;
}

static void
branch_where(wide *w, uint32_t opener, uint32_t end, td_val mask)
{
    uint32_t mark = w->nundo;

    if (is_short(w, opener, end)) {
        emit_branch(w, opener, end, w_some(mask, false));
        w_close(w, mark);
        return;
    }
    td_if(w->f, w_any(w, mask));
    emit_branch(w, opener, end, w_some(mask, true));
    w_close(w, mark);
    td_end(w->f);
}

/* A condition that holds below a bound: the active lanes stay the first ones. */
static void
if_prefix(wide *w, uint32_t i)
{
    td_val n = w_one(w, w->in->ins[i].arg[0]);
    uint32_t mark = w->nundo;

    if (w->m.kind == W_COUNT)
        n = TD_E3(w->f, select, TD_E2(w->f, less, n, w->m.count), n, w->m.count);
    td_if(w->f, TD_E2(w->f, less, w_int(w, TD_I32, 0), n));
    emit_branch(w, i, w->in->ins[i].jump, (wmask){.kind = W_COUNT, .any = true, .count = n});
    w_close(w, mark);
    td_end(w->f);
}

static void
if_uniform(wide *w, uint32_t i)
{
    uint32_t mid = w->in->ins[i].jump, end = w_end(w, i), mark = w->nundo;

    td_if(w->f, w_one(w, w->in->ins[i].arg[0]));
    emit_branch(w, i, mid, w->m);
    w_close(w, mark);
    if (w_has_else(w, i)) {
        td_else(w->f);
        emit_branch(w, mid, end, w->m);
        w_close(w, mark);
    }
    td_end(w->f);
}

/* The expected value of a condition in nearly all groups: uniform (EITHER), true, false; or
 * UNKNOWN: lanes diverge. Tests of an index that counts up diverge in few groups. */
typedef enum likely { UNKNOWN, EITHER, YES, NO } likely;

static likely
likely_of(const wide *w, td_val v, int depth)
{
    const td_inst *s = &w->in->ins[w_src(w, v)];
    wshape own = w_shape(w, v);
    likely a, b, strong;

    if (w_is_uniform(own))
        return EITHER;
    if (own == W_PREFIX || own == W_SUFFIX)
        return YES;
    if (depth == 0)
        return UNKNOWN;
    switch (s->op) {
    case OP_logical_not:
        a = likely_of(w, s->arg[0], depth - 1);
        return a == YES ? NO : a == NO ? YES : a;
    case OP_equal:
    case OP_not_equal:
        if (w_shape(w, s->arg[0]) > W_AFFINE || w_shape(w, s->arg[1]) > W_AFFINE)
            return UNKNOWN;
        return s->op == OP_equal ? NO : YES;
    case OP_logical_and:
    case OP_logical_or:
        a = likely_of(w, s->arg[0], depth - 1);
        b = likely_of(w, s->arg[1], depth - 1);
        if (a == UNKNOWN || b == UNKNOWN)
            return UNKNOWN;
        strong = s->op == OP_logical_and ? NO : YES;
        return a == strong || b == strong ? strong : a > b ? a : b;
    }
    return UNKNOWN;
}

/* Emits both branches, each for its own lanes. */
static void
if_apart(wide *w, uint32_t i, td_val mask, td_val yes)
{
    uint32_t mid = w->in->ins[i].jump, end = w_end(w, i);
    bool other = w_has_else(w, i);
    td_val no = TD_NONE;

    if (other)
        no = w_and(w, mask, TD_E1(w->f, logical_not, yes));
    branch_where(w, i, mid, w_and(w, mask, yes));
    if (other)
        branch_where(w, mid, end, no);
}

/* All lanes are active and nearly always take the same branch: emits that branch without
 * masks, else both apart. */
static void
if_likely(wide *w, uint32_t i, td_val yes, bool way)
{
    uint32_t mid = w->in->ins[i].jump, end = w_end(w, i), mark = w->nundo;
    wmask full = w->m;

    td_if(w->f, way ? td_all(w->f, yes) : TD_E1(w->f, logical_not, w_any(w, yes)));
    if (way)
        emit_branch(w, i, mid, full);
    else if (w_has_else(w, i))
        emit_branch(w, mid, end, full);
    w_close(w, mark);
    td_else(w->f);
    if_apart(w, i, TD_NONE, yes);
    w_close(w, mark);
    td_end(w->f);
}

static uint32_t
do_if(wide *w, uint32_t i)
{
    td_val c = w->in->ins[i].arg[0];
    uint32_t mid = w->in->ins[i].jump, end = w_end(w, i);
    bool other = w_has_else(w, i);

    w->f->line = w->in->ins[i].line;
    if (w_is_uniform(w_shape(w, c))) {
        if_uniform(w, i);
    } else if (w_shape(w, c) == W_PREFIX && !other && w->m.kind != W_SOME) {
        if_prefix(w, i);
    } else {
        td_val mask = w_mask(w), yes = w_vec(w, c);
        likely l = mask.i == UINT32_MAX && w->m.any ? likely_of(w, c, 8) : UNKNOWN;

        if ((l == YES || l == NO) && !is_short(w, i, mid) && end - i <= W_SPLIT_MOST)
            if_likely(w, i, yes, l == YES);
        else
            if_apart(w, i, mask, yes);
    }
    if (w->at[i].cross || (other && w->at[mid].cross))
        w_refresh(w);
    return end + 1;
}

/* ---- breaks and exits ---- */

/* Removes the lanes `gone` from the regions around this place, out to `target`. */
static void
remove_lanes(wide *w, td_val gone, uint32_t target)
{
    for (uint32_t d = w->depth;; d--) {
        td_val live = w->open[d].live;

        if (live.i != UINT32_MAX)
            td_set(w->f, live, and_not(w, td_get(w->f, live), gone));
        if (d == 0 || w->open[d].opener == target)
            break;
    }
}

static void
do_break(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    uint32_t target = w->at[i].target;
    td_val c, mask;

    w->f->line = s->line;
    if (w_is_uniform(w_shape(w, s->arg[0])) && !w_diverges(w, i, target)) {
        td_break_out(w->f, w_one(w, s->arg[0]), (int)s->imm);
        return;
    }
    mask = w_mask(w);
    c = w_vec(w, s->arg[0]);
    remove_lanes(w, w_and(w, mask, c), target);
    w->m = w_some(and_not(w, mask, c), false);
    if (w->open[w->depth].opener == target) {
        td_break_if(w->f, TD_E1(w->f, logical_not, w_any(w, w->m.cur)));
        w->m.any = true;
    }
}

static void
do_exit(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    td_val mask = w_mask(w), c = w_vec(w, s->arg[0]);

    w->f->line = s->line;
    remove_lanes(w, w_and(w, mask, c), W_ROOT);
    w->m = w_some(and_not(w, mask, c), false);
}

/* The group leaves as a whole: breaks out of the block around it. */
static void
do_leave(wide *w, uint32_t i)
{
    int level = 0;

    for (uint32_t p = w->at[i].parent; p != W_ROOT; p = w->at[p].parent)
        level += td_op_is_breakable(w->in->ins[p].op);
    w->f->line = w->in->ins[i].line;
    td_break_out(w->f, w_one(w, w->in->ins[i].arg[0]), level);
}

/* Threads end outside all regions: the rest runs for the others. */
static void
exit_before(wide *w, uint32_t i, uint32_t end)
{
    td_val c = w->in->ins[i].arg[0], n;
    uint32_t mark = w->nundo;
    wmask m;

    w->f->line = w->in->ins[i].line;
    if (w_is_uniform(w_shape(w, c))) {
        td_if(w->f, TD_E1(w->f, logical_not, w_one(w, c)));
        m = w->m;
    } else if (w_shape(w, c) == W_SUFFIX && w->m.kind != W_SOME) {
        n = w_one(w, c);
        if (w->m.kind == W_COUNT)
            n = TD_E3(w->f, select, TD_E2(w->f, less, n, w->m.count), n, w->m.count);
        td_if(w->f, TD_E2(w->f, less, w_int(w, TD_I32, 0), n));
        m = (wmask){.kind = W_COUNT, .any = true, .count = n};
    } else {
        n = and_not(w, w_mask(w), w_vec(w, c));
        if (w->exits)
            td_set(w->f, w->open[0].live, n);
        td_if(w->f, w_any(w, n));
        m = w_some(n, true);
    }
    w->open[w->depth].m = w->m = m;
    w_range(w, i + 1, end);
    w_close(w, mark);
    td_end(w->f);
}

/* ---- a row of instructions ---- */

/* Does i act once for all lanes, so that at least one must be active? */
static bool
wants_any(const wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];

    if (s->op == OP_load || s->op == OP_store)
        return w_once(w, i);
    return td_op_is_breakable(s->op) || td_optab[s->op].wide == TD_WIDE_WHERE ||
           (s->op == OP_if && w_is_uniform(w_shape(w, s->arg[0])));
}

static void
rest_where_any(wide *w, uint32_t i, uint32_t end)
{
    wmask was = w->m;
    uint32_t mark = w->nundo;

    td_if(w->f, w_any(w, w_mask(w)));
    w->m.any = true;
    w_range(w, i, end);
    w_close(w, mark);
    td_end(w->f);
    w->m = was;
}

void
w_range(wide *w, uint32_t i, uint32_t end)
{
    while (i < end && !w->f->st) {
        unsigned op = w->in->ins[i].op;

        if (w->m.kind == W_COUNT && wants_mask(w, i) && end - i <= W_SPLIT_MOST) {
            split_group(w, i, end);
            return;
        }
        if (!w->m.any && wants_any(w, i)) {
            rest_where_any(w, i, end);
            return;
        }
        if (op == OP_exit_if && !w->barriers && w->at[i].parent == W_ROOT) {
            exit_before(w, i, end);
            return;
        }
        if (op == OP_if) {
            i = do_if(w, i);
        } else if (td_op_is_breakable(op)) {
            i = w_loop(w, i);
        } else if (op == OP_break_if) {
            do_break(w, i++);
        } else if (op == OP_exit_if) {
            if (!w->barriers && w_is_uniform(w_shape(w, w->in->ins[i].arg[0])) &&
                !w_diverges(w, i, W_ROOT))
                do_leave(w, i++);
            else
                do_exit(w, i++);
        } else {
            w_inst(w, i++);
        }
    }
}
