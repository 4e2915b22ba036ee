/* cugraph.c - a sequence of work as a CUDA graph: captured from a stream of its own, launched as
 * one.
 *
 * The capture is thread-local, so it does not record other threads' work.  Everything that is
 * captured has been compiled, loaded and set up before.
 */
#include "dev/cuda/cuda.h"

static td_status
missing(const td_cuda *c)
{
    return td_fail(TD_ERR_DEVICE, "%s: the driver has no graphs", c->dev.info.name);
}

td_status
td_cuda_graph_begin(td_stream *tmp)
{
    td_cuda *c = td_cuda_of(tmp->dev);
    cu_stream h = NULL;
    bool pushed;
    td_status st;

    if (!c->drv->cuStreamBeginCapture || !c->drv->cuStreamEndCapture ||
        !c->drv->cuGraphInstantiate || !c->drv->cuGraphLaunch || !c->drv->cuGraphExecDestroy ||
        !c->drv->cuGraphDestroy)
        return missing(c);
    TD_TRY(td_cuda_enter(c, &pushed));
    st = CU_TRY(c, cuStreamCreate, &h, CU_STREAM_NON_BLOCKING);
    if (!st)
        st = CU_TRY(c, cuStreamBeginCapture, h, CU_CAPTURE_THREAD_LOCAL);
    if (st && h) {
        (void)c->drv->cuStreamDestroy(h);
        h = NULL;
    }
    td_cuda_leave(c, pushed);
    tmp->handle = h;
    return st;
}

td_status
td_cuda_graph_end(td_stream *tmp, void **exec)
{
    td_cuda *c = td_cuda_of(tmp->dev);
    cu_graph g = NULL;
    cu_exec e = NULL;
    bool pushed;
    td_status st;

    *exec = NULL;
    TD_TRY(td_cuda_enter(c, &pushed));
    st = CU_TRY(c, cuStreamEndCapture, tmp->handle, &g);
    if (!st)
        st = CU_TRY(c, cuGraphInstantiate, &e, g, 0);
    if (g)
        (void)c->drv->cuGraphDestroy(g);
    (void)c->drv->cuStreamDestroy(tmp->handle);
    td_recent_gone(c->recent, tmp, true);
    td_cuda_leave(c, pushed);
    *exec = st ? NULL : (void *)e;
    return st;
}

td_status
td_cuda_graph_launch(td_stream *s, void *exec)
{
    td_cuda *c = td_cuda_of(s->dev);

    (void)td_cuda_launched(c, s, "several kernels", "graph");
    return CU_CALL(c, cuGraphLaunch, exec, s->handle);
}

void
td_cuda_graph_free(td_dev *d, void *exec)
{
    td_cuda *c = td_cuda_of(d);
    bool pushed;

    if (atomic_load(c->forked) || td_cuda_enter(c, &pushed))
        return;
    /* the driver keeps it until launches under way have ended */
    (void)c->drv->cuGraphExecDestroy(exec);
    td_cuda_leave(c, pushed);
}
