// Cooperative groups: the block, tiles, lanes that stand together, the grid.
#include "treadle_cuda.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

#define WRONG(c) ((c) ? (void)atomicAdd(bad, 1) : (void)0)

__global__ void blocks(int *bad, int *memory)
{
    cg::thread_block g = cg::this_thread_block();
    unsigned i = g.thread_rank(), n = g.size();

    WRONG(n != g.num_threads() || n != blockDim.x * blockDim.y * blockDim.z);
    WRONG(i != threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
    WRONG(g.thread_index().y != threadIdx.y || g.group_index().x != blockIdx.x || g.dim_threads().z != blockDim.z);
    memory[i] = int(i);
    g.sync();
    WRONG(memory[n - 1 - i] != int(n - 1 - i));
    cg::sync(g);
    cg::invoke_one(g, [=] { memory[0] = 77; });
    g.sync();
    WRONG(memory[0] != 77);
    g.sync();
    cg::memcpy_async(g, memory + 2000, memory + 1, 4 * 50);
    cg::wait(g);
    WRONG(memory[2049] != 50);
}

template <unsigned N> __device__ static void tile(int *bad)
{
    auto t = cg::tiled_partition<N>(cg::this_thread_block());
    int i = int(t.thread_rank()), first = int(threadIdx.x) - i;
    struct big { double a, b, c; };

    WRONG(t.size() != N || t.num_threads() != N || i != int(threadIdx.x % N));
    WRONG(t.meta_group_rank() != threadIdx.x / N || t.meta_group_size() != blockDim.x / N);
    WRONG(t.shfl(int(threadIdx.x), N - 1) != first + int(N) - 1);
    WRONG(t.shfl_down(int(threadIdx.x), 1) != (i + 1 < int(N) ? int(threadIdx.x) + 1 : int(threadIdx.x)));
    WRONG(t.shfl_up(int(threadIdx.x), 1) != (i ? int(threadIdx.x) - 1 : int(threadIdx.x)));
    WRONG(t.shfl_xor(int(threadIdx.x), N / 2) != (int(threadIdx.x) ^ int(N / 2)));
    WRONG(t.shfl(big{1.0 * threadIdx.x, 2, 3.0 * threadIdx.x}, 0).c != 3.0 * first);
    WRONG(t.any(i == int(N) - 1) != 1 || t.all(i >= 0) != 1);
    WRONG(t.ballot(i == 0) != 1);
    WRONG(t.match_any(i / 2) != (N == 1 ? 1u : 3u << i / 2 * 2));
    WRONG(cg::reduce(t, i + 1, cg::plus<int>()) != int(N * (N + 1) / 2));
    WRONG(cg::reduce(t, i + 1, cg::greater<int>()) != int(N));
    WRONG(cg::reduce(t, i + 1, cg::less<>()) != 1);
    WRONG(cg::inclusive_scan(t, i + 1) != (i + 1) * (i + 2) / 2);
    WRONG(cg::exclusive_scan(t, i + 1) != i * (i + 1) / 2);
    t.sync();
}

__global__ void tiles(int *bad, int *)
{
    tile<1>(bad);
    tile<2>(bad);
    tile<4>(bad);
    tile<8>(bad);
    tile<16>(bad);
    tile<32>(bad);
}

// As in NVIDIA's introduction: a sum over any group.
__device__ static int sum_of(cg::thread_group g, int *temp, int v)
{
    int lane = int(g.thread_rank());

    for (int i = int(g.size()) / 2; i > 0; i /= 2) {
        temp[lane] = v;
        g.sync();
        if (lane < i)
            v += temp[lane + i];
        g.sync();
    }
    return v;
}

__global__ void any_group(int *bad, int *)
{
    auto &temp = td_cu::shared<int[128], 0>();
    auto block = cg::this_thread_block();
    int v = sum_of(block, temp, 1);

    WRONG(block.thread_rank() == 0 && v != 128);
    block.sync();
    auto tile = cg::tiled_partition(block, 16);
    v = sum_of(tile, temp + block.thread_rank() / 16 * 16, 1);
    WRONG(tile.size() != 16 || (tile.thread_rank() == 0 && v != 16));
    auto warp = cg::tiled_partition<32>(block);
    v = sum_of(warp, temp + block.thread_rank() / 32 * 32, 1);
    WRONG(warp.thread_rank() == 0 && v != 32);
}

__global__ void together(int *bad, int *memory)
{
    if (threadIdx.x % 4 != 1) {
        auto g = cg::coalesced_threads();
        unsigned rank = threadIdx.x % 32 / 4 * 3 + (threadIdx.x % 4 ? threadIdx.x % 4 - 1 : 0);

        WRONG(g.size() != 24 || g.thread_rank() != rank);
        WRONG(g.shfl(int(threadIdx.x % 32), 4) != 6);
        WRONG(g.shfl_up(int(g.thread_rank()), 2) != (rank < 2 ? int(rank) : int(rank) - 2));
        WRONG(g.ballot(rank == 5) != 32);
        WRONG(cg::reduce(g, 1, cg::plus<int>()) != 24);
        if (g.thread_rank() == 0)
            atomicAdd(memory, int(g.size()));
        auto same = cg::labeled_partition(g, int(rank % 2));
        WRONG(same.size() != 12 || same.thread_rank() != rank / 2);
        same.sync();
    }
    __syncthreads();
    WRONG(memory[0] != int(blockDim.x / 4 * 3));
}

__global__ void grids(int *bad, int *memory)
{
    auto g = cg::this_grid();

    WRONG(!g.is_valid() || g.size() != gridDim.x * blockDim.x || g.num_blocks() != gridDim.x);
    WRONG(g.thread_rank() != blockIdx.x * blockDim.x + threadIdx.x);
    for (int r = 0; r < 3; r++) {
        memory[g.thread_rank()] = r;
        g.sync();
        WRONG(memory[g.size() - 1 - g.thread_rank()] != r);
        g.sync();
        __syncthreads();
    }
}

__global__ void no_grid(int *, int *)
{
    cg::this_grid().sync();
}

TD_CU_TABLE_BEGIN
TD_CU_KERNEL(TD_CU_SWITCHED, "blocks|2|4,5,6", (blocks), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "tiles|1|96", (tiles), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "any group|1|128", (any_group), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "together|1|96", (together), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "grids|c5|70", (grids), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "no grid|2|2||grid.sync() in a launch that is not cooperative", (no_grid), 0)
TD_CU_KERNEL(TD_CU_SWITCHED, "a grid of one block|1|2", (no_grid), 0)
TD_CU_GLOBALS
TD_CU_TABLE_END
