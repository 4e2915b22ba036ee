/* chunkcut.c - the part of a graph that a range of rows needs.
 *
 * A row of a value is one index along one of its axes.  Operations pass the axis on to those
 * sources that have it and do not repeat along it; a source without it is needed as a whole.  So
 * rows of a sum over other axes are computed from rows of the summand, while a mean over the rows
 * themselves must be there before.
 */
#include "array/outofcore/chunk.h"
#include "array/run/claim.h"
#include "array/run/eval.h"

#include <stdlib.h>
#include <string.h>

/* ---- axes ---- */

/* The axis of src, which broadcasts to n, that corresponds to n's axis. */
static int
broadcast_axis(const td_node *n, int axis, const td_node *src)
{
    int k = axis - (n->view.shape.ndim - src->view.shape.ndim);

    return k < 0 || src->view.shape.dim[k] == 1 ? -1 : k;
}

static int
reduced_axis(const td_node *n, int axis)
{
    int left = axis;

    if (n->view.shape.ndim == n->src[0]->view.shape.ndim)
        return axis;
    for (int k = 0; k < n->src[0]->view.shape.ndim; k++)
        if (!(n->axes >> k & 1) && left-- == 0)
            return k;
    td_bug(__FILE__, __LINE__, "axis of a reduction");
}

int
td_chunk_axis(const td_node *n, int axis, int i)
{
    int at, rank;

    if (axis < 0)
        return -1;
    switch ((td_kind)n->kind) {
    case TD_N_REDUCE: return reduced_axis(n, axis);
    case TD_N_ROWFN:  return n->rowfn->whole >> i & 1 ? -1 : n->rowfn->from[axis];
    case TD_N_SEARCH: return i == 0 ? -1 : broadcast_axis(n, axis, n->src[i]);
    case TD_N_GATHER:
        at = (int)n->par[0].i;
        rank = (int)n->par[1].i;
        if (i == 1)
            return broadcast_axis(n, axis, n->src[1]);
        return axis < at ? axis : axis < at + rank ? -1 : axis - rank + 1;
    default: return broadcast_axis(n, axis, n->src[i]);
    }
}

/* ---- what is needed ---- */

/* Elements that a draw makes from one counter. */
static int
draw_share(const td_node *n)
{
    return n->op != TD_DIST_INTEGERS && n->dt == TD_F32 ? 4 : 2;
}

static bool
is_leading(const td_node *n, int axis)
{
    for (int i = 0; i < axis; i++)
        if (n->view.shape.dim[i] != 1)
            return false;
    return true;
}

/* Elements of n per index of axis, if axis is its first; counted for draws. */
static int64_t
row_size(const td_node *n, int axis)
{
    return td_shape_size(&n->view.shape) / n->view.shape.dim[axis];
}

static size_t
own_bytes(const td_node *n)
{
    return (size_t)td_shape_size(&n->view.shape) * td_dtype_size((td_dtype)n->dt);
}

static void
need_whole(td_survey *s, td_node *n)
{
    for (int i = 0; i < s->nwhole; i++)
        if (s->whole[i] == n)
            return;
    if (n->hosted)
        s->whole_bytes += n->kind == TD_N_HOST ? td_host_bytes(n->host) : own_bytes(n);
    if (s->nwhole < (int)(sizeof s->whole / sizeof *s->whole))
        s->whole[s->nwhole++] = n;
}

static void
need_rows(td_survey *s, td_node *n, int axis)
{
    size_t nbytes = td_host_bytes(n->host);

    for (int i = 0; i < s->nfed; i++)
        if (s->fed[i] == n && s->axis[i] == axis)
            return;
    if (s->nfed == (int)(sizeof s->fed / sizeof *s->fed)) {
        need_whole(s, n);
        return;
    }
    if (!s->nfed || nbytes > td_host_bytes(s->fed[0]->host))
        s->stride = llabs(n->host->view.stride[axis]);
    s->fed[s->nfed] = n;
    s->axis[s->nfed++] = axis;
    s->fed_bytes += nbytes;
    if (nbytes > td_host_bytes(s->fed[0]->host)) { /* the largest host node goes first */
        td_node *first = s->fed[0];
        int a = s->axis[0];

        s->fed[0] = n;
        s->axis[0] = axis;
        s->fed[s->nfed - 1] = first;
        s->axis[s->nfed - 1] = a;
    }
}

static void
survey(td_survey *s, td_walk *w, td_node *n, int axis)
{
    if (!td_node_pending(n))
        return;
    if (axis < 0 || td_eval_running(n)) {
        need_whole(s, n);
        return;
    }
    if (n->kind == TD_N_HOST) {
        need_rows(s, n, axis);
        return;
    }
    if (n->slot == axis + 1 || w->n == (int)(sizeof w->node / sizeof *w->node))
        return; /* visited already; it is walked again only along another axis */
    if (!n->slot)
        w->node[w->n++] = n;
    n->slot = (uint16_t)(axis + 1);
    s->calls |= n->kind == TD_N_ROWFN;
    if (n->kind == TD_N_RANDOM) {
        if (!is_leading(n, axis))
            need_whole(s, n);
        else if (row_size(n, axis) % draw_share(n))
            s->multiple = 4;
    }
    for (int i = 0; i < n->nsrc; i++)
        survey(s, w, n->src[i], td_node_looks_up(n) && i == 0 ? -1 : td_chunk_axis(n, axis, i));
}

void
td_chunk_survey(td_node *n, int axis, td_survey *s)
{
    td_walk w;

    s->nfed = s->nwhole = 0;
    s->fed_bytes = s->whole_bytes = 0;
    s->stride = 0;
    s->multiple = 1;
    s->calls = false;
    td_walk_begin(&w);
    survey(s, &w, n, axis);
    td_walk_end(&w);
}

/* ---- cutting ---- */

typedef struct td_cutnode {
    td_node *from, *to; /* references: a node, and its part */
    int axis, next;     /* axis of the part; position + 1 of the next part of the same node */
} cutnode;

static td_node *
find_made(const td_cutter *c, const td_node *n, int axis)
{
    for (int k = n->slot; k; k = c->made[k - 1].next)
        if (c->made[k - 1].axis == axis)
            return c->made[k - 1].to;
    return NULL;
}

static td_status
remember(td_cutter *c, td_node *n, int axis, td_node *made)
{
    if (c->n == c->cap) {
        int cap = c->cap ? 2 * c->cap : 64;
        cutnode *more = realloc(c->made, (size_t)cap * sizeof *more);

        if (!more || cap >= UINT16_MAX) {
            c->made = more ? more : c->made;
            return td_fail(TD_ERR_NOMEM, "array: out of host memory for a chunk's graph");
        }
        c->made = more;
        c->cap = cap;
    }
    c->made[c->n] =
        (cutnode){.from = td_node_ref(n), .to = td_node_ref(made), .axis = axis, .next = n->slot};
    n->slot = (uint16_t)++c->n;
    return TD_OK;
}

void
td_cutter_end(td_cutter *c)
{
    for (int i = 0; i < c->n; i++)
        c->made[i].from->slot = 0;
    for (int i = 0; i < c->n; i++) {
        td_node_unref(c->made[i].from);
        td_node_unref(c->made[i].to);
    }
    free(c->made);
    c->made = NULL;
    c->n = c->cap = 0;
}

static int64_t
rows_of(const td_cutter *c, const td_node *n, int axis)
{
    return c->hi < 0 ? n->view.shape.dim[axis] : c->hi - c->lo;
}

/* Gathers the list's indices along axis. */
static td_status
pick_leaf(const td_cutter *c, td_node *n, int axis, td_node **out)
{
    td_view v = c->places->view;
    td_shape shape = n->view.shape;
    td_node *at, *r;
    td_status st;

    shape.dim[axis] = c->hi;
    for (int k = axis + 1; k < shape.ndim; k++) { /* the indices broadcast to the axes after it */
        v.stride[v.shape.ndim] = 0;
        v.shape.dim[v.shape.ndim++] = 1;
    }
    TD_TRY(td_node_leaf(c->places->buf, TD_I64, &v, &at));
    st = td_node_new(TD_N_GATHER, n->dev, (td_dtype)n->dt, &shape, &r);
    if (!st) {
        r->par[0] = (td_scalar){.dt = TD_I64, .i = axis};
        r->par[1] = (td_scalar){.dt = TD_I64, .i = 1};
        td_node_add_src(r, n);
        td_node_add_src(r, at);
        td_node_seal(r);
        *out = r;
    }
    td_node_unref(at);
    return st;
}

static td_status
cut_leaf(const td_cutter *c, td_node *n, int axis, td_node **out)
{
    td_view v = td_view_slice(&n->view, axis, c->hi < 0 ? 0 : c->lo, 1, rows_of(c, n, axis));

    if (c->list)
        return pick_leaf(c, n, axis, out);
    return td_node_leaf(n->buf, (td_dtype)n->dt, &v, out);
}

static td_status
cut_host(const td_cutter *c, td_node *n, int axis, td_node **out)
{
    for (int i = 0; i < c->nfeed; i++) {
        const td_feed *f = &c->feed[i];

        if (f->axis == axis && td_host_eq(f->host, n->host)) {
            *out = td_node_ref(f->leaf);
            return TD_OK;
        }
    }
    if (c->list)
        return td_host_pick(n, axis, c->list, out);
    if (!c->feed && c->hi < 0) {
        *out = td_node_ref(n);
        return TD_OK;
    }
    if (!c->feed) {
        td_view v = td_view_slice(&n->view, axis, c->lo, 1, c->hi - c->lo);

        return td_host_window(n, &v, out);
    }
    td_bug(__FILE__, __LINE__, "a source that is not fed");
}

/* A range that counts from the first row on.  It uses the whole range's positions, so floats
 * round as in the whole. */
static td_status
cut_iota(const td_cutter *c, const td_node *n, const td_shape *shape, td_node **out)
{
    int64_t first = c->hi < 0 ? 0 : c->lo;
    td_node *i, *x;

    TD_TRY(td_node_new(TD_N_IOTA, n->dev, n->par[0].dt == TD_I64 ? (td_dtype)n->dt : TD_I64, shape,
                       out));
    i = *out;
    i->par[0] = (td_scalar){.dt = TD_I64, .i = first};
    i->par[1] = (td_scalar){.dt = TD_I64, .i = 1};
    if (n->par[0].dt == TD_I64) {
        i->par[0].i = (int64_t)((uint64_t)n->par[0].i + (uint64_t)first * (uint64_t)n->par[1].i);
        i->par[1] = n->par[1];
        td_node_seal(i);
        return TD_OK;
    }
    td_node_seal(i);
    TD_TRY(td_node_copy(i, TD_F64, NULL, &x));
    td_node_unref(i);
    TD_TRY(td_node_with(OP_multiply, TD_F64, x, n->par[1], &x));
    TD_TRY(td_node_with(OP_add, TD_F64, x, n->par[0], &x));
    TD_TRY(td_node_copy(x, (td_dtype)n->dt, NULL, out));
    td_node_unref(x);
    return TD_OK;
}

static td_status
cut_sources(td_cutter *c, const td_node *n, int axis, td_node *r)
{
    for (int i = 0; i < n->nsrc; i++) {
        td_node *src;

        TD_TRY(td_chunk_cut(c, n->src[i], td_chunk_axis(n, axis, i), &src));
        td_node_add_src(r, src);
        td_node_unref(src);
    }
    return TD_OK;
}

/* Rows of a value that a function computes: at once where the sources' rows are on the device. */
static td_status
cut_rowfn(td_cutter *c, td_node *n, int axis, td_node **out)
{
    td_shape shape = n->view.shape;
    td_node *r;
    td_status st;

    if (n->rowfn->from[axis] <
        0) /* no pass comes here: td_chunk_survey tells it that all is needed */
        return TD_SKIP;
    shape.dim[axis] = rows_of(c, n, axis);
    TD_TRY(td_node_new(TD_N_ROWFN, n->dev, (td_dtype)n->dt, &shape, &r));
    r->rowfn = td_rowfn_ref(n->rowfn);
    st = cut_sources(c, n, axis, r);
    if (!st) {
        td_node_seal(r);
        st = c->feed ? td_rowfn_rows(r, out) : TD_OK;
    }
    if (!st && !c->feed)
        *out = td_node_ref(r);
    td_node_unref(r);
    return st;
}

static td_status
cut_pending(td_cutter *c, td_node *n, int axis, td_node **out)
{
    td_shape shape = n->view.shape;
    td_node *r;
    td_status st;

    shape.dim[axis] = rows_of(c, n, axis);
    if (c->list && (n->kind == TD_N_IOTA || n->kind == TD_N_RANDOM))
        return TD_SKIP; /* these elements depend on their position */
    if (n->kind == TD_N_IOTA)
        return cut_iota(c, n, &shape, out);
    TD_TRY(td_node_new((td_kind)n->kind, n->dev, (td_dtype)n->dt, &shape, &r));
    r->op = n->op;
    r->axes = n->axes;
    r->site = n->site;
    r->watch = n->watch;
    r->in_range = n->in_range;
    memcpy(r->par, n->par, sizeof r->par);
    if (n->kind == TD_N_RANDOM && c->hi >= 0)
        r->par[1].u += (uint64_t)(c->lo * row_size(n, axis) / draw_share(n));
    st = cut_sources(c, n, axis, r);
    if (st) {
        td_node_unref(r);
        return st;
    }
    if (n->kind != TD_N_REDUCE)
        td_node_follow(r);
    td_node_seal(r);
    *out = r;
    return TD_OK;
}

td_status
td_chunk_cut(td_cutter *c, td_node *n, int axis, td_node **out)
{
    td_node *made = find_made(c, n, axis);
    td_status st;

    if (axis < 0 || n->kind == TD_N_SCALAR || made) {
        *out = td_node_ref(made ? made : n);
        return TD_OK;
    }
    if (td_node_spilled(n))
        TD_TRY(td_eval_node(n));
    st = n->kind == TD_N_LEAF    ? cut_leaf(c, n, axis, out)
         : n->kind == TD_N_HOST  ? cut_host(c, n, axis, out)
         : n->kind == TD_N_ROWFN ? cut_rowfn(c, n, axis, out)
                                 : cut_pending(c, n, axis, out);
    TD_TRY(st);
    st = remember(c, n, axis, *out);
    if (st)
        td_node_unref(*out);
    return st;
}
