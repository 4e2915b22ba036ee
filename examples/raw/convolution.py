"""Convolution with a halo

A signal is smoothed by a window of 65 weights. A block loads its part of the signal and what lies up
to 32 places beside it to shared memory once, and all its threads read their neighbours there.
"""

import numpy
import treadle as np
from treadle import RawKernel

SIZES = {"cpu": {"n": 2_000_000}, "cuda": {"n": 50_000_000}, "small": {"n": 1234}}
TOLERANCE = 2e-6
WHY = "65 float32 products, summed in another order than NumPy's"

RADIUS, BLOCK = 32, 256

smooth = RawKernel(
    """
#define RADIUS 32
#define BLOCK 256

extern "C" __global__ void smooth(const float *in, const float *weight, float *out, int n)
{
    __shared__ float part[BLOCK + 2 * RADIUS];
    int first = blockIdx.x * BLOCK - RADIUS, i = blockIdx.x * BLOCK + threadIdx.x;
    float total = 0;

    for (int k = threadIdx.x; k < BLOCK + 2 * RADIUS; k += BLOCK)
        part[k] = first + k >= 0 && first + k < n ? in[first + k] : 0;
    __syncthreads();
    for (int k = 0; k <= 2 * RADIUS; k++)
        total += weight[k] * part[threadIdx.x + k];
    if (i < n)
        out[i] = total;
}
""",
    "smooth",
)


def setup(n):
    shape = numpy.hanning(2 * RADIUS + 3)[1:-1].astype(numpy.float32)
    signal = numpy.random.default_rng(3).random(n, dtype=numpy.float32)
    return np.asarray(signal), np.asarray(shape / shape.sum())


def main(signal, weight):
    out = np.empty_like(signal)
    smooth((-(-signal.size // BLOCK),), (BLOCK,), (signal, weight, out, signal.size))
    return {"smooth": out}


def reference(signal, weight):
    return {"smooth": numpy.convolve(signal, weight, "same")}  # the window is symmetric


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
