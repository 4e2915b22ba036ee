/* hostbf16.h - bfloat16 products by the processor's own instruction for them (AVX512_BF16). */
#ifndef TD_DEV_HOSTBF16_H
#define TD_DEV_HOSTBF16_H
#include "dev/core/blas.h"

/* As td_hostblas_gemm of bfloat16.  Sums are float32, rounded once; numbers below 2^-126 count as 0, as the
 * instruction has it.  TD_SKIP: the processor lacks it, or a side so short that packing would take longer; TD_ERR_OOM: no room
 * for the operands once more. */
td_status td_hostbf16_gemm(td_stream *s, const td_gemm *g);

#endif
