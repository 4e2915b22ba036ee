// Shuffles, votes, matches and reductions: whole warps, masks, widths, a last warp that is not whole, lanes that have returned.
#include "treadle_cuda.h"

#define WRONG(c) ((c) ? (void)atomicAdd(bad, 1) : (void)0)

static __device__ int lanes_in(unsigned n, unsigned i) { return n - i / 32 * 32 < 32 ? n - i / 32 * 32 : 32; }

template <class T> static __device__ T value(int lane) { return T(lane * 3 + 1); }

template <class T> __global__ void shuffles(TD_CU_PARAMS, int *bad, int *)
{
    int lane = threadIdx.x % 32, n = lanes_in(blockDim.x, threadIdx.x);
    unsigned all = 0xffffffff;

    for (int width = 1; width <= 32; width *= 2)
        for (int k = 0; k < 35; k++) {
            int low = lane / width * width, from;
            T v = value<T>(lane);

            from = low + (k & (width - 1));
            WRONG(__shfl_sync(all, v, k, width) != value<T>(from < n ? from : lane));
            from = lane - k >= low ? lane - k : lane;
            WRONG(__shfl_up_sync(all, v, k, width) != value<T>(from));
            from = lane + k < low + width && lane + k < n ? lane + k : lane;
            WRONG(__shfl_down_sync(all, v, k, width) != value<T>(from));
            from = k < 32 && (lane ^ k) < low + width && (lane ^ k) < n ? lane ^ k : lane;
            if (k < 32)
                WRONG(__shfl_xor_sync(all, v, k, width) != value<T>(from));
        }
}

// Odd lanes, even lanes, and lanes alone between operations of the whole warp, different numbers of times.
__global__ void masks(TD_CU_PARAMS, int *bad, int *)
{
    int lane = threadIdx.x % 32, n = lanes_in(blockDim.x, threadIdx.x), odd = lane & 1;
    unsigned mask = odd ? 0xaaaaaaaa : 0x55555555;

    for (int r = 0; r < 6; r++) {
        int whole = __shfl_sync(0xffffffff, lane + r, (lane + 5) % 32);
        int from = (lane + 5) % 32;

        WRONG(whole != (from < n ? from : lane) + r);
        for (int k = 0; k < (odd ? 3 : 1); k++) {
            from = (lane + 2) % 32;
            WRONG(__shfl_sync(mask, lane * 10 + k, from) != (from < n ? from : lane) * 10 + k);
        }
        if (lane == 3)
            for (int k = 0; k < 3; k++)
                WRONG(__shfl_sync(8, 77 + k, 3) != 77 + k);
        if (lane < 8)
            WRONG(__ballot_sync(0xff, lane % 3 == 0) != (0x49 & (n < 8 ? (1u << n) - 1 : 0xff)));
    }
}

__global__ void votes(TD_CU_PARAMS, int *bad, int *)
{
    int lane = threadIdx.x % 32, n = lanes_in(blockDim.x, threadIdx.x);
    unsigned there = n == 32 ? 0xffffffff : (1u << n) - 1;

    for (int r = 0; r < 32; r++) {
        unsigned want = 0;

        for (int l = 0; l < n; l++)
            want |= unsigned((l * r >> 2) & 1) << l;
        WRONG(__ballot_sync(0xffffffff, lane * r & 4) != want);
        WRONG(__any_sync(0xffffffff, lane == r) != (r < n));
        WRONG(__all_sync(0xffffffff, lane != r) != (r >= n));
        WRONG(__uni_sync(0xffffffff, lane < 0) != 1);
        WRONG(__uni_sync(0xffffffff, lane == r) != (r >= n || n == 1));
    }
    WRONG(__ballot_sync(0xffffffff, 1) != there);
    __syncwarp();
    if (lane < 4)
        __syncwarp(0xf);
}

__global__ void matches(TD_CU_PARAMS, int *bad, int *)
{
    int lane = threadIdx.x % 32, n = lanes_in(blockDim.x, threadIdx.x), all;
    unsigned want = 0, there = n == 32 ? 0xffffffff : (1u << n) - 1;

    for (int l = 0; l < n; l++)
        want |= unsigned(l % 5 == lane % 5) << l;
    WRONG(__match_any_sync(0xffffffff, lane % 5) != want);
    WRONG(__match_any_sync(0xffffffff, lane % 5 + 0.5) != want);
    WRONG(__match_all_sync(0xffffffff, 7LL, &all) != there || all != 1);
    WRONG(__match_all_sync(0xffffffff, lane, &all) != (n == 1 ? 1u : 0u) || all != (n == 1));
}

__global__ void reduces(TD_CU_PARAMS, int *bad, int *)
{
    int lane = threadIdx.x % 32, n = lanes_in(blockDim.x, threadIdx.x);
    unsigned band = ~0u, bor = 0, bxor = 0;

    for (int l = 0; l < n; l++) {
        band &= ~(1u << l);
        bor |= l * 5;
        bxor ^= l * 7;
    }
    WRONG(__reduce_add_sync(0xffffffff, lane) != n * (n - 1) / 2);
    WRONG(__reduce_add_sync(0xffffffff, unsigned(lane)) != unsigned(n * (n - 1) / 2));
    WRONG(__reduce_min_sync(0xffffffff, lane - 3) != -3);
    WRONG(__reduce_max_sync(0xffffffff, lane - 3) != n - 4);
    WRONG(__reduce_min_sync(0xffffffff, unsigned(lane - 3)) != (n > 3 ? 0u : unsigned(-3)));
    WRONG(__reduce_max_sync(0xffffffff, unsigned(lane)) != unsigned(n - 1));
    WRONG(__reduce_and_sync(0xffffffff, ~(1u << lane)) != band);
    WRONG(__reduce_or_sync(0xffffffff, unsigned(lane * 5)) != bor);
    WRONG(__reduce_xor_sync(0xffffffff, unsigned(lane * 7)) != bxor);
    if (lane % 2)
        WRONG(__reduce_add_sync(0xaaaaaaaa, 1) != n / 2);
}

// The block's sum as everybody writes it.
__global__ void block_sum(TD_CU_PARAMS, int *bad, int *memory)
{
    auto &part = td_cu::shared<int[32], 0>();
    int v = threadIdx.x + 1, n = blockDim.x;

    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int d = 16; d; d /= 2)
            v += __shfl_xor_sync(0xffffffff, v, d);
        if (threadIdx.x == 0)
            memory[0] = v;
    }
    __syncthreads();
    WRONG(memory[0] != n * (n + 1) / 2);
}

__global__ void returned(TD_CU_PARAMS, int *bad, int *)
{
    int lane = threadIdx.x % 32;

    if (lane >= 20)
        return;
    WRONG(__ballot_sync(0xffffffff, 1) != 0xfffff);
    WRONG(__shfl_down_sync(0xffffffff, lane, 5) != (lane < 15 ? lane + 5 : lane));
    WRONG(__reduce_add_sync(0xffffffff, 1) != 20);
}

__global__ void active(TD_CU_PARAMS, int *bad, int *memory)
{
    int lane = threadIdx.x % 32;
    unsigned want = 0x11111111u << lane % 4;

    if (lane % 4 == 0)
        WRONG(__activemask() != want);
    else if (lane % 4 == 1) {
        memory[100 + threadIdx.x] = __activemask();
        WRONG(memory[100 + threadIdx.x] != int(want));
    } else {
        // A group's leader takes places for all of it.
        unsigned mask = __activemask();
        int leader = __ffs(mask) - 1, base = 0;

        if (lane == leader)
            base = atomicAdd(memory, __popc(mask));
        base = __shfl_sync(mask, base, leader);
        base += __popc(mask & ((1u << lane) - 1));
        WRONG(atomicAdd(memory + 1 + base, 1) != 0);
    }
    __syncthreads();
    WRONG(memory[0] != int(blockDim.x / 2));
    WRONG(__activemask() != 0xffffffff);
}

__global__ void outside(TD_CU_PARAMS, int *, int *)
{
    __shfl_sync(0xff00, 1, 0);
}

TD_CU_TABLE_BEGIN
TD_CU_KERNEL(TD_CU_SWITCHED, "shuffles of int|1|77", (shuffles<int>), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "shuffles of float|1|32", (shuffles<float>), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "shuffles of double|2|33", (shuffles<double>), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "shuffles of unsigned long long|1|1", (shuffles<unsigned long long>), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "masks 1|1|32", (masks), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "masks 2|2|100", (masks), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "votes 1|1|64", (votes), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "votes 2|1|71", (votes), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "votes 3|1|1", (votes), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "matches|1|75", (matches), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "reduces|1|75", (reduces), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "reduces cooperative|c3|75", (reduces), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "block sum|1|1024", (block_sum), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "returned|1|128", (returned), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "active|1|128", (active), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "outside of the mask|1|1||in which the calling lane 0 is not", (outside), 0)
TD_CU_GLOBALS
TD_CU_TABLE_END
