/* repeat.c - finds the loop of a program in what it has recorded. */
#include "array/graph/repeat.h"

#include "array/graph/internal.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROOM_STEP = 8,
    ROOM_HOPED = 3 * TD_REPEAT_PERIOD, /* room to show that it repeats */
    LIKENESS = 12,                     /* operations in a row that do not repeat by chance */
};

/* How a source is found again a round later. */
typedef enum origin {
    UNKNOWN,
    CARRIED, /* as many nodes back */
    SAME,    /* the same value */
    NUMBER,  /* a number, perhaps another one */
    MOVED,   /* another window on the same buffer, laid out the same */
} origin;

typedef struct finder {
    td_repeat *r;
    int32_t *edges; /* how often nodes of the list read each */
    uint64_t *kind; /* hash of what each does, its sources apart */
    const td_shape *shape;
    bool shared;                              /* has `collect` met a node of the list? */
    uint8_t how[TD_REPEAT_PERIOD][TD_MAXSRC]; /* origins, for the period that is tried */
} finder;

/* ---- the list ---- */

/* May a kernel compute n with all else that it computes, element by element? */
static bool
is_plain(const td_node *n, const td_shape *shape)
{
    bool simple = n->kind == TD_N_OP || n->kind == TD_N_CAST || n->kind == TD_N_IOTA ||
                  n->kind == TD_N_RANDOM;

    return simple && !n->hosted && !n->watch && !n->busy && td_shape_eq(&n->view.shape, shape);
}

/* Adds n and the pending nodes under it; false: some are not plain, or there are too many. */
static bool
collect(finder *f, td_node *n)
{
    td_repeat *r = f->r;

    if (!td_node_pending(n))
        return true;
    if (n->slot) {
        f->shared = true;
        return true;
    }
    if (r->n == TD_REPEAT_NODES || !is_plain(n, f->shape))
        return false;
    n->slot = 1;
    r->node[r->n++] = n;
    for (int i = 0; i < n->nsrc; i++)
        if (!collect(f, n->src[i]))
            return false;
    return true;
}

/* Takes the nodes from number `to` on off the list. */
static void
drop_from(td_repeat *r, int to)
{
    while (r->n > to)
        r->node[--r->n]->slot = 0;
}

/* Other values of the program that are made of some of these nodes: a kernel for one computes them too. */
static void
collect_beside(finder *f)
{
    for (td_storage *s = td_pending_next(NULL); s; s = td_pending_next(s)) {
        td_node *n = s->node;
        int before = f->r->n;

        f->shared = false;
        if (n->dev == f->r->node[0]->dev && !(collect(f, n) && f->shared))
            drop_from(f->r, before);
    }
}

static int
by_age(const void *a, const void *b)
{
    int32_t d = (int32_t)((*(td_node *const *)a)->born - (*(td_node *const *)b)->born);

    return (d > 0) - (d < 0);
}

int
td_repeat_place(const td_repeat *r, const td_node *n)
{
    int lo = 0, hi = r->n;

    while (lo < hi) {
        int mid = (lo + hi) / 2;

        if ((int32_t)(r->node[mid]->born - n->born) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < r->n && r->node[lo] == n ? lo : -1;
}

/* While the list is made, a node's slot is its place + 1. */
static int
place(const td_node *n)
{
    return (int)n->slot - 1;
}

static uint64_t
kind_of(const td_node *n)
{
    uint64_t h = (uint64_t)n->kind << 40 | (uint64_t)n->dt << 32 | (uint64_t)n->nsrc << 24 | n->op;

    for (int i = 0; i < TD_NPAR && (n->kind == TD_N_IOTA || n->kind == TD_N_RANDOM); i++)
        h = td_mix64(h + n->par[i].dt);
    return h;
}

/* Orders the list.  False: a node is older than its source, so a rewrite has made it what it is. */
static bool
describe(finder *f)
{
    td_repeat *r = f->r;

    qsort(r->node, (size_t)r->n, sizeof *r->node, by_age);
    for (int i = 0; i < r->n; i++) {
        r->node[i]->slot = (uint16_t)(i + 1);
        f->kind[i] = kind_of(r->node[i]);
        f->edges[i] = 0;
    }
    for (int i = 0; i < r->n; i++)
        for (int k = 0; k < r->node[i]->nsrc; k++) {
            int at = place(r->node[i]->src[k]);

            if (at >= i)
                return false;
            if (at >= 0)
                f->edges[at]++;
        }
    for (int i = 0; i < r->n; i++)
        r->held[i] = r->node[i]->refs > f->edges[i];
    return true;
}

/* ---- the period ---- */

static bool
same_layout(const td_view *a, const td_view *b)
{
    return td_shape_eq(&a->shape, &b->shape) &&
           memcmp(a->stride, b->stride, (size_t)a->shape.ndim * sizeof *a->stride) == 0;
}

/* Where source k of node i comes from, seen from source k of the node a period before; UNKNOWN: they differ. */
static origin
compare(const finder *f, int i, int period, int k)
{
    const td_node *a = f->r->node[i]->src[k], *b = f->r->node[i - period]->src[k];
    int at = place(a), before = place(b);

    if (a->dt != b->dt)
        return UNKNOWN;
    if (a == b)
        return a->kind == TD_N_SCALAR ? NUMBER : SAME;
    if (at >= 0 && before >= 0)
        return i - at == i - period - before ? CARRIED : UNKNOWN;
    if (a->kind == TD_N_SCALAR && b->kind == TD_N_SCALAR)
        return NUMBER;
    if (!a->buf || a->buf != b->buf || !same_layout(&a->view, &b->view))
        return UNKNOWN;
    return a->view.offset == b->view.offset ? SAME : MOVED;
}

/* Does node i what the one a period before does, with sources as all others at its place? */
static bool
repeats(finder *f, int i, int period)
{
    if (i < period || f->kind[i] != f->kind[i - period])
        return false;
    for (int k = 0; k < f->r->node[i]->nsrc; k++) {
        origin now = compare(f, i, period, k);
        uint8_t *how = &f->how[i % period][k];

        if (now == UNKNOWN || (*how && *how != now))
            return false;
        *how = (uint8_t)now;
    }
    return true;
}

/* The longest stretch round `anchor` in which every node repeats the one a period before: [*lo, *hi). */
static void
stretch(finder *f, int anchor, int period, int *lo, int *hi)
{
    memset(f->how, 0, sizeof f->how);
    *lo = *hi = anchor;
    while (*hi < f->r->n && repeats(f, *hi, period))
        ++*hi;
    while (*hi > anchor && *lo > period && repeats(f, *lo - 1, period))
        --*lo;
}

/* Sets from, period, and how many rounds there are at most; the last whole round and what follows stay outside, because the
 * program holds values of it. */
static bool
find_period(finder *f, int least)
{
    td_repeat *r = f->r;
    int anchor = r->n / 2, best = 0;

    for (int period = 1; period <= TD_REPEAT_PERIOD && period <= anchor && best * 2 < r->n;
         period++) {
        int lo, hi;

        if (f->kind[anchor] != f->kind[anchor - period])
            continue;
        stretch(f, anchor, period, &lo, &hi);
        if (hi - lo > best) {
            best = hi - lo;
            r->period = period;
            r->from = lo - period;
            r->rounds = (hi - r->from) / period - 1;
        }
    }
    if (best)
        stretch(f, anchor, r->period, &(int){0}, &(int){0}); /* the origins once more */
    return r->rounds >= least;
}

/* Moves the rounds' bounds so that nothing outside reads a node between them but the next round, and that what all rounds
 * read stands before them. */
static bool
trim(finder *f, int least)
{
    td_repeat *r = f->r;
    int end = r->from + r->rounds * r->period, middle = (r->from + end) / 2;

    for (int i = r->from; i < end; i++)
        if (i < middle && r->held[i])
            r->from = i + 1;
        else if (r->held[i])
            end = i;
    for (int i = r->from; i < end; i++)
        for (int k = 0; k < r->node[i]->nsrc; k++)
            if (f->how[i % r->period][k] == SAME && place(r->node[i]->src[k]) >= r->from)
                r->from = place(r->node[i]->src[k]) + 1;
    r->rounds = (end - r->from) / r->period;
    return r->rounds >= least;
}

/* ---- what rounds hand on ---- */

static int
find_carried(const td_repeat *r, int at, int lag)
{
    for (int c = 0; c < r->ncarried; c++)
        if (r->carried[c].at == at && r->carried[c].lag == lag)
            return c;
    return -1;
}

/* Which value of an earlier round is node number `source`, read in a round that begins at node `start`? */
static td_carried
carried_at(const td_repeat *r, int start, int source)
{
    int lag = (start - source + r->period - 1) / r->period;

    return (td_carried){(uint16_t)(source + lag * r->period - start), (uint16_t)lag};
}

static bool
carry(td_repeat *r, td_carried c)
{
    if (c.lag > TD_REPEAT_LAG)
        return false;
    for (uint16_t lag = 1; lag <= c.lag; lag++) {
        if (find_carried(r, c.at, lag) >= 0)
            continue;
        if (r->ncarried == TD_REPEAT_CARRIED)
            return false;
        r->carried[r->ncarried++] = (td_carried){c.at, lag};
    }
    return true;
}

static int
end_of(const td_repeat *r)
{
    return r->from + r->rounds * r->period;
}

/* Does node number i, of the first round or behind the rounds, read node number `source` as a value of an earlier round? */
static bool
reads_earlier(const td_repeat *r, int i, int source, bool same)
{
    int end = end_of(r);

    if (source < 0)
        return false;
    if (i >= end)
        return source >= r->from && source < end;
    return !same && source < r->from;
}

static bool
find_all_carried(finder *f)
{
    td_repeat *r = f->r;
    int end = end_of(r);

    for (int i = r->from; i < r->n; i = i + 1 == r->from + r->period ? end : i + 1)
        for (int k = 0; k < r->node[i]->nsrc; k++) {
            int source = place(r->node[i]->src[k]);
            bool same = f->how[i % r->period][k] == SAME;

            if (reads_earlier(r, i, source, same) &&
                !carry(r, carried_at(r, i < end ? r->from : end, source)))
                return false;
        }
    return true;
}

int
td_repeat_carried(const td_repeat *r, int i, int k)
{
    int end = end_of(r), source = td_repeat_place(r, r->node[i]->src[k]), next;
    td_carried c;

    if (source < 0 || i < r->from)
        return -1;
    next = i < end ? td_repeat_place(r, r->node[i + r->period]->src[k]) : -1;
    if (!reads_earlier(r, i, source, next == source))
        return -1;
    c = carried_at(r, i < end ? r->from : end, source);
    return find_carried(r, c.at, c.lag);
}

bool
td_repeat_moves(const td_repeat *r, int i, int k)
{
    const td_node *a = r->node[i]->src[k], *b = r->node[i + r->period]->src[k];

    return a != b && a->buf && a->view.offset != b->view.offset;
}

/* ---- all together ---- */

/* Has what was recorded last been recorded before, as far as the operations say?  The first round of a loop reads what was
 * made before it, so that only the third can be told from the second. */
static bool
resembles(const finder *f)
{
    int n = f->r->n;

    for (int period = 1; period <= TD_REPEAT_PERIOD && period + LIKENESS <= n; period++) {
        int i = n;

        while (i > period && f->kind[i - 1] == f->kind[i - 1 - period])
            i--;
        if (n - i >= LIKENESS)
            return true;
    }
    return false;
}

/* Makes the list; false: some of its nodes are not plain.  The caller calls finder_end. */
static bool
finder_begin(finder *f, td_repeat *r, td_node *const *root, int nroot)
{
    size_t most = TD_REPEAT_NODES;
    bool ok;

    *r =
        (td_repeat){.node = malloc(most * sizeof *r->node), .held = malloc(most * sizeof *r->held)};
    *f = (finder){.r = r, .shape = &root[0]->view.shape};
    f->edges = malloc(most * sizeof *f->edges);
    f->kind = malloc(most * sizeof *f->kind);
    ok = r->node && r->held && f->edges && f->kind;
    for (int i = 0; i < nroot && ok; i++)
        ok = collect(f, root[i]);
    if (!ok || !r->n)
        return false;
    collect_beside(f);
    return describe(f);
}

static void
finder_end(finder *f)
{
    for (int i = 0; i < f->r->n; i++)
        f->r->node[i]->slot = 0;
    free(f->edges);
    free(f->kind);
}

static bool
find(finder *f, int least)
{
    return find_period(f, least) && trim(f, least) && find_all_carried(f);
}

bool
td_repeat_find(td_repeat *r, td_node *const *root, int nroot)
{
    finder f;
    bool ok = finder_begin(&f, r, root, nroot) && find(&f, TD_REPEAT_ROUNDS);

    finder_end(&f);
    if (!ok)
        td_repeat_end(r);
    return ok;
}

/* Whole rounds, so that the graphs of a long loop all begin at the same operation of a round and have one kernel. */
static uint32_t
room_for_rounds(const td_repeat *r)
{
    uint32_t ticks = r->node[r->from + r->period]->born - r->node[r->from]->born;

    return TD_REPEAT_NODES / ticks * ticks;
}

uint32_t
td_repeat_room(td_node *const *root, int nroot, uint32_t w)
{
    uint32_t room = 0, whole;
    td_repeat r;
    finder f;

    if (finder_begin(&f, &r, root, nroot)) {
        uint32_t age = td_node_clock() - r.node[0]->born + 1;

        if (find(&f, 1)) {
            whole = room_for_rounds(&r);
            room = age * ROOM_STEP < whole ? age * ROOM_STEP : whole;
        } else if (w < ROOM_HOPED && resembles(&f)) {
            room = age + ROOM_HOPED;
        }
        room = room > age ? room : 0;
    }
    finder_end(&f);
    td_repeat_end(&r);
    return room;
}

void
td_repeat_end(td_repeat *r)
{
    free(r->node);
    free(r->held);
    *r = (td_repeat){.node = NULL};
}
