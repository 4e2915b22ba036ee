/* wait.c - waiting for long work in a way that a program can be interrupted. */
#include "array/node.h"
#include "dev/tape.h"

#include <sched.h>
#include <time.h>

enum {
    SPIN_NS = 2000000, /* what is done so soon is waited for as closely as the driver would */
    NAP_NS = 200000,
    POLL_NS = 50000000, /* how long an interruption may stay unnoticed */
};

static int64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Until e is done or it is time to ask again. */
static td_status
watch(td_event *e, int64_t begin, bool *done)
{
    int64_t asked = now_ns();
    td_status st = TD_OK;

    while (!*done && !st && now_ns() - asked < POLL_NS) {
        if (now_ns() - begin < SPIN_NS)
            sched_yield();
        else
            (void)nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        st = td_event_done(e, done);
    }
    return st;
}

td_status
td_graph_await(td_event *e)
{
    int64_t begin = now_ns();
    bool done;
    td_status st = td_event_done(e, &done);
    void *token;

    while (!st && !done) {
        st = td_graph_poll();
        if (st)
            break;
        token = td_graph_unlock();
        st = watch(e, begin, &done);
        td_graph_lock(token);
    }
    return st;
}

td_status
td_graph_await_stream(td_stream *s)
{
    td_event *e;
    td_status st;

    if (td_dev_info(td_stream_dev(s))->kind == TD_DEV_CPU || td_tape_now())
        return TD_OK; /* nothing is under way; what is recorded is refused by who waits next */
    TD_TRY(td_event_new(td_stream_dev(s), false, &e));
    st = td_event_record(e, s);
    if (!st)
        st = td_graph_await(e);
    td_event_free(e);
    return st;
}
