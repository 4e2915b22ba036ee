/* hostsmall.h - many small matrices on the CPU: one matrix per vector lane, groups of them on all threads. */
#ifndef TD_DEV_HOSTSMALL_H
#define TD_DEV_HOSTSMALL_H
#include "dev/core/solver.h"

enum { TD_SMALL_ROWS = 64 }; /* of a matrix, and columns of its right sides */

/* TD_SKIP: the CPU does not do this row of solver.def. */
td_status td_hostsmall_can(td_solver_op op);
/* TD_ERR_VALUE: the matrices are too large, or complex. */
td_status td_hostsmall_run(const td_solver *j);

#endif
