"""A polynomial in constant memory

All threads read the same few coefficients, which is what constant memory is for. Python writes them to the
module's variable by its name before each launch; the text is compiled once.
"""

import numpy
import treadle.pycuda.autoinit  # makes a context  # noqa: F401
import treadle.pycuda.driver as drv
from treadle.pycuda import gpuarray
from treadle.pycuda.compiler import SourceModule

SIZES = {"cpu": {"n": 2_000_000}, "cuda": {"n": 50_000_000}, "small": {"n": 1001}}
TOLERANCE = 1e-6
WHY = "float32 products and sums, contracted on a device"

ORDER = 8

module = SourceModule("""
#define ORDER 8

__constant__ float coefficient[ORDER + 1];

__global__ void polynomial(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (i >= n)
        return;
    for (int k = 0; k <= ORDER; k++)
        sum = sum * x[i] + coefficient[k];
    y[i] = sum;
}
""")
polynomial = module.get_function("polynomial")
place, nbytes = module.get_global("coefficient")


def setup(n):
    rng = numpy.random.default_rng(6)
    x = rng.random(n, dtype=numpy.float32)
    return gpuarray.to_gpu(x), x, rng.random(ORDER + 1, dtype=numpy.float32)


def main(there, x, coefficients):
    y = gpuarray.empty_like(there)
    drv.memcpy_htod(place, coefficients)
    grid = (-(-there.size // 256), 1)
    polynomial(there, y, numpy.int32(there.size), block=(256, 1, 1), grid=grid)
    return {"y": y.get()}


def reference(there, x, coefficients):
    return {"y": numpy.polyval(coefficients, x)}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
