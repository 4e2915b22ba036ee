"""The sum of two vectors as a kernel and as a loop: what the rows of first calls compile."""

from treadle import cuda, njit

CACHE = False


@cuda.jit(cache=CACHE)
def kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@njit(cache=CACHE)
def loop(a, b, out):
    for i in range(out.size):
        out[i] = a[i] + b[i]
