"""Transposing through shared memory

A block reads a square along the rows of the source and writes it along the rows of the result, so
that both sides touch memory in order. The square has a column to spare: threads that walk down a
column then meet a different bank of shared memory each. `prepare` says the arguments' types once, and the
calls after it cost less. Arrays of any face of treadle are pointers to it.
"""

import numpy
import treadle as np
import treadle.pycuda.autoinit  # makes a context  # noqa: F401
from treadle.pycuda.compiler import SourceModule

SIZES = {
    "cpu": {"rows": 3001, "columns": 2003},
    "cuda": {"rows": 16001, "columns": 9003},
    "small": {"rows": 67, "columns": 41},
}
TOLERANCE = 0.0
WHY = "numbers are moved, not changed"

TILE, ROWS = 32, 8

module = SourceModule("""
#define TILE 32

__global__ void transpose(const float *in, float *out, int rows, int columns)
{
    __shared__ float square[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    for (int k = 0; k < TILE; k += blockDim.y)
        if (x < columns && y + k < rows)
            square[threadIdx.y + k][threadIdx.x] = in[(y + k) * columns + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += blockDim.y)
        if (x < rows && y + k < columns)
            out[(y + k) * rows + x] = square[threadIdx.x][threadIdx.y + k];
}
""")
transpose = module.get_function("transpose").prepare("PPii")


def setup(rows, columns):
    return (np.asarray(numpy.random.default_rng(2).random((rows, columns), dtype=numpy.float32)),)


def main(a):
    rows, columns = a.shape
    out = np.empty((columns, rows), np.float32)
    grid = -(-columns // TILE), -(-rows // TILE)
    transpose.prepared_call(grid, (TILE, ROWS, 1), a, out, rows, columns)
    return {"transposed": out}


def reference(a):
    return {"transposed": numpy.ascontiguousarray(a.T)}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
