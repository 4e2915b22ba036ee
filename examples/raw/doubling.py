"""Doubling a 4 × 4 array

The smallest program with a kernel in CUDA C++, by PyCUDA's names: a text is compiled, a function of
it is called with one thread for each element, and `InOut` copies the array to the device and back.
So few numbers are done sooner by NumPy itself; what is seen here is what a call costs.
"""

import numpy
import treadle.pycuda.autoinit  # makes a context  # noqa: F401
import treadle.pycuda.driver as drv
from treadle.pycuda.compiler import SourceModule

SIZES = {"cpu": {"side": 4}, "cuda": {"side": 4}, "small": {"side": 4}}
TOLERANCE = 0.0
WHY = "a float32 times two is exact"

module = SourceModule("""
__global__ void twice(float *a)
{
    int i = threadIdx.y * blockDim.x + threadIdx.x;

    a[i] *= 2;
}
""")
twice = module.get_function("twice")


def setup(side):
    return (numpy.random.default_rng(0).standard_normal((side, side), dtype=numpy.float32),)


def main(a):
    doubled = a.copy()
    twice(drv.InOut(doubled), block=(a.shape[1], a.shape[0], 1), grid=(1, 1))
    return {"doubled": doubled}


def reference(a):
    return {"doubled": 2 * a}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
