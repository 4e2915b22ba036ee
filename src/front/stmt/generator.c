/* generator.c - functions that yield, iterated over where they are called.
 *
 * A loop over such a function walks that function's body in place, and its own body at each yield.  The variables that
 * the loop assigns go through places, so the generator's own loops and branches need not know of them.
 */
#include "front/infer/box.h"
#include "front/infer/intrin.h"

#include <string.h>

struct generator { /* what a call of such a function gives */
    const td_source *s;
    const nested *n;
    call c;
};

struct generating { /* a generator's body is being walked */
    generating *up;
    frame *fr; /* the function that iterates */
    uint32_t node;
    trying *tries;
    finally *finals;
    loop *loop; /* the for loop over it; NULL: something else iterates */
    td_status (*item)(walk *w, const generating *g, const thing *x);
    const void *of;
};

bool
is_generator(const thing *x)
{
    return x->type->kind == TD_T_ITER && x->type->object == ITER_GENERATOR;
}

static bool
has_yield(const td_source *s, uint32_t node, bool outermost)
{
    td_syn k = node ? (td_syn)s->tree[node] : TD_SYN_NONE;
    uint32_t at = node + TD_SYN_HEAD;

    if (k == TD_SYN_Yield || k == TD_SYN_YieldFrom)
        return true;
    if (!outermost && (k == TD_SYN_FunctionDef || k == TD_SYN_Lambda))
        return false;
    for (const char *p = k ? td_syntab[k].fields : ""; *p; at++) {
        const char *what = strchr(p, ':') + 1;
        uint32_t v = s->tree[at];

        if (*what == 'n' && has_yield(s, v, false))
            return true;
        for (uint32_t i = 0; *what == 'l' && v && i < s->tree[v]; i++)
            if (has_yield(s, s->tree[v + 1 + i], false))
                return true;
        p = what[1] ? what + 2 : what + 1;
    }
    return false;
}

bool
generator_new(walk *w, const td_source *s, const nested *n, const call *c, thing *out)
{
    generator *g;

    if (!has_yield(s, s->root, true))
        return false;
    g = td_alloc(w->mem, sizeof *g);
    *g = (generator){.s = s, .n = n, .c = *c};
    *out = (thing){.type = td_type_iter(ITER_GENERATOR, NULL, 0), .generator = g};
    return true;
}

td_status
generator_misplaced(walk *w, const thing *x)
{
    const generator *g = x->generator;

    return bad(
        w, g->c.node, TD_ERR_TYPE,
        "%s yields: its values are iterated over where it is called, as in `for x in %s(…)`, or "
        "become a list, as in `list(%s(…))`",
        g->s->name, g->s->name, g->s->name);
}

/* Passes each value that the generator yields to `item`. */
static td_status
generate(walk *w, const thing *x, generating *to)
{
    const generator *g = x->generator;
    frame fr = {.s = g->s, .nested = g->n, .call = g->c.node, .inlined = true, .to = to};
    thing nothing;
    td_status st;

    for (frame *up = w->fr; up; up = up->up)
        if (up->s->tree == g->s->tree && up->s->root == g->s->root)
            return bad(
                w, g->c.node, TD_ERR_TYPE,
                "%s iterates over itself, which a generator cannot here: use a list as a stack",
                g->s->name);
    if (w->exact)
        return bad(w, g->c.node, TD_ERR_TYPE, "a generator is Python's");
    to->up = w->generating;
    to->fr = w->fr;
    to->tries = w->tries;
    to->finals = w->finals;
    fr.path =
        td_mix64(w->fr->path ^ ((uint64_t)g->c.node << 20) ^ (uintptr_t)g->s->tree ^ g->s->root);
    w->generating = to;
    st = walk_body(w, &fr, &g->c, &nothing);
    w->generating = to->up;
    at_line(w, to->node);
    return st;
}

td_status
stmt_yield(walk *w, uint32_t node)
{
    frame *own = w->fr;
    generating *to = own->to;
    uint64_t path;
    thing x = {.type = td_type_none()};
    td_status st;

    if (!to)
        return bad(w, node, TD_ERR_TYPE,
                   "%s yields: call it in a loop of another compiled function", own->s->name);
    if (w->tries != to->tries || w->finals != to->finals)
        return bad(w, node, TD_ERR_TYPE, "a try cannot contain a yield here: yield after it");
    if (F(node, Yield_value))
        TD_TRY(expr_optional(w, F(node, Yield_value), &x));
    TD_TRY(settle(w, &x));
    for (loop *l = own->loop; l; l = l->up) {
        l->yields = true;
        if (l->iterations)
            iterations_left(w, l->iterations, "it yields");
    }
    w->fr = to->fr;
    w->generating = to->up;
    w->node = to->node;
    path = w->fr->path;
    w->fr->path = td_mix64(own->path ^ node);
    at_line(w, to->node);
    st = to->item(w, to, &x);
    w->fr->path = path;
    w->fr = own;
    w->generating = to;
    w->node = node;
    w->dead = false;
    at_line(w, node);
    return st;
}

void
generating_recall(walk *w, const frame *fr)
{
    for (const generating *g = w->generating; g; g = g->up)
        if (g->fr == fr && g->loop) {
            frame *own = w->fr;

            w->fr = g->fr;
            loop_recall(w, g->loop);
            w->fr = own;
        }
}

static td_status
loop_item(walk *w, const generating *g, const thing *x)
{
    return loop_with(w, g->loop, x);
}

td_status
for_generator(walk *w, loop *l, const thing *x)
{
    return generate(w, x, &(generating){.node = l->node, .loop = l, .item = loop_item});
}

typedef struct adding {
    td_status (*add)(walk *, const thing *, const thing *);
    const thing *to;
} adding;

static td_status
add_item(walk *w, const generating *g, const thing *x)
{
    const adding *a = g->of;

    return a->add(w, a->to, x);
}

td_status
for_each_generated(walk *w, const thing *x, uint32_t node,
                   td_status (*add)(walk *, const thing *, const thing *), const thing *to)
{
    adding a = {add, to};

    return generate(w, x, &(generating){.node = node, .item = add_item, .of = &a});
}
