"""Azimuthal integration: the mean of the samples in each of many rings, ring by ring with masks."""

import numpy as np

SIZES = {"small": (5000, 50), "large": (1_200_000, 800)}  # samples, rings


def initialize(n, rings):
    rng = np.random.default_rng(42)
    return rng.random(n), rng.random(n), rings


def kernel(data, radius, rings):
    rmax = radius.max()
    result = np.zeros(rings, dtype=np.float64)
    for i in range(rings):
        inner = rmax * i / rings
        outer = rmax * (i + 1) / rings
        chosen = np.logical_and((inner <= radius), (radius < outer))
        result[i] = data[chosen].mean()
    return result
