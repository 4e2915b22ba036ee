"""Systems of equations, factorisations and eigenvalues.

On a CPU NumPy computes them on the array's own memory, on a GPU cuSOLVER does (_solver.py). Where a matrix may be
singular, the call waits for the device, so that it can raise LinAlgError itself.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial, wraps
from math import prod

import numpy
from numpy.linalg import LinAlgError

from .. import _core
from .._core import asarray, empty
from .._exchange import _host
from .._numpy._create._matrices import eye, tril, triu
from .._numpy._math._values import where
from .._numpy._shape import broadcast_to, matrix_transpose
from . import _solver
from ._products import matmul

_UFUNC = _core.ufuncs()
_abs, _sqrt, _power, _log, _conj = (_UFUNC[k] for k in ("absolute", "sqrt", "power", "log", "conjugate"))
_isnan, _isfinite = _UFUNC["isnan"], _UFUNC["isfinite"]


# ---- who computes ----


def _library(*rows, operands=1):
    """A decorator for a function that uses these rows of solver.def from the device's library.

    Where the library lacks them, NumPy's function is called: on a CPU that is its library, on a GPU without cuSOLVER
    it is a fallback. The decorated function gets its first operands as arrays on one device, in a dtype that can be
    factorised.
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


_THREADS_FROM = 1 << 15  # elements of all matrices together, from which several threads are faster
_THREADS_TO = 128  # rows of one matrix; LAPACK uses several threads itself for larger ones


def _by_threads(f, operands, *args, **kwargs):
    """Call NumPy's f on NumPy's arrays. Many small matrices are divided among threads."""
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


# At least this many matrices, of at most this many rows and right sides: the CPU's own code takes them all in one
# call.
_SMALL_MANY, _SMALL_ROWS = 16, 32


def _small_batch(a, *more):
    """The common leading extents of a and more, if they are many small matrices for _small_*. Else None."""
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
    """Solve a x = b in place: x holds b and becomes the solution."""
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
    """The arrays in the dtype in which NumPy computes: integers become float64."""
    kinds = [x.dtype for x in arrays]
    for dt in kinds:
        if dt.kind not in "biufc" or dt == "float16":
            raise TypeError(f"array type {dt.name} is unsupported in linalg")
    dt = numpy.result_type(*(dt if dt.kind in "fc" else "float64" for dt in kinds))
    return [x.astype(dt, copy=False) for x in arrays]


_result_types = {}


def _result(name, *values):
    """The function's results as NumPy's named tuple."""
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
    """The solution x of a x = b.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        Square matrices.
    b : array_like, shape (N,) or (..., N, K)
        A vector, or matrices whose columns are right sides; leading axes broadcast.

    Returns
    -------
    ndarray
        Of b's shape after broadcasting.

    Raises
    ------
    LinAlgError
        A matrix is singular, or not square.

    Examples
    --------
    >>> np.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0])
    array([1. , 0.5])
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
    """The inverses of square matrices.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        The matrices.

    Returns
    -------
    ndarray, shape (..., N, N)
        float or complex.

    Raises
    ------
    LinAlgError
        A matrix is singular, or not square.

    Examples
    --------
    >>> np.linalg.inv([[2.0, 0.0], [0.0, 4.0]])
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    _square(a)
    r, info = _solver.inverse(a)
    _solver.check(info, _SINGULAR)
    return r


@_library("getrf")
def det(a):
    """The determinants of square matrices.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        The matrices.

    Returns
    -------
    ndarray, shape (...)
        float or complex.

    Raises
    ------
    LinAlgError
        a is not square.

    Examples
    --------
    >>> np.linalg.det([[2.0, 1.0], [0.0, 3.0]])
    array(6.)
    """
    _square(a)
    diagonal, sign, info = _solver.determinant(a)
    r = diagonal.prod(-1) * sign.astype(a.dtype)
    return where(info > 0, numpy.zeros((), a.dtype)[()], r)


@_library("getrf")
def slogdet(a):
    """Sign and logarithm of the determinants.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        The matrices.

    Returns
    -------
    namedtuple of ndarrays: sign (...), logabsdet (...)
        sign * exp(logabsdet) is the determinant; 0 and -inf for singular matrices.

    Raises
    ------
    LinAlgError
        a is not square.

    Examples
    --------
    >>> np.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]]).sign
    array(-1.)
    """
    _square(a)
    diagonal, sign, info = _solver.determinant(a)
    size = _abs(diagonal)
    singular = (info > 0) | (size == 0).any(-1)
    sign = (diagonal / size).prod(-1) * sign.astype(a.dtype)
    zero, low = numpy.zeros((), sign.dtype)[()], numpy.array(-numpy.inf, size.dtype)[()]
    return _result("slogdet", where(singular, zero, sign), where(singular, low, _log(size).sum(-1)))


@_library("gesvd", operands=2)
def lstsq(a, b, rcond=None):
    """The x of least length that makes |b - a x| least.

    Parameters
    ----------
    a : array_like, shape (M, N)
        The matrix.
    b : array_like, shape (M,) or (M, K)
        The right sides, as columns.
    rcond : float, optional
        Singular values below rcond times the greatest count as zero; None means the rounding of the dtype times the
        greater extent of a.

    Returns
    -------
    tuple: x (N,) or (N, K), residuals (K,) or (0,), rank, singular values (min(M, N),)
        The residuals are the squared lengths of the columns of b - a x where a has rank N and M > N, else empty.

    Raises
    ------
    LinAlgError
        The extents do not fit.

    Examples
    --------
    >>> np.linalg.lstsq([[1.0], [1.0]], [1.0, 3.0])[0]
    array([2.])
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
    """The solution x of tensordot(a, x, x.ndim) = b.

    Parameters
    ----------
    a : array_like, shape (*b.shape, *x.shape)
        As many numbers in b as in x.
    b : array_like
        The right side.
    axes : sequence of ints, optional
        Axes of a to move to the right first.

    Returns
    -------
    ndarray
        x.

    Raises
    ------
    LinAlgError
        There is no one solution.

    Examples
    --------
    >>> np.linalg.tensorsolve(np.eye(4).reshape(4, 2, 2), np.ones(4))
    array([[1., 1.],
           [1., 1.]])
    """
    a, b = _core._beside("tensorsolve", a, b)
    if axes is not None:
        a = a.transpose([*(k for k in range(a.ndim) if k not in axes), *axes])
    shape = a.shape[-(a.ndim - b.ndim) :]
    if prod(shape) ** 2 != a.size:
        raise LinAlgError("Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == "
                          "prod(a.shape[:b.ndim])")  # fmt: skip
    return solve(a.reshape((-1, prod(shape))), b.ravel()).reshape(shape)


def tensorinv(a, ind=2):
    """The inverse with respect to tensordot over the first ind axes.

    Parameters
    ----------
    a : array_like
        The first ind extents multiply to what the others do.
    ind : int, default 2
        How many axes.

    Returns
    -------
    ndarray, shape (*a.shape[ind:], *a.shape[:ind])
        float or complex.

    Raises
    ------
    ValueError
        ind is not positive.
    LinAlgError
        It has no inverse.

    Examples
    --------
    >>> np.linalg.tensorinv(np.eye(4).reshape(4, 2, 2), ind=1).shape
    (2, 2, 4)
    """
    a = asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    rows, columns = a.shape[:ind], a.shape[ind:]
    return inv(a.reshape((prod(rows), -1))).reshape((*columns, *rows))


# ---- factorisations ----


@_library("potrf")
def cholesky(a, /, *, upper=False):
    """The triangular factor of positive definite matrices: L of L L^H.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        Hermitian matrices, of which one triangle is read.
    upper : bool, default False
        Read the upper triangle and return U of U^H U.

    Returns
    -------
    ndarray, shape (..., N, N)
        float32, float64, complex64 or complex128.

    Raises
    ------
    LinAlgError
        A matrix is not positive definite, or not square.

    Examples
    --------
    >>> np.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    array([[2., 0.],
           [1., 2.]])
    """
    _square(a)
    c, info = _solver.cholesky(a, upper)
    _solver.check(info, _INDEFINITE)
    return triu(c) if upper else tril(c)


@_library("geqrf", "orgqr")
def qr(a, mode="reduced"):
    """Orthonormal columns and an upper triangle whose product is a.

    Parameters
    ----------
    a : array_like, shape (..., M, N)
        The matrices.
    mode : {"reduced", "complete", "r", "raw"}, default 'reduced'
        "reduced": K = min(M, N) columns, "complete": K = M, "r": R alone, "raw": LAPACK's reflectors, transposed, and
        their factors.

    Returns
    -------
    namedtuple of ndarrays: Q (..., M, K), R (..., K, N)
        float or complex.

    Raises
    ------
    ValueError
        The mode is none of these.

    Examples
    --------
    >>> np.linalg.qr([[2.0, 0.0], [0.0, 3.0]], "r").shape
    (2, 2)
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
    _core.evaluate(r)  # evaluate R before Q overwrites the reflectors
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
    """The singular value decomposition, U S Vh.

    Parameters
    ----------
    a : array_like, shape (..., M, N)
        The matrices.
    full_matrices : bool, default True
        False leaves out the columns of U and the rows of Vh that S does not reach: K = min(M, N) stay.
    compute_uv : bool, default True
        False: S alone.
    hermitian : bool, default False
        a is Hermitian: eigenvalues are taken, which is quicker.

    Returns
    -------
    namedtuple of ndarrays: U (..., M, M), S (..., K), Vh (..., N, N)
        S falls, and is real.

    Raises
    ------
    LinAlgError
        a has fewer than two axes.

    Examples
    --------
    >>> np.linalg.svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False)
    array([4., 3.])
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
    """The singular values, in falling order.

    Parameters
    ----------
    x : array_like, shape (..., M, N)
        The matrices.

    Returns
    -------
    ndarray, shape (..., min(M, N))
        Real.

    Raises
    ------
    LinAlgError
        x has fewer than two axes.

    Examples
    --------
    >>> np.linalg.svdvals([[3.0, 0.0], [0.0, 4.0]])
    array([4., 3.])
    """
    return svd(x, compute_uv=False)


def _half(uplo):
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return uplo.upper() == "L"


@_library("syevd")
def eigh(a, UPLO="L"):
    """Eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        The matrices, of which one triangle is read.
    UPLO : {"L", "U"}, default 'L'
        Which triangle.

    Returns
    -------
    namedtuple of ndarrays: eigenvalues (..., N), eigenvectors (..., N, N)
        Rising real eigenvalues; the vectors are columns.

    Raises
    ------
    LinAlgError
        a is not square.
    ValueError
        UPLO is neither of both.

    Examples
    --------
    >>> np.linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues
    array([1., 2.])
    """
    lower = _half(UPLO)
    _square(a)
    w, v, info = _solver.eigh(a, lower)
    _solver.check(info, "Eigenvalues did not converge")
    return _result("eigh", w, v)


@_library("syevd")
def eigvalsh(a, UPLO="L"):
    """The eigenvalues of Hermitian matrices, in rising order.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        The matrices, of which one triangle is read.
    UPLO : {"L", "U"}, default 'L'
        Which triangle.

    Returns
    -------
    ndarray, shape (..., N)
        Real.

    Raises
    ------
    LinAlgError
        a is not square.

    Examples
    --------
    >>> np.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]])
    array([1., 2.])
    """
    lower = _half(UPLO)
    _square(a)
    w, _, info = _solver.eigh(a, lower, vectors=False)
    _solver.check(info, "Eigenvalues did not converge")
    return w


@cache
def real_if_real():
    """Whether NumPy returns real eigenvalues if all of them are real. It did so up to 2.4."""
    return numpy.linalg.eigvals(numpy.eye(1)).dtype.kind == "f"


def _eig(a, vectors):
    _square(a)
    if not bool(_isfinite(a).all()):
        raise LinAlgError("Array must not contain infs or NaNs")
    w, v, info = _solver.eig(a, vectors)
    _solver.check(info, "Eigenvalues did not converge")
    if a.dtype.kind == "f" and real_if_real() and bool((w.imag == 0).all()):
        w, v = w.real, v.real if vectors else None
    return w, v


@_library("geev")
def eig(a):
    """Eigenvalues and eigenvectors of square matrices.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        The matrices.

    Returns
    -------
    namedtuple of ndarrays: eigenvalues (..., N), eigenvectors (..., N, N)
        In no order; the vectors are columns. They are real where all of them are, unless the installed NumPy has them
        complex always.

    Raises
    ------
    LinAlgError
        a is not square, or holds NaN or infinities.

    Examples
    --------
    >>> np.linalg.eig([[2.0, 0.0], [0.0, 3.0]]).eigenvectors.real
    array([[1., 0.],
           [0., 1.]])
    """
    return _result("eig", *_eig(a, True))


@_library("geev")
def eigvals(a):
    """The eigenvalues of square matrices, in no order.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        The matrices.

    Returns
    -------
    ndarray, shape (..., N)
        Real where all of them are, unless the installed NumPy has them complex always.

    Raises
    ------
    LinAlgError
        a is not square.

    Examples
    --------
    >>> np.linalg.eigvals([[0.0, -1.0], [1.0, 0.0]])
    array([0.+1.j, 0.-1.j])
    """
    return _eig(a, False)[0]
