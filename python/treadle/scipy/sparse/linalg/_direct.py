"""Norms and powers of sparse matrices, and questions about their shape."""

import numpy

import treadle as td

from .. import _arith
from .._base import Sparse
from .._kinds import CLASSES, is_scipys
from ._eigen import svds


def _sparse(A, name):
    if isinstance(A, Sparse):
        return A
    if is_scipys(A):
        return CLASSES["csr", False](A)
    raise TypeError(f"{name}: input is not sparse; a dense array has treadle.linalg's functions")


def norm(x, ord=None, axis=None):
    """The norm of a sparse matrix, or of its rows or columns. ord: None and "fro", inf, -inf, 1, -1 and 2; along an
    axis also 0 and any number. Raises NotImplementedError for the matrix norms -2 and "nuc", as SciPy does."""
    x = _sparse(x, "norm").tocsr()
    if axis is None and ord in (None, "fro", "f"):
        return _flat(x.data)
    axes = (0, 1) if axis is None else tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if any(not isinstance(k, (int, numpy.integer)) for k in axes):
        raise TypeError("'axis' must be None, an integer or a tuple of integers")
    if any(not -2 <= k < 2 for k in axes):
        raise ValueError(f"Invalid axis {axis!r} for an array with shape {x.shape!r}")
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes)
    if len(axes) != 1:
        raise ValueError("Improper number of dimensions to norm.")
    return _vector_norm(x, ord, axes[0] % 2)


def _flat(data):
    return td.sqrt((td.abs(data) ** 2).sum())


def _matrix_norm(x, ord, axes):
    row, column = (k % 2 for k in axes)
    if row == column:
        raise ValueError("Duplicate axes given.")
    if ord in (None, "fro", "f"):
        return _flat(x.data)
    if ord == 2:
        return svds(x, k=1, return_singular_vectors=False)[0]
    if ord in (-2, "nuc"):
        raise NotImplementedError  # SciPy has these norms of dense matrices alone, too
    if ord not in (1, -1, numpy.inf, -numpy.inf):
        raise ValueError("Invalid norm order for matrices.")
    sums = abs(x).sum(row if ord in (1, -1) else column)
    return sums.max() if ord > 0 else sums.min()


def _vector_norm(x, ord, axis):
    size = abs(x)
    if ord == numpy.inf:
        r = size.max(axis).toarray()
    elif ord == -numpy.inf:
        r = size.min(axis).toarray()
    elif ord == 0:
        r = (x != 0).sum(axis)
    elif ord in (None, 2, "fro", "f"):
        r = td.sqrt(size.power(2).sum(axis))
    elif ord == 1:
        r = size.sum(axis)
    elif isinstance(ord, str):
        raise ValueError("Invalid norm order for vectors.")
    else:
        r = size.power(ord).sum(axis) ** (1.0 / ord)
    return r.reshape(-1)


def matrix_power(A, power):
    """The n-th power of a square sparse matrix. Raises ValueError unless power is a non-negative integer."""
    return _arith.power(_sparse(A, "matrix_power"), power)


def spbandwidth(A):
    """How far elements are from the diagonal, below and above it: two ints."""
    a = _sparse(A, "spbandwidth").tocoo()
    if not a.nnz:
        return 0, 0
    away = a.col.astype("int64") - a.row
    low, high = td.stack([away.min(), away.max()]).tolist()
    return max(-low, 0), max(high, 0)


def is_sptriangular(A):
    """Whether all elements are on or below the diagonal, and whether all are on or above it."""
    low, high = spbandwidth(A)
    return high == 0, low == 0
