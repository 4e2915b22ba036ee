"""Launches of raw.cu: `module` is what the library made of that text, with get_function(name).

A function takes (grid, block, arguments) as CuPy's do; numbers are NumPy's, of the parameters' types.
"""

import functools

import numpy as np

THREADS, TILE = 256, 16


def blocks(n, threads=THREADS):
    return -(-n // threads)


def pictures(h, w):
    """Grid and block over a picture."""
    return (blocks(w, 32), blocks(h, 8)), (32, 8)


class Programs:
    """The programs by the names of reference.py."""

    def __init__(self, module):
        self.get = functools.cache(module.get_function)

    def chain(self, a, b, c, d, out):
        self.get("chain")((blocks(out.size),), (THREADS,), (a, b, c, d, out, np.int32(out.size)))

    def stencil(self, a, out):
        h, w = out.shape
        self.get("stencil")(*pictures(h, w), (a, out, np.int32(h), np.int32(w)))

    def mandelbrot(self, out, limit):
        h, w = out.shape
        self.get("mandelbrot")(*pictures(h, w), (out, np.int32(h), np.int32(w), np.int32(limit)))

    def matmul(self, a, b, out):
        (rows, inner), columns = a.shape, b.shape[1]
        self.get("matmul")((blocks(columns, TILE), blocks(rows, TILE)), (TILE, TILE),
                           (a, b, out, np.int32(rows), np.int32(inner), np.int32(columns)))

    def total(self, a, part, out):
        self.sum_by("sums", a, part, out)

    def shuffled(self, a, part, out):
        self.sum_by("shuffled", a, part, out)

    def sum_by(self, name, a, part, out):
        """Parts by the blocks, and their sum by one block more."""
        self.get(name)((part.size,), (THREADS,), (a, part, np.int32(a.size)))
        self.get(name)((1,), (THREADS,), (part, out, np.int32(part.size)))
