"""Arrays made of numbers, ranges, shapes of others and functions."""

import numpy

from .. import _core
from .._core import arange, asarray, ndarray
from ._math import where
from ._shape import moveaxis, stack


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """As asarray: treadle has no subclasses of its array."""
    return asarray(a, dtype, order, device=device, copy=copy)


def ascontiguousarray(a, dtype=None, *, like=None):
    """a itself where its elements lie in C order, else a copy; at least one axis."""
    a = asarray(a, dtype)
    a = a.reshape(1) if a.ndim == 0 else a
    return a if a.flags.c_contiguous else a.copy()


def asfortranarray(a, dtype=None, *, like=None):
    """a itself where its elements lie in Fortran's order, else a copy; at least one axis."""
    a = asarray(a, dtype)
    return asarray(a.reshape(1) if a.ndim == 0 else a, order="F")


def isfortran(a):
    """Do its elements lie in Fortran's order, and not in C's as well?"""
    flags = asarray(a).flags
    return flags.f_contiguous and not flags.c_contiguous


def asarray_chkfinite(a, dtype=None, order=None):
    """As asarray. ValueError: an element is not finite."""
    a = asarray(a, dtype, order)
    if a.dtype.kind in "fcV" and not bool(_core.ufuncs()["isfinite"](a).all()):
        raise ValueError("array must not contain infs or NaNs")
    return a


def require(a, dtype=None, requirements=None, *, like=None):
    """An array with the dtype and the flags asked for: a itself if it has them, else a copy."""
    names = {"A": "aligned", "C": "c", "F": "f", "O": "owndata", "W": "writeable", "E": "e"}
    names |= {"C_CONTIGUOUS": "c", "F_CONTIGUOUS": "f", "CONTIGUOUS": "c", "FORTRAN": "f", "ENSUREARRAY": "e"}
    names |= {full: full.lower() for full in ("ALIGNED", "OWNDATA", "WRITEABLE")}
    wanted = {names[x.upper()] for x in requirements or ()}
    if wanted >= {"c", "f"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "F" if "f" in wanted else "C" if "c" in wanted else None
    a = asarray(a, dtype, order)
    missing = [x for x in wanted - {"c", "f", "e"} if not getattr(a.flags, x)]
    return a.copy(order or "K") if missing else a


def copy(a, order="K", subok=False):
    """An array of its own with a's values, in C's order or in Fortran's."""
    return _core.array(a, order=order)


def _like(a, dtype, order, shape, device, value=None):
    a = a if isinstance(a, ndarray) else asarray(a, device=device)
    return _core._like(a, dtype, order, shape, device, value)


def empty_like(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Uninitialised, with the shape and dtype of another array, on its device unless another is named."""
    return _like(prototype, dtype, order, shape, device)


def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Zeros with the shape and dtype of another array, on its device unless another is named."""
    return _like(a, dtype, order, shape, device, 0)


def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Ones with the shape and dtype of another array, on its device unless another is named."""
    return _like(a, dtype, order, shape, device, 1)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """One value with the shape and dtype of another array, on its device unless another is named."""
    r = _like(a, dtype, order, shape, device)
    _core._fill_cast(r, fill_value)
    return r


# ---- ranges ----


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """num values at equal steps from start to stop; with endpoint=False stop is left out."""
    num = int(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    device = device or next((x.device for x in (start, stop) if isinstance(x, ndarray)), None)
    start, stop = (x if type(x) in (int, float, complex) else asarray(x, device=device) * 1.0 for x in (start, stop))
    natural = numpy.result_type(*(x.dtype if isinstance(x, ndarray) else x for x in (start, stop)), float(num))
    delta, gaps = stop - start, num - 1 if endpoint else num
    rank = max(getattr(start, "ndim", 0), getattr(stop, "ndim", 0))
    shape = [num] + [1] * rank
    i = arange(num, dtype=natural if natural.kind in "fc" else "float64", device=device).reshape(shape)
    step = delta / gaps if gaps > 0 else float("nan")
    if gaps <= 0:
        y = i * delta + start
    elif isinstance(step, ndarray):  # a step may be too small for a float
        y = where(step == 0, i / gaps * delta, i * step) + start
    else:
        y = (i * step if step else i / gaps * delta) + start
    if endpoint and num > 1:
        y = where(arange(num, device=device).reshape(shape) == num - 1, stop, y)
    if dtype is not None and numpy.dtype(dtype).kind in "iu":
        y = _core.ufuncs()["floor"](y)
    y = y.astype(dtype or natural, copy=False)
    if axis not in (0, -y.ndim):
        y = moveaxis(y, 0, axis)
    return (y, step) if retstep else y


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, *, device=None):
    """base to the powers of linspace(start, stop, num)."""
    y = _core.ufuncs()["power"](base, linspace(start, stop, num, endpoint, axis=axis, device=device))
    return y if dtype is None else y.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0, *, device=None):
    """num values at equal ratios from start to stop."""
    ufunc = _core.ufuncs()
    start, stop = _core._beside("geomspace", start, stop)
    if device is not None:
        start, stop = start.to_device(device), stop.to_device(device)
    if bool(((start == 0) | (stop == 0)).any()):
        raise ValueError("Geometric sequence cannot include zero")
    dt = numpy.result_type(start.dtype, stop.dtype, "float64", numpy.dtype(dtype))
    start, stop = start.astype(dt, copy=False), stop.astype(dt, copy=False)
    sign = ufunc["sign"](start)
    first, last = start / sign, stop / sign
    y = logspace(ufunc["log10"](first), ufunc["log10"](last), num, endpoint, dtype=dt)
    i = arange(y.shape[0], device=y.device).reshape((-1,) + (1,) * (y.ndim - 1))
    y = where(i == 0, first, y)  # the ends as they were given
    if endpoint and num > 1:
        y = where(i == num - 1, last, y)
    y = y * sign
    if axis not in (0, -y.ndim):
        y = moveaxis(y, 0, axis)
    return y.astype(dt if dtype is None else dtype, copy=False)


# ---- matrices and grids ----


def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    """Ones on the k-th diagonal of an N by M matrix, zeros beside."""
    i, j = arange(N, device=device), arange(N if M is None else M, device=device)
    return (j[None, :] - i[:, None] == k).astype(dtype, order)


def identity(n, dtype=float, *, device=None, like=None):
    """The unit matrix."""
    return eye(n, dtype=dtype, device=device)


def tri(N, M=None, k=0, dtype=float, *, device=None, like=None):
    """Ones on and below the k-th diagonal."""
    i, j = arange(N, device=device), arange(N if M is None else M, device=device)
    return (j[None, :] - i[:, None] <= k).astype(dtype)


def _triangle(m, k, keep):
    m = asarray(m)
    if m.ndim == 0:
        raise TypeError("tril, triu: an array of no axes has no triangle")
    i, j = arange(m.shape[-2 if m.ndim > 1 else -1], device=m.device), arange(m.shape[-1], device=m.device)
    return where(keep(j[None, :] - i[:, None], k), m, asarray(0, m.dtype, device=m.device))


def tril(m, k=0):
    """m with zeros above the k-th diagonal."""
    return _triangle(m, k, lambda d, k: d <= k)


def triu(m, k=0):
    """m with zeros below the k-th diagonal."""
    return _triangle(m, k, lambda d, k: d >= k)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of a grid over the given axes."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    grids = [asarray(x).reshape([-1 if j == k else 1 for j in range(n)]) for k, x in enumerate(xi)]
    if indexing == "xy" and n > 1:
        grids = [g.swapaxes(0, 1) for g in grids]
    if not sparse:
        shape = numpy.broadcast_shapes(*(g.shape for g in grids))
        grids = [_core._broadcast_to(g, shape) for g in grids]
    return tuple(g.copy() for g in grids) if copy else tuple(grids)


def indices(dimensions, dtype=int, sparse=False, *, device=None):
    """The index of every element along each axis, stacked, or as a tuple of broadcastable arrays."""
    n = len(dimensions)
    parts = tuple(
        arange(d, dtype=dtype, device=device).reshape([-1 if j == k else 1 for j in range(n)])
        for k, d in enumerate(dimensions)
    )
    if sparse:
        return parts
    return stack([_core._broadcast_to(p, tuple(dimensions)) for p in parts])


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """function of the index arrays of every axis."""
    return function(*indices(shape, dtype), **kwargs)
