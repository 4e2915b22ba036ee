"""Streams in PyCUDA's words

A long array in pieces, each copied to the device, computed and copied back on one of three streams,
as in `kernels/overlap.py`: while a GPU computes one piece, the next one arrives and the last one
leaves. The host's memory is page-locked, without which copies do not run beside anything. A CPU
copies nothing across; the program runs there as well.
"""

import numpy
import treadle.pycuda.autoinit  # makes a context  # noqa: F401
import treadle.pycuda.driver as drv
from treadle.pycuda.compiler import SourceModule

SIZES = {
    "cpu": {"n": 2_000_000, "pieces": 8},
    "cuda": {"n": 64_000_000, "pieces": 16},
    "small": {"n": 10_007, "pieces": 3},
}
TOLERANCE = 2e-6
WHY = "twenty float32 terms of a series beside NumPy's exp"

STREAMS = 3
BLOCK = 256

exponential = SourceModule("""
__global__ void exponential(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = 1;

    if (i >= n)
        return;
    for (int k = 20; k > 0; k--)
        value = 1 + value * x[i] / k;
    x[i] = value;
}
""").get_function("exponential")


def setup(n, pieces):
    x = drv.pagelocked_empty(n, numpy.float32)
    x[:] = numpy.random.default_rng(8).random(n, dtype=numpy.float32)
    return x, drv.pagelocked_empty(n, numpy.float32), pieces


def main(x, result, pieces):
    length = -(-x.size // pieces)
    streams = [drv.Stream() for _ in range(STREAMS)]
    parts = [drv.mem_alloc(length * x.itemsize) for _ in streams]
    for k in range(pieces):
        stream, part = streams[k % STREAMS], parts[k % STREAMS]
        piece = slice(k * length, min((k + 1) * length, x.size))
        n = piece.stop - piece.start
        drv.memcpy_htod_async(part, x[piece], stream)
        grid = (-(-n // BLOCK), 1)
        exponential(part, numpy.int32(n), block=(BLOCK, 1, 1), grid=grid, stream=stream)
        drv.memcpy_dtoh_async(result[piece], part, stream)
    drv.Context.synchronize()
    return {"exp": result}


def reference(x, result, pieces):
    return {"exp": numpy.exp(x)}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
