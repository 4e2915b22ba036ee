/* scratch.h - a thread's scratch memory, kept between calls: the dynamic shared memory of CPU kernels. */
#ifndef TD_BASE_SCRATCH_H
#define TD_BASE_SCRATCH_H
#include <stdbool.h>
#include <stddef.h>

/* Makes td_scratch at least nbytes large; its contents are lost when it grows.  false: no memory. */
bool  td_scratch_grow(size_t nbytes);
void *td_scratch(void); /* 64-byte aligned; freed with the thread; NULL before the first td_scratch_grow */

#endif
