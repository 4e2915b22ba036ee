/* copy.c - copies between pageable host memory and an NVIDIA device.
 *
 * The driver copies pageable memory through one pinned buffer on one thread, at a sixth of what the
 * bus carries.  Large copies go through pinned buffers of ours, filled or emptied by several
 * threads: each has a lane with a stream of its own and SLOTS buffers, so that its memcpy and its
 * transfers overlap.  The lanes' streams are ordered with the caller's stream by events: they wait
 * for the work given to it before; what is given to it later waits for them.  What the lanes cannot
 * do (no pinned memory) is left to the driver.
 */
#include "base/parallel.h"
#include "dev/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8, SLOTS = 3 };

#define CHUNK     ((size_t)4 << 20)   /* a slot's size; larger ones gain nothing */
#define CHUNK_MIN ((size_t)256 << 10) /* shorter transfers cost more than they carry */
#define STAGED    ((size_t)1 << 20)   /* shorter copies are the driver's */
#define WARM      ((size_t)32 << 20)  /* bytes copied before pinning memory (1 ms a slot) can pay */

/* slot - a pinned buffer and the event after its last transfer. */
typedef struct slot {
    void *pin;
    cu_event done;
    bool busy; /* a transfer was given that nobody has waited for */
} slot;

typedef struct lane {
    cu_stream stream;
    slot slot[SLOTS];
    int turn;      /* the slot to use next */
    cu_event last; /* after this copy's last transfer; NULL: it made none */
} lane;

/* td_stage - a device's lanes.  Made at its first large copy, lives as long as the process. */
struct td_stage {
    cu_event before; /* the caller's stream when the copy began */
    lane lane[LANES];
};

/* job - one large copy.  On its caller's stack. */
typedef struct job {
    td_cuda *c;
    td_stage *stage;
    bool out; /* from the device */
    char *host;
    cu_ptr dev;
    size_t nbytes, chunk;
    atomic_size_t next; /* bytes given to lanes */
    pthread_mutex_t mu;
    td_status st; /* the first failure, the driver's number of it and its text */
    int code;
    char text[512];
} job;

/* ---- through the driver ---- */

/* The host memory may be pinned by others, then the call returns at once: wait. */
static td_status
plain(td_cuda *c, td_stream *s, bool out, char *host, cu_ptr dev, size_t nbytes)
{
    td_status st;

    if (out)
        st = CU_TRY(c, cuMemcpyDtoHAsync, host, dev, nbytes, s->handle);
    else
        st = CU_TRY(c, cuMemcpyHtoDAsync, dev, host, nbytes, s->handle);
    return st ? st : td_cuda_sync(c, s);
}

static bool
is_pinned(const td_cuda *c, const void *p)
{
    int type = 0; /* pageable memory is unknown to the driver: the call fails */

    return c->drv->cuPointerGetAttribute(&type, CU_POINTER_MEMORY_TYPE, (cu_ptr)(uintptr_t)p) ==
               0 &&
           type == CU_MEMORY_HOST;
}

/* ---- a lane's work ---- */

static void
job_fail(job *j, td_status st)
{
    pthread_mutex_lock(&j->mu);
    if (!j->st) {
        j->st = st;
        j->code = td_error_code();
        snprintf(j->text, sizeof j->text, "%s", td_error());
    }
    pthread_mutex_unlock(&j->mu);
    atomic_store(&j->next, j->nbytes); /* the others stop */
}

/* Makes what the slot lacks; false: the lane has to do without, which is no failure. */
static bool
slot_make(const td_cuda *c, slot *k)
{
    if (!k->done && c->drv->cuEventCreate(&k->done, CU_EVENT_NO_TIMING) != 0)
        return false;
    return k->pin || c->drv->cuMemHostAlloc(&k->pin, CHUNK, 0) == 0;
}

/* The next chunk; *n is 0 when none is left. */
static bool
take_chunk(job *j, size_t *at, size_t *n)
{
    size_t size;

    *n = 0;
    *at = atomic_load(&j->next);
    do {
        if (*at >= j->nbytes)
            return false;
        size = j->nbytes - *at < j->chunk ? j->nbytes - *at : j->chunk;
    } while (!atomic_compare_exchange_weak(&j->next, at, *at + size));
    *n = size;
    return true;
}

static td_status
slot_wait(const td_cuda *c, slot *k)
{
    if (!k->busy)
        return TD_OK;
    k->busy = false;
    return CU_TRY(c, cuEventSynchronize, k->done);
}

/* The transfer of slot k is given; says so by its event. */
static td_status
slot_mark(const td_cuda *c, lane *l, slot *k)
{
    TD_TRY(CU_TRY(c, cuEventRecord, k->done, l->stream));
    k->busy = true;
    l->last = k->done;
    l->turn = (l->turn + 1) % SLOTS;
    return TD_OK;
}

static td_status
lane_in(job *j, lane *l)
{
    const td_cuda *c = j->c;
    size_t at, n;

    for (;;) {
        slot *k = &l->slot[l->turn];

        if (!slot_make(c, k))
            return TD_OK;
        TD_TRY(slot_wait(c, k));
        if (!take_chunk(j, &at, &n))
            return TD_OK;
        memcpy(k->pin, j->host + at, n);
        TD_TRY(CU_TRY(c, cuMemcpyHtoDAsync, j->dev + at, k->pin, n, l->stream));
        TD_TRY(slot_mark(c, l, k));
    }
}

/* Waits for slot k's transfer and empties it to where its chunk belongs. */
static td_status
slot_empty(job *j, slot *k, size_t at, size_t n)
{
    if (!n)
        return slot_wait(j->c, k); /* an earlier copy's */
    TD_TRY(slot_wait(j->c, k));
    memcpy(j->host + at, k->pin, n);
    return TD_OK;
}

static td_status
lane_out(job *j, lane *l)
{
    const td_cuda *c = j->c;
    size_t at[SLOTS] = {0}, n[SLOTS] = {0}; /* the chunks under way */
    bool more = true;

    while (more) {
        int t = l->turn;
        slot *k = &l->slot[t];

        if (!slot_make(c, k))
            break;
        TD_TRY(slot_empty(j, k, at[t], n[t]));
        n[t] = 0;
        more = take_chunk(j, &at[t], &n[t]);
        if (more) {
            TD_TRY(CU_TRY(c, cuMemcpyDtoHAsync, k->pin, j->dev + at[t], n[t], l->stream));
            TD_TRY(slot_mark(c, l, k));
        }
    }
    for (int i = 0; i < SLOTS; i++) {
        int t = (l->turn + i) % SLOTS; /* the oldest first */

        if (n[t])
            TD_TRY(slot_empty(j, &l->slot[t], at[t], n[t]));
    }
    return TD_OK;
}

static td_status
lane_copy(job *j, lane *l)
{
    const td_cuda *c = j->c;
    td_status st;

    if (!l->stream && c->drv->cuStreamCreate(&l->stream, CU_STREAM_NON_BLOCKING) != 0) {
        l->stream = NULL; /* the driver will do it */
        return TD_OK;
    }
    TD_TRY(CU_TRY(c, cuStreamWaitEvent, l->stream, j->stage->before, 0));
    st = j->out ? lane_out(j, l) : lane_in(j, l);
    if (st) { /* nothing may be under way when the caller has his memory back */
        (void)c->drv->cuStreamSynchronize(l->stream);
        for (int i = 0; i < SLOTS; i++)
            l->slot[i].busy = false;
    }
    return st;
}

static void
lane_run(void *ctx, int64_t i)
{
    job *j = ctx;
    bool pushed;
    td_status st = td_cuda_enter(j->c, &pushed);

    if (!st) {
        st = lane_copy(j, &j->stage->lane[i]);
        td_cuda_leave(j->c, pushed);
    }
    if (st)
        job_fail(j, st);
}

/* ---- the whole copy ---- */

/* The caller's stream waits for the lanes.  Where it cannot be told to, we do. */
static td_status
join(job *j, td_stream *s)
{
    const td_cuda *c = j->c;
    td_status st = TD_OK;

    for (int i = 0; i < LANES; i++) {
        lane *l = &j->stage->lane[i];

        if (l->last && c->drv->cuStreamWaitEvent(s->handle, l->last, 0) != 0) {
            td_status r = CU_TRY(c, cuStreamSynchronize, l->stream);

            st = st ? st : r;
        }
        l->last = NULL;
    }
    return st;
}

static int
lane_count(void)
{
    int n = td_parallel_width();

    return n < LANES ? n : LANES;
}

static size_t
chunk_for(size_t nbytes, int lanes)
{
    size_t n = nbytes / (size_t)lanes / 2;

    n = n / CHUNK_MIN * CHUNK_MIN;
    return n < CHUNK_MIN ? CHUNK_MIN : n > CHUNK ? CHUNK : n;
}

/* Under stage_mu, in the context. */
static td_status
staged(td_cuda *c, td_stream *s, bool out, char *host, cu_ptr dev, size_t nbytes)
{
    int lanes = lane_count();
    job j = {.c = c,
             .stage = c->stage,
             .out = out,
             .host = host,
             .dev = dev,
             .nbytes = nbytes,
             .chunk = chunk_for(nbytes, lanes)};
    size_t done;
    td_status st;

    TD_TRY(CU_TRY(c, cuEventRecord, c->stage->before, s->handle));
    pthread_mutex_init(&j.mu, NULL);
    td_parallel(lanes, lane_run, &j);
    pthread_mutex_destroy(&j.mu);
    st = join(&j, s);
    if (j.st)
        return td_fail_code(j.st, j.code, "%s", j.text);
    done = atomic_load(&j.next);
    if (!st && done < nbytes)
        st = plain(c, s, out, host + done, dev + done, nbytes - done);
    return st;
}

/* The stage, once enough was copied to make it worth its while; NULL: not yet or not possible. */
static td_stage *
stage_get(td_cuda *c, size_t nbytes)
{
    td_stage *g;

    if (c->stage)
        return c->stage;
    c->copied += nbytes;
    if (c->copied < WARM)
        return NULL;
    g = calloc(1, sizeof *g);
    if (g && c->drv->cuEventCreate(&g->before, CU_EVENT_NO_TIMING) != 0) {
        free(g);
        g = NULL;
    }
    c->stage = g;
    return g;
}

static td_status
transfer(td_stream *s, bool out, char *host, cu_ptr dev, size_t nbytes)
{
    td_cuda *c = td_cuda_of(s->dev);
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    if (nbytes < STAGED || is_pinned(c, host)) {
        st = plain(c, s, out, host, dev, nbytes);
    } else {
        pthread_mutex_lock(&c->stage_mu);
        st = stage_get(c, nbytes) ? staged(c, s, out, host, dev, nbytes)
                                  : plain(c, s, out, host, dev, nbytes);
        pthread_mutex_unlock(&c->stage_mu);
    }
    td_cuda_leave(c, pushed);
    return st;
}

td_status
td_cuda_copy_later(td_stream *s, bool out, void *host, uintptr_t dev, size_t nbytes)
{
    td_cuda *c = td_cuda_of(s->dev);
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    if (!is_pinned(c, host))
        st = TD_SKIP;
    else if (out)
        st = CU_TRY(c, cuMemcpyDtoHAsync, host, dev, nbytes, s->handle);
    else
        st = CU_TRY(c, cuMemcpyHtoDAsync, dev, host, nbytes, s->handle);
    td_cuda_leave(c, pushed);
    return st;
}

td_status
td_cuda_copy_in(td_stream *s, uintptr_t dst, const void *src, size_t nbytes)
{
    return transfer(s, false, (char *)(uintptr_t)src, dst, nbytes); /* only read */
}

td_status
td_cuda_copy_out(td_stream *s, void *dst, uintptr_t src, size_t nbytes)
{
    return transfer(s, true, dst, src, nbytes);
}
