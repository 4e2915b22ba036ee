"""Sum, least and greatest by warp shuffles

The 32 threads of a warp read each other's values without memory: five exchanges, and the first
holds what all had. The warps of a block meet in shared memory, the blocks by atomic operations.
"""

import numpy
import treadle as np
from treadle import cuda

SIZES = {"cpu": {"n": 4_000_000}, "cuda": {"n": 100_000_000}, "small": {"n": 5000}}
TOLERANCE = 1e-6
WHY = "blocks add to the float64 total in any order"

THREADS = 256
WARPS = THREADS // 32
ALL = 0xFFFFFFFF
ZERO = numpy.float64(0)


@cuda.jit(device=True)
def warp_sum(value):
    for k in range(5):
        value += cuda.shfl_down_sync(ALL, value, 16 >> k)
    return value


@cuda.jit(device=True)
def warp_range(low, high):
    for k in range(5):
        low = min(low, cuda.shfl_xor_sync(ALL, low, 16 >> k))
        high = max(high, cuda.shfl_xor_sync(ALL, high, 16 >> k))
    return low, high


@cuda.jit
def summary(a, total, least, greatest):
    sums = cuda.shared.array(WARPS, dtype=numpy.float64)
    lows = cuda.shared.array(WARPS, dtype=numpy.float32)
    highs = cuda.shared.array(WARPS, dtype=numpy.float32)
    part = ZERO
    low = high = a[0]
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        part += a[i]
        low = min(low, a[i])
        high = max(high, a[i])

    part = warp_sum(part)
    low, high = warp_range(low, high)
    warp = cuda.threadIdx.x // 32
    if cuda.laneid == 0:
        sums[warp] = part
        lows[warp] = low
        highs[warp] = high
    cuda.syncthreads()

    if cuda.threadIdx.x == 0:
        for k in range(1, WARPS):
            part += sums[k]
            low = min(low, lows[k])
            high = max(high, highs[k])
        cuda.atomic.add(total, 0, part)
        cuda.atomic.min(least, 0, low)
        cuda.atomic.max(greatest, 0, high)


def setup(n):
    return (np.asarray(numpy.random.default_rng(5).standard_normal(n, dtype=numpy.float32) + 1),)


def main(a):
    total = cuda.to_device(numpy.zeros(1))
    least = cuda.to_device(numpy.full(1, numpy.inf, dtype=numpy.float32))
    greatest = cuda.to_device(numpy.full(1, -numpy.inf, dtype=numpy.float32))
    blocks = min(1024, -(-a.size // THREADS))
    summary[blocks, THREADS](a, total, least, greatest)
    return {"sum": total, "least": least, "greatest": greatest}


def reference(a):
    return {"sum": a.sum(dtype=numpy.float64, keepdims=True), "least": a.min(keepdims=True),
            "greatest": a.max(keepdims=True)}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
