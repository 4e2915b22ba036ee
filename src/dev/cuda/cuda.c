/* cuda.c - NVIDIA devices through the driver's table: contexts, memory, streams, events.
 *
 * Streams are made as CuPy, Numba and PyCUDA make them: they and the legacy default stream wait
 * for each other.  Nothing here runs after main() has returned, when the driver may be gone.
 */
#include "dev/cuda/cuda.h"

#include "base/opts.h"
#include "dev/core/rawops.h"
#include "dev/core/site.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For the real driver and the one that the host plays: a forked child has lost a driver that
 * ran in its parent. */
static struct {
    atomic_bool running, forked;
} drivers[2];

static size_t
driver_of(td_devkind kind)
{
    return kind == TD_DEV_NULL;
}

static void
cuda_in_child(void)
{
    for (size_t i = 0; i < 2; i++)
        if (atomic_load(&drivers[i].running))
            atomic_store(&drivers[i].forked, true);
}

/* ---- memory ---- */

static td_status
cuda_memory(td_dev *d, size_t *free_bytes, size_t *total_bytes)
{
    td_cuda *c = td_cuda_of(d);

    return CU_CALL(c, cuMemGetInfo, free_bytes, total_bytes);
}

static td_status
sync_all(td_dev *d)
{
    td_cuda *c = td_cuda_of(d);
    uint64_t number = td_recent_last(c->recent);
    td_status st = td_cuda_end(c, td_cuda_begin(c) ? c->drv->cuCtxSynchronize() : CU_NOT_CALLED,
                               "cuCtxSynchronize");

    return td_cuda_waited(c, st, NULL, number);
}

static td_status
cuda_copy(td_stream *s, uintptr_t dst, uintptr_t src, size_t nbytes)
{
    td_cuda *c = td_cuda_of(s->dev);

    return CU_CALL(c, cuMemcpyDtoDAsync, dst, src, nbytes, s->handle);
}

static td_status
cuda_fill(td_stream *s, uintptr_t dst, int byte, size_t nbytes)
{
    td_cuda *c = td_cuda_of(s->dev);

    return CU_CALL(c, cuMemsetD8Async, dst, (unsigned char)byte, nbytes, s->handle);
}

/* ---- streams ---- */

static td_status
cuda_stream_new(td_stream *s)
{
    td_cuda *c = td_cuda_of(s->dev);
    cu_stream h = NULL;
    td_status st = CU_CALL(c, cuStreamCreate, &h, 0);

    s->handle = h;
    return st;
}

/* Needs the device's context.  Later work on `after` waits for the work of `before` so far. */
static td_status
put_after(td_cuda *c, void *before, void *after)
{
    cu_event e = NULL;
    td_status st = CU_TRY(c, cuEventCreate, &e, CU_EVENT_NO_TIMING);

    if (st)
        return st;
    st = CU_TRY(c, cuEventRecord, e, before);
    st = st ? st : CU_TRY(c, cuStreamWaitEvent, after, e, 0);
    (void)c->drv->cuEventDestroy(e);
    return st;
}

static td_status
cuda_order(td_dev *d, void *before, void *after)
{
    td_cuda *c = td_cuda_of(d);
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    st = put_after(c, before, after);
    td_cuda_leave(c, pushed);
    return st;
}

/* The default stream takes over the stream's memory, so its later work must wait for the
 * stream's.  An event does that without waiting here: this may run in a finaliser. */
static void
stream_free(td_stream *s)
{
    td_cuda *c = td_cuda_of(s->dev);
    bool pushed;

    if (atomic_load(c->forked) || td_cuda_enter(c, &pushed))
        return;
    if (put_after(c, s->handle, NULL))
        (void)c->drv->cuStreamSynchronize(s->handle);
    (void)c->drv->cuStreamDestroy(s->handle);
    td_recent_gone(c->recent, s, false);
    td_cuda_leave(c, pushed);
}

static td_status
stream_sync(td_stream *s)
{
    td_cuda *c = td_cuda_of(s->dev);

    uint64_t number = td_recent_last(c->recent);

    return td_cuda_waited(c, CU_CALL(c, cuStreamSynchronize, s->handle), s, number);
}

static td_status
stream_wait(td_stream *s, td_event *e)
{
    td_cuda *c = td_cuda_of(s->dev);

    return CU_CALL(c, cuStreamWaitEvent, s->handle, e->handle, 0);
}

/* ---- events ---- */

static td_status
cuda_event_new(td_event *e)
{
    td_cuda *c = td_cuda_of(e->dev);
    cu_event h = NULL;
    td_status st = CU_CALL(c, cuEventCreate, &h, e->timing ? 0 : CU_EVENT_NO_TIMING);

    e->handle = h;
    return st;
}

static void
event_free(td_event *e)
{
    td_cuda *c = td_cuda_of(e->dev);
    bool pushed;

    if (atomic_load(c->forked) || td_cuda_enter(c, &pushed))
        return;
    (void)c->drv->cuEventDestroy(e->handle);
    td_cuda_leave(c, pushed);
}

static td_status
event_record(td_event *e, td_stream *s)
{
    td_cuda *c = td_cuda_of(e->dev);

    e->on = s;
    e->launches = td_recent_last(c->recent);
    return CU_CALL(c, cuEventRecord, e->handle, s->handle);
}

static td_status
event_sync(td_event *e)
{
    td_cuda *c = td_cuda_of(e->dev);

    td_status st = CU_CALL(c, cuEventSynchronize, e->handle);

    return e->on ? td_cuda_waited(c, st, e->on, e->launches) : st;
}

static td_status
event_done(td_event *e, bool *out)
{
    td_cuda *c = td_cuda_of(e->dev);
    bool pushed;
    int r;

    TD_TRY(td_cuda_enter(c, &pushed));
    r = c->drv->cuEventQuery(e->handle);
    td_cuda_leave(c, pushed);
    *out = r == 0;
    if (*out && e->on)
        (void)td_cuda_waited(c, TD_OK, e->on, e->launches);
    return r == CU_NOT_READY ? TD_OK : td_cuda_status(c, r, "cuEventQuery");
}

static td_status
event_elapsed(td_event *from, td_event *to, double *ms)
{
    td_cuda *c = td_cuda_of(from->dev);
    float x = 0;
    td_status st = CU_CALL(c, cuEventElapsedTime, &x, from->handle, to->handle);

    *ms = (double)x;
    return st;
}

static const td_devops cuda_ops = {
    .align = 512,
    .raw = &td_cuda_raw,
    .mem_get = td_cuda_mem_get,
    .mem_put = td_cuda_mem_put,
    .mem_cut = td_cuda_mem_cut,
    .mem_join = td_cuda_mem_join,
    .share_new = td_pool_plain,
    .share = td_cuda_share,
    .share_open = td_cuda_share_open,
    .share_close = td_cuda_share_close,
    .memory = cuda_memory,
    .host_get = td_cuda_host_get,
    .host_put = td_cuda_host_put,
    .copy_later = td_cuda_copy_later,
    .attribute = td_cuda_attribute,
    .uuid = td_cuda_uuid,
    .profiler = td_cuda_profiler,
    .sync = sync_all,
    .copy_in = td_cuda_copy_in,
    .copy_fill = td_cuda_copy_fill,
    .copy_out = td_cuda_copy_out,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .stream_new = cuda_stream_new,
    .stream_free = stream_free,
    .stream_sync = stream_sync,
    .stream_wait = stream_wait,
    .order = cuda_order,
    .event_new = cuda_event_new,
    .event_free = event_free,
    .event_record = event_record,
    .event_sync = event_sync,
    .event_done = event_done,
    .event_elapsed = event_elapsed,
    .module_load = td_cuda_module_load,
    .module_free = td_cuda_module_free,
    .module_func = td_cuda_module_func,
    .module_global = td_cuda_module_global,
    .func_param = td_cuda_func_param,
    .assemble = td_cuda_assemble,
    .func_attribute = td_cuda_func_attribute,
    .func_resident = td_cuda_func_resident,
    .launch = td_cuda_launch,
    .graph_begin = td_cuda_graph_begin,
    .graph_end = td_cuda_graph_end,
    .graph_launch = td_cuda_graph_launch,
    .graph_free = td_cuda_graph_free,
};

/* ---- devices ---- */

/* From the data sheet's clock and width: memory moves its width twice a clock.  0: the driver
 * does not tell. */
static double
bandwidth(const td_cuda *c, int dev)
{
    int khz = 0, bits = 0;

    if (c->drv->cuDeviceGetAttribute(&khz, CU_ATTR_MEMORY_KHZ, dev) ||
        c->drv->cuDeviceGetAttribute(&bits, CU_ATTR_MEMORY_BITS, dev))
        return 0;
    return 2e3 * khz * bits / 8;
}

/* Fills in info and the context. */
static td_status
describe_device(td_cuda *c)
{
    td_devinfo *i = &c->dev.info;
    int dev, major, minor, shared;

    TD_TRY(CU_TRY(c, cuDeviceGet, &dev, c->ordinal));
    TD_TRY(CU_TRY(c, cuDeviceGetName, i->model, (int)sizeof i->model, dev));
    TD_TRY(CU_TRY(c, cuDeviceGetAttribute, &major, CU_ATTR_MAJOR, dev));
    TD_TRY(CU_TRY(c, cuDeviceGetAttribute, &minor, CU_ATTR_MINOR, dev));
    TD_TRY(CU_TRY(c, cuDeviceGetAttribute, &i->units, CU_ATTR_UNITS, dev));
    i->simt = i->queued = true;
    TD_TRY(CU_TRY(c, cuDeviceGetAttribute, &i->warp, CU_ATTR_WARP, dev));
    TD_TRY(CU_TRY(c, cuDeviceGetAttribute, &i->max_threads, CU_ATTR_MAX_THREADS, dev));
    TD_TRY(CU_TRY(c, cuDeviceGetAttribute, &shared, CU_ATTR_MAX_SHARED, dev));
    TD_TRY(CU_TRY(c, cuDeviceTotalMem, &i->memory, dev));
    TD_TRY(CU_TRY(c, cuDriverGetVersion, &i->driver));
    i->max_shared = (size_t)shared;
    i->bandwidth = bandwidth(c, dev);
    snprintf(i->arch, sizeof i->arch, "sm_%d%d", major, minor);
    return CU_TRY(c, cuDevicePrimaryCtxRetain, &c->ctx, dev);
}

static void
watch_once(void)
{
    pthread_atfork(NULL, NULL, cuda_in_child);
}

/* Marks the driver as running: a child forked from now on must not use it. */
static void
cuda_watch_forks(td_devkind kind)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    atomic_store(&drivers[driver_of(kind)].running, true);
    pthread_once(&once, watch_once);
}

static td_status
no_host_memory(const char *name)
{
    return td_fail(TD_ERR_NOMEM, "%s: no host memory for the device's record", name);
}

td_status
td_cuda_make(const td_driver *drv, int ordinal, td_devkind kind, const char *name, td_cuda **out)
{
    td_cuda *c;
    td_status st;

    if (atomic_load(&drivers[driver_of(kind)].forked))
        return td_cuda_was_forked(name);
    cuda_watch_forks(kind);
    c = calloc(1, sizeof *c);
    if (!c)
        return no_host_memory(name);
    c->recent = td_recent_new();
    if (!c->recent) {
        free(c);
        return no_host_memory(name);
    }
    c->drv = drv;
    c->ordinal = ordinal;
    c->forked = &drivers[driver_of(kind)].forked;
    c->dev.info.kind = kind;
    c->dev.info.index = ordinal;
    snprintf(c->dev.info.name, sizeof c->dev.info.name, "%s", name);
    st = describe_device(c);
    if (st) {
        free(c->recent);
        free(c);
        return st;
    }
    /* its kernels fail late, so failures want the program's line */
    atomic_fetch_add(&td_site_wanters, 1);
    pthread_mutex_init(&c->stage_mu[0], NULL);
    pthread_mutex_init(&c->stage_mu[1], NULL);
    pthread_mutex_init(&c->blas_mu, NULL);
    pthread_mutex_init(&c->solver_mu, NULL);
    pthread_mutex_init(&c->plans_mu, NULL);
    pthread_mutex_init(&c->parts_mu, NULL);
    td_dev_init(&c->dev, &cuda_ops);
    c->dev.pool.grain = td_cuda_grain(c);
    *out = c;
    return TD_OK;
}

/* The driver and its devices, looked up once: a forked child must not ask again. */
static struct {
    const td_driver *drv; /* NULL: there is no device; `why` says why */
    int count;
    const char *why;
} found;

static void
find_devices(void)
{
    const td_driver *drv = td_driver_open(&found.why);

    if (!drv)
        return;
    cuda_watch_forks(TD_DEV_CUDA);
    if (drv->cuDeviceGetCount(&found.count) != 0 || found.count < 1) {
        found.count = 0;
        found.why = "the NVIDIA driver finds no device";
        return;
    }
    found.drv = drv;
}

static const td_driver *
driver_with_devices(int *count, const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_devices);
    *count = found.count;
    *why = found.why;
    return found.drv;
}

int
td_cuda_count(void)
{
    const char *why;
    int n;

    (void)driver_with_devices(&n, &why);
    return n;
}

const char *
td_cuda_missing(void)
{
    const char *why;
    int n;

    return driver_with_devices(&n, &why) ? "" : why;
}

td_status
td_cuda_where(uintptr_t ptr, int *index)
{
    const char *why;
    int n;
    const td_driver *drv = driver_with_devices(&n, &why);

    if (!drv)
        return td_fail(TD_ERR_DEVICE, "memory at %#" PRIxPTR ": %s", ptr, why);
    if (drv->cuPointerGetAttribute(index, CU_POINTER_ORDINAL, (cu_ptr)ptr) != 0)
        return td_fail(TD_ERR_VALUE, "memory at %#" PRIxPTR ": no GPU of this process has it", ptr);
    return TD_OK;
}

td_status
td_cuda_open(int index, td_dev **out)
{
    const char *why;
    char name[24];
    int n;
    const td_driver *drv = driver_with_devices(&n, &why);
    td_cuda *c = NULL;

    if (!drv)
        return td_fail(TD_ERR_DEVICE, "cuda:%d: %s", index, why);
    if (index >= n)
        return td_fail(TD_ERR_DEVICE, "cuda:%d: there %s %d CUDA device%s", index,
                       n == 1 ? "is" : "are", n, n == 1 ? "" : "s");
    snprintf(name, sizeof name, "cuda:%d", index);
    TD_TRY(td_cuda_make(drv, index, TD_DEV_CUDA, name, &c));
    *out = &c->dev;
    return TD_OK;
}
