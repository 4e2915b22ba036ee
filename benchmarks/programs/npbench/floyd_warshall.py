"""Shortest paths between all vertices: a minimum over an outer sum for each vertex."""

import numpy as np

SIZES = {"small": (40,), "large": (1200,)}  # vertices


def initialize(n):
    i = np.arange(n)
    path = (i[:, None] * i[None, :]) % 7 + 1
    far = (i[:, None] + i[None, :]) % 13 == 0
    path[far] = 999
    return (path.astype(np.int32),)


def kernel(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))
    return path
