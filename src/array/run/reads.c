/* reads.c - does evaluating a value read memory that is about to be written? */
#include "array/graph/internal.h"
#include "array/run/eval.h"

bool
td_eval_reads(td_node *n, const td_buf *buf)
{
    bool r = n->buf == buf;
    td_walk w;

    td_walk_under(&w, n);
    for (int i = 0; i < w.n; i++)
        for (int k = 0; k < w.node[i]->nsrc; k++)
            r |= w.node[i]->src[k]->buf == buf;
    return r;
}

static bool
reads_elsewhere(const td_node *n, td_dtype dt, const td_buf *buf, const td_view *view)
{
    int64_t lo, hi, from, to, size = (int64_t)td_dtype_size(dt),
                              own = (int64_t)td_dtype_size((td_dtype)n->dt);

    if (n->kind != TD_N_LEAF || n->buf != buf || (size == own && td_view_eq(&n->view, view)))
        return false;
    td_view_extent(view, &lo, &hi);
    td_view_extent(&n->view, &from, &to);
    return lo * size < to * own && from * own < hi * size;
}

bool
td_eval_conflicts(td_node *n, td_dtype dt, const td_buf *buf, const td_view *view)
{
    bool r = reads_elsewhere(n, dt, buf, view);
    td_walk w;

    td_walk_under(&w, n);
    for (int i = 0; i < w.n; i++)
        for (int k = 0; k < w.node[i]->nsrc; k++) {
            const td_node *src = w.node[i]->src[k];

            r |= td_node_looks_up(w.node[i]) && k == 0 ? src->buf == buf || td_node_pending(src)
                                                       : reads_elsewhere(src, dt, buf, view);
        }
    return r;
}
