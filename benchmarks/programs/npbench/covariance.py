"""Covariances of the columns of a table, a row of the result at a time."""

import numpy as np

SIZES = {"small": (60, 40), "large": (3000, 1200)}  # observations, variables


def initialize(n, m):
    return float(n), np.fromfunction(lambda i, j: (i * j % n) / m, (n, m), dtype=np.float64)


def kernel(n, data):
    data -= np.mean(data, axis=0)
    cov = np.zeros((data.shape[1], data.shape[1]), dtype=data.dtype)
    for i in range(data.shape[1]):
        cov[i:, i] = cov[i, i:] = data[:, i] @ data[:, i:] / (n - 1.0)
    return cov
