"""Addition of a million numbers, both transfers included

The two vectors start on the host and the sum ends there. On a GPU the time is that of the bus, on
a CPU that of the copies, which NumPy alone does not need to make: nothing is gained here, and that
is worth knowing. Bring data to the device once, then work on it there.
"""

import numpy
import treadle as np

SIZES = {"cpu": {"n": 1_000_000}, "cuda": {"n": 1_000_000}, "small": {"n": 1000}}
TOLERANCE = 0.0
WHY = "one float32 addition each: the same bits everywhere"


def setup(n):
    rng = numpy.random.default_rng(2)
    return rng.random(n, dtype=numpy.float32), rng.random(n, dtype=numpy.float32)


def main(x, y):
    total = np.asarray(x) + np.asarray(y)
    return {"total": np.asnumpy(total)}


if __name__ == "__main__":
    print(main(*setup(**SIZES["cpu"])))
