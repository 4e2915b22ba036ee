"""The Mandelbrot set over a whole array, the points that have not escaped chosen by a mask."""

import numpy as np

SIZES = {"small": (50, 30), "large": (1200, 120)}  # points along an edge, iterations


def initialize(n, iterations):
    return -1.75, 0.25, -1.0, 1.0, n, iterations


def kernel(xmin, xmax, ymin, ymax, n, iterations, horizon=2.0):
    x = np.linspace(xmin, xmax, n, dtype=np.float64)
    y = np.linspace(ymin, ymax, n, dtype=np.float64)
    c = x + y[:, None] * 1j
    count = np.zeros(c.shape, dtype=np.int64)
    z = np.zeros(c.shape, dtype=np.complex128)
    for k in range(iterations):
        inside = np.less(abs(z), horizon)
        count[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    count[count == iterations - 1] = 0
    return z, count
