/* solver.h - factorisations and solvers of a vendor's library (cuSOLVER, cuBLAS), opened at first use.
 *
 * A job is a row of solver.def applied to matrices in device memory.  Work is asynchronous, except where the
 * library itself waits.  The row's info tells whether a matrix was singular; the caller reads it.
 */
#ifndef TD_DEV_SOLVER_H
#define TD_DEV_SOLVER_H
#include "dev/core/dev.h"
#include "type/dtype.h"

typedef enum td_solver_op {
#define SOLVE(name, once, arrays, flags) TD_SOLVE_##name,
#include "dev/core/solver.def"
    TD_SOLVER_OPS
} td_solver_op;

enum { TD_SOLVER_ARRAYS = 5, TD_SOLVER_FLAGS = 4 };

typedef struct td_solver {
    td_solver_op op;
    td_dtype     dt;                     /* float32, float64, complex64, complex128 */
    int64_t      m, n, k, batch;
    char         flag[TD_SOLVER_FLAGS];  /* one letter of each of the row's groups, in order */
    uintptr_t    at[TD_SOLVER_ARRAYS];
    /* of arrays whose `listed` is set: the address of a batch's addresses, int64 on the device */
    uintptr_t    addresses[TD_SOLVER_ARRAYS];
    /* gesvdp: receives what was added to the matrix, which is how far singular values may be off; or NULL */
    double      *disturbed;
} td_solver;

/* An array of a row: its dtype, a matrix's elements, whether it is written. */
typedef struct td_solver_array {
    td_dtype dt;
    int64_t  count;
    bool     written;
    bool     listed; /* the library wants the address of each matrix */
} td_solver_array;

/* -1: there is no such row. */
int td_solver_find(const char *name);
/* The arrays that the row needs; returns how many.  j's op, dt, sizes and flags are set. */
int td_solver_arrays(const td_solver *j, td_solver_array out[TD_SOLVER_ARRAYS]);
/* TD_ERR_TYPE, TD_ERR_VALUE: the row does not take j's dtype, sizes or flags. */
td_status td_solver_check(const td_solver *j);

/* TD_SKIP: the device has no function for this row.  TD_ERR_LIBRARY names what to install. */
td_status td_solver_can(td_dev *d, td_solver_op op);
/* j has been checked, td_solver_can allows it, and no extent is 0.  TD_ERR_OOM: no room for the workspace. */
td_status td_solver_run(td_stream *s, const td_solver *j);

/* Text for `python -m treadle info`: path and version of cuSOLVER, or what is missing.  Borrowed, for the process's life. */
const char *td_solver_info(td_dev *d);

#endif
