/* away.h - what buffers held, kept on the host for a while.
 *
 * Copies both ways go through the default stream of the buffer's device, in order with all that is given to it
 * before and after: nobody waits for them where the host memory is pinned.  Those of td_away_put_beside go on beside.  Host memory that is not needed any
 * more is kept for the next buffer of its size, since pinning is slow.  Any thread may call.
 */
#ifndef TD_DEV_AWAY_H
#define TD_DEV_AWAY_H
#include "dev/core/dev.h"

typedef struct td_away td_away; /* the bytes of one buffer; one owner */

/* b's bytes are on their way to the host; b may be let go of.  What other streams did with b has passed.
 * TD_ERR_OOM, TD_ERR_NOMEM: the host has no memory for them, pinned or not. */
td_status td_away_put(const td_buf *b, td_away **out); /* owned */
/* The same by way of s, a stream of its own, in order with what the default one has been given before alone: b is kept,
 * with a reference of the result's, until td_away_let_go. */
td_status td_away_put_beside(td_buf *b, td_stream *s, td_away **out);
/* What the default stream is given from now on comes behind the copy, and the reference goes. */
td_status td_away_let_go(td_away *a);
/* The buffer as it was, where it has not been let go of: the reference is the caller's now; NULL: it has. */
td_buf   *td_away_again(td_away *a);
/* The bytes are on their way into b, which is as large as where they came from was. */
td_status td_away_get(const td_away *a, const td_buf *b);
size_t    td_away_size(const td_away *a);
void      td_away_free(td_away *a); /* ok on NULL; calls nobody: the memory is kept */
size_t    td_away_kept(td_dev *d);  /* bytes of host memory that nobody's bytes are in */
td_status td_away_trim(td_dev *d);  /* gives that back; waits for d */

/* td_held - a live buffer of the pool's that has a holder. */
typedef struct td_held {
    td_buf  *buf;   /* borrowed: good while the holders cannot let go */
    uint64_t used;
    bool     apart; /* other streams than the default one have used it */
} td_held;

/* Those of d that are of `least` bytes or more and have been used at times from 1 to before: owned (free), *n of them.
 * TD_ERR_NOMEM. */
td_status td_away_held(td_dev *d, size_t least, uint64_t before, td_held **out, size_t *n);

#endif
