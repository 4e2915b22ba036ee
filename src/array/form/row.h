/* row.h - one kernel for reductions over the rows of a space and everything that is computed from them.
 *
 * Softmax and normalisations reduce each row and use the result for all elements of the row.  One thread (CPU), or a team of
 * threads up to a whole block (GPU), owns a row, so only inputs and results pass through memory.
 */
#ifndef TD_ARRAY_ROW_H
#define TD_ARRAY_ROW_H
#include "array/form/nest.h"
#include "array/plan/plan.h"

/* td_rowspace - a space whose `axes` are reduced.  Plain data. */
typedef struct td_rowspace {
    td_shape shape;
    uint32_t axes;
    uint32_t lack; /* axes of the space that the root's shape leaves out: none, or `axes` */
} td_rowspace;

/* Finds the rows that root is computed over; false: there are none, or a kernel that owns rows would not be faster. */
bool td_row_find(td_node *root, td_rowspace *out);
/* Does the reduction n reduce just these rows?  lack: the axes that the shape of n's reader leaves out. */
bool td_row_inside(const td_rowspace *r, const td_node *n, uint32_t lack);
/* Has n one value for each row? */
bool td_row_level(const td_rowspace *r, const td_node *n, uint32_t lack);

/* Launches a plan of rows with all its stores.  TD_SKIP: it has too many arguments for one kernel. */
td_status td_row_eval(td_plan *p);

/* int64 arguments after the plan's own. */
enum {
    TD_ROW_ROWS,
    TD_ROW_LENGTH, /* elements of a row */
    TD_ROW_PER,    /* rows a block (CPU) */
    TD_ROW_EXTRAS
};

/* td_row - the schedule of a kernel.  It passes over each row once for each stage, and computes a step in the first pass that
 * needs it. */
typedef struct td_row {
    const td_plan *p;
    td_nest        nest;   /* a unit is a row */
    bool           held;   /* GPU: a thread keeps its elements in registers from pass to pass; else each pass reads them again */
    bool           ragged; /* GPU: the last vector of a thread may lie behind the end of the row */
    int            lanes;  /* elements of one access */
    int            resident; /* GPU: blocks that a multiprocessor has room for */
    int            each;   /* GPU: vectors that a thread handles together */
    int            passes;
    int            scratch;              /* CPU: elements of an array that carries expensive values to later passes */
    uint8_t        need[TD_PLAN_STEPS];  /* the first pass that reads the step's elements */
    uint8_t        last[TD_PLAN_STEPS];  /* the last one */
    uint8_t        saved[TD_PLAN_STEPS]; /* CPU: the number of the array that carries the step, from 1; 0: none does */
} td_row;

td_status td_row_build(void *ctx, td_fn *f);

#endif
