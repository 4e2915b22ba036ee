"""Counting: bincount and histogram, on the arrays' device."""

import numpy

from . import _core
from ._core import asarray, asnumpy, ndarray, zeros
from ._place import on
from ._searching import searchsorted


def _own(a):
    return a if isinstance(a, ndarray) else asarray(a)


def bincount(x, /, weights=None, minlength=0):
    """How often each of the numbers 0, 1, … occurs in x, which holds integers from 0 on; with weights, their sums, in
    float64 and in the order of x.
    """
    x = _own(x)
    if x.ndim != 1:
        raise ValueError(f"bincount: expected an array of one axis, not of {x.ndim}")
    if x.dtype.kind not in "iub" and x.size:
        raise TypeError(f"bincount: the array holds {x.dtype}, not integers")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if x.dtype.kind not in "iu":
        x = x.astype("int64")
    top = int(x.astype("uint64").max()) if x.size else -1  # a negative number is a great one here
    if top >= 1 << 63:
        raise ValueError("'list' argument must have no negative elements")
    n = max(top + 1, int(minlength))
    if weights is None:
        return _core._count(x, n)
    weights = on(x.device, weights)
    if weights.shape != x.shape:
        raise ValueError("The weights and list don't have the same length.")
    return _weighed(x, weights.astype("float64"), n)


def _weighed(bins, weights, n):
    from ._writing import at

    r = zeros(n, weights.dtype, device=bins.device)
    if bins.size:
        at("add", r, bins, weights)
    return r


def _edges(a, bins, range):
    """NumPy's edges, on the host, from the ends of the data alone where bins is a number."""
    if not isinstance(bins, (int, numpy.integer)):
        return numpy.histogram_bin_edges(numpy.zeros(0), asnumpy(bins)), False
    if range is None and a.size:
        ends = numpy.array([asnumpy(a.min()), asnumpy(a.max())]).astype(a.dtype)
    else:
        ends = numpy.zeros(0, a.dtype)
    return numpy.histogram_bin_edges(ends, bins, range), True


def _bins(x, edges):
    """The bin of each element, and whether it is in one."""
    at = searchsorted(on(x.device, edges), x, "right") - 1
    last = float(edges[-1]) if edges.dtype.kind == "f" else int(edges[-1])
    at = _core.ufuncs()["select"](x == last, len(edges) - 2, at)
    return at, (at >= 0) & (at < len(edges) - 1)


def histogram(a, bins=10, range=None, density=None, weights=None):
    """How many elements of a fall into each bin, and the edges of the bins: NumPy's counts, on a's device.

    bins: a number of equal bins over range (None: from the least to the greatest element), or rising edges. weights are
    added up in the order of a; density divides by the total and the bins' widths.
    """
    a = _own(a)
    if isinstance(bins, ndarray):
        bins = on(a.device, bins)
    if isinstance(bins, str) or a.dtype.kind == "c":
        n, edges = numpy.histogram(asnumpy(a), bins, range, density, None if weights is None else asnumpy(weights))
        return on(a.device, n), on(a.device, edges)
    if a.dtype.kind == "b":
        a = a.astype("uint8")
    if weights is not None:
        weights = on(a.device, weights)
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = weights.ravel()
    edges, equal = _edges(a, bins, range)
    x, shown = a.ravel(), on(a.device, edges)
    if weights is None and equal and edges.dtype.name in ("float32", "float64") and 1 < len(edges) <= 1 << 20:
        counts = _core._histogram(x.astype(edges.dtype, copy=False), shown, float(edges[0]), float(edges[-1]))
    elif len(edges) < 2:
        counts = _core._count(on(a.device, [], "int64"), 0)
    else:
        at, inside = _bins(x, edges)
        if weights is None:
            counts = _core._count(_core.ufuncs()["select"](inside, at, -1), len(edges) - 1)
        else:
            counts = _weighed(at[inside], weights[inside].astype("float64"), len(edges) - 1).astype(weights.dtype)
    if density:
        counts = counts / asarray(numpy.diff(edges), device=a.device) / counts.sum()
    return counts, shown
