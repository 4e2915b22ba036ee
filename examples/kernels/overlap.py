"""Streams that overlap copying and computing

A long array is worked on in pieces. Each piece is copied to the device, computed and copied back
on one of three streams: what stands on one stream runs in order, what stands on different ones
side by side, so that a GPU computes one piece while the next one arrives and the last one leaves.
Copies overlap from and to pinned memory only, which the system leaves in its place. A CPU has
nothing to copy across; the program runs there as well.
"""

import math

import numpy
from treadle import cuda

SIZES = {
    "cpu": {"n": 2_000_000, "pieces": 8},
    "cuda": {"n": 64_000_000, "pieces": 16},
    "small": {"n": 10_007, "pieces": 3},
}
TOLERANCE = 2e-6
WHY = "twenty float32 terms of a series beside NumPy's exp"

THREADS = 256
STREAMS = 3
TERMS = 20
ONE = numpy.float32(1)


@cuda.jit
def exponential(x):
    """x becomes exp(x), by its series."""
    i = cuda.grid(1)
    if i < x.size:
        value = ONE
        for k in range(TERMS, 0, -1):
            value = ONE + value * x[i] / numpy.float32(k)
        x[i] = value


def setup(n, pieces):
    x = cuda.pinned_array(n, dtype=numpy.float32)
    x[:] = numpy.random.default_rng(8).random(n, dtype=numpy.float32)
    return x, cuda.pinned_array(n, dtype=numpy.float32), pieces


def main(x, result, pieces):
    streams = [cuda.stream() for _ in range(STREAMS)]
    length = math.ceil(x.size / pieces)
    for k in range(pieces):
        stream = streams[k % STREAMS]
        piece = slice(k * length, min((k + 1) * length, x.size))
        part = cuda.to_device(x[piece], stream=stream)
        exponential[-(-part.size // THREADS), THREADS, stream](part)
        part.copy_to_host(result[piece], stream=stream)
    cuda.synchronize()
    return {"exp": result}


def reference(x, result, pieces):
    return {"exp": numpy.exp(x)}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
