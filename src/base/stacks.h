/* stacks.h - stacks that a thread of the CPU keeps for the functions that it switches between. */
#ifndef TD_BASE_STACKS_H
#define TD_BASE_STACKS_H
#include <stdbool.h>
#include <stddef.h>

enum { TD_STACK_BYTES = 128 << 10 }; /* address space; a page has memory once it has been touched */

/* The calling thread has n stacks from now on, or more.  false: there is no memory. */
bool  td_stacks_grow(size_t n);
void *td_stack(size_t i);           /* the lowest byte of the i-th; a page that may not be touched lies below */
void  td_stacks_shrink(size_t n);   /* gives back what is beyond about n; all go when the thread ends */

#endif
