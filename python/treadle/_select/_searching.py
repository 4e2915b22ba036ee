"""Searching in sorted arrays."""

import numpy

from .. import _core
from .._core import empty
from .._exchange._host import few
from .._numpy._join import concatenate
from ._pick import scatter
from ._sorting import argsort


@few(numpy.searchsorted, 1)
def searchsorted(a, v, side="left", sorter=None):
    """Where elements would be inserted into a sorted array.

    One lookup takes a step for each bit of a's size, in the kernel of what uses it. Comparisons are NumPy's: NaN counts
    as larger than every number.

    Parameters
    ----------
    a : array_like, shape (N,)
        Rising numbers, or any with a sorter.
    v : array_like
        The elements.
    side : {"left", "right"}, default 'left'
        Before equal elements or after them.
    sorter : array_like of int, shape (N,), optional
        The indices that sort a.

    Returns
    -------
    ndarray of int64
        Of v's shape, from 0 to N.

    Raises
    ------
    ValueError
        The side is neither, a has other than one axis, or sorter has an index outside of a.

    Examples
    --------
    >>> np.searchsorted([1, 3, 5], [0, 3, 9])
    array([0, 1, 3])
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
    """How many elements of a come before each of v, by stably sorting both together."""
    n = v.size
    first, second = (v.ravel(), a) if side == "left" else (a, v.ravel())
    order = argsort(concatenate((first, second)), kind="stable")
    ours = order < n if side == "left" else order >= a.shape[0]
    before = _core._cumsum(~ours, 0, "int64")
    r = empty(n, dtype="int64", device=v.device)
    scatter(r, _core._select(order, ours) - (0 if side == "left" else a.shape[0]), _core._select(before, ours))
    return r.reshape(v.shape)


_FETCHED = 1 << 14  # edges of bins that the host looks at


def _rises(bins):
    """Whether bins increase. The first two that differ decide; NaN is neither less nor more, so it may be anywhere."""
    if bins.shape[0] < 2:
        return True
    if bins.shape[0] <= _FETCHED and bins.dtype.kind in "biuf":
        bins = bins.get()  # one wait for a GPU, where its answers below are several
    before, after = bins[:-1], bins[1:]
    first = (before != after).argmax().reshape(1)
    up = bool((before[first] < after[first]) | (before[first] == after[first]))
    if bool((after < before if up else after > before).any()):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return up


@few(numpy.digitize, 1)
def digitize(x, bins, right=False):
    """The bin that each element falls into.

    Parameters
    ----------
    x : array_like
        Real numbers.
    bins : array_like, shape (N,)
        Edges that rise or fall.
    right : bool, default False
        The bins hold their right ends, in place of their left ones.

    Returns
    -------
    ndarray of int64
        Of x's shape, from 0 (before the first edge) to N.

    Raises
    ------
    ValueError
        The edges neither rise nor fall.
    TypeError
        x is complex.

    Examples
    --------
    >>> np.digitize([0.5, 1.5, 9.0], [1, 2, 3])
    array([0, 1, 3])
    """
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
