"""Reductions and running sums that leave NaN out.

They are spelled with the plain ones and fuse with what feeds them, so they give NumPy's values without its
RuntimeWarning: to warn, a value would have to be computed at once.
"""

import numpy

from . import _core
from ._core import asarray, ndarray
from ._sorting import cumprod, cumsum

_UFUNC = _core.ufuncs()
_select, _isnan, _sqrt = _UFUNC["select"], _UFUNC["isnan"], _UFUNC["sqrt"]


def _own(a):
    return a if isinstance(a, ndarray) else asarray(a)


def _has_nan(a):
    return a.dtype.kind in "fc"


def _into(out, value):
    if out is None:
        return value
    if out.shape != value.shape:
        raise ValueError(f"out has shape {out.shape}, the result {value.shape}")
    out[...] = value
    return out


def _filled(a, instead):
    a = _own(a)
    return _select(_isnan(a), asarray(instead, a.dtype, device=a.device), a) if _has_nan(a) else a


def nansum(a, axis=None, dtype=None, out=None, keepdims=False):
    """The sum of what is not NaN; 0 where all is."""
    return _filled(a, 0).sum(axis, dtype, out, keepdims)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False):
    """The product of what is not NaN; 1 where all is."""
    return _filled(a, 1).prod(axis, dtype, out, keepdims)


def nancumsum(a, axis=None, dtype=None, out=None):
    """Sums of the elements up to each, NaN counting as 0."""
    return cumsum(_filled(a, 0), axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """Products of the elements up to each, NaN counting as 1."""
    return cumprod(_filled(a, 1), axis, dtype, out)


# ---- extremes ----


def _extreme(a, method, instead, axis, out, keepdims):
    a = _own(a)
    if a.dtype.kind != "f":
        return getattr(a, method)(axis, out, keepdims)
    r = getattr(_filled(a, instead), method)(axis, keepdims=keepdims)
    return _into(out, _select(_isnan(a).all(axis, keepdims=keepdims), float("nan"), r))


def nanmax(a, axis=None, out=None, keepdims=False):
    """The largest of what is not NaN; NaN where all is. ValueError for an empty array."""
    return _extreme(a, "max", float("-inf"), axis, out, keepdims)


def nanmin(a, axis=None, out=None, keepdims=False):
    """The smallest of what is not NaN; NaN where all is. ValueError for an empty array."""
    return _extreme(a, "min", float("inf"), axis, out, keepdims)


def _place(a, method, instead, axis, out, keepdims):
    a = _own(a)
    if a.dtype.kind == "f" and bool(_isnan(a).all(axis).any()):
        raise ValueError("All-NaN slice encountered")
    r = getattr(_filled(a, instead), method)(axis, keepdims=keepdims)
    return _into(out, r)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """Where the largest of what is not NaN stands first. ValueError where all is NaN, for which it is evaluated."""
    return _place(a, "argmax", float("-inf"), axis, out, keepdims)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """Where the smallest of what is not NaN stands first. ValueError where all is NaN, for which it is evaluated."""
    return _place(a, "argmin", float("inf"), axis, out, keepdims)


# ---- moments ----


def _wide(a):
    """The dtype in which sums are kept until they are divided and rounded."""
    return "complex128" if a.dtype.kind == "c" else "float64"


def _count(a, axis, keepdims):
    return (~_isnan(a)).sum(axis, keepdims=keepdims).astype("float64")


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False):
    """The mean of what is not NaN; NaN where all is."""
    a = _own(a)
    if not _has_nan(a):
        return a.mean(axis, dtype, out, keepdims)
    total = _filled(a, 0).sum(axis, _wide(a), None, keepdims)
    return _into(out, (total / _count(a, axis, keepdims)).astype(dtype or a.dtype))


def _variance(a, axis, ddof, keepdims):
    """In the wide dtype; NaN where there are no more numbers than ddof."""
    mean = nanmean(a, axis, _wide(a), None, True)
    away = _select(_isnan(a), 0.0, a - mean)
    square = away * away if a.dtype.kind == "f" else _UFUNC["square"](_UFUNC["absolute"](away))
    left = _count(a, axis, keepdims) - ddof
    total = square.sum(axis, "float64", None, keepdims)
    return _select(left > 0, total / left, float("nan"))


def _real(dtype):
    return numpy.empty(0, dtype).real.dtype


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The variance of what is not NaN; NaN where that is no more than ddof numbers."""
    a = _own(a)
    if not _has_nan(a):
        return a.var(axis, dtype, out, ddof, keepdims)
    return _into(out, _variance(a, axis, ddof, keepdims).astype(_real(dtype or a.dtype)))


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The standard deviation of what is not NaN; NaN where that is no more than ddof numbers."""
    a = _own(a)
    if not _has_nan(a):
        return a.std(axis, dtype, out, ddof, keepdims)
    return _into(out, _sqrt(_variance(a, axis, ddof, keepdims)).astype(_real(dtype or a.dtype)))
