/* relay.c - exchanges slots between a thread and its owner, with waits that the program can
 * interrupt.
 */
#include "array/outofcore/relay.h"

#include "array/graph/node.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { POLL_MS = 50 }; /* the longest time that an interruption goes unnoticed */

void
td_relay_init(td_relay *r)
{
    pthread_condattr_t attr;

    *r = (td_relay){.running = false};
    pthread_mutex_init(&r->mu, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&r->bell, &attr);
    pthread_condattr_destroy(&attr);
    td_failure_init(&r->failure);
}

/* The thread blocks signals: they are for the program's own threads. */
td_status
td_relay_start(td_relay *r, void *(*run)(void *), void *ctx)
{
    sigset_t all, old;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    err = pthread_create(&r->thread, NULL, run, ctx);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    r->running = err == 0;
    return err ? td_fail(TD_ERR_NOMEM, "stream: no thread to copy with: %s", strerror(err)) : TD_OK;
}

void
td_relay_end(td_relay *r)
{
    void *token;

    if (r->running) {
        pthread_mutex_lock(&r->mu);
        r->stop = true;
        pthread_cond_broadcast(&r->bell);
        pthread_mutex_unlock(&r->mu);
        token = td_graph_unlock(); /* it may be inside a reader, which needs the lock */
        pthread_join(r->thread, NULL);
        td_graph_lock(token);
    }
    (void)td_failure_end(&r->failure);
    pthread_cond_destroy(&r->bell);
    pthread_mutex_destroy(&r->mu);
}

void
td_relay_set(td_relay *r, int k, bool full)
{
    pthread_mutex_lock(&r->mu);
    r->full[k] = full;
    pthread_cond_broadcast(&r->bell);
    pthread_mutex_unlock(&r->mu);
}

bool
td_relay_await(td_relay *r, int k, bool full)
{
    bool stop;

    pthread_mutex_lock(&r->mu);
    while (r->full[k] != full && !r->stop)
        pthread_cond_wait(&r->bell, &r->mu);
    stop = r->stop;
    pthread_mutex_unlock(&r->mu);
    return !stop;
}

void
td_relay_fail(td_relay *r, td_status st)
{
    td_failure_note(&r->failure, st);
}

void
td_relay_leave(td_relay *r)
{
    pthread_mutex_lock(&r->mu);
    r->ended = true;
    pthread_cond_broadcast(&r->bell);
    pthread_mutex_unlock(&r->mu);
}

/* Waits until slot k is full (or empty), the thread has ended, or POLL_MS have passed. */
static bool
relay_poll(td_relay *r, int k, bool full, bool *ended)
{
    struct timespec t;
    bool so;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += POLL_MS * 1000000L;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_mutex_lock(&r->mu);
    while (r->full[k] != full && !r->ended)
        if (pthread_cond_timedwait(&r->bell, &r->mu, &t) == ETIMEDOUT)
            break;
    so = r->full[k] == full;
    *ended = r->ended;
    pthread_mutex_unlock(&r->mu);
    return so;
}

td_status
td_relay_wait(td_relay *r, int k, bool full)
{
    bool so, ended;

    do {
        void *token = td_graph_unlock();

        so = relay_poll(r, k, full, &ended);
        td_graph_lock(token);
        if (!so && !ended)
            TD_TRY(td_graph_poll());
    } while (!so && !ended);
    return so ? TD_OK : td_failure_get(&r->failure);
}
