/* chunkrowfn.c - values whose rows are computed by a function (graph/rowfn.h): sorts and products of what does not fit the
 * device, and what else is no expression and yet computes each row from its own row.
 */
#include "array/outofcore/chunk.h"
#include "array/run/claim.h"
#include "array/run/eval.h"

td_status
td_rowfn_record(td_rowfn *e, const td_array *const *in, int n, td_dtype dt, const td_shape *s,
                td_array *out)
{
    td_node *r = NULL;
    td_status st = td_node_new(TD_N_ROWFN, td_array_dev(in[0]), dt, s, &r);

    for (int i = 0; i < n && !st; i++) {
        td_node *src;

        st = td_array_node(in[i], &src);
        if (!st) {
            td_node_add_src(r, src);
            td_node_unref(src);
        }
    }
    if (st) {
        td_node_unref(r);
        return st;
    }
    r->rowfn = td_rowfn_ref(e);
    r->hosted =
        true; /* even if another thread has loaded the sources by now: no kernel computes it */
    td_node_seal(r);
    return td_array_of_node(r, out);
}

static td_status
check_rows(const td_node *n, const td_array *r)
{
    char text[2][256];

    if (td_array_dtype(r) != (td_dtype)n->dt)
        return td_fail(TD_ERR_VALUE, "stream: a chunk's rows are %s, the whole is %s",
                       td_dtype_name(td_array_dtype(r)), td_dtype_name((td_dtype)n->dt));
    if (!td_shape_eq(&r->view.shape, &n->view.shape))
        return td_fail(TD_ERR_VALUE, "stream: a chunk's rows have shape %s, not %s",
                       td_shape_text(&r->view.shape, text[0], sizeof text[0]),
                       td_shape_text(&n->view.shape, text[1], sizeof text[1]));
    return TD_OK;
}

td_status
td_rowfn_rows(const td_node *n, td_node **out)
{
    td_array in[TD_MAXSRC] = {{0}}, r;
    int k = 0;
    td_status st = TD_OK;

    for (; k < n->nsrc && !st; k++)
        st = td_array_of_node(td_node_ref(n->src[k]), &in[k]);
    k -= st != TD_OK;
    if (!st)
        st = n->rowfn->run(n->rowfn->owner, in, k, &r);
    while (k)
        td_array_unref(&in[--k]);
    TD_TRY(st);
    st = check_rows(n, &r);
    if (!st)
        st = td_array_node(&r, out);
    td_array_unref(&r);
    return st;
}

/* Computes n as a whole. */
static td_status
eval_rowfn(td_node *n)
{
    td_node *r = NULL, *copy = NULL;
    td_status st;

    td_eval_mark(n, true);
    st = td_rowfn_rows(n, &r);
    if (!st)
        st = td_eval_node(r);
    if (!st && atomic_load(&r->buf->flags)) { /* others may write to it */
        st = td_node_copy(r, (td_dtype)r->dt, NULL, &copy);
        if (!st)
            st = td_eval_node(copy);
    }
    td_eval_mark(n, false);
    if (!st) {
        const td_node *x = copy ? copy : r;
        td_view v = x->view;

        td_node_settle(n, td_buf_ref(x->buf), &v);
    }
    td_node_unref(copy);
    td_node_unref(r);
    return st;
}

td_status
td_rowfn_below(td_node *n)
{
    td_status st = TD_OK;
    td_walk w;

    td_walk_under(&w, n);
    for (int i = 0; i < w.n; i++)
        td_node_ref(w.node[i]);
    for (int i = w.n - 1; i >= 0; i--) { /* sources first */
        if (!st && w.node[i]->kind == TD_N_ROWFN) {
            td_eval_await(w.node[i]);
            if (w.node[i]->kind == TD_N_ROWFN)
                st = eval_rowfn(w.node[i]);
        }
        td_node_unref(w.node[i]);
    }
    return st;
}
