"""Cumulative operations, sorting, searching and counting.

Cumulative operations are the machine's own kernels on every device. Sorting, searching and counting
are NumPy's: on the memory itself on the CPU; a GPU's arrays go through the host and back.
"""

import numpy

from . import _core
from ._core import asarray, asnumpy, ndarray
from ._indexing import _host, _store


def _own(a):
    return a if isinstance(a, ndarray) else asarray(a)


def _along(call, a, axis, dtype, out):
    a = _own(a)
    if axis is None or a.ndim == 0:
        a, axis = a.ravel(), 0
    r = call(a, axis, dtype)
    return r if out is None else _store(out, r)


def cumsum(a, axis=None, dtype=None, out=None):
    """Sums of the elements up to each, along axis (None: of the flat array); floats are added in float64."""
    return _along(_core._cumsum, a, axis, dtype, out)


def cumprod(a, axis=None, dtype=None, out=None):
    """Products of the elements up to each, along axis (None: of the flat array)."""
    return _along(_core._cumprod, a, axis, dtype, out)


def _on_host(f, a, *args, **kw):
    """f of a's values by NumPy, its arrays put on a's device."""
    r = f(_host(a), *args, **kw)
    return type(r)(asarray(x, device=a.device) for x in r) if type(r) is tuple else asarray(r, device=a.device)


def _number(v):
    """An operand for NumPy: our arrays on the host, anything else as it is."""
    return _host(v) if isinstance(v, ndarray) else v


def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    """A sorted copy along axis (None: of the flat array); NaN at the end."""
    return _on_host(numpy.sort, _own(a), axis, "stable" if stable else kind)


def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    """The indices that would sort a along axis; kind='stable' keeps the order of equal elements."""
    return _on_host(numpy.argsort, _own(a), axis, "stable" if stable else kind)


def sort_in_place(a, axis=-1, kind=None, order=None, *, stable=None):
    """The array itself, sorted along axis."""
    a[...] = sort(a, axis, kind, order, stable=stable)


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """A copy with element kth where sorting would put it, smaller ones before it."""
    return _on_host(numpy.partition, _own(a), kth, axis)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """The indices of partition."""
    return _on_host(numpy.argpartition, _own(a), kth, axis)


def lexsort(keys, axis=-1):
    """The indices that sort by several keys, the last one first."""
    keys = [_own(k) for k in keys] if isinstance(keys, (tuple, list)) else [_own(keys)]
    hosts = [_host(k) for k in keys]
    return asarray(numpy.lexsort(hosts[0] if len(hosts) == 1 else hosts, axis), device=keys[0].device)


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True):
    """The sorted distinct elements of ar, and as asked their first places, how to rebuild ar, their counts."""
    return _on_host(numpy.unique, _own(ar), return_index, return_inverse, return_counts, axis, equal_nan=equal_nan)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle element along axis, or the mean of the two middle ones."""
    r = _on_host(numpy.median, _own(a), axis, keepdims=keepdims)
    return r if out is None else _store(out, r)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """The q-th percentiles along axis."""
    r = _on_host(numpy.percentile, _own(a), asnumpy(q), axis, method=method, keepdims=keepdims)
    return r if out is None else _store(out, r)


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """The q-th quantiles along axis."""
    r = _on_host(numpy.quantile, _own(a), asnumpy(q), axis, method=method, keepdims=keepdims)
    return r if out is None else _store(out, r)
