/* parallel.h - the process's thread pool, and a second one for what goes on beside.
 *
 * Threads are started at the first call that needs them and sleep between calls.  A call made from
 * inside a task runs its tasks on the calling thread.  A forked child starts threads of its own.
 */
#ifndef TD_BASE_PARALLEL_H
#define TD_BASE_PARALLEL_H
#include <stdint.h>

typedef void td_task(void *ctx, int64_t i);

/* Piece k of n, k < n <= hi - lo, that [lo, hi) is cut into: [*first, *end), sizes differ by at most one. */
void td_parallel_piece(int64_t lo, int64_t hi, int64_t n, int64_t k, int64_t *first, int64_t *end);

int  td_parallel_width(void);                               /* threads that td_parallel uses, >= 1 */
void td_parallel(int64_t n, td_task *task, void *ctx);      /* task(ctx, i), i in [0, n); returns when all ran */
/* The same by threads of their own: for copies off a device while the others fill copies onto it. */
void td_parallel_beside(int64_t n, td_task *task, void *ctx);

#endif
