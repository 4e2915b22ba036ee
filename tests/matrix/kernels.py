"""Kernels in Python: a grid of threads, shared memory with barriers, atomics."""

import numpy

import treadle as td
from treadle import cuda


@cuda.jit
def block_sums(x, out):
    part = cuda.shared.array(64, numpy.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    step = 32
    while step:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


x = numpy.arange(1000.0)
out = cuda.to_device(numpy.zeros(1))
block_sums[16, 64](cuda.to_device(x), out)
assert float(out[0]) == x.sum()
assert td.devices()[-1].kind == "cpu"
