"""Systems of equations, inverses and determinants.

Where a matrix may be singular, the call waits for the device, so that it can raise LinAlgError itself.
"""

from math import prod

import numpy
from numpy.linalg import LinAlgError

from .. import _core
from .._core import asarray, empty
from .._numpy._math._values import where
from . import _solver
from ._dispatch import (
    _SINGULAR,
    _adjoint,
    _library,
    _result,
    _small_diagonals,
    _small_inv,
    _small_solve,
    _square,
    _stacked,
)
from ._factors import svd
from ._products import matmul

_UFUNC = _core.ufuncs()
_abs, _log = _UFUNC["absolute"], _UFUNC["log"]


@_library("getrf", operands=2, small=_small_solve)
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


@_library("getrf", small=_small_inv)
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


def _of_diagonals(diagonal, sign, info):
    """Determinants, of U's diagonals, the signs of the rows' order, and info, which is positive where U is singular."""
    r = diagonal.prod(-1) * sign.astype(diagonal.dtype)
    return where(info > 0, numpy.zeros((), diagonal.dtype)[()], r)


def _logarithms(diagonal, sign, info):
    """The same as signs and logarithms."""
    size = _abs(diagonal)
    singular = (info > 0) | (size == 0).any(-1)
    sign = (diagonal / size).prod(-1) * sign.astype(diagonal.dtype)
    zero, low = numpy.zeros((), sign.dtype)[()], numpy.array(-numpy.inf, size.dtype)[()]
    return _result("slogdet", where(singular, zero, sign), where(singular, low, _log(size).sum(-1)))


def _small(finish):
    """What computes finish of many small matrices."""

    def compute(a):
        parts = _small_diagonals(a)
        return None if parts is None else finish(*parts)

    return compute


@_library("getrf", small=_small(_of_diagonals))
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
    np.float64(6.0)
    """
    _square(a)
    return _of_diagonals(*_solver.determinant(a))


@_library("getrf", small=_small(_logarithms))
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
    np.float64(-1.0)
    """
    _square(a)
    return _logarithms(*_solver.determinant(a))


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
    return solve(a.reshape((prod(shape), prod(shape))), b.ravel()).reshape(shape)


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
    return inv(a.reshape((prod(rows), prod(columns)))).reshape((*columns, *rows))
