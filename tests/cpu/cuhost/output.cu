// printf, assert, new and malloc in kernels.
#include "treadle_cuda.h"
#include <cassert>
#include <cmath>
#include <cstdio>
#include <iostream>

#define WRONG(c) ((c) ? (void)atomicAdd(bad, 1) : (void)0)

__global__ void prints(TD_CU_PARAMS, int *bad, int *)
{
    int width = 5;

    printf("%d %*d,%-6.3f,%s %c %llu%%\n", blockIdx.x, width, threadIdx.x, 1.0 / 3, "text", 'c', 1ull << 40);
    if (threadIdx.x == 1) {
        printf("alone\n");
        printf("!");
    }
    (void)bad;
}

__global__ void prints_much(TD_CU_PARAMS, int *bad, int *)
{
    WRONG(printf("%01000d", 1) != 1000);
}

#line 77 "user.cu"
__device__ static int check(TD_CU_PARAMS, int i)
{
    assert(i < 4 && "small");
    return i;
}

__global__ void asserts(TD_CU_PARAMS, int *bad, int *memory)
{
    memory[threadIdx.x] = check(TD_CU_ARGS, threadIdx.x);
    __syncthreads();
    WRONG(memory[4] != 0 || memory[3] != 3);
}

__global__ void allocates(TD_CU_PARAMS, int *bad, int *)
{
    int *p = new int[100], *q = static_cast<int *>(malloc(400));

    for (int i = 0; i < 100; i++)
        p[i] = q[i] = i + threadIdx.x;
    __syncthreads();
    for (int i = 0; i < 100; i++)
        WRONG(p[i] != int(i + threadIdx.x) || q[i] != p[i]);
    delete[] p;
    free(q);
}

TD_CU_TABLE_BEGIN
TD_CU_KERNEL(TD_CU_PLAIN, "prints|1|2||=0     0,0.333 ,text c 1099511627776%\n0     1,0.333 ,text c 1099511627776%\nalone\n!", (prints), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "prints much|1|1", (prints_much), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "asserts|1|6||user.cu:79: check: assertion `i < 4 && \"small\"' failed in block (0, 0, 0), thread (4, 0, 0)", (asserts), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "allocates|1|6", (allocates), 0)
TD_CU_GLOBALS
TD_CU_TABLE_END
