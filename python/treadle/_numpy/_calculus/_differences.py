"""Differences of neighbours, and slopes, areas and interpolation, which are made of them."""

import numpy

from ... import _core
from ..._core import asarray, empty, ndarray
from ..._exchange._host import few
from ..._exchange._place import on
from ..._exchange._place import own as _own
from ..._exchange._rows import by_rows
from ..._select._pick import gather
from ..._select._searching import searchsorted
from ..._select._sorting import argsort
from .._join import concatenate
from .._math._values import clip
from .._shape import _axes, _axis, _cut

_UFUNC = _core.ufuncs()
_select, _isnan = _UFUNC["select"], _UFUNC["isnan"]


def _floating(a):
    a = _own(a)
    return a if a.dtype.kind in "fc" else a.astype("float64")


def _piece(a, axis, start, stop, step=None):
    return a[_cut(a.ndim, axis, slice(start, stop, step))]


def _beside(x, a, axis):
    """The argument prepend or append of diff as an array. A number becomes one slice along the axis."""
    x = on(a.device, x)
    return _core._broadcast_to(x, (*a.shape[:axis], 1, *a.shape[axis + 1 :])) if x.ndim == 0 else x


@few(numpy.diff)
def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours along an axis, taken n times; of bools, whether neighbours differ.

    Parameters
    ----------
    a : array_like, shape (..., N, ...)
        The elements.
    n : int, default 1
        How often differences are taken; 0 returns a.
    axis : int, default -1
        Axis to work along; negative numbers count from the last.
    prepend, append : array_like, optional
        Values that stand before and after a along axis.

    Returns
    -------
    ndarray, shape (..., N - n, ...)
        Of a's dtype.

    Raises
    ------
    ValueError
        n is negative, or a has no axes.

    Examples
    --------
    >>> np.diff([1, 4, 9, 16])
    array([3, 5, 7])
    """
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    a = _own(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = _axis(axis, a.ndim, "diff")
    parts = [None if x is None else _beside(x, a, axis) for x in (prepend, append)]
    if prepend is not None or append is not None:
        a = concatenate([x for x in (parts[0], a, parts[1]) if x is not None], axis)
    for _ in range(n):
        later, earlier = _piece(a, axis, 1, None), _piece(a, axis, None, -1)
        a = later != earlier if a.dtype.kind == "b" else later - earlier
    return a


def unwrap(p, discont=None, axis=-1, *, period=2 * numpy.pi):
    """Add multiples of the period where neighbours differ by more than discont.

    Parameters
    ----------
    p : array_like, shape (..., N, ...)
        Phases.
    discont : float, optional
        Greatest step that stays; None means half the period.
    axis : int, default -1
        Axis to work along; negative numbers count from the last.
    period : float, default 2 pi
        The period, in p's unit.

    Returns
    -------
    ndarray
        Of p's shape; floats, integers where p and the period are integers.

    Examples
    --------
    >>> np.unwrap([0.0, 3.0, -3.0])
    array([0.        , 3.        , 3.28318531])
    """
    p = asarray(p)
    d = diff(p, axis=axis)
    axis %= p.ndim
    dtype = numpy.result_type(d.dtype, period)
    high, odd = divmod(period, 2) if dtype.kind in "iu" else (period / 2, 0)
    near = (d + high) % period - high
    if odd == 0:  # a difference of exactly half a period keeps its sign
        near = _select((near == -high) & (d > 0), high, near)
    add = _select(_UFUNC["absolute"](d) < (period / 2 if discont is None else discont), 0, near - d)
    later = p[_cut(p.ndim, axis, slice(1, None))] + add.cumsum(axis)
    return concatenate([p[_cut(p.ndim, axis, slice(1))], later], axis, dtype=dtype, casting="unsafe")


@few(numpy.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours of the flattened array.

    Parameters
    ----------
    ary : array_like
        The elements.
    to_end, to_begin : array_like, optional
        Values after and before the differences, in ary's dtype.

    Returns
    -------
    ndarray, shape (N - 1 + ends,)
        Of ary's dtype.

    Raises
    ------
    TypeError
        The ends cannot be cast to ary's dtype by "same_kind".

    Examples
    --------
    >>> np.ediff1d([1, 4, 9], to_begin=0)
    array([0, 3, 5])
    """
    a = _own(ary).ravel()
    d = _piece(a, 0, 1, None) - _piece(a, 0, None, -1)
    ends = []
    for name, x in (("to_begin", to_begin), ("to_end", to_end)):
        x = None if x is None else on(a.device, x).ravel()
        if x is not None and not numpy.can_cast(x.dtype, a.dtype, "same_kind"):
            raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
        ends.append(x)
    parts = [x for x in (ends[0], d, ends[1]) if x is not None]
    return d if len(parts) == 1 else concatenate(parts, 0, dtype=a.dtype)


def _number(x):
    """Whether x is a number or an array of no axes."""
    return x.ndim == 0 if isinstance(x, ndarray) else numpy.ndim(x) == 0


def _spacings(varargs, axes, f):
    """For each axis the spacing: a number, or the distances between neighbouring coordinates."""
    if len(varargs) == 0:
        return [1.0] * len(axes)
    if len(varargs) == 1 and _number(varargs[0]):
        return [float(varargs[0])] * len(axes)
    if len(varargs) != len(axes):
        raise TypeError("invalid number of arguments")
    steps = []
    for x, axis in zip(varargs, axes, strict=True):
        if _number(x):
            steps.append(float(x))
            continue
        x = on(f.device, x)
        if x.ndim != 1:
            raise ValueError("distances must be either scalars or 1d")
        if x.shape[0] != f.shape[axis]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        d = x.astype("float64") if x.dtype.kind in "biu" else x
        d = d[1:] - d[:-1]
        even = d.shape[0] and bool((d == d[0]).all())
        steps.append(float(d[0]) if even else d)
    return steps


def _inner(f, axis, d):
    """The slopes at inner points, from the neighbours on both sides, weighted for unequal distances."""
    before, at, after = _piece(f, axis, None, -2), _piece(f, axis, 1, -1), _piece(f, axis, 2, None)
    if isinstance(d, float):
        return (after - before) / (2.0 * d)
    shape = [-1 if k == axis else 1 for k in range(f.ndim)]
    one, two = d[:-1], d[1:]
    weights = (-two / (one * (one + two)), (two - one) / (one * two), one / (two * (one + two)))
    a, b, c = (w.reshape(shape) for w in weights)
    return a * before + b * at + c * after


def _end(f, axis, d, order, last):
    """The slope at one end, from one or two neighbours."""
    n = f.shape[axis]
    places = (n - 1, n - 2, n - 3) if last else (0, 1, 2)
    x, y, *z = (_piece(f, axis, k, k + 1) for k in places[: order + 1])
    sign = 1.0 if last else -1.0
    if isinstance(d, float):
        one = two = d
    else:  # the one or two distances next to this end
        one, two = (d[-1], d[-order]) if last else (d[0], d[order - 1])
    if order == 1:
        return sign * (x - y) / one
    a = (2.0 * one + two) / (one * (one + two))
    return sign * (a * x - (one + two) / (one * two) * y + one / (two * (one + two)) * z[0])


@few(numpy.gradient)
def gradient(f, *varargs, axis=None, edge_order=1):
    """The slope along every axis: by differences of second order inside, of first or second order at the ends.

    Parameters
    ----------
    f : array_like, shape (N1, N2, ...)
        Values at the points of a grid.
    *varargs : float or array_like
        Distances between points: one number for all axes, one for each axis, or coordinates of shape (Nk,) for each.
    axis : int or tuple of ints, optional
        Axes to take slopes along; None means all of them.
    edge_order : {1, 2}, default 1
        Order of the differences at the ends.

    Returns
    -------
    ndarray or tuple of ndarrays
        One array of f's shape for each axis; a single one stands alone.

    Raises
    ------
    TypeError
        f holds bools, or there are neither 0, 1 nor as many distances as axes.
    ValueError
        An axis has fewer than edge_order + 1 points.

    Examples
    --------
    >>> np.gradient([1.0, 4.0, 9.0, 16.0])
    array([3., 4., 6., 7.])
    """
    f = _own(f)
    if f.dtype.kind == "b":
        raise TypeError("gradient: bools have no differences")
    f = _floating(f)
    axes = [*range(f.ndim)] if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = _axes(axes, f.ndim, "gradient")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    if len(axes) == 1:
        r = by_rows(lambda x: gradient(x, *varargs, axis=axes[0], edge_order=edge_order), f, tuple(axes))
        if r is not None:
            return r
    r = []
    for k, d in zip(axes, _spacings(varargs, axes, f), strict=True):
        if f.shape[k] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
                "required."
            )
        ends = _end(f, k, d, edge_order, False), _end(f, k, d, edge_order, True)
        r.append(concatenate([ends[0], _inner(f, k, d), ends[1]], k, dtype=f.dtype))
    return r[0] if len(r) == 1 else tuple(r)


@few(numpy.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The area under y by the trapezoidal rule.

    Parameters
    ----------
    y : array_like, shape (..., N, ...)
        Heights.
    x : array_like, shape (N,) or y's, optional
        Places of the heights; None means equal distances dx.
    dx : float, default 1.0
        Distance of neighbours where x is not given.
    axis : int, default -1
        Axis to work along; negative numbers count from the last.

    Returns
    -------
    ndarray, shape (..., ...)
        Without the axis.

    Examples
    --------
    >>> np.trapezoid([1.0, 2.0, 3.0])
    np.float64(4.0)
    """
    y = _own(y, x)
    axis = _axis(axis, y.ndim, "trapezoid")
    d = dx
    if x is not None:
        x = on(y.device, x)
        d = diff(x) if x.ndim == 1 else diff(x, axis=axis)
        if x.ndim == 1:
            d = d.reshape([-1 if k == axis else 1 for k in range(y.ndim)])
    return (d * (_piece(y, axis, 1, None) + _piece(y, axis, None, -1)) / 2.0).sum(axis)


def _between(x, x0, x1, y0, y1):
    """The line through (x0, y0) and (x1, y1), at x.

    If it gives NaN, as beside infinities, it is computed from the other end. At a point itself y0 is exact. Real and
    imaginary parts are computed separately.
    """
    if y0.dtype.kind == "c":
        r = empty(x.shape, y0.dtype, device=x.device)
        r.real[...] = _between(x, x0, x1, y0.real, y1.real)
        r.imag[...] = _between(x, x0, x1, y0.imag, y1.imag)
        return r
    slope = (y1 - y0) / (x1 - x0)
    r = slope * (x - x0) + y0
    r = _select(_isnan(r), slope * (x - x1) + y1, r)
    return _select((_isnan(r) & (y0 == y1)) | (x == x0), y0, r)


@few(numpy.interp, 2)
def interp(x, xp, fp, left=None, right=None, period=None):
    """The piecewise linear function through the points (xp, fp), at x.

    Parameters
    ----------
    x : array_like
        Where to evaluate; real.
    xp : array_like, shape (N,)
        Places of the points, rising; with a period in any order.
    fp : array_like, shape (N,)
        Values at the points; real or complex.
    left, right : number, optional
        Values below xp[0] and above xp[-1]; None means fp[0] and fp[-1].
    period : float, optional
        Take x and xp modulo the period; left and right are then without effect.

    Returns
    -------
    ndarray
        Of x's shape, float64 or complex128.

    Raises
    ------
    ValueError
        xp and fp differ in length, are empty or have other than one axis, or the period is 0.
    TypeError
        x or xp is complex.

    Examples
    --------
    >>> np.interp([0.5, 1.5], [0.0, 1.0, 2.0], [0.0, 10.0, 40.0])
    array([ 5., 25.])
    """
    where = next((a.device for a in (x, fp, xp) if isinstance(a, ndarray)), None)
    x, xp = (on(where, a) for a in (x, xp))
    if x.dtype.kind == "c" or xp.dtype.kind == "c":
        raise TypeError("interp: coordinates are real numbers")
    x, xp = (a.astype("float64", copy=False) for a in (x, xp))
    fp = _floating(on(where, fp))
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    n = xp.shape[0]
    if n != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    if n == 0:
        raise ValueError("array of sample points is empty")
    fp = fp.astype("complex128" if fp.dtype.kind == "c" else "float64", copy=False)
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, xp = x % period, xp % period
        order = argsort(xp)
        xp, fp = gather(xp, order), gather(fp, order)
        xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp, n = concatenate([fp[-1:], fp, fp[:1]]), n + 2
    at = clip(searchsorted(xp, x, "right") - 1, 0, max(n - 2, 0))
    x0, y0 = gather(xp, at), gather(fp, at)
    if n > 1:
        r = _between(x, x0, gather(xp, at + 1), y0, gather(fp, at + 1))
    else:
        r = y0
    r = _select(x < xp[0], fp[0] if left is None else left, r)
    r = _select(x > xp[-1], fp[-1] if right is None else right, _select(x == xp[-1], fp[-1], r))
    return _select(_isnan(x), x, r) if n > 1 else r
