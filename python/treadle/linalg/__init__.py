"""Linear algebra under NumPy's names.

Products, norms and powers are recorded like other operations; factorisations, solutions and eigenvalues
stand in modules of their own.
"""

import numpy
from numpy.linalg import LinAlgError

from .. import _core, _old_numpy
from .._core import asarray, empty, ndarray
from .._exchange._host import few as _few
from .._exchange._place import own as _own
from .._numpy._math._values import where
from .._numpy._shape import expand_dims, matrix_transpose, moveaxis
from .._public import dir_of as _dir_of
from .._public import set_doors as _set_doors
from .._words import refusing as _refusing
from . import _diagonals, _solver
from ._dispatch import _adjoint, _common, _library, _square, _stacked, _unit
from ._eigen import eig, eigh, eigvals, eigvalsh
from ._factors import cholesky, qr, svd, svdvals
from ._products import cross as _cross
from ._products import dot as _dot
from ._products import into_dot, matmul, tensordot, vecdot
from ._products import outer as _outer
from ._solve import det, inv, lstsq, slogdet, solve, tensorinv, tensorsolve

_UFUNC = _core.ufuncs()
_abs, _sqrt, _power, _log, _conj = (_UFUNC[k] for k in ("absolute", "sqrt", "power", "log", "conjugate"))
_isnan, _isfinite = _UFUNC["isnan"], _UFUNC["isfinite"]

__all__ = ["LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
           "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm",
           "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve",
           "trace", "vecdot", "vector_norm"]  # fmt: skip


# ---- what stands on singular values ----


def _above(s, ratio):
    """Which singular values exceed the greatest times the ratio, which may differ between matrices."""
    return s > asarray(ratio, device=s.device).astype(s.dtype)[..., None] * s.max(-1, keepdims=True)


_UNSET = object()


@_library("gesvd")
def pinv(a, rcond=None, hermitian=False, *, rtol=_UNSET):
    """The pseudo-inverses of matrices.

    Parameters
    ----------
    a : array_like, shape (..., M, N)
        The matrices.
    rcond : float or array_like, optional
        Singular values below rcond times the greatest count as zero; without rcond and rtol 1e-15.
    hermitian : bool, default False
        a is Hermitian: eigenvalues are taken, which is quicker.
    rtol : float or array_like, optional
        Another name of rcond; None means the rounding of the dtype times the greater extent.

    Returns
    -------
    ndarray, shape (..., N, M)
        float or complex.

    Raises
    ------
    ValueError
        Both rcond and rtol are given.

    Examples
    --------
    >>> np.linalg.pinv([[2.0], [0.0]])
    array([[0.5, 0. ]])
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
    """How many singular values are above a tolerance.

    Parameters
    ----------
    A : array_like, shape (..., M, N) or (N,)
        The matrices; the rank of a vector is 1 unless it is zero.
    tol : float or array_like, optional
        The tolerance; None means rtol times the greatest singular value.
    hermitian : bool, default False
        A is Hermitian: eigenvalues are taken, which is quicker.
    rtol : float or array_like, optional
        The tolerance in units of the greatest singular value; None means the rounding of the dtype times the greater
        extent.

    Returns
    -------
    ndarray of int64, shape (...)
        Ranks.

    Raises
    ------
    ValueError
        Both tol and rtol are given.

    Examples
    --------
    >>> np.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    np.int64(1)
    """
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
    """The condition numbers, |x| |x^-1|.

    Parameters
    ----------
    x : array_like, shape (..., M, N)
        The matrices; square ones for norms other than 2 and -2.
    p : {None, 1, -1, 2, -2, inf, -inf, "fro", "nuc"}, optional
        The matrix norm; None: the ratio of the extreme singular values.

    Returns
    -------
    ndarray, shape (...)
        inf for singular matrices.

    Raises
    ------
    LinAlgError
        x is empty, or has fewer than two axes.

    Examples
    --------
    >>> np.linalg.cond([[2.0, 0.0], [0.0, 1.0]])
    np.float64(2.0)
    """
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
    """The diagonals of the last two axes: a view.

    Parameters
    ----------
    x : array_like, shape (..., M, N)
        The matrices.
    offset : int, default 0
        Above the main diagonal where positive.

    Returns
    -------
    ndarray, shape (..., K)
        Of x's dtype.

    Examples
    --------
    >>> np.linalg.diagonal([[1, 2], [3, 4]])
    array([1, 4])
    """
    return _diagonals.diagonal(x, offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    """The sum along the diagonals of the last two axes.

    Parameters
    ----------
    x : array_like, shape (..., M, N)
        The matrices.
    offset : int, default 0
        Above the main diagonal where positive.
    dtype : dtype, optional
        Dtype of the result.

    Returns
    -------
    ndarray, shape (...)
        Of x's dtype; small integers are summed in int64.

    Examples
    --------
    >>> np.linalg.trace([[1, 2], [3, 4]])
    np.int64(5)
    """
    return _diagonals.trace(x, offset, -2, -1, dtype)


# ---- norms ----


def _floating(x):
    x = x if isinstance(x, ndarray) else asarray(x)
    return x if x.dtype.kind in "fc" else x.astype("float64")


def _vector(x, order, axis, keepdims):
    """Norms of vectors along an axis. Axis None, or several axes for norms that sum over them, flatten the vectors."""
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
        r = sums.max(other, keepdims=True, initial=0) if order > 0 else sums.min(other, keepdims=True)
    elif order is None or order in ("fro", "f"):
        r = _vector(x, None, (row, column), True)
    elif order in (2, -2, "nuc"):
        s = svd(moveaxis(x, (row, column), (-2, -1)), compute_uv=False)
        r = s.sum(-1) if order == "nuc" else s.max(-1, initial=0) if order == 2 else s.min(-1)
        r = expand_dims(r, (min(row, column), max(row, column)))
    else:
        raise ValueError("Invalid norm order for matrices.")
    r = r if keepdims else r.squeeze((row, column))
    return r if r.ndim else r[()]


@_few(numpy.linalg.norm, 4)
def _axes(axis):
    try:
        return axis if isinstance(axis, tuple) else (int(axis),)
    except Exception as error:
        raise TypeError("'axis' must be None, an integer or a tuple of integers") from error


def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of a vector or a matrix, or of those along one or two axes.

    Parameters
    ----------
    x : array_like
        The numbers.
    ord : number, inf, -inf, "fro" or "nuc", optional
        Which norm; None means 2, of all elements where axis is None. 2, -2 and "nuc" of matrices take singular values.
    axis : int or pair of ints, optional
        Axes of the vectors or matrices; None means all of x.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.

    Returns
    -------
    ndarray
        Real; x's shape without the axes.

    Raises
    ------
    ValueError
        There is no such norm of vectors or of matrices.

    Examples
    --------
    >>> np.linalg.norm([3.0, 4.0])
    np.float64(5.0)
    """
    x = _floating(x)
    if axis is None:
        if ord is None or (ord in ("fro", "f") and x.ndim == 2) or (ord == 2 and x.ndim == 1):
            r = _vector(x.ravel(), None, None, False)
            return r.reshape((1,) * x.ndim) if keepdims else r
        axis = tuple(range(x.ndim))
    axes = _axes(axis)
    for k in axes:
        if not -x.ndim <= k < x.ndim:
            raise _old_numpy.exceptions.AxisError(k, x.ndim)
    if len(axes) == 1:
        return _vector(x, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    return _matrix(x, ord, axes, keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norms of matrices.

    Parameters
    ----------
    x : array_like, shape (..., M, N)
        The matrices.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.
    ord : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}, default 'fro'
        The norm.

    Returns
    -------
    ndarray, shape (...)
        Real.

    Examples
    --------
    >>> np.linalg.matrix_norm([[3.0, 0.0], [0.0, 4.0]])
    np.float64(5.0)
    """
    return norm(x, ord, (-2, -1), keepdims)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norms of vectors.

    Parameters
    ----------
    x : array_like
        The numbers.
    axis : int or tuple of ints, optional
        The axes of the vectors; None takes all elements as one vector.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.
    ord : number, inf or -inf, default 2
        Which norm.

    Returns
    -------
    ndarray
        Real; x's shape without the axes.

    Examples
    --------
    >>> np.linalg.vector_norm([3.0, 4.0])
    np.float64(5.0)
    """
    x = _floating(x)
    return _vector(x, ord, axis if axis is None or isinstance(axis, tuple) else _axes(axis)[0], keepdims)


# ---- products ----


def cross(x1, x2, /, *, axis=-1):
    """The vector products of vectors of 3 elements.

    Parameters
    ----------
    x1, x2 : array_like, shape (..., 3, ...)
        The vectors; the other axes broadcast.
    axis : int, default -1
        The axis of the vectors in both and in the result.

    Returns
    -------
    ndarray
        Of the broadcast shape.

    Raises
    ------
    ValueError
        The vectors have another number of elements.

    Examples
    --------
    >>> np.linalg.cross([1, 0, 0], [0, 1, 0])
    array([0, 0, 1])
    """
    x1, x2 = _core._beside("cross", x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"cross: vectors of 3 elements are wanted, not of {x1.shape[axis]} and {x2.shape[axis]}")
    return _cross(x1, x2, axis=axis)


def outer(x1, x2, /):
    """Every element of one vector times every element of another.

    Parameters
    ----------
    x1, x2 : array_like, shape (M,) and (N,)
        The vectors.

    Returns
    -------
    ndarray, shape (M, N)
        Of the dtype that they promote to.

    Raises
    ------
    ValueError
        x1 or x2 is no vector.

    Examples
    --------
    >>> np.linalg.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    x1, x2 = _core._beside("outer", x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and x2.ndim={x2.ndim}.")
    return _outer(x1, x2)


def matrix_power(a, n):
    """A square matrix multiplied n times with itself.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        The matrices.
    n : int
        The power; a negative one multiplies the inverse.

    Returns
    -------
    ndarray, shape (..., N, N)
        Of a's dtype; floats where n is negative.

    Raises
    ------
    LinAlgError
        a is not square, or singular where n is negative.
    TypeError
        n is no integer.

    Examples
    --------
    >>> np.linalg.matrix_power([[1, 1], [0, 1]], 3)
    array([[1, 3],
           [0, 1]])
    """
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
    """Where to split each product of neighbours i..j for the fewest multiplications."""
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
    """The product of several matrices, in the order that takes the fewest multiplications.

    Parameters
    ----------
    arrays : sequence of array_like
        Two matrices and more; the first and the last may be vectors.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        The product.

    Raises
    ------
    ValueError
        There are fewer than two.

    Examples
    --------
    >>> np.linalg.multi_dot([[[1, 2]], [[3], [4]], [[5]]])
    array([[55]])
    """
    given = [_own(a, *arrays) for a in arrays]
    if len(given) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(given) == 2:
        return _dot(*given, out=out)
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


_set_doors(__name__, "linalg")
__getattr__ = _refusing(__name__)
__dir__ = _dir_of(__name__)
