/* sort.c - arrays for the device's sort: the source dense, memory for the results. */
#include "dev/core/sort.h"

#include "array/graph/internal.h"
#include "array/run/eval.h"

static uintptr_t
address(const td_node *n)
{
    return n->buf->ptr + (uintptr_t)n->view.offset * td_dtype_size((td_dtype)n->dt);
}

static td_status
sort_run(const td_node *n, int64_t length, const td_array *values, const td_array *index)
{
    int64_t size = td_shape_size(&n->view.shape);
    td_sort job = {.dt = (td_dtype)n->dt, .rows = size / length, .n = length, .in = address(n)};
    void *token;
    td_status st;

    if (values)
        job.out = values->store->node->buf->ptr;
    if (index)
        job.index = index->store->node->buf->ptr;
    token = td_graph_unlock();
    st = td_sort_run(td_dev_stream(n->dev), &job);
    td_graph_lock(token);
    return st;
}

td_status
td_array_sort(const td_array *a, td_array *values, td_array *index)
{
    const td_shape *s = &a->view.shape;
    td_dev *dev = td_array_dev(a);
    td_node *n = NULL;
    td_status st;

    TD_ASSERT(s->ndim > 0);
    if ((st = td_chunk_sort(a, values, index)) != TD_SKIP)
        return st;
    TD_TRY(td_sort_can(dev, td_array_dtype(a), td_array_size(a), values != NULL));
    if (values)
        values->store = NULL;
    if (index)
        index->store = NULL;
    st = values ? td_array_empty(dev, td_array_dtype(a), s, values) : TD_OK;
    if (!st && index)
        st = td_array_empty(dev, TD_I64, s, index);
    if (!st && td_array_size(a)) {
        st = td_node_dense(a, &n);
        if (!st)
            st = sort_run(n, s->dim[s->ndim - 1], values, index);
        td_node_unref(n);
    }
    if (st && values && values->store)
        td_array_unref(values);
    if (st && index && index->store)
        td_array_unref(index);
    return st;
}
