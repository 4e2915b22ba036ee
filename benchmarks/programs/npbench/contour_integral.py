"""Beyn's contour integral of a nonlinear eigenvalue problem: small complex systems solved along a circle."""

import numpy as np

SIZES = {"small": (8, 10), "large": (400, 64)}  # unknowns, points of the circle


def initialize(n, points):
    rng = np.random.default_rng(42)
    ham = rng.random((3, n, n)) + rng.random((3, n, n)) * 1j
    angle = 2 * np.pi * (np.arange(points) + 0.5) / points
    points = 0.5 * np.exp(1j * angle)
    y = rng.random((n, n)) + 1j * rng.random((n, n))
    return ham, points, y


def kernel(ham, points, y):
    n = y.shape[0]
    p0 = np.zeros((n, n), dtype=np.complex128)
    p1 = np.zeros((n, n), dtype=np.complex128)
    for z in points:
        tz = np.zeros((n, n), dtype=np.complex128)
        for k in range(ham.shape[0]):
            tz += np.power(z, ham.shape[0] // 2 - k) * ham[k]
        x = np.linalg.solve(tz, y)
        if abs(z) < 1.0:
            x = -x
        p0 += x
        p1 += z * x
    return p0, p1
