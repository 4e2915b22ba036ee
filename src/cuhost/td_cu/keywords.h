// keywords.h - CUDA's qualifiers.
#ifndef TD_CU_KEYWORDS_H
#define TD_CU_KEYWORDS_H

#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000
#define __CUDACC__ 1
// Volta's: its threads of a warp may diverge freely, and texts for later architectures fall back from instructions that
// only those have.
#define __CUDA_ARCH__ 700
#define TREADLE_CPU 1 // lets a text test whether it is compiled for a CPU

#define TD_CU_INLINE static inline __attribute__((always_inline, unused))

// Inlined into the loop over the block's threads, so that the loop can be vectorised.
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
// Variables that the rewriter has left alone: a block runs on one CPU thread, so thread_local makes them the block's.
#define __shared__ static thread_local

#endif
