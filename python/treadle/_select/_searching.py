"""Searching in sorted arrays."""

import numpy

from .. import _core
from .._core import empty
from .._numpy._shape import concatenate
from ._pick import scatter
from ._sorting import argsort


def searchsorted(a, v, side="left", sorter=None):
    """Where elements of v would be inserted into the sorted a: before equal ones (left) or behind them (right).

    sorter: the indices that sort a (ValueError: an index outside of a). One lookup takes a step for each bit of
    a's size, in the kernel of what uses it; complex numbers are ranked by sorting both.
    """
    a, v = _core._beside("searchsorted", a, v)
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got '{side}')")
    if a.ndim != 1:
        raise ValueError(f"searchsorted: expected a sorted array of one axis, not of {a.ndim}")
    if sorter is not None:
        sorter = _core._beside("searchsorted", a, sorter)[1]
        if sorter.dtype.kind not in "iu":
            raise TypeError("sorter must only contain integers")
        if sorter.shape != a.shape:
            raise ValueError("sorter.size must equal self.size")
        if sorter.size and (sorter.min() < 0 or sorter.max() >= a.size):
            raise ValueError("Sorter index out of range.")
        a = _core._take(a, sorter.astype("int64", copy=False), 0)
    dt = numpy.result_type(a.dtype, v.dtype)
    a, v = a.astype(dt, copy=False), v.astype(dt, copy=False)
    return _ranks(a, v, side) if dt.kind == "c" else _core._search(a, v, side == "right")


def _ranks(a, v, side):
    """Both sorted together, stably: how many of a's elements come before each of v's."""
    n = v.size
    first, second = (v.ravel(), a) if side == "left" else (a, v.ravel())
    order = argsort(concatenate((first, second)), kind="stable")
    ours = order < n if side == "left" else order >= a.shape[0]
    before = _core._cumsum(~ours, 0, "int64")
    r = empty(n, dtype="int64", device=v.device)
    scatter(r, _core._select(order, ours) - (0 if side == "left" else a.shape[0]), _core._select(before, ours))
    return r.reshape(v.shape)


def _rises(bins):
    """Do bins rise? The first two that differ say so; a NaN, which is neither less nor more, stands anywhere."""
    if bins.shape[0] < 2:
        return True
    before, after = bins[:-1], bins[1:]
    first = (before != after).argmax().reshape(1)
    up = bool((before[first] < after[first]) | (before[first] == after[first]))
    if bool((after < before if up else after > before).any()):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return up


def digitize(x, bins, right=False):
    """The bin that each element of x falls into; bins rise or fall, and right says which end of them they hold."""
    x, bins = _core._beside("digitize", x, bins)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if bins.ndim != 1:
        raise ValueError(f"digitize: expected bins of one axis, not of {bins.ndim}")
    rises = _rises(bins)
    side = "left" if right else "right"
    if rises:
        return searchsorted(bins, x, side)
    return bins.shape[0] - searchsorted(bins[::-1], x, side)
