"""Linear algebra under NumPy's names.

Products, norms and powers are recorded like other operations. Factorisations are NumPy's on the CPU, on the array's own
memory; a GPU's are cuSOLVER's (_solver.py). Where a matrix may have none, the call waits for the device so that
LinAlgError comes from it.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial, wraps
from math import prod

import numpy
from numpy.linalg import LinAlgError

from .. import _core, _old_numpy
from .._core import asarray, empty, ndarray
from .._exchange import _host
from .._numpy._create import eye, tril, triu
from .._numpy._math import where
from .._numpy._shape import broadcast_to, expand_dims, matrix_transpose, moveaxis
from .._public import dir_of as _dir_of
from .._words import refusing as _refusing
from . import _products, _solver
from ._products import cross as _cross
from ._products import into_dot, matmul, tensordot, vecdot
from ._products import outer as _outer

_UFUNC = _core.ufuncs()
_abs, _sqrt, _power, _log, _conj = (_UFUNC[k] for k in ("absolute", "sqrt", "power", "log", "conjugate"))
_isnan, _isfinite = _UFUNC["isnan"], _UFUNC["isfinite"]

__all__ = ["LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
           "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm",
           "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve",
           "trace", "vecdot", "vector_norm"]  # fmt: skip

# ---- who computes ----


def _library(*rows, operands=1):
    """Makes a function that the device's library serves by these rows of solver.def NumPy's where it does not: on the
    CPU, whose library that is, and on a GPU without cuSOLVER. The function gets its first operands as arrays of one
    device, in a dtype that is factorised.
    """

    def decorate(f):
        name, names = f.__name__, f.__code__.co_varnames[:operands]

        @wraps(f)
        def fn(*args, **kwargs):
            args = [*args, *(kwargs.pop(k) for k in names[len(args) :] if k in kwargs)]
            if len(args) < operands:
                raise TypeError(f"{name}() missing {operands - len(args)} required positional argument")
            given = _core._beside(name, *args[:operands])
            why = _solver.missing(given[0].device, *rows)
            small = None if why is not None else _SMALL.get(name)
            r = None if small is None else small(*given, *args[operands:], **kwargs)
            if r is not None:
                return r
            if why == "":
                return f(*_common(given), *args[operands:], **kwargs)
            theirs = partial(_by_threads, getattr(numpy.linalg, name), operands)
            return _host.library(f"numpy.linalg.{name}", theirs, (*given, *args[operands:]), kwargs, why)

        return fn

    return decorate


_THREADS_FROM = 1 << 15  # elements of all matrices from which several threads are quicker
_THREADS_TO = 128  # rows of one; LAPACK spreads larger ones itself


def _by_threads(f, operands, *args, **kwargs):
    """NumPy's f(*args, **kwargs) of NumPy's arrays; of many small matrices each thread gets a share."""
    given, rest = args[:operands], args[operands:]
    first = given[0]
    count = min(len(os.sched_getaffinity(0)), first.shape[0] if first.ndim > 2 else 1)
    alike = all(x.ndim == first.ndim and x.shape[:1] == first.shape[:1] for x in given)
    plain = all(numpy.ndim(x) == 0 for x in (*rest, *kwargs.values()))
    if count < 2 or first.size < _THREADS_FROM or max(first.shape[-2:]) > _THREADS_TO or not (alike and plain):
        return f(*args, **kwargs)
    edges = [first.shape[0] * i // count for i in range(count + 1)]
    with ThreadPoolExecutor(count) as pool:
        parts = list(pool.map(lambda i, j: f(*(x[i:j] for x in given), *rest, **kwargs), edges[:-1], edges[1:]))
    if not isinstance(parts[0], tuple):
        return numpy.concatenate(parts)
    whole = map(numpy.concatenate, zip(*parts, strict=True))
    return type(parts[0])(*whole) if hasattr(parts[0], "_fields") else tuple(whole)


# From so many matrices, of at most so many rows and right sides, the CPU's own code takes them all at once.
_SMALL_MANY, _SMALL_ROWS = 16, 32


def _small_batch(a, *more):
    """The leading extents that a and more have together, if they are many small matrices for _small_*; else None."""
    kinds = {x.dtype.str for x in (a, *more)}
    n = a.shape[-1] if a.ndim > 1 else 0
    if kinds not in ({"<f4"}, {"<f8"}) or not 0 < n <= _SMALL_ROWS or a.shape[-2] != n:
        return None
    try:
        batch = numpy.broadcast_shapes(a.shape[:-2], *(x.shape[:-2] for x in more))
    except ValueError:
        return None
    return batch if prod(batch) >= _SMALL_MANY else None


def _small_systems(a, x, batch):
    """a x = b, where x holds b and becomes the solution."""
    _solver.solve_small(broadcast_to(a, (*batch, *a.shape[-2:])), x, _SINGULAR)
    return x


def _small_solve(a, b):
    x = b[:, None] if b.ndim == 1 else b
    if x.ndim < 2 or x.shape[-2] != a.shape[-1] or not 0 < x.shape[-1] <= _SMALL_ROWS:
        return None
    batch = _small_batch(a, x)
    if batch is None:
        return None
    r = _small_systems(a, broadcast_to(x, (*batch, *x.shape[-2:])).copy(), batch)
    return r[..., 0] if b.ndim == 1 else r


def _small_inv(a):
    batch = _small_batch(a)
    return None if batch is None else _small_systems(a, _unit(a.shape[-1], a), batch)


def _small_cholesky(a, /, *, upper=False):
    if _small_batch(a) is None:
        return None
    return _solver.cholesky_small(a.copy(), upper, _INDEFINITE)


_SMALL = {"solve": _small_solve, "inv": _small_inv, "cholesky": _small_cholesky}
_SINGULAR, _INDEFINITE = "Singular matrix", "Matrix is not positive definite"


def _common(arrays):
    """The arrays in the dtype that NumPy computes them in: integers as float64."""
    kinds = [x.dtype for x in arrays]
    for dt in kinds:
        if dt.kind not in "biufc" or dt == "float16":
            raise TypeError(f"array type {dt.name} is unsupported in linalg")
    dt = numpy.result_type(*(dt if dt.kind in "fc" else "float64" for dt in kinds))
    return [x.astype(dt, copy=False) for x in arrays]


_result_types = {}


def _result(name, *values):
    """values as NumPy's named tuple for that function."""
    if name not in _result_types:
        _result_types[name] = type(getattr(numpy.linalg, name)(numpy.eye(1)))
    kind = _result_types[name]
    return kind(*values) if hasattr(kind, "_fields") else values


def _stacked(*arrays):
    for a in arrays:
        if a.ndim < 2:
            raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")


def _square(a):
    _stacked(a)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"Last 2 dimensions of the array must be square: its shape is {a.shape}")


def _unit(count, like):
    return broadcast_to(eye(count, dtype=like.dtype, device=like.device), (*like.shape[:-2], count, count)).copy()


# ---- solving ----


@_library("getrf", operands=2)
def solve(a, b):
    """The solution x of a x = b for square matrices a; b: a vector (one axis), or matrices of right sides.

    Leading axes broadcast. LinAlgError: a is singular, or not square.
    """
    _square(a)
    x = b[:, None] if b.ndim == 1 else b
    _stacked(x)
    if x.shape[-2] != a.shape[-1]:
        raise ValueError(f"solve: matrices of shape {a.shape} and right sides of shape {b.shape}")
    r, info = _solver.solve(a, x)
    _solver.check(info, _SINGULAR)
    return r[..., 0] if b.ndim == 1 else r


@_library("getrf")
def inv(a):
    """The inverses of square matrices. LinAlgError: one is singular, or not square."""
    _square(a)
    r, info = _solver.inverse(a)
    _solver.check(info, _SINGULAR)
    return r


@_library("getrf")
def det(a):
    """The determinants of square matrices."""
    _square(a)
    diagonal, sign, info = _solver.determinant(a)
    r = diagonal.prod(-1) * sign.astype(a.dtype)
    return where(info > 0, numpy.zeros((), a.dtype)[()], r)


@_library("getrf")
def slogdet(a):
    """(sign, logabsdet): sign * exp(logabsdet) is the determinant; of a singular matrix 0 and -inf."""
    _square(a)
    diagonal, sign, info = _solver.determinant(a)
    size = _abs(diagonal)
    singular = (info > 0) | (size == 0).any(-1)
    sign = (diagonal / size).prod(-1) * sign.astype(a.dtype)
    zero, low = numpy.zeros((), sign.dtype)[()], numpy.array(-numpy.inf, size.dtype)[()]
    return _result("slogdet", where(singular, zero, sign), where(singular, low, _log(size).sum(-1)))


@_library("gesvd", operands=2)
def lstsq(a, b, rcond=None):
    """(x, residuals, rank, singular values): the x of least length that makes |b - a x| least.

    Singular values below rcond times the greatest count as zero; None: the rounding of the dtype times the greater
    extent of a. residuals: the columns' |b - a x|^2, empty where the rank is less than a's columns or a has no more
    rows than columns. LinAlgError: the singular values did not converge, or a has not two axes.
    """
    if a.ndim != 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    if b.ndim not in (1, 2):
        raise LinAlgError(f"{b.ndim}-dimensional array given. Array must be one- or two-dimensional")
    (m, n), sides = a.shape, b[:, None] if b.ndim == 1 else b
    if sides.shape[0] != m:
        raise LinAlgError("Incompatible dimensions")
    unit = numpy.finfo(a.dtype).eps
    rcond = unit * max(m, n) if rcond is None else unit if rcond < 0 else rcond
    u, s, vh = svd(a, full_matrices=False)
    kept = s > rcond * s.max() if s.size else s > 0
    rank = int(kept.sum())
    weight = where(kept, 1 / where(kept, s, 1), 0)[:, None]
    x = matmul(_adjoint(vh), weight * matmul(_adjoint(u), sides))
    rest = empty(0, s.dtype, device=a.device)
    if rank == n and m > n:
        rest = (_abs(sides - matmul(a, x)) ** 2).sum(0)
    return x[:, 0] if b.ndim == 1 else x, rest, asarray(rank, "int32"), s


def _adjoint(a):
    a = matrix_transpose(a)
    return _conj(a) if a.dtype.kind == "c" else a


def tensorsolve(a, b, axes=None):
    """The solution x of tensordot(a, x, x.ndim) = b; axes: those of a that are moved to the right first."""
    a, b = _core._beside("tensorsolve", a, b)
    if axes is not None:
        a = a.transpose([*(k for k in range(a.ndim) if k not in axes), *axes])
    shape = a.shape[-(a.ndim - b.ndim) :]
    if prod(shape) ** 2 != a.size:
        raise LinAlgError("Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == "
                          "prod(a.shape[:b.ndim])")  # fmt: skip
    return solve(a.reshape((-1, prod(shape))), b.ravel()).reshape(shape)


def tensorinv(a, ind=2):
    """The inverse with respect to tensordot over the first ind axes."""
    a = asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    rows, columns = a.shape[:ind], a.shape[ind:]
    return inv(a.reshape((prod(rows), -1))).reshape((*columns, *rows))


# ---- factorisations ----


@_library("potrf")
def cholesky(a, /, *, upper=False):
    """The triangular factor L of positive definite matrices L L^H; with upper U of U^H U, read from that triangle.

    LinAlgError: one is not positive definite.
    """
    _square(a)
    c, info = _solver.cholesky(a, upper)
    _solver.check(info, _INDEFINITE)
    return triu(c) if upper else tril(c)


@_library("geqrf", "orgqr")
def qr(a, mode="reduced"):
    """(Q, R): orthonormal columns and an upper triangle whose product is a.

    mode: "reduced" (as many columns as the lesser extent), "complete" (all), "r" (R alone), "raw" (LAPACK's
    reflectors, transposed, and their factors).
    """
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    _stacked(a)
    m, n = a.shape[-2:]
    c, tau = _solver.reflectors(a)
    if mode == "raw":
        return c, tau
    count = m if mode == "complete" else min(m, n)
    r = triu(matrix_transpose(c)[..., :count, :])
    if mode == "r":
        return r
    _core.evaluate(r)  # before Q takes the place of the reflectors
    q = _solver.orthogonal(c, tau, count) if min(m, n) else _unit(m, a)[..., :count]
    return _result("qr", q, r)


def _hermitian_svd(a, compute_uv):
    w, v = eigh(a)
    order = _abs(w).argsort(-1)[..., ::-1]
    from .._select._writing import take_along_axis

    w = take_along_axis(w, order, -1)
    s = _abs(w)
    if not compute_uv:
        return s
    u = take_along_axis(v, order[..., None, :], -1)
    sign = where(w < 0, -1, 1).astype(s.dtype)
    return _result("svd", u, s, _adjoint(u * sign[..., None, :]))


@_library("gesvd")
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """(U, S, Vh): matrices as U S Vh, the singular values in falling order; compute_uv=False: S alone.

    full_matrices=False leaves out the columns of U and the rows of Vh that S does not reach. hermitian=True takes the
    eigenvalues of the lower triangle. LinAlgError: it did not converge.
    """
    _stacked(a)
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    m, n = a.shape[-2:]
    if min(m, n) == 0:
        s = empty((*a.shape[:-2], 0), _solver.real_of(a.dtype), device=a.device)
        count = (m, n) if full_matrices else (0, 0)
        ends = _unit(m, a)[..., : count[0]], s, _unit(n, a)[..., : count[1], :]
        return _result("svd", *ends) if compute_uv else s
    u, s, vh, info = _solver.svd(a, compute_uv, full_matrices)
    _solver.check(info, "SVD did not converge")
    return _result("svd", u, s, vh) if compute_uv else s


def svdvals(x, /):
    """The singular values, in falling order."""
    return svd(x, compute_uv=False)


def _half(uplo):
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return uplo.upper() == "L"


@_library("syevd")
def eigh(a, UPLO="L"):
    """(eigenvalues in rising order, eigenvectors as columns) of Hermitian matrices, of which one triangle is read."""
    lower = _half(UPLO)
    _square(a)
    w, v, info = _solver.eigh(a, lower)
    _solver.check(info, "Eigenvalues did not converge")
    return _result("eigh", w, v)


@_library("syevd")
def eigvalsh(a, UPLO="L"):
    """The eigenvalues of Hermitian matrices, of which one triangle is read, in rising order."""
    lower = _half(UPLO)
    _square(a)
    w, _, info = _solver.eigh(a, lower, vectors=False)
    _solver.check(info, "Eigenvalues did not converge")
    return w


@cache
def _real_if_real():
    """Does NumPy give real eigenvalues where all of them are? It did up to 2.4."""
    return numpy.linalg.eigvals(numpy.eye(1)).dtype.kind == "f"


def _eig(a, vectors):
    _square(a)
    if not bool(_isfinite(a).all()):
        raise LinAlgError("Array must not contain infs or NaNs")
    w, v, info = _solver.eig(a, vectors)
    _solver.check(info, "Eigenvalues did not converge")
    if a.dtype.kind == "f" and _real_if_real() and bool((w.imag == 0).all()):
        w, v = w.real, v.real if vectors else None
    return w, v


@_library("geev")
def eig(a):
    """(eigenvalues, eigenvectors as columns) of square matrices, in no order; real where all of them are, unless the
    installed NumPy has them complex always."""
    return _result("eig", *_eig(a, True))


@_library("geev")
def eigvals(a):
    """The eigenvalues of square matrices, in no order; real where all of them are."""
    return _eig(a, False)[0]


# ---- what stands on singular values ----


def _above(s, ratio):
    """Which singular values are greater than the ratio (one for each matrix) of the greatest."""
    return s > asarray(ratio, device=s.device).astype(s.dtype)[..., None] * s.max(-1, keepdims=True)


_UNSET = object()


@_library("gesvd")
def pinv(a, rcond=None, hermitian=False, *, rtol=_UNSET):
    """The pseudo-inverses: singular values below rcond (or rtol) times the greatest count as zero.

    Without either 1e-15; rtol=None: the rounding of the dtype times the greater extent.
    """
    if rcond is not None and rtol is not _UNSET:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    _stacked(a)
    if a.size == 0:
        return empty((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype, device=a.device)
    u, s, vh = svd(_conj(a) if a.dtype.kind == "c" else a, full_matrices=False, hermitian=hermitian)
    if rtol is None:
        rtol = max(a.shape[-2:]) * numpy.finfo(s.dtype).eps
    kept = _above(s, rcond if rcond is not None else 1e-15 if rtol is _UNSET else rtol)
    s = where(kept, 1 / where(kept, s, 1), 0).astype(s.dtype)
    return matmul(matrix_transpose(vh), s[..., None] * matrix_transpose(u))


@_library("gesvd")
def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """How many singular values are above tol (or rtol times the greatest); of a vector 1 unless it is zero."""
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    if A.ndim < 2:
        return int(not bool((A == 0).all()))
    if A.size == 0:
        return _core.zeros(A.shape[:-2], "int64", device=A.device)
    s = svd(A, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        return (s > asarray(tol, device=A.device)[..., None]).sum(-1)
    return _above(s, max(A.shape[-2:]) * numpy.finfo(s.dtype).eps if rtol is None else rtol).sum(-1)


@_library("gesvd")
def cond(x, p=None):
    """The condition numbers |x| |x^-1| in a matrix norm p; None: the ratio of the extreme singular values."""
    if x.size == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if p in (None, 2, -2):
        s = svd(x, compute_uv=False)
        r = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        _square(x)
        inverse, info = _solver.inverse(x)
        gone = (info > 0)[..., None, None]
        inverse = where(gone, numpy.array(numpy.nan, x.dtype)[()], inverse)
        r = norm(x, p, (-2, -1)) * norm(inverse, p, (-2, -1))
    return where(_isnan(r) & ~_isnan(x).any((-2, -1)), numpy.array(numpy.inf, r.dtype)[()], r)


def diagonal(x, /, *, offset=0):
    """The diagonals of the last two axes."""
    return _products.diagonal(x, offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    """The sum along the diagonals of the last two axes."""
    return _products.trace(x, offset, -2, -1, dtype)


# ---- norms ----


def _floating(x):
    x = x if isinstance(x, ndarray) else asarray(x)
    return x if x.dtype.kind in "fc" else x.astype("float64")


def _vector(x, order, axis, keepdims):
    """The norm of vectors along axis: an axis, several that are flattened by the sum, or None."""
    size = _abs(x)
    if order == float("inf"):
        return size.max(axis, keepdims=keepdims)
    if order == -float("inf"):
        return size.min(axis, keepdims=keepdims)
    if order == 0:
        return (x != 0).astype(size.dtype).sum(axis, keepdims=keepdims)
    if order is None or order == 2:
        return _sqrt((size * size).sum(axis, keepdims=keepdims))
    if order == 1:
        return size.sum(axis, keepdims=keepdims)
    if isinstance(order, str):
        raise ValueError(f"Invalid norm order '{order}' for vectors")
    return _power(_power(size, float(order)).sum(axis, keepdims=keepdims), 1.0 / order)


def _matrix(x, order, axes, keepdims):
    row, column = (k % x.ndim for k in axes)
    if row == column:
        raise ValueError("Duplicate axes given.")
    if order in (1, -1, float("inf"), -float("inf")):
        along, other = (row, column) if order in (1, -1) else (column, row)
        sums = _abs(x).sum(along, keepdims=True)
        r = sums.max(other, keepdims=True) if order > 0 else sums.min(other, keepdims=True)
    elif order is None or order in ("fro", "f"):
        r = _vector(x, None, (row, column), True)
    elif order in (2, -2, "nuc"):
        s = svd(moveaxis(x, (row, column), (-2, -1)), compute_uv=False)
        r = s.sum(-1) if order == "nuc" else s.max(-1) if order == 2 else s.min(-1)
        r = expand_dims(r, (min(row, column), max(row, column)))
    else:
        raise ValueError("Invalid norm order for matrices.")
    return r if keepdims else r.squeeze((row, column))


def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of a vector or a matrix, or of those along one or two axes.

    ord: None (2, of all elements when axis is None), a number, inf, -inf; for matrices also "fro" and "nuc". The
    matrix norms 2, -2 and "nuc" take singular values. ValueError for other orders.
    """
    x = _floating(x)
    if axis is None:
        if ord is None or (ord in ("fro", "f") and x.ndim == 2) or (ord == 2 and x.ndim == 1):
            r = _vector(x.ravel(), None, None, False)
            return r.reshape((1,) * x.ndim) if keepdims else r
        axis = tuple(range(x.ndim))
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    for k in axes:
        if not -x.ndim <= k < x.ndim:
            raise _old_numpy.exceptions.AxisError(k, x.ndim)
    if len(axes) == 1:
        return _vector(x, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    return _matrix(x, ord, axes, keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norm of the matrices in the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norm of the vectors along axis, an axis or several; None: of all elements as one vector."""
    x = _floating(x)
    return _vector(x, ord, tuple(axis) if isinstance(axis, list) else axis, keepdims)


# ---- products ----


def cross(x1, x2, /, *, axis=-1):
    """The vector products of vectors of 3 elements along axis. ValueError: vectors of other lengths."""
    x1, x2 = _core._beside("cross", x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"cross: vectors of 3 elements are wanted, not of {x1.shape[axis]} and {x2.shape[axis]}")
    return _cross(x1, x2, axis=axis)


def outer(x1, x2, /):
    """Every element of the vector x1 times every element of the vector x2."""
    x1, x2 = _core._beside("outer", x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and x2.ndim={x2.ndim}.")
    return _outer(x1, x2)


def matrix_power(a, n):
    """A square matrix multiplied n times with itself; of a negative n, its inverse. LinAlgError if it has none."""
    a = asarray(a)
    _square(a)
    try:
        n = n.__index__()
    except AttributeError:
        raise TypeError("exponent must be an integer") from None
    if n < 0:
        a, n = inv(a), -n
    if n == 0:
        return _unit(a.shape[-1], a)
    r = None
    while True:
        if n & 1:
            r = a if r is None else matmul(r, a)
        n >>= 1
        if n == 0:
            return r
        a = matmul(a, a)


def _best_order(extents):
    """Where each product of neighbours i..j is split, for the fewest multiplications."""
    n = len(extents) - 1
    cost, split = [[0] * n for _ in range(n)], {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], split[i, j] = min(
                (cost[i][k] + cost[k + 1][j] + extents[i] * extents[k + 1] * extents[j + 1], k) for k in range(i, j)
            )
    return split


def multi_dot(arrays, *, out=None):
    """The product of two and more matrices in the order that takes the fewest multiplications; the first and the last
    may be vectors.
    """
    given = [asarray(a) for a in arrays]
    if len(given) < 2:
        raise ValueError("Expecting at least two arrays.")
    first, last = given[0].ndim == 1, given[-1].ndim == 1
    if first:
        given[0] = given[0].reshape((1, -1))
    if last:
        given[-1] = given[-1].reshape((-1, 1))
    for a in given:
        if a.ndim != 2:
            raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    split = _best_order([given[0].shape[0], *(a.shape[1] for a in given)])

    def product(i, j):
        return given[i] if i == j else matmul(product(i, split[i, j]), product(split[i, j] + 1, j))

    r = product(0, len(given) - 1)
    keep = [n for n, gone in zip(r.shape, (first, last), strict=True) if not gone]
    r = r.reshape(keep)
    return r if out is None else into_dot("multi_dot", r, out)

__getattr__ = _refusing(__name__)
__dir__ = _dir_of(__name__)
