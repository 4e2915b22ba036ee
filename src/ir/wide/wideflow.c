/* wideflow.c - analyses a kernel before its shapes: which region contains what, where breaks
 * lead, which reads of slots return a known value, which regions the whole block runs through.
 */
#include "ir/wide/wide.h"

#include <string.h>

bool
w_inside(const wide *w, uint32_t i, uint32_t region)
{
    for (uint32_t p = w->at[i].parent; region != W_ROOT; p = w->at[p].parent) {
        if (p == region)
            return true;
        if (p == W_ROOT)
            return false;
    }
    return true;
}

bool
w_at_block(const wide *w, uint32_t i)
{
    uint32_t p = w->at[i].parent;

    return p == W_ROOT || w->at[p].block;
}

static bool
is_barrier_op(unsigned op)
{
    return td_optab[op].threads == TD_THREADS_BLOCK;
}

/* ---- regions ---- */

static uint32_t
break_target(const wide *w, uint32_t i)
{
    uint64_t level = w->in->ins[i].imm;
    uint32_t p = w->at[i].parent;

    for (;; p = w->at[p].parent)
        if (td_op_is_breakable(w->in->ins[p].op) && level-- == 0)
            return p;
}

static void
find_regions(wide *w)
{
    uint32_t open = W_ROOT;

    for (uint32_t i = 0; i < w->in->n; i++) {
        const td_inst *s = &w->in->ins[i];

        if (s->op == OP_else)
            w->at[i].target = open;
        if (s->op == OP_else || s->op == OP_end)
            open = w->at[open].parent;
        w->at[i].parent = open;
        if (s->op == OP_break_if)
            w->at[i].target = break_target(w, i);
        if (td_op_opens(s->op) || s->op == OP_else)
            open = i;
    }
}

/* Marks i's enclosing regions up to `until` as at block level; an else together with its if. */
static bool
raise(wide *w, uint32_t i, uint32_t until)
{
    bool news = false;

    for (uint32_t p = w->at[i].parent; p != until; p = w->at[p].parent) {
        const td_inst *s = &w->in->ins[p];

        news |= !w->at[p].block;
        w->at[p].block = true;
        if (s->op == OP_else)
            w->at[w->at[p].target].block = true;
        else if (s->op == OP_if && w->in->ins[s->jump].op == OP_else)
            w->at[s->jump].block = true;
    }
    return news;
}

static void
find_block_level(wide *w)
{
    bool news = true;

    for (uint32_t i = 0; i < w->in->n; i++)
        if (is_barrier_op(w->in->ins[i].op)) {
            w->barriers = true;
            raise(w, i, W_ROOT);
        }
    while (news) {
        news = false;
        for (uint32_t i = 0; i < w->in->n; i++)
            if (w->in->ins[i].op == OP_break_if && w->at[w->at[i].target].block)
                news |= raise(w, i, w->at[i].target);
    }
}

enum { GLOBAL = 1, SHARED = 2 };

/* The memory spaces that a pointer may point into. */
static unsigned
space_of(const wide *w, td_val p)
{
    const td_inst *s = td_at(w->in, p);

    while (s->op == OP_at)
        s = td_at(w->in, s->arg[0]);
    switch (s->op) {
    case OP_param:   return GLOBAL;
    case OP_shared:
    case OP_dynamic: return SHARED;
    case OP_local:   return 0;
    }
    return GLOBAL | SHARED;
}

/* Marks loads that may be done before the phase's other work: nothing was written to such
 * memory, and no thread ended, before them.  Only an edge ends a phase: writes inside an if or
 * a loop of the phase come after such a load. */
static void
find_clean(wide *w)
{
    unsigned written = 0;
    bool alive = true;

    for (uint32_t i = 0; i < w->in->n; i++) {
        const td_inst *s = &w->in->ins[i];

        if (w_edge(w, i))
            written = 0;
        if (s->op == OP_load)
            w->at[i].clean = alive && !(written & space_of(w, s->arg[0]));
        if (s->op == OP_store || td_op_is_atomic(s->op))
            written |= space_of(w, s->arg[0]);
        if (s->op == OP_exit_if)
            alive = false;
    }
}

/* ---- slots ---- */

/* known[slot]: the value that the slot holds here; W_ROOT: not known.  Arrays of in->n words. */
typedef struct known {
    uint32_t *of;
} known;

static td_status
copy_known(const wide *w, const known *k, known *out)
{
    uint32_t *of = td_alloc_big(w->f->mem, (w->in->n + 1) * sizeof *of);

    if (!of)
        return td_fail(TD_ERR_NOMEM, "kernel %s: widening", w->in->name);
    memcpy(of, k->of, w->in->n * sizeof *of);
    out->of = of; /* k may be the same as out */
    return TD_OK;
}

static void
forget_sets(const wide *w, known *k, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (w->in->ins[i].op == OP_set)
            k->of[w->in->ins[i].arg[0].i] = W_ROOT;
}

static td_status walk(wide *w, uint32_t from, uint32_t to, known *k);

static td_status
walk_if(wide *w, uint32_t i, known *k)
{
    uint32_t mid = w->in->ins[i].jump, end = w_end(w, i);
    known other = *k;

    if (mid != end)
        TD_TRY(copy_known(w, k, &other));
    else
        TD_TRY(copy_known(w, k, k)); /* `other` keeps the state before */
    TD_TRY(walk(w, i + 1, mid, k));
    if (mid != end)
        TD_TRY(walk(w, mid + 1, end, &other));
    for (uint32_t s = 0; s < w->in->n; s++)
        if (k->of[s] != other.of[s])
            k->of[s] = W_ROOT;
    return TD_OK;
}

static td_status
walk_loop(wide *w, uint32_t i, known *k)
{
    uint32_t end = w_end(w, i);
    known body;

    if (w->in->ins[i].op != OP_block)
        forget_sets(w, k, i + 1, end);
    TD_TRY(copy_known(w, k, &body));
    TD_TRY(walk(w, i + 1, end, &body));
    forget_sets(w, k, i + 1, end);
    return TD_OK;
}

static td_status
walk(wide *w, uint32_t from, uint32_t to, known *k)
{
    for (uint32_t i = from; i < to; i++) {
        const td_inst *s = &w->in->ins[i];

        if (s->op == OP_get && !w->at[i].dead) {
            uint32_t *v = &k->of[s->arg[0].i];

            w->at[i].alias = *v = *v == W_ROOT ? i : *v;
        } else if (s->op == OP_set) {
            k->of[s->arg[0].i] = w_src(w, s->arg[1]);
        } else if (td_op_opens(s->op)) {
            TD_TRY(s->op == OP_if ? walk_if(w, i, k) : walk_loop(w, i, k));
            i = w_end(w, i);
        }
    }
    return TD_OK;
}

/* Marks reads as dead if nobody uses their value, or only sets of slots that are never read. */
static void
find_dead_reads(wide *w, uint32_t *uses)
{
    const td_inst *in = w->in->ins;
    bool news = true;

    while (news) {
        news = false;
        memset(uses, 0, w->in->n * sizeof *uses); /* from here on: per slot, its reads */
        for (uint32_t i = 0; i < w->in->n; i++)
            if (in[i].op == OP_get && !w->at[i].dead)
                uses[in[i].arg[0].i]++;
        for (uint32_t i = 0; i < w->in->n; i++)
            for (int a = in[i].op == OP_set; in[i].op != OP_get && a < TD_MAXARG; a++)
                if (in[i].arg[a].i < i && (!a || in[i].op != OP_set || uses[in[i].arg[0].i]))
                    uses[in[i].arg[a].i]++;
        for (uint32_t i = 0; i < w->in->n; i++)
            if (in[i].op == OP_get && !uses[i] && !w->at[i].dead)
                news = w->at[i].dead = true;
    }
}

/* Replaces reads of known values by the value.  Lists each slot's other accesses in order. */
static td_status
find_accesses(wide *w)
{
    uint32_t n = w->in->n;
    uint32_t *last = td_alloc_big(w->f->mem, (n + 1) * sizeof *last);
    known k = {last};

    if (!last)
        return td_fail(TD_ERR_NOMEM, "kernel %s: widening", w->in->name);
    find_dead_reads(w, last);
    for (uint32_t i = 0; i < n; i++)
        last[i] = W_ROOT;
    TD_TRY(copy_known(w, &k, &k));
    TD_TRY(walk(w, 0, n, &k));
    for (uint32_t i = 0; i < n; i++) {
        const td_inst *s = &w->in->ins[i];
        uint32_t slot;

        w->at[i].next = W_ROOT;
        last[i] = i;
        if ((s->op != OP_get && s->op != OP_set) || w->at[i].alias != i || w->at[i].dead)
            continue;
        slot = s->arg[0].i;
        w->at[last[slot]].next = i;
        last[slot] = i;
        w->at[slot].gets += s->op == OP_get;
    }
    return TD_OK;
}

/* The first access of the slot in [from, end); W_ROOT: none. */
static uint32_t
first_in(const wide *w, uint32_t slot, uint32_t from, uint32_t end)
{
    uint32_t a = w->at[slot].next;

    while (a != W_ROOT && a < from)
        a = w->at[a].next;
    return a < end ? a : W_ROOT;
}

static bool
holds_all(const wide *w, uint32_t slot, uint32_t region)
{
    for (uint32_t a = w->at[slot].next; a != W_ROOT; a = w->at[a].next)
        if (!w_inside(w, a, region))
            return false;
    return true;
}

/* Does each branch of the if begin by setting the slot? */
static bool
both_set(const wide *w, uint32_t slot, uint32_t i)
{
    uint32_t mid, other;

    if (w->in->ins[i].op != OP_if || !w_has_else(w, i))
        return false;
    mid = w->in->ins[i].jump;
    other = first_in(w, slot, mid, w_end(w, i));
    return other != W_ROOT && w->in->ins[other].op == OP_set && w->at[other].parent == mid;
}

/* Finds the region that always sets the slot first: the region of its first access, or that
 * around an if whose branches both set it, provided it contains all other accesses. */
static void
find_home(wide *w, uint32_t slot)
{
    wat *v = &w->at[slot];
    uint32_t region;

    v->home = W_ROOT;
    v->zero = v->next != W_ROOT && w->in->ins[v->next].op == OP_get;
    if (v->next == W_ROOT || v->zero)
        return;
    region = w->at[v->next].parent;
    while (!(v->zero = !holds_all(w, slot, region)) || both_set(w, slot, region)) {
        if (!v->zero) {
            v->home = region;
            return;
        }
        region = w->at[region].parent;
    }
}

bool
w_is_warp(unsigned op)
{
    return td_optab[op].threads == TD_THREADS_LANE || td_op_is_exchange(op);
}

/* Does every iteration of loop i begin with a slot of its own? */
static bool
begins_own(const wide *w, uint32_t i, uint32_t slot)
{
    uint32_t home = w->at[slot].home;

    return !w->at[slot].gets || home == i || (home != W_ROOT && w_inside(w, home, i)) ||
           (slot > i && slot < w_end(w, i));
}

/* Are the iterations of loop i independent: nothing leaves it early, and its variables begin
 * inside it? */
static bool
is_independent(const wide *w, uint32_t i)
{
    for (uint32_t k = i + 1; k < w_end(w, i); k++) {
        const td_inst *s = &w->in->ins[k];

        switch (s->op) {
        case OP_break_if:
            if (w->at[k].target == i || !w_inside(w, w->at[k].target, i))
                return false;
            break;
        case OP_set:
            if (!begins_own(w, i, s->arg[0].i))
                return false;
            break;
        case OP_exit_if:
        case OP_barrier:
        case OP_barrier_count:
        case OP_grid_barrier:
        case OP_parallel:
        case OP_ask:
        case OP_take:          return false; /* memory of a single iteration */
        default:
            if (w_is_warp(s->op) || (s->flags & TD_INST_EACH))
                /* of nested loops the inner one is chosen: its elements are neighbours */
                return false;
        }
    }
    return true;
}

bool
w_host(wide *w)
{
    bool found = false;

    for (uint32_t i = 0; i < w->in->n; i++) {
        const td_inst *s = &w->in->ins[i];
        uint32_t p = w->at[i].parent;

        w->at[i].each = s->op == OP_for && (s->flags & TD_INST_EACH) && is_independent(w, i);
        w->at[i].block = !w->at[i].each && (p == W_ROOT || w->at[p].block);
        found |= w->at[i].each;
    }
    return found;
}

td_status
w_flow(wide *w)
{
    for (uint32_t i = 0; i < w->in->n; i++) {
        w->at[i].alias = i;
        w->at[i].one = w->at[i].vec = w->at[i].array = TD_NONE;
    }
    for (uint32_t i = 0; i < w->in->n; i++)
        for (int a = 0; a < TD_MAXARG; a++)
            if (w->in->ins[i].arg[a].i < i)
                w->at[w->in->ins[i].arg[a].i].used = true;
    find_regions(w);
    TD_TRY(find_accesses(w));
    for (uint32_t s = 0; s < w->in->n; s++)
        if (w->in->ins[s].op == OP_slot)
            find_home(w, s);
    if (w->host)
        return w_host(w) ? TD_OK : TD_SKIP;
    find_block_level(w);
    find_clean(w);
    return TD_OK;
}

/* ---- questions that shapes answer, once they are known ---- */

bool
w_edge(const wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];

    switch (s->op) {
    case OP_barrier:
    case OP_barrier_count: return true;
    case OP_if:
    case OP_for:
    case OP_loop:
    case OP_block:
    case OP_else:          return w->at[i].block;
    case OP_end:           return w->at[s->jump].block;
    case OP_break_if:      return w->at[w->at[i].target].block;
    case OP_exit_if:       return w->barriers && w_at_block(w, i) && w_shape(w, s->arg[0]) == W_BLOCK;
    }
    return false;
}

bool
w_is_local(const wide *w, td_val p)
{
    uint32_t i = w_src(w, p);

    return w->in->ins[i].op == OP_local && !(w->host && w_at_block(w, i));
}

bool
w_once(const wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    int last = td_optab[s->op].arity;

    if (w_is_local(w, s->arg[0]))
        return false;
    for (int a = 0; a < last; a++)
        if (s->arg[a].i != UINT32_MAX && !w_is_uniform(w_shape(w, s->arg[a])))
            return false;
    return true;
}
