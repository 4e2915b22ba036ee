"""Matrix product through shared memory

A block of 16 × 16 threads computes a square of the result. It brings the two squares that it
needs next to shared memory, each thread one element of both, so that an element is read from the
device's memory 16 times less often. Outside the matrices a square holds zeros, and any shape will
do. (For products in a program there is `@`, which asks the machine's library.)
"""

import numpy
import treadle as np
from treadle import cuda

SIZES = {
    "cpu": {"rows": 500, "inner": 300, "columns": 400},
    "cuda": {"rows": 2000, "inner": 1500, "columns": 1800},
    "small": {"rows": 50, "inner": 35, "columns": 20},
}
TOLERANCE = 1e-5
WHY = "float32 sums of `inner` products in another order than NumPy's"

TILE = 16
ZERO = numpy.float32(0)


@cuda.jit
def product(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), dtype=numpy.float32)
    tile_b = cuda.shared.array((TILE, TILE), dtype=numpy.float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    j, i = cuda.grid(2)  # x is the fastest axis: it runs along the rows of memory
    inner = a.shape[1]
    total = ZERO
    for start in range(0, inner, TILE):
        tile_a[ty, tx] = a[i, start + tx] if i < a.shape[0] and start + tx < inner else ZERO
        tile_b[ty, tx] = b[start + ty, j] if j < b.shape[1] and start + ty < inner else ZERO
        cuda.syncthreads()  # the squares are complete
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()  # and nobody needs them any more
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = total


def setup(rows, inner, columns):
    rng = numpy.random.default_rng(1)
    a = rng.random((rows, inner), dtype=numpy.float32)
    b = rng.random((inner, columns), dtype=numpy.float32)
    return np.asarray(a), np.asarray(b)


def main(a, b):
    rows, columns = a.shape[0], b.shape[1]
    c = cuda.device_array((rows, columns), dtype=numpy.float32)
    grid = -(-columns // TILE), -(-rows // TILE)
    product[grid, (TILE, TILE)](a, b, c)
    return {"product": c}


def reference(a, b):
    return {"product": a @ b}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
