"""Minkowski distances of arrays that broadcast."""

import treadle as td

from ..._core import asarray


def _floating(x):
    x = asarray(x)
    return x if x.dtype.kind in "fc" and x.dtype.itemsize >= 8 else x.astype("float64")


def minkowski_distance_p(x, y, p=2.0):
    """The p-th power of the p-norm of x - y along the last axis; for p = 1 and inf the norm itself."""
    away = abs(_floating(y) - _floating(x))
    if p == float("inf"):
        return away.max(-1)
    return away.sum(-1) if p == 1 else (away**p if p != 2 else away * away).sum(-1)


def minkowski_distance(x, y, p=2.0):
    """The p-norm of x - y along the last axis."""
    r = minkowski_distance_p(x, y, p)
    return r if p in (1, float("inf")) else td.sqrt(r) if p == 2 else r ** (1.0 / p)


def distance_matrix(x, y, p=2.0, threshold=1000000):
    """The p-norms of the differences of each row of x and each row of y. threshold is unused: one kernel does all.

    Raises ValueError where the rows differ in length.
    """
    x, y = _floating(x), _floating(y)
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"x contains {x.shape[1]}-dimensional vectors but y contains {y.shape[1]}-dimensional vectors")
    return minkowski_distance(x[:, None, :], y[None, :, :], p)
