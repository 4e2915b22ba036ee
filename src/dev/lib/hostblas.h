/* hostblas.h - matrix products on the CPU through a BLAS that is opened at first use. */
#ifndef TD_DEV_HOSTBLAS_H
#define TD_DEV_HOSTBLAS_H
#include "dev/core/blas.h"

/* As td_blas_gemm; arguments have been checked and nothing is 0.  TD_ERR_LIBRARY: there is none;
 * TD_SKIP: half precision, or sizes beyond the library's 32 bits. */
td_status td_hostblas_gemm(const td_gemm *g);

#endif
