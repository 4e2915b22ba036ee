/* drain.c - the drain: a thread that brings results to the host while kernels run (feed.h).
 *
 * Its copies are on a stream of their own, which waits by an event for the kernels whose results
 * it copies.  So one chunk is uploaded, the previous one computed, and the results of the one
 * before that downloaded at the same time.
 */
#include "array/outofcore/feed.h"
#include "array/outofcore/relay.h"
#include "dev/core/raw.h"

#include <stdlib.h>

enum { SLOTS = TD_DRAIN_SLOTS };

struct td_drain {
    td_stream *stream;
    td_relay relay; /* a slot is full until its rows have been copied and written */
    struct {
        td_drained x; /* x.n: a reference; or NULL */
        td_event *made;
    } slot[SLOTS];
    int64_t given;
};

_Static_assert((int)TD_DRAIN_SLOTS <= (int)TD_RELAY_SLOTS, "a relay has as many");

static void *
run_drain(void *ctx)
{
    td_drain *q = ctx;
    td_status st = TD_OK;

    for (int k = 0; !st; k = (k + 1) % SLOTS) {
        if (!td_relay_await(&q->relay, k, true))
            break;
        st = td_stream_wait(q->stream, q->slot[k].made);
        if (!st)
            st = td_sink_copy(&q->slot[k].x, q->stream);
        td_relay_fail(&q->relay, st);
        if (!st)
            td_relay_set(&q->relay, k, false);
    }
    td_relay_leave(&q->relay);
    return NULL;
}

td_status
td_drain_open(td_dev *d, td_drain **out)
{
    td_drain *q = calloc(1, sizeof *q);
    td_status st;

    if (!q)
        return td_fail(TD_ERR_NOMEM, "stream: out of host memory");
    td_relay_init(&q->relay);
    st = td_feed_stream(d, true, &q->stream);
    for (int k = 0; k < SLOTS && !st; k++)
        st = td_event_new(d, false, &q->slot[k].made);
    if (!st)
        st = td_relay_start(&q->relay, run_drain, q);
    if (st)
        td_drain_close(q);
    else
        *out = q;
    return st;
}

/* Waits until slot k is empty and belongs to the caller. */
static td_status
drain_take(td_drain *q, int k)
{
    TD_TRY(td_relay_wait(&q->relay, k, false));
    td_node_unref(q->slot[k].x.n);
    q->slot[k].x.n = NULL;
    return TD_OK;
}

td_status
td_drain_give(td_drain *q, const td_drained *x)
{
    int k = (int)(q->given % SLOTS);

    TD_TRY(drain_take(q, k));
    TD_TRY(td_event_record(q->slot[k].made, td_dev_stream(x->n->dev)));
    q->slot[k].x = *x;
    td_node_ref(x->n);
    q->given++;
    td_relay_set(&q->relay, k, true);
    return TD_OK;
}

td_status
td_drain_flush(td_drain *q)
{
    for (int k = 0; q && k < SLOTS; k++)
        TD_TRY(drain_take(q, k));
    return TD_OK;
}

void
td_drain_close(td_drain *q)
{
    if (!q)
        return;
    td_relay_end(&q->relay);
    for (int k = 0; k < SLOTS; k++) {
        td_node_unref(q->slot[k].x.n);
        td_event_free(q->slot[k].made);
    }
    free(q);
}
