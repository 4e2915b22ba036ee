"""average, which weighs elements, and ptp, the distance from the least element to the greatest."""

import builtins

import numpy

from ... import _core
from ..._core import asarray
from .._shape import _axes
from .._spelled import kind_of, placed

_UFUNC = _core.ufuncs()


def ptp(a, axis=None, out=None, keepdims=False):
    """The range: the largest element minus the smallest.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.

    Returns
    -------
    ndarray
        Of a's shape without the axes, and of its dtype.

    Raises
    ------
    ValueError
        a is empty.

    Examples
    --------
    >>> np.ptp([3, 9, 4])
    np.int64(6)
    """
    a = asarray(a)
    return placed("ptp", a.max(axis, keepdims=keepdims) - a.min(axis, keepdims=keepdims), out)


def _fitted(w, a, axis):
    """The weights broadcast against a. They have a's shape, or that of one axis."""
    if w.shape == a.shape:
        return w
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = [k % a.ndim for k in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if w.shape != tuple(a.shape[k] for k in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    w = w.transpose(sorted(builtins.range(len(axes)), key=axes.__getitem__))
    return w.reshape([n if k in axes else 1 for k, n in enumerate(a.shape)])


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The mean along axes, weighted if weights are given.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    weights : array_like, of a's shape or of the extents along axis, optional
        How much each element counts.
    returned : bool, default False
        Return the sums of the weights too.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.

    Returns
    -------
    ndarray
        The means; with returned a pair of them and the sums of the weights.

    Raises
    ------
    ZeroDivisionError
        The weights sum to 0; they are evaluated for it.
    TypeError
        weights have another shape than a and no axis is given.

    Examples
    --------
    >>> np.average([1.0, 4.0], weights=[3, 1])
    np.float64(1.75)
    """
    a = asarray(a)
    axis = None if axis is None else tuple(_axes(axis, a.ndim, "average"))
    if weights is None:
        mean = a.mean(axis, keepdims=keepdims)
        total = a.size / mean.size if mean.size else 0
    else:
        a, w = _core._beside("average", a, weights)
        w = _fitted(w, a, axis)
        dt = numpy.result_type(a.dtype, w.dtype, *(["float64"] if kind_of(a) in "biu" else []))
        w = _core._broadcast_to(w, a.shape)
        total = w.sum(axis, dtype=dt, keepdims=keepdims)
        if bool((total == 0).any()):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        mean = _UFUNC["multiply"](a, w, dtype=dt).sum(axis, keepdims=keepdims) / total
    if not returned:
        return mean
    return mean, _core._broadcast_to(asarray(total, dtype=mean.dtype, device=a.device), mean.shape).copy()
