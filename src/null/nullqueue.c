/* nullqueue.c - the order of work on the played driver's streams.
 *
 * Normally work is done when it is given.  After td_null_delay(seed) it waits in a queue, and is
 * done in a random order that the driver's rules allow: a stream's work in order; the legacy
 * stream after all earlier work of other streams, and their later work after it; work behind an
 * event after the work that the event stands for.  A call that waits does the work it waits for;
 * a query of an event does a little.  So missing synchronisation in a program shows, and each
 * seed gives the same order again.
 */
#include "base/clock.h"
#include "null/nulldrv.h"

#include <stdlib.h>
#include <string.h>

enum { QUEUE_MAX = 96, NOT_ASKED = 4 };

static struct {
    pthread_mutex_t mu;
    uint64_t seed;     /* 0: nothing is delayed */
    _Atomic bool late; /* work is delayed; read while work runs */
    uint64_t serial;
    null_work *first; /* in the order given */
    int count;
    int failed; /* the first failure of queued work that was not reported yet */
} queue = {.mu = PTHREAD_MUTEX_INITIALIZER};

static uint64_t
queue_draw(void)
{
    queue.seed = queue.seed * 6364136223846793005u + 1442695040888963407u;
    return queue.seed >> 33;
}

/* ---- doing work ---- */

static int
perform(const null_work *w)
{
    int r = 0;

    if (w->dst_dev)
        r = td_null_mem_check((uintptr_t)w->dst, w->nbytes);
    if (!r && w->src_dev)
        r = td_null_mem_check((uintptr_t)w->src, w->src_nbytes ? w->src_nbytes : w->nbytes);
    if (r)
        return r;
    switch (w->kind) {
    case NULL_COPY:   memmove(w->dst, w->src, w->nbytes); break;
    case NULL_FILL:   td_hostfill(w->dst, w->pitch, w->size, w->value, w->width, w->height); break;
    case NULL_BRICK:  td_hostbrick_run(&w->brick); break;
    case NULL_RECORD: td_null_object_record(w->event, td_now_ns()); break;
    case NULL_WAIT:   break;
    case NULL_LAUNCH: return td_null_run(w);
    case NULL_CALL:   return w->call(w->arg);
    }
    return 0;
}

/* ---- the queue, under its lock ---- */

static const null_work *
nullqueue_find(uint64_t id)
{
    const null_work *w = queue.first;

    while (w && w->id != id)
        w = w->next;
    return w;
}

static bool
is_default(const null_work *w)
{
    return w->stream < TD_NULL_MAX;
}

static bool
comes_before(const null_work *u, const null_work *w)
{
    if (u->stream == w->stream || u->device != w->device)
        return u->stream == w->stream;
    return (is_default(u) && w->blocking) || (is_default(w) && u->blocking);
}

static bool
is_ready(const null_work *w)
{
    for (const null_work *u = queue.first; u != w; u = u->next)
        if (comes_before(u, w))
            return false;
    return w->kind != NULL_WAIT || !nullqueue_find(w->after);
}

/* Does one piece of work that may run now.  There always is one: the oldest. */
static void
queue_step(void)
{
    null_work **at = &queue.first, *w, **chosen = NULL;
    uint64_t n = 0;
    int r;

    for (; *at; at = &(*at)->next)
        if (is_ready(*at) && queue_draw() % ++n == 0)
            chosen = at;
    w = *chosen;
    r = perform(w);
    *chosen = w->next;
    queue.count--;
    queue.failed = queue.failed ? queue.failed : r;
    free(w);
}

static bool
has_work(uint64_t stream)
{
    for (const null_work *w = queue.first; w; w = w->next)
        if (w->stream == stream)
            return true;
    return false;
}

/* device -1: any. */
static bool
has_work_of(int device)
{
    for (const null_work *w = queue.first; w; w = w->next)
        if (device < 0 || w->device == device)
            return true;
    return false;
}

static int
take_failure(void)
{
    int r = queue.failed;

    queue.failed = 0;
    return r;
}

/* ---- for the driver's functions ---- */

void
td_null_delay(uint64_t seed)
{
    (void)td_null_finish_all();
    pthread_mutex_lock(&queue.mu);
    queue.seed = seed;
    atomic_store(&queue.late, seed != 0);
    pthread_mutex_unlock(&queue.mu);
}

bool
td_null_is_late(void)
{
    return atomic_load(&queue.late);
}

/* *device: for a default stream, that of the current context. */
static uint64_t
queue_stream(cu_stream s, bool *blocking, int *device)
{
    const null_object *o = td_null_object_is(s, NULL_STREAM) ? (const null_object *)s : NULL;

    /* NULL and the driver's names of its own default streams are the legacy stream */
    *blocking = !o || !(o->flags & CU_STREAM_NON_BLOCKING);
    *device = td_null_stream_device(s);
    return o ? o->serial : (uint64_t)*device;
}

int
td_null_submit(cu_stream s, null_work work)
{
    null_work *w, **at = &queue.first;
    int r = 0;

    if (td_null_keep(s, &work, &r))
        return r;
    pthread_mutex_lock(&queue.mu);
    w = queue.seed ? malloc(sizeof *w) : NULL;
    work.id = ++queue.serial;
    work.stream = queue_stream(s, &work.blocking, &work.device);
    if (work.kind == NULL_RECORD)
        work.event->at = work.id;
    if (work.kind == NULL_WAIT)
        work.after = work.event->at;
    if (w) {
        *w = work;
        w->next = NULL;
        while (*at)
            at = &(*at)->next;
        *at = w;
        for (queue.count++; queue.count > QUEUE_MAX;)
            queue_step();
    }
    pthread_mutex_unlock(&queue.mu);
    if (!w)
        r = perform(&work);
    return r;
}

int
td_null_finish(cu_stream s)
{
    bool blocking;
    int device, r;
    uint64_t stream = queue_stream(s, &blocking, &device);

    pthread_mutex_lock(&queue.mu);
    while (has_work(stream))
        queue_step();
    r = take_failure();
    pthread_mutex_unlock(&queue.mu);
    return r;
}

int
td_null_finish_all(void)
{
    int r;

    pthread_mutex_lock(&queue.mu);
    while (has_work_of(td_null_device()))
        queue_step();
    r = take_failure();
    pthread_mutex_unlock(&queue.mu);
    return r;
}

bool
td_null_idle(cu_stream s)
{
    bool blocking, idle;
    int device;
    uint64_t stream = queue_stream(s, &blocking, &device);

    pthread_mutex_lock(&queue.mu);
    for (int i = 0; i < NOT_ASKED && queue.count && queue_draw() % 2; i++)
        queue_step();
    idle = !has_work(stream);
    pthread_mutex_unlock(&queue.mu);
    return idle;
}

bool
td_null_passed(const null_object *event, bool wait)
{
    bool passed;

    pthread_mutex_lock(&queue.mu);
    while (wait && nullqueue_find(event->at))
        queue_step();
    for (int i = 0; i < NOT_ASKED && queue.count && queue_draw() % 2; i++)
        queue_step();
    passed = !nullqueue_find(event->at);
    pthread_mutex_unlock(&queue.mu);
    return passed;
}
