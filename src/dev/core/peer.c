/* peer.c - a device together with others: order between their streams, copies between their
 * memories, and the end of work that waits for a device whose process has died.
 */
#include "dev/core/rawops.h"
#include "dev/core/tape.h"
#include "dev/core/work.h"

#include <stdlib.h>
#include <string.h>

td_status
td_stream_follow(td_stream *later, td_stream *earlier)
{
    td_event *e;
    td_status st;

    if (later->dev == earlier->dev)
        return td_stream_order(later->dev, earlier->handle, later->handle);
    TD_TRY(td_event_new(earlier->dev, false, &e));
    st = td_event_record(e, earlier);
    st = st ? st : td_stream_wait(later, e);
    td_event_free(e);
    return st;
}

bool
td_dev_peers(const td_dev *a, const td_dev *b)
{
    return a != b && a->info.kind == b->info.kind && a->ops->raw->peer;
}

/* ---- copies ---- */

enum { PEERS = 64 };

/* mark - a device of some copies, and an event in its default stream. */
typedef struct mark {
    td_dev *dev;
    td_event *at;
} mark;

/* The device's mark, which is recorded when it is first asked for. */
static td_status
mark_of(mark *marks, int *n, td_dev *d, td_event **out)
{
    int i = 0;

    while (i < *n && marks[i].dev != d)
        i++;
    if (i == *n) {
        if (i == PEERS)
            return td_fail(TD_ERR_VALUE, "copies between more than %d devices at once", PEERS);
        marks[i].dev = d;
        TD_TRY(td_event_new(d, false, &marks[i].at));
        (*n)++;
        TD_TRY(td_event_record(marks[i].at, &d->def));
    }
    *out = marks[i].at;
    return TD_OK;
}

/* Makes the copies, each by its source's stream, so memory that the source frees is reused after it.  A copy waits for
 * what its target was given before all of them, not for the others, so that two ways run at the same time. */
static td_status
copy_all(const td_peercopy *c, int n, mark *before, int *nbefore)
{
    td_event *e;

    for (int i = 0; i < n; i++)
        TD_TRY(mark_of(before, nbefore, c[i].to, &e));
    for (int i = 0; i < n; i++) {
        td_work w = {.kind = TD_TRACE_copy,
                     .dst = c[i].dst,
                     .src = c[i].src,
                     .nbytes = c[i].nbytes,
                     .to = c[i].to};

        if (!c[i].nbytes)
            continue;
        TD_TRY(mark_of(before, nbefore, c[i].to, &e));
        TD_TRY(td_stream_wait(&c[i].from->def, e));
        TD_TRY(td_work_do(&c[i].from->def, &w));
    }
    return TD_OK;
}

/* Has each target wait for its sources' copies. */
static td_status
await_all(const td_peercopy *c, int n, mark *behind, int *nbehind)
{
    td_event *e;

    for (int i = 0; i < n; i++)
        TD_TRY(mark_of(behind, nbehind, c[i].from, &e));
    for (int i = 0; i < n; i++) {
        TD_TRY(mark_of(behind, nbehind, c[i].from, &e));
        TD_TRY(td_stream_wait(&c[i].to->def, e));
    }
    return TD_OK;
}

td_status
td_copy_peers(const td_peercopy *c, int n)
{
    mark before[PEERS], behind[PEERS];
    int nbefore = 0, nbehind = 0;
    td_status st = td_tape_refuse("a copy between devices");

    if (!st)
        st = copy_all(c, n, before, &nbefore);
    if (!st)
        st = await_all(c, n, behind, &nbehind);
    while (nbefore > 0)
        td_event_free(before[--nbefore].at);
    while (nbehind > 0)
        td_event_free(behind[--nbehind].at);
    return st;
}

td_status
td_copy_peer(td_dev *to, uintptr_t dst, td_dev *from, uintptr_t src, size_t nbytes)
{
    td_peercopy c = {.to = to, .dst = dst, .from = from, .src = src, .nbytes = nbytes};

    return nbytes ? td_copy_peers(&c, 1) : TD_OK;
}

/* ---- work that cannot end ---- */

void
td_dev_break(td_dev *d, const char *why)
{
    free(atomic_exchange(&d->broken, strdup(why)));
}

void
td_dev_mend(td_dev *d)
{
    char *why = atomic_exchange(&d->broken, NULL);

    if (why)
        (void)d->ops->sync(d); /* if it fails, so does the next call */
    free(why);
}

/* Waits until all work that the failure could have spoiled has ended; results computed from
 * now on are right. */
td_status
td_dev_tell(td_dev *d)
{
    char *why = atomic_exchange(&d->broken, NULL);
    td_status st = why ? d->ops->sync(d) : TD_OK;

    if (why && !st)
        st = td_fail(TD_ERR_PEER,
                     "%s: values that were waited for are lost: %s; what had been computed "
                     "before is still there",
                     d->info.name, why);
    free(why);
    return st;
}
