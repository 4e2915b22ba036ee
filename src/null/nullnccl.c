/* nullnccl.c - NCCL for the null device: the host computes, between threads and between
 * processes.
 *
 * The members of a group share a file without a name, which the id names (/proc/PID/fd/N).  In a
 * collective, every member puts its data into its own slot, waits for the others' data, and
 * computes its own result.  Sends go through a box for each pair.  A call returns when it is
 * done, where NCCL would leave it waiting on the stream.  The calls of a group run together, as
 * in NCCL.
 */
#include "dev/lib/nccllib.h"
#include "null/nulldrv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SLOT                                                                                       \
    ((size_t)16 << 20) /* bytes that a rank can give at once; no page exists before it is touched */
#define BOX ((size_t)64 << 10)

enum { MOST = 64, JOIN_SECONDS = 30, CUDA_ERROR = 1 };

typedef enum kind { ALL_REDUCE, REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, SEND, RECV } kind;

/* what - the parameters of a collective, which all members must give alike. */
typedef struct what {
    int kind, type, op, root;
    size_t count;
} what;

/* box - data from one rank to another, piece by piece. */
typedef struct box {
    atomic_uint put, taken;
    size_t nbytes;
} box;

/* world - the head of the shared file; slots and boxes follow it. */
typedef struct world {
    atomic_int joined;
    atomic_bool closed; /* its maker's descriptor */
    struct member {
        /* collectives for which the rank has put its data; whose results it has read */
        atomic_uint put, read;
        what what;
    } member[MOST];
    box box[MOST][MOST];
} world;

/* ident - the contents of an id. */
typedef struct ident {
    int64_t pid, fd;
} ident;

typedef struct comm {
    world *w;
    size_t nbytes;
    ident id;
    int rank, size, device;
    unsigned given;    /* collectives begun */
    atomic_int users;  /* threads inside a call */
    atomic_bool ended; /* aborted */
} comm;

/* job - a call of a group, and how far it has come. */
typedef struct job {
    comm *c;
    what what;
    const char *src;
    char *dst;
    void *stream;
    size_t moved; /* bytes of a send or receive so far */
    unsigned number;
    bool put, done;
} job;

static _Thread_local struct {
    int depth;
    job *job;
    comm **joining;
    size_t njob, njoining;
} group;

static char *
rank_slot(const comm *c, int rank)
{
    return (char *)(c->w + 1) + (size_t)rank * SLOT;
}

static char *
box_of(const comm *c, int from, int to)
{
    return (char *)(c->w + 1) + (size_t)c->size * SLOT + (size_t)(from * c->size + to) * BOX;
}

static void
rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

/* ---- collectives ---- */

/* Elements that a rank gives, and that it gets. */
static size_t
given(const job *j)
{
    size_t n = (size_t)j->c->size;

    switch (j->what.kind) {
    case REDUCE_SCATTER: return j->what.count * n;
    case BROADCAST:      return j->c->rank == j->what.root ? j->what.count : 0;
    case RECV:           return 0;
    default:             return j->what.count;
    }
}

static size_t
gotten(const job *j)
{
    switch (j->what.kind) {
    case ALL_GATHER: return j->what.count * (size_t)j->c->size;
    case REDUCE:     return j->c->rank == j->what.root ? j->what.count : 0;
    case SEND:       return 0;
    default:         return j->what.count;
    }
}

static void
null_comm_compute(const job *j)
{
    const comm *c = j->c;
    const what *k = &j->what;
    size_t size = td_nccl_size[k->type],
           first = k->kind == REDUCE_SCATTER ? k->count * (size_t)c->rank : 0;
    const char *from[MOST];

    for (int r = 0; r < c->size; r++)
        from[r] = rank_slot(c, r) + first * size;
    if (k->kind == BROADCAST)
        memcpy(j->dst, rank_slot(c, k->root), k->count * size);
    else if (k->kind == ALL_GATHER)
        for (int r = 0; r < c->size; r++)
            memcpy(j->dst + (size_t)r * k->count * size, rank_slot(c, r), k->count * size);
    else
        td_null_combine(k->type, k->op, from, c->size, gotten(j), j->dst);
}

static bool
all_reached(const comm *c, unsigned number, bool read)
{
    for (int r = 0; r < c->size; r++) {
        struct member *m = &c->w->member[r];

        if (atomic_load(read ? &m->read : &m->put) < number)
            return false;
    }
    return true;
}

/* Advances a collective; true: it made progress. */
static bool
step_collective(job *j, int *code)
{
    comm *c = j->c;
    struct member *me = &c->w->member[c->rank];

    if (!j->put) {
        if (!all_reached(c, j->number - 1, true))
            return false;
        me->what = j->what;
        memcpy(rank_slot(c, c->rank), j->src, given(j) * td_nccl_size[j->what.type]);
        atomic_store(&me->put, j->number);
        j->put = true;
        return true;
    }
    if (!all_reached(c, j->number, false))
        return false;
    for (int r = 0; r < c->size; r++)
        if (memcmp(&c->w->member[r].what, &j->what, sizeof j->what) != 0)
            /* NCCL would not notice: it would hang, or give nonsense */
            *code = NCCL_INVALID_ARGUMENT;
    if (!*code)
        null_comm_compute(j);
    atomic_store(&me->read, j->number);
    j->done = true;
    return true;
}

/* ---- sends and receives ---- */

static bool
step_message(job *j, int *code)
{
    comm *c = j->c;
    bool sends = j->what.kind == SEND;
    int from = sends ? c->rank : j->what.root, to = sends ? j->what.root : c->rank;
    size_t nbytes = j->what.count * td_nccl_size[j->what.type], left = nbytes - j->moved;
    box *b = &c->w->box[from][to];

    if ((atomic_load(&b->put) == atomic_load(&b->taken)) != sends)
        return false;
    if (sends) {
        b->nbytes = left < BOX ? left : BOX;
        memcpy(box_of(c, from, to), j->src + j->moved, b->nbytes);
    } else if (b->nbytes > left) {
        *code = NCCL_INVALID_USAGE;
        return true;
    } else {
        memcpy(j->dst + j->moved, box_of(c, from, to), b->nbytes);
    }
    j->moved += b->nbytes;
    j->done = j->moved == nbytes;
    atomic_fetch_add(sends ? &b->put : &b->taken, 1);
    return true;
}

/* ---- groups ---- */

static bool
is_message(const job *j)
{
    return j->what.kind == SEND || j->what.kind == RECV;
}

/* Must an earlier call of the group finish before j? */
static bool
is_behind(const job *all, const job *j)
{
    for (const job *i = all; i < j; i++)
        if (!i->done && i->c == j->c && is_message(i) == is_message(j) &&
            (!is_message(j) || (i->what.kind == j->what.kind && i->what.root == j->what.root)))
            return true;
    return false;
}

static int
nullnccl_run(job *all, size_t n)
{
    int code = 0;
    size_t done = 0;

    while (done < n && !code) {
        bool moved = false;

        done = 0;
        for (job *j = all; j < all + n && !code; j++) {
            if (!j->done && !is_behind(all, j))
                moved |= is_message(j) ? step_message(j, &code) : step_collective(j, &code);
            if (atomic_load(&j->c->ended))
                code = NCCL_REMOTE_ERROR;
            done += j->done;
        }
        if (!moved)
            rest();
    }
    return code;
}

/* Does the streams' earlier work first. */
static int
wait_for_streams(const job *j)
{
    size_t size = td_nccl_size[j->what.type];
    int r = td_null_push(td_null_context(j->c->device));
    cu_ctx old;

    if (r)
        return CUDA_ERROR;
    r = td_null_due(NULL_cuLaunchKernel); /* which is what NCCL does */
    r = r ? r : td_null_stream_ok(j->stream);
    r = r ? r : td_null_finish(j->stream);
    r = r || !given(j) ? r : td_null_mem_check((uintptr_t)j->src, given(j) * size);
    r = r || !gotten(j) ? r : td_null_mem_check((uintptr_t)j->dst, gotten(j) * size);
    (void)td_null_pop(&old);
    return r ? CUDA_ERROR : 0;
}

static int
run_jobs(job *all, size_t n)
{
    int code = 0;

    for (size_t i = 0; i < n; i++)
        atomic_fetch_add(&all[i].c->users, 1);
    for (size_t i = 0; i < n && !code; i++)
        code = wait_for_streams(&all[i]);
    for (size_t i = 0; i < n && !code; i++)
        if (!is_message(&all[i])) /* calls that fail before they begin are not counted */
            all[i].number = ++all[i].c->given;
    if (!code)
        code = nullnccl_run(all, n);
    for (size_t i = 0; i < n; i++)
        atomic_fetch_sub(&all[i].c->users, 1);
    return code;
}

static int
wait_joined(const comm *c)
{
    time_t until = time(NULL) + JOIN_SECONDS;

    while (atomic_load(&c->w->joined) < c->size) {
        if (time(NULL) > until)
            return NCCL_SYSTEM_ERROR;
        rest();
    }
    if (c->id.pid == getpid() && !atomic_exchange(&c->w->closed, true))
        close((int)c->id.fd);
    return 0;
}

static int
group_start(void)
{
    group.depth++;
    return 0;
}

static int
group_end(void)
{
    int code = 0;

    if (group.depth < 1)
        return NCCL_INVALID_USAGE;
    if (--group.depth)
        return 0;
    for (size_t i = 0; i < group.njoining && !code; i++)
        code = wait_joined(group.joining[i]);
    if (!code)
        code = run_jobs(group.job, group.njob);
    free(group.job);
    free((void *)group.joining);
    memset(&group, 0, sizeof group);
    return code;
}

static int
queue_job(comm *c, job j)
{
    job *all;

    j.c = c;
    if (!c || j.what.count > SLOT / td_nccl_size[j.what.type] / (size_t)c->size)
        return NCCL_INVALID_ARGUMENT;
    if (atomic_load(&c->ended))
        return NCCL_REMOTE_ERROR;
    j.done = !j.what.count && is_message(&j);
    all = realloc(group.job, (group.njob + 1) * sizeof *all);
    if (!all)
        return NCCL_SYSTEM_ERROR;
    group.job = all;
    all[group.njob++] = j;
    if (group.depth)
        return 0;
    group.depth = 1;
    return group_end();
}

/* ---- NCCL's functions ---- */

static int
null_nccl_version(int *v)
{
    *v = 22800;
    return 0;
}

static int
new_id(td_nccl_id *id)
{
    ident i = {.pid = getpid(), .fd = memfd_create("treadle-null-nccl", MFD_CLOEXEC)};

    memset(id, 0, sizeof *id);
    memcpy(id, &i, sizeof i);
    return i.fd < 0 ? NCCL_SYSTEM_ERROR : 0;
}

static int
open_world(comm *c)
{
    char path[64];
    void *p = MAP_FAILED;
    int fd;

    c->nbytes = sizeof(world) + (size_t)c->size * SLOT + (size_t)(c->size * c->size) * BOX;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)c->id.pid, (long long)c->id.fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)c->nbytes) == 0)
        p = mmap(NULL, c->nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    c->w = p == MAP_FAILED ? NULL : p;
    return c->w ? 0 : NCCL_SYSTEM_ERROR;
}

static int
init(void **out, int size, td_nccl_id id, int rank, td_nccl_config *config)
{
    comm *c = calloc(1, sizeof *c), **joining;
    int code;

    *out = NULL;
    if (!c || size < 1 || size > MOST || rank < 0 || rank >= size || !td_null_current() ||
        config->magic != NCCL_CONFIG_MAGIC) {
        free(c);
        return NCCL_INVALID_ARGUMENT;
    }
    memcpy(&c->id, &id, sizeof c->id);
    c->size = size;
    c->rank = rank;
    c->device = td_null_device();
    code = open_world(c);
    joining = code ? NULL : realloc((void *)group.joining, (group.njoining + 1) * sizeof(comm *));
    if (!joining) {
        if (c->w)
            munmap(c->w, c->nbytes);
        free(c);
        return NCCL_SYSTEM_ERROR;
    }
    atomic_fetch_add(&c->w->joined, 1);
    group.joining = joining;
    joining[group.njoining++] = c;
    *out = c;
    if (group.depth)
        return 0;
    group.depth = 1;
    return group_end();
}

static int
null_comm_destroy(void *comm_)
{
    comm *c = comm_;

    while (atomic_load(&c->users))
        rest();
    munmap(c->w, c->nbytes);
    free(c);
    return 0;
}

/* Makes threads return from their calls. */
static int
null_comm_end(void *comm_)
{
    atomic_store(&((comm *)comm_)->ended, true);
    return null_comm_destroy(comm_);
}

static int
async_error(void *c, int *code)
{
    *code = atomic_load(&((comm *)c)->ended) ? NCCL_REMOTE_ERROR : 0;
    return 0;
}

static int
all_reduce(const void *src, void *dst, size_t count, int type, int op, void *c, void *s)
{
    return queue_job(
        c, (job){.what = {ALL_REDUCE, type, op, 0, count}, .src = src, .dst = dst, .stream = s});
}

static int
null_reduce(const void *src, void *dst, size_t count, int type, int op, int root, void *c, void *s)
{
    return queue_job(
        c, (job){.what = {REDUCE, type, op, root, count}, .src = src, .dst = dst, .stream = s});
}

static int
null_broadcast(const void *src, void *dst, size_t count, int type, int root, void *c, void *s)
{
    return queue_job(
        c, (job){.what = {BROADCAST, type, 0, root, count}, .src = src, .dst = dst, .stream = s});
}

static int
all_gather(const void *src, void *dst, size_t count, int type, void *c, void *s)
{
    return queue_job(
        c, (job){.what = {ALL_GATHER, type, 0, 0, count}, .src = src, .dst = dst, .stream = s});
}

static int
reduce_scatter(const void *src, void *dst, size_t count, int type, int op, void *c, void *s)
{
    return queue_job(
        c,
        (job){.what = {REDUCE_SCATTER, type, op, 0, count}, .src = src, .dst = dst, .stream = s});
}

static int
send_(const void *src, size_t count, int type, int peer, void *c, void *s)
{
    return queue_job(c, (job){.what = {SEND, type, 0, peer, count}, .src = src, .stream = s});
}

static int
recv_(void *dst, size_t count, int type, int peer, void *c, void *s)
{
    return queue_job(c, (job){.what = {RECV, type, 0, peer, count}, .dst = dst, .stream = s});
}

const td_nccllib td_null_nccl = {
    .version = null_nccl_version,
    .new_id = new_id,
    .init = init,
    .destroy = null_comm_destroy,
    .abort = null_comm_end,
    .async_error = async_error,
    .group_start = group_start,
    .group_end = group_end,
    .all_reduce = all_reduce,
    .reduce = null_reduce,
    .broadcast = null_broadcast,
    .all_gather = all_gather,
    .reduce_scatter = reduce_scatter,
    .send = send_,
    .recv = recv_,
};
