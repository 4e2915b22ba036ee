"""Monte-Carlo π

Random points in the unit square; the share that falls inside the quarter circle is π/4. Under
treadle the points are drawn, tested and counted in one kernel and never stand in memory.
"""

import numpy
import treadle as np

SIZES = {"cpu": {"n": 20_000_000}, "cuda": {"n": 200_000_000}, "small": {"n": 100_000}}
TOLERANCE = 5.0
WHY = "statistical: the distance of either estimate from π in standard deviations"


def setup(n):
    return (n,)


def main(n):
    rng = np.random.default_rng(6)
    x = rng.random(n)
    y = rng.random(n)
    inside = np.count_nonzero(x * x + y * y < 1)
    return {"pi": 4 * inside / n, "points": n}


def error(ours, numpys):
    """The larger distance from π of the two; one point scatters by sqrt(π (4 − π))."""
    sigma = numpy.sqrt(numpy.pi * (4 - numpy.pi) / numpys["points"])
    return float(max(abs(ours["pi"] - numpy.pi), abs(numpys["pi"] - numpy.pi)) / sigma)


if __name__ == "__main__":
    print(main(*setup(**SIZES["cpu"])))
