"""Factorizations and solvers by scipy.linalg's names. They use the device's library, on the CPU LAPACK from NumPy and
SciPy.

Arrays may have leading axes, over which functions repeat. overwrite_a and similar arguments have no effect.
check_finite looks at the elements, so it waits for the device.
"""

import functools
import importlib
import warnings
from math import ceil, log2

import numpy
from numpy.linalg import LinAlgError

from .. import _core
from .. import linalg as _numpys
from .._core import arange, asarray, empty, zeros
from .._exchange import _host
from .._numpy._create._matrices import eye, tril, triu
from .._numpy._math._values import where
from .._numpy._shape import broadcast_to, matrix_transpose
from ..linalg import _diagonals, _solver
from ..linalg._dispatch import _adjoint, _common
from ..linalg._products import matmul
from . import _table

__all__ = ["LinAlgError"]

_UFUNC = _core.ufuncs()
_abs, _conj, _isfinite = _UFUNC["absolute"], _UFUNC["conjugate"], _UFUNC["isfinite"]


def _scipys(name, args, kwargs, why=None, fallback=False):
    """Call SciPy's function: as the CPU's library, or with fallback because no device computes it."""
    full = f"scipy.linalg.{name}"
    try:
        theirs = getattr(importlib.import_module("scipy.linalg"), name)
    except ImportError:
        return _table._missing(full)(*args, **kwargs)
    return (_host.fallback if fallback else _host.library)(full, theirs, args, kwargs, why)


def _served(*rows):
    """Decorate a function of array a that the device's library computes. Where that has none of the routines in rows,
    SciPy's function is called."""

    def decorate(f):
        @functools.wraps(f)
        def fn(a, *args, **kwargs):
            first = a[0] if isinstance(a, tuple) else a
            first = asarray(first)
            a = (first, *a[1:]) if isinstance(a, tuple) else first
            why = _solver.missing(first.device, *rows)
            return f(a, *args, **kwargs) if why == "" else _scipys(f.__name__, (a, *args), kwargs, why)

        return fn

    return decorate


def _given(check_finite, *arrays):
    """The arrays on one device, in the dtype of the computation. Raises ValueError for elements that are not finite."""
    arrays = _common(_core._beside("scipy.linalg", *arrays))
    for a in arrays:
        if check_finite and not bool(_isfinite(a).all()):
            raise ValueError("array must not contain infs or NaNs")
    return arrays


def _square(a):
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("expected square matrix")


def _sides(a, b):
    """(a, b as a matrix of columns, whether b was a vector), with leading axes broadcast."""
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    if b.shape[-2] != a.shape[-1]:
        raise ValueError(f"shapes of a {a.shape} and b {b.shape} are incompatible")
    batch = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return broadcast_to(a, (*batch, *a.shape[-2:])), broadcast_to(b, (*batch, *b.shape[-2:])), vector


# ---- LU ----


@_served("getrf")
def lu_factor(a, overwrite_a=False, check_finite=True):
    """(L and U in one matrix, pivots), with a = P L U. Row i was exchanged with row pivots[i]. LinAlgWarning tells that
    U has a zero on its diagonal."""
    (a,) = _given(check_finite, a)
    c, pivots, info = _solver.lu(_solver.columns(a))
    failed = info.get()
    if failed.any():
        kind = importlib.import_module("scipy.linalg").LinAlgWarning if _has_scipy() else RuntimeWarning
        at = int(failed[failed > 0].min())
        warnings.warn(f"Diagonal number {at} is exactly zero. Singular matrix.", kind, stacklevel=3)
    return matrix_transpose(c), (pivots - 1).astype("int32")


def _has_scipy():
    return importlib.util.find_spec("scipy") is not None


_TRANS = {0: "N", 1: "T", 2: "C", "N": "N", "T": "T", "C": "C"}


@_served("getrs")
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """Solve a x = b from lu_factor(a). trans: 1 solves for a's transpose, 2 for its adjoint."""
    lu, pivots = lu_and_piv
    lu, b = _given(check_finite, lu, b)
    lu, b, vector = _sides(lu, b)
    rows = broadcast_to(asarray(pivots, device=lu.device).astype("int64") + 1, lu.shape[:-1]).copy()
    x = _solver.lu_solve((_solver.columns(lu), rows, None), _solver.columns(b), _TRANS[trans])
    x = matrix_transpose(x)
    return x[..., 0] if vector else x


def _places(pivots, m):
    """The permutation of m rows that a sequence of exchanges (pivots, from 1) makes: the row of L U for each row of
    a."""
    pivots = pivots.get() - 1
    order = numpy.broadcast_to(numpy.arange(m), (*pivots.shape[:-1], m)).copy()
    for k in range(pivots.shape[-1]):
        other = pivots[..., k : k + 1]
        there = numpy.take_along_axis(order, other, -1)
        numpy.put_along_axis(order, other, order[..., k : k + 1], -1)
        order[..., k : k + 1] = there
    return order.argsort(-1).astype("int32")


@_served("getrf")
def lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    """(P, L, U) with a = P L U. permute_l gives (P L, U), p_indices a vector P with a = L[P] U."""
    (a,) = _given(check_finite, a)
    m, n = a.shape[-2:]
    count = min(m, n)
    c, pivots, _ = _solver.lu(_solver.columns(a))
    both = matrix_transpose(c)
    low = tril(both[..., :, :count], -1) + eye(m, count, dtype=a.dtype, device=a.device)
    up = triu(both[..., :count, :])
    places = asarray(_places(pivots, m), device=a.device)
    if p_indices and not permute_l:
        return places, low, up
    p = (places[..., None] == arange(m, device=a.device)).astype(_solver.real_of(a.dtype))
    return (matmul(p.astype(a.dtype), low), up) if permute_l else (p, low, up)


# ---- solving ----


@_served("trsm")
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    """Solve a x = b, or with trans for a's transpose or adjoint. Reads one triangle of a.

    Raises LinAlgError where a zero is on the diagonal.
    """
    a, b = _given(check_finite, a, b)
    _square(a)
    a, b, vector = _sides(a, b)
    if not unit_diagonal:
        zero = (_diagonals.diagonal(a, 0, -2, -1) == 0).get()
        if zero.any():
            at = numpy.argwhere(zero)[0, -1]
            raise LinAlgError(f"singular matrix: resolution failed at diagonal {at}")
    x = _solver.triangular(a, b, lower, _TRANS[trans], unit_diagonal)
    return x[..., 0] if vector else x


_FROM_ONE_TRIANGLE = {"sym", "symmetric", "her", "hermitian", "pos", "positive definite"}


def _whole(a, lower, hermitian):
    """The full matrix, of which a has one triangle."""
    half = tril(a, -1) if lower else triu(a, 1)
    other = _adjoint(half) if hermitian else matrix_transpose(half)
    return tril(triu(a)) + half + other


def solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False):
    """Solve a x = b. assume_a: the known structure of a; of symmetric matrices one triangle is read.

    Raises LinAlgError where a is singular, or not positive definite although assume_a says so.
    """
    a, b = _given(check_finite, a, b)
    _square(a)
    if assume_a in ("pos", "positive definite"):
        return cho_solve(cho_factor(a, lower, check_finite=False), b, check_finite=False)
    if assume_a in ("upper triangular", "lower triangular"):
        low = assume_a.startswith("lower")
        return solve_triangular(a, b, 1 if transposed else 0, low, check_finite=False)
    if assume_a in _FROM_ONE_TRIANGLE:
        a = _whole(a, lower, assume_a.startswith("her"))
    return _numpys.solve(matrix_transpose(a) if transposed else a, b)


def inv(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    """The inverse. Raises LinAlgError where a is singular."""
    (a,) = _given(check_finite, a)
    _square(a)
    return _numpys.inv(_whole(a, lower, assume_a.startswith("her")) if assume_a in _FROM_ONE_TRIANGLE else a)


def det(a, overwrite_a=False, check_finite=True):
    """The determinant."""
    (a,) = _given(check_finite, a)
    _square(a)
    return _numpys.det(a)


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The upper U with a = U^H U, or with lower the L with a = L L^H. Raises LinAlgError if a is not positive
    definite."""
    (a,) = _given(check_finite, a)
    _square(a)
    return _numpys.cholesky(a, upper=not lower)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """(cholesky's factor in one triangle, with a's elements in the other; lower), for cho_solve."""
    (a,) = _given(check_finite, a)
    c = cholesky(a, lower, check_finite=False)
    return c + (triu(a, 1) if lower else tril(a, -1)), lower


@_served("potrf", "potrs")
def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """Solve a x = b from cho_factor(a)."""
    c, lower = c_and_lower
    c, b = _given(check_finite, c, b)
    _square(c)
    c, b, vector = _sides(c, b)
    x = _solver.cholesky_solve(c, b, not lower)
    return x[..., 0] if vector else x


def lstsq(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    """(x, residues, rank, singular values) for the x that minimizes |b - a x|.

    cond: singular values below cond times the largest count as zero. None means the precision of the dtype."""
    a, b = _given(check_finite, a, b)
    if a.ndim != 2:
        return _scipys("lstsq", (a, b, cond), {}, "it is computed for one matrix at a time", fallback=True)
    x, rest, rank, s = _numpys.lstsq(a, b, numpy.finfo(a.dtype).eps if cond is None else cond)
    return x, rest[0] if b.ndim == 1 and rest.size else rest, rank, s


# ---- QR, singular values, eigenvalues ----


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """(Q, R). mode: "full", "economic", or "r" for (R,). SciPy computes pivoting and mode "raw" on the host."""
    if mode not in ("full", "qr", "r", "economic", "raw"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic', 'raw']")
    if pivoting or mode == "raw":
        why = "cuSOLVER has no pivoting" if pivoting else "LAPACK's layout"
        kwargs = {"mode": mode, "pivoting": pivoting, "check_finite": check_finite}
        return _scipys("qr", (a,), kwargs, why, fallback=True)
    (a,) = _given(check_finite, a)
    if mode == "r":
        r, (m, n) = _numpys.qr(a, "r"), a.shape[-2:]
        if m > n:
            r = _grown(r, m)
        return (r,)
    return tuple(_numpys.qr(a, "reduced" if mode == "economic" else "complete"))


def _grown(r, m):
    """r with zero rows appended, to m rows in all."""
    grown = zeros((*r.shape[:-2], m, r.shape[-1]), r.dtype, device=r.device)
    grown[..., : r.shape[-2], :] = r
    return grown


def svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """(U, singular values, Vh), or with compute_uv=False only the values."""
    (a,) = _given(check_finite, a)
    r = _numpys.svd(a, full_matrices, compute_uv)
    return tuple(r) if compute_uv else r


def svdvals(a, overwrite_a=False, check_finite=True):
    """The singular values, in descending order."""
    return svd(a, compute_uv=False, check_finite=check_finite)


def eigh(a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
         subset_by_index=None, subset_by_value=None, driver=None):  # fmt: skip
    """(eigenvalues in ascending order, eigenvectors) of a Hermitian matrix, or of a v = w b v with positive definite
    b."""
    if type != 1 or subset_by_index is not None or subset_by_value is not None:
        kwargs = {"b": b, "lower": lower, "eigvals_only": eigvals_only, "type": type, "driver": driver,
                  "subset_by_index": subset_by_index, "subset_by_value": subset_by_value}  # fmt: skip
        return _scipys("eigh", (a,), kwargs, "a subset or type 2 or 3", fallback=True)
    half = "L" if lower else "U"
    if b is None:
        (a,) = _given(check_finite, a)
        _square(a)
        return _numpys.eigvalsh(a, half) if eigvals_only else tuple(_numpys.eigh(a, half))
    a, b = _given(check_finite, a, b)
    _square(a)
    factor = cholesky(b, lower, check_finite=False)
    low = factor if lower else _adjoint(factor)
    inner = solve_triangular(low, _whole(a, lower, True), lower=True, check_finite=False)
    inner = solve_triangular(low, _adjoint(inner), lower=True, check_finite=False)
    if eigvals_only:
        return _numpys.eigvalsh(inner)
    w, v = _numpys.eigh(inner)
    return w, solve_triangular(low, v, 2, lower=True, check_finite=False)


def eigvalsh(a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
             subset_by_index=None, subset_by_value=None, driver=None):  # fmt: skip
    """The eigenvalues that eigh gives."""
    return eigh(a, b, lower=lower, eigvals_only=True, type=type, check_finite=check_finite,
                subset_by_index=subset_by_index, subset_by_value=subset_by_value, driver=driver)  # fmt: skip


def eig(a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True,
        homogeneous_eigvals=False):  # fmt: skip
    """(complex eigenvalues, eigenvectors) of a square matrix. SciPy computes b, left and homogeneous_eigvals on the
    host."""
    if b is not None or left or homogeneous_eigvals:
        kwargs = {"b": b, "left": left, "right": right, "homogeneous_eigvals": homogeneous_eigvals}
        return _scipys("eig", (a,), kwargs, "cuSOLVER has right eigenvectors of one matrix", fallback=True)
    (a,) = _given(check_finite, a)
    _square(a)
    if not right:
        return _numpys.eigvals(a).astype(_solver.complex_of(a.dtype), copy=False)
    w, v = _numpys.eig(a)
    return w.astype(_solver.complex_of(a.dtype), copy=False), v


def eigvals(a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    """The eigenvalues that eig gives."""
    return eig(a, b, right=False, check_finite=check_finite, homogeneous_eigvals=homogeneous_eigvals)


def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    """numpy.linalg.norm of finite elements."""
    (a,) = _given(check_finite, a)
    return _numpys.norm(a, ord, axis, keepdims)


# ---- built on the functions above ----


def _bound(s, atol, rtol, shape):
    """The bound below which singular values of matrices of this shape count as zero."""
    if (atol or 0) < 0 or (rtol or 0) < 0:
        raise ValueError("atol and rtol values must be positive.")
    if rtol is None:
        rtol = max(shape) * numpy.finfo(s.dtype).eps if atol is None else 0.0
    return (atol or 0.0) + _abs(s).max(-1, keepdims=True) * rtol


def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    """The pseudo-inverse. Singular values up to atol + rtol times the largest count as zero."""
    (a,) = _given(check_finite, a)
    u, s, vh = svd(a, full_matrices=False, check_finite=False)
    kept = s > _bound(s, atol, rtol, a.shape[-2:])
    weight = where(kept, 1 / where(kept, s, 1), 0).astype(s.dtype)
    r = matmul(_adjoint(vh) * weight[..., None, :], _adjoint(u))
    return (r, kept.sum(-1)) if return_rank else r


def pinvh(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    """The pseudo-inverse of a Hermitian matrix. Reads one triangle."""
    (a,) = _given(check_finite, a)
    w, v = eigh(a, lower=lower, check_finite=False)
    kept = _abs(w) > _bound(w, atol, rtol, a.shape[-2:])
    weight = where(kept, 1 / where(kept, w, 1), 0).astype(w.dtype)
    r = matmul(v * weight[..., None, :], _adjoint(v))
    return (r, kept.sum(-1)) if return_rank else r


def _rank(s, rcond, shape):
    rcond = numpy.finfo(s.dtype).eps * max(shape) if rcond is None else rcond
    return int((s > s.max() * rcond).sum())


def orth(A, rcond=None):
    """An orthonormal basis of the range of A."""
    (a,) = _given(True, A)
    u, s, _ = svd(a, full_matrices=False, check_finite=False)
    return u[:, : _rank(s, rcond, a.shape)]


def null_space(A, rcond=None, *, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """An orthonormal basis of the null space of A."""
    (a,) = _given(check_finite, A)
    _, s, vh = svd(a, check_finite=False)
    return _adjoint(vh[_rank(s, rcond, a.shape) :, :])


def polar(a, side="right"):
    """The polar decomposition (U, P), with a = U P, or with side "left" a = P U. U is unitary, P positive
    semidefinite."""
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    (a,) = _given(False, a)
    w, s, vh = svd(a, full_matrices=False, check_finite=False)
    s = s[..., None, :]
    return matmul(w, vh), matmul(_adjoint(vh) * s, vh) if side == "right" else matmul(w * s, _adjoint(w))


def orthogonal_procrustes(A, B, check_finite=True):
    """(the orthogonal R that minimizes |A R - B|, the sum of the singular values of A^T B)."""
    a, b = _given(check_finite, A, B)
    if a.ndim != 2 or a.shape != b.shape:
        raise ValueError(f"expected two matrices of one shape, not {a.shape} and {b.shape}")
    u, s, vh = svd(matmul(_adjoint(a), b), check_finite=False)
    return matmul(u, vh), s.sum()


def diagsvd(s, M, N):
    """The M by N matrix with s on its diagonal."""
    s = asarray(s)
    if len(s) not in (M, N):
        raise ValueError("Length of s must be M or N.")
    r = zeros((M, N), s.dtype, device=s.device)
    r[: len(s), : len(s)] = _diagonals.diag(s)
    return r


def khatri_rao(a, b):
    """The Khatri-Rao product: the Kronecker product of each column of a with the same column of b."""
    a, b = _core._beside("khatri_rao", a, b)
    if a.ndim < 2 or b.ndim < 2:
        raise ValueError("The both arrays should be 2-dimensional.")
    if a.shape[-1] != b.shape[-1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    c = a[..., :, None, :] * b[..., None, :, :]
    return c.reshape((*c.shape[:-3], -1, c.shape[-1]))


def _equal(a, b, atol, rtol):
    if atol or rtol:
        return bool((_abs(a - b) <= (atol or 0) + (rtol or 0) * _abs(b)).all())
    return bool((a == b).all())


def _one_matrix(a):
    a = asarray(a)
    if a.ndim != 2:
        raise ValueError(f"a matrix is wanted, not an array of {a.ndim} axes")
    return a


def _one_square(a):
    a = _one_matrix(a)
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"Input array must be square: its shape is {a.shape}")
    return a


def issymmetric(a, atol=None, rtol=None):
    """Whether a equals its transpose, exactly or within tolerances."""
    a = _one_square(a)
    return _equal(a, a.T, atol, rtol)


def ishermitian(a, atol=None, rtol=None):
    """Whether a equals its adjoint, exactly or within tolerances."""
    a = _one_square(a)
    return _equal(a, _adjoint(a), atol, rtol)


def bandwidth(a):
    """(lower, upper) bandwidth: how many diagonals below and above the main one have nonzero elements."""
    a = _one_matrix(a)
    if a.size == 0:
        return (0, 0)
    far = arange(a.shape[0], device=a.device)[:, None] - arange(a.shape[1], device=a.device)
    far = where(a != 0, far, 0)
    return int(far.max()), int(-far.min())


# ---- functions of matrices ----

_PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
         670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1)  # fmt: skip
_PADE_BOUND = 5.371920351148152  # norm of a up to which the approximant of degree 13 has float64's full precision


def expm(A):
    """The exponential of square matrices, by scaling and squaring with a Padé approximant of degree 13."""
    (a,) = _given(False, A)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"expm takes square matrices, not an array of shape {a.shape}")
    if a.size == 0:
        return empty(a.shape, a.dtype, device=a.device)
    size = float(_abs(a).sum(-2).max())
    if not numpy.isfinite(size):
        return a * numpy.nan
    halvings = max(0, ceil(log2(size / _PADE_BOUND))) if size else 0
    a = a * 0.5**halvings
    b, unit = _PADE, eye(a.shape[-1], dtype=a.dtype, device=a.device)
    a2 = matmul(a, a)
    a4 = matmul(a2, a2)
    a6 = matmul(a2, a4)
    odd = matmul(a6, b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * unit
    odd = matmul(a, odd)
    even = matmul(a6, b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * unit
    r = _numpys.solve(even - odd, even + odd)
    for _ in range(halvings):
        r = matmul(r, r)
    return r


def _turned(a):
    (a,) = _given(False, a)
    return a, expm(a * 1j)


def cosm(A):
    """The cosine of a square matrix."""
    a, e = _turned(A)
    return e.real if a.dtype.kind == "f" else 0.5 * (e + expm(a * -1j))


def sinm(A):
    """The sine of a square matrix."""
    a, e = _turned(A)
    return e.imag if a.dtype.kind == "f" else -0.5j * (e - expm(a * -1j))


def tanm(A):
    """The tangent of a square matrix."""
    return _numpys.solve(cosm(A), sinm(A))


def coshm(A):
    """The hyperbolic cosine of a square matrix."""
    a = asarray(A)
    return 0.5 * (expm(a) + expm(-a))


def sinhm(A):
    """The hyperbolic sine of a square matrix."""
    a = asarray(A)
    return 0.5 * (expm(a) - expm(-a))


def tanhm(A):
    """The hyperbolic tangent of a square matrix."""
    return _numpys.solve(coshm(A), sinhm(A))
