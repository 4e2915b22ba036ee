"""numpy.linalg's functions for compiled code on a CPU. They are written in Python around NumPy's own loops, which call
LAPACK.

``LINALGS`` maps a function to the one that is compiled in its place. Plain loops solve small systems, for which a call
of LAPACK takes longer than the work.
"""

from collections import namedtuple

import numpy as np

from .. import _core
from ._arraymatrices import _det as _small_det
from ._arraymatrices import _inv as _small_inv
from ._arraymatrices import _solve as _small_solve
from ._arraymatrices import _square

_SMALL = 8

# ---- the loops ----

_LOOPS = (
    "inv", "solve", "solve1", "det", "slogdet", "cholesky_lo", "eigh_lo", "eigvalsh_lo", "eig", "eigvals",
    "svd_f", "svd_s", "svd", "qr_r_raw", "qr_reduced", "lstsq",
)  # fmt: skip
_WIDE = "svd_m_f", "svd_m_s", "svd_m", "qr_r_raw_m", "lstsq_m"
_TALL = "svd_n_f", "svd_n_s", "svd_n", "qr_r_raw_n", "lstsq_n"
(
    _INV, _SOLVE, _SOLVE1, _DET, _SLOGDET, _CHOLESKY, _EIGH, _EIGVALSH, _EIG, _EIGVALS,
    _SVD_FULL, _SVD, _SVDVALS, _QR_RAW, _QR, _LSTSQ,
) = range(len(_LOOPS))  # fmt: skip
_PRODUCT = len(_LOOPS) + 2 * len(_WIDE)
_FEW = 2000  # multiplications of a product, which plain loops have done before a call of the BLAS returns


def linear(k, sizes, ranks, *arrays):
    """In compiled code: run NumPy's loop number k on arrays. Return True where LAPACK found no result.

    sizes has the extents of the axes in the loop's signature; ranks has the number of axes of each array."""
    raise TypeError("linear stands in compiled functions only")


linear._td_name = "treadle.linear"


def _register():
    """Give NumPy's loops to the core.

    NumPy 1 has two loops for some functions, for wide and for tall matrices, under numbers of their own. Return
    whether that is the case here."""
    from numpy.linalg import _umath_linalg as loops

    for k, name in enumerate(_LOOPS):
        if hasattr(loops, name):
            _core._take_linear(getattr(loops, name), 4 * k)
    for k, (wide, tall) in enumerate(zip(_WIDE, _TALL, strict=True)):
        for i, name in enumerate((wide, tall)):
            if hasattr(loops, name):
                _core._take_linear(getattr(loops, name), 4 * (len(_LOOPS) + 2 * k + i))
    _core._take_linear(np.matmul, 4 * _PRODUCT)
    return not hasattr(loops, "svd_f")


_SPLIT = _register()
_SVD_FULL_WIDE = len(_LOOPS)
_SVD_WIDE, _SVDVALS_WIDE, _QR_RAW_WIDE, _LSTSQ_WIDE = range(_SVD_FULL_WIDE + 2, _SVD_FULL_WIDE + 10, 2)


# ---- products ----


def _product(a, b):
    """a @ b of floats of one dtype, of which at least one is a matrix. Their sizes fit."""
    if a.ndim == 1:
        k, n = b.shape
        row = np.zeros(n, a.dtype)
        if k * n <= _FEW:
            for j in range(k):
                for i in range(n):
                    row[i] += a[j] * b[j, i]
        else:
            linear(_PRODUCT, (1, k, n), (2, 2, 2), a[np.newaxis, :], b, row[np.newaxis, :])
        return row
    m, k = a.shape
    if b.ndim == 1:
        column = np.zeros(m, a.dtype)
        if k * m <= _FEW:
            for i in range(m):
                for j in range(k):
                    column[i] += a[i, j] * b[j]
        else:
            linear(_PRODUCT, (m, k, 1), (2, 2, 2), a, b[:, np.newaxis], column[:, np.newaxis])
        return column
    n = b.shape[1]
    out = np.zeros((m, n), a.dtype)
    if m * k * n <= _FEW:
        for i in range(m):
            for j in range(k):
                for c in range(n):
                    out[i, c] += a[i, j] * b[j, c]
    else:
        linear(_PRODUCT, (m, k, n), (2, 2, 2), a, b, out)
    return out


# ---- what they give ----


def _class(result, name, fields):
    """The named tuple of NumPy's result, which exists since NumPy 1.25."""
    return type(result) if hasattr(result, "_fields") else namedtuple(name, fields)


_Eig = _class(np.linalg.eig(np.eye(1)), "EigResult", "eigenvalues eigenvectors")
_Eigh = _class(np.linalg.eigh(np.eye(1)), "EighResult", "eigenvalues eigenvectors")
_Svd = _class(np.linalg.svd(np.eye(1)), "SVDResult", "U S Vh")
_Qr = _class(np.linalg.qr(np.eye(1)), "QRResult", "Q R")
_Slogdet = _class(np.linalg.slogdet(np.eye(1)), "SlogdetResult", "sign logabsdet")


def _floats(a):
    """A copy of a matrix in C order, as floats."""
    if a.ndim != 2:
        raise np.linalg.LinAlgError("linear algebra is of arrays with two axes here")
    return np.copy(a * 1.0)


def _doubles(a):
    """A copy in double precision, in which NumPy computes where LAPACK's results have other dtypes."""
    return np.copy(_floats(a) * np.ones(1, np.float64)[0])


def _inv(a):
    _square(a)
    n = a.shape[0]
    if n <= _SMALL:
        return _small_inv(a)
    x = _floats(a)
    out = np.empty_like(x)
    if linear(_INV, (n,), (2, 2), x, out):
        raise np.linalg.LinAlgError("Singular matrix")
    return out


def _solve(a, b):
    _square(a)
    n = a.shape[0]
    if b.shape[0] != n:
        raise ValueError("solve: the sizes of the matrix and of the right side differ")
    if n <= _SMALL:
        return _small_solve(a, b)
    x = np.copy((a * 1.0) + np.zeros(1, b.dtype)[0])
    y = np.copy((b * 1.0) + np.zeros(1, a.dtype)[0])
    out = np.empty_like(y)
    if b.ndim == 1:
        failed = linear(_SOLVE1, (n,), (2, 1, 1), x, y, out)
    else:
        failed = linear(_SOLVE, (n, b.shape[1]), (2, 2, 2), x, y, out)
    if failed:
        raise np.linalg.LinAlgError("Singular matrix")
    return out


def _det(a):
    _square(a)
    n = a.shape[0]
    if n <= _SMALL:
        return _small_det(a)
    x = _floats(a)
    out = np.empty(1, x.dtype)
    linear(_DET, (n,), (2, 0), x, out)
    return out[0]


def _slogdet(a):
    _square(a)
    x = _floats(a)
    sign, size = np.empty(1, x.dtype), np.empty(1, np.abs(x).dtype)
    linear(_SLOGDET, (a.shape[0],), (2, 0, 0), x, sign, size)
    return _Slogdet(sign[0], size[0])


def _cholesky(a):
    _square(a)
    x = _floats(a)
    out = np.empty_like(x)
    if linear(_CHOLESKY, (a.shape[0],), (2, 2), x, out):
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return out


def _eigh(a):
    _square(a)
    n = a.shape[0]
    x = _floats(a)
    values, vectors = np.empty(n, np.abs(x).dtype), np.empty_like(x)
    if linear(_EIGH, (n,), (2, 1, 2), x, values, vectors):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return _Eigh(values, vectors)


def _eigvalsh(a):
    _square(a)
    n = a.shape[0]
    x = _floats(a)
    values = np.empty(n, np.abs(x).dtype)
    if linear(_EIGVALSH, (n,), (2, 1), x, values):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return values


def _as_real(x):
    """The real part of results. A compiled function cannot choose its dtype by the values, so complex ones raise an
    error."""
    for z in x.flatten():
        if z.imag != 0:
            raise ValueError("eigenvalues of a real matrix that are complex: give the matrix as complex numbers")
    return np.copy(x.real)


def _eigen(a):
    n = a.shape[0]
    x = _doubles(a)
    values, vectors = np.empty(n, np.complex128), np.empty((n, n), np.complex128)
    for z in x.flatten():
        if not np.isfinite(z):
            raise np.linalg.LinAlgError("Array must not contain infs or NaNs")
    if linear(_EIG, (n,), (2, 1, 2), x, values, vectors):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return values, vectors


_ALWAYS_COMPLEX = np.linalg.eigvals(np.eye(1)).dtype.kind == "c"  # from NumPy 2.5 on


def _complex_type(a):
    return (_floats(a)[:0] * np.ones(1, np.complex64)).dtype.type


def _eig(a):
    _square(a)
    values, vectors = _eigen(a)
    of = _complex_type(a)
    if np.iscomplexobj(a) or _ALWAYS_COMPLEX:
        return _Eig(values.astype(of), vectors.astype(of))
    real = _floats(a).dtype.type
    return _Eig(_as_real(values).astype(real), _as_real(vectors).astype(real))


def _eigvals(a):
    _square(a)
    values, _ = _eigen(a)
    if np.iscomplexobj(a) or _ALWAYS_COMPLEX:
        return values.astype(_complex_type(a))
    return _as_real(values).astype(_floats(a).dtype.type)


def _svd(a, full_matrices=True, compute_uv=True):
    m, n = a.shape
    k = min(m, n)
    x = _floats(a)
    values = np.empty(k, np.abs(x).dtype)
    if not compute_uv:
        if _loop(_SVDVALS, _SVDVALS_WIDE, (m, n, k), (2, 1), x, values):
            raise np.linalg.LinAlgError("SVD did not converge")
        return values
    rows, columns = (m, n) if full_matrices else (k, k)
    u, v = np.empty((m, rows), x.dtype), np.empty((columns, n), x.dtype)
    if full_matrices:
        failed = _loop(_SVD_FULL, _SVD_FULL_WIDE, (m, n, k), (2, 2, 1, 2), x, u, values, v)
    else:
        failed = _loop(_SVD, _SVD_WIDE, (m, n, k), (2, 2, 1, 2), x, u, values, v)
    if failed:
        raise np.linalg.LinAlgError("SVD did not converge")
    return _Svd(u, values, v)


def _loop(k, wide, sizes, ranks, *arrays):
    """Call linear for a matrix. wide is the number of NumPy 1's loop for wide matrices; the next is for tall ones."""
    if not _SPLIT:
        return linear(k, sizes, ranks, *arrays)
    if sizes[0] <= sizes[1]:
        return linear(wide, sizes, ranks, *arrays)
    return linear(wide + 1, sizes, ranks, *arrays)


def _qr(a):
    m, n = a.shape
    k = min(m, n)
    x = _doubles(a)
    tau, q = np.empty(k, x.dtype), np.empty((m, k), x.dtype)
    _loop(_QR_RAW, _QR_RAW_WIDE, (m, n, k), (2, 1), x, tau)
    linear(_QR, (m, n, k), (2, 1, 2), x, tau, q)
    of = _floats(a).dtype.type
    return _Qr(q.astype(of), np.triu(x[:k]).astype(of))


def _lstsq(a, b, rcond=None):
    m, n = a.shape
    x = np.copy((a * 1.0) + np.zeros(1, b.dtype)[0])
    y = np.copy((b * 1.0) + np.zeros(1, a.dtype)[0])
    y = y.reshape((b.shape[0], 1)) if b.ndim == 1 else y
    if y.shape[0] != m:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    nrhs, k = y.shape[1], min(m, n)
    least = np.empty(1, np.abs(x).dtype)
    least[0] = np.finfo(np.abs(x).dtype).eps * max(m, n) if rcond is None else rcond
    out, left = np.empty((n, nrhs), x.dtype), np.empty(nrhs, least.dtype)
    rank, values = np.empty(1, np.int32), np.empty(k, least.dtype)
    if _loop(_LSTSQ, _LSTSQ_WIDE, (m, n, nrhs, k), (2, 2, 0, 2, 1, 0, 1), x, y, least, out, left, rank, values):
        raise np.linalg.LinAlgError("SVD did not converge in Linear Least Squares")
    if rank[0] != n or m <= n:
        left = np.empty(0, least.dtype)
    if b.ndim == 1:
        return out[:, 0].copy(), left, int(rank[0]), values
    return out, left, int(rank[0]), values


def _pinv(a, rcond=1e-15):
    u, s, v = _svd(np.conj(a), False)
    most = 0.0
    for x in s:
        most = max(most, x)
    for k in range(s.size):
        s[k] = 1 / s[k] if s[k] > rcond * most else 0
    return np.copy(v.T) @ (s.reshape((s.size, 1)) * u.T)


def _matrix_rank(A, tol=None):
    if A.ndim < 2:
        return int(not np.all(A == 0))
    s = _svd(A, False, False)
    least = s.max() * max(A.shape) * np.finfo(s.dtype).eps if tol is None else tol
    return (s > least).sum()


def _cond(x, p=None):
    if p is None or p == 2:
        s = _svd(x, False, False)
        return s[0] / s[-1]
    if p == -2:
        s = _svd(x, False, False)
        return s[-1] / s[0]
    return _norm(x, p) * _norm(_inv(x), p)


def _norm(x, ord=None):
    if ord is None or ord == "fro":
        flat = np.abs(x).flatten() * 1.0
        return np.sqrt((flat * flat).sum())
    if x.ndim == 1:
        return _vector_norm(x, ord)
    return _matrix_norm(x, ord)


def _vector_norm(x, ord):
    if ord == np.inf:
        return np.abs(x).max() * 1.0
    if ord == -np.inf:
        return np.abs(x).min() * 1.0
    if ord == 0:
        return (x != 0).sum() * 1.0
    if ord == 1:
        return np.abs(x).sum() * 1.0
    return ((np.abs(x) * 1.0) ** ord).sum() ** (1.0 / ord)


def _matrix_norm(x, ord):
    if ord == 2:
        return _svd(x, False, False)[0]
    if ord == -2:
        return _svd(x, False, False)[-1]
    sums = np.abs(x).sum(axis=0) if abs(ord) == 1 else np.abs(x).sum(axis=1)
    if abs(ord) != 1 and not np.isinf(ord):
        raise ValueError("Invalid norm order for matrices.")
    return (sums.max() if ord > 0 else sums.min()) * 1.0


LINALGS = {
    np.linalg.inv: _inv, np.linalg.solve: _solve, np.linalg.det: _det, np.linalg.slogdet: _slogdet, np.linalg.cholesky:
    _cholesky, np.linalg.eigh: _eigh, np.linalg.eigvalsh: _eigvalsh, np.linalg.eig: _eig, np.linalg.eigvals: _eigvals,
    np.linalg.svd: _svd, np.linalg.qr: _qr, np.linalg.lstsq: _lstsq, np.linalg.pinv: _pinv, np.linalg.matrix_rank:
    _matrix_rank, np.linalg.cond: _cond, np.linalg.norm: _norm, "product": _product,
}  # fmt: skip
