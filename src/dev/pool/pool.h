/* pool.h - the pool's parts: pool.c (buffers), poolget.c, poolwait.c; internal to dev/.
 *
 * heap.h cuts the memory of one device and stream; here are the rules by which blocks circulate.
 */
#ifndef TD_DEV_POOL_H
#define TD_DEV_POOL_H
#include "dev/pool/heap.h"

/* ---- poolget.c ---- */
/* Hands out a block for nbytes on s; `plain`: in memory without a grain.  TD_ERR_OOM has no text yet. */
td_status td_pool_get(td_dev *d, td_stream *s, bool plain, size_t nbytes, td_block **out);
/* Returns cached memory beyond the limit; if more than the limit is in use, also asks the program to free some. */
td_status td_pool_shrink(td_dev *d);
/* returns regions that td_heap_idle unlinked to the driver, and frees their records */
td_status td_pool_give_back(td_dev *d, td_region *list);

/* ---- poolwait.c; the first two under the pool's lock, the others without it ---- */
/* takes b, just freed, into its heap, or into a list where it waits for work that may still use it */
void td_pool_retire(td_block *b);
void td_pool_note_use(td_block *b, td_stream *s); /* adds s to the streams that b waits for */
/* Records events for the blocks freed since the last call.  A block whose events fail waits for the whole
 * device. */
void td_pool_mark(td_dev *d);
void td_pool_poll(td_dev *d); /* takes in the blocks whose events have passed */
/* Waits for the device and takes in the blocks that waited for that: shared ones, with `all` the others too. */
td_status td_pool_settle(td_dev *d, bool all);

#endif
