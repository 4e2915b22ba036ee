"""Histogram with atomic operations

How often each of 256 values occurs. A block counts in shared memory, where its threads meet rarely,
and adds what it has to the result at the end. The grid is as large as the device likes; each thread
takes every so many values.
"""

import numpy
import treadle as np
from treadle import RawKernel

SIZES = {"cpu": {"n": 4_000_000}, "cuda": {"n": 200_000_000}, "small": {"n": 10_007}}
TOLERANCE = 0.0
WHY = "whole numbers: no count differs"

BINS, BLOCK = 256, 256

count = RawKernel(
    """
extern "C" __global__ void count(const unsigned char *value, unsigned long long *bins, long long n)
{
    __shared__ unsigned int mine[256];
    long long stride = (long long)gridDim.x * blockDim.x;

    mine[threadIdx.x] = 0;
    __syncthreads();
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(&mine[value[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
""",
    "count",
)


def setup(n):
    drawn = numpy.random.default_rng(5).normal(128, 40, n)
    return (np.asarray(drawn.clip(0, 255).astype(numpy.uint8)),)


def main(value):
    bins = np.zeros(BINS, np.uint64)
    grid = min(1024, -(-value.size // BLOCK))
    count((grid,), (BLOCK,), (value, bins, value.size))
    return {"bins": bins}


def reference(value):
    return {"bins": numpy.bincount(value, minlength=BINS).astype(numpy.uint64)}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
