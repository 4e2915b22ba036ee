"""Searching in sorted arrays, and membership."""

import numpy

from . import _core
from ._core import asarray, asnumpy
from ._place import on


def searchsorted(a, v, side="left", sorter=None):
    """Where elements of v would be inserted into the sorted a: before equal ones (left) or behind them (right).

    sorter: the indices that sort a. One lookup takes a step for each bit of a's size, in the kernel of what uses it.
    """
    a, v = _core._beside("searchsorted", a, v)
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got '{side}')")
    if a.ndim != 1:
        raise ValueError(f"searchsorted: expected a sorted array of one axis, not of {a.ndim}")
    if sorter is not None:
        sorter = _core._beside("searchsorted", a, sorter)[1]
        if sorter.shape != a.shape:
            raise ValueError("sorter.size must equal self.size")
        a = _core._take(a, sorter, 0)
    dt = numpy.result_type(a.dtype, v.dtype)
    if dt.kind == "c":
        return asarray(numpy.searchsorted(asnumpy(a), asnumpy(v), side), device=a.device)
    return _core._search(a.astype(dt, copy=False), v.astype(dt, copy=False), side == "right")


def digitize(x, bins, right=False):
    """The bin that each element of x falls into; bins rise or fall, and right says which end of them they hold."""
    x, bins = _core._beside("digitize", x, bins)
    edges = asnumpy(bins)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if edges.ndim != 1:
        raise ValueError(f"digitize: expected bins of one axis, not of {edges.ndim}")
    rises = bool((edges[1:] >= edges[:-1]).all())
    if not rises and not (edges[1:] <= edges[:-1]).all():
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if rises:
        return searchsorted(on(x.device, edges), x, side)
    return len(edges) - searchsorted(asarray(numpy.ascontiguousarray(edges[::-1]), device=x.device), x, side)
