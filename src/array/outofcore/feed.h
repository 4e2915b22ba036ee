/* feed.h - the feeder, which brings the sources' rows to the device, and the drain, which takes results to the
 * host.
 */
#ifndef TD_ARRAY_FEED_H
#define TD_ARRAY_FEED_H
#include "array/outofcore/chunk.h"

/* td_feeder - the feeder of one pass: uploads chunks of p->rows rows from row lo on, with a thread and buffers
 * of its own.  The pass must not change meanwhile. */
typedef struct td_feeder td_feeder;

td_status td_feeder_open(const td_pass *p, int64_t lo, td_feeder **out);
/* Waits for the next chunk; its set of buffers can be used by work of the default stream.  TD_ERR_CALLER:
 * interrupted. */
td_status td_feeder_take(td_feeder *f, int *slot);
/* Returns the set: all work that reads it has been launched. */
td_status td_feeder_give(td_feeder *f, int slot);
void      td_feeder_close(td_feeder *f); /* ends its thread; ok on NULL */

td_buf   *td_feeder_buf(const td_feeder *f, int slot, int feed); /* borrowed */
/* For a window that is read in place: where its buffer begins, in elements of the source's memory. */
int64_t   td_feeder_origin(const td_host *h);
bool      td_feeder_in_place(const td_dev *d, const td_host *h);

/* ---- drain.c: the results' rows on their way to the host ---- */

/* td_drain - the drain of one pass on a device that copies: its thread copies and writes while the next chunks
 * are computed. */
typedef struct td_drain td_drain;

/* td_drained - what is copied: a leaf, in C order or laid out like `to`. */
typedef struct td_drained {
    td_node *n;
    td_sink *sink;
    td_view  to;    /* the part of the sink's view */
    int      axis;  /* the part's rows, from `at` on along axis */
    int64_t  at;
    bool     fits;  /* its bytes lie in n as in the sink */
} td_drained;

enum { TD_DRAIN_SLOTS = 2 }; /* most parts under way */

td_status td_drain_open(td_dev *d, td_drain **out);
/* Queues x, whose work was launched; takes a reference on its node.  Waits if too many parts are under way. */
td_status td_drain_give(td_drain *q, const td_drained *x);
td_status td_drain_flush(td_drain *q); /* waits until everything is copied and written; ok on NULL */
void      td_drain_close(td_drain *q); /* drops what was not copied yet; ok on NULL */

/* ---- sink.c ---- */
/* Copies x to its place in the sink on s, and waits.  Call without the graph's lock. */
td_status td_sink_copy(const td_drained *x, td_stream *s);
/* Writes j->count rows, `part`, from row j->at of the job's result on, to its sink; through the job's drain if
 * it has one. */
td_status td_sink_put(td_job *j, td_node *part);

#endif
