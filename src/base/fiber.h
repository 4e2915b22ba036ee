/* fiber.h - functions that run in turns on one thread of the CPU, each on a stack of its own: the threads of a block.
 *
 * A switch saves the registers that a call keeps (assembly on x86-64 and aarch64, ucontext elsewhere): a few
 * nanoseconds.  Stacks are kept by the thread for its next call, with a guard page below each.
 */
#ifndef TD_BASE_FIBER_H
#define TD_BASE_FIBER_H
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef void td_fiber_fn(void *ctx, int i);

/* Runs fn(ctx, i) for i in [0, n), each until it returns, in turns of ascending i.  A fiber runs until it waits or
 * yields.  TD_ERR_NOMEM: no memory for stacks, nothing ran.  TD_ERR_THREADS: those that have not returned all
 * wait for ones that never come (their stacks are given up as they are).  Not nested: a call from inside
 * of a fiber is TD_ERR_VALUE. */
td_status td_fibers_run(int n, td_fiber_fn *fn, void *ctx);

int  td_fiber_self(void);  /* which one runs; -1: none */
void td_fiber_yield(void); /* the next one's turn; it does not count as waiting.  Nothing outside of a fiber */

/* Waits until all of the fibers [first, first + n) that have not returned stand here.  *state is zero before the
 * first use, and the members' alone.  Every member must say the same range. */
void td_fiber_barrier(uint64_t *state, int first, int n);
/* The same of the members whose bit is set in mask (fiber first + k: bit k), the caller among them. */
void td_fiber_meet(uint64_t *state, int first, uint64_t mask);

#endif
