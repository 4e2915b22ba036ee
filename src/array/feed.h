/* feed.h - the sources' rows on their way to the device, chunk after chunk. */
#ifndef TD_ARRAY_FEED_H
#define TD_ARRAY_FEED_H
#include "array/chunk.h"

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

/* A stream of the device's whose work does not wait for the default one's, nor that for it; borrowed. */
td_status td_feed_stream(td_dev *d, td_stream **out);

/* ---- sink.c ---- */
/* j->count rows from j->at on of the job's result, `part`, to its sink. */
td_status td_sink_put(td_job *j, td_node *part);

#endif
