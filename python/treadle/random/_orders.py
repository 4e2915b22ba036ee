"""Permutations and choices of a Generator.

An order comes from a 64-bit number for each element and a stable sort, so it is the same on every device.
"""

import math

import numpy

from .. import _core, _old_numpy
from .._core import asarray, asnumpy, ndarray
from .._exchange._host import store
from ._draws import _bits, _shape, standard_exponential


def _keys(g, shape):
    return _bits(g, shape)


def _order(g, n):
    from .._select._sorting import argsort

    return argsort(_keys(g, n), kind="stable")


def _elements(x):
    """x as an array: treadle's, or NumPy's if only the host can hold it (strings, objects)."""
    if isinstance(x, ndarray):
        return x
    x = numpy.asarray(x)
    return x if x.dtype.kind not in "biufc" else asarray(x)


def _taken(x, at, axis):
    """The slices of x at some indices along axis, on x's device if x is treadle's."""
    if isinstance(x, numpy.ndarray):
        return numpy.take(x, asnumpy(at), axis)
    return _core._take(x, asarray(at, device=x.device), axis % x.ndim)


def permutation(g, x, axis=0):
    """The slices along an axis in random order.

    Parameters
    ----------
    x : array_like or int
        The elements; an int stands for range(x).
    axis : int, default 0
        Axis to work along.

    Returns
    -------
    ndarray
        A copy of x's shape and dtype.

    Raises
    ------
    AxisError
        x has no such axis.

    Examples
    --------
    >>> sorted(np.random.default_rng(7).permutation(4).tolist())
    [0, 1, 2, 3]
    """
    if isinstance(x, (int, numpy.integer)):
        return _order(g, int(x))
    x = _elements(x)
    if not -x.ndim <= axis < x.ndim:
        raise _old_numpy.exceptions.AxisError(axis, x.ndim)
    return _taken(x, _order(g, x.shape[axis]), axis)


def shuffle(g, x, axis=0):
    """Put the slices along an axis in random order, in place.

    Parameters
    ----------
    x : ndarray or list
        What is shuffled.
    axis : int, default 0
        Axis to work along; 0 for lists.

    Raises
    ------
    ValueError
        x cannot be written.

    Examples
    --------
    >>> x = np.arange(4)
    >>> np.random.default_rng(7).shuffle(x)
    >>> sorted(x.tolist())
    [0, 1, 2, 3]
    """
    if isinstance(x, ndarray):
        if not x.flags.writeable:
            raise ValueError("array is read-only")
        x[...] = permutation(g, x, axis)
    elif isinstance(x, numpy.ndarray):
        x[...] = _taken(x, _order(g, x.shape[axis]), axis)
    else:
        if axis != 0:
            raise NotImplementedError("Axis argument is only supported on ndarray objects")
        x[:] = [x[i] for i in _order(g, len(x)).tolist()]


def permuted(g, x, axis=None, out=None):
    """Every slice along an axis in a random order of its own.

    Parameters
    ----------
    x : array_like
        The elements.
    axis : int, optional
        Axis to work along; None puts all elements in one random order.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        A copy of x's shape and dtype.

    Raises
    ------
    AxisError
        x has no such axis.

    Examples
    --------
    >>> np.random.default_rng(7).permuted([[1, 2], [3, 4]], axis=1).sum(axis=1)
    array([3, 7])
    """
    from .._select._sorting import argsort
    from .._select._writing import take_along_axis

    x = asarray(x)
    if axis is not None and not -x.ndim <= axis < x.ndim:
        raise _old_numpy.exceptions.AxisError(axis, x.ndim)
    if axis is None:
        r = _core._take(x.ravel(), _order(g, x.size), 0).reshape(x.shape)
    else:
        r = take_along_axis(x, argsort(_keys(g, x.shape), axis, kind="stable"), axis)
    return r if out is None else store("permuted", out, r)


def _probabilities(p, n):
    """p on the host, where sums are the same for every device."""
    p = asnumpy(p).astype("f8")
    if p.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if p.size != n:
        raise ValueError("a and p must have same size")
    if numpy.isnan(p).any():
        raise ValueError("Probabilities contain NaN")
    if (p < 0).any():
        raise ValueError("Probabilities are not non-negative")
    if abs(p.sum() - 1) > 1.5e-8:
        raise ValueError("Probabilities do not sum to 1. See Notes section of docstring for more information.")
    return p


def _weighted(g, p, size, count, replace, n):
    from .._select._searching import searchsorted
    from .._select._sorting import argsort

    p = _probabilities(p, n)
    if replace:
        ends = numpy.cumsum(p)
        u = g.random(size)
        return searchsorted(asarray(ends / ends[-1], device=u.device), u, "right")
    if (p > 0).sum() < count:
        raise ValueError("Fewer non-zero entries in p than size")
    # Weighted sampling without replacement: the earliest of exponential times with rates p (Efraimidis and Spirakis).
    rings = standard_exponential(g, n)
    rings = rings / asarray(p, device=rings.device)
    return argsort(rings, kind="stable")[:count]


def choice(g, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    """Elements of an array, chosen at random.

    Parameters
    ----------
    a : array_like or int
        The elements; an int stands for range(a).
    size : int or tuple of ints, optional
        Shape of the draw; None means one element.
    replace : bool, default True
        An element may come several times.
    p : array_like, shape (N,), optional
        Probabilities that sum to 1; None means equal ones.
    axis : int, default 0
        Axis of the elements.
    shuffle : bool, default True
        False leaves the order of a draw without replacement open.

    Returns
    -------
    ndarray
        size in the place of a's axis.

    Raises
    ------
    ValueError
        p does not fit, a is empty, or more elements are wanted than there are without replacement.

    Examples
    --------
    >>> sorted(np.random.default_rng(7).choice(3, 3, replace=False).tolist())
    [0, 1, 2]
    """
    number = isinstance(a, (int, numpy.integer))
    if not number:
        kind = type(a)
        a = _elements(a)
        if a.ndim == 0:
            raise ValueError(f"a must be a sequence or an integer, not {kind}")
    n = int(a) if number else a.shape[axis]
    shape = () if size is None else _shape(size)
    count = math.prod(shape)
    if n <= 0 and count:
        what = "a must be a positive integer" if number else "a cannot be empty"
        raise ValueError(what + " unless no samples are taken")
    if not replace and count > n:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    if count == 0:
        at = g.integers(0, 1, shape)
    elif p is not None:
        at = _weighted(g, p, shape, count, replace, n)
    else:
        at = g.integers(0, n, shape) if replace else _order(g, n)[:count]
    at = at.reshape(shape)
    return at if number else _taken(a, at, axis)


ORDERS = ["choice", "permutation", "permuted", "shuffle"]
