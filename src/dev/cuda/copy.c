/* copy.c - copies between pageable host memory and an NVIDIA device.
 *
 * The driver copies pageable memory on one thread through one pinned buffer, at a sixth of the
 * bus's rate.  So large copies go through pinned buffers of ours, which several threads fill or
 * empty.  Each thread has a lane: a stream of its own and SLOTS buffers, so that its memcpy and
 * its transfers overlap.  Events order the lanes' streams with the caller's stream: they wait for
 * its earlier work, and its later work waits for them.  What the lanes cannot do, for want of
 * pinned memory, is left to the driver.
 */
#include "base/failure.h"
#include "base/parallel.h"
#include "dev/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

enum {
    LANES = 12,
    /* lanes used for copies of memory; a filler that reads from elsewhere may be slower and
     * uses all */
    LANES_COPY = 8,
    SLOTS = 3,
};

#define CHUNK     ((size_t)4 << 20)   /* size of a slot; larger ones gain nothing */
#define CHUNK_MIN ((size_t)256 << 10) /* shorter transfers cost more than they carry */
#define STAGED    ((size_t)1 << 20)   /* the driver does shorter copies */
/* pinning memory takes 1 ms per slot: it pays after this many bytes were copied */
#define WARM ((size_t)32 << 20)

/* slot - a pinned buffer and the event after its last transfer. */
typedef struct slot {
    void *pin;
    cu_event done;
    bool busy; /* nobody has waited for its last transfer */
} slot;

typedef struct lane {
    cu_stream stream;
    slot slot[SLOTS];
    int next_slot;
    cu_event last; /* recorded after its last transfer of this copy; NULL: it made none */
} lane;

/* td_stage - a device's lanes for one direction.  Made at the first large copy; lives as long
 * as the process. */
struct td_stage {
    cu_event before; /* recorded on the caller's stream when the copy began */
    lane lane[LANES];
};

/* job - one large copy.  On its caller's stack. */
typedef struct job {
    td_cuda *c;
    td_stage *stage;
    bool out; /* from the device */
    char *host;
    td_filler *fill; /* to the device: writes the bytes, in place of host; NULL: host has them */
    void *ctx;
    cu_ptr dev;
    size_t nbytes, chunk;
    atomic_size_t next; /* bytes taken by lanes so far */
    td_failure failure;
} job;

/* ---- through the driver ---- */

/* A copy by the driver.  If others have pinned the host memory, the call returns early, so
 * this function waits. */
static td_status
copy_plain(td_cuda *c, td_stream *s, bool out, char *host, cu_ptr dev, size_t nbytes)
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
    int type = 0; /* the driver does not know pageable memory: the call fails */

    return c->drv->cuPointerGetAttribute(&type, CU_POINTER_MEMORY_TYPE, (cu_ptr)(uintptr_t)p) ==
               0 &&
           type == CU_MEMORY_HOST;
}

/* ---- one lane ---- */

static void
job_fail(job *j, td_status st)
{
    td_failure_note(&j->failure, st);
    atomic_store(&j->next, j->nbytes); /* makes the other lanes stop */
}

/* Makes the slot's buffer and event if it lacks them.  False: the lane has to do without; that
 * is no failure. */
static bool
slot_make(const td_cuda *c, slot *k)
{
    if (!k->done && c->drv->cuEventCreate(&k->done, CU_EVENT_NO_TIMING) != 0)
        return false;
    return k->pin || c->drv->cuMemHostAlloc(&k->pin, CHUNK, 0) == 0;
}

/* Takes the next chunk; *n is 0 if none is left. */
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

/* Records the event of slot k after its transfer. */
static td_status
slot_mark(const td_cuda *c, lane *l, slot *k)
{
    TD_TRY(CU_TRY(c, cuEventRecord, k->done, l->stream));
    k->busy = true;
    l->last = k->done;
    l->next_slot = (l->next_slot + 1) % SLOTS;
    return TD_OK;
}

static td_status
lane_in(job *j, lane *l)
{
    const td_cuda *c = j->c;
    size_t at, n;

    for (;;) {
        slot *k = &l->slot[l->next_slot];

        if (!slot_make(c, k))
            return TD_OK;
        TD_TRY(slot_wait(c, k));
        if (!take_chunk(j, &at, &n))
            return TD_OK;
        if (j->fill)
            TD_TRY(j->fill(j->ctx, at, n, k->pin));
        else
            memcpy(k->pin, j->host + at, n);
        TD_TRY(CU_TRY(c, cuMemcpyHtoDAsync, j->dev + at, k->pin, n, l->stream));
        TD_TRY(slot_mark(c, l, k));
    }
}

/* Waits for slot k's transfer and copies its bytes to their place. */
static td_status
slot_empty(job *j, slot *k, size_t at, size_t n)
{
    if (!n)
        return slot_wait(j->c, k); /* it was a transfer of an earlier copy */
    TD_TRY(slot_wait(j->c, k));
    memcpy(j->host + at, k->pin, n);
    return TD_OK;
}

static td_status
lane_out(job *j, lane *l)
{
    const td_cuda *c = j->c;
    size_t at[SLOTS] = {0}, n[SLOTS] = {0}; /* the chunks in the slots */
    bool more = true;

    while (more) {
        int t = l->next_slot;
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
        int t = (l->next_slot + i) % SLOTS; /* oldest first */

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
        l->stream = NULL; /* the driver makes this copy */
        return TD_OK;
    }
    TD_TRY(CU_TRY(c, cuStreamWaitEvent, l->stream, j->stage->before, 0));
    st = j->out ? lane_out(j, l) : lane_in(j, l);
    if (st) { /* the caller gets his memory back, so no transfer may be under way */
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

/* Makes the caller's stream wait for the lanes; if that fails, waits for them here. */
static td_status
join_lanes(job *j, td_stream *s)
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
lane_count(const job *j)
{
    int n = td_parallel_width(), most = j->fill ? LANES : LANES_COPY;

    return n < most ? n : most;
}

static size_t
chunk_for(size_t nbytes, int lanes)
{
    size_t n = nbytes / (size_t)lanes / 2;

    n = n / CHUNK_MIN * CHUNK_MIN;
    return n < CHUNK_MIN ? CHUNK_MIN : n > CHUNK ? CHUNK : n;
}

/* Copies from `done` on through the driver: what the lanes did not take. */
static td_status
rest(const job *j, td_stream *s, size_t done)
{
    size_t n = j->nbytes - done, most = n < CHUNK ? n : CHUNK;
    td_status st = TD_OK;
    char *tmp;

    if (!j->fill)
        return copy_plain(j->c, s, j->out, j->host + done, j->dev + done, n);
    tmp = malloc(most);
    if (!tmp)
        return td_fail(TD_ERR_NOMEM, "copy to the device: %zu bytes of host memory", most);
    for (size_t at = done; at < j->nbytes && !st; at += n) {
        n = j->nbytes - at < most ? j->nbytes - at : most;
        st = j->fill(j->ctx, at, n, tmp);
        if (!st)
            st = copy_plain(j->c, s, false, tmp, j->dev + at, n);
    }
    free(tmp);
    return st;
}

/* Needs stage_mu and the context. */
static td_status
staged(job *j, td_stream *s)
{
    const td_cuda *c = j->c;
    int lanes = lane_count(j);
    size_t done;
    td_status st, failed;

    j->stage = c->stage[j->out];
    j->chunk = chunk_for(j->nbytes, lanes);
    TD_TRY(CU_TRY(c, cuEventRecord, j->stage->before, s->handle));
    td_failure_init(&j->failure);
    if (j->out)
        td_parallel_beside(lanes, lane_run, j);
    else
        td_parallel(lanes, lane_run, j);
    st = join_lanes(j, s);
    failed = td_failure_end(&j->failure);
    if (failed)
        return failed;
    done = atomic_load(&j->next);
    return !st && done < j->nbytes ? rest(j, s, done) : st;
}

/* The stage, once enough bytes were copied to pay for it.  NULL: not yet, or not possible. */
static td_stage *
stage_get(td_cuda *c, bool out, size_t nbytes)
{
    td_stage *g;

    if (c->stage[out])
        return c->stage[out];
    c->copied[out] += nbytes;
    if (c->copied[out] < WARM)
        return NULL;
    g = calloc(1, sizeof *g);
    if (g && c->drv->cuEventCreate(&g->before, CU_EVENT_NO_TIMING) != 0) {
        free(g);
        g = NULL;
    }
    c->stage[out] = g;
    return g;
}

static td_status
transfer(td_stream *s, job j)
{
    bool pushed;
    td_status st;

    j.c = td_cuda_of(s->dev);
    TD_TRY(td_cuda_enter(j.c, &pushed));
    if (j.nbytes < STAGED || (!j.fill && is_pinned(j.c, j.host))) {
        st = rest(&j, s, 0);
    } else {
        pthread_mutex_lock(&j.c->stage_mu[j.out]);
        st = stage_get(j.c, j.out, j.nbytes) ? staged(&j, s) : rest(&j, s, 0);
        pthread_mutex_unlock(&j.c->stage_mu[j.out]);
    }
    td_cuda_leave(j.c, pushed);
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
    return transfer(
        s, (job){.host = (char *)(uintptr_t)src /* the cast is safe: the memory is only read */,
                 .dev = dst,
                 .nbytes = nbytes});
}

td_status
td_cuda_copy_fill(td_stream *s, uintptr_t dst, size_t nbytes, td_filler *fill, void *ctx)
{
    return transfer(s, (job){.fill = fill, .ctx = ctx, .dev = dst, .nbytes = nbytes});
}

td_status
td_cuda_copy_out(td_stream *s, void *dst, uintptr_t src, size_t nbytes)
{
    return transfer(s, (job){.out = true, .host = dst, .dev = src, .nbytes = nbytes});
}
