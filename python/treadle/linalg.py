"""Linear algebra under NumPy's names.

Products, norms and powers are recorded like other operations. Factorisations and what stands on them are NumPy's: on
the array's own memory on the CPU; from a GPU's array they take a copy to the host and put the result back.
"""

import numpy
from numpy.linalg import LinAlgError

from . import _core, _products
from ._core import asarray, ndarray
from ._create import identity
from ._indexing import _host
from ._nan import _into
from ._products import cross, matmul, outer, tensordot, vecdot
from ._shape import expand_dims, matrix_transpose, moveaxis

_UFUNC = _core.ufuncs()
_abs, _sqrt, _power = _UFUNC["absolute"], _UFUNC["sqrt"], _UFUNC["power"]

__all__ = ["LinAlgError", "cross", "diagonal", "matmul", "matrix_norm", "matrix_power", "matrix_transpose", "multi_dot",
           "norm", "outer", "tensordot", "trace", "vecdot", "vector_norm"]  # fmt: skip

# What NumPy computes: the function's name and what it gives. Arguments and errors are NumPy's.
_NUMPYS = {
    "cholesky": "The triangular factor L of a positive definite matrix L L^H.",
    "cond": "The condition number of a matrix.",
    "det": "The determinant.",
    "eig": "Eigenvalues and eigenvectors of a square matrix.",
    "eigh": "Eigenvalues and eigenvectors of a Hermitian matrix.",
    "eigvals": "Eigenvalues of a square matrix.",
    "eigvalsh": "Eigenvalues of a Hermitian matrix.",
    "inv": "The inverse.",
    "lstsq": "The least squares solution of a x = b, residuals, rank and singular values of a.",
    "matrix_rank": "The number of singular values above a tolerance.",
    "pinv": "The pseudo-inverse.",
    "qr": "The QR factorisation.",
    "slogdet": "The sign of the determinant and the logarithm of its absolute value.",
    "solve": "The solution x of a x = b.",
    "svd": "The singular value decomposition.",
    "svdvals": "The singular values.",
    "tensorinv": "The inverse with respect to tensordot.",
    "tensorsolve": "The solution x of tensordot(a, x) = b.",
}


def _numpys(name, meaning):
    def fn(*args, **kwargs):
        given = [x for x in (*args, *kwargs.values()) if isinstance(x, ndarray)]
        where = given[0].device if given else None
        args = [_host(x) if isinstance(x, ndarray) else x for x in args]
        kwargs = {k: _host(x) if isinstance(x, ndarray) else x for k, x in kwargs.items()}
        r = getattr(numpy.linalg, name)(*args, **kwargs)
        if not isinstance(r, tuple):
            return asarray(r, device=where)
        parts = [x if isinstance(x, (int, numpy.integer)) else asarray(x, device=where) for x in r]
        return type(r)(*parts) if hasattr(r, "_fields") else tuple(parts)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"{meaning}\n\nnumpy.linalg.{name}, with its parameters, on the host; LinAlgError as it."
    return fn


_here = {k: _numpys(k, v) for k, v in _NUMPYS.items() if hasattr(numpy.linalg, k)}
globals().update(_here)
__all__ += list(_here)


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
        s = globals()["svd"](moveaxis(x, (row, column), (-2, -1)), compute_uv=False)
        r = s.sum(-1) if order == "nuc" else s.max(-1) if order == 2 else s.min(-1)
        r = expand_dims(r, (min(row, column), max(row, column)))
    else:
        raise ValueError("Invalid norm order for matrices.")
    return r if keepdims else r.squeeze((row, column))


def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of a vector or a matrix, or of those along one or two axes.

    ord: None (2, of all elements when axis is None), a number, inf, -inf; for matrices also "fro" and "nuc". The
    matrix norms 2, -2 and "nuc" take singular values and so the host. ValueError for other orders.
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
            raise numpy.exceptions.AxisError(k, x.ndim)
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


def _square(a):
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"Last 2 dimensions of the array must be square: its shape is {a.shape}")


def matrix_power(a, n):
    """A square matrix multiplied n times with itself; of a negative n, its inverse. LinAlgError if it has none."""
    a = asarray(a)
    _square(a)
    n = n.__index__()
    if n < 0:
        a, n = globals()["inv"](a), -n
    if n == 0:
        unit = asarray(identity(a.shape[-1], a.dtype), device=a.device)
        return _core._broadcast_to(unit, a.shape).copy()
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
    return _into(out, r)
