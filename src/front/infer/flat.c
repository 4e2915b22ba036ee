/* flat.c - what is known of indices into flattened arrays: i * w + j with j in range(w).
 *
 * Such an index lies in [0, F) of a block of F elements that belongs to i alone.  A flat
 * describes a number: it is v * F + r, where v is the loop's variable (or 0, if `loop` is NULL),
 * F the product of the factors f, and r a multiple of the product G of the factors g, with 0 <= r
 * <= F - G.  i is a flat without factors; j of range(w) is one with F = w and without g.
 * Multiplying by something that the loop does not change appends it to f and g; a sum removes the
 * g that the other operand fills.  If no g is left, every factor is at least 1, or the access
 * would not be reached: loops over range(w) have run.  So blocks of different iterations do not
 * overlap.
 */
#include "front/infer/walk.h"

enum { FACTORS = 4, DEPTH = 6 };

struct flatix {
    iterations *loop;
    uint32_t nf, ng;
    bool spoilt; /* something else was added to it: kept for explain() alone */
    dim f[FACTORS], g[FACTORS];
};

/* Is v the same in all iterations of a loop whose instructions begin at `first`? */
bool
is_invariant(const walk *w, td_val v, uint32_t first, int depth)
{
    const td_inst *s;

    if (v.i == UINT32_MAX || v.i < first)
        return true;
    s = td_at(w->f, v);
    if (depth == 0 || (s->op >= TD_OPS && s->op != OP_const && s->op != OP_cast))
        return false;
    for (int i = 0; i < TD_MAXARG; i++)
        if (!is_invariant(w, s->arg[i], first, depth - 1))
            return false;
    return true;
}

static flatix *
copy_of(walk *w, const flatix *x)
{
    flatix *own = td_alloc(w->mem, sizeof *own);

    *own = *x;
    return own;
}

const flatix *
flat_variable(walk *w, iterations *t)
{
    return copy_of(w, &(flatix){.loop = t});
}

const flatix *
flat_below(walk *w, const dim *end)
{
    if (end->v.i == UINT32_MAX && end->known < 1)
        return NULL;
    return copy_of(w, &(flatix){.nf = 1, .f = {*end}});
}

/* x * r */
static const flatix *
scaled(walk *w, const flatix *x, const thing *r)
{
    flatix y;
    int64_t k = 1;

    if (!x || x->spoilt || x->nf == FACTORS || x->ng == FACTORS || !is_int(r) ||
        (known_int(r, &k) && k < 1))
        return NULL;
    if (!r->known && x->loop && !is_invariant(w, r->num.re, iterations_first(x->loop), DEPTH))
        return NULL;
    y = *x;
    y.f[y.nf++] = y.g[y.ng++] = dim_of_thing(w, r);
    return copy_of(w, &y);
}

/* Are the products the same, factor by factor in any order? */
static bool
same_product(const walk *w, const dim *a, uint32_t na, const dim *b, uint32_t nb)
{
    bool used[FACTORS] = {false};

    for (uint32_t i = 0; i < na; i++) {
        uint32_t k = 0;

        while (k < nb && (used[k] || !same_dim(w, &a[i], &b[k])))
            k++;
        if (k == nb)
            return false;
        used[k] = true;
    }
    return na == nb;
}

/* x + y, of which y fills x's gaps */
static const flatix *
fill_flat(walk *w, const flatix *x, const flatix *y)
{
    flatix z;

    if (!x || !y || y->loop || x->spoilt || !same_product(w, x->g, x->ng, y->f, y->nf))
        return NULL;
    z = *x;
    z.ng = y->ng;
    for (uint32_t i = 0; i < y->ng; i++)
        z.g[i] = y->g[i];
    return copy_of(w, &z);
}

static const flatix *
spoil(walk *w, const flatix *x)
{
    return x && x->nf ? copy_of(w, &(flatix){.loop = x->loop, .nf = x->nf, .spoilt = true}) : NULL;
}

void
flat_binary(walk *w, td_syn op, const thing *a, const thing *b, const flatix **own,
            const flatix **bound)
{
    const thing *x = a->own || a->bound ? a : b, *r = x == a ? b : a;

    *own = *bound = NULL;
    if (op == TD_SYN_Mult && !r->own && !r->bound) {
        *own = scaled(w, x->own, r);
        *bound = scaled(w, x->bound, r);
    } else if (op == TD_SYN_Add) {
        *own = fill_flat(w, a->own, b->bound);
        *own = *own ? *own : fill_flat(w, b->own, a->bound);
        *own = *own ? *own : spoil(w, a->own);
        *own = *own ? *own : spoil(w, b->own);
        *bound = fill_flat(w, a->bound, b->bound);
        *bound = *bound ? *bound : fill_flat(w, b->bound, a->bound);
    }
}

bool
flat_is_whole(const flatix *x)
{
    return x && x->nf && !x->ng && !x->spoilt;
}

bool
flat_is_scaled(const flatix *x, const iterations *t)
{
    return x && x->loop == t && x->nf;
}

bool
flat_apart(const walk *w, const iterations *t, const flatix *a, const flatix *b)
{
    return flat_is_whole(a) && flat_is_whole(b) && a->loop == t && b->loop == t &&
           same_product(w, a->f, a->nf, b->f, b->nf);
}
