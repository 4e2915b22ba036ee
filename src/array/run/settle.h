/* settle.h - which inputs of a kernel are computed before it. */
#ifndef TD_ARRAY_SETTLE_H
#define TD_ARRAY_SETTLE_H
#include "array/form/row.h"
#include "array/run/eval.h"
#include "array/run/spill.h"

/* td_extent - what a kernel iterates over.  Plain data. */
typedef struct td_extent {
    int64_t            total;   /* elements */
    const td_rowspace *rows;    /* borrowed: the rows that the kernel reduces inside; NULL: it has none */
    bool               reduces; /* it writes one result for many elements, so no element is written by the way */
} td_extent;

/* Evaluates what a kernel for n over the extent cannot or should not compute inside.  `need`: the thread's evaluation.
 * TD_ERR_OOM without an error text: the kernel would read more than the device holds, and td_settle_splits(n). */
td_status td_settle_inputs(td_need *need, td_node *n, const td_extent *e);

/* Evaluates all sources of n.  A kernel of one operation then always fits. */
td_status td_settle_sources(td_need *need, td_node *n);

/* The inputs of a write over `total` elements; with `all` its value, positions and guard themselves. */
td_status td_settle_putting(td_need *need, const td_putting *w, int64_t total, bool all);

/* n, which was moved to the host, comes back to its device.  Other threads wait for it as for a value being computed. */
td_status td_settle_return(td_node *n);

/* A kernel computes other values beside n (or, with NULL, beside what it writes to memory).  They are marked as n is: another
 * thread that reads their sources meanwhile could read one that n is written over. */
void td_settle_beside(const td_plan *p, const td_node *n, bool busy);

/* Has n pending sources, whose evaluation first would make n's own kernel smaller, and may values move to the host? */
bool td_settle_splits(const td_node *n);

#endif
