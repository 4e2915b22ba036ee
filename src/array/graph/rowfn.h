/* rowfn.h - values whose rows are computed by a function, each from its own rows of the sources.
 *
 * td_rowfn - what a node of kind ROWFN has: the function, and which of its axes may be cut.  Refcounted; immutable.
 *
 * Such a node is made only of values that are on the host and do not fit the device: it is how a sort or a product of
 * them is recorded.  Evaluation hands chunks of rows to the function (outofcore/chunkrowfn.c); kernels never see the node.
 */
#ifndef TD_ARRAY_ROWFN_H
#define TD_ARRAY_ROWFN_H
#include "array/graph/array.h"

typedef struct td_rowfn {
    atomic_int refs;
    int8_t     from[TD_MAXDIM]; /* the axis of the sources that each axis of the result is; -1: may not be cut */
    uint32_t   whole; /* bit mask: sources that each row needs as a whole */
    /* The same rows of the result as in[] has of the sources; called with the graph's lock.  in[]: borrowed, on the
     * device or computed of values there */
    td_status (*run)(void *owner, const td_array *in, int n, td_array *out);
    void (*release)(void *owner); /* NULL: nobody needs to know */
    void *owner;
} td_rowfn;

/* One reference, and the fields of `like` except refs.  On failure nothing is released. */
td_status td_rowfn_new(const td_rowfn *like, td_rowfn **out);
td_rowfn  *td_rowfn_ref(td_rowfn *e);
void      td_rowfn_unref(td_rowfn *e); /* ok on NULL */

#endif
