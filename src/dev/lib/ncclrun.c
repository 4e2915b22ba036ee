/* ncclrun.c - collectives in terms of NCCL's functions, and calls that are made together. */
#include "dev/core/work.h"
#include "dev/lib/ncclparts.h"

#include <stdlib.h>
#include <string.h>

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
    int nccl, boolean; /* boolean: the operation that does the same to bytes of 0 or 1 */
} reductions[] = {
    [TD_COMM_sum] = {"sum", NCCL_SUM, NCCL_MAX},   [TD_COMM_prod] = {"prod", NCCL_PROD, NCCL_MIN},
    [TD_COMM_max] = {"max", NCCL_MAX, NCCL_MAX},   [TD_COMM_min] = {"min", NCCL_MIN, NCCL_MIN},
    [TD_COMM_mean] = {"mean", NCCL_AVG, NCCL_AVG},
};

/* 1 + NCCL's number of the type; 0: NCCL does not compute with it. */
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
    return atomic_load(&k->comm->aborted) ? td_comm_ended(k->comm) : TD_OK;
}

/* Needs the comm's context and mutex. */
static int
comm_call(const td_comm_call *k)
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
    st = td_comm_status(k->comm->dev, k->comm->handle, comm_call(k), op_names[k->op]);
    td_cuda_leave(c, pushed);
    return st;
}

static int
by_address(const void *x, const void *y)
{
    uintptr_t a = (uintptr_t)*(td_comm *const *)x, b = (uintptr_t)*(td_comm *const *)y;

    return (a > b) - (a < b);
}

/* Lists the comms of the calls, each once; returns how many. */
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
    st = td_comm_status(d, NULL, nccl->group_start(), "ncclGroupStart");
    if (!st) {
        for (int i = 0; i < s->n && !st; i++)
            st = run_one(&s->call[i]);
        end = td_comm_status(d, NULL, nccl->group_end(), "ncclGroupEnd");
        st = st ? st : end;
    }
    td_cuda_leave(td_cuda_of(d), pushed);
    return st;
}

/* How many of c's calls are collectives of all members. */
static uint64_t
collectives_of(const td_comm *c, const td_comm_set *s)
{
    uint64_t k = 0;

    for (int i = 0; i < s->n; i++)
        k += s->call[i].comm == c && s->call[i].op != TD_COMM_send && s->call[i].op != TD_COMM_recv;
    return k;
}

/* c's mutex is held, so c stays open. */
static td_status
count_begun(td_comm *c, const td_comm_set *s)
{
    uint64_t k = collectives_of(c, s);

    if (!c->handle)
        return td_comm_ended(c);
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
        if (atomic_load(&comm[i]->aborted)) /* aborted during the call: that is the reason */
            st = td_comm_ended(comm[i]);
    return st;
}

/* Are all calls on one stream of one comm? */
static bool
on_one_stream(const td_comm_set *s)
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

    if (on_one_stream(s))
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
    if (on_one_stream(&s))
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
