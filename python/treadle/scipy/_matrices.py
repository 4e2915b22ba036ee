"""scipy.linalg's special matrices, computed from the indices of elements. Leading axes repeat, as in SciPy."""

from math import sqrt

import numpy

from .. import _core
from .._core import arange, asarray, ones, zeros
from .._numpy._create._matrices import tril
from .._numpy._join import atleast_1d, atleast_2d, concatenate, stack
from .._numpy._math._values import where
from .._numpy._shape import broadcast_to
from .._select._indexing import take
from ..linalg._diagonals import diag

_UFUNC = _core.ufuncs()
_abs, _exp, _conj = _UFUNC["absolute"], _UFUNC["exp"], _UFUNC["conjugate"]


def _grid(rows, columns, device):
    """(row numbers as a column, column numbers as a row)."""
    return arange(rows, device=device)[:, None], arange(columns, device=device)[None, :]


def _pick(values, index):
    """values at a matrix of indices into their last axis."""
    r = take(values, index.ravel(), axis=values.ndim - 1)
    return r.reshape((*values.shape[:-1], *index.shape))


def _device_of(*arrays):
    return next((x.device for x in arrays if isinstance(x, _core.ndarray)), None)


def toeplitz(c, r=None):
    """A Toeplitz matrix, with constant diagonals: first column c, first row r (default: c's conjugate). Ignores
    r[0]."""
    c = atleast_1d(asarray(c))
    r = _conj(c) if r is None else atleast_1d(asarray(r))
    c, r = _core._beside("toeplitz", c, r)
    batch = numpy.broadcast_shapes(c.shape[:-1], r.shape[:-1])
    c, r = (broadcast_to(x, (*batch, x.shape[-1])) for x in (c, r))
    i, j = _grid(c.shape[-1], r.shape[-1], c.device)
    return _pick(concatenate([c[..., ::-1], r[..., 1:]], -1), c.shape[-1] - 1 - i + j)


def circulant(c):
    """A circulant matrix: column j is c rotated down by j."""
    c = atleast_1d(asarray(c))
    n = c.shape[-1]
    i, j = _grid(n, n, c.device)
    return _pick(c, (i - j) % n) if n else zeros((*c.shape, 0), c.dtype, device=c.device)


def hankel(c, r=None):
    """A Hankel matrix, with constant antidiagonals: first column c, last row r (default: zeros). Ignores r[0]."""
    c = asarray(c).ravel()
    r = zeros(c.shape, c.dtype, device=c.device) if r is None else asarray(r).ravel()
    c, r = _core._beside("hankel", c, r)
    i, j = _grid(c.shape[0], r.shape[0], c.device)
    return _pick(concatenate([c, r[1:]]), i + j)


def hilbert(n):
    """The Hilbert matrix, of elements 1 / (i + j + 1)."""
    i, j = _grid(n, n, None)
    return 1.0 / (1.0 + (i + j))


def hadamard(n, dtype=int):
    """A Hadamard matrix: orthogonal rows of 1 and -1. n is a power of 2."""
    if n < 1 or n & (n - 1):
        raise ValueError("n must be an positive integer, and n must be a power of 2")
    i, j = _grid(n, n, None)
    shared = i & j
    for shift in (32, 16, 8, 4, 2, 1):  # the parity of the set bits
        shared = shared ^ (shared >> shift)
    return (1 - 2 * (shared & 1)).astype(dtype)


def leslie(f, s):
    """A Leslie matrix: f in the first row, s below the diagonal."""
    f, s = _core._beside("leslie", atleast_1d(asarray(f)), atleast_1d(asarray(s)))
    if f.shape[-1] != s.shape[-1] + 1:
        raise ValueError(f"leslie: f has {f.shape[-1]} elements and s {s.shape[-1]}: s has to have one less than f")
    if s.shape[-1] == 0:
        raise ValueError("The length of s must be at least 1.")
    dtype = (f[..., :1] + s[..., :1]).dtype
    return _below(f.astype(dtype, copy=False), s.astype(dtype, copy=False))


def _below(row, under):
    """Zeros, with row as the first row and under below the diagonal."""
    n = row.shape[-1]
    batch = numpy.broadcast_shapes(row.shape[:-1], under.shape[:-1])
    i, j = _grid(n, n, row.device)
    column = broadcast_to(under, (*batch, n - 1))[..., :, None]
    column = concatenate([zeros((*batch, 1, 1), row.dtype, device=row.device), column], -2)
    return where(i == 0, broadcast_to(row, (*batch, n))[..., None, :], where(i - j == 1, column, 0)).astype(row.dtype)


def companion(a):
    """The companion matrix of a polynomial, whose characteristic polynomial has the coefficients a."""
    a = atleast_1d(asarray(a))
    if a.shape[-1] < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    if bool((a[..., 0] == 0).any()):
        raise ValueError("The first coefficient(s) of `a` (i.e. elements of `a[..., 0]`) must not be zero.")
    row = -a[..., 1:] / (1.0 * a[..., :1])
    return _below(row, ones(row.shape[-1] - 1, row.dtype, device=a.device))


def block_diag(*arrs):
    """A block diagonal matrix of the given matrices."""
    arrays = list(_core._beside("block_diag", *arrs)) if arrs else [zeros((1, 0))]
    arrays = [atleast_2d(a) for a in arrays]
    batch = numpy.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    rows, columns = (sum(a.shape[k] for a in arrays) for k in (-2, -1))
    dtype = numpy.result_type(*(a.dtype for a in arrays))
    r = zeros((*batch, rows, columns), dtype, device=arrays[0].device)
    i = j = 0
    for a in arrays:
        m, n = a.shape[-2:]
        r[..., i : i + m, j : j + n] = a
        i, j = i + m, j + n
    return r


def helmert(n, full=False):
    """A Helmert matrix, of orthonormal contrasts. full adds the row of means first."""
    i, j = _grid(n, n, None)
    low = tril(ones((n, n)), -1) - diag(arange(n)).astype("float64")
    low = where(i == 0, 1.0, low)
    scale = where(i == 0, n, i * (i + 1)).astype("float64")
    r = low / _UFUNC["sqrt"](scale)
    return r if full else r[1:]


def dft(n, scale=None):
    """The matrix of the discrete Fourier transform. scale: None, "sqrtn" or "n", the divisor."""
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"scale must be None, 'sqrtn', or 'n'; {scale!r} is not valid.")
    i, j = _grid(n, n, None)
    m = _exp(((i * j) % max(n, 1)) * (-2j * numpy.pi / max(n, 1)))
    return m / {None: 1, "sqrtn": sqrt(n), "n": n}[scale] if scale else m


def fiedler(a):
    """The Fiedler matrix, of elements |a[i] - a[j]|."""
    a = atleast_1d(asarray(a))
    if a.size == 0:
        return zeros(0, device=a.device)
    if a.size == 1:
        return zeros((1, 1), device=a.device)
    return _abs(a[..., :, None] - a[..., None, :])


def fiedler_companion(a):
    """The Fiedler companion matrix, which is pentadiagonal. Its eigenvalues are the roots of the polynomial a."""
    a = atleast_1d(asarray(a))
    if a.ndim > 1:
        rows = [fiedler_companion(x) for x in a.reshape((-1, a.shape[-1]))]
        return stack(rows).reshape((*a.shape[:-1], *rows[0].shape))
    if a.size <= 2:
        return -(a / a[0])[-1:].reshape((1, 1)) if a.size == 2 else zeros(0, a.dtype, device=a.device)
    if bool(a[0] == 0):
        raise ValueError("Leading coefficient is zero.")
    a = a / a[0]
    n = a.size - 1
    c = zeros((n, n), a.dtype, device=a.device)
    flat = c.reshape(-1)
    for row, column, values in ((3, 1, 1.0), (2, 1, -a[3::2]), (0, 2, 1.0), (0, 1, -a[2::2])):
        count = min((n - row + 1) // 2, (n - column + 1) // 2)
        first = row * n + column
        values = values if isinstance(values, float) else values[:count]
        flat[first : first + count * (2 * n + 2) : 2 * n + 2][:count] = values
    c[0, 0] = -a[1]
    c[1, 0] = 1
    return c


def convolution_matrix(a, n, mode="full"):
    """The matrix whose product with v, of n elements, is convolve(a, v, mode)."""
    if n <= 0:
        raise ValueError("n must be a positive integer.")
    a = atleast_1d(asarray(a))
    if a.size == 0:
        raise ValueError("len(a) must be at least 1.")
    if mode not in ("full", "valid", "same"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    m = a.shape[-1]
    least = min(n, m) - 1
    first = {"full": 0, "same": least // 2, "valid": least}[mode]
    rows = m + n - 1 - {"full": 0, "same": least, "valid": 2 * least}[mode]
    i, j = _grid(rows, n, a.device)
    place = i + first - j
    inside = (place >= 0) & (place < m)
    return where(inside, _pick(a, where(inside, place, 0)), 0).astype(a.dtype)
