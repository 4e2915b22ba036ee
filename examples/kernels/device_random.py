"""Monte-Carlo π with random numbers drawn in the kernel

Each thread has a generator of its own, xoroshiro128+, 2⁶⁴ numbers apart from the next thread's. It
draws points in the unit square and counts those inside the quarter circle; no point is stored.
"""

import numpy
from treadle import cuda
from treadle.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

SIZES = {
    "cpu": {"threads": 4096, "draws": 1000},
    "cuda": {"threads": 262_144, "draws": 1000},
    "small": {"threads": 256, "draws": 40},
}
TOLERANCE = 5.0
WHY = "statistical: the distance of either estimate from π in standard deviations"

ONE = numpy.float32(1)


@cuda.jit
def count_inside(states, draws, counts):
    i = cuda.grid(1)
    if i < counts.size:
        inside = 0
        for _ in range(draws):
            x = xoroshiro128p_uniform_float32(states, i)
            y = xoroshiro128p_uniform_float32(states, i)
            if x * x + y * y < ONE:
                inside += 1
        counts[i] = inside


def setup(threads, draws):
    return threads, draws


def main(threads, draws):
    states = create_xoroshiro128p_states(threads, seed=6)
    counts = cuda.device_array(threads, dtype=numpy.int32)
    count_inside[-(-threads // 128), 128](states, draws, counts)
    points = threads * draws
    return {"pi": 4 * counts.copy_to_host().sum() / points, "points": points}


def reference(threads, draws):
    rng = numpy.random.default_rng(6)
    inside, points = 0, threads * draws
    for start in range(0, points, 1 << 20):
        x, y = rng.random((2, min(1 << 20, points - start)), dtype=numpy.float32)
        inside += int(numpy.count_nonzero(x * x + y * y < 1))
    return {"pi": 4 * inside / points, "points": points}


def error(ours, numpys):
    """The larger distance from π of the two; one point scatters by sqrt(π (4 − π))."""
    sigma = numpy.sqrt(numpy.pi * (4 - numpy.pi) / numpys["points"])
    return float(max(abs(ours["pi"] - numpy.pi), abs(numpys["pi"] - numpy.pi)) / sigma)


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
