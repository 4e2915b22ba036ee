// keywords.h - CUDA's qualifiers.
#ifndef TD_CU_KEYWORDS_H
#define TD_CU_KEYWORDS_H

#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000
#define __CUDACC__ 1
// Volta's: threads of a warp go their own ways, and texts for later ones fall back from instructions that only those have.
#define __CUDA_ARCH__ 700
#define TREADLE_CPU 1 // a text may ask whether it is compiled for a CPU

#define TD_CU_INLINE static inline __attribute__((always_inline, unused))

// A kernel stands in the loop over its threads: inlined, so that the loop can be vectorised.
#define __global__ __attribute__((always_inline)) inline
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __block_size__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define CUDARTAPI
#define CUDART_CB
// What the rewriter has not turned into td_cu::shared: a block runs on one thread of the CPU.
#define __shared__ static thread_local

#endif
