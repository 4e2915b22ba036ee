/* dev.c - finds devices, checks arguments, dispatches to a device's table. */
#include "base/opts.h"
#include "dev/cpu/cpucode.h"
#include "dev/foreign/driver.h"
#include "dev/pool/share.h"
#include "dev/core/tape.h"
#include "dev/core/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CUDA_MAX = 64 };

typedef void td_dev_opened(td_dev *d);
typedef td_status td_dev_waited(td_dev *d);

/* The devices made so far; each lives as long as the process. */
static struct {
    pthread_mutex_t mu; /* held while a device is made: its first user waits for it, as do others */
    _Atomic(td_dev *) cpu, null[TD_NULL_MAX], cuda[CUDA_MAX];
    _Atomic(td_dev_opened *) opened;
    _Atomic(td_dev_waited *) waited;
} all = {.mu = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local td_dev *in_use; /* td_dev_use */
static _Thread_local bool left;      /* td_dev_leave */
static _Atomic(td_dev *) chosen;     /* td_dev_choose */

/* ---- fork ---- */

/* The child must not inherit a pool's lock that another thread, which it lacks, was holding.  all.mu
 * is not waited for: its holder may be in cuInit, which forks a helper of the driver's. */
static struct {
    pthread_mutex_t mu;
    td_dev *dev[CUDA_MAX + TD_NULL_MAX + 1]; /* those that were locked */
    size_t n;
} held = {.mu = PTHREAD_MUTEX_INITIALIZER};

static void
hold(td_dev *d)
{
    if (!d)
        return;
    td_pool_lock(d, true);
    held.dev[held.n++] = d;
}

static void
before_fork(void)
{
    pthread_mutex_lock(&held.mu);
    td_share_lock(true);
    held.n = 0;
    hold(atomic_load(&all.cpu));
    for (int i = 0; i < TD_NULL_MAX; i++)
        hold(atomic_load(&all.null[i]));
    for (int i = 0; i < CUDA_MAX; i++)
        hold(atomic_load(&all.cuda[i]));
    td_host_lock(true);
    td_site_lock(true);
    td_culib_lock(true);
}

static void
after_fork(void)
{
    td_culib_lock(false);
    td_site_lock(false);
    td_host_lock(false);
    while (held.n > 0)
        td_pool_lock(held.dev[--held.n], false);
    td_share_lock(false);
    pthread_mutex_unlock(&held.mu);
}

static void
in_child(void)
{
    after_fork();
    pthread_mutex_init(&all.mu, NULL);
    td_trace_forked();
}

static void
watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

/* ---- finding a device ---- */

static td_status
open_cpu(int index, td_dev **out)
{
    (void)index;
    *out = td_cpu_dev();
    return TD_OK;
}

/* The device in `slot`, made by open() at the first call. */
static td_status
find(_Atomic(td_dev *) *slot, td_status (*open)(int index, td_dev **out), int index, td_dev **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    td_dev_opened *opened = NULL;
    td_status st = TD_OK;

    *out = atomic_load_explicit(slot, memory_order_acquire);
    if (*out)
        return TD_OK;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&all.mu);
    *out = atomic_load(slot);
    if (!*out) {
        st = open(index, out);
        if (!st) {
            atomic_store(slot, *out);
            opened = atomic_load(&all.opened);
        }
    }
    pthread_mutex_unlock(&all.mu);
    if (opened)
        opened(*out);
    return st;
}

void
td_dev_on_open(td_dev_opened *fn)
{
    atomic_store(&all.opened, fn);
}

void
td_dev_on_wait(td_dev_waited *fn)
{
    atomic_store(&all.waited, fn);
}

/* st: what a wait for d's work came to. */
static td_status
waited(td_dev *d, td_status st)
{
    td_dev_waited *fn = atomic_load_explicit(&all.waited, memory_order_relaxed);

    if (!st && atomic_load_explicit(&d->broken, memory_order_acquire))
        st = td_dev_tell(d);
    return st || !fn ? st : fn(d);
}

td_status
td_dev_hear(td_dev *d)
{
    return waited(d, TD_OK);
}

/* Is it "KIND" or "KIND:N"? */
static bool
counted(const char *name, const char *kind, long *index)
{
    size_t n = strlen(kind);
    char *end = NULL;

    *index = 0;
    if (strncmp(name, kind, n) != 0)
        return false;
    if (name[n] == ':' && name[n + 1] >= '0' && name[n + 1] <= '9')
        *index = strtol(name + n + 1, &end, 10);
    return !name[n] || (end && !*end);
}

td_status
td_dev_get(const char *name, td_dev **out)
{
    long index;
    bool null = counted(name, "null", &index);
    int most = null ? TD_NULL_MAX : CUDA_MAX;

    if (strcmp(name, "cpu") == 0)
        return find(&all.cpu, open_cpu, 0, out);
    if (!null && !counted(name, "cuda", &index))
        return td_fail(
            TD_ERR_VALUE,
            "unknown device \"%s\": there are \"cpu\", \"cuda\", \"cuda:N\" and \"null\"", name);
    if (index >= most)
        return td_fail(TD_ERR_DEVICE, "%s: devices are counted from 0 to %d", name, most - 1);
    return find(null ? &all.null[index] : &all.cuda[index], null ? td_null_open : td_cuda_open,
                (int)index, out);
}

td_status
td_dev_of(uintptr_t ptr, td_dev **out)
{
    int index = td_null_owner(ptr);
    bool null = index >= 0;
    char name[24];

    if (!null)
        TD_TRY(td_cuda_where(ptr, &index));
    snprintf(name, sizeof name, "%s:%d", null ? "null" : "cuda", index);
    return td_dev_get(name, out);
}

int
td_dev_count(td_devkind kind)
{
    switch (kind) {
    case TD_DEV_CPU:
    case TD_DEV_NULL: return 1;
    case TD_DEV_CUDA: return td_cuda_count();
    }
    return 0;
}

td_status
td_dev_default(td_dev **out)
{
    const char *name = td_options()->device;

    *out = in_use ? in_use : atomic_load(&chosen);
    if (*out)
        return TD_OK;
    if (name && *name)
        return td_dev_get(name, out);
    return td_dev_get(td_cuda_count() > 0 ? "cuda:0" : "cpu", out);
}

void
td_dev_use(td_dev *d)
{
    in_use = d;
    left = false;
}

td_dev *
td_dev_used(void)
{
    return in_use;
}

void
td_dev_choose(td_dev *d)
{
    atomic_store(&chosen, d);
}

void
td_dev_leave(void)
{
    in_use = NULL;
    left = true;
}

td_status
td_dev_current(td_dev **out)
{
    return left ? td_fail_code(TD_ERR_DEVICE, CU_INVALID_CONTEXT,
                               "no context is current in this thread (CUDA_ERROR_INVALID_CONTEXT): "
                               "it has popped or detached its last one; push one or make one")
                : td_dev_default(out);
}

const td_devinfo *
td_dev_info(const td_dev *d)
{
    return &d->info;
}

const char *
td_dev_cuda_missing(void)
{
    return td_cuda_missing();
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
        m->nbytes += m->nbytes == 0; /* an address in any case */
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
no_record(const td_dev *d, const char *what)
{
    return td_fail(TD_ERR_NOMEM, "%s: no host memory for %s", d->info.name, what);
}

td_status
td_stream_new(td_dev *d, td_stream **out)
{
    td_stream *s = calloc(1, sizeof *s);
    td_status st;

    if (!s)
        return no_record(d, "a stream");
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
    static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER; /* one record a handle */
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
    return s ? TD_OK : no_record(d, "a stream");
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
        return no_record(d, "an event");
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

static int64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

td_status
td_event_record(td_event *e, td_stream *s)
{
    if (e->dev != s->dev)
        return td_fail(TD_ERR_VALUE, "event: it belongs to %s, the stream to %s", e->dev->info.name,
                       s->dev->info.name);
    if (td_watched())
        TD_TRY(td_tape_refuse("recording an event"));
    e->ns = now_ns();
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
