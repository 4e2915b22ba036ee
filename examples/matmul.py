"""Random matrix product

Two square matrices of random numbers are multiplied and the product is brought back to the host.
`np.asnumpy(c)` is `c.get()`: under treadle it waits for the device and copies, under NumPy it is
the array itself.
"""

import numpy
import treadle as np

SIZES = {"cpu": {"n": 2000}, "cuda": {"n": 10000}, "small": {"n": 40}}
TOLERANCE = 1e-12
WHY = "float64; each element sums n products, in an order of the library's choosing"


def setup(n):
    rng = numpy.random.default_rng(1)
    return np.asarray(rng.random((n, n))), np.asarray(rng.random((n, n)))


def main(a, b):
    c = np.dot(a, b)
    return {"c": np.asnumpy(c)}


if __name__ == "__main__":
    print(main(*setup(**SIZES["cpu"])))
