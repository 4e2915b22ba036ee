/* memwait.c - which threads are at work, and which wait for memory. */
#include "array/graph/memwait.h"

#include "array/graph/node.h"

#include <pthread.h>
#include <time.h>

enum {
    NAP_NS = 200000,
    /* seconds that a thread waits for others, which may work for ever and keep what they hold */
    PATIENCE_S = 10,
};

static struct {
    int working;    /* threads that have released the lock and work on */
    int evaluating; /* evaluations that are open and not waiting to be retried */
    uint64_t ended; /* evaluations that have ended so far */
} now;

static _Thread_local struct {
    int away;  /* calls of td_memwait_leave without a matching td_memwait_back */
    int idle;  /* open calls of td_memwait_idle */
    int depth; /* open calls of td_memwait_begin */
} own;

/* A forked child has none of the other threads. */
static void
memwait_in_child(void)
{
    now.working = own.away && !own.idle;
    now.evaluating = own.depth > 0;
}

static void
memwait_watch_forks(void)
{
    pthread_atfork(NULL, NULL, memwait_in_child);
}

void
td_memwait_leave(void)
{
    if (own.away++ == 0 && !own.idle)
        now.working++;
}

void
td_memwait_back(void)
{
    if (--own.away == 0 && !own.idle)
        now.working--;
}

void
td_memwait_idle(bool idle)
{
    int before = own.idle;

    own.idle += idle ? 1 : -1;
    if (own.away && !before != !own.idle)
        now.working += idle ? -1 : 1;
}

bool
td_memwait_working(void)
{
    return now.working > (own.away && !own.idle);
}

static int64_t
seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static void
nap(void)
{
    void *token = td_graph_unlock();

    (void)nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    td_graph_lock(token);
}

bool
td_memwait_wait(td_dev *d, size_t nbytes)
{
    size_t used = td_mem_stats(d).used;
    int64_t begin = seconds();
    bool more = false;

    if (nbytes > td_mem_bound(d))
        return false;
    td_memwait_idle(true);
    while (!more && now.working > 0 && seconds() - begin < PATIENCE_S) {
        nap();
        more = td_mem_stats(d).used < used;
    }
    td_memwait_idle(false);
    return more;
}

void
td_memwait_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, memwait_watch_forks);
    if (own.depth++ == 0)
        now.evaluating++;
}

void
td_memwait_end(void)
{
    if (--own.depth)
        return;
    now.evaluating--;
    now.ended++;
}

bool
td_memwait_others(void)
{
    uint64_t before = now.ended;
    int64_t begin = seconds();

    if (own.depth != 1 || now.evaluating < 2)
        return false;
    now.evaluating--;
    td_memwait_idle(true);
    while (now.ended == before && now.evaluating > 0 && seconds() - begin < PATIENCE_S)
        nap();
    td_memwait_idle(false);
    now.evaluating++;
    return seconds() - begin < PATIENCE_S;
}
