"""CUDA C++ as users write it, on the CPU: what its headers have beyond single functions, through the rewriter."""

import numpy as np
import pytest

import treadle as td
from treadle import _core

TEXT = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>
#include <cassert>

namespace cg = cooperative_groups;

extern "C" __global__ void block_sum(const float *x, float *out, int n)
{
    __shared__ float part[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0;

    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % warpSize == 0)
        part[threadIdx.x / warpSize] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int d = 16; d > 0; d >>= 1)
            v += __shfl_xor_sync(0xffffffff, v, d);
        if (threadIdx.x == 0)
            atomicAdd(out, v);
    }
}

extern "C" __global__ void tile_sum(const float *x, float *out, int n)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int i = block.group_index().x * block.size() + block.thread_rank();
    float v = cg::reduce(tile, i < n ? x[i] : 0.0f, cg::plus<float>());

    if (tile.thread_rank() == 0)
        atomicAdd(out, v);
}

extern "C" __global__ void steps(float *x, float *y, int n, int count)
{
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();

    for (int s = 0; s < count; s++) {
        if (i < n)
            y[i] = (x[(i + 1) % n] + x[(i + n - 1) % n]) / 2;
        grid.sync();
        if (i < n)
            x[i] = y[i];
        grid.sync();
    }
}

extern "C" __global__ void half_axpy(__half a, const __half *x, __half *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = __hfma(a, x[i], y[i]);
}

extern "C" __global__ void counted(const unsigned char *x, int n, int *bins)
{
    extern __shared__ int own[];

    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[x[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        atomicAdd(&bins[b], own[b]);
}

extern "C" __global__ void pi(double *out, int draws)
{
    curandStatePhilox4_32_10_t state;
    int inside = 0;

    curand_init(1, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
    for (int i = 0; i < draws; i++) {
        float x = curand_uniform(&state), y = curand_uniform(&state);

        inside += x * x + y * y <= 1;
    }
    atomicAdd(out, 4.0 * inside / draws / (gridDim.x * blockDim.x));
}

extern "C" __global__ void says(const int *x, int n)
{
    assert(n < 5);
    if (threadIdx.x == 1)
        printf("block %d: %d %s\n", blockIdx.x, x[threadIdx.x], "there");
}

struct functor {
    __device__ int operator()(int i) const { return i * blockDim.x + threadIdx.x; }
};

template <class T, class F> __global__ void through(T *out, F) { out[threadIdx.x] = F()(3); }

extern "C" __global__ void locks(int *lock, int *count)
{
    bool done = false;

    while (!done)
        if (atomicCAS(lock, 0, 1) == 0) {
            *count += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    __syncthreads();
}

extern "C" __global__ void parted(int *x)
{
    if (threadIdx.x < 16)
        x[threadIdx.x] = __shfl_sync(0xffffffff, threadIdx.x, 0);
    else
        __syncthreads();
}
"""


@pytest.fixture(scope="module")
def program():
    try:
        return _core.program(TEXT, device="cpu", file="user.cu", names=("through<int, functor>",))
    except td.MissingLibraryError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", ["block_sum", "tile_sum"])
@pytest.mark.parametrize("block", [32, 128, 1024])
def test_sums(program, name, block):
    x = np.random.default_rng(1).integers(0, 9, 5000).astype("f4")
    out = td.zeros(1, np.float32)
    program.kernel(name)(-(-x.size // block), block, (td.array(x), out, x.size))
    assert float(out[0]) == x.sum()


def test_cooperative_launch(program):
    x = np.random.default_rng(2).random(300)
    a, b = td.array(x.astype("f4")), td.zeros(300, np.float32)
    program.kernel("steps")(5, 64, (a, b, 300, 7), cooperative=True)
    want = x.astype("f4")
    for _ in range(7):
        want = (np.roll(want, -1) + np.roll(want, 1)) / np.float32(2)
    np.testing.assert_array_equal(np.asarray(a), want)
    with pytest.raises(td.Error, match="not cooperative"):
        program.kernel("steps")(5, 64, (a, b, 300, 7))
        td.synchronize()


def test_half_arrays(program):
    x, y = (np.random.default_rng(3).standard_normal((2, 1000)) * 8).astype(np.float16)
    out = td.array(y)
    program.kernel("half_axpy")(8, 128, (np.float16(1.5), td.array(x), out, 1000))
    want = (np.float64(1.5) * x.astype("f8") + y.astype("f8")).astype(np.float16)
    np.testing.assert_array_equal(np.asarray(out), want)


def test_counts_in_shared_memory(program):
    x = np.random.default_rng(4).integers(0, 256, 100_000).astype(np.uint8)
    bins = td.zeros(256, np.int32)
    program.kernel("counted")(7, 96, (td.array(x), x.size, bins), shared=1024)
    np.testing.assert_array_equal(np.asarray(bins), np.bincount(x, minlength=256))


def test_random_numbers(program):
    out = td.zeros(1, np.float64)
    program.kernel("pi")(4, 64, (out, 500))
    assert abs(float(out[0]) - np.pi) < 0.03


def test_printing_and_asserting(program, capfd):
    x = td.array(np.arange(4, dtype=np.int32))
    program.kernel("says")(2, 4, (x, 4))
    td.synchronize()
    assert sorted(capfd.readouterr().out.splitlines()) == ["block 0: 1 there", "block 1: 1 there"]
    with pytest.raises(
        td.Error, match=r"user.cu:\d+: says: assertion `n < 5' failed in block \(0, 0, 0\), thread \(0, 0, 0\)"
    ):
        program.kernel("says")(1, 4, (x, 5))
        td.synchronize()


def test_functors_see_indices(program):
    out = td.zeros(8, np.int32)
    program.kernel("through<int, functor>")(1, 8, (out, b"\0"))
    np.testing.assert_array_equal(np.asarray(out), 24 + np.arange(8))


def test_locks_within_a_block(program):
    lock, count = td.zeros(1, np.int32), td.zeros(1, np.int32)
    program.kernel("locks")(3, 50, (lock, count))
    assert int(count[0]) == 150


def test_threads_that_wait_for_each_other(program):
    with pytest.raises(td.Error, match="wait for others that never come"):
        program.kernel("parted")(1, 32, (td.zeros(32, np.int32),))
        td.synchronize()
