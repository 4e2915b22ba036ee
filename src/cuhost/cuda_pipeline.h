// cuda_pipeline.h - asynchronous copies to shared memory; a CPU copies at once.
#ifndef TD_CU_PIPELINE_H
#define TD_CU_PIPELINE_H
#pragma GCC system_header
#include "treadle_cuda.h"

TD_CU_INLINE void __pipeline_memcpy_async(void *to, const void *from, size_t nbytes, size_t zeroes = 0)
{
    memcpy(to, from, nbytes - zeroes);
    memset(static_cast<char *>(to) + nbytes - zeroes, 0, zeroes);
}
TD_CU_INLINE void __pipeline_commit() {}
TD_CU_INLINE void __pipeline_wait_prior(size_t) {}

#endif
