"""Functions that reduce arrays to numbers, for compiled code, written in Python like those of _arrays.py."""

from collections import namedtuple

import numpy as np

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
    else:
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
    if x.ndim > 2:
        raise ValueError("diff: arrays have one axis or two here")
    if x.ndim == 2:
        for _ in range(n):
            left, right = x[:, : max(x.shape[1] - 1, 0)], x[:, 1:]
            x = (right != left) if x.dtype == np.bool_ else right - left
        return x
    if x.dtype == np.bool_:
        for _ in range(n):
            x = x[1:] != x[: max(x.size - 1, 0)]
        return x
    for _ in range(n):
        x = x[1:] - x[: max(x.size - 1, 0)]
    return x


def _ediff1d(ary):
    return _diff(np.asarray(ary).flatten())


def _one_interp(x, xp, fp):
    n = xp.size
    if x != x:
        return x
    if x < xp[0]:
        return fp[0]
    if x > xp[n - 1]:
        return fp[n - 1]
    k = min(_place(xp, x, True) - 1, n - 2)
    if n == 1 or x == xp[n - 1]:
        return fp[n - 1]
    slope = np.divide(fp[k + 1] - fp[k], xp[k + 1] - xp[k])
    return slope * (x - xp[k]) + fp[k]


def _interp(x, xp, fp):
    u, v = np.asarray(xp) * 1.0, np.asarray(fp) * 1.0
    if u.size == 0:
        raise ValueError("array of sample points is empty")
    if isinstance(x, (np.ndarray, list, tuple)):
        all = np.asarray(x)
        flat = all.flatten()
        out = np.empty(flat.size, np.float64)
        for k in range(flat.size):
            out[k] = _one_interp(flat[k] * 1.0, u, v)
        return out.reshape(all.shape)
    return _one_interp(x * 1.0, u, v)


def _allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(np.all(np.isclose(a, b, rtol, atol, equal_nan)))


def _array_equal(a1, a2):
    if a1.ndim != a2.ndim or a1.shape != a2.shape:
        return False
    return bool(np.all(a1 == a2))


def _convolve(a, v, mode="full"):
    x, y = np.asarray(a), np.asarray(v)
    if x.size == 0 or y.size == 0:
        raise ValueError("a cannot be empty")
    m, n = x.size, y.size
    out = np.zeros(m + n - 1, (np.zeros(1, x.dtype) * np.zeros(1, y.dtype)).dtype)
    for i in range(m):
        for j in range(n):
            out[i + j] += x[i] * y[j]
    if mode == "full":
        return out
    least, most = min(m, n), max(m, n)
    if mode == "valid":
        return out[least - 1 : most].copy()
    low = (least - 1) // 2
    return out[low : low + most].copy()


def _correlate(a, v, mode="valid"):
    return _convolve(a, np.conj(np.asarray(v))[::-1].copy(), mode)


def _average(a, weights=None):
    x = np.asarray(a) * 1.0
    if weights is None:
        return x.mean()
    w = np.asarray(weights) * 1.0
    return (x * w).sum() / w.sum()


def _cov(m, rowvar=True, ddof=1, bias=False):
    if bias and ddof == 1:
        return _cov(m, rowvar, 0)
    x = np.asarray(m) * 1.0
    rows = x.reshape((1, x.size)) if x.ndim == 1 else (x.copy() if rowvar else x.T.copy())
    n, k = rows.shape
    for i in range(n):
        rows[i] -= rows[i].mean()
    out = np.empty((n, n), np.float64)
    for i in range(n):
        for j in range(n):
            out[i, j] = np.divide((rows[i] * rows[j]).sum(), k - ddof)
    return out.reshape(()) if x.ndim == 1 else out


def _corrcoef(x, rowvar=True):
    c = _cov(x, rowvar)
    out = np.empty_like(c)
    for i in range(c.shape[0]):
        for j in range(c.shape[0]):
            out[i, j] = np.divide(np.divide(c[i, j], np.sqrt(c[i, i])), np.sqrt(c[j, j]))
    return out


def _nanvar(a):
    return np.var(_without_nan(a))


def _nanstd(a):
    return np.std(_without_nan(a))


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
    out = np.exp(np.linspace(np.log(start), np.log(stop), num))
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
    "iscomplexobj": _iscomplexobj, "isrealobj": _isrealobj, "nancumprod": _nancumprod, "hanning": _hanning,
    "hamming": _hamming, "blackman": _blackman, "bartlett": _bartlett,
}  # fmt: skip

# only names that this NumPy has; NumPy 1 lacks trapezoid
ARRAYS = {getattr(np, name): f for name, f in _NUMPYS.items() if hasattr(np, name)}
