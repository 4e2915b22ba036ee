"""Kernels that several tests launch."""

from treadle import cuda


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.shape[0]:
        c[i] = a[i] + b[i]


@cuda.jit
def store(out, x):
    out[cuda.grid(1)] = x
