/* stacks.h - a CPU thread's stacks for the fibers that it runs. */
#ifndef TD_BASE_STACKS_H
#define TD_BASE_STACKS_H
#include <stdbool.h>
#include <stddef.h>

enum { TD_STACK_BYTES = 128 << 10 }; /* address space; only touched pages take memory */

/* Gives the calling thread at least n stacks.  false: no memory. */
bool  td_stacks_grow(size_t n);
void *td_stack(size_t i);           /* lowest byte of stack i; a guard page lies below it */
void  td_stacks_shrink(size_t n);   /* frees the stacks beyond about n; all are freed when the thread ends */

#endif
