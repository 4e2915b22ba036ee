/* hostsmall.h - many small matrices on the CPU: a matrix in each lane of a vector, groups of them by all threads. */
#ifndef TD_DEV_HOSTSMALL_H
#define TD_DEV_HOSTSMALL_H
#include "dev/core/solver.h"

enum { TD_SMALL_ROWS = 32 }; /* of a matrix, and columns of its right sides */

/* TD_SKIP: a row of solver.def that is not for the CPU. */
td_status td_hostsmall_can(td_solver_op op);
/* TD_ERR_VALUE: matrices that are too large, or complex. */
td_status td_hostsmall_run(const td_solver *j);

#endif
