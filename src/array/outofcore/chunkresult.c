/* chunkresult.c - where jobs put their results, and how nodes receive them. */
#include "array/outofcore/chunk.h"
#include "array/run/eval.h"

static td_status
host_result(td_job *j)
{
    TD_TRY(td_source_of_bytes(j->dt, &j->node->view, &j->mem));
    j->own = (td_sink){.dt = j->dt, .mem = j->mem->mem, .view = j->node->view};
    j->sink = &j->own;
    return TD_OK;
}

/* Finds memory for the rows: on the device, else on the host. */
td_status
td_job_open(td_job *j, const td_chunkopts *o)
{
    td_node *n = j->node;
    td_status st;

    if (td_job_merges(j))
        return TD_OK;
    if (o && o->sink) {
        j->sink = o->sink;
        return TD_OK;
    }
    if (!j->on_host && td_chunk_has_room(n->dev, td_node_bytes(n))) {
        st = td_buf_new(n->dev, td_dev_stream(n->dev), td_node_bytes(n), &j->out);
        if (st != TD_ERR_OOM) /* the pool asks for larger pieces, so it may fail all the same */
            return st;
    }
    if (o && o->host)
        return host_result(j);
    return td_fail(TD_ERR_OOM,
                   "a result of %zu bytes does not fit %s, which has %zu left: get() and td.stream "
                   "bring it to the host, chunk by chunk",
                   td_node_bytes(n), td_dev_info(n->dev)->name, td_chunk_room(n->dev));
}

/* Makes the job's own host memory n's value. */
static td_status
settle_host(td_job *j)
{
    td_host *h;

    TD_TRY(td_host_new(j->mem, &j->node->view, &h));
    td_node_settle_host(j->node, h);
    return TD_OK;
}

static td_status
settle_array(td_job *j)
{
    td_node *n = j->node, *r, *copy = NULL;
    td_view v = n->view;
    td_status st;

    TD_TRY(td_array_node(&j->result, &r));
    st = td_eval_node(r);
    if (!st && !td_view_eq(&r->view, &v)) {
        st = td_node_copy(r, j->dt, &v, &copy);
        if (!st)
            st = td_eval_node(copy);
    }
    if (!st)
        td_node_settle(n, td_buf_ref(copy ? copy->buf : r->buf), &v);
    td_node_unref(copy);
    td_node_unref(r);
    return st;
}

td_status
td_job_settle(td_job *j)
{
    td_buf *out = j->out;
    td_view v = j->node->view;

    if (td_job_merges(j))
        return settle_array(j);
    if (j->sink)
        return j->sink == &j->own ? settle_host(j) : TD_OK;
    j->out = NULL;
    td_node_settle(j->node, out, &v);
    return TD_OK;
}
