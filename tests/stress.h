/* stress.h - threads that share one graph, whose lock changes hands in an order drawn by a seed.
 *
 * The lock is given up at td_graph_unlock and taken back at td_graph_lock, and nowhere else do threads meet.  In
 * turns, one thread runs at a time and at each of these points the next one is drawn: a seed gives the same
 * interleaving again.  At large, what is done without the lock is done at once, for ThreadSanitizer to see.
 */
#ifndef TD_TESTS_STRESS_H
#define TD_TESTS_STRESS_H
#include "array/graph/node.h"

#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { STRESS_THREADS = 4 };

typedef struct stress_thread {
    int      number;
    uint64_t seed;
    void   (*run)(struct stress_thread *t);
} stress_thread;

static struct {
    pthread_mutex_t mu;
    pthread_cond_t  changed;
    bool            at_large, live[STRESS_THREADS];
    int             now;  /* whose turn it is */
    int             stay; /* of 8 turns, how many stay where they are */
    uint64_t        seed;
} stress = {.mu = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static _Thread_local int stress_me = -1;

static inline unsigned
stress_draw(uint64_t *seed, unsigned n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33) % n;
}

/* Under stress.mu: the turn goes to a thread that has not ended. */
static inline void
stress_pass_on(void)
{
    int live[STRESS_THREADS], n = 0;

    for (int i = 0; i < STRESS_THREADS; i++)
        if (stress.live[i])
            live[n++] = i;
    if (n)
        stress.now = live[stress_draw(&stress.seed, (unsigned)n)];
    pthread_cond_broadcast(&stress.changed);
}

static inline void
stress_turn(void)
{
    pthread_mutex_lock(&stress.mu);
    if ((int)stress_draw(&stress.seed, 8) >= stress.stay)
        stress_pass_on();
    while (stress.now != stress_me)
        pthread_cond_wait(&stress.changed, &stress.mu);
    pthread_mutex_unlock(&stress.mu);
}

static void *
stress_unlock(void)
{
    if (stress_me < 0)
        return NULL;
    if (stress.at_large)
        pthread_mutex_unlock(&stress.mu);
    else
        stress_turn();
    return NULL;
}

static void
stress_lock(void *token)
{
    (void)token;
    if (stress_me < 0)
        return;
    if (stress.at_large)
        pthread_mutex_lock(&stress.mu);
    else
        stress_turn();
}

/* Another thread may go on, as at a line of a program. */
static inline void
stress_pause(void)
{
    void *token = td_graph_unlock();

    if (stress.at_large)
        sched_yield();
    td_graph_lock(token);
}

static void *
stress_main(void *ctx)
{
    stress_thread *t = ctx;

    stress_me = t->number;
    pthread_mutex_lock(&stress.mu);
    while (!stress.at_large && stress.now != stress_me)
        pthread_cond_wait(&stress.changed, &stress.mu);
    if (!stress.at_large)
        pthread_mutex_unlock(&stress.mu);
    t->run(t);
    if (!stress.at_large)
        pthread_mutex_lock(&stress.mu);
    stress.live[stress_me] = false;
    stress_pass_on();
    pthread_mutex_unlock(&stress.mu);
    return NULL;
}

/* Runs the threads to their end. */
static inline void
stress_run(uint64_t seed, void (*run)(stress_thread *t))
{
    stress_thread t[STRESS_THREADS];
    pthread_t id[STRESS_THREADS];

    stress.seed = seed * 2654435769u + 1;
    stress.stay = (int)stress_draw(&stress.seed, 7);
    stress.now = -1;
    td_graph_hooks(stress_unlock, stress_lock);
    for (int i = 0; i < STRESS_THREADS; i++) {
        t[i] = (stress_thread){.number = i, .seed = seed * 1000003 + (uint64_t)i, .run = run};
        stress.live[i] = true;
        if (!CHECK(pthread_create(&id[i], NULL, stress_main, &t[i]) == 0))
            exit(1);
    }
    pthread_mutex_lock(&stress.mu);
    stress_pass_on();
    pthread_mutex_unlock(&stress.mu);
    for (int i = 0; i < STRESS_THREADS; i++)
        pthread_join(id[i], NULL);
    td_graph_hooks(NULL, NULL);
}

/* TREADLE_STRESS: for how many seconds seeds beyond the fixed ones are tried; 0. */
static inline double
stress_seconds(void)
{
    const char *text = getenv("TREADLE_STRESS");

    return text ? atof(text) : 0;
}

static inline double
stress_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
