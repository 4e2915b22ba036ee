/* count.h - one counting kernel: its form, its code. */
#ifndef TD_ARRAY_COUNT_H
#define TD_ARRAY_COUNT_H
#include "array/graph/node.h"
#include "array/form/nest.h"

enum { TD_COUNT_BINS_MAX = (1 << 20) - 1 }; /* between edges: float32 counts them, and has bits left */

/* Words after the pointers: in, edges (binned), counters. */
enum {
    TD_COUNT_N,
    TD_COUNT_BINS,
    TD_COUNT_STEP, /* GPU: elements that all threads take at once; CPU: elements of a block */
    TD_COUNT_INTS
};

typedef struct td_count {
    td_dtype in, counter; /* counter: uint32 or int64 */
    bool     binned;      /* in holds floats, which fall between edges; else the numbers of bins */
    td_nest  nest;        /* of blocks: each counts a share of the elements */
    int      bins;   /* GPU: counters in shared memory, a power of two, from the number of bins on; 0: in global memory */
    int      copies; /* GPU: of each counter in shared memory; CPU: of all counters for each block.  Powers of two */
    int      lanes, unroll;
} td_count;

/* Words of a binned kernel, of in's dtype, after the others. */
enum {
    TD_COUNT_FIRST, /* the first and the last edge */
    TD_COUNT_LAST,
    TD_COUNT_SCALE, /* bins per unit */
    TD_COUNT_SURE,  /* as long as (x - first) * scale is no further from a bin's middle, x is inside it */
    TD_COUNT_FLOATS
};

td_status td_count_build(void *ctx, td_fn *f);

#endif
