// Barriers, shared memory, early returns, counts; launches of one thread and of three axes.
#include "treadle_cuda.h"

#define WRONG(c) ((c) ? (void)atomicAdd(bad, 1) : (void)0)

__global__ void reverse(TD_CU_PARAMS, int *bad, int *)
{
    auto &t = td_cu::shared<int[1024], 0>();
    auto &u = td_cu::shared<double[3], 1>();
    int i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), n = blockDim.x * blockDim.y * blockDim.z;

    for (int r = 0; r < 3; r++) {
        t[i] = i + r + blockIdx.x;
        if (i == 0)
            u[r] = r;
        __syncthreads();
        WRONG(t[n - 1 - i] != int(n - 1 - i + r + blockIdx.x));
        WRONG(u[r] != r);
        __syncthreads();
    }
}

// The variables of the header, seen by a function that takes no parameters.
static __device__ int linear() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

__global__ void globals(int *bad, int *memory)
{
    int i = linear();

    WRONG(blockDim.x * blockDim.y * blockDim.z * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) > 6000u);
    memory[i + blockIdx.x * 1024] = i + 1;
    __syncthreads();
    WRONG(linear() != i);
    __syncthreads();
    WRONG(linear() != i);
    WRONG(memory[i + blockIdx.x * 1024] != i + 1);
}

__global__ void globals_in_loop(int *bad, int *memory)
{
    WRONG(memory[linear()]++ != 0);
}

__global__ void fallback(int *bad, int *)
{
    __shared__ int t[64];

    t[threadIdx.x] = threadIdx.x;
    __syncthreads();
    WRONG(t[63 - threadIdx.x] != int(63 - threadIdx.x));
}

__global__ void dynamic(TD_CU_PARAMS, int *bad, int *)
{
    float *s = td_cu::dynamic_shared<float>();
    auto &t = td_cu::shared<int[7], 2>();

    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 7)
        t[threadIdx.x] = -1;
    __syncthreads();
    WRONG(s[blockDim.x - 1 - threadIdx.x] != blockDim.x - 1 - threadIdx.x);
    WRONG(t[threadIdx.x % 7] != -1);
}

__global__ void returns(TD_CU_PARAMS, int *bad, int *memory)
{
    if (threadIdx.x % 3 == 1)
        return;
    memory[threadIdx.x] = 1;
    __syncthreads();
    for (unsigned i = 0; i < blockDim.x; i++)
        WRONG(memory[i] != (i % 3 != 1));
}

__global__ void counts(TD_CU_PARAMS, int *bad, int *)
{
    int n = blockDim.x, i = threadIdx.x;

    for (int r = 1; r < 5; r++) {
        WRONG(__syncthreads_count(i % r == 0) != (n + r - 1) / r);
        WRONG(__syncthreads_and(i < n) != 1);
        WRONG(__syncthreads_and(i < n - 1) != 0);
        WRONG(__syncthreads_or(i == n - 1) != 1);
        WRONG(__syncthreads_or(i == n) != 0);
    }
}

__global__ void parted(TD_CU_PARAMS, int *, int *)
{
    if (threadIdx.x < 3)
        __syncthreads();
    else if (threadIdx.x < 6)
        __syncwarp(0x3f);
}

__global__ void no_turns(TD_CU_PARAMS, int *, int *memory)
{
    memory[threadIdx.x] = 1;
    __syncthreads();
}

__global__ void trap(TD_CU_PARAMS, int *bad, int *memory)
{
    if (threadIdx.x == 2)
        __trap();
    memory[threadIdx.x] = 1;
    __syncthreads();
    WRONG(memory[2] != 0 || memory[0] != 1);
}

__global__ void trap_in_loop(TD_CU_PARAMS, int *bad, int *)
{
    if (threadIdx.x == 2)
        __trap();
    WRONG(threadIdx.x > 2);
}

// A lock that one thread of the block takes after another.
__global__ void lock(TD_CU_PARAMS, int *bad, int *memory)
{
    int *key = memory, *count = memory + 1;

    while (atomicCAS(key, 0, 1) != 0)
        ;
    int was = *(volatile int *)count;
    __nanosleep(10);
    *(volatile int *)count = was + 1;
    __threadfence();
    atomicExch(key, 0);
    __syncthreads();
    WRONG(*count != int(blockDim.x));
}

__global__ void waits_for_flag(TD_CU_PARAMS, int *, int *memory)
{
    if (threadIdx.x == 0)
        while (atomicAdd(memory, 0) == 0)
            ;
    else if (threadIdx.x == blockDim.x - 1)
        atomicExch(memory, 1);
}

TD_CU_TABLE_BEGIN
TD_CU_KERNEL(TD_CU_SWITCHED, "reverse 1|1|1", (reverse), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "reverse 2|3|77", (reverse), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "reverse 3|2|5,6,7", (reverse), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "reverse 4|1|1024", (reverse), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "reverse cooperative|c3|5,6,7", (reverse), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "globals|2|3,4,5", (globals), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "globals cooperative|c2|3,4,5", (globals), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "globals in a loop|1|3,4,5", (globals_in_loop), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "fallback|3|64", (fallback), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "dynamic|2|100|400", (dynamic), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "dynamic cooperative|c2|100|400", (dynamic), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "returns|1|100", (returns), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "counts 1|2|100", (counts), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "counts 2|2|1", (counts), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "parted|1|6||6 of 6 threads of a block wait", (parted), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "no turns|1|6||__syncthreads() where the threads of the block do not take turns", (no_turns), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "no turns wanted|1|1", (no_turns), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "trap|1|6||__trap() in block (0, 0, 0), thread (2, 0, 0)", (trap), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "trap in a loop|1|6||__trap() in block (0, 0, 0), thread (2, 0, 0)", (trap_in_loop), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "lock|1|100", (lock), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "waits for a flag|1|100", (waits_for_flag), 0)
TD_CU_GLOBALS
TD_CU_TABLE_END
