/* parallel.h - the process's thread pool, and a second pool for work that runs concurrently with the first.
 *
 * Threads start at the first call that needs them and sleep between calls.  A call from inside a task runs its
 * tasks on the calling thread.  A forked child starts threads of its own.
 */
#ifndef TD_BASE_PARALLEL_H
#define TD_BASE_PARALLEL_H
#include <stdbool.h>
#include <stdint.h>

typedef void td_task(void *ctx, int64_t i);

/* Piece k of the n pieces of [lo, hi), 0 <= k < n <= hi - lo: [*first, *end).  Sizes differ by at most one. */
void td_parallel_piece(int64_t lo, int64_t hi, int64_t n, int64_t k, int64_t *first, int64_t *end);

bool td_parallel_inside(void); /* does a task run on this thread? */
int  td_parallel_width(void);                               /* threads that td_parallel uses, >= 1 */
/* For how many threads work is cut whose result depends on where: the width, or with td_parallel_fix(true) a number that
 * is the same on every machine. */
int  td_parallel_cut(void);
void td_parallel_fix(bool on);
bool td_parallel_fixed(void); /* are results asked for that do not depend on timing or the number of threads? */
void td_parallel_after(void (*ended)(void));                /* calls this at the end of each td_parallel that the pool ran; NULL: nothing */
/* runs task(ctx, i) for i in [0, n); returns when all have run */
void td_parallel(int64_t n, td_task *task, void *ctx);
/* The same on the second pool: copies off a device while the first pool fills copies onto it. */
void td_parallel_beside(int64_t n, td_task *task, void *ctx);

#endif
