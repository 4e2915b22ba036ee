"""Functions that reduce arrays to numbers, for compiled code, written in Python like those of _arrays.py."""

from collections import namedtuple

import numpy as np

from ._arrayjoins import _concatenate
from ._arrays import _place, _without_nan

# ---- what a dtype holds ----

_IntLimits = namedtuple("iinfo", "bits min max")
_FloatLimits = namedtuple(
    "finfo", "bits eps epsneg max min tiny smallest_normal smallest_subnormal resolution precision nmant iexp"
)


def _of_int(dtype):
    return _IntLimits(*(getattr(np.iinfo(dtype), name) for name in _IntLimits._fields))


def _of_float(dtype):
    return _FloatLimits(*(getattr(np.finfo(dtype), name) for name in _FloatLimits._fields))


_I8, _I16, _I32, _I64 = map(_of_int, ("i1", "i2", "i4", "i8"))
_U8, _U16, _U32, _U64 = map(_of_int, ("u1", "u2", "u4", "u8"))
_F16, _F32, _F64 = map(_of_float, ("f2", "f4", "f8"))


def _iinfo(int_type):
    if int_type == np.int8:
        return _I8
    if int_type == np.int16:
        return _I16
    if int_type == np.int32:
        return _I32
    if int_type == np.int64:
        return _I64
    if int_type == np.uint8:
        return _U8
    if int_type == np.uint16:
        return _U16
    if int_type == np.uint32:
        return _U32
    return _U64


def _finfo(dtype):
    if dtype == np.float16:
        return _F16
    if dtype == np.float32 or dtype == np.complex64:
        return _F32
    return _F64


def _iscomplexobj(x):
    return x.dtype == np.complex128 or x.dtype == np.complex64


def _isrealobj(x):
    return x.dtype != np.complex128 and x.dtype != np.complex64


# ---- counting ----


def _bincount(x, weights=None, minlength=0):
    at = np.asarray(x)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    n = minlength
    for k in at:
        if k < 0:
            raise ValueError("'list' argument must have no negative elements")
        n = max(n, int(k) + 1)
    if weights is None:
        counts = np.zeros(n, np.int64)
        for k in at:
            counts[k] += 1
        return counts
    if len(weights) != at.size:
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(n, np.float64)
    for k in range(at.size):
        sums[at[k]] += weights[k]
    return sums


def _histogram(a, bins=10, range=None):
    x = np.asarray(a).flatten()
    if isinstance(bins, (np.ndarray, list, tuple)):
        edges = np.asarray(bins)
        if np.any(edges[1:] < edges[:-1]):
            raise ValueError("`bins` must increase monotonically, when an array")
    else:
        if bins < 1:
            raise ValueError("`bins` must be positive, when an integer")
        low, high = (x.min() * 1.0, x.max() * 1.0) if range is None else (range[0] * 1.0, range[1] * 1.0)
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges = np.linspace(low, high, bins + 1)
    n = edges.size - 1
    counts = np.zeros(n, np.int64)
    for v in x:
        at = _place(edges, v, True) - 1
        if at == n and v == edges[n]:
            at -= 1
        if 0 <= at < n:
            counts[at] += 1
    return counts, edges


def _diff(a, n=1):
    x = np.array(a)
    if n < 0:
        raise ValueError("diff(): order must be non-negative")
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    for _ in range(n):
        left, right = x[..., : max(x.shape[-1] - 1, 0)], x[..., 1:]
        x = (right != left) if x.dtype == np.bool_ else right - left
    return x


def _ediff1d(ary, to_end=None, to_begin=None):
    steps = _diff(np.asarray(ary).flatten())
    if to_begin is None and to_end is None:
        return steps
    if to_begin is None:
        return _concatenate((steps, np.asarray(to_end).flatten().astype(steps.dtype)))
    first = np.asarray(to_begin).flatten().astype(steps.dtype)
    if to_end is None:
        return _concatenate((first, steps))
    return _concatenate((first, steps, np.asarray(to_end).flatten().astype(steps.dtype)))


def _between(x, x0, y0, x1, y1):
    """The line through two points at x. Where the nearer point gives NaN, the other one is tried."""
    slope = np.divide(y1 - y0, x1 - x0)
    y = slope * (x - x0) + y0
    if y != y:
        y = slope * (x - x1) + y1
        if y != y and y0 == y1:
            y = y0
    return y


def _one_interp(x, xp, fp):
    n = xp.size
    if x < xp[0] or n == 1 and not x > xp[0]:
        return fp[0]
    if x != x:
        return fp[0] * x
    if x > xp[n - 1]:
        return fp[n - 1]
    k = _place(xp, x, True) - 1
    if k == n - 1 or xp[k] == x:
        return fp[k]
    if fp.dtype != np.complex128:
        return _between(x, xp[k], fp[k], xp[k + 1], fp[k + 1])
    real = _between(x, xp[k], fp[k].real, xp[k + 1], fp[k + 1].real)
    return complex(real, _between(x, xp[k], fp[k].imag, xp[k + 1], fp[k + 1].imag))


def _interp(x, xp, fp):
    u, v = np.asarray(xp).astype(np.float64), _wide(np.asarray(fp))
    if u.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array")
    if u.size == 0:
        raise ValueError("array of sample points is empty")
    if u.size != v.size:
        raise ValueError("fp and xp are not of the same length.")
    if isinstance(x, (np.ndarray, list, tuple)):
        all = np.asarray(x)
        flat = all.flatten()
        out = np.empty(flat.size, v.dtype)
        for k in range(flat.size):
            out[k] = _one_interp(flat[k] * 1.0, u, v)
        return out.reshape(all.shape)
    return _one_interp(x * 1.0, u, v)


def _allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(np.all(np.asarray(np.isclose(np.asarray(a), np.asarray(b), rtol, atol, equal_nan))))


def _array_equal(a1, a2):
    x, y = np.asarray(a1), np.asarray(a2)
    if x.ndim != y.ndim or x.shape != y.shape:
        return False
    return bool(np.all(np.asarray(x == y)))


def _convolve(a, v, mode="full"):
    x, y = np.asarray(a).flatten(), np.asarray(v).flatten()
    return _inner(_products(x, y), x.size, y.size, mode, (min(x.size, y.size) - 1) // 2)


def _correlate(a, v, mode="valid"):
    x, y = np.asarray(a).flatten(), np.conj(np.asarray(v).flatten())[::-1].copy()
    least = min(x.size, y.size)
    # NumPy turns a longer second array's result round, so of an even number the other half is cut off
    return _inner(_products(x, y), x.size, y.size, mode, (least - 1) // 2 if x.size >= y.size else least // 2)


def _products(x, y):
    """All elements of the convolution of two vectors."""
    if x.size == 0:
        raise ValueError("a cannot be empty")
    if y.size == 0:
        raise ValueError("v cannot be empty")
    out = np.zeros(x.size + y.size - 1, (np.zeros(1, x.dtype) * np.zeros(1, y.dtype)).dtype)
    for i in range(x.size):
        for j in range(y.size):
            out[i + j] += x[i] * y[j]
    return out


def _inner(full, m, n, mode, low):
    """The part of a convolution of vectors of m and n elements that a mode names. low: the elements left out before
    "same"."""
    least, most = min(m, n), max(m, n)
    if mode == "full":
        return full
    if mode == "valid":
        return full[least - 1 : most].copy()
    if mode == "same":
        return full[low : low + most].copy()
    raise ValueError("mode must be one of 'full', 'same' or 'valid'")


def _average(a, axis=None, weights=None):
    if axis is not None:
        raise ValueError("average: axis is None here")
    x = np.asarray(a) * 1.0
    if weights is None:
        return x.mean()
    w = np.asarray(weights) * 1.0
    if w.ndim != x.ndim or w.shape != x.shape:
        raise ValueError("average: weights have the shape of the array here")
    whole = w.sum()
    if whole == 0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return (x * w).sum() / whole


def _wide(x):
    """An array as float64 or complex128."""
    if x.dtype == np.complex64 or x.dtype == np.complex128:
        return x.astype(np.complex128)
    return x.astype(np.float64)


def _variables(m, rowvar):
    """Observations as a matrix with a row for each variable."""
    x = _wide(np.atleast_1d(np.asarray(m)))
    if x.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if x.ndim < 2:
        return x.reshape((1, x.size))
    return x.copy() if rowvar else x.T.copy()


def _covariances(rows, bias, ddof):
    n, k = rows.shape
    less = (0 if bias else 1) if ddof is None else ddof
    for i in range(n):
        rows[i] -= rows[i].mean()
    out = np.empty((n, n), rows.dtype)
    for i in range(n):
        for j in range(n):
            out[i, j] = np.divide((rows[i] * np.conj(rows[j])).sum(), max(k - less, 0))
    return out


def _cov(m, y=None, rowvar=True, bias=False, ddof=None):
    if y is not None:
        others = np.atleast_2d(np.asarray(y))
        both = _concatenate((_variables(m, rowvar), _variables(others, rowvar or others.shape[0] == 1)))
        return _covariances(both, bias, ddof)
    c = _covariances(_variables(m, rowvar), bias, ddof)
    return c.reshape(()) if np.asarray(m).ndim < 2 else c


def _corrcoef(x, y=None, rowvar=True):
    if y is not None:
        return _correlations(_cov(x, y, rowvar))
    if np.asarray(x).ndim < 2:
        c = np.asarray(_cov(x, None, rowvar)).flatten()
        return (c / c)[0]
    return _correlations(_cov(x, None, rowvar))


def _cut(r):
    return r if r != r else min(max(r, -1.0), 1.0)


def _correlations(c):
    out = np.empty_like(c)
    for i in range(c.shape[0]):
        for j in range(c.shape[0]):
            r = np.divide(np.divide(c[i, j], np.sqrt(c[i, i].real)), np.sqrt(c[j, j].real))
            if c.dtype == np.complex128:
                out[i, j] = complex(_cut(r.real), _cut(r.imag))
            else:
                out[i, j] = _cut(r)
    return out


def _nanvar(a, ddof=0):
    return np.var(_without_nan(a), ddof=ddof)


def _nanstd(a, ddof=0):
    return np.std(_without_nan(a), ddof=ddof)


def _unwrap(p, period=6.283185307179586):
    x = np.asarray(p) * 1.0
    if x.ndim != 1:
        raise ValueError("unwrap: arrays have one axis here")
    if isinstance(period, int):
        raise ValueError("unwrap: the period is a float here")
    out, turns = x.copy(), 0.0
    for k in range(1, x.size):
        step = x[k] - x[k - 1]
        least = np.mod(step + period / 2, period) - period / 2
        if least == -period / 2 and step > 0:
            least = period / 2
        if abs(step) >= period / 2:
            turns += least - step
        out[k] = x[k] + turns
    return out


def _asarray_chkfinite(a, dtype=None):
    x = np.asarray(a) if dtype is None else np.asarray(a, dtype)
    if not np.all(np.asarray(np.isfinite(x))):
        raise ValueError("array must not contain infs or NaNs")
    return x


def _nancumsum(a):
    x = np.asarray(a).flatten()
    return np.cumsum(np.where(x == x, x, np.zeros(1, x.dtype)[0]))


def _nancumprod(a):
    x = np.asarray(a).flatten()
    return np.cumprod(np.where(x == x, x, np.ones(1, x.dtype)[0]))


def _trapezoid(y, x=None, dx=1.0):
    v = np.asarray(y) * 1.0
    s = 0.0
    for k in range(1, v.size):
        s += (dx if x is None else x[k] - x[k - 1]) * (v[k] + v[k - 1]) / 2.0
    return s


def _logspace(start, stop, num=50):
    return 10.0 ** np.linspace(start, stop, num)


def _geomspace(start, stop, num=50):
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    sign = -1.0 if start < 0 else 1.0
    out = sign * 10.0 ** np.linspace(np.log10(start * sign), np.log10(stop * sign), num)
    if num > 0:
        out[0] = start
    if num > 1:
        out[num - 1] = stop
    return out


# ---- windows ----


def _cosines(M, a0, a1, a2):
    """a0 + a1 cos(x) + a2 cos(2x), for M points x from -pi to pi."""
    if M < 1:
        return np.empty(0)
    if M == 1:
        return np.ones(1)
    x = np.pi * np.arange(1 - M, M, 2) / (M - 1)
    return a0 + a1 * np.cos(x) + a2 * np.cos(2.0 * x)


def _hanning(M):
    return _cosines(M, 0.5, 0.5, 0.0)


def _hamming(M):
    return _cosines(M, 0.54, 0.46, 0.0)


def _blackman(M):
    return _cosines(M, 0.42, 0.5, 0.08)


def _bartlett(M):
    if M < 1:
        return np.empty(0)
    if M == 1:
        return np.ones(1)
    return 1.0 - np.abs(np.arange(1 - M, M, 2) / (M - 1))


_NUMPYS = {
    "bincount": _bincount, "histogram": _histogram, "diff": _diff, "ediff1d": _ediff1d, "interp": _interp,
    "allclose": _allclose, "array_equal": _array_equal, "convolve": _convolve, "correlate": _correlate,
    "average": _average, "cov": _cov, "corrcoef": _corrcoef, "nanvar": _nanvar, "nanstd": _nanstd, "nancumsum":
    _nancumsum, "trapezoid": _trapezoid, "logspace": _logspace, "geomspace": _geomspace,
    "iinfo": _iinfo, "finfo": _finfo,
    "unwrap": _unwrap, "asarray_chkfinite": _asarray_chkfinite, "iscomplexobj": _iscomplexobj, "isrealobj":
    _isrealobj, "nancumprod": _nancumprod, "hanning": _hanning,
    "hamming": _hamming, "blackman": _blackman, "bartlett": _bartlett,
}  # fmt: skip

# only names that this NumPy has; NumPy 1 lacks trapezoid
ARRAYS = {getattr(np, name): f for name, f in _NUMPYS.items() if hasattr(np, name)}
