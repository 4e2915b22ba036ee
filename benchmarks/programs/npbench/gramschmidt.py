"""QR by Gram-Schmidt, column by column, the inner loop in Python."""

import numpy as np

SIZES = {"small": (24, 20), "large": (2000, 560)}  # rows, columns


def initialize(m, n):
    return (np.random.default_rng(42).random((m, n)),)


def kernel(a):
    n = a.shape[1]
    q = np.zeros_like(a)
    r = np.zeros((n, n), dtype=a.dtype)
    for k in range(n):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r
