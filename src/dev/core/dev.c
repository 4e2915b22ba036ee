/* dev.c - checks arguments and dispatches to a device's table. */
#include "base/clock.h"
#include "base/opts.h"
#include "dev/core/tape.h"
#include "dev/core/work.h"
#include "dev/foreign/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef td_status td_dev_waited(td_dev *d);

static _Atomic(td_dev_waited *) on_wait; /* set by td_dev_on_wait */

void
td_dev_on_wait(td_dev_waited *fn)
{
    atomic_store(&on_wait, fn);
}

/* The result of a wait for d that came to st: adds why work was ended, then asks the hook of
 * td_dev_on_wait. */
static td_status
waited(td_dev *d, td_status st)
{
    td_dev_waited *fn = atomic_load_explicit(&on_wait, memory_order_relaxed);

    if (!st && atomic_load_explicit(&d->broken, memory_order_acquire))
        st = td_dev_tell(d);
    return st || !fn ? st : fn(d);
}

td_status
td_dev_hear(td_dev *d)
{
    return waited(d, TD_OK);
}

const td_devinfo *
td_dev_info(const td_dev *d)
{
    return &d->info;
}

void
td_dev_init(td_dev *d, const td_devops *ops)
{
    d->ops = ops;
    d->def.dev = d;
    d->sync = td_options()->sync;
    td_pool_init(d);
}

td_status
td_dev_sync(td_dev *d)
{
    return waited(d, td_work_do(&d->def, &(td_work){.kind = TD_TRACE_wait, .all = true}));
}

td_status
td_dev_memory(td_dev *d, size_t *free_bytes, size_t *total_bytes)
{
    return d->ops->memory(d, free_bytes, total_bytes);
}

td_status
td_dev_attribute(td_dev *d, int number, int *out)
{
    return d->ops->attribute ? d->ops->attribute(d, number, out) : TD_SKIP;
}

td_status
td_dev_uuid(td_dev *d, unsigned char out[16])
{
    return d->ops->uuid ? d->ops->uuid(d, out) : TD_SKIP;
}

td_status
td_dev_profiler(td_dev *d, bool on)
{
    return d->ops->profiler ? d->ops->profiler(d, on) : TD_OK;
}

/* ---- copies ---- */

td_status
td_copy_in(td_stream *s, uintptr_t dst, const void *src, size_t nbytes)
{
    td_work w = {.kind = TD_TRACE_copy_in, .dst = dst, .src = (uintptr_t)src, .nbytes = nbytes};

    return nbytes ? td_work_do(s, &w) : TD_OK;
}

td_status
td_copy_fill(td_stream *s, uintptr_t dst, size_t nbytes, td_filler *fill, void *ctx)
{
    td_work w = {.kind = TD_TRACE_copy_in, .dst = dst, .nbytes = nbytes, .fill = fill, .ctx = ctx};

    return nbytes ? td_work_do(s, &w) : TD_OK;
}

td_status
td_copy_out(td_stream *s, void *dst, uintptr_t src, size_t nbytes)
{
    td_work w = {.kind = TD_TRACE_copy_out, .dst = (uintptr_t)dst, .src = src, .nbytes = nbytes};

    return nbytes ? waited(s->dev, td_work_do(s, &w)) : TD_OK;
}

td_status
td_copy(td_stream *s, uintptr_t dst, uintptr_t src, size_t nbytes)
{
    td_work w = {.kind = TD_TRACE_copy, .dst = dst, .src = src, .nbytes = nbytes};

    return nbytes ? td_work_do(s, &w) : TD_OK;
}

td_status
td_fill(td_stream *s, uintptr_t dst, int byte, size_t nbytes)
{
    td_work w = {.kind = TD_TRACE_fill, .dst = dst, .byte = byte, .nbytes = nbytes};

    return nbytes ? td_work_do(s, &w) : TD_OK;
}

td_status
td_copy_later(td_stream *s, bool out, void *host, uintptr_t dev, size_t nbytes, bool *later)
{
    td_work w = {.kind = out ? TD_TRACE_copy_out : TD_TRACE_copy_in,
                 .dst = out ? (uintptr_t)host : dev,
                 .src = out ? dev : (uintptr_t)host,
                 .nbytes = nbytes,
                 .later = later};

    *later = false;
    return nbytes ? td_work_do(s, &w) : TD_OK;
}

/* ---- host memory that the device reaches ---- */

td_status
td_hostmem_get(td_dev *d, td_hostmem *m)
{
    size_t asked = m->nbytes;
    td_status st;

    if (m->kind != TD_HOST_REGISTERED) {
        m->host = NULL;
        m->nbytes += m->nbytes == 0; /* nbytes is at least 1, so that there is an address */
    }
    if (d->ops->host_get) {
        m->dev = 0;
        st = d->ops->host_get(d, m);
        return st == TD_ERR_OOM ? td_fail(st, "%s: %zu bytes of host memory", d->info.name, asked)
                                : st;
    }
    if (m->kind != TD_HOST_REGISTERED)
        m->host = td_host_alloc(m->nbytes);
    m->dev = (uintptr_t)m->host;
    return m->host ? TD_OK : td_fail(TD_ERR_OOM, "%zu bytes of host memory", asked);
}

td_status
td_hostmem_put(td_dev *d, td_hostmem *m)
{
    void *host = m->host;

    m->host = NULL;
    if (!host)
        return TD_OK;
    if (d->ops->host_put) {
        td_hostmem gone = *m;

        gone.host = host;
        return d->ops->host_put(d, &gone);
    }
    if (m->kind != TD_HOST_REGISTERED)
        td_host_free(host, m->nbytes);
    return TD_OK;
}

/* ---- streams ---- */

td_stream *
td_dev_stream(td_dev *d)
{
    return &d->def;
}

td_dev *
td_stream_dev(const td_stream *s)
{
    return s->dev;
}

void *
td_stream_handle(const td_stream *s)
{
    return s->handle;
}

static td_status
dev_no_memory(const td_dev *d, const char *what)
{
    return td_fail(TD_ERR_NOMEM, "%s: no host memory for %s", d->info.name, what);
}

td_status
td_stream_new(td_dev *d, td_stream **out)
{
    td_stream *s = calloc(1, sizeof *s);
    td_status st;

    if (!s)
        return dev_no_memory(d, "a stream");
    s->dev = d;
    st = d->ops->stream_new ? d->ops->stream_new(s) : TD_OK;
    if (st) {
        free(s);
        return st;
    }
    td_pool_stream(s);
    *out = s;
    return TD_OK;
}

td_status
td_stream_of(td_dev *d, void *handle, td_stream **out)
{
    static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER; /* one record per handle */
    td_stream *s = &d->def;

    if ((uintptr_t)handle > 1 && d->ops->stream_new) {
        pthread_mutex_lock(&mu);
        s = td_pool_stream_find(d, handle);
        if (!s && (s = calloc(1, sizeof *s))) {
            s->dev = d;
            s->handle = handle;
            s->foreign = true;
            atomic_store(&d->apart, true);
            td_pool_stream(s);
        }
        pthread_mutex_unlock(&mu);
    }
    *out = s;
    return s ? TD_OK : dev_no_memory(d, "a stream");
}

void
td_stream_free(td_stream *s)
{
    if (!s || s == &s->dev->def || s->foreign)
        return;
    td_pool_stream_gone(s);
}

td_status
td_stream_sync(td_stream *s)
{
    return waited(s->dev, td_work_do(s, &(td_work){.kind = TD_TRACE_wait}));
}

td_status
td_stream_wait(td_stream *s, td_event *e)
{
    if (td_watched()) {
        TD_TRY(td_tape_refuse("waiting for an event"));
        td_trace_cut(s);
    }
    return s->dev->ops->stream_wait ? s->dev->ops->stream_wait(s, e) : TD_OK;
}

td_status
td_stream_order(td_dev *d, void *before, void *after)
{
    bool same = before == after || ((uintptr_t)before <= 1 && (uintptr_t)after <= 1);

    return d->ops->order && !same ? d->ops->order(d, before, after) : TD_OK;
}

static bool
is_apart(const td_stream *s)
{
    return s->apart || (s->foreign && (uintptr_t)s->handle != CU_STREAM_PER_THREAD);
}

td_status
td_stream_enter(td_stream *s)
{
    return is_apart(s) ? td_stream_order(s->dev, s->dev->def.handle, s->handle) : TD_OK;
}

td_status
td_stream_leave(td_stream *s)
{
    return is_apart(s) ? td_stream_order(s->dev, s->handle, s->dev->def.handle) : TD_OK;
}

/* ---- events ---- */

td_status
td_event_new(td_dev *d, bool timing, td_event **out)
{
    td_event *e = calloc(1, sizeof *e);
    td_status st;

    if (!e)
        return dev_no_memory(d, "an event");
    e->dev = d;
    e->timing = timing;
    st = d->ops->event_new ? d->ops->event_new(e) : TD_OK;
    if (st) {
        free(e);
        return st;
    }
    *out = e;
    return TD_OK;
}

void
td_event_free(td_event *e)
{
    if (e && e->dev->ops->event_free)
        e->dev->ops->event_free(e);
    free(e);
}

td_status
td_event_record(td_event *e, td_stream *s)
{
    if (e->dev != s->dev)
        return td_fail(TD_ERR_VALUE, "event: it belongs to %s, the stream to %s", e->dev->info.name,
                       s->dev->info.name);
    if (td_watched())
        TD_TRY(td_tape_refuse("recording an event"));
    e->ns = td_now_ns();
    return e->dev->ops->event_record ? e->dev->ops->event_record(e, s) : TD_OK;
}

td_status
td_event_sync(td_event *e)
{
    return waited(e->dev, td_work_do(&e->dev->def, &(td_work){.kind = TD_TRACE_wait, .event = e}));
}

td_status
td_event_done(td_event *e, bool *out)
{
    *out = true;
    return e->dev->ops->event_done ? e->dev->ops->event_done(e, out) : TD_OK;
}

td_status
td_event_elapsed(td_event *from, td_event *to, double *ms)
{
    if (from->dev != to->dev || !from->timing || !to->timing)
        return td_fail(TD_ERR_VALUE,
                       "elapsed time: both events must be made with timing, on one device");
    if (!from->ns || !to->ns)
        return td_fail(TD_ERR_VALUE, "elapsed time: both events must have been recorded");
    if (from->dev->ops->event_elapsed)
        return from->dev->ops->event_elapsed(from, to, ms);
    *ms = (double)(to->ns - from->ns) / 1e6;
    return TD_OK;
}
