"""Indices in one, two and three dimensions

Blocks and threads are counted along x, y and z; x runs along the rows of memory, so that the threads
of a warp touch neighbours. The last block of each axis sticks out, which the test of the index
catches. Three kernels draw what depends on the index alone: a sawtooth, a table of products, and a ball.
"""

import numpy
import treadle as np
from treadle import RawModule

SIZES = {
    "cpu": {"length": 2_000_000, "side": 1500, "edge": 130},
    "cuda": {"length": 50_000_001, "side": 7001, "edge": 401},
    "small": {"length": 1001, "side": 37, "edge": 11},
}
TOLERANCE = 1e-6
WHY = "float32 square roots; the rest is whole numbers"

module = RawModule(code="""
extern "C" __global__ void sawtooth(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = i % 100;
}

extern "C" __global__ void products(int *out, int side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < side && y < side)
        out[y * side + x] = (x + 1) * (y + 1);
}

extern "C" __global__ void ball(float *out, int edge)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    float c = 0.5f * (edge - 1);

    if (x < edge && y < edge && z < edge)
        out[(z * edge + y) * edge + x] = sqrtf((x - c) * (x - c) + (y - c) * (y - c) + (z - c) * (z - c));
}
""")


def setup(length, side, edge):
    return length, side, edge


def blocks(n, block):
    return -(-n // block)


def main(length, side, edge):
    saw = np.empty(length, np.float32)
    table = np.empty((side, side), np.int32)
    distance = np.empty((edge, edge, edge), np.float32)
    module.get_function("sawtooth")((blocks(length, 256),), (256,), (saw, length))
    module.get_function("products")((blocks(side, 32), blocks(side, 8)), (32, 8), (table, side))
    grid = blocks(edge, 32), blocks(edge, 4), blocks(edge, 2)
    module.get_function("ball")(grid, (32, 4, 2), (distance, edge))
    return {"sawtooth": saw, "products": table, "ball": distance}


def reference(length, side, edge):
    line = numpy.arange(1, side + 1, dtype=numpy.int32)
    z, y, x = numpy.ogrid[:edge, :edge, :edge]
    c = numpy.float32(0.5 * (edge - 1))
    squares = [(axis.astype(numpy.float32) - c) ** 2 for axis in (x, y, z)]
    return {
        "sawtooth": (numpy.arange(length) % 100).astype(numpy.float32),
        "products": line[:, None] * line,
        "ball": numpy.sqrt(squares[0] + squares[1] + squares[2]),
    }


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
