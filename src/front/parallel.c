/* parallel.c - which loops may run their turns in any order, and how they then run.
 *
 * While a loop is walked, all accesses to arrays in it are noted with what is known of their indices, and all reads of
 * variables that still hold an earlier turn's value.  The turns are independent when no variable is carried and when
 * each array that is written has an axis on which every access of a turn has the same index, a different one for every
 * turn (mul * i + add with mul not 0): then no turn touches what another one does.  Arrays of different arguments are
 * taken to be apart; td_made.apart tells the caller to see to it.  Verdicts outlive the walk: one that finds a loop
 * independent has the next one emit it so, which goes on looking.
 */
#include "front/walk.h"

#include <stdio.h>
#include <string.h>

typedef struct access {
    struct access *next;
    const view *v;
    uint32_t root, line;
    bool write, inner; /* inner: in a loop inside of the one */
} access;

typedef struct verdict {
    bool independent, never;
    bool
        gathers; /* neighbouring turns would read far apart: their inner loops go along the memory */
    uint32_t line; /* of what stands in the way */
    char why[160];
} verdict;

struct turns {
    turns *up;
    verdict *v;
    access *all;
    uint32_t node, first; /* first: the instructions of the loop begin here */
    uint32_t line;
    const frame *fr;
    bool asked, outermost;
    how_run how;
};

turns *
turns_begin(walk *w, loop *l, uint32_t node, bool asked)
{
    td_hash key = join_key(w, node, UINT32_MAX);
    turns *t = td_alloc(w->mem, sizeof *t);
    verdict *v = td_map_get(&w->verdicts, key);

    if (!v) {
        v = td_alloc(w->mem, sizeof *v);
        if (td_map_set(&w->verdicts, key, v))
            w->mem->failed = true;
    }
    *t = (turns){.up = w->turns,
                 .v = v,
                 .node = node,
                 .fr = w->fr,
                 .first = w->f->n,
                 .asked = asked,
                 .line = w->fr->s->tree[node + 1]};
    t->outermost = !w->parallel;
    if (w->how->mode == TD_MODE_FUNCTION && w->how->parallel && !v->never &&
        (asked || v->independent)) {
        if (!w->parallel)
            t->how = RUN_PARALLEL;
        else if (!w->how->gpu && v->independent)
            t->how = RUN_LANES;
    }
    w->turns = t;
    if (l)
        l->turns = t;
    return t;
}

/* Would turns beside each other take elements of different rows, again and again? */
static bool
gathers(const turns *t)
{
    for (const access *a = t->all; a; a = a->next)
        for (int axis = 0; a->inner && axis + 1 < a->v->nroot; axis++)
            if (a->v->at[axis] && a->v->at[axis]->loop == t)
                return true;
    return false;
}

bool
turns_gather(const turns *t)
{
    return t->v->gathers;
}

how_run
turns_how(const turns *t)
{
    return t->how;
}

static void
never(turns *t, uint32_t line, const char *why)
{
    if (t->v->never)
        return;
    snprintf(t->v->why, sizeof t->v->why, "%s", why);
    t->v->line = line;
    t->v->never = true;
}

void
turns_left(walk *w, turns *only, const char *why)
{
    if (only)
        never(only, w->f->line, why);
    for (turns *t = w->turns; t && !only; t = t->up)
        if (t->fr == w->fr)
            never(t, w->f->line, why);
}

/* ---- indices ---- */

const lin *
lin_of(walk *w, turns *t)
{
    lin *x = td_alloc(w->mem, sizeof *x);

    *x = (lin){t, 1, 0, TD_NONE};
    return x;
}

static bool
is_before(const turns *t, const thing *x)
{
    return !x->known && !td_num_is_pair(x->num) && x->num.re.i < t->first;
}

const lin *
lin_binary(walk *w, td_syn op, const thing *a, const thing *b)
{
    const thing *l = a->lin ? a : b, *r = a->lin ? b : a;
    lin x;
    int64_t k;

    if (!l->lin || r->lin || !is_int(r) || (op == TD_SYN_Sub && l == b))
        return NULL;
    x = *l->lin;
    if (op == TD_SYN_Mult && known_int(r, &k) && x.inv.i == UINT32_MAX) {
        x.mul *= k;
        x.add *= k;
    } else if ((op == TD_SYN_Add || op == TD_SYN_Sub) && known_int(r, &k)) {
        x.add += op == TD_SYN_Add ? k : -k;
    } else if (op == TD_SYN_Add && x.inv.i == UINT32_MAX && is_before(x.loop, r)) {
        x.inv = r->num.re;
    } else {
        return NULL;
    }
    l = td_alloc(w->mem, sizeof x);
    memcpy((void *)(uintptr_t)l, &x, sizeof x);
    return (const lin *)(const void *)l;
}

/* ---- accesses ---- */

void
view_root(view *v, uint32_t ndim)
{
    v->root = v->arg < NO_ARG ? v->arg + 1 : NO_ARG + 1 + v->base.i;
    v->nroot = (uint8_t)ndim;
    for (uint32_t i = 0; i < ndim; i++)
        v->axis[i] = (int8_t)i;
    memset(v->at, 0, sizeof v->at);
}

void
touch(walk *w, const view *v, bool write)
{
    for (turns *t = w->turns; t; t = t->up) {
        access *a;

        if (v->root > NO_ARG && v->root - NO_ARG - 1 >= t->first)
            continue; /* memory of one turn */
        a = td_alloc(w->mem, sizeof *a);
        *a = (access){t->all, v, v->root, w->f->line, write, t != w->turns};
        t->all = a;
    }
}

static bool
same_index(const lin *a, const lin *b)
{
    return a && b && a->loop == b->loop && a->mul == b->mul && a->add == b->add &&
           a->inv.i == b->inv.i;
}

/* Is there an axis of this root on which each turn has one index of its own? */
static bool
apart(const turns *t, uint32_t root)
{
    for (int axis = 0; axis < TD_MAXDIM_KERNEL; axis++) {
        const lin *one = NULL;
        bool all = true;

        for (const access *a = t->all; a && all; a = a->next) {
            const lin *x = axis < a->v->nroot ? a->v->at[axis] : NULL;

            if (a->root != root)
                continue;
            one = one ? one : x;
            all = x && x->loop == t && x->mul && same_index(one, x);
        }
        if (all && one)
            return true;
    }
    return false;
}

/* ---- variables ---- */

const carry *
carry_new(walk *w, turns *t, uint32_t name, bool behind, const carry *also)
{
    carry *c = td_alloc(w->mem, sizeof *c);

    *c = (carry){t, name, behind, also};
    return c;
}

const carry *
carry_join(walk *w, const carry *a, const carry *b)
{
    if (!a || a == b)
        return b;
    for (; a; a = a->also)
        b = carry_new(w, a->loop, a->name, a->behind, b);
    return b;
}

void
carry_read(walk *w, const thing *x)
{
    for (const carry *c = x->carry; c; c = c->also) {
        verdict *v = c->loop->v;

        if (v->never || c->loop->asked)
            continue;
        v->never = true;
        v->line = w->f->line;
        snprintf(v->why, sizeof v->why,
                 c->behind ? "%s is used after the loop, which needs the last turn's value"
                           : "%s holds what an earlier turn left in it",
                 name_of(w, c->name));
        if (c->loop->how != RUN_IN_ORDER)
            w->again = true;
    }
}

/* ---- verdicts ---- */

static void
judge(walk *w, turns *t)
{
    verdict *v = t->v;
    bool writes = false;

    for (const access *a = t->all; a; a = a->next)
        writes = writes || a->write;
    for (const access *a = t->all; a && writes && !v->never; a = a->next) {
        if (a->root && (!a->write || apart(t, a->root)))
            continue;
        v->line = a->line;
        v->never = true;
        snprintf(v->why, sizeof v->why,
                 "it cannot be shown that turns write %s at places that no other turn touches",
                 a->v->name ? a->v->name : "different parts of an array");
    }
    if (!v->never && !v->independent) {
        v->independent = true;
        w->again = true; /* the next walk emits it so */
    }
}

/* A line for explain(): how this loop runs, or what stands in the way. */
static void
note(walk *w, const turns *t)
{
    td_text text = {0};
    char *kept;

    if (w->made->notes)
        td_text_addf(&text, "%s", w->made->notes);
    if (t->how == RUN_PARALLEL)
        td_text_addf(&text, "line %u: the loop runs in parallel%s\n", t->line,
                     t->asked ? ", as prange asks" : "");
    else if (t->v->never)
        td_text_addf(&text, "line %u: the loop runs in order: line %u: %s\n", t->line, t->v->line,
                     t->v->why);
    else
        td_text_addf(
            &text,
            "line %u: the loop runs in order: its arrays overlap, or parallel=False asks so\n",
            t->line);
    kept = td_alloc(w->mem, text.n + 1);
    if (text.n)
        memcpy(kept, text.s, text.n);
    w->made->notes = kept;
    td_text_free(&text);
}

td_status
turns_end(walk *w, turns *t)
{
    w->turns = t->up;
    if (t->v->gathers != gathers(t)) {
        t->v->gathers = !t->v->gathers;
        w->again = w->again || t->how != RUN_IN_ORDER;
    }
    if (!t->asked && !w->again && w->how->mode == TD_MODE_FUNCTION) {
        judge(w, t);
        if (t->v->never && t->how != RUN_IN_ORDER)
            w->again = true;
    }
    if (t->how != RUN_IN_ORDER)
        w->made->apart = true;
    if (t->outermost && w->how->mode == TD_MODE_FUNCTION)
        note(w, t);
    return TD_OK;
}
