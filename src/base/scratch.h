/* scratch.h - memory of a thread that outlives calls: a CPU kernel's dynamic shared memory. */
#ifndef TD_BASE_SCRATCH_H
#define TD_BASE_SCRATCH_H
#include <stdbool.h>
#include <stddef.h>

/* At least nbytes from now on; what stood there is lost when it grows.  false: there is no memory. */
bool  td_scratch_grow(size_t nbytes);
void *td_scratch(void); /* 64-byte aligned; freed with the thread; NULL before the first td_scratch_grow */

#endif
