"""What the tests of treadle.pycuda.driver share."""

import numpy as np

TWICE = """
__constant__ float table[4];
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
__global__ void look(float *x) { x[threadIdx.x] = table[threadIdx.x]; }
"""


def data(n=100, dtype=np.float32):
    return np.arange(n).astype(dtype)
