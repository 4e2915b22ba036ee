/* row.h - one kernel for reductions over the rows of a space and all that is computed from them.
 *
 * Softmax, normalisations and their like: elements go into a reduction, its result comes back to all elements
 * of its row.  A row belongs to one thread (CPU), to a team of threads or to a block (GPU), so nothing but
 * inputs and results passes through memory.
 */
#ifndef TD_ARRAY_ROW_H
#define TD_ARRAY_ROW_H
#include "array/plan/plan.h"
#include "ir/core/ir.h"

/* td_rowspace - a space whose `axes` are reduced.  Plain data. */
typedef struct td_rowspace {
    td_shape shape;
    uint32_t axes;
    uint32_t lack; /* axes of the space that the root's shape leaves out: none, or `axes` */
} td_rowspace;

/* The rows that root is computed over; false: there are none, or they are not worth a kernel. */
bool td_row_find(td_node *root, td_rowspace *out);
/* Is n, a reduction read by a node whose shape leaves out `lack`, one over those rows? */
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

/* td_row - a kernel's form.  The row is gone through once for each stage; a step is computed in the pass
 * that first needs it. */
typedef struct td_row {
    const td_plan *p;
    bool           gpu;
    bool           held;   /* GPU: a thread's elements stay in registers from pass to pass; else they are read again */
    bool           ragged; /* a thread's last vector may lie behind the end of the row */
    int            lanes;  /* elements of one access */
    int            team, block, resident; /* GPU: threads a row, threads a block, blocks a multiprocessor */
    int            each;   /* GPU: vectors that a thread takes side by side */
    int            passes;
    int            scratch;              /* CPU: elements of an array that carries dear values to later passes */
    uint8_t        need[TD_PLAN_STEPS];  /* the first pass that reads the step's elements */
    uint8_t        last[TD_PLAN_STEPS];  /* the last one */
    uint8_t        saved[TD_PLAN_STEPS]; /* CPU: carried to later passes by such an array */
} td_row;

td_status td_row_build(void *ctx, td_fn *f);

#endif
