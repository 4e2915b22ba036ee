/* interp.h - the reference engine: runs a kernel as written, one thread after another, switching
 * between the threads of a block at barriers and at exchanges within a warp.  Slow, and it checks
 * what it can see: accesses outside the memory that `extent` knows, and barriers and exchanges that
 * not all threads reach.
 */
#ifndef TD_IR_INTERP_H
#define TD_IR_INTERP_H
#include "ir/ir.h"

/* Bytes from address p to the end of its allocation; 0: not an address of the kernel's memory. */
typedef size_t td_extent(uintptr_t p);

/* f has been finished.  args: one 8-byte word a parameter.  shared: bytes of dynamic shared memory.
 * extent NULL: no bounds of global memory are checked.
 * TD_ERR_INDEX: out of bounds; TD_ERR_VALUE: a divergent barrier; the text names kernel, block, thread, line. */
td_status td_interp(const td_fn *f, const uint32_t grid[3], const uint32_t block[3], const uint64_t *args,
                    size_t shared, td_extent *extent);

#endif
