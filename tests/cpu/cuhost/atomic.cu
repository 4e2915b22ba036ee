// Atomic operations on global memory, on shared memory, and their values.
#include "treadle_cuda.h"

#define WRONG(c) ((c) ? (void)atomicAdd(bad, 1) : (void)0)

// All of them on *p, by every thread; what must have become of it is known without an order.
template <class Memory> static __device__ void many(uint3 t, Memory *m)
{
    int i = t.x;

    atomicAdd(&m->i, i);
    atomicSub(&m->j, 2);
    atomicAdd(&m->u, 3u);
    atomicAdd_block(&m->ull, 5000000000ull);
    atomicAdd_system(&m->f, 0.5f);
    atomicAdd(&m->d, 0.25);
    atomicMin(&m->low, -i);
    atomicMax(&m->high, i);
    atomicMax(&m->uhigh, unsigned(i));
    atomicMin(&m->lllow, -5000000000ll * i);
    atomicMax(&m->ullhigh, 5000000000ull * i);
    atomicOr(&m->bits, 1 << i % 31);
    atomicXor(&m->flips, 1u << i % 7);
    atomicAnd(&m->left, ~(1ull << i % 60));
    atomicInc(&m->inc, 9u);
    atomicDec(&m->dec, 9u);
    for (int was = m->cas, now; (now = atomicCAS(&m->cas, was, was + 2)) != was; was = now)
        ;
    unsigned short was = m->small;
    for (unsigned short now; (now = atomicCAS(&m->small, was, (unsigned short)(was + 1))) != was; was = now)
        ;
    if (atomicExch(&m->swap, 1.5f) == 0)
        atomicAdd(&m->swapped, 1);
}

struct memory_of {
    int i, j, low, high, bits, cas;
    unsigned u, uhigh, flips, inc, dec;
    float f, swap;
    unsigned long long ull, ullhigh, left;
    long long lllow;
    double d;
    unsigned short small, other;
    int swapped;
};

static __device__ void verify(int n, int *bad, const memory_of *m)
{
    unsigned flips = 0, dec = 0, bits = 0;
    unsigned long long left = ~0ull;

    for (int i = 0; i < n; i++) {
        flips ^= 1u << i % 7;
        bits |= 1 << i % 31;
        left &= ~(1ull << i % 60);
        dec = dec == 0 || dec > 9 ? 9 : dec - 1;
    }
    WRONG(m->i != n * (n - 1) / 2);
    WRONG(m->j != -2 * n);
    WRONG(m->u != 3u * n);
    WRONG(m->ull != 5000000000ull * n);
    WRONG(m->f != 0.5f * n);
    WRONG(m->d != 0.25 * n);
    WRONG(m->low != -(n - 1) || m->high != n - 1 || m->uhigh != unsigned(n - 1));
    WRONG(m->lllow != -5000000000ll * (n - 1) || m->ullhigh != 5000000000ull * (n - 1));
    WRONG(m->flips != flips || m->dec != dec || m->inc != unsigned(n % 10) || unsigned(m->bits) != bits || m->left != left);
    WRONG(m->swapped != 1);
    WRONG(m->cas != 2 * n || m->small != n % 65536 || m->other != 0);
}

__global__ void global_memory(TD_CU_PARAMS, int *bad, int *memory)
{
    memory_of *m = reinterpret_cast<memory_of *>(memory);

    if (threadIdx.x == 0)
        m->left = ~0ull;
    __syncthreads();
    many(threadIdx, m);
    __syncthreads();
    verify(blockDim.x, bad, m);
}

__global__ void shared_memory(TD_CU_PARAMS, int *bad, int *)
{
    auto &m = td_cu::shared<memory_of, 0>();

    WRONG(!__isShared(&m.i) || __isGlobal(&m.i) || __isShared(bad) || !__isGlobal(bad));
    if (threadIdx.x == 0) {
        memset(&m, 0, sizeof m);
        m.left = ~0ull;
    }
    __syncthreads();
    many(threadIdx, &m);
    __syncthreads();
    verify(blockDim.x, bad, &m);
}

__global__ void values(int *bad, int *memory)
{
    unsigned *u = reinterpret_cast<unsigned *>(memory);
    float *f = reinterpret_cast<float *>(memory);

    WRONG(atomicAdd(memory, 7) != 0 || atomicAdd(memory, -9) != 7 || *memory != -2);
    WRONG(atomicSub(u, 3u) != 0xfffffffeu || *u != 0xfffffffb);
    WRONG(atomicExch(u, 11u) != 0xfffffffb);
    WRONG(atomicInc(u, 11u) != 11 || *u != 0 || atomicInc(u, 11u) != 0 || *u != 1);
    WRONG(atomicDec(u, 5u) != 1 || *u != 0 || atomicDec(u, 5u) != 0 || *u != 5);
    *u = 9;
    WRONG(atomicDec(u, 5u) != 9 || *u != 5);
    WRONG(atomicCAS(u, 4u, 6u) != 5 || *u != 5 || atomicCAS(u, 5u, 6u) != 5 || *u != 6);
    *f = 1.5f;
    WRONG(atomicAdd(f, 2.25f) != 1.5f || *f != 3.75f);
    WRONG(atomicExch(f, -0.0f) != 3.75f || *u != 0x80000000);
    WRONG(atomicMin(memory, 5) != int(0x80000000) || atomicMax(memory, 5) != int(0x80000000) || *memory != 5);
}

TD_CU_TABLE_BEGIN
TD_CU_KERNEL(TD_CU_SWITCHED, "global memory|1|1000", (global_memory), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "shared memory|1|1000", (shared_memory), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "values|1|1", (values), 0)
TD_CU_GLOBALS
TD_CU_TABLE_END
