/* wait.c - waiting for long work in a way that a program can be interrupted. */
#include "array/graph/node.h"
#include "base/clock.h"
#include "dev/core/tape.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SPIN_NS = 2000000, /* work that ends so soon is waited for without naps */
    NAP_NS = 200000,
    POLL_NS = 50000000, /* an interruption is noticed after so long at most */
    SMALL =
        64
        << 10, /* copies up to so many bytes go through pinned memory, so that no thread waits inside the driver */
};

/* Waits until e is done or it is time to ask for interruptions. */
static td_status
watch(td_event *e, int64_t begin, bool *done)
{
    int64_t asked = td_now_ns();
    td_status st = TD_OK;

    while (!*done && !st && td_now_ns() - asked < POLL_NS) {
        if (td_now_ns() - begin < SPIN_NS)
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
    int64_t begin = td_now_ns();
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

    if (!td_dev_info(td_stream_dev(s))->queued || td_tape_now())
        return TD_OK; /* no work is under way; a recording refuses waits itself */
    TD_TRY(td_event_new(td_stream_dev(s), false, &e));
    st = td_event_record(e, s);
    if (!st)
        st = td_graph_await(e);
    td_event_free(e);
    return st;
}

/* ---- results for the host ---- */

/* slot - pinned memory for a small result of one stream, for the process's life.  An interrupted thread gives its slot back
 * while the copy into it goes on; that is safe, because the stream's next copy into the slot runs after it. */
typedef struct slot {
    struct slot *next;
    td_stream *s;
    td_event *e;
    td_hostmem m;
} slot;

static slot *slots; /* free slots; under the graph's lock */

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
    bool waits = td_dev_info(td_stream_dev(s))->queued && !td_tape_now();
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
