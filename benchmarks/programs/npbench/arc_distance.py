"""Great-circle distances between pairs of points."""

import numpy as np

SIZES = {"small": (2000,), "large": (9_000_000,)}  # pairs


def initialize(n):
    rng = np.random.default_rng(42)
    return rng.random(n), rng.random(n), rng.random(n), rng.random(n)


def kernel(theta_1, phi_1, theta_2, phi_2):
    t = np.sin((theta_2 - theta_1) / 2) ** 2 + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    return 2 * np.arctan2(np.sqrt(t), np.sqrt(1 - t))
