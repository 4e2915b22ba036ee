/* interp.h - the reference engine: runs a kernel as written, one thread after another, and switches between the
 * threads of a block at barriers and at exchanges within a warp.
 *
 * It is slow, and checks what it can see: accesses outside the memory that `extent` knows, and barriers and
 * exchanges that not all threads reach.  With a td_check it checks more.
 */
#ifndef TD_IR_INTERP_H
#define TD_IR_INTERP_H
#include "ir/core/ir.h"

/* Bytes from address p to the end of its allocation; 0: p is not in memory that kernels may use. */
typedef size_t td_extent(uintptr_t p);

/* f has been finished.  args: one 8-byte word per parameter.  shared: bytes of dynamic shared memory.  extent
 * NULL: accesses to global memory are not checked.  TD_ERR_INDEX: an access out of bounds; TD_ERR_THREADS: a
 * divergent barrier.  The text names kernel, block, thread and line. */
td_status td_interp(const td_fn *f, const uint32_t grid[3], const uint32_t block[3], const uint64_t *args,
                    size_t shared, td_extent *extent);

enum { TD_NAMED_DIMS = 8 };

/* td_named - a named array in global memory. */
typedef struct td_named {
    const char *name;
    uintptr_t   at;   /* address of element 0, 0, … */
    size_t      size; /* bytes of an element */
    int         ndim;
    int64_t     dim[TD_NAMED_DIMS], stride[TD_NAMED_DIMS]; /* bytes */
} td_named;

/* td_check - what td_interp_checked needs to know, and hooks that it calls. */
typedef struct td_check {
    const td_named *named;
    uint32_t        nnamed;
    uint64_t        port; /* a store to this address is not made: `halt` gets the word instead; 0: none */
    td_status     (*halt)(void *ctx, uint64_t word, const uint32_t block[3], const uint32_t thread[3]);
    void           *ctx;
    /* TD_FLOAT_*: stored values that arose so are told to `found`, which gets the operation and its place */
    unsigned        floats;
    td_status     (*found)(void *ctx, int kind, const char *text);
    void          (*hint)(void *ctx, const char *text); /* after a launch without errors: what may still be wrong */
} td_check;

enum { TD_FLOAT_DIVIDE = 1, TD_FLOAT_OVER = 2, TD_FLOAT_INVALID = 8 }; /* as array/run/fperror.h counts them */

/* New memory of a kernel that is checked is filled with this byte.  Elements of 4 and 8 bytes that consist of it count as
 * never written. */
enum { TD_FRESH_BYTE = 0xcb };

/* As td_interp, and stops at the first of these errors.
 *
 *   TD_ERR_THREADS: two threads access the same byte of global or shared memory, one of them writes, the
 * accesses are not both atomic, and no barrier, syncwarp, or fence with an atomic operation orders them.
 * (Writing the value that another thread wrote is allowed.)  Or a thread reads shared, local or fresh memory that was
 * never written, or exchanges with a lane that its shuffle does not name.
 *
 *   TD_ERR_OVERFLOW: integer arithmetic that an address is computed from exceeds the range of its dtype. */
td_status td_interp_checked(const td_fn *f, const uint32_t grid[3], const uint32_t block[3], const uint64_t *args,
                            size_t shared, td_extent *extent, const td_check *check);

#endif
