/* pool.h - the pool's parts: pool.c (buffers), poolget.c, poolwait.c; internal to dev/.
 *
 * heap.h cuts the memory of one device and stream; here are the rules by which blocks go round.
 */
#ifndef TD_DEV_POOL_H
#define TD_DEV_POOL_H
#include "dev/pool/heap.h"

/* ---- poolget.c ---- */
/* A block for nbytes on s, handed out; `plain`: of memory without a grain.  TD_ERR_OOM has no text. */
td_status td_pool_get(td_dev *d, td_stream *s, bool plain, size_t nbytes, td_block **out);
/* What is kept beyond the limit goes, and where more than that is in use what the program can do without for now. */
td_status td_pool_shrink(td_dev *d);
td_status td_pool_give_back(td_dev *d, td_region *list); /* regions that td_heap_idle unlinked; their records go */

/* ---- poolwait.c; the first two under the pool's lock, the others without it ---- */
void td_pool_retire(td_block *b); /* b, just freed: to its heap, or where it waits for what may still use it */
void td_pool_note_use(td_block *b, td_stream *s); /* adds s to those that b waits for */
/* Records the events of the blocks freed since the last time.  Where that fails a block waits for the
 * whole device. */
void td_pool_mark(td_dev *d);
void td_pool_poll(td_dev *d); /* takes in the blocks whose events have passed */
/* Waits for the device and takes in what waited for that: shared blocks, with `all` the others too. */
td_status td_pool_settle(td_dev *d, bool all);

#endif
