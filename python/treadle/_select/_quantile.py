"""Medians and quantiles: NumPy's on a CPU; on a GPU by sorting rows on the device.

NumPy's formula for each method gives a quantile's position between the elements of a sorted row. Rows from which NaN
is left out differ in length, so the formulas take the number of elements as a number or as an array.
"""

from math import prod

import numpy

from .. import _core
from .._core import asarray, asnumpy, ndarray
from .._exchange._host import check_out, few, store
from .._exchange._place import on
from .._exchange._rows import by_rows
from .._numpy._join import concatenate
from .._numpy._shape import _axes
from . import _selection
from ._pick import Pick
from ._sorting import _along_last, _library, _narrow, _on_device, _own, _wide

_UFUNC = _core.ufuncs()
_select, _isnan, _floor, _minimum, _maximum = (_UFUNC[k] for k in ("select", "isnan", "floor", "minimum", "maximum"))


# ---- methods ----


def _between(alpha, beta):
    """The position formula of Hyndman and Fan's continuous methods."""
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _discrete(shift, stays):
    """The position formula of discrete methods: the element below if stays(fraction, its index) holds, else the next
    one."""

    def index(n, q):
        v = n * q - 1 - shift
        below = _floor(v)
        at = _select(stays(v - below, below), below, below + 1)
        return _maximum(at, 0)

    return index


def _nearest(v):
    return _UFUNC["rint"](v)


# method: (position of a quantile among n sorted elements, as a float; function of its fraction and position that gives
# the weight of the next element). None in place of the function: the result is an element.
_METHODS = {
    "inverted_cdf": (_discrete(0, lambda g, i: g == 0), None),
    "averaged_inverted_cdf": (lambda n, q: n * q - 1, lambda g, v: _select(g == 0, 0.5, 1.0)),
    "closest_observation": (_discrete(0.5, lambda g, i: (g == 0) & (_floor(i) % 2 == 1)), None),
    "interpolated_inverted_cdf": (_between(0, 1), lambda g, v: g),
    "hazen": (_between(0.5, 0.5), lambda g, v: g),
    "weibull": (_between(0, 0), lambda g, v: g),
    "linear": (lambda n, q: (n - 1) * q, lambda g, v: g),
    "median_unbiased": (_between(1 / 3.0, 1 / 3.0), lambda g, v: g),
    "normal_unbiased": (_between(3 / 8.0, 3 / 8.0), lambda g, v: g),
    "lower": (lambda n, q: _floor((n - 1) * q), None),
    "higher": (lambda n, q: _UFUNC["ceil"]((n - 1) * q), None),
    "midpoint": (
        lambda n, q: 0.5 * (_floor((n - 1) * q) + _UFUNC["ceil"]((n - 1) * q)),
        lambda g, v: _select(v % 1 == 0, 0.0, 0.5),
    ),
    "nearest": (lambda n, q: _nearest((n - 1) * q), None),
}


# ---- rows ----


class Rows:
    """The rows along an array's reduced axes, which are moved to the end and merged, and the shape of the result."""

    def __init__(self, a, axis, keepdims, name):
        axes = range(a.ndim) if axis is None else _axes(axis, a.ndim, name)
        if len(set(axes)) != len(axes):
            raise ValueError("repeated axis")
        self.axes, self.keep = sorted(axes), [k for k in range(a.ndim) if k not in axes]
        self.kept = tuple(a.shape[k] for k in self.keep)
        self.n = prod(a.shape[k] for k in axes)
        self.shape = tuple(1 if k in axes else n for k, n in enumerate(a.shape)) if keepdims else self.kept

    def of(self, a):
        return a.transpose([*self.keep, *self.axes]).reshape((*self.kept, self.n))

    def back(self, r, more=()):
        """Give r the shape of the result. more: extents of axes before the kept ones."""
        return r.reshape((*more, *self.shape))


def _into(name, out, r, casting="unsafe"):
    if out is None:
        return r
    check_out(name, out)
    if out.shape != r.shape:
        raise ValueError(f"{name}: output array has shape {out.shape}, the result {r.shape}")
    return store(name, out, r, casting=casting)


def _element(rows, at):
    """Elements of sorted rows at indices of shape (..., *kept)."""
    kept = rows.shape[:-1]
    index = [
        _core._broadcast_to(asarray(numpy.arange(n).reshape([n] + [1] * (len(kept) - 1 - k)), device=rows.device), kept)
        for k, n in enumerate(kept)
    ]
    p = Pick(rows, range(rows.ndim), [*index, at.astype("int64")], 0, Pick.TRUSTED)
    return _core._pick(p.view, *p.rest)


def _numbers(rows):
    """The number of elements of each row that are not NaN."""
    return (~_isnan(rows)).sum(-1)


def _by_numpy(name, a, args, kw, out):
    kw = {k: asnumpy(v) if isinstance(v, ndarray) and v.device != a.device else v for k, v in kw.items()}
    half = a.dtype.kind == "V"
    r = _library(name, _wide(a) if half else a, *args, **kw)
    return _into(name, out, _narrow(r, a) if half else r, "unsafe" if name.endswith("median") else "same_kind")


def _by_rows(f, a, axis, keepdims, name, lead=0):
    if axis is None:
        return None
    return by_rows(f, a, Rows(a, axis, keepdims, name).axes, keepdims, lead)


# ---- medians ----


def _middle(name, a, axis, out, keepdims):
    a = _own(a)
    kw = {"keepdims": keepdims}
    r = _by_rows(lambda x: _middle(name, x, axis, None, keepdims), a, axis, keepdims, "median")
    if r is not None:
        return _into(name, out, r)
    skips = name == "nanmedian" and a.dtype.kind in "fcV"
    if a.device.host or a.size == 0:
        return _by_numpy(name, a, (axis,), kw, out)
    rows = Rows(a, axis, keepdims, "median")
    if not rows.kept and _selection.serves(flat := rows.of(a)):
        found = _selection.around(flat, (rows.n - 1) // 2, rows.n // 2)
        if found is not None:
            first = (rows.n - 1) // 2 - found[1]
            return _into(name, out, rows.back(found[0][first : first + 2 - rows.n % 2].mean(-1)))
    done = _on_device(rows.of(a), len(rows.kept), True, False)
    if done is None:
        return _by_numpy(name, a, (axis,), kw, out)
    x, last = done[0], done[0][..., -1]
    if skips:
        n = _numbers(x)
        low, high = (_element(x, _maximum(at, 0)) for at in ((n - 1) // 2, n // 2))
        r = _select(n == 0, last, ((low + high) / 2).astype(a.dtype))
    else:
        r = x[..., (rows.n - 1) // 2 : rows.n // 2 + 1].mean(-1)
        r = _select(_isnan(last), last, r) if a.dtype.kind in "fcV" else r
    return _into(name, out, rows.back(r))


@few(numpy.median, 4)
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle element, or the mean of the two middle ones.

    Parameters
    ----------
    a : array_like
        Real numbers.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    overwrite_input : bool, default False
        Accepted; the input is never overwritten.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.

    Returns
    -------
    ndarray
        a's shape without the axes; NaN where a slice holds one.

    Examples
    --------
    >>> np.median([1, 9, 3])
    np.float64(3.0)
    """
    return _middle("median", a, axis, out, keepdims)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The median of the elements that are not NaN; NaN where there is none.

    Parameters
    ----------
    a : array_like
        Real numbers.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    overwrite_input : bool, default False
        Accepted; the input is never overwritten.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.

    Returns
    -------
    ndarray
        a's shape without the axes.

    Examples
    --------
    >>> np.nanmedian([1.0, np.nan, 3.0])
    np.float64(2.0)
    """
    return _middle("nanmedian", a, axis, out, keepdims)


# ---- quantiles ----


def _bad_method(method):
    raise ValueError(f"{method!r} is not a valid method. Use one of: {', '.join(map(repr, _METHODS))}")


def _quantile_numbers(q, name, device):
    """(q as an array on the device, divided by 100 for percentiles; whether it was a plain number)."""
    percent = name.endswith("percentile")
    plain, given = type(q) in (int, float), q
    q = _own(q) if isinstance(q, ndarray) else numpy.asanyarray(q)
    q = q / 100 if percent else q
    if q.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    if isinstance(given, ndarray):
        q = on(device, q)
    if q.size and not bool(((q >= 0) & (q <= 1)).all()):
        raise ValueError(
            "Percentiles must be in the range [0, 100]" if percent else "Quantiles must be in the range [0, 1]"
        )
    return on(device, q), plain


def _check_weights(w, a, axis):
    """The weights, checked and broadcast against a."""
    w = on(a.device, w)
    if w.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        axes = _axes(axis, a.ndim, "weights")
        if w.shape != tuple(a.shape[k] for k in axes):
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        order = sorted(range(len(axes)), key=axes.__getitem__)
        w = w.transpose(order).reshape([n if k in axes else 1 for k, n in enumerate(a.shape)])
    if w.size and bool((w < 0).any()):
        raise ValueError("Weights must be non-negative.")
    return _core._broadcast_to(w, a.shape)


def _interpolated(x, q, n, method, plain, skipped=0):
    """Quantiles along the last axis of sorted x by interpolation.

    n is the number of elements that count, a number or an array. q has shape (quantiles, 1 for each kept axis).
    skipped is the number of elements that come before those of x."""
    place, fraction = _METHODS[method]
    v = place(n.astype(q.dtype) if isinstance(n, ndarray) and q.dtype.kind == "f" else n, q)
    top = _maximum(n - 1, 0) if isinstance(n, ndarray) else n - 1
    shape = (*q.shape[: q.ndim - x.ndim + 1], *x.shape[:-1])
    if fraction is None or v.dtype.kind in "iu":
        at = _minimum(v.astype("int64"), top)
        return _element(x, _core._broadcast_to(at - skipped, shape))
    below = _floor(v)
    beyond, before = v >= top, v < 0
    low = _select(beyond, top, _select(before, 0, below.astype("int64")))
    high = _select(beyond | before, low, low + 1)
    g = fraction(v - _select(beyond, -1.0, _select(before, 0.0, below)), v).astype(v.dtype)
    one, two = (_element(x, _core._broadcast_to(at - skipped, shape)) for at in (low, high))
    step = two - one
    dt = numpy.result_type(step.dtype, 1.0) if plain else numpy.result_type(step.dtype, g.dtype)
    near, far = g.astype(dt, copy=False), (1 - g).astype(dt, copy=False)
    return _select(g >= 0.5, two - step * far, one + step * near).astype(dt, copy=False)


FEW = 3  # quantiles of a long vector up to which each is selected by itself


def _selected(x, q, method, plain):
    """Quantiles of a long vector: only the elements around each are sorted. None where that does not work."""
    parts, flat = [], q.reshape(q.size)
    for k, number in enumerate(asnumpy(flat)):
        first = int(numpy.clip(numpy.floor((x.size - 1.0) * number) - 2, 0, x.size - 1))
        found = _selection.around(x, first, min(first + 4, x.size - 1))
        if found is None:
            return None
        parts.append(_interpolated(found[0], flat[k : k + 1], x.size, method, plain, found[1]))
    return concatenate(parts).reshape(q.shape)


def _weighed(x, w, q, n):
    """The first element of sorted rows at which the running sum of weights reaches the share q of their total."""
    cdf = _core._cumsum(w, w.ndim - 1, "float64")
    cdf = cdf / cdf[..., -1:]
    if bool(_isnan(cdf[..., -1]).any()):
        raise ValueError("Weights included NaN, inf or were all zero.")
    cdf = cdf.astype(q.dtype, copy=False) if q.dtype.kind == "f" else cdf
    cdf = _select(cdf == 0, -1, cdf)
    at = (cdf < q[..., None]).sum(-1)
    return _element(x, _minimum(at, _maximum(n - 1, 0)))


def _at(name, a, q, axis, out, method, keepdims, weights):
    a = _own(a)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    asked = q
    q, plain = _quantile_numbers(q, name, a.device)
    if weights is not None:
        if method != "inverted_cdf":
            raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
        weights = _check_weights(weights, a, axis)
    elif method not in _METHODS:
        _bad_method(method)
    if weights is None:
        r = _by_rows(lambda x: _at(name, x, asked, axis, None, method, keepdims, None), a, axis, keepdims, name, q.ndim)
        if r is not None:
            return _into(name, out, r, "same_kind")
    rows = Rows(a, axis, keepdims, name)
    kw = {"method": method, "keepdims": keepdims}
    if a.device.host or a.size == 0:
        return _plainly(name, a, q, plain, axis, kw, weights, out)
    skips = name.startswith("nan") and a.dtype.kind in "fV"
    if not rows.kept and weights is None and 0 < q.size <= FEW and _selection.serves(flat := rows.of(a)):
        r = _selected(flat, q, method, plain)
        if r is not None:
            return _into(name, out, rows.back(r, q.shape), "same_kind")
    done = _on_device(rows.of(a), len(rows.kept), True, weights is not None)
    if done is None:
        return _plainly(name, a, q, plain, axis, kw, weights, out)
    x, order = done
    n, last = _numbers(x) if skips else rows.n, x[..., -1]
    spread = q.reshape((*q.shape, *(1 for _ in rows.kept)))
    if weights is None:
        r = _interpolated(x, spread, n, method, plain)
    else:
        w = rows.of(weights).astype("float64")
        w = _along_last(_select(_isnan(rows.of(a)), 0.0, w) if skips else w, order)
        r = _weighed(x, w, spread, n)
    if skips:
        r = _select(n == 0, last, r)
    elif a.dtype.kind in "fV":
        r = _select(_isnan(last), last, r)
    return _into(name, out, rows.back(r, q.shape), "same_kind")


def _plainly(name, a, q, plain, axis, kw, weights, out):
    """Call NumPy with the checked arguments."""
    host = q.get()
    f = name.replace("percentile", "quantile")
    host = host[()].item() if plain else host
    if weights is not None:
        kw = {**kw, "weights": weights if a.size else numpy.zeros(a.shape)}
    return _by_numpy(f, a, (host, axis), kw, out)


@few(numpy.quantile, 4)
def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """The q-th quantiles.

    Parameters
    ----------
    a : array_like
        Real numbers.
    q : array_like
        From 0 to 1.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    overwrite_input : bool, default False
        Accepted; the input is never overwritten.
    method : str, default 'linear'
        How it is read between two elements: NumPy's thirteen methods.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.
    weights : array_like, of a's shape or of the extents along axis, optional
        How much each element counts; method "inverted_cdf" alone takes them.

    Returns
    -------
    ndarray, shape (*q.shape, ...)
        q's axes, then a's without the axes; NaN where a slice holds one.

    Raises
    ------
    ValueError
        q lies outside of 0 to 1, or the method or the weights do not fit.

    Examples
    --------
    >>> np.quantile([1.0, 2.0, 4.0], [0.25, 0.5])
    array([1.5, 2. ])
    """
    return _at("quantile", a, q, axis, out, method, keepdims, weights)


@few(numpy.percentile, 4)
def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """The q-th percentiles: quantiles of q / 100.

    Parameters
    ----------
    a : array_like
        Real numbers.
    q : array_like
        From 0 to 100.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    overwrite_input : bool, default False
        Accepted; the input is never overwritten.
    method : str, default 'linear'
        As quantile's.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.
    weights : array_like, of a's shape or of the extents along axis, optional
        As quantile's.

    Returns
    -------
    ndarray, shape (*q.shape, ...)
        q's axes, then a's without the axes.

    Raises
    ------
    ValueError
        q lies outside of 0 to 100, or the method or the weights do not fit.

    Examples
    --------
    >>> np.percentile([1.0, 2.0, 4.0], 50)
    np.float64(2.0)
    """
    return _at("percentile", a, q, axis, out, method, keepdims, weights)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """The q-th quantiles of the elements that are not NaN; NaN where there is none.

    Parameters
    ----------
    a : array_like
        Real numbers.
    q : array_like
        From 0 to 1.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    overwrite_input : bool, default False
        Accepted; the input is never overwritten.
    method : str, default 'linear'
        As quantile's.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.
    weights : array_like, of a's shape or of the extents along axis, optional
        As quantile's.

    Returns
    -------
    ndarray, shape (*q.shape, ...)
        q's axes, then a's without the axes.

    Raises
    ------
    ValueError
        q lies outside of 0 to 1, or the method or the weights do not fit.

    Examples
    --------
    >>> np.nanquantile([1.0, np.nan, 3.0], 0.5)
    np.float64(2.0)
    """
    return _at("nanquantile", a, q, axis, out, method, keepdims, weights)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """The q-th percentiles of the elements that are not NaN; NaN where there is none.

    Parameters
    ----------
    a : array_like
        Real numbers.
    q : array_like
        From 0 to 100.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    overwrite_input : bool, default False
        Accepted; the input is never overwritten.
    method : str, default 'linear'
        As quantile's.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.
    weights : array_like, of a's shape or of the extents along axis, optional
        As quantile's.

    Returns
    -------
    ndarray, shape (*q.shape, ...)
        q's axes, then a's without the axes.

    Raises
    ------
    ValueError
        q lies outside of 0 to 100, or the method or the weights do not fit.

    Examples
    --------
    >>> np.nanpercentile([1.0, np.nan, 3.0], 50)
    np.float64(2.0)
    """
    return _at("nanpercentile", a, q, axis, out, method, keepdims, weights)
