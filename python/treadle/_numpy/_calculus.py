"""Differences, slopes, areas, interpolation, convolution and covariance: spelled with other operations."""

import numpy

from .. import _core
from .._core import arange, asarray, empty, ndarray, zeros
from .._exchange._host import library
from .._exchange._place import on
from .._exchange._place import own as _own
from .._select._pick import gather
from .._select._searching import searchsorted
from .._select._sorting import argsort
from ..linalg._products import _conjugate, matmul
from ._join import concatenate
from ._math._averages import average
from ._math._values import clip
from ._shape import _axes, _axis, _cut, expand_dims

_UFUNC = _core.ufuncs()
_select, _isnan = _UFUNC["select"], _UFUNC["isnan"]


def _floating(a):
    a = _own(a)
    return a if a.dtype.kind in "fc" else a.astype("float64")


def _piece(a, axis, start, stop, step=None):
    return a[_cut(a.ndim, axis, slice(start, stop, step))]


# ---- differences ----


def _beside(x, a, axis):
    """The argument prepend or append of diff as an array. A number becomes one slice along the axis."""
    x = on(a.device, x)
    return _core._broadcast_to(x, (*a.shape[:axis], 1, *a.shape[axis + 1 :])) if x.ndim == 0 else x


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
    array(4.)
    """
    y = _own(y)
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


# ---- sliding products ----


def _part(mode, n, m):
    """Where a mode's part of the full product of n and m <= n elements begins, and its length."""
    return {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}[mode]


def _slid(a, v, mode):
    """The sums over k of a[n + k] v[k], for the n that the mode includes. v is not longer than a."""
    n, m = a.shape[0], v.shape[0]
    first, count = _part(mode, n, m)
    at = arange(count, device=a.device)[:, None] + (arange(m, device=a.device) + (first - m + 1))[None, :]
    inside = (at >= 0) & (at < n)
    terms = _select(inside, gather(a, clip(at, 0, n - 1)) * v, asarray(0, a.dtype, device=a.device))
    return terms.any(-1) if terms.dtype.kind == "b" else terms.sum(-1, dtype=terms.dtype)


def _sliding(name, a, v, mode):
    a, v = (_own(x) for x in (a, v))
    if isinstance(mode, int) and 0 <= mode < 3:
        mode = ("valid", "same", "full")[mode]
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (case sensitive), got {mode!r}")
    if name == "convolve":
        a, v = (x.reshape(1) if x.ndim == 0 else x for x in (a, v))
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError(f"{name}: one-dimensional arrays are wanted, not {a.ndim} and {v.ndim} dimensions")
    for x, which in ((a, "first"), (v, "second")):
        if x.shape[0] == 0:
            raise ValueError(f"{name}: the {which} array cannot be empty")
    return a, v, mode


SHORT = {"cpu": 1024, "cuda": 256, "null": 256}  # elements of the shorter vector from which transforms are faster
LONG = 1 << 22  # number of products from which transforms are faster


def _by_transforms(a, v, mode):
    """The convolution of floats by Fourier transforms in double precision. None where the vectors are short or not
    finite."""
    from .. import fft as transforms
    from ..fft._dispatch import _missing

    n, m = a.shape[0], v.shape[0]
    if a.dtype.kind not in "fc" or m < SHORT[a.device.kind] or n * m < LONG or _missing(a.device):
        return None
    if not bool(_UFUNC["isfinite"](a).all() & _UFUNC["isfinite"](v).all()):
        return None
    wide = "complex128" if a.dtype.kind == "c" else "float64"
    size, kind = 1 << (n + m - 2).bit_length(), "" if wide == "complex128" else "r"
    forward, back = getattr(transforms, kind + "fft"), getattr(transforms, f"i{kind}fft")
    product = back(forward(a.astype(wide), size) * forward(v.astype(wide), size), size)
    first, count = _part(mode, n, m)
    return product[first : first + count].astype(a.dtype)


def _products(name, a, v, mode):
    """The sums for convolve, or correlate with a conjugated v, of one dtype. v is not longer than a."""
    r = _by_transforms(a, v, mode)
    if r is not None:
        return r
    if a.device.host and a.dtype.kind != "V":
        backwards = v if name == "convolve" else v[::-1]
        if name == "correlate":
            return library("numpy.correlate", numpy.correlate, (a, _conjugate(backwards), mode), {})
        return library("numpy.convolve", numpy.convolve, (a, backwards, mode), {})
    return _slid(a, v[::-1], mode)


def convolve(a, v, mode="full"):
    """The discrete convolution of two vectors.

    On the CPU's memory NumPy computes it; on a GPU one fused sum does, and Fourier transforms for long vectors of
    floats.

    Parameters
    ----------
    a : array_like, shape (N,)
        One vector.
    v : array_like, shape (M,)
        The other one.
    mode : {"full", "same", "valid"}, default 'full'
        "full": every overlap, "same": as many results as the longer vector has elements, "valid": whole overlaps.

    Returns
    -------
    ndarray, shape (N + M - 1,), (max(N, M),) or (max(N, M) - min(N, M) + 1,)
        By the mode; of the dtype that a and v promote to.

    Raises
    ------
    ValueError
        A vector is empty, or has more than one axis.

    Examples
    --------
    >>> np.convolve([1, 2, 3], [1, 1])
    array([1, 3, 5, 3])
    """
    a, v, mode = _sliding("convolve", a, v, mode)
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    dt = numpy.result_type(a.dtype, v.dtype)
    return _products("convolve", a.astype(dt, copy=False), v.astype(dt, copy=False), mode)


def correlate(a, v, mode="valid"):
    """The cross-correlation of two vectors, of which the second is conjugated.

    Parameters
    ----------
    a : array_like, shape (N,)
        One vector.
    v : array_like, shape (M,)
        The other one.
    mode : {"full", "same", "valid"}, default 'valid'
        As for convolve.

    Returns
    -------
    ndarray, shape (N + M - 1,), (max(N, M),) or (max(N, M) - min(N, M) + 1,)
        By the mode.

    Raises
    ------
    ValueError
        A vector is empty, or has more than one axis.

    Examples
    --------
    >>> np.correlate([1, 2, 3], [0, 1, 1], "full")
    array([1, 3, 5, 3, 0])
    """
    a, v, mode = _sliding("correlate", a, v, mode)
    dt = numpy.result_type(a.dtype, v.dtype)
    a, v = a.astype(dt, copy=False), _conjugate(v.astype(dt, copy=False))
    if v.shape[0] <= a.shape[0]:
        return _products("correlate", a, v[::-1], mode)
    return _products("correlate", v, a[::-1], mode)[::-1]


# ---- covariance ----


def _real(a):
    return _UFUNC["real"](a) if a.dtype.kind == "c" else a


def _weights(w, x, name, whole):
    """The weights of cov, checked, on x's device and in float64."""
    w = on(x.device, w).astype("float64", copy=False)
    if whole and bool((w != _UFUNC["rint"](w)).any()):
        raise TypeError(f"{name} must be integer")
    if w.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if w.ndim == 0 or w.shape[0] != x.shape[1]:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if bool((w < 0).any()):
        raise ValueError(f"{name} cannot be negative")
    return w


def _observations(m, y, rowvar, dtype):
    """A matrix with one variable in each row."""
    m = asarray(m)
    given = [m] if y is None else [m, on(m.device, y)]
    for a, name in zip(given, "my", strict=False):
        if a.ndim > 2:
            raise ValueError(f"{name} has more than 2 dimensions")
    dt = dtype or numpy.result_type(*(a.dtype for a in given), "float64")
    rows = []
    for a in given:
        a = a.astype(dt, copy=False)
        two = a.reshape((1, -1)) if a.ndim < 2 else a
        turned = not rowvar and a.ndim == 2 and (a is given[0] or a.shape[0] != 1)
        rows.append(two.T if turned else two)
    return rows[0] if len(rows) == 1 else concatenate(rows, 0)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """The covariance matrix of variables.

    Parameters
    ----------
    m : array_like, shape (V, N) or (N,)
        Observations: a variable a row.
    y : array_like, shape (W, N) or (N,), optional
        More variables with the same observations.
    rowvar : bool, default True
        False: a variable a column.
    bias : bool, default False
        Divide by N in place of N - 1, unless ddof says more.
    ddof : int, optional
        Divide by N - ddof.
    fweights : array_like of int, shape (N,), optional
        How often each observation occurs.
    aweights : array_like, shape (N,), optional
        How much each observation weighs.
    dtype : dtype, optional
        Dtype of the result; None means at least float64.

    Returns
    -------
    ndarray, shape (V + W, V + W), or () for one variable
        Covariances.

    Raises
    ------
    ValueError
        ddof is no integer, or m has more than two axes.

    Examples
    --------
    >>> np.cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    x = _observations(m, y, rowvar, dtype)
    if x.shape[0] == 0:
        return empty((0, 0), dtype="float64", device=x.device)
    n = x.shape[1]
    ddof = (0 if bias else 1) if ddof is None else ddof
    f = None if fweights is None else _weights(fweights, x, "fweights", True)
    each = None if aweights is None else _weights(aweights, x, "aweights", False)
    w = f if each is None else each if f is None else f * each
    total = n if w is None else float(w.sum())
    if w is None or ddof == 0 or each is None:
        left = total - (ddof if ddof else 0)
    else:
        left = total - ddof * float((w * each).sum()) / total
    left = max(float(left), 0.0)
    w = w if w is None else w.astype(x.dtype, copy=False)
    away = x - expand_dims(average(x, 1, w), 1)
    right = away if w is None else away * w
    c = matmul(away, _conjugate(right).T)
    return (c * (1.0 / left if left else float("inf"))).squeeze()


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """The matrix of correlation coefficients of variables.

    Parameters
    ----------
    x : array_like, shape (V, N) or (N,)
        Observations: a variable a row.
    y : array_like, shape (W, N) or (N,), optional
        More variables with the same observations.
    rowvar : bool, default True
        False: a variable a column.
    dtype : dtype, optional
        Dtype of the result; None means at least float64.

    Returns
    -------
    ndarray, shape (V + W, V + W), or () for one variable
        Coefficients from -1 to 1.

    Examples
    --------
    >>> np.corrcoef([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    d = _UFUNC["sqrt"](_real(c.reshape(-1)[:: c.shape[0] + 1]))
    c = c / d[:, None] / d[None, :]
    if c.dtype.kind == "c":
        return (clip(_real(c), -1, 1) + clip(_UFUNC["imag"](c), -1, 1) * 1j).astype(c.dtype, copy=False)
    return clip(c, -1, 1)


# ---- powers and grids ----


def vander(x, N=None, increasing=False):
    """The matrix of the powers of x: one power a column, the highest first.

    Parameters
    ----------
    x : array_like, shape (M,)
        The numbers.
    N : int, optional
        How many powers; None means M.
    increasing : bool, default False
        The power 0 first.

    Returns
    -------
    ndarray, shape (M, N)
        Of x's dtype, int64 at least.

    Raises
    ------
    ValueError
        x has other than one axis.

    Examples
    --------
    >>> np.vander([2, 3], 3)
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    x = _own(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = x.shape[0] if N is None else N
    powers = arange(n, device=x.device)
    one = numpy.result_type(x.dtype, int)
    return x.astype(one)[:, None] ** (powers if increasing else powers[::-1])[None, :]


def polyval(p, x):
    """The polynomial with the coefficients p, the highest first, at x."""
    where = next((a.device for a in (x, p) if isinstance(a, ndarray)), None)
    p, x = on(where, p), on(where, x)
    y = zeros(x.shape, x.dtype, device=x.device)
    for k in range(p.shape[0]):
        y = y * x + p[k]
    return y
