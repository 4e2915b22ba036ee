/* node.c - making, sharing and releasing graph nodes. */
#include "array/graph/node.h"

#include "array/graph/memwait.h"
#include "array/graph/rowfn.h"
#include "array/graph/values.h"
#include "base/hash.h"
#include "dev/core/site.h"
#include "dev/core/tape.h"
#include "dev/core/trace.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static void *(*unlock_hook)(void);
static void (*lock_hook)(void *);
static td_status (*poll_hook)(void);
static _Thread_local int poll_held; /* open calls of td_graph_poll_hold(true) */

void
td_graph_hooks(void *(*unlock)(void), void (*lock)(void *))
{
    unlock_hook = unlock;
    lock_hook = lock;
}

bool
td_graph_hooks_first(void *(*unlock)(void), void (*lock)(void *))
{
    if (!unlock_hook)
        td_graph_hooks(unlock, lock);
    return unlock_hook == unlock;
}

void
td_graph_on_poll(td_status (*poll)(void))
{
    poll_hook = poll;
}

void
td_graph_poll_hold(bool hold)
{
    poll_held += hold ? 1 : -1;
}

td_status
td_graph_poll(void)
{
    return poll_hook && !poll_held ? poll_hook() : TD_OK;
}

void *
td_graph_unlock(void)
{
    if (td_site_wanted())
        td_site_hold();
    td_memwait_leave();
    return unlock_hook ? unlock_hook() : NULL;
}

void
td_graph_lock(void *token)
{
    if (lock_hook)
        lock_hook(token);
    td_memwait_back();
    if (td_site_wanted())
        td_site_release();
}

void
td_graph_yield(void)
{
    void *token = td_graph_unlock();

    sched_yield();
    td_graph_lock(token);
}

td_status
td_node_new(td_kind kind, td_dev *d, td_dtype dt, const td_shape *s, td_node **out)
{
    td_node *n = malloc(sizeof *n);

    if (!n)
        return td_fail(TD_ERR_NOMEM, "array: out of host memory for a graph node");
    memset(n, 0, offsetof(td_node, view));
    n->refs = 1;
    n->kind = (uint8_t)kind;
    n->dt = (uint8_t)dt;
    n->dev = d;
    n->weight = 1;
    n->site = td_watched() && (td_tracing() || td_tape_now()) ? td_site_now() : 0;
    td_view_set_contiguous(&n->view, s);
    *out = n;
    return TD_OK;
}

static bool
seen_before(const td_node *n, int i)
{
    for (int k = 0; k < i; k++)
        if (n->src[k] == n->src[i])
            return true;
    return false;
}

void
td_node_add_src(td_node *n, td_node *src)
{
    TD_ASSERT(n->nsrc < TD_MAXSRC);
    n->src[n->nsrc] = td_node_ref(src);
    src->uses += !seen_before(n, n->nsrc++);
    n->hosted |= src->hosted;
}

static uint32_t node_clock; /* under the graph's lock */

uint32_t
td_node_clock(void)
{
    return node_clock;
}

/* Between the oldest node under n and n at most so many were recorded.  A sum of the sources' weights counts those that
 * both read twice, and doubles with every `x * (1 - x)` of a loop. */
static void
bound_weight(td_node *n)
{
    bool later = n->born != 0; /* a rewrite gave it newer sources */

    n->born = later ? n->born : ++node_clock;
    n->oldest = n->born;
    for (int i = 0; i < n->nsrc; i++)
        if (td_node_pending(n->src[i]) && (int32_t)(n->src[i]->oldest - n->oldest) < 0)
            n->oldest = n->src[i]->oldest;
    if (!later && n->born - n->oldest + 1 < n->weight)
        n->weight = n->born - n->oldest + 1;
}

void
td_node_seal(td_node *n)
{
    uint64_t own = (uint64_t)n->kind << 32 | (uint64_t)n->dt << 24 |
                   (uint64_t)n->view.shape.ndim << 16 | n->op;

    for (int i = 0; i < n->nsrc; i++)
        if (td_node_pending(n->src[i]) && !seen_before(n, i)) {
            n->weight += n->src[i]->weight;
            n->again |= n->src[i]->computed || n->src[i]->again;
            n->room = n->room > n->src[i]->room ? n->room : n->src[i]->room;
        }
    bound_weight(n);
    n->sig[0] = (uint32_t)td_mix64(own);
    for (int k = 1; k < TD_SIGDEPTH; k++) {
        uint64_t h = own;

        for (int i = 0; i < n->nsrc; i++)
            h = td_mix64(h + n->src[i]->sig[k - 1]);
        n->sig[k] = (uint32_t)td_mix64(h);
    }
}

/* Orders the axes from the longest stride to the shortest; false: the view has no order. */
static bool
axis_order(const td_view *v, const td_shape *s, int order[])
{
    if (!td_shape_eq(&v->shape, s))
        return false;
    for (int i = 0; i < s->ndim; i++) {
        int at = i;

        if (v->stride[i] == 0 && s->dim[i] > 1)
            return false;
        for (; at > 0 && s->dim[i] > 1; at--) { /* insertion sort; axes of extent 1 stay in place */
            int64_t before = v->stride[order[at - 1]], own = v->stride[i];

            if ((before < 0 ? -before : before) >= (own < 0 ? -own : own))
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    return true;
}

void
td_view_follow(td_view *v, const td_view *const *src, int n)
{
    int order[TD_MAXDIM], other[TD_MAXDIM], nd = v->shape.ndim;
    bool found = false;
    int64_t step = 1;

    for (int i = 0; i < n && nd > 1; i++) {
        if (!axis_order(src[i], &v->shape, found ? other : order))
            continue;
        if (found && memcmp(order, other, (size_t)nd * sizeof *order) != 0)
            return; /* the sources disagree: C order */
        found = true;
    }
    for (int k = nd - 1; k >= 0 && found; k--) {
        v->stride[order[k]] = step;
        step *= v->shape.dim[order[k]];
    }
}

void
td_node_follow(td_node *n)
{
    const td_view *src[TD_MAXSRC];

    for (int i = 0; i < n->nsrc; i++)
        src[i] = &n->src[i]->view;
    td_view_follow(&n->view, src, n->nsrc);
}

/* Makes n the holder of its buffer, which is how spill.c finds the value in it. */
static void
set_holder(td_node *n, bool first)
{
    if (n->buf->release || (n->buf->holder && !first))
        return;
    n->buf->holder = n;
    if (first)
        td_use(n);
}

static void
drop_buffer(td_node *n)
{
    if (n->buf && n->buf->holder == n)
        n->buf->holder = NULL;
    td_buf_unref(n->buf);
    if (n->spilled)
        td_spill_drop(n);
}

td_status
td_node_leaf(td_buf *b, td_dtype dt, const td_view *v, td_node **out)
{
    TD_TRY(td_node_new(TD_N_LEAF, b->dev, dt, &v->shape, out));
    (*out)->buf = td_buf_ref(b);
    set_holder(*out, false);
    td_view_set(&(*out)->view, v);
    (*out)->weight = 0;
    return TD_OK;
}

td_status
td_node_scalar(td_dev *d, td_scalar s, td_node **out)
{
    static const td_shape no_axes;

    TD_TRY(td_node_new(TD_N_SCALAR, d, s.dt, &no_axes, out));
    (*out)->par[0] = s;
    (*out)->weight = 0;
    return TD_OK;
}

td_status
td_node_over(td_kind kind, td_op op, td_dtype dt, td_node *const *src, int n, td_node **out)
{
    td_shape s = src[0]->view.shape, wide;
    td_node *r = NULL;
    td_status st = TD_OK;

    for (int i = 1; i < n && !st; i++) {
        st = td_broadcast(td_optab[op].name, &s, &src[i]->view.shape, &wide);
        s = st ? s : wide;
    }
    if (!st)
        st = td_node_new(kind, src[0]->dev, dt, &s, &r);
    if (!st)
        r->op = (uint16_t)op;
    for (int i = 0; i < n; i++) {
        if (!st)
            td_node_add_src(r, src[i]);
        td_node_unref(src[i]);
    }
    if (!st) {
        td_node_follow(r);
        td_node_seal(r);
    }
    *out = r;
    return st;
}

td_status
td_node_with(td_op op, td_dtype dt, td_node *x, td_scalar number, td_node **out)
{
    uint64_t bits[2];
    td_node *y;
    td_status st;

    td_scalar_bits(number, (td_dtype)x->dt, bits);
    st = td_node_scalar(x->dev, td_scalar_load((td_dtype)x->dt, bits), &y);
    if (st) {
        td_node_unref(x);
        return st;
    }
    return td_node_over(TD_N_OP, op, dt, (td_node *[]){x, y}, 2, out);
}

td_node *
td_node_ref(td_node *n)
{
    n->refs++;
    return n;
}

/* A lazy graph is as deep as the user's loop, so dead nodes are chained and freed in a loop,
 * without recursion. */
void
td_node_unref(td_node *n)
{
    td_node *dead;

    if (!n || --n->refs > 0)
        return;
    n->dead = NULL;
    for (dead = n; dead; free(n)) {
        n = dead;
        dead = n->dead;
        for (int i = 0; i < n->nsrc; i++) {
            n->src[i]->uses -= !seen_before(n, i);
            if (--n->src[i]->refs == 0) {
                n->src[i]->dead = dead;
                dead = n->src[i];
            }
        }
        drop_buffer(n);
        td_host_unref(n->host);
        td_rowfn_unref(n->rowfn);
    }
}

static void
drop_sources(td_node *n)
{
    int nsrc = n->nsrc;

    n->nsrc = 0;
    for (int i = 0; i < nsrc; i++)
        n->src[i]->uses -= !seen_before(n, i);
    for (int i = 0; i < nsrc; i++)
        td_node_unref(n->src[i]);
    td_host_unref(n->host);
    n->host = NULL;
    td_rowfn_unref(n->rowfn);
    n->rowfn = NULL;
}

void
td_node_settle(td_node *n, td_buf *buf, const td_view *view)
{
    TD_ASSERT(!n->buf);
    n->buf = buf;
    set_holder(n, true);
    if (view != &n->view)
        td_view_set(&n->view, view);
    n->kind = TD_N_LEAF;
    n->weight = 0;
    n->hosted = false;
    drop_sources(n);
}

void
td_node_settle_scalar(td_node *n, td_scalar value)
{
    TD_ASSERT(!n->buf && !n->view.shape.ndim && value.dt == (td_dtype)n->dt);
    n->kind = TD_N_SCALAR;
    n->par[0] = value;
    n->weight = 0;
    drop_sources(n);
}

void
td_node_settle_host(td_node *n, struct td_host *h)
{
    TD_ASSERT(!n->buf);
    n->kind = TD_N_HOST;
    n->weight = 1;
    n->hosted = true;
    drop_sources(n);
    n->host = h;
}

void
td_node_become(td_node *n, const td_node *by)
{
    TD_ASSERT(!n->buf && n->dt == by->dt && td_shape_eq(&n->view.shape, &by->view.shape));
    drop_sources(n);
    n->kind = by->kind;
    n->op = by->op;
    n->axes = 0;
    n->weight = 1;
    n->again = false;
    for (int i = 0; i < by->nsrc; i++)
        td_node_add_src(n, by->src[i]);
    td_node_seal(n);
}

/* a and b are of one kind; other entries of par are unused. */
static bool
same_numbers(const td_node *a, const td_node *b)
{
    static const uint8_t used[] = {
        [TD_N_SCALAR] = 1, [TD_N_IOTA] = 2, [TD_N_RANDOM] = TD_NPAR, [TD_N_REDUCE] = 1,
        [TD_N_GATHER] = 2, [TD_N_HOST] = 0, [TD_N_ROWFN] = 0,        [TD_N_SPILLED] = 0};
    uint64_t x[2], y[2];

    for (int i = 0; i < used[a->kind]; i++) {
        if (a->par[i].dt != b->par[i].dt)
            return false;
        td_scalar_bits(a->par[i], a->par[i].dt, x);
        td_scalar_bits(b->par[i], b->par[i].dt, y);
        if (x[0] != y[0] || x[1] != y[1])
            return false;
    }
    return true;
}

static bool
same_window(const td_node *a, const td_node *b)
{
    return a->rowfn == b->rowfn && (a->kind != TD_N_HOST || td_host_eq(a->host, b->host));
}

static bool
nodes_alike(const td_node *a, const td_node *b, int depth)
{
    if (a == b)
        return true;
    if (depth == 0 || td_node_spilled(a) || a->buf || b->buf || a->kind != b->kind ||
        a->dt != b->dt || a->op != b->op || a->nsrc != b->nsrc || a->axes != b->axes ||
        a->dev != b->dev || !td_shape_eq(&a->view.shape, &b->view.shape) || !same_numbers(a, b) ||
        !same_window(a, b))
        return false;
    for (int i = 0; i < a->nsrc; i++)
        if (!nodes_alike(a->src[i], b->src[i], depth - 1))
            return false;
    return true;
}

bool
td_node_alike(const td_node *a, const td_node *b)
{
    return nodes_alike(a, b, TD_SIGDEPTH);
}
