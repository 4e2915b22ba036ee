/* rowfn.c - recording values whose rows a function computes. */
#include "array/graph/rowfn.h"

#include <stdlib.h>

td_status
td_rowfn_new(const td_rowfn *like, td_rowfn **out)
{
    td_rowfn *e = malloc(sizeof *e);

    if (!e)
        return td_fail(TD_ERR_NOMEM, "array: out of host memory for a graph node");
    *e = *like;
    atomic_init(&e->refs, 1);
    *out = e;
    return TD_OK;
}

td_rowfn *
td_rowfn_ref(td_rowfn *e)
{
    atomic_fetch_add(&e->refs, 1);
    return e;
}

void
td_rowfn_unref(td_rowfn *e)
{
    if (!e || atomic_fetch_sub(&e->refs, 1) > 1)
        return;
    if (e->release)
        e->release(e->owner);
    free(e);
}

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
    td_node_seal(r);
    return td_array_of_node(r, out);
}
