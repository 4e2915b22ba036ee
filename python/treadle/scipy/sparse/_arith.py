"""Operations on two matrices: element by element, and the product of two sparse ones."""

import operator

import numpy

import treadle as td

from ..._core import arange, asarray, zeros
from . import _parts
from ._base import CLASSES, is_number

_COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.gt, operator.le, operator.ge}


def combined(a, b, f):
    """f(a, b) where either has an element, without the zeros that come out; a and b of one compressed format and shape.

    The elements of both are sorted together, those of a first where both have a place: so a run is one element of
    either, or a's and b's.
    """
    a, b = a._canonical_form(), b._canonical_form()
    dtype = numpy.result_type(a.dtype, b.dtype)
    major, minor = _parts.join(a._majors(), b._majors()), _parts.join(a._indices, b._indices)
    values = _parts.join(a.data.astype(dtype, copy=False), b.data.astype(dtype, copy=False))
    if not values.size:
        return type(a)(a.shape, dtype=bool if f in _COMPARISONS else dtype, device=a.device)
    order = _parts.order_of_pairs(major, minor, a._lines)
    major, minor, values = (_parts.gather(x, order) for x in (major, minor, values))
    at = _parts.places(_parts.starts_run(major, minor))
    ends = _parts.join(at[1:], asarray([values.size], dtype=at.dtype, device=at.device))
    first, both, none = _parts.gather(order, at) < a.data.size, ends - at == 2, dtype.type(0)
    x, y = _parts.gather(values, at), _parts.gather(values, ends - 1)
    r = f(td.where(first, x, none), td.where(both, y, td.where(first, none, x)))
    keep = _parts.places(r != 0)
    at = _parts.gather(at, keep)
    return type(a)._of_sorted(_parts.gather(major, at), _parts.gather(minor, at), _parts.gather(r, keep), a.shape)


# ---- products by element ----


def _spread(a, shape):
    """The elements of a, of one axis or two, repeated to shape, of two: row, column and data."""
    a = a.tocoo()
    row, col, data = a.row.astype("int64"), a.col.astype("int64"), a.data
    for axis, (have, want) in enumerate(zip(a._shape2, shape, strict=True)):
        if have == want:
            continue
        n = data.size
        each = arange(n * want, dtype="int64", device=data.device)
        source, new = each // want, each % want
        data = _parts.gather(data, source)
        row, col = (new, _parts.gather(col, source)) if axis == 0 else (_parts.gather(row, source), new)
    return row, col, data


def multiplied(a, other):
    """a.multiply(other)."""
    if is_number(other):
        return a._scaled(other)
    sparse = a._sparse_like(other)
    if sparse is not None:
        if sparse.shape == a.shape:
            return a._cs()._combined(sparse, operator.mul)
        return _by_broadcast(a, sparse)
    dense = a._dense_like(other)
    if dense is None:
        return NotImplemented
    if dense.ndim > 2:
        return a.toarray() * dense
    shape = _broadcast(a, dense)
    if dense.size == 1 and (len(shape), *a.shape) == (a.ndim, *shape):
        return a._scaled(dense.reshape(()))
    if dense.shape == a.shape:
        shape = a.shape
    two = shape if len(shape) == 2 else (1, *shape)
    row, col, data = _spread(a, two)
    dense = td.atleast_2d(dense)
    at = (row if dense.shape[0] > 1 else 0) * dense.shape[1] + (col if dense.shape[1] > 1 else row * 0)
    data = data * _parts.gather(td.ascontiguousarray(dense).reshape(dense.size), at)
    idx = _parts.index_dtype(*two)
    return a._class("coo")._from(data, tuple(c.astype(idx) for c in (row, col))[2 - len(shape) :], shape)


def _broadcast(a, b):
    try:
        return numpy.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise ValueError(f"inconsistent shapes {a.shape} and {b.shape}") from None


def _by_broadcast(a, b):
    shape = _broadcast(a, b)
    two = shape if len(shape) == 2 else (1, *shape)
    cls = a._class("csr")
    wide = [cls._of_pairs(*_spread(x, two), two) for x in (a, b)]
    r = combined(*wide, operator.mul)
    return r.asformat("csc" if a.format == "csc" else None) if len(shape) == 2 else r.reshape(shape)


# ---- products of matrices ----


def product(a, b):
    """a @ b of two sparse matrices, in a's format, with sorted indices. All products of elements are made, sorted by
    their place (in the order of the sum where that is the same) and added up.
    """
    column = b.ndim == 1
    if column:
        b = b.reshape(1, b.shape[0]).T
    b = b.asformat(a._format)
    left, right = a._swap((a, b))
    lines, between = left._lines[0], right._lines[1]
    dtype = numpy.result_type(a.dtype, b.dtype)
    lengths = right._indptr[1:] - right._indptr[:-1]
    at, element = _parts.ranges(_parts.gather(right._indptr, left._indices), _parts.gather(lengths, left._indices))
    major = _parts.gather(left._majors(), element)
    data = _parts.gather(left.data, element).astype(dtype) * _parts.gather(right.data, at).astype(dtype)
    major, minor, data = _parts.sorted_summed(major, _parts.gather(right._indices, at), data, (lines, between))
    shape = a._shape2[0], b._shape2[1]
    if a.ndim == 1 and column:
        return data.sum() if data.size else zeros((), dtype=dtype, device=a.device)
    r = type(a)._of_sorted(major.astype(left._indices.dtype, copy=False), minor, data, shape)
    if a.ndim == 2 and not column:
        return r
    return r.reshape((shape[0],) if column else (shape[1],))


def selection(idx, n, dtype):
    """A CSR matrix of ones of len(idx) columns, that of number j in row idx[j] of n."""
    order = _parts.order_of(idx, n)
    indptr = _parts.pointers(_parts.gather(idx, order), n, order.dtype)
    ones = td.ones(idx.size, dtype=dtype, device=idx.device)
    return CLASSES["csr", False]._from(ones, order, indptr, (n, idx.size), canonical=True)
