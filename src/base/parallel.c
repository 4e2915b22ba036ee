/* parallel.c - thread pools for the process.
 *
 * One job of a pool runs at a time; who calls while another thread's job runs does its own work alone.  The
 * caller opens the gate, rings the bell, takes indices like every worker, closes the gate and waits
 * until nobody is inside.  A worker counts itself in before it reads the job and out when no index
 * is left, so a job's fields stand still as long as somebody may read them, and nobody waits for a
 * worker that was still asleep.  Workers look at the bell for a while before they sleep: kernels
 * come in rows, and a wake-up costs more than a small kernel.
 */
#include "base/parallel.h"

#include "base/limits.h"
#include "base/opts.h"
#include "base/stop.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SPIN_NS = 30000, /* a futex wake-up takes 5-50 us */
    SPIN_BATCH = 32, /* looks at the bell between looks at the clock */
    PIECES = 16,     /* a thread's share of the indices is taken in about so many pieces */
    WIDTH_MAX = 1024,
    LOOK_NS = 20000000, /* of a wait: between looks whether the work is still wanted */
};

#define GATE_CLOSED  0x80000000u
#define GATE_WAITING 0x40000000u /* the caller sleeps until the last worker has left */
#define GATE_COUNT   0x3fffffffu /* workers inside */

typedef struct crew {
    pthread_mutex_t busy; /* held by the thread whose job runs */
    int workers;
    uint32_t born; /* the bell before the first job of theirs */
    td_task *task;
    void *ctx;
    int64_t n, piece;
    td_stop *stop; /* of the caller's work */
    _Alignas(64) _Atomic uint32_t gate;
    _Alignas(64) _Atomic uint32_t bell;
    _Atomic uint32_t asleep;
    _Alignas(64) _Atomic int64_t next;
} crew;

enum { CREWS = 2 }; /* td_parallel's, td_parallel_beside's */

static crew crews[CREWS] = {
    {.busy = PTHREAD_MUTEX_INITIALIZER, .gate = GATE_CLOSED},
    {.busy = PTHREAD_MUTEX_INITIALIZER, .gate = GATE_CLOSED},
};

static int width = 1;
static _Thread_local bool inside; /* a task of this thread's is running, or it is a worker */

static void
pause_cpu(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void
futex_wait(_Atomic uint32_t *word, uint32_t seen, const struct timespec *most)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, most, NULL, 0);
}

static void
futex_wake(_Atomic uint32_t *word, int n)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

static void
take_indices(crew *c)
{
    for (;;) {
        int64_t i = atomic_fetch_add_explicit(&c->next, c->piece, memory_order_relaxed);
        int64_t end = i + c->piece < c->n ? i + c->piece : c->n;

        if (i >= c->n)
            return;
        for (; i < end; i++)
            c->task(c->ctx, i);
    }
}

static bool
gate_enter(crew *c)
{
    uint32_t g = atomic_load(&c->gate);

    while (!(g & GATE_CLOSED))
        if (atomic_compare_exchange_weak(&c->gate, &g, g + 1))
            return true;
    return false;
}

static void
gate_leave(crew *c)
{
    if (atomic_fetch_sub(&c->gate, 1) == (GATE_CLOSED | GATE_WAITING | 1))
        futex_wake(&c->gate, 1);
}

/* Returns when the bell differs from `seen`. */
static void
bell_wait(crew *c, uint32_t seen)
{
    int64_t end = now_ns() + SPIN_NS;

    do {
        for (int k = 0; k < SPIN_BATCH; k++) {
            if (atomic_load_explicit(&c->bell, memory_order_acquire) != seen)
                return;
            pause_cpu();
        }
    } while (now_ns() < end);
    atomic_fetch_add(&c->asleep, 1);
    while (atomic_load(&c->bell) == seen)
        futex_wait(&c->bell, seen, NULL);
    atomic_fetch_sub(&c->asleep, 1);
}

static void *
worker(void *arg)
{
    crew *c = arg;
    uint32_t seen = c->born;

    inside = true;
    for (;;) {
        bell_wait(c, seen);
        seen = atomic_load(&c->bell);
        if (gate_enter(c)) {
            td_stop_enter(c->stop);
            take_indices(c);
            td_stop_enter(NULL);
            gate_leave(c);
        }
    }
    return NULL;
}

/* A child has no workers and nobody's job: the next job starts workers of its own. */
static void
parallel_in_child(void)
{
    for (crew *c = crews; c < crews + CREWS; c++) {
        pthread_mutex_init(&c->busy, NULL);
        c->workers = 0;
        atomic_store(&c->gate, GATE_CLOSED);
        atomic_store(&c->asleep, 0);
    }
}

/* Starts the workers, with all signals blocked: those are for the program's own threads. */
static void
parallel_start(crew *c)
{
    sigset_t all, old;
    pthread_attr_t attr;
    pthread_t t;

    c->born = atomic_load(&c->bell);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    while (c->workers < width - 1 && pthread_create(&t, &attr, worker, c) == 0)
        c->workers++;
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void
set_width(void)
{
    int cap = td_options()->threads;

    width = td_limit_cpus();
    if (width > WIDTH_MAX)
        width = WIDTH_MAX;
    if (cap > 0 && cap < width)
        width = cap;
    pthread_atfork(NULL, NULL, parallel_in_child);
}

int
td_parallel_width(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, set_width);
    return width;
}

/* The job's fields are written: let the workers in and wake as many as there is work for. */
static void
open_gate(crew *c)
{
    int64_t want = c->n - 1 < c->workers ? c->n - 1 : c->workers;
    int64_t awake;

    atomic_store(&c->gate, 0);
    atomic_fetch_add(&c->bell, 1);
    awake = c->workers - (int64_t)atomic_load(&c->asleep);
    if (want > awake)
        futex_wake(&c->bell, (int)(want - awake));
}

static void
close_gate(crew *c)
{
    uint32_t g = atomic_fetch_or(&c->gate, GATE_CLOSED) | GATE_CLOSED;
    int64_t end;

    if (!(g & GATE_COUNT))
        return;
    end = now_ns() + SPIN_NS;
    do {
        for (int k = 0; k < SPIN_BATCH; k++) {
            if (!(atomic_load(&c->gate) & GATE_COUNT))
                return;
            pause_cpu();
        }
    } while (now_ns() < end);
    g = atomic_fetch_or(&c->gate, GATE_WAITING) | GATE_WAITING;
    while (g & GATE_COUNT) {
        futex_wait(&c->gate, g, &(struct timespec){.tv_nsec = LOOK_NS});
        (void)td_stop_look(); /* who leaves, the workers learn there */
        g = atomic_load(&c->gate);
    }
}

static void
run_here(int64_t n, td_task *task, void *ctx)
{
    for (int64_t i = 0; i < n; i++)
        task(ctx, i);
}

static void
parallel_run(crew *c, int64_t n, td_task *task, void *ctx)
{
    int wide = td_parallel_width();
    int saved = errno;

    if (n < 2 || wide < 2 || inside || pthread_mutex_trylock(&c->busy) != 0) {
        run_here(n, task, ctx);
        return;
    }
    if (!c->workers)
        parallel_start(c);
    c->task = task;
    c->ctx = ctx;
    c->n = n;
    c->stop = td_stop_now();
    c->piece = n / ((int64_t)wide * PIECES);
    if (c->piece < 1)
        c->piece = 1;
    atomic_store_explicit(&c->next, 0, memory_order_relaxed);
    inside = true;
    open_gate(c);
    take_indices(c);
    close_gate(c);
    inside = false;
    pthread_mutex_unlock(&c->busy);
    errno = saved; /* futex calls are not the caller's business */
}

void
td_parallel(int64_t n, td_task *task, void *ctx)
{
    parallel_run(&crews[0], n, task, ctx);
}

void
td_parallel_beside(int64_t n, td_task *task, void *ctx)
{
    parallel_run(&crews[1], n, task, ctx);
}

void
td_parallel_piece(int64_t lo, int64_t hi, int64_t n, int64_t k, int64_t *first, int64_t *end)
{
    uint64_t all = (uint64_t)hi - (uint64_t)lo, each = all / (uint64_t)n, more = all % (uint64_t)n,
             i = (uint64_t)k;

    *first = (int64_t)((uint64_t)lo + i * each + (i < more ? i : more));
    *end = (int64_t)((uint64_t)*first + each + (i < more));
}
