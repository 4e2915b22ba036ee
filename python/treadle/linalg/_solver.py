"""Factorisations by the device's library: cuSOLVER and cuBLAS on a GPU. _factors.py, _solve.py and _eigen.py call them.

The library stores matrices by columns. A *column array* is a temporary array with matrices stored in that way: its
last two axes are the transposed matrix in C order. The functions take arrays of float32, float64, complex64 or
complex128 on a GPU, with any number of leading axes. They start the work and return; only reading `info` waits for it.
"""

from math import prod

import numpy
from numpy.linalg import LinAlgError

from .. import _core
from .._core import arange, empty
from .._numpy._create._matrices import eye, tril, triu
from .._numpy._math._values import where
from .._numpy._repeat import roll
from .._numpy._shape import broadcast_to, matrix_transpose
from . import _diagonals, _products

_UFUNC = _core.ufuncs()
_conj = _UFUNC["conjugate"]

# Up to this many rows, several matrices are one batched call. Larger ones fill the device one by one. Measured on one
# H200: 16 matrices of 512 rows are solved in 4.9 ms instead of 19.
BATCHED_ROWS = 512
JACOBI_ROWS = 32  # rows that the library's batched Jacobi methods take at most

# The method for singular values where it is not the batched Jacobi method: gesvd (QR), gesvdp (polar decomposition) or
# gesvdj (Jacobi). For 2048 by 2048 float64 one H200 takes 432, 72 and 349 ms, and gesvdp has the smallest errors. In
# single precision gesvdp perturbs large matrices, so they had to be computed again: 366 ms against gesvd's 291.
SVD = {"float64": "gesvdp", "float32": "gesvd"}
SVD_ROWS = 48  # smaller ones use gesvd, with about 0.09 ms a row; gesvdp has a fixed cost of some ms
# The method for eigenvalues of several matrices of up to JACOBI_ROWS rows: syevj_batched (Jacobi) or syev_batched.
EIGH = "syev_batched"


def missing(device, *rows):
    """Why the device's library lacks one of these rows of solver.def. "" where it has them all, None on a CPU."""
    if device.host:
        return None
    try:
        lacks = [row for row in rows if not _core._solver_can(device, row)]
    except _core.MissingLibraryError as e:
        return str(e)
    return f"this cuSOLVER has no {lacks[0]}" if lacks else ""


def columns(a):
    """a as a column array."""
    return matrix_transpose(a).copy()


def _run(row, flags, sizes, batch, *arrays):
    disturbed = _core._solver(row, flags, *sizes, batch, arrays)
    if disturbed is None:
        raise NotImplementedError(f"{arrays[0].device.name} has no {row}")
    if arrays[0].size == 0 and arrays[-1].dtype == "int32":
        arrays[-1][...] = 0  # nothing ran, so nothing failed
    return disturbed


def _info(batch, device):
    return empty(batch, "int32", device=device)


def check(info, text):
    """Raise LinAlgError if the library reports a matrix that could not be factorised. Waits for the device."""
    if info.size and (info.get() if info.size <= 1024 else info != 0).any():
        raise LinAlgError(text)


def real_of(dtype):
    """The dtype of the real parts: float32 or float64."""
    return numpy.dtype("float32" if dtype.itemsize == 4 or dtype.str[1:] == "c8" else "float64")


def complex_of(dtype):
    return numpy.dtype("complex64" if real_of(dtype).itemsize == 4 else "complex128")


def _many(n, batch):
    """Whether one batched call is faster. A batch takes as long for one matrix of some hundred rows as for a few."""
    return prod(batch) > (1 if n <= BATCHED_ROWS // 4 else 3) and n <= BATCHED_ROWS


# ---- LU ----


def lu(a):
    """Factorise the column array in place, a = P L U: (column array, pivots from 1, info)."""
    *batch, n, m = a.shape
    pivots, info = empty((*batch, min(m, n)), "int64", device=a.device), _info(batch, a.device)
    _run("getrf", "", (m, n, 0), prod(batch), a, pivots, info)
    return a, pivots, info


def _lu_many(a):
    *batch, n, _ = a.shape
    pivots, info = empty((*batch, n), "int32", device=a.device), _info(batch, a.device)
    _run("getrf_batched", "", (n, n, 0), prod(batch), a, pivots, info)
    return a, pivots, info


def lu_for(a):
    """lu() of square matrices. Many small ones take one call, whose pivots are int32."""
    return _lu_many(a) if _many(a.shape[-1], a.shape[:-2]) else lu(a)


def lu_solve(factors, b, trans="N"):
    """Solve in place: b, a column array, becomes the solution. factors are those of lu_for, for as many matrices."""
    a, pivots, _ = factors
    *batch, k, n = b.shape
    if pivots.dtype == "int32":
        _run("getrs_batched", trans, (n, n, k), prod(batch), a, pivots, b)
    else:
        _run("getrs", trans, (n, n, k), prod(batch), a, pivots, b, _info(batch, a.device))
    return b


def solve(a, b):
    """(x, info): a x = b for b of two axes or more."""
    n = a.shape[-1]
    if a.ndim == 2:  # one factorisation, with all right sides in one matrix
        factors, sides = lu(columns(a)), columns(b)
        lu_solve(factors, sides.reshape((sides.size // max(n, 1), n)))
        return matrix_transpose(sides), factors[2]
    batch = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    factors = lu_for(columns(broadcast_to(a, (*batch, n, n))))
    sides = lu_solve(factors, columns(broadcast_to(b, (*batch, *b.shape[-2:]))))
    return matrix_transpose(sides), factors[2]


def _dense(a):
    """a in C order."""
    return a if a.flags.c_contiguous else a.copy()


def solve_small(a, x, text):
    """On a CPU: solve a x = b in place, where x holds b, for as many matrices a, of at most 32 rows and columns.

    Raises LinAlgError(text) where a matrix is singular.
    """
    *batch, n, k = x.shape
    info = _info(batch, a.device)
    _run("gesv_rows", "", (n, n, k), prod(batch), _dense(a), x, info)
    check(info, text)


def cholesky_small(a, upper, text):
    """On a CPU: replace a by its Cholesky factors. The caller must own a.

    Raises LinAlgError(text) where a matrix is not positive definite.
    """
    *batch, n, _ = a.shape
    info = _info(batch, a.device)
    _run("potrf_rows", "U" if upper else "L", (n, n, 0), prod(batch), a, info)
    check(info, text)
    return a


def determinant_small(a):
    """On a CPU: determinant() of matrices of at most 32 rows."""
    *batch, n, _ = a.shape
    diagonal, odd, info = empty((*batch, n), a.dtype, device=a.device), _info(batch, a.device), _info(batch, a.device)
    _run("getrf_rows", "", (n, n, 0), prod(batch), _dense(a), diagonal, odd, info)
    return diagonal, 1 - 2 * odd, info


def inverse(a):
    """(inverse, info)."""
    *batch, n, _ = a.shape
    factors = lu_for(columns(a))
    if factors[1].dtype == "int32":
        r = empty(a.shape, a.dtype, device=a.device)
        _run("getri_batched", "", (n, n, 0), prod(batch), factors[0], factors[1], r, _info(batch, a.device))
    else:
        r = lu_solve(factors, broadcast_to(eye(n, dtype=a.dtype, device=a.device), a.shape).copy())
    return matrix_transpose(r), factors[2]


def determinant(a):
    """(diagonal of U, sign of the permutation, info)."""
    u, pivots, info = lu_for(columns(a))
    moved = pivots != arange(1, a.shape[-1] + 1, dtype=pivots.dtype, device=a.device)
    return _diagonals.diagonal(u, 0, -2, -1), 1 - 2 * (moved.sum(-1) % 2), info


# ---- triangles, Cholesky, QR ----


def triangular(a, b, lower=True, trans="N", unit=False):
    """The solution of op(a) x = b, for as many matrices. Only one triangle of a is read."""
    at, bt = columns(a), columns(b)
    *batch, k, n = bt.shape
    row = "trsm_batched" if _many(n, batch) else "trsm"
    _run(row, ("L" if lower else "U") + trans + ("U" if unit else "N"), (n, n, k), prod(batch), at, bt)
    return matrix_transpose(bt)


def cholesky(a, upper=False):
    """(Cholesky factor, whose other triangle is a's; info)."""
    c = columns(a)
    *batch, n, _ = c.shape
    info = _info(batch, a.device)
    _run("potrf_batched" if _many(n, batch) else "potrf", "U" if upper else "L", (n, n, 0), prod(batch), c, info)
    return matrix_transpose(c), info


def cholesky_solve(c, b, upper=False):
    """The solution of a x = b by the Cholesky factor of one matrix, or of as many matrices."""
    ct, bt = columns(c), columns(b)
    *batch, k, n = bt.shape
    _run("potrs", "U" if upper else "L", (n, n, k), prod(batch), ct, bt, _info(batch, c.device))
    return matrix_transpose(bt)


def _many_reflectors(m, n, batch):
    """Whether one batched call is faster.

    It takes as long for few matrices as for many. On one H200 that is 6 ms for matrices of 128 rows, 40 for 256 and
    230 for 512, where single calls take 0.5, 0.8 and 1.9 ms for each matrix."""
    return _many(max(m, n), batch) and prod(batch) * 1024 >= max(m, n) ** 2


def reflectors(a):
    """The QR factorisation: (column array with R and the reflectors, tau)."""
    c = columns(a)
    *batch, n, m = c.shape
    tau = empty((*batch, min(m, n)), a.dtype, device=a.device)
    if _many_reflectors(m, n, batch):
        _run("geqrf_batched", "", (m, n, 0), prod(batch), c, tau)
    else:
        _run("geqrf", "", (m, n, 0), prod(batch), c, tau, _info(batch, a.device))
    return c, tau


def orthogonal(c, tau, count):
    """The first count columns of Q. c is the column array of reflectors() and may be overwritten."""
    *batch, n, m = c.shape
    k = tau.shape[-1]
    if _many_reflectors(m, n, batch):
        return _orthogonal_many(matrix_transpose(c)[..., :, :k], tau, count)
    if count < n:
        q = c[..., :count, :].copy()
    elif count == n:
        q = c
    else:
        q = empty((*batch, count, m), c.dtype, device=c.device)
        q[..., :n, :] = c
    _run("orgqr", "", (m, count, k), prod(batch), q, tau, _info(batch, c.device))
    return matrix_transpose(q)


def _orthogonal_many(v, tau, count):
    """The product of many small matrices' reflectors, I - V T V^H. The library would make one Q after the other.

    The inverse of T is the upper triangle of V^H V with 1 / tau on its diagonal. Where tau is 0 there is no reflector.
    """
    *_, m, k = v.shape
    some = tau != 0
    unit = eye(m, k, dtype=v.dtype, device=v.device)
    v = (tril(v, -1) + unit) * some[..., None, :]
    vh = matrix_transpose(_conj(v))
    weight = where(some, 1 / where(some, tau, 1), 1)
    t = triu(_products.matmul(vh, v), 1) + eye(k, dtype=v.dtype, device=v.device) * weight[..., None, :]
    first = eye(m, count, dtype=v.dtype, device=v.device)
    return first - _products.matmul(v, triangular(t, vh[..., :, :count], lower=False))


# ---- singular values ----


def _svd_row(m, n, batch, dtype):
    if prod(batch) > 1 and max(m, n) <= JACOBI_ROWS:
        return "gesvdj_batched"
    return SVD[real_of(dtype).name] if min(m, n) >= SVD_ROWS else "gesvd"


def _is_faithful(a, s, disturbed):
    """Whether the polar decomposition can be trusted: it may perturb nearly singular matrices.

    The perturbation must be negligible, and the sum of squares of the singular values must be that of the matrix; NaN
    fails."""
    unit = numpy.finfo(s.dtype).eps
    if disturbed > unit * float(s.max()):
        return False
    size, found = ((_UFUNC["absolute"](a).astype("f8") ** 2).sum((-2, -1)), (s.astype("f8") ** 2).sum(-1))
    return bool((_UFUNC["absolute"](size - found) <= 10 * a.shape[-1] * unit * size).all())


def svd(a, vectors=True, full=True, row=None):
    """(U, S, V's adjoint, info), or without vectors (None, S, None, info).

    The library wants at least as many rows as columns. A wide matrix is passed as its transpose, which is how it is
    stored. If the polar decomposition cannot be trusted, the QR method computes it again.
    """
    *batch, m, n = a.shape
    wide = m < n
    c = a.copy() if wide else columns(a)
    if wide:
        m, n = n, m
    row = row or _svd_row(m, n, batch, a.dtype)
    if row == "gesvdp":  # without vectors gesvdp fails, or writes where it should not
        job = "A" if full and vectors else "S"
    else:
        job = "N" if not vectors else "A" if full or row == "gesvdj_batched" else "S"
    count = m if job == "A" or row == "gesvdj_batched" else n
    s = empty((*batch, n), real_of(a.dtype), device=a.device)
    info = _info(batch, a.device)
    room = job != "N" or row == "gesvdj_batched"
    u = empty((*batch, count if room else 0, m), a.dtype, device=a.device)
    v = empty((*batch, n if room else 0, n), a.dtype, device=a.device)
    disturbed = _run(row, job, (m, n, 0), prod(batch), c, s, u, v, info)
    if row == "gesvdp" and s.size and not _is_faithful(a, s, disturbed):
        return svd(a, vectors, full, "gesvd")
    if not vectors:
        return None, s, None, info
    if not full and count > n:
        u = u[..., :n, :]
    if row == "gesvd":  # v holds V's adjoint, stored by columns
        left, right = (v, u) if wide else (matrix_transpose(u), matrix_transpose(v))
    else:  # v holds V, stored by columns
        left, right = (_conj(matrix_transpose(v)), u) if wide else (matrix_transpose(u), _conj(v))
    return left, s, right, info


# ---- eigenvalues ----


def eigh(a, lower=True, vectors=True):
    """(values, vectors or None, info)."""
    c = columns(a)
    *batch, n, _ = c.shape
    w, info = empty((*batch, n), real_of(a.dtype), device=a.device), _info(batch, a.device)
    if _many(n, batch):
        row = EIGH if n <= JACOBI_ROWS else "syev_batched"
        row = row if _core._solver_can(a.device, row) else "syevd"
    else:
        row = "syevd"
    _run(row, ("V" if vectors else "N") + ("L" if lower else "U"), (n, n, 0),
         prod(batch), c, w, info)  # fmt: skip
    return w, matrix_transpose(c) if vectors else None, info


def eig(a, vectors=True):
    """(values, vectors or None, info), complex."""
    c = columns(a)
    *batch, n, _ = c.shape
    w, info = empty((*batch, n), complex_of(a.dtype), device=a.device), _info(batch, a.device)
    v = empty((*batch, n, n), a.dtype, device=a.device)
    _run("geev", "V" if vectors else "N", (n, n, 0), prod(batch), c, w, v, info)
    if vectors and a.dtype.kind == "f":
        v = _pairs(w, v)
    return w, matrix_transpose(v) if vectors else None, info


def _pairs(w, v):
    """The eigenvectors of a real matrix.

    For a pair of conjugate eigenvalues, the first of them with a positive imaginary part, the library stores the real
    parts and then the imaginary parts."""
    first, second = (w.imag > 0)[..., None], (w.imag < 0)[..., None]
    real = where(second, roll(v, 1, -2), v)
    imag = where(first, roll(v, -1, -2), where(second, -v, 0))
    return real + imag * numpy.dtype(w.dtype).type(1j)
