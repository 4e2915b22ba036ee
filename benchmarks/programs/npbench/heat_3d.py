"""Heat flow in a cube: a seven-point stencil, there and back."""

import numpy as np

SIZES = {"small": (20, 20), "large": (160, 8)}  # points along an edge, pairs of steps


def initialize(n, steps):
    i = np.arange(n, dtype=np.float64)
    a = (i[:, None, None] + i[None, :, None] + (n - i[None, None, :])) * 10 / n
    return steps, a, a.copy()


def step(src, dst):
    c = src[1:-1, 1:-1, 1:-1]
    dst[1:-1, 1:-1, 1:-1] = (
        0.125 * (src[2:, 1:-1, 1:-1] - 2.0 * c + src[:-2, 1:-1, 1:-1])
        + 0.125 * (src[1:-1, 2:, 1:-1] - 2.0 * c + src[1:-1, :-2, 1:-1])
        + 0.125 * (src[1:-1, 1:-1, 2:] - 2.0 * c + src[1:-1, 1:-1, :-2])
        + c
    )


def kernel(steps, a, b):
    for _ in range(steps):
        step(a, b)
        step(b, a)
    return a, b
