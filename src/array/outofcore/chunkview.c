/* chunkview.c - whether hosted values fit the device, and parts of those that do not. */
#include "array/outofcore/chunk.h"
#include "array/outofcore/feed.h"
#include "array/run/eval.h"

#include <stdlib.h>

/* ---- what fits ---- */

/* Lists the host nodes under n, with references.  Stops after `most` of them. */
int
td_chunk_hosts(td_node *n, td_node *host[], int most, size_t *nbytes)
{
    td_walk w;
    int k = 0;

    *nbytes = 0;
    td_walk_under(&w, n);
    for (int i = 0; i < w.n && k < most; i++) {
        if (w.node[i]->kind != TD_N_HOST)
            continue;
        host[k++] = td_node_ref(w.node[i]);
        if (!td_feeder_in_place(n->dev, w.node[i]->host))
            *nbytes += td_host_bytes(w.node[i]->host);
    }
    return k;
}

bool
td_chunk_fits(td_node *n)
{
    td_node *host[TD_CHUNK_HOSTS];
    size_t nbytes;
    int k;

    if (!n->hosted || !td_node_pending(n))
        return true;
    k = td_chunk_hosts(n, host, TD_CHUNK_HOSTS, &nbytes);
    for (int i = 0; i < k; i++)
        td_node_unref(host[i]);
    return td_chunk_has_room(n->dev, nbytes + td_node_bytes(n));
}

/* ---- parts of a value ---- */

/* The indices [*lo, hi) of axis k that the view shows. */
static void
shown_range(const td_node *n, const td_view *v, const td_retrace *w, int k, int64_t *lo,
            int64_t *hi)
{
    int64_t last = w->start[k];

    for (int i = 0; i < v->shape.ndim; i++)
        if (w->axis[i] == k)
            last += w->step[i] * (v->shape.dim[i] - 1);
    *lo = last < w->start[k] ? last : w->start[k];
    *hi = (last < w->start[k] ? w->start[k] : last) + 1;
    (void)n;
}

/* Rows from *lo (or a little before) to hi of n as a node; evaluates what it needs as a whole. */
static td_status
cut_rows(td_node *n, int axis, int64_t *lo, int64_t hi, td_node **out)
{
    td_cutter c;
    td_survey *s = malloc(sizeof *s);
    td_status st = s ? TD_OK : td_fail(TD_ERR_NOMEM, "array: out of host memory");
    bool again = true;

    while (!st && again) { /* while it evaluates one, other threads may change the graph */
        td_chunk_survey(n, axis, s);
        again = s->nwhole > 0;
        if (again) {
            td_node *x = td_node_ref(s->whole[0]);

            st = td_eval_node(x);
            td_node_unref(x);
        }
    }
    if (!st) {
        *lo -= *lo % s->multiple;
        c = (td_cutter){.lo = *lo, .hi = hi};
        st = td_chunk_cut(&c, n, axis, out);
        td_cutter_end(&c);
    }
    free(s);
    return st;
}

/* Do places along the axis need more of n's sources than fits the device? */
static bool
needs_whole(td_node *n, int axis)
{
    td_survey *s = malloc(sizeof *s);
    bool whole = false;

    if (!s)
        return false;
    td_chunk_survey(n, axis, s);
    for (int i = 0; i < s->nwhole; i++)
        whole |= s->whole[i]->kind != TD_N_REDUCE && !td_chunk_fits(s->whole[i]);
    free(s);
    return whole;
}

/* Cuts n to the box that v shows; v becomes a view of the result. */
static td_status
cut_box(td_node *n, td_view *v, td_node **out)
{
    td_view whole = n->view;
    td_node *part = td_node_ref(n), *next;
    td_retrace w;

    if (!td_view_retrace(&whole, v, &w)) {
        *out = part;
        return TD_OK;
    }
    for (int k = 0; k < whole.shape.ndim; k++) {
        int64_t lo, hi;
        td_status st = TD_OK;

        shown_range(n, v, &w, k, &lo, &hi);
        if (hi - lo == whole.shape.dim[k] || !part->hosted || needs_whole(part, k))
            continue;
        st = cut_rows(part, k, &lo, hi, &next);
        if (st == TD_SKIP) /* this axis may not be cut */
            continue;
        td_node_unref(part);
        TD_TRY(st);
        part = next;
        w.start[k] -= lo;
    }
    v->offset = 0;
    for (int k = 0; k < whole.shape.ndim; k++)
        v->offset += w.start[k] * part->view.stride[k];
    for (int i = 0; i < v->shape.ndim; i++)
        v->stride[i] = w.axis[i] < 0 ? 0 : w.step[i] * part->view.stride[w.axis[i]];
    *out = part;
    return TD_OK;
}

/* A reader's window, of which one axis runs backwards: one that runs forwards, by a list that turns it round.  TD_SKIP:
 * several axes do, or the window cannot be read. */
static td_status
window_back(const td_node *n, const td_view *v, td_node **out)
{
    td_view ahead = *v;
    td_hostlist *l;
    td_node *m;
    int axis = -1;
    td_status st;

    for (int i = 0; i < v->shape.ndim; i++) {
        if (v->stride[i] >= 0 || v->shape.dim[i] < 2)
            continue;
        if (axis >= 0)
            return TD_SKIP;
        axis = i;
        ahead.offset += v->stride[i] * (v->shape.dim[i] - 1);
        ahead.stride[i] = -v->stride[i];
    }
    if (axis < 0)
        return TD_SKIP;
    TD_TRY(td_host_window(n, &ahead, &m));
    st = td_hostlist_new(v->shape.dim[axis], &l);
    if (!st) {
        for (int64_t i = 0; i < l->n; i++)
            l->at[i] = l->n - 1 - i;
        st = td_host_pick(m, axis, l, out);
        td_hostlist_unref(l);
    }
    td_node_unref(m);
    return st;
}

/* v of n, a host node; elements that cannot be read in that order are brought into memory. */
static td_status
window_on(td_node *n, const td_view *v, td_node **out)
{
    td_status st = td_host_window(n, v, out);
    td_node *m;

    if (st == TD_SKIP)
        st = window_back(n, v, out);
    if (st != TD_SKIP || td_chunk_fits(n))
        return st;
    TD_TRY(td_chunk_memory(n, &m));
    st = td_host_window(m, v, out);
    td_node_unref(m);
    return st;
}

td_status
td_chunk_view(const td_array *a, td_node **out)
{
    td_node *n = a->store->node, *part;
    td_view v = a->view;
    td_status st = TD_SKIP;

    if (n->kind == TD_N_HOST && a->dt == n->dt)
        st = td_host_window(n, &v, out);
    if (st != TD_SKIP || a->dt != n->dt || td_chunk_fits(n))
        return st;
    TD_TRY(cut_box(n, &v, &part));
    st = td_eval_value(part);
    if (!st)
        st = part->buf ? td_node_leaf(part->buf, (td_dtype)part->dt, &v, out)
                       : window_on(part, &v, out);
    td_node_unref(part);
    return st;
}

td_status
td_chunk_get(td_node *n, void *out, bool passing)
{
    td_sink to = {.dt = (td_dtype)n->dt, .mem = out, .view = td_view_contiguous(&n->view.shape)};
    td_status st;
    void *token;

    if (n->kind == TD_N_HOST) {
        token = td_graph_unlock();
        st = td_host_get(n->host, out);
        td_graph_lock(token);
        return st;
    }
    if (!td_node_pending(n) || (!passing && td_chunk_fits(n)))
        return TD_SKIP;
    st = td_chunk_eval(n, &(td_chunkopts){.sink = &to});
    return st || !n->buf ? st : TD_SKIP;
}
