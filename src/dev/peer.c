/* peer.c - work that concerns two devices: order between their streams, copies between their memories. */
#include "dev/rawops.h"
#include "dev/tape.h"
#include "dev/work.h"

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

/* The source's stream copies: what it frees is used again behind that. */
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
