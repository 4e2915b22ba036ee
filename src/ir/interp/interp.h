/* interp.h - the reference engine: runs a kernel as written, one thread after another, switching
 * between the threads of a block at barriers and at exchanges within a warp.  Slow, and it checks
 * what it can see: accesses outside the memory that `extent` knows, and barriers and exchanges that
 * not all threads reach.  With a td_check it looks closer.
 */
#ifndef TD_IR_INTERP_H
#define TD_IR_INTERP_H
#include "ir/core/ir.h"

/* Bytes from address p to the end of its allocation; 0: not an address of the kernel's memory. */
typedef size_t td_extent(uintptr_t p);

/* f has been finished.  args: one 8-byte word a parameter.  shared: bytes of dynamic shared memory.
 * extent NULL: no bounds of global memory are checked.
 * TD_ERR_INDEX: out of bounds; TD_ERR_THREADS: a divergent barrier; the text names kernel, block, thread, line. */
td_status td_interp(const td_fn *f, const uint32_t grid[3], const uint32_t block[3], const uint64_t *args,
                    size_t shared, td_extent *extent);

enum { TD_NAMED_DIMS = 8 };

/* td_named - global memory that has a name. */
typedef struct td_named {
    const char *name;
    uintptr_t   at;   /* of element 0, 0, … */
    size_t      size; /* bytes of an element */
    int         ndim;
    int64_t     dim[TD_NAMED_DIMS], stride[TD_NAMED_DIMS]; /* bytes */
} td_named;

/* td_check - what td_interp_checked is told, and whom it asks. */
typedef struct td_check {
    const td_named *named;
    uint32_t        nnamed;
    uint64_t        port; /* a word stored at this address is not written but handed to `halt`; 0: nobody asks */
    td_status     (*halt)(void *ctx, uint64_t word, const uint32_t block[3], const uint32_t thread[3]);
    void           *ctx;
} td_check;

/* As td_interp, and stops at the first of: two threads at one byte of global or shared memory, one of them
 * writing, not both by atomic operations and neither ordered by a barrier, a syncwarp, or a fence and an atomic
 * operation (another thread's value written once more is none); a read of shared or local memory that nobody has
 * written: TD_ERR_THREADS.  An address computed by integer arithmetic that went over its dtype's range:
 * TD_ERR_OVERFLOW. */
td_status td_interp_checked(const td_fn *f, const uint32_t grid[3], const uint32_t block[3], const uint64_t *args,
                            size_t shared, td_extent *extent, const td_check *check);

#endif
