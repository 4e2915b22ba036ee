/* wait.c - waiting for long work in a way that a program can be interrupted. */
#include "array/graph/node.h"
#include "dev/core/tape.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SPIN_NS = 2000000, /* what is done so soon is waited for as closely as the driver would */
    NAP_NS = 200000,
    POLL_NS = 50000000, /* how long an interruption may stay unnoticed */
    SMALL =
        64 << 10, /* bytes that are copied to pinned memory, so that nobody waits in the driver */
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

/* ---- results for the host ---- */

/* slot - pinned memory for a small result of a stream, for the process's life.  Whoever was interrupted gives it back
 * while the copy into it goes on: the stream's next one comes behind that. */
typedef struct slot {
    struct slot *next;
    td_stream *s;
    td_event *e;
    td_hostmem m;
} slot;

static slot *slots; /* that nobody uses; under the graph's lock */

static td_status
slot_take(td_stream *s, slot **out)
{
    slot **at = &slots, *l;
    td_status st;

    while (*at && (*at)->s != s)
        at = &(*at)->next;
    *out = *at;
    if (*at) {
        *at = (*at)->next;
        return TD_OK;
    }
    l = calloc(1, sizeof *l);
    if (!l)
        return td_fail(TD_ERR_NOMEM, "memory for a result");
    l->s = s;
    l->m = (td_hostmem){.kind = TD_HOST_PINNED, .nbytes = SMALL};
    st = td_event_new(td_stream_dev(s), false, &l->e);
    if (!st)
        st = td_hostmem_get(td_stream_dev(s), &l->m);
    if (st) {
        td_event_free(l->e);
        free(l);
        return st;
    }
    *out = l;
    return TD_OK;
}

static void
slot_give(slot *l)
{
    l->next = slots;
    slots = l;
}

static td_status
copy_small(td_stream *s, void *out, uintptr_t at, size_t nbytes)
{
    slot *l = NULL;
    bool later;
    void *token;
    td_status st;

    TD_TRY(slot_take(s, &l));
    st = td_copy_later(s, true, l->m.host, at, nbytes, &later);
    if (!st)
        st = td_event_record(l->e, s);
    if (!st)
        st = td_graph_await(l->e);
    if (!st) {
        token = td_graph_unlock();
        st = td_dev_hear(td_stream_dev(s));
        memcpy(out, l->m.host, nbytes);
        td_graph_lock(token);
    }
    slot_give(l);
    return st;
}

td_status
td_graph_copy_out(td_stream *s, void *out, uintptr_t at, size_t nbytes)
{
    bool waits = td_dev_info(td_stream_dev(s))->kind != TD_DEV_CPU && !td_tape_now();
    td_status st = TD_OK;
    void *token;

    if (waits && nbytes <= SMALL)
        return copy_small(s, out, at, nbytes);
    if (waits)
        st = td_graph_await_stream(s);
    if (st)
        return st;
    token = td_graph_unlock();
    st = td_copy_out(s, out, at, nbytes);
    td_graph_lock(token);
    return st;
}
