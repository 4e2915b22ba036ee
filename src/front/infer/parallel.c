/* parallel.c - finds the loops whose iterations may run in any order, and decides how they run.
 *
 * While a loop is walked, all accesses to arrays in it are recorded with what is known of their
 * indices, and all reads of variables that still hold an earlier iteration's value.  The
 * iterations are independent if no variable is carried from one to another, and if each array
 * that is written has an axis on which all accesses of one iteration use the same index, a
 * different one for every iteration (mul * i + add with mul not 0): then no iteration accesses
 * what another one writes.  Arrays of different arguments are assumed not to overlap;
 * td_made.apart tells the caller to check that.  Verdicts outlive the walk: after a walk finds a
 * loop independent, the next one emits it so, and goes on checking.
 */
#include "front/infer/exact.h"

#include <stdio.h>
#include <string.h>

typedef struct access {
    struct access *next;
    const view *v;
    uint32_t root, line;
    bool write, inner; /* inner: in a loop of an iteration */
} access;

typedef struct verdict {
    bool independent, never, lanes;
    bool draws;    /* iterations draw random numbers, one after another */
    uint32_t line; /* line of what prevents independence */
    char why[200];
} verdict;

struct iterations {
    iterations *up;
    verdict *v;
    access *all;
    uint32_t node, first; /* first: the instructions of the loop begin here */
    uint32_t line, forms; /* forms: views with axes of their own that were made before */
    uint32_t stored;      /* a store in it that no parallel loop holds; 0: none */
    const frame *fr;
    bool asked, outermost, inner_lanes, few;
    const char *reduced; /* names of what its iterations are combined in, for explain */
    uint32_t read,
        name; /* prange: a variable in which an iteration reads what another one left; 0: none */
    how_run how;
};

static void never(iterations *t, uint32_t line, const char *why);

/* How a loop runs that is not asked about any more. */
static how_run
choose_run(const walk *w, const iterations *t)
{
    bool free = t->v->independent && !t->v->never;

    if (w->how->mode != TD_MODE_FUNCTION || !w->how->parallel || w->outline || w->exact)
        return RUN_IN_ORDER;
    if (!w->parallel)
        return free || (t->asked && !t->v->never) ? RUN_PARALLEL : RUN_IN_ORDER;
    if (w->how->gpu)
        return free && w->inner == t->node && w->iterations && w->iterations->fr == t->fr
                   ? RUN_ACROSS
                   : RUN_IN_ORDER;
    return free && t->v->lanes ? RUN_LANES : RUN_IN_ORDER;
}

iterations *
iterations_begin(walk *w, loop *l, uint32_t node, bool asked, bool few)
{
    td_hash key = join_key(w, node, UINT32_MAX);
    iterations *t = td_alloc(w->mem, sizeof *t);
    verdict *v = td_map_get(&w->verdicts, key);

    if (!v) {
        v = td_alloc(w->mem, sizeof *v);
        if (td_map_set(&w->verdicts, key, v))
            w->mem->failed = true;
    }
    *t = (iterations){.up = w->iterations,
                      .v = v,
                      .node = node,
                      .fr = w->fr,
                      .first = w->f->n,
                      .forms = w->forms,
                      .asked = asked && w->how->prange && !w->parallel,
                      .few = few,
                      .line = w->fr->s->tree[node + 1]};
    t->outermost = !w->parallel;
    t->how = choose_run(w, t);
    w->iterations = t;
    if (l)
        l->iterations = t;
    return t;
}

how_run
iterations_how(const iterations *t)
{
    return t->how;
}

bool
iterations_lanes(const iterations *t)
{
    return t->v->lanes && !t->v->draws;
}

bool
iterations_draws(const iterations *t)
{
    return t->v->draws;
}

void
note_draws(walk *w)
{
    for (iterations *t = w->iterations; t; t = t->up) {
        w->again = w->again || !t->v->draws;
        t->v->draws = true;
    }
}

bool
iterations_free(walk *w, uint32_t node)
{
    const verdict *v = td_map_get(&w->verdicts, join_key(w, node, UINT32_MAX));

    return v && v->independent && !v->never;
}

static void
never(iterations *t, uint32_t line, const char *why)
{
    if (t->v->never)
        return;
    snprintf(t->v->why, sizeof t->v->why, "%s", why);
    t->v->line = line;
    t->v->never = true;
}

void
iterations_left(walk *w, iterations *only, const char *why)
{
    if (only)
        never(only, w->f->line, why);
    for (iterations *t = w->iterations; t && !only; t = t->up)
        if (t->fr == w->fr)
            never(t, w->f->line, why);
}

void
iterations_ordered(walk *w, const char *why)
{
    for (iterations *t = w->iterations; t; t = t->up)
        never(t, w->f->line, why);
}

void
iterations_recurse(walk *w)
{
    for (iterations *t = w->iterations; t; t = t->up)
        if (!t->asked)
            never(t, w->f->line,
                  "a function that calls itself uses arrays, and nobody knows where");
}

void
iterations_fail(walk *w)
{
    for (iterations *t = w->iterations; t; t = t->up)
        if (!t->asked)
            never(t, w->f->line,
                  "an iteration may fail inside of a try, behind which the program sees what the "
                  "iterations before it did");
}

void
iterations_raise(walk *w)
{
    if (w->library || w->how->gpu || w->how->mode == TD_MODE_KERNEL)
        return;
    for (iterations *t = w->iterations; t; t = t->up)
        if (!t->asked)
            never(t, w->f->line,
                  "an iteration may raise, and then those behind it have not run: ask for prange");
}

void
iterations_print(walk *w)
{
    for (iterations *t = w->iterations; t; t = t->up)
        if (!t->asked)
            never(t, w->f->line, "what the iterations print comes in their order");
}

static td_status
refuse_store(walk *w, uint32_t node)
{
    return bad(
        w, node, TD_ERR_TYPE,
        "on a GPU only loops whose iterations are independent may store, and this is outside of "
        "them: the function's explain(), where its arrays are NumPy's, tells why a loop runs "
        "in order; store in a loop of its own, or give it arrays of the CPU");
}

td_status
iterations_store(walk *w, uint32_t node)
{
    iterations *t = w->iterations;

    if (!w->how->gpu || w->how->mode != TD_MODE_FUNCTION || !w->how->parallel || w->parallel)
        return TD_OK;
    if (!t)
        return refuse_store(w, node);
    while (t->up)
        t = t->up;
    t->stored = t->fr == w->fr ? node : t->node;
    return TD_OK;
}

/* ---- indices ---- */

/* bound on mul and add, so that indices of different iterations differ in 64 bits too */
enum { MOST = 1 << 30 };

static const lin *
lin_new(walk *w, lin x)
{
    lin *own = td_alloc(w->mem, sizeof *own);

    *own = x;
    return own;
}

const lin *
lin_of(walk *w, iterations *t)
{
    return lin_new(w, (lin){.loop = t, .mul = 1, .inv = TD_NONE, .nonneg = true});
}

uint32_t
iterations_first(const iterations *t)
{
    return t->first;
}

static bool
is_before(const walk *w, const iterations *t, const thing *x)
{
    return !x->known && !td_num_is_pair(x->num) && is_invariant(w, x->num.re, t->first, 4);
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
    if (known_int(r, &k) && (k > MOST || k < -MOST))
        return NULL;
    if (op == TD_SYN_Mult && known_int(r, &k) && (x.inv.i == UINT32_MAX || k == 1)) {
        x.mul *= k;
        x.add *= k;
    } else if ((op == TD_SYN_Add || op == TD_SYN_Sub) && known_int(r, &k)) {
        x.add += op == TD_SYN_Add ? k : -k;
    } else if (op == TD_SYN_Add && x.inv.i == UINT32_MAX && is_before(w, x.loop, r)) {
        x.inv = r->num.re;
        x.nonneg = r->nonneg;
    } else {
        return NULL;
    }
    return x.mul > MOST || x.mul < -MOST || x.add > MOST || x.add < -MOST ? NULL : lin_new(w, x);
}

const lin *
lin_reversed(walk *w, const lin *x, td_val last)
{
    lin r = *x;

    r.mul = -r.mul;
    r.inv = last;
    r.nonneg = false;
    return lin_new(w, r);
}

const lin *
lin_index(walk *w, const thing *k)
{
    lin x = {.inv = TD_NONE};

    if (!k->own && (!k->lin || k->nonneg))
        return k->lin;
    if (k->lin)
        x = *k->lin;
    x.wraps = !k->nonneg && (x.mul < 0 || x.add < 0 || !x.nonneg);
    x.own = k->own;
    return lin_new(w, x);
}

/* ---- accesses ---- */

void
view_root(view *v, uint32_t ndim)
{
    v->root = v->arg < NO_ARG ? v->arg + 1 : NO_ARG + 1 + v->base.i;
    v->nroot = (uint8_t)ndim;
    v->form = 0;
    for (uint32_t i = 0; i < ndim; i++)
        v->axis[i] = (int8_t)i;
    memset(v->at, 0, sizeof v->at);
}

/* Of a part the dependence test keeps what was indexed before; of a whole it follows the new axes. */
void
view_of(walk *w, view *v, const view *from, uint32_t ndim)
{
    bool whole = from->nroot > 0;

    for (int i = 0; i < from->nroot; i++)
        whole = whole && !from->at[i];
    view_root(v, ndim);
    v->root = from->root;
    if (whole) {
        v->form = ++w->forms;
        return;
    }
    v->nroot = from->nroot;
    v->form = from->form;
    memset(v->axis, -1, sizeof v->axis);
    memcpy(v->at, from->at, sizeof v->at);
}

void
touch(walk *w, const view *v, bool write)
{
    if (!w->parallel &&
        w->sync < w->loops) { /* what threads of a GPU read has been written by others */
        w->sync = w->loops;
        w->again = true;
    }
    recursive_touch(w);
    for (iterations *t = w->iterations; t; t = t->up) {
        access *a;

        if (v->root > NO_ARG && v->root - NO_ARG - 1 >= t->first)
            continue; /* memory of one iteration */
        a = td_alloc(w->mem, sizeof *a);
        *a = (access){
            t->all,
            v,
            v->root,
            w->f->line,
            write,
            t != w->iterations || w->nests || (w->fr->loop && w->fr->loop->iterations != t)};
        t->all = a;
    }
}

static bool
same_index(const walk *w, const lin *a, const lin *b)
{
    return a && b && a->loop == b->loop && a->mul == b->mul && a->add == b->add &&
           same_val(w, a->inv, b->inv, 4);
}

/* Is there an axis of this root on which each iteration has its own index?  Views with axes of
 * their own must all be the same one, made before the loop.  *wraps: the only obstacle is that
 * an index may be negative. */
static bool
apart(const walk *w, const iterations *t, uint32_t root, bool *wraps)
{
    *wraps = false;
    for (int axis = 0; axis < TD_MAXDIM_KERNEL; axis++) {
        const view *v = NULL;
        const lin *one = NULL;
        bool all = true, wrap = false, line = true, flats = true;

        for (const access *a = t->all; a && all; a = a->next) {
            const lin *x = axis < a->v->nroot ? a->v->at[axis] : NULL;

            if (a->root != root)
                continue;
            one = one ? one : x;
            v = v ? v : a->v;
            all = x && a->v->form == v->form && v->form <= t->forms;
            line = line && all && x->loop == t && x->mul && same_index(w, one, x);
            flats = flats && all && flat_apart(w, t, one->own, x->own);
            all = line || flats;
            wrap = wrap || (x && x->wraps);
        }
        if (one && ((line && !wrap) || flats))
            return true;
        all = line;
        *wraps = *wraps || (all && one);
    }
    return false;
}

/* ---- variables ---- */

const carry *
carry_new(walk *w, iterations *t, uint32_t name, bool behind, const carry *also)
{
    carry *c = td_alloc(w->mem, sizeof *c);

    *c = (carry){.loop = t, .name = name, .behind = behind, .also = also};
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

const carry *
carry_weak(walk *w, const carry *c)
{
    const carry *out = NULL;

    for (; c; c = c->also) {
        carry *own = td_alloc(w->mem, sizeof *own);

        *own = *c;
        own->also = out;
        own->weak = c->weak || c->loop->asked;
        out = own;
    }
    return out;
}

bool
iterations_are_prange(const iterations *t)
{
    return t->asked && t->how == RUN_PARALLEL && !t->v->never;
}

/* A loop whose iterations run in any order, or would, has left it. */
static bool
is_gone(const carry *c)
{
    const verdict *v = c->loop->v;

    return c->behind &&
           (c->loop->asked ? iterations_are_prange(c->loop) : v->independent && !v->never);
}

const carry *
carry_gone(walk *w, const carry *c, const carry *had)
{
    const carry *all = had;

    for (; c; c = c->also) {
        const carry *old = had;

        while (old && (old->loop->v != c->loop->v || old->name != c->name || !old->behind))
            old = old->also;
        if (is_gone(c) && !old)
            all = carry_join(w, &(carry){c->loop, c->name, true, c->weak, NULL}, all);
    }
    return all;
}

iterations *
iterations_outer(const iterations *t)
{
    return t->up;
}

bool
iterations_touch(const iterations *t, uint32_t root)
{
    for (const access *a = t->all; a; a = a->next)
        if (root && a->root == root)
            return true;
    return false;
}

td_status
iterations_refuse(walk *w, const iterations *t)
{
    const char *name;

    if (!t->read || !iterations_are_prange(t) || w->again)
        return TD_OK;
    name = name_of(w, t->name);
    return bad(
        w, t->read, TD_ERR_TYPE,
        "%s holds what another iteration of the prange on line %u left in it, and iterations run "
        "in any order: combine iterations by %s += x, *=, &=, |=, ^=, %s = min(%s, x), max or "
        "if x < %s: %s = x and use %s for nothing else, set %s in each iteration before it is "
        "used, or write range",
        name, t->line, name, name, name, name, name, name, name);
}

td_status
carry_read(walk *w, const thing *x, uint32_t node)
{
    for (const carry *c = x->carry; c; c = c->also) {
        verdict *v = c->loop->v;

        if (iterations_are_prange(c->loop) && !c->weak) {
            if (c->behind && !w->again)
                return bad(
                    w, node, TD_ERR_TYPE,
                    "%s is used after the prange on line %u, whose iterations run in any order, so "
                    "there is no last one: let the iterations store to an array, combine them, or "
                    "write range",
                    name_of(w, c->name), c->loop->line);
            if (!c->behind && !c->loop->read) {
                c->loop->read = node;
                c->loop->name = c->name;
            }
        }
        if (v->never || c->loop->asked)
            continue;
        v->never = true;
        v->line = w->f->line;
        snprintf(v->why, sizeof v->why,
                 c->behind ? "%s is used after the loop, which needs the last iteration's value"
                           : "%s holds what an earlier iteration left in it",
                 name_of(w, c->name));
        if (c->loop->how != RUN_IN_ORDER || v->independent)
            w->again = true;
    }
    return TD_OK;
}

/* ---- verdicts ---- */

/* Is some access to the root at i * w and more? */
static bool
is_flattened(const iterations *t, uint32_t root)
{
    for (const access *a = t->all; a; a = a->next)
        for (int axis = 0; axis < a->v->nroot && a->root == root; axis++)
            if (a->v->at[axis] && flat_is_scaled(a->v->at[axis]->own, t))
                return true;
    return false;
}

/* The first access that is not proved independent of other iterations'; NULL: all are. */
static const access *
in_the_way(walk *w, const iterations *t, bool *wraps)
{
    bool writes = false;

    *wraps = false;
    for (const access *a = t->all; a; a = a->next)
        writes = writes || a->write;
    for (const access *a = t->all; a && writes; a = a->next)
        if (!a->root || (a->write && !apart(w, t, a->root, wraps)))
            return a;
    return NULL;
}

static void
judge(walk *w, iterations *t)
{
    verdict *v = t->v;
    bool wraps;
    const access *a = v->never ? NULL : in_the_way(w, t, &wraps);

    if (a) {
        v->line = a->line;
        v->never = true;
        snprintf(v->why, sizeof v->why,
                 wraps ? "an index of %s may be negative, which counts from the end, where another "
                         "iteration may write%s"
                       : "it cannot be shown that iterations write %s at places that no other "
                         "iteration touches%s",
                 a->v->name ? a->v->name : "different parts of an array",
                 is_flattened(t, a->root) ? ": of i * w + j, j runs over range(w)" : "");
    }
    if (!v->never && !v->independent) {
        v->independent = true;
        w->again = true; /* the next walk emits it so */
    }
}

/* Do neighbouring iterations repeatedly access elements that lie far apart? */
static bool
strides(const iterations *t)
{
    for (const access *a = t->all; a; a = a->next)
        for (int axis = 0; axis < a->v->nroot && a->inner; axis++) {
            const lin *x = a->v->at[axis];

            if (x && x->loop == t && (axis + 1 < a->v->nroot || (x->mul != 1 && x->mul != -1)))
                return true;
        }
    return false;
}

/* Iterations become lanes where that pays: in innermost loops of independent iterations, or
 * around other loops if memory is accessed side by side. */
static void
judge_lanes(walk *w, iterations *t)
{
    verdict *v = t->v;
    bool free = (v->independent || t->asked) && !v->never && !w->how->gpu && w->how->parallel;
    bool lanes = free && !t->inner_lanes && !t->few && !strides(t);

    if (lanes != v->lanes)
        w->again = true;
    v->lanes = lanes;
    for (iterations *up = t->up; lanes && up; up = up->up)
        up->inner_lanes = true;
}

/* A line for explain(): how the loop runs, or what prevents more. */
static void
note_loop(walk *w, const iterations *t)
{
    td_text text = {0};
    bool wraps;
    const access *a = t->asked && t->how == RUN_PARALLEL ? in_the_way(w, t, &wraps) : NULL;
    char *kept;

    if (w->made->notes)
        td_text_addf(&text, "%s", w->made->notes);
    if (t->how == RUN_PARALLEL)
        td_text_addf(&text, "line %u: the loop runs in parallel%s%s%s", t->line,
                     t->asked ? ", as prange asks" : "",
                     t->reduced ? "; combined in a fixed order: " : "",
                     t->reduced ? t->reduced : "");
    else if (t->v->never)
        td_text_addf(&text, "line %u: the loop runs in order: line %u: %s\n", t->line, t->v->line,
                     t->v->why);
    else
        td_text_addf(
            &text,
            "line %u: the loop runs in order: its arrays overlap, or parallel=False asks so\n",
            t->line);
    if (t->how == RUN_PARALLEL && a)
        td_text_addf(
            &text,
            "; line %u: whether another iteration touches the places of %s that an "
            "iteration writes is not known: where one does, the result depends on who comes last",
            a->line, a->v->name ? a->v->name : "different parts of an array");
    if (t->how == RUN_PARALLEL)
        td_text_addf(&text, "\n");
    kept = td_alloc(w->mem, text.n + 1);
    if (text.n)
        memcpy(kept, text.s, text.n);
    w->made->notes = kept;
    td_text_free(&text);
}

void
iterations_reduce(walk *w, iterations *t, const char *name)
{
    size_t n = t->reduced ? strlen(t->reduced) + 2 : 0;
    char *both = td_alloc(w->mem, n + strlen(name) + 1);

    sprintf(both, "%s%s%s", t->reduced ? t->reduced : "", t->reduced ? ", " : "", name);
    t->reduced = both;
}

td_status
iterations_end(walk *w, iterations *t)
{
    w->iterations = t->up;
    if (w->how->mode != TD_MODE_FUNCTION)
        return TD_OK;
    if (!w->again) {
        if (!t->asked)
            judge(w, t);
        if (t->v->never && t->how != RUN_IN_ORDER)
            w->again = true;
        judge_lanes(w, t);
    }
    if (t->how != RUN_IN_ORDER)
        w->made->apart = true;
    if (t->outermost)
        note_loop(w, t);
    if (t->stored && !w->again && t->how != RUN_PARALLEL)
        return refuse_store(w, t->stored);
    return TD_OK;
}
