/* nccl.c - groups of devices: NCCL, its communicators, and how they end when a process has died.
 *
 * One thread at a time uses a communicator, under its mutex; td_comm_run locks those of all its
 * comms in the order of their addresses.  An abort waits for the mutex only for a while: its
 * holder may be the call that has to be ended.
 */
#include "dev/core/played.h"
#include "dev/lib/ncclparts.h"

#include "dev/core/raw.h"
#include "dev/core/site.h"
#include "dev/foreign/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* how long an abort waits for a thread to return from NCCL, ns */
enum { ABORT_PATIENCE = 500000000 };

/* ---- the library ---- */

static const td_lib_entry symbols[] = {
#define FN(slot, symbol, params) {#symbol, offsetof(td_nccllib, slot)},
    TD_NCCL_FUNCTIONS(FN)
#undef FN
};

static struct {
    td_lib_state state;
    td_nccllib call;
    const char *(*error_text)(int code);
    const char *(*last_error)(void *comm); /* NULL: this version of NCCL has no such function */
    char path[512];
} found = {.state = TD_LIB_STATE};

static td_status
nccl_load(void)
{
    static const td_lib_name names[] = {
        {"libnccl.so.2", 13, "nvidia-nccl-cu13"}, {"libnccl.so.2", 12, "nvidia-nccl-cu12"}, {0}};
    void *lib, *f;

    TD_TRY(td_lib_table(names, symbols, sizeof symbols / sizeof *symbols, &found.call, found.path,
                        sizeof found.path, &lib));
    TD_TRY(td_lib_symbol(lib, "ncclGetErrorString", &f));
    memcpy(&found.error_text, &f, sizeof f);
    f = dlsym(lib, "ncclGetLastError");
    memcpy(&found.last_error, &f, sizeof f);
    return TD_OK;
}

static td_status
nccl_library(const td_dev *d, const td_nccllib **out)
{
    if (d->info.kind == TD_DEV_CPU)
        return td_fail(TD_ERR_VALUE, "NCCL: groups are of GPUs, not of %s", d->info.name);
    *out = d->info.kind == TD_DEV_NULL ? td_player_found()->nccl : &found.call;
    return d->info.kind == TD_DEV_NULL ? TD_OK : td_lib_once(&found.state, nccl_load);
}

/* Texts of NCCL's codes, for the null device. */
static const char *
played_text(int code)
{
    switch (code) {
    case NCCL_SYSTEM_ERROR:     return "unhandled system error";
    case NCCL_INVALID_ARGUMENT: return "invalid argument";
    case NCCL_INVALID_USAGE:    return "invalid usage";
    case NCCL_REMOTE_ERROR:     return "remote process exited or there was a network error";
    default:                    return "unknown result code";
    }
}

td_status
td_comm_status(td_dev *d, void *comm, int code, const char *call)
{
    char why[512];
    bool played = d->info.kind == TD_DEV_NULL;
    const char *last = played || !found.last_error ? "" : found.last_error(comm);

    if (!code || code == NCCL_IN_PROGRESS)
        return TD_OK;
    snprintf(why, sizeof why, "%s%s%s", played ? played_text(code) : found.error_text(code),
             last && *last ? ": " : "", last && *last ? last : "");
    return td_cuda_fail(td_cuda_of(d), code == NCCL_REMOTE_ERROR ? TD_ERR_PEER : TD_ERR_DEVICE, 0,
                        call, why);
}

const char *
td_comm_info(td_dev *d)
{
    const td_nccllib *nccl;
    int v = 0;

    if (d->info.kind != TD_DEV_CUDA)
        return d->info.kind == TD_DEV_NULL ? "played by the host" : "none: CPUs use MPI or sockets";
    if (nccl_library(d, &nccl))
        return td_name_format("%s", td_error());
    (void)nccl->version(&v);
    return td_name_format("NCCL %d.%d.%d, %s", v / 10000, v / 100 % 100, v % 100, found.path);
}

/* ---- joining and leaving ---- */

td_status
td_comm_id(td_dev *d, unsigned char out[TD_COMM_ID])
{
    const td_nccllib *nccl;
    td_nccl_id id;
    bool pushed;
    td_status st;

    _Static_assert(sizeof id == TD_COMM_ID, "an id is an ncclUniqueId");
    TD_TRY(nccl_library(d, &nccl));
    TD_TRY(td_cuda_enter(td_cuda_of(d), &pushed));
    st = td_comm_status(d, NULL, nccl->new_id(&id), "ncclGetUniqueId");
    td_cuda_leave(td_cuda_of(d), pushed);
    memcpy(out, &id, sizeof id);
    return st;
}

static td_status
comm_make(td_dev *d, const td_nccllib *nccl, int rank, int size, td_comm **out)
{
    td_comm *c = calloc(1, sizeof *c);
    td_status st;

    if (!c)
        return td_fail(TD_ERR_NOMEM, "%s: no host memory for a communicator", d->info.name);
    atomic_init(&c->refs, 1);
    atomic_init(&c->limit, UINT64_MAX);
    c->dev = d;
    c->nccl = nccl;
    c->rank = rank;
    c->size = size;
    st = td_stream_make(d, true, INT32_MIN, &c->stream); /* of the highest priority */
    if (st) {
        free(c);
        return st;
    }
    pthread_mutex_init(&c->mu, NULL);
    *out = c;
    return TD_OK;
}

/* Needs the device's context, which NCCL uses for the comm. */
static td_status
comm_join(td_comm *c, td_nccl_id id)
{
    td_nccl_config config = {.size = sizeof config,
                             .magic = NCCL_CONFIG_MAGIC,
                             .version = NCCL_CONFIG_VERSION,
                             .blocking = 1};
    void *handle = NULL;
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(td_cuda_of(c->dev), &pushed));
    st = td_comm_status(c->dev, NULL, c->nccl->init(&handle, c->size, id, c->rank, &config),
                        "ncclCommInitRankConfig");
    atomic_store(&c->handle, handle);
    td_cuda_leave(td_cuda_of(c->dev), pushed);
    return st;
}

/* Lets every device of this process access the others' memory, as NCCL's kernels do. */
static td_status
let_in_all(td_dev *const *d, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (i != k)
                TD_TRY(td_cuda_let_in(td_cuda_of(d[i]), td_cuda_of(d[k])));
    return TD_OK;
}

td_status
td_comm_new(td_dev *const *d, const int *rank, int n, int size, const unsigned char id[TD_COMM_ID],
            td_comm **out)
{
    const td_nccllib *nccl;
    td_nccl_id name;
    td_status st, end;

    TD_TRY(nccl_library(d[0], &nccl));
    for (int i = 1; i < n; i++)
        if (!td_dev_peers(d[0], d[i]))
            return td_fail(TD_ERR_VALUE, "a group of %s and %s: different devices of one kind",
                           d[0]->info.name, d[i]->info.name);
    TD_TRY(let_in_all(d, n));
    memcpy(&name, id, sizeof name);
    memset(out, 0, (size_t)n * sizeof *out);
    st = TD_OK;
    for (int i = 0; i < n && !st; i++)
        st = comm_make(d[i], nccl, rank[i], size, &out[i]);
    if (!st)
        st = td_comm_status(d[0], NULL, nccl->group_start(), "ncclGroupStart");
    if (!st) {
        for (int i = 0; i < n && !st; i++)
            st = comm_join(out[i], name);
        end = td_comm_status(d[0], NULL, nccl->group_end(), "ncclGroupEnd");
        st = st ? st : end;
    }
    for (int i = 0; st && i < n; i++) {
        td_comm_free(out[i]);
        out[i] = NULL;
    }
    return st;
}

td_comm *
td_comm_ref(td_comm *c)
{
    atomic_fetch_add(&c->refs, 1);
    return c;
}

void
td_comm_unref(td_comm *c)
{
    if (atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    td_stream_free(c->stream);
    pthread_mutex_destroy(&c->mu);
    free(c);
}

void
td_comm_free(td_comm *c)
{
    void *handle;
    bool pushed, broken;

    if (!c)
        return;
    if (c->handle && td_cuda_enter(td_cuda_of(c->dev), &pushed) == TD_OK) {
        broken = c->dev->ops->sync(c->dev) || td_comm_check(c);
        pthread_mutex_lock(&c->mu); /* the replay of a graph may be calling it */
        handle = atomic_exchange(&c->handle, NULL);
        pthread_mutex_unlock(&c->mu);
        if (handle)
            (void)(broken ? c->nccl->abort : c->nccl->destroy)(handle);
        td_cuda_leave(td_cuda_of(c->dev), pushed);
    }
    td_comm_unref(c);
}

td_dev *
td_comm_dev(const td_comm *c)
{
    return c->dev;
}

td_stream *
td_comm_stream(const td_comm *c)
{
    return c->stream;
}

/* ---- ending a broken communicator ---- */

td_commcount
td_comm_count(const td_comm *c)
{
    return (td_commcount){atomic_load(&c->begun), atomic_load(&c->back)};
}

void
td_comm_left(td_comm *c, int rank, uint64_t count)
{
    atomic_store(&c->gone, rank);
    if (count < atomic_load(&c->limit))
        atomic_store(&c->limit, count);
}

td_status
td_comm_ended(td_comm *c)
{
    if (!atomic_load(&c->aborted))
        return td_fail(TD_ERR_PEER, "%s: the group was closed", c->dev->info.name);
    td_dev_mend(c->dev);
    return td_fail(TD_ERR_PEER, "%s: the group is broken: %s", c->dev->info.name, c->why);
}

td_status
td_comm_check(td_comm *c)
{
    int code = 0;
    td_status st = TD_OK;

    if (atomic_load(&c->aborted))
        return td_comm_ended(c);
    if (pthread_mutex_trylock(&c->mu))
        return TD_OK; /* another thread is calling NCCL: that call reports the failure */
    if (c->handle)
        st = td_comm_status(c->dev, c->handle, c->nccl->async_error(c->handle, &code),
                            "ncclCommGetAsyncError");
    if (!st)
        st = td_comm_status(c->dev, c->handle, code, "NCCL");
    pthread_mutex_unlock(&c->mu);
    return st ? td_fail(TD_ERR_PEER, "%s", td_error()) : TD_OK;
}

void
td_comm_abort(td_comm *c, const char *why)
{
    struct timespec until;
    bool locked, pushed;
    void *handle;

    if (atomic_exchange(&c->aborting, true))
        return;
    snprintf(c->why, sizeof c->why, "%s", why);
    atomic_store(&c->aborted, true);
    /* set before its work ends, so that no waiter takes the work for done */
    td_dev_break(c->dev, why);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ABORT_PATIENCE;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    locked = pthread_mutex_timedlock(&c->mu, &until) == 0;
    handle = atomic_exchange(&c->handle, NULL);
    if (handle && td_cuda_enter(td_cuda_of(c->dev), &pushed) == TD_OK) {
        (void)c->nccl->abort(handle); /* the comm is gone whatever abort returns */
        td_cuda_leave(td_cuda_of(c->dev), pushed);
    }
    if (locked)
        pthread_mutex_unlock(&c->mu);
}
