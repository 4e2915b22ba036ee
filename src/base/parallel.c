/* parallel.c - the process's two thread pools.
 *
 * A pool runs one job at a time.  A thread that calls while another thread's job runs does its
 * own job alone.
 *
 * The caller opens the gate, rings the bell, takes indices like every worker, closes the gate,
 * and waits until no worker is inside.  A worker enters the gate before it reads the job and
 * leaves when no index is left.  So a job's fields do not change while anybody may read them, and
 * the caller never waits for a worker that is still asleep.
 *
 * Workers watch the bell for a while before they sleep: kernels come in quick succession, and
 * waking a thread costs more than a small kernel.
 */
#include "base/parallel.h"

#include "base/clock.h"
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
    WAKES = 2,       /* how many others a thread wakes */
    SPIN_BATCH = 32, /* checks of the bell between checks of the clock */
    PIECES = 16,     /* each thread takes its share of the indices in about this many pieces */
    WIDTH_MAX = 1024,
    CUT = 16, /* threads that work is cut for where results must not depend on the machine */
    LOOK_NS = 20000000, /* while waiting: how often to check whether the work is still wanted */
};

#define GATE_CLOSED  0x80000000u
#define GATE_WAITING 0x40000000u /* the caller sleeps until the last worker has left */
#define GATE_COUNT   0x3fffffffu /* how many workers are inside */

typedef struct crew {
    pthread_mutex_t busy; /* held by the thread whose job runs */
    int workers;
    uint32_t born; /* the bell's value when the workers were started */
    td_task *task;
    void *ctx;
    int64_t n, piece;
    td_stop *stop; /* the caller's, so that workers see when its work is abandoned */
    _Alignas(64) _Atomic uint32_t gate;
    _Alignas(64) _Atomic uint32_t bell;
    _Atomic uint32_t asleep;
    _Atomic int64_t to_wake; /* workers that the job wants and that still sleep */
    _Alignas(64) _Atomic int64_t next;
} crew;

enum { CREWS = 2 }; /* one for td_parallel, one for td_parallel_beside */

static crew crews[CREWS] = {
    {.busy = PTHREAD_MUTEX_INITIALIZER, .gate = GATE_CLOSED},
    {.busy = PTHREAD_MUTEX_INITIALIZER, .gate = GATE_CLOSED},
};

static int width = 1;
static _Thread_local bool inside; /* this thread is a worker, or a task runs on it */

static void
pause_cpu(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
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

/* Wakes two workers of those that are still wanted.  Each of them does the same, so that the caller, for which a wake-up
 * takes some microseconds, begins with its own work. */
static void
wake_some(crew *c)
{
    int64_t left = atomic_fetch_sub(&c->to_wake, WAKES);

    if (left > 0)
        futex_wake(&c->bell, left < WAKES ? (int)left : WAKES);
}

/* Returns once the bell's value differs from `seen`. */
static void
bell_wait(crew *c, uint32_t seen)
{
    int64_t end = td_now_ns() + SPIN_NS;

    do {
        for (int k = 0; k < SPIN_BATCH; k++) {
            if (atomic_load_explicit(&c->bell, memory_order_acquire) != seen)
                return;
            pause_cpu();
        }
    } while (td_now_ns() < end);
    atomic_fetch_add(&c->asleep, 1);
    while (atomic_load(&c->bell) == seen)
        futex_wait(&c->bell, seen, NULL);
    atomic_fetch_sub(&c->asleep, 1);
    if (atomic_load_explicit(&c->to_wake, memory_order_relaxed) > 0)
        wake_some(c);
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

/* A forked child has no workers and no job under way.  Its next job starts workers of its own. */
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

/* Starts the workers with all signals blocked, so that signals go to the program's own
 * threads. */
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

bool
td_parallel_inside(void)
{
    return inside;
}

int
td_parallel_width(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, set_width);
    return width;
}

static atomic_bool fixed;

void
td_parallel_fix(bool on)
{
    atomic_store(&fixed, on);
}

bool
td_parallel_fixed(void)
{
    return atomic_load_explicit(&fixed, memory_order_relaxed);
}

int
td_parallel_cut(void)
{
    return td_parallel_fixed() ? CUT : td_parallel_width();
}

/* Publishes the job, whose fields are set: lets the workers in and wakes as many as the job
 * has use for. */
static void
open_gate(crew *c)
{
    int64_t want = c->n - 1 < c->workers ? c->n - 1 : c->workers;
    int64_t awake;

    atomic_store(&c->to_wake, 0);
    atomic_store(&c->gate, 0);
    atomic_fetch_add(&c->bell, 1);
    awake = c->workers - (int64_t)atomic_load(&c->asleep);
    if (want > awake) {
        atomic_store(&c->to_wake, want - awake);
        wake_some(c);
    }
}

static void
close_gate(crew *c)
{
    uint32_t g = atomic_fetch_or(&c->gate, GATE_CLOSED) | GATE_CLOSED;
    int64_t end;

    if (!(g & GATE_COUNT))
        return;
    end = td_now_ns() + SPIN_NS;
    do {
        for (int k = 0; k < SPIN_BATCH; k++) {
            if (!(atomic_load(&c->gate) & GATE_COUNT))
                return;
            pause_cpu();
        }
    } while (td_now_ns() < end);
    g = atomic_fetch_or(&c->gate, GATE_WAITING) | GATE_WAITING;
    while (g & GATE_COUNT) {
        futex_wait(&c->gate, g, &(struct timespec){.tv_nsec = LOOK_NS});
        (void)td_stop_look(); /* if the caller's work is abandoned, the workers see it too */
        g = atomic_load(&c->gate);
    }
}

static void (*after)(void);

void
td_parallel_after(void (*ended)(void))
{
    after = ended;
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
    if (after)
        after();
    errno = saved; /* keep futex errors from the caller */
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
