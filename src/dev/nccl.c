/* nccl.c - groups of devices: NCCL, its communicators, collectives, and how they end when a process has died.
 *
 * A communicator is used by one thread at a time, under its mutex; td_comm_run takes those of all its comms in the order of
 * their addresses.  Abort does not wait for the mutex for ever: who holds it may be what has to be ended.
 */
#include "dev/nccl.h"

#include "dev/cuda.h"
#include "dev/library.h"
#include "dev/nccllib.h"
#include "dev/raw.h"
#include "dev/work.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ABORT_PATIENCE = 500000000 }; /* ns that an abort waits for a thread to come out of NCCL */

/* td_comm - refcounted: its owner's and those of tapes.  Abort may come from another thread as long as the owner has it. */
struct td_comm {
    atomic_int refs;
    td_dev *dev;
    const td_nccllib *nccl;
    td_stream *stream;
    int rank, size;
    pthread_mutex_t mu; /* guards handle, while NCCL is called */
    void *handle;       /* ncclComm_t; NULL: it has been ended */
    _Atomic uint64_t begun, back;
    _Atomic uint64_t limit; /* collectives that all members were there for */
    atomic_int gone;        /* whose leaving set the limit */
    atomic_bool aborted;
    char why[256]; /* written before aborted is set */
};

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
    const char *(*last_error)(void *comm); /* NULL: this NCCL has none */
    char path[512];
} found = {.state = TD_LIB_STATE};

static td_status
load(void)
{
    static const char *const names[] = {"libnccl.so.2", NULL};
    void *lib, *f;

    TD_TRY(td_lib_table(names, "nvidia-nccl-cu13 (CUDA 12: nvidia-nccl-cu12)", symbols,
                        sizeof symbols / sizeof *symbols, &found.call, found.path,
                        sizeof found.path, &lib));
    TD_TRY(td_lib_symbol(lib, "ncclGetErrorString", &f));
    memcpy(&found.error_text, &f, sizeof f);
    f = dlsym(lib, "ncclGetLastError");
    memcpy(&found.last_error, &f, sizeof f);
    return TD_OK;
}

static td_status
library(const td_dev *d, const td_nccllib **out)
{
    if (d->info.kind == TD_DEV_CPU)
        return td_fail(TD_ERR_VALUE, "NCCL: groups are of GPUs, not of %s", d->info.name);
    *out = d->info.kind == TD_DEV_NULL ? &td_null_nccl : &found.call;
    return d->info.kind == TD_DEV_NULL ? TD_OK : td_lib_once(&found.state, load);
}

/* The null device's words for NCCL's codes. */
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

static td_status
status_of(td_dev *d, void *comm, int code, const char *call)
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
    static _Thread_local char text[640];
    const td_nccllib *nccl;
    int v = 0;

    if (d->info.kind != TD_DEV_CUDA)
        return d->info.kind == TD_DEV_NULL ? "played by the host" : "none: CPUs use MPI or sockets";
    if (library(d, &nccl)) {
        snprintf(text, sizeof text, "%s", td_error());
        return text;
    }
    (void)nccl->version(&v);
    snprintf(text, sizeof text, "NCCL %d.%d.%d, %s", v / 10000, v / 100 % 100, v % 100, found.path);
    return text;
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
    TD_TRY(library(d, &nccl));
    TD_TRY(td_cuda_enter(td_cuda_of(d), &pushed));
    st = status_of(d, NULL, nccl->new_id(&id), "ncclGetUniqueId");
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
    st = td_stream_make(d, true, INT32_MIN, &c->stream); /* the most urgent there is */
    if (st) {
        free(c);
        return st;
    }
    pthread_mutex_init(&c->mu, NULL);
    *out = c;
    return TD_OK;
}

/* In the device's context, which NCCL takes for the comm's. */
static td_status
comm_join(td_comm *c, td_nccl_id id)
{
    td_nccl_config config = {.size = sizeof config,
                             .magic = NCCL_CONFIG_MAGIC,
                             .version = NCCL_CONFIG_VERSION,
                             .blocking = 1};
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(td_cuda_of(c->dev), &pushed));
    st = status_of(c->dev, NULL, c->nccl->init(&c->handle, c->size, id, c->rank, &config),
                   "ncclCommInitRankConfig");
    td_cuda_leave(td_cuda_of(c->dev), pushed);
    return st;
}

/* NCCL's kernels read and write the memory of all devices of this process. */
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

    TD_TRY(library(d[0], &nccl));
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
        st = status_of(d[0], NULL, nccl->group_start(), "ncclGroupStart");
    if (!st) {
        for (int i = 0; i < n && !st; i++)
            st = comm_join(out[i], name);
        end = status_of(d[0], NULL, nccl->group_end(), "ncclGroupEnd");
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
        pthread_mutex_lock(&c->mu); /* a graph's replay may be calling it */
        handle = c->handle;
        c->handle = NULL;
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

/* ---- the end of a broken one ---- */

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

/* The caller is told: then the next wait need not tell it once more. */
static td_status
was_aborted(td_comm *c)
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
        return was_aborted(c);
    if (pthread_mutex_trylock(&c->mu))
        return TD_OK; /* NCCL is being called: that call tells */
    if (c->handle)
        st = status_of(c->dev, c->handle, c->nccl->async_error(c->handle, &code),
                       "ncclCommGetAsyncError");
    if (!st)
        st = status_of(c->dev, c->handle, code, "NCCL");
    pthread_mutex_unlock(&c->mu);
    return st ? td_fail(TD_ERR_PEER, "%s", td_error()) : TD_OK;
}

void
td_comm_abort(td_comm *c, const char *why)
{
    struct timespec until;
    bool locked, pushed;
    void *handle;

    if (atomic_load(&c->aborted))
        return;
    snprintf(c->why, sizeof c->why, "%s", why);
    atomic_store(&c->aborted, true);
    td_dev_break(c->dev,
                 why); /* before its work ends: who waits for that must not take it for done */
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ABORT_PATIENCE;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    locked = pthread_mutex_timedlock(&c->mu, &until) == 0;
    handle = c->handle;
    c->handle = NULL;
    if (handle && td_cuda_enter(td_cuda_of(c->dev), &pushed) == TD_OK) {
        (void)c->nccl->abort(handle); /* what it returns tells nothing more */
        td_cuda_leave(td_cuda_of(c->dev), pushed);
    }
    if (locked)
        pthread_mutex_unlock(&c->mu);
}

/* ---- collectives ---- */

static const char *const op_names[TD_COMM_OPS] = {
    [TD_COMM_all_reduce] = "all_reduce",
    [TD_COMM_reduce] = "reduce",
    [TD_COMM_broadcast] = "broadcast",
    [TD_COMM_all_gather] = "all_gather",
    [TD_COMM_reduce_scatter] = "reduce_scatter",
    [TD_COMM_send] = "send",
    [TD_COMM_recv] = "recv",
};

static const struct reduction {
    const char *name;
    int nccl, boolean; /* boolean: what it is of bytes that are 0 or 1 */
} reductions[] = {
    [TD_COMM_sum] = {"sum", NCCL_SUM, NCCL_MAX},   [TD_COMM_prod] = {"prod", NCCL_PROD, NCCL_MIN},
    [TD_COMM_max] = {"max", NCCL_MAX, NCCL_MAX},   [TD_COMM_min] = {"min", NCCL_MIN, NCCL_MIN},
    [TD_COMM_mean] = {"mean", NCCL_AVG, NCCL_AVG},
};

/* 1 + the type's number; 0: NCCL does not compute with it. */
static const unsigned char types[TD_DTYPE_COUNT] = {
    [TD_BOOL] = 1 + NCCL_UINT8,  [TD_I8] = 1 + NCCL_INT8,       [TD_U8] = 1 + NCCL_UINT8,
    [TD_I32] = 1 + NCCL_INT32,   [TD_U32] = 1 + NCCL_UINT32,    [TD_I64] = 1 + NCCL_INT64,
    [TD_U64] = 1 + NCCL_UINT64,  [TD_F16] = 1 + NCCL_FLOAT16,   [TD_F32] = 1 + NCCL_FLOAT32,
    [TD_F64] = 1 + NCCL_FLOAT64, [TD_BF16] = 1 + NCCL_BFLOAT16,
};

bool
td_comm_reduces(td_dtype dt)
{
    return types[dt] != 0;
}

int
td_comm_find(const char *op)
{
    for (int i = 0; i < TD_COMM_OPS; i++)
        if (strcmp(op_names[i], op) == 0)
            return i;
    return -1;
}

int
td_comm_find_red(const char *red)
{
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (strcmp(reductions[i].name, red) == 0)
            return (int)i;
    return -1;
}

static td_status
check_call(const td_comm_call *k)
{
    bool reduces =
        k->op == TD_COMM_all_reduce || k->op == TD_COMM_reduce || k->op == TD_COMM_reduce_scatter;

    if (k->peer < 0 || k->peer >= k->comm->size)
        return td_fail(TD_ERR_VALUE, "%s: there is no rank %d in a group of %d", op_names[k->op],
                       k->peer, k->comm->size);
    if (reduces && !types[k->dt])
        return td_fail(TD_ERR_TYPE, "%s: NCCL does not compute with %s", op_names[k->op],
                       td_dtype_name(k->dt));
    if (k->stream->dev != k->comm->dev)
        return td_fail(TD_ERR_VALUE, "%s: a stream of %s for a group on %s", op_names[k->op],
                       k->stream->dev->info.name, k->comm->dev->info.name);
    return atomic_load(&k->comm->aborted) ? was_aborted(k->comm) : TD_OK;
}

/* In the comm's context, its mutex held. */
static int
call(const td_comm_call *k)
{
    const td_nccllib *n = k->comm->nccl;
    const void *src = (const void *)k->src; // NOLINT(performance-no-int-to-ptr)
    void *dst = (void *)k->dst;             // NOLINT(performance-no-int-to-ptr)
    void *comm = k->comm->handle, *s = k->stream->handle;
    const struct reduction *r = &reductions[k->red];
    int red = k->dt == TD_BOOL ? r->boolean : r->nccl, type = types[k->dt] - 1;
    size_t nbytes = k->count * td_dtype_size(k->dt);

    switch (k->op) {
    case TD_COMM_all_reduce:     return n->all_reduce(src, dst, k->count, type, red, comm, s);
    case TD_COMM_reduce:         return n->reduce(src, dst, k->count, type, red, k->peer, comm, s);
    case TD_COMM_broadcast:      return n->broadcast(src, dst, nbytes, NCCL_INT8, k->peer, comm, s);
    case TD_COMM_all_gather:     return n->all_gather(src, dst, nbytes, NCCL_INT8, comm, s);
    case TD_COMM_reduce_scatter: return n->reduce_scatter(src, dst, k->count, type, red, comm, s);
    case TD_COMM_send:           return n->send(src, nbytes, NCCL_INT8, k->peer, comm, s);
    case TD_COMM_recv:           return n->recv(dst, nbytes, NCCL_INT8, k->peer, comm, s);
    case TD_COMM_OPS:            break;
    }
    td_bug(__FILE__, __LINE__, "kind of collective");
}

static td_status
run_one(const td_comm_call *k)
{
    td_cuda *c = td_cuda_of(k->comm->dev);
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    (void)td_cuda_launched(c, k->stream, "NCCL", op_names[k->op]);
    st = status_of(k->comm->dev, k->comm->handle, call(k), op_names[k->op]);
    td_cuda_leave(c, pushed);
    return st;
}

static int
by_address(const void *x, const void *y)
{
    uintptr_t a = (uintptr_t)*(td_comm *const *)x, b = (uintptr_t)*(td_comm *const *)y;

    return (a > b) - (a < b);
}

/* The comms of the calls, each once; returns how many. */
static int
comms_of(const td_comm_set *s, td_comm **out)
{
    int m = 0;

    for (int i = 0; i < s->n; i++)
        out[i] = s->call[i].comm;
    qsort(out, (size_t)s->n, sizeof *out, by_address);
    for (int i = 0; i < s->n; i++)
        if (!m || out[m - 1] != out[i])
            out[m++] = out[i];
    return m;
}

static td_status
run_all(const td_comm_set *s)
{
    const td_nccllib *nccl = s->call[0].comm->nccl;
    td_dev *d = s->call[0].comm->dev;
    bool pushed;
    td_status st, end;

    if (s->n == 1)
        return run_one(s->call);
    TD_TRY(td_cuda_enter(td_cuda_of(d), &pushed));
    st = status_of(d, NULL, nccl->group_start(), "ncclGroupStart");
    if (!st) {
        for (int i = 0; i < s->n && !st; i++)
            st = run_one(&s->call[i]);
        end = status_of(d, NULL, nccl->group_end(), "ncclGroupEnd");
        st = st ? st : end;
    }
    td_cuda_leave(td_cuda_of(d), pushed);
    return st;
}

/* The calls of c that all members make. */
static uint64_t
collectives_of(const td_comm *c, const td_comm_set *s)
{
    uint64_t k = 0;

    for (int i = 0; i < s->n; i++)
        k += s->call[i].comm == c && s->call[i].op != TD_COMM_send && s->call[i].op != TD_COMM_recv;
    return k;
}

/* c's mutex is held, so it stays open. */
static td_status
count_begun(td_comm *c, const td_comm_set *s)
{
    uint64_t k = collectives_of(c, s);

    if (!c->handle)
        return was_aborted(c);
    if (k && atomic_load(&c->begun) + k > atomic_load(&c->limit))
        return td_fail(TD_ERR_PEER, "%s: rank %d has left the group", c->dev->info.name,
                       atomic_load(&c->gone));
    atomic_fetch_add(&c->begun, k);
    return TD_OK;
}

/* comm: the m comms of s, in the order of their addresses. */
static td_status
run_locked(td_comm *const *comm, int m, const td_comm_set *s)
{
    td_status st = TD_OK;

    for (int i = 0; i < m; i++)
        pthread_mutex_lock(&comm[i]->mu);
    for (int i = 0; i < m && !st; i++)
        st = count_begun(comm[i], s);
    st = st ? st : run_all(s);
    for (int i = m; i-- > 0;) {
        atomic_store(&comm[i]->back, atomic_load(&comm[i]->begun));
        pthread_mutex_unlock(&comm[i]->mu);
    }
    for (int i = 0; i < m && !st; i++)
        if (comm[i]->dev->sync)
            st = td_stream_sync(comm[i]->stream);
    for (int i = 0; i < m; i++)
        if (atomic_load(&comm[i]->aborted)) /* while it was called: that is the reason */
            st = was_aborted(comm[i]);
    return st;
}

/* Do all calls stand on one stream of one comm? */
static bool
is_one(const td_comm_set *s)
{
    for (int i = 1; i < s->n; i++)
        if (s->call[i].comm != s->call[0].comm || s->call[i].stream != s->call[0].stream)
            return false;
    return true;
}

td_status
td_comm_do(const td_comm_set *s)
{
    td_comm **comm;
    td_status st;

    if (is_one(s))
        return run_locked(&s->call[0].comm, 1, s);
    comm = malloc((size_t)s->n * sizeof(td_comm *));
    if (!comm)
        return td_fail(TD_ERR_NOMEM, "no host memory for %d collectives", s->n);
    st = run_locked(comm, comms_of(s, comm), s);
    free(comm);
    return st;
}

td_status
td_comm_run(const td_comm_call *calls, int n)
{
    td_comm_set s = {calls, n};
    size_t nbytes = 0;

    if (n < 1)
        return TD_OK;
    for (int i = 0; i < n; i++) {
        TD_TRY(check_call(&calls[i]));
        nbytes += calls[i].count * td_dtype_size(calls[i].dt);
    }
    if (is_one(&s))
        return td_work_do(calls[0].stream,
                          &(td_work){.kind = TD_TRACE_collective, .comm = &s, .nbytes = nbytes});
    TD_TRY(td_tape_refuse("a collective of several devices"));
    return td_comm_do(&s);
}

const char *
td_comm_name(const td_comm_set *s)
{
    return op_names[s->call[0].op];
}
