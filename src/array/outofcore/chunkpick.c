/* chunkpick.c - indexing by arrays of what does not fit the device: reads only the elements that
 * are named.
 *
 * The indices become a list on the host, and the value becomes a window that follows the list
 * (hostlist.c); it streams like any other window.  Indices into an expression become indices into
 * its sources: (x * 2 + y)[i] is x[i] * 2 + y[i].
 */
#include "array/graph/capture.h"
#include "array/outofcore/chunk.h"
#include "array/run/eval.h"

typedef struct picking {
    const td_array *a;
    const td_pick *p;
    const td_shape *spread;
    bool one; /* a single index array for one axis */
} picking;

/* The single index array's values, wrapped. */
static td_status
own_places(const picking *x, td_hostlist *list)
{
    int64_t extent = x->a->view.shape.dim[x->p->axis[0]];

    TD_TRY(td_array_get(x->p->index[0], list->at));
    for (int64_t i = 0; i < list->n; i++)
        list->at[i] += list->at[i] < 0 ? extent : 0;
    return TD_OK;
}

/* Combines the index arrays into one list: the sum of index times step. */
static td_status
summed_places(const picking *x, const int64_t *step, td_hostlist *list)
{
    td_array at;
    td_status st;

    TD_TRY(td_pick_sum(x->a, x->p, x->spread, step, &at));
    st = td_array_get(&at, list->at);
    td_array_unref(&at);
    return st;
}

static td_status
list_places(const picking *x, const int64_t *step, td_hostlist **list)
{
    td_status st;

    TD_TRY(td_hostlist_new(td_shape_size(x->spread), list));
    st = x->one ? own_places(x, *list) : summed_places(x, step, *list);
    if (st)
        td_hostlist_unref(*list);
    return st;
}

/* Is n computed of device values that have rows? */
static bool
has_leaves(td_node *n)
{
    bool found = false;
    td_walk w;

    td_walk_under(&w, n);
    for (int i = 0; i < w.n; i++)
        for (int k = 0; k < w.node[i]->nsrc; k++)
            found |= w.node[i]->src[k]->buf != NULL || td_node_spilled(w.node[i]->src[k]);
    return found;
}

/* The single index array on the device, wrapped, with one axis. */
static td_status
device_places(const picking *x, td_node **out)
{
    static const int64_t step = 1;
    td_shape flat = {.ndim = 1, .dim = {td_shape_size(x->spread)}};
    td_array at, row;
    td_status st;

    TD_TRY(td_pick_sum(x->a, x->p, x->spread, &step, &at));
    st = td_array_reshape(&at, &flat, &row);
    td_array_unref(&at);
    TD_TRY(st);
    st = td_node_dense(&row, out);
    td_array_unref(&row);
    return st;
}

/* n's rows at the indices, computed from rows of its sources. */
static td_status
from_graph(const picking *x, td_node *n, td_node **out)
{
    td_cutter c = {.lo = 0};
    td_status st;

    TD_TRY(list_places(x, NULL, &c.list));
    c.hi = c.list->n;
    st = has_leaves(n) ? device_places(x, &c.places) : TD_OK;
    if (!st)
        st = td_chunk_cut(&c, n, x->p->axis[0], out);
    td_cutter_end(&c);
    td_node_unref(c.places);
    td_hostlist_unref(c.list);
    return st;
}

/* The same for a window. */
static td_status
from_host(const picking *x, const td_node *n, td_node **out)
{
    int64_t step[TD_MAXDIM] = {1};
    td_hostlist *list;
    td_view v;
    td_status st;

    for (int k = 0; k < x->p->n && !x->one; k++)
        step[k] = n->host->view.stride[x->p->axis[k]];
    TD_TRY(list_places(x, step, &list));
    if (x->one) {
        st = td_host_pick(n, x->p->axis[0], list, out);
    } else {
        v = td_pick_merged(&n->host->view, x->p);
        st = td_host_pick_through(n, &v, x->p->place, list, out);
    }
    td_hostlist_unref(list);
    return st;
}

/* The picked elements, with the indices as one axis. */
static td_status
pick_places(const picking *x, td_node *n, td_node **out)
{
    td_node *m;
    td_status st = TD_SKIP;

    if (n->kind != TD_N_HOST && x->one)
        st = from_graph(x, n, out);
    if (n->kind != TD_N_HOST &&
        st == TD_SKIP) { /* its value is needed: computed on the host, chunk by chunk */
        st = td_eval_value(n);
        st = st ? st : TD_SKIP;
    }
    if (st != TD_SKIP || n->kind != TD_N_HOST)
        return st;
    st = from_host(x, n, out);
    if (st != TD_SKIP)
        return st;
    TD_TRY(td_chunk_memory(n, &m));
    st = from_host(x, m, out);
    td_node_unref(m);
    return st;
}

/* r with the result's axes in place of its one axis of indices; takes over r. */
static td_status
shaped(td_node *r, const td_shape *result, td_array *out)
{
    td_array flat;
    td_node *m = NULL;
    td_status st = TD_OK;

    if (td_shape_eq(&r->view.shape, result))
        return r->kind == TD_N_HOST ? td_array_of_node(r, out) : td_record(r, out);
    if (!td_chunk_fits(r)) {
        st = td_eval_value(r);
        st = st || r->kind != TD_N_HOST ? st : td_chunk_memory(r, &m);
        st = st == TD_SKIP ? TD_OK : st;
    }
    if (!st)
        st = td_array_of_node(td_node_ref(m ? m : r), &flat);
    td_node_unref(m);
    td_node_unref(r);
    TD_TRY(st);
    st = td_array_reshape(&flat, result, out);
    td_array_unref(&flat);
    return st;
}

/* On the CPU a value in host memory is read in place. */
static bool
stays(td_node *n)
{
    if (n->kind == TD_N_HOST && n->host->src->mem && td_dev_info(n->dev)->host)
        return true;
    return td_node_pending(n) && !td_chunk_fits(n);
}

td_status
td_chunk_pick(const td_array *a, const td_pick *p, const td_shape *result, const td_shape *spread,
              td_array *out)
{
    picking x = {a, p, spread, p->n == 1 && p->axis[0] == p->place};
    td_node *n, *r = NULL;
    td_status st;

    if (td_capture_now())
        return TD_SKIP;
    TD_TRY(td_array_node(a, &n));
    st = stays(n) ? pick_places(&x, n, &r) : TD_SKIP;
    td_node_unref(n);
    return st ? st : shaped(r, result, out);
}
