"""Differences, slopes, areas, interpolation, convolution and covariance: spelled with other operations."""

import numpy

from . import _core
from ._core import arange, asarray, ndarray
from ._indexing import _host, take
from ._math import average, clip
from ._place import on
from ._products import _conjugate, matmul
from ._shape import _axis, _cut, concatenate, expand_dims

_UFUNC = _core.ufuncs()
_select, _isnan = _UFUNC["select"], _UFUNC["isnan"]


def _own(a):
    return a if isinstance(a, ndarray) else asarray(a)


def _floating(a):
    a = _own(a)
    return a if a.dtype.kind in "fc" else a.astype("float64")


def _piece(a, axis, start, stop, step=None):
    return a[_cut(a.ndim, axis, slice(start, stop, step))]


# ---- differences ----


def _beside(x, a, axis):
    """What diff is to put beside a: an array, or one value along the axis."""
    x = on(a.device, x)
    return _core._broadcast_to(x, (*a.shape[:axis], 1, *a.shape[axis + 1 :])) if x.ndim == 0 else x


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours along axis, n times; of bools, whether they differ."""
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


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours of the flat array, with values before and after them."""
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


def _spacings(varargs, axes, f):
    """For each axis a number, or the distances of neighbouring coordinates."""
    if len(varargs) == 0:
        return [1.0] * len(axes)
    if len(varargs) == 1 and numpy.ndim(_core.asnumpy(varargs[0])) == 0:
        return [float(varargs[0])] * len(axes)
    if len(varargs) != len(axes):
        raise TypeError("invalid number of arguments")
    steps = []
    for x, axis in zip(varargs, axes, strict=True):
        x = _core.asnumpy(x)
        if x.ndim > 1:
            raise ValueError("distances must be either scalars or 1d")
        if x.ndim == 1 and len(x) != f.shape[axis]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        d = numpy.diff(x.astype("float64")) if x.ndim else float(x)
        even = x.ndim and len(d) and (d == d[0]).all()
        steps.append(float(d[0]) if even else d)
    return steps


def _inner(f, axis, d):
    """Slopes at the inner points: by neighbours on both sides, weighted where these are unequally far."""
    before, at, after = _piece(f, axis, None, -2), _piece(f, axis, 1, -1), _piece(f, axis, 2, None)
    if isinstance(d, float):
        return (after - before) / (2.0 * d)
    shape = [-1 if k == axis else 1 for k in range(f.ndim)]
    one, two = d[:-1], d[1:]
    weights = (-two / (one * (one + two)), (two - one) / (one * two), one / (two * (one + two)))
    a, b, c = (on(f.device, w, f.dtype if f.dtype.kind == "f" else None).reshape(shape) for w in weights)
    return a * before + b * at + c * after


def _end(f, axis, d, order, last):
    """The slope at an end, of one or two neighbours there."""
    n = f.shape[axis]
    places = (n - 1, n - 2, n - 3) if last else (0, 1, 2)
    x, y, *z = (_piece(f, axis, k, k + 1) for k in places[: order + 1])
    sign = 1.0 if last else -1.0
    near = [d, d] if isinstance(d, float) else d[:-3:-1] if last else d[:2]  # the first distances from this end
    one, two = float(near[0]), float(near[-1])
    if order == 1:
        return sign * (x - y) / one
    a = (2.0 * one + two) / (one * (one + two))
    return sign * (a * x - (one + two) / (one * two) * y + one / (two * (one + two)) * z[0])


def gradient(f, *varargs, axis=None, edge_order=1):
    """The slope of f along every axis, or those given: by second-order differences inside, of first or second order
    at the ends. Distances: a number, one for each axis, or coordinates for each axis. An array, or a tuple of them.
    """
    f = _floating(f)
    axes = range(f.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [_axis(k, f.ndim, "gradient") for k in axes]
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
    """The area under y by the trapezoidal rule, at coordinates x or at equal distances dx."""
    y = _own(y)
    axis = _axis(axis, y.ndim, "trapezoid")
    d = dx
    if x is not None:
        x = on(y.device, x)
        d = diff(x) if x.ndim == 1 else diff(x, axis=axis)
        if x.ndim == 1:
            d = d.reshape([-1 if k == axis else 1 for k in range(y.ndim)])
    return (d * (_piece(y, axis, 1, None) + _piece(y, axis, None, -1)) / 2.0).sum(axis)


def interp(x, xp, fp, left=None, right=None, period=None):
    """The piecewise linear function through the points (xp, fp), xp rising, at x; left and right of them the end
    values, or those given. With a period, xp is taken modulo it and sorted.
    """
    where = next((a.device for a in (x, fp, xp) if isinstance(a, ndarray)), None)
    x, fp = on(where, x).astype("float64", copy=False), _floating(on(where, fp))
    xp = _core.asnumpy(xp).astype("float64")
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if len(xp) != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    fp = fp.astype("complex128" if fp.dtype.kind == "c" else "float64", copy=False)
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, xp = x % period, xp % period
        order = numpy.argsort(xp)
        xp, fp = xp[order], take(fp, order)
        xp = numpy.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = concatenate([fp[-1:], fp, fp[:1]])
    from ._searching import searchsorted

    n, xp = len(xp), on(where, xp)
    at = clip(searchsorted(xp, x, "right") - 1, 0, max(n - 2, 0))
    x0, y0 = take(xp, at), take(fp, at)
    if n > 1:
        x1, y1 = take(xp, at + 1), take(fp, at + 1)
        slope = (y1 - y0) / (x1 - x0)
        r = slope * (x - x0) + y0
        r = _select(_isnan(r), slope * (x - x1) + y1, r)
        r = _select(_isnan(r) & (y0 == y1), y0, r)
    else:
        r = y0
    r = _select(x < xp[0], fp[0] if left is None else left, r)
    r = _select(x > xp[-1], fp[-1] if right is None else right, _select(x == xp[-1], fp[-1], r))
    return _select(_isnan(x), x, r)


# ---- sliding products ----


def _slid(a, v, mode, name):
    """sum over k of a[n + k] v[k] for every n at which they overlap, as the mode says; v is no longer than a."""
    n, m = a.shape[0], v.shape[0]
    first, count = {"full": (1 - m, n + m - 1), "same": (-(m // 2), n), "valid": (0, n - m + 1)}[mode]
    if name == "convolve" and mode == "same":
        first = (m - 1) // 2 - (m - 1)
    at = arange(count, device=a.device)[:, None] + (arange(m, device=a.device) + first)[None, :]
    inside = (at >= 0) & (at < n)
    terms = _select(inside, take(a, clip(at, 0, n - 1)) * v, asarray(0, a.dtype, device=a.device))
    return terms.any(-1) if terms.dtype.kind == "b" else terms.sum(-1, dtype=terms.dtype)


def _sliding(name, a, v, mode):
    a, v = (_own(x) for x in (a, v))
    if isinstance(mode, int):
        mode = ("valid", "same", "full")[mode]
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (case sensitive), got {mode!r}")
    a, v = (x.reshape(1) if x.ndim == 0 else x for x in (a, v))
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError(f"{name}: one-dimensional arrays are wanted, not {a.ndim} and {v.ndim} dimensions")
    for x, which in ((a, "first"), (v, "second")):
        if x.shape[0] == 0:
            raise ValueError(f"{name}: the {which} array cannot be empty")
    return a, v, mode


def convolve(a, v, mode="full"):
    """The discrete convolution of two vectors: NumPy's on the CPU's memory, elsewhere one fused sum."""
    a, v, mode = _sliding("convolve", a, v, mode)
    if a.device.kind == "cpu":
        return asarray(numpy.convolve(_host(a), _host(v), mode), device=a.device)
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    dt = numpy.result_type(a.dtype, v.dtype)
    return _slid(a.astype(dt, copy=False), v.astype(dt, copy=False)[::-1], mode, "convolve")


def correlate(a, v, mode="valid"):
    """The cross-correlation of two vectors, v conjugated: NumPy's on the CPU's memory, elsewhere one fused sum."""
    a, v, mode = _sliding("correlate", a, v, mode)
    if a.device.kind == "cpu":
        return asarray(numpy.correlate(_host(a), _host(v), mode), device=a.device)
    dt = numpy.result_type(a.dtype, v.dtype)
    a, v = a.astype(dt, copy=False), _conjugate(v.astype(dt, copy=False))
    if v.shape[0] <= a.shape[0]:
        return _slid(a, v, mode, "correlate")
    return _slid(v, a, mode, "correlate")[::-1]


# ---- covariance ----


def _weights(w, n, name):
    w = _core.asnumpy(w)
    if w.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if w.shape[0] != n:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if (w < 0).any():
        raise ValueError(f"{name} cannot be negative")
    return w.astype("float64")


def _observations(m, y, rowvar, dtype):
    """A matrix with a variable a row."""
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
    """The covariance matrix of variables in rows (rowvar=False: in columns), observations weighted as asked."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    x = _observations(m, y, rowvar, dtype)
    n = x.shape[1]
    ddof = (0 if bias else 1) if ddof is None else ddof
    w = None
    if fweights is not None:
        w = _weights(fweights, n, "fweights")
        if (w != numpy.around(w)).any():
            raise TypeError("fweights must be integer")
    if aweights is not None:
        each = _weights(aweights, n, "aweights")
        w = each if w is None else w * each
    total = n if w is None else w.sum()
    if w is None or ddof == 0:
        left = total - ddof
    else:
        left = total - ddof * (total if aweights is None else (w * each).sum()) / total
    left = max(float(left), 0.0)
    device_w = None if w is None else on(x.device, w, x.dtype)
    away = x - expand_dims(average(x, 1, device_w), 1)
    right = away if w is None else away * device_w
    c = matmul(away, _conjugate(right).T)
    return (c * (1.0 / left if left else float("inf"))).squeeze()


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """The matrix of correlation coefficients of variables in rows (rowvar=False: in columns)."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    d = _UFUNC["sqrt"](c.reshape(-1)[:: c.shape[0] + 1])
    c = c / d[:, None] / d[None, :]
    return clip(c, -1, 1) if c.dtype.kind == "f" else c


# ---- powers and grids ----


def vander(x, N=None, increasing=False):
    """The matrix of the powers of x, a power a column, the highest first."""
    x = _own(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = x.shape[0] if N is None else N
    powers = arange(n, device=x.device)
    one = numpy.result_type(x.dtype, int)
    return x.astype(one)[:, None] ** (powers if increasing else powers[::-1])[None, :]


def polyval(p, x):
    """The polynomial with the coefficients p, the highest first, at x."""
    coefficients = _core.asnumpy(p)
    x = asarray(x)
    y = x * 0
    for c in coefficients:
        y = y * x + on(x.device, c)
    return y
