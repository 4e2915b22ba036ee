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

/* The source's stream makes the copy, so memory that the source frees is reused after it. */
td_status
td_copy_peer(td_dev *to, uintptr_t dst, td_dev *from, uintptr_t src, size_t nbytes)
{
    td_work w = {.kind = TD_TRACE_copy, .dst = dst, .src = src, .nbytes = nbytes, .to = to};

    if (!nbytes)
        return TD_OK;
    TD_TRY(td_tape_refuse("a copy between devices"));
    TD_TRY(td_stream_follow(&from->def, &to->def));
    TD_TRY(td_work_do(&from->def, &w));
    return td_stream_follow(&to->def, &from->def);
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
