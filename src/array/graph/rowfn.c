/* rowfn.c - functions of rows: who holds them. */
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
