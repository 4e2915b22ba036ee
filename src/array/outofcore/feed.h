/* feed.h - the sources' rows on their way to the device, chunk after chunk. */
#ifndef TD_ARRAY_FEED_H
#define TD_ARRAY_FEED_H
#include "array/outofcore/chunk.h"

/* td_feeder - of one pass, from row lo on in chunks of p->rows: its thread, its buffers.  Its pass stays as it is meanwhile. */
typedef struct td_feeder td_feeder;

td_status td_feeder_open(const td_pass *p, int64_t lo, td_feeder **out);
/* The next chunk is there for work of the default stream, in that set of buffers; TD_ERR_CALLER: interrupted. */
td_status td_feeder_take(td_feeder *f, int *slot);
/* All work that reads the set was launched. */
td_status td_feeder_give(td_feeder *f, int slot);
void      td_feeder_close(td_feeder *f); /* waits for its thread; ok on NULL */

td_buf   *td_feeder_buf(const td_feeder *f, int slot, int feed); /* borrowed */
/* Of a window that is read in place: where its buffer begins, in elements of the source's memory. */
int64_t   td_feeder_origin(const td_host *h);
bool      td_feeder_in_place(const td_dev *d, const td_host *h);

/* ---- drain.c: the results' rows on their way to the host ---- */

/* td_drain - of one pass on a device that copies: its thread, which copies and writes while the next chunks are computed. */
typedef struct td_drain td_drain;

/* What is copied: a leaf, in C order or as `to` lies. */
typedef struct td_drained {
    td_node *n;
    td_sink *sink;
    td_view  to;    /* the part of the sink's view */
    int      axis;  /* its rows, from `at` on */
    int64_t  at;
    bool     fits;  /* bytes lie there as in n */
} td_drained;

enum { TD_DRAIN_SLOTS = 2 }; /* parts that are under way at most */

td_status td_drain_open(td_dev *d, td_drain **out);
/* x, whose work was launched, in its turn; takes a reference on its node.  Waits while too many are under way. */
td_status td_drain_give(td_drain *q, const td_drained *x);
td_status td_drain_flush(td_drain *q); /* until all have been copied and written; ok on NULL */
void      td_drain_close(td_drain *q); /* what was not copied yet is not copied; ok on NULL */

/* ---- sink.c ---- */
/* x to where it belongs, by way of s: at once, and without the graph's lock. */
td_status td_sink_copy(const td_drained *x, td_stream *s);
/* j->count rows from j->at on of the job's result, `part`, to its sink, or to the job's drain. */
td_status td_sink_put(td_job *j, td_node *part);

#endif
