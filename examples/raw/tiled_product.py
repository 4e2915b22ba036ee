"""Matrix product in CUDA C++

Squares of both matrices go through shared memory, as in `kernels/shared_matmul.py`. The kernel is a
template: the square's side is a number that the compiler knows, and an instance is asked for by
its name in C++, `product<16>`.
"""

import numpy
import treadle as np
from treadle import RawModule

SIZES = {
    "cpu": {"rows": 500, "inner": 300, "columns": 400},
    "cuda": {"rows": 2000, "inner": 1500, "columns": 1800},
    "small": {"rows": 50, "inner": 35, "columns": 20},
}
TOLERANCE = 1e-5
WHY = "float32 sums of `inner` products in another order than NumPy's"

TILE = 16

module = RawModule(
    code="""
template <int TILE>
__global__ void product(const float *a, const float *b, float *c, int rows, int inner, int columns)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
    float total = 0;

    for (int start = 0; start < inner; start += TILE) {
        tile_a[ty][tx] = i < rows && start + tx < inner ? a[i * inner + start + tx] : 0;
        tile_b[ty][tx] = j < columns && start + ty < inner ? b[(start + ty) * columns + j] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            total += tile_a[ty][k] * tile_b[k][tx];
        __syncthreads();
    }
    if (i < rows && j < columns)
        c[i * columns + j] = total;
}
""",
    options=("-std=c++17",),
    name_expressions=(f"product<{TILE}>",),
)
product = module.get_function(f"product<{TILE}>")


def setup(rows, inner, columns):
    rng = numpy.random.default_rng(1)
    a = rng.random((rows, inner), dtype=numpy.float32)
    b = rng.random((inner, columns), dtype=numpy.float32)
    return np.asarray(a), np.asarray(b)


def main(a, b):
    (rows, inner), columns = a.shape, b.shape[1]
    c = np.empty((rows, columns), np.float32)
    grid = -(-columns // TILE), -(-rows // TILE)
    product(grid, (TILE, TILE), (a, b, c, rows, inner, columns))
    return {"product": c}


def reference(a, b):
    return {"product": a @ b}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
