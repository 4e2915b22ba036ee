/* work.c - work as data: run, profiled, or put on a tape. */
#include "dev/core/work.h"

#include "dev/core/rawops.h"

atomic_int td_watchers;

static td_status
wait_for(td_stream *s, const td_work *w)
{
    const td_devops *ops = s->dev->ops;

    if (w->event)
        return ops->event_sync ? ops->event_sync(w->event) : TD_OK;
    if (w->all)
        return ops->sync(s->dev);
    return ops->stream_sync ? ops->stream_sync(s) : TD_OK;
}

/* A copy that does not wait, if the device has one.  TD_SKIP: it waits. */
static td_status
copy_later(td_stream *s, const td_work *w)
{
    bool out = w->kind == TD_TRACE_copy_out;
    td_status st;

    if (!w->later || !s->dev->ops->copy_later)
        return TD_SKIP;
    st = s->dev->ops->copy_later(s, out, (void *)(out ? w->dst : w->src), out ? w->src : w->dst,
                                 w->nbytes);
    *w->later = st == TD_OK;
    return st;
}

static td_status
work_copy_host(td_stream *s, const td_work *w)
{
    const td_devops *ops = s->dev->ops;
    td_status st =
        w->fill ? ops->copy_fill(s, w->dst, w->nbytes, w->fill, w->ctx) : copy_later(s, w);

    if (st != TD_SKIP)
        return st;
    return w->kind == TD_TRACE_copy_in ? ops->copy_in(s, w->dst, (const void *)w->src, w->nbytes)
                                       : ops->copy_out(s, (void *)w->dst, w->src, w->nbytes);
}

td_status
td_work_run(td_stream *s, const td_work *w)
{
    const td_devops *ops = s->dev->ops;

    switch (w->kind) {
    case TD_TRACE_kernel:   return ops->launch(w->func, s, w->dims, w->args, w->narg);
    case TD_TRACE_copy_in:
    case TD_TRACE_copy_out: return work_copy_host(s, w);
    case TD_TRACE_copy:
        return w->to ? ops->raw->peer(s, w->to, w->dst, s->dev, w->src, w->nbytes)
                     : ops->copy(s, w->dst, w->src, w->nbytes);
    case TD_TRACE_fill:       return ops->fill(s, w->dst, w->byte, w->nbytes);
    case TD_TRACE_gemm:       return td_blas_run(s, w->gemm);
    case TD_TRACE_sort:       return td_sort_do(s, w->sort);
    case TD_TRACE_solve:      return td_solver_do(s, w->solver);
    case TD_TRACE_fourier:    return td_fourier_do(s, w->fourier);
    case TD_TRACE_collective: return td_comm_do(w->comm);
    case TD_TRACE_wait:       return wait_for(s, w);
    case TD_TRACE_graph:
    case TD_TRACE_alloc:
    case TD_TRACE_free:
    case TD_TRACE_compile:
    case TD_TRACE_load:
    case TD_TRACE_widen:
    case TD_TRACE_stride:
    case TD_TRACE_read:
    case TD_TRACE_COUNT:      break;
    }
    td_bug(__FILE__, __LINE__, "kind of work");
}

size_t
td_work_bytes(const td_work *w)
{
    switch (w->kind) {
    case TD_TRACE_kernel: return w->dims->nbytes;
    case TD_TRACE_gemm:   return td_gemm_bytes(w->gemm);
    case TD_TRACE_copy:   return 2 * w->nbytes;
    default:              return w->nbytes;
    }
}

const char *
td_work_name(const td_work *w)
{
    if (w->kind == TD_TRACE_solve)
        return td_solver_name(w->solver);
    if (w->kind == TD_TRACE_collective)
        return td_comm_name(w->comm);
    if (w->kind != TD_TRACE_kernel)
        return td_trace_kind_name(w->kind);
    return w->dims->what ? w->dims->what : w->func->name;
}

td_status
td_work_watched(td_stream *s, const td_work *w)
{
    td_tape *t = td_tape_now();
    td_span span;
    td_status st;

    if (t)
        return td_tape_add(t, s, w);
    td_span_open(&span, w->kind, s->dev, s);
    span.made = w->kind == TD_TRACE_kernel ? w->dims->site : 0;
    st = td_work_run(s, w);
    td_span_close(&span, st, td_work_name(w), td_work_bytes(w));
    return st;
}

/* ---- memory ---- */

td_status
td_buf_new(td_dev *d, td_stream *s, size_t nbytes, td_buf **out)
{
    td_tape *t;
    td_span span;
    td_status st;

    if (!td_watched())
        return td_pool_new(d, s, nbytes, out);
    t = td_tape_now();
    if (t && td_tape_reuse(t, d, nbytes, out))
        return TD_OK;
    td_span_open(&span, TD_TRACE_alloc, d, NULL);
    td_tape_current = NULL; /* the pool's own events and waits are not recorded */
    st = td_pool_new(d, s, nbytes, out);
    td_tape_current = t;
    td_span_close(&span, st, "alloc", nbytes);
    return st || !t ? st : td_tape_own(t, *out);
}
