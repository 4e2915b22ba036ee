/* spilled.h - the contents of buffers, moved to the host for a while.
 *
 * Copies both ways go through the default stream of the buffer's device, in order with its other work, so nobody
 * waits for them if the host memory is pinned.  Copies of td_spilled_put_beside run concurrently, on a stream of their
 * own.  Host memory that is no longer needed is kept for the next buffer of its size, since pinning is slow.  Any
 * thread may call.
 */
#ifndef TD_DEV_SPILLED_H
#define TD_DEV_SPILLED_H
#include "dev/core/dev.h"

typedef struct td_spilled td_spilled; /* the bytes of one buffer; one owner */

/* Starts copying b's bytes to the host; the caller may drop b.  Work of other streams on b has passed.
 * TD_ERR_OOM, TD_ERR_NOMEM: the host has no memory for them, pinned or not. */
td_status td_spilled_put(const td_buf *b, td_spilled **out); /* owned */
/* The same on s, a stream of its own, after the default stream's work so far.  The result keeps a reference on b
 * until td_spilled_let_go. */
td_status td_spilled_put_beside(td_buf *b, td_stream *s, td_spilled **out);
/* Later work of the default stream waits for the copy, and the reference on b is dropped. */
td_status td_spilled_let_go(td_spilled *a);
/* The original buffer, if td_spilled_let_go was not called: the caller gets the reference.  NULL: it is gone. */
td_buf   *td_spilled_again(td_spilled *a);
/* Starts copying the bytes into b, which is as large as the buffer they came from. */
td_status td_spilled_get(const td_spilled *a, const td_buf *b);
size_t    td_spilled_size(const td_spilled *a);
void      td_spilled_free(td_spilled *a); /* ok on NULL; calls nothing of the driver: the memory is kept */
size_t    td_spilled_kept(td_dev *d);  /* bytes of host memory that is kept unused */
td_status td_spilled_trim(td_dev *d);  /* frees that memory; waits for d */

/* td_held - a live buffer of the pool that holds a node's value. */
typedef struct td_held {
    td_buf  *buf;   /* borrowed: valid while the holders cannot drop it */
    uint64_t used;
    bool     apart; /* streams other than the default one have used it */
} td_held;

/* Lists d's buffers of at least `least` bytes that were last used at a time from 1 to `before`: owned (free), *n
 * of them.  TD_ERR_NOMEM. */
td_status td_held_list(td_dev *d, size_t least, uint64_t before, td_held **out, size_t *n);

#endif
