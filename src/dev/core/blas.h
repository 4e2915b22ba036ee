/* blas.h - matrix products through a vendor's library, opened at first use.
 *
 * c[m, n] = a[m, k] @ b[k, n], row-major.  lda, ldb, ldc are row strides in elements.  ta (tb) says that a (b) is
 * stored transposed.  A job has `batch` products, whose operands lie stride_* elements apart.
 * A GPU (cuBLAS) multiplies half types (accumulated in float32), float32 (not TF32), float64 and complex numbers.
 * The CPU (CBLAS) multiplies all but half types, and bfloat16 if the processor has instructions for it.
 * TD_ERR_LIBRARY names what to install.  TD_SKIP: the library has no product for this dtype, or the device (null)
 * has no library.
 */
#ifndef TD_DEV_BLAS_H
#define TD_DEV_BLAS_H
#include "dev/core/dev.h"
#include "type/dtype.h"

typedef struct td_gemm {
    td_dtype  dt;
    bool      ta, tb;
    int64_t   m, n, k;
    uintptr_t a, b, c;
    int64_t   lda, ldb, ldc;
    int64_t   batch, stride_a, stride_b, stride_c;
} td_gemm;

td_status td_blas_gemm(td_stream *s, const td_gemm *g);

/* Text for `python -m treadle info`: path and version of cuBLAS, or what is missing.  Borrowed, for the process's life. */
const char *td_blas_info(td_dev *d);

#endif
