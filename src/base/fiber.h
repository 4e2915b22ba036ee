/* fiber.h - fibers: functions that take turns on one thread of the CPU, each on a stack of its own.  The threads of
 * a CUDA block run like this.
 *
 * A switch saves the registers that a callee must keep (assembly on x86-64 and aarch64, ucontext elsewhere) and
 * takes a few nanoseconds.  The thread keeps the stacks for its next call, with a guard page below each.
 */
#ifndef TD_BASE_FIBER_H
#define TD_BASE_FIBER_H
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef void td_fiber_fn(void *ctx, int i);

/* Runs fn(ctx, i) for i in [0, n) as fibers, in ascending order; each runs until it waits, yields or returns.
 * Returns when all have returned.  TD_ERR_NOMEM: no memory for stacks, and nothing ran.  TD_ERR_THREADS: all
 * remaining fibers wait for fibers that never come; they are abandoned where they are.  TD_ERR_VALUE: called
 * from inside a fiber. */
td_status td_fibers_run(int n, td_fiber_fn *fn, void *ctx);

int  td_fiber_self(void);  /* the number of the running fiber; -1: none */
void td_fiber_yield(void); /* lets the next ready fiber run; this one stays ready.  Does nothing outside a fiber */

/* Waits until every fiber of [first, first + n) that has not returned waits here.  *state is 0 before the first
 * use and belongs to the barrier alone.  Every member must pass the same range. */
void td_fiber_barrier(uint64_t *state, int first, int n);
/* The same for the members whose bit is set in mask (bit k: fiber first + k), the caller among them. */
void td_fiber_meet(uint64_t *state, int first, uint64_t mask);

#endif
