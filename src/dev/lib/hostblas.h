/* hostblas.h - matrix products on the CPU through a BLAS that is opened at first use. */
#ifndef TD_DEV_HOSTBLAS_H
#define TD_DEV_HOSTBLAS_H
#include "dev/core/blas.h"

/* As td_blas_gemm; arguments have been checked and no extent is 0.  TD_ERR_LIBRARY: there is no BLAS; TD_SKIP:
 * half precision, or extents beyond the library's 32 bits. */
td_status td_hostblas_gemm(const td_gemm *g);

/* ---- between hostblas.c and hostgemm.c ---- */

td_status td_hostblas_open(const td_gemm *g); /* can the library compute g? */
void      td_hostblas_product(const td_gemm *g); /* the first one of g's batch */

/* ---- its threads ---- */

/* Opens the library, if there is one.  Not inside of a task of the pool: to find it may need what the pool's caller holds,
 * as Python's lock. */
void td_hostblas_find(void);

/* Between the two calls the library uses only the calling thread.  Calls nest and may overlap in several
 * threads. False: the library cannot be told so.  Then give it whole products, and do not call the end function. */
bool td_hostblas_begin(void);
void td_hostblas_end(void);

#endif
