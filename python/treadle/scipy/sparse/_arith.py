"""Operations on two matrices: elementwise ones, and the product of two sparse matrices."""

import operator

import numpy

import treadle as td

from ..._core import arange, empty, full, zeros
from . import _kernels, _parts
from ._kinds import CLASSES, is_number

_COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.gt, operator.le, operator.ge}


def combined(a, b, f):
    """f(a, b) at all places where either has an element. Zeros among the results are dropped. a and b have the same
    shape and compressed format."""
    a, b = a._canonical_form(), b._canonical_form()
    dtype = numpy.result_type(a.dtype, b.dtype)
    if not a.data.size and not b.data.size:
        return type(a)(a.shape, dtype=bool if f in _COMPARISONS else dtype, device=a.device)
    indptr, indices, x, y = _merged(a, b, dtype)
    r = f(x, y)
    return type(a)._from(r, indices, indptr, a.shape, canonical=True)._without_zeros()


def _merged(a, b, dtype):
    """The places where either of two matrices in canonical format has an element, and the elements that both have
    there."""
    lines, beyond = a._lines
    idx = _parts.index_dtype(a.data.size + b.data.size, *a._lines)
    ap, ai, bp, bi = (x.astype(idx, copy=False) for x in (a._indptr, a._indices, b._indptr, b._indices))
    on_cpu = a.device.host
    pieces = max(min((a.data.size + b.data.size) // _parts.PIECE, lines, 1024), 1) if on_cpu else lines
    start, beyond = zeros((pieces, 1), dtype=idx, device=a.device), idx.type(beyond)
    counts = empty(lines, dtype=idx, device=a.device)
    _kernels.merge_count(ap, ai, bp, bi, beyond, start, counts)
    indptr = _parts.running(counts, idx)
    total = int(indptr[-1])
    indices, x, y = (empty(total, dtype=t, device=a.device) for t in (idx, dtype, dtype))
    av, bv = (m.data.astype(dtype, copy=False) for m in (a, b))
    _kernels.merge_fill(ap, ai, av, bp, bi, bv, beyond, start, _parts.zero_of(dtype), indptr, indices, x, y)
    return indptr, indices, x, y


# ---- products by element ----


def _spread(a, shape):
    """The elements of a, which is broadcast from one or two axes to a shape of two: rows, columns and data."""
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
    """a @ b of two sparse matrices, in a's format."""
    column = b.ndim == 1
    if column:
        b = b.reshape(1, b.shape[0]).T
    b = b.asformat(a._format)
    left, right = a._swap((a, b))
    dtype = numpy.result_type(a.dtype, b.dtype)
    shape = a._shape2[0], b._shape2[1]
    if a.device.host and right._lines[1] <= TABLE:
        arrays = _by_rows(left, right, dtype)
        r = type(a)._from(arrays[0], arrays[1], arrays[2], shape)
    else:
        r = type(a)._of_sorted(*_by_sorting(left, right, dtype), shape)
    if a.ndim == 1 and column:
        return r.data.sum() if r.data.size else zeros((), dtype=dtype, device=a.device)
    if a.ndim == 2 and not column:
        return r
    return r.reshape((shape[0],) if column else (shape[1],))


TABLE = 1 << 25  # numbers in the tables of all pieces together


def _by_rows(left, right, dtype):
    """The product by rows, on a CPU. Each piece of rows has a table of all columns. Returns the product's data, indices
    and indptr."""
    lines, across = left._lines[0], right._lines[1]
    idx = _parts.index_dtype(left.data.size, right.data.size, lines, across)
    pieces = max(min(left.device.units, TABLE // max(across, 1), lines), 1)
    ap, ai, bp, bi = (x.astype(idx, copy=False) for x in (left._indptr, left._indices, right._indptr, right._indices))
    table, counts = (
        full((pieces, across), -1, dtype=idx, device=left.device),
        empty(lines, dtype=idx, device=left.device),
    )
    if lines:
        _kernels.product_count(ap, ai, bp, bi, table, counts)
    indptr = _parts.running(counts.astype("int64"), "int64")
    total = int(indptr[-1])
    indptr = indptr.astype(_parts.index_dtype(total, lines, across))
    indices, data = empty(total, dtype=indptr.dtype, device=left.device), empty(total, dtype=dtype, device=left.device)
    if total:
        table = full((pieces, across), -1, dtype=indptr.dtype, device=left.device)
        av, bv = (m.data.astype(dtype, copy=False) for m in (left, right))
        _kernels.product_fill(ap, ai, av, bp, bi, bv, table, indptr, indices, data)
    return data, indices, indptr


def _by_sorting(left, right, dtype):
    """The product by sorting: all products of two elements, sorted by their place and added up. The sort keeps the
    order of the sum within a place."""
    lines, between = left._lines[0], right._lines[1]
    lengths = right._indptr[1:] - right._indptr[:-1]
    at, element = _parts.ranges(_parts.gather(right._indptr, left._indices), _parts.gather(lengths, left._indices))
    major = _parts.gather(left._majors(), element)
    data = _parts.gather(left.data, element).astype(dtype) * _parts.gather(right.data, at).astype(dtype)
    return _parts.sorted_summed(major, _parts.gather(right._indices, at), data, (lines, between))


def power(a, n):
    """The n-th power of a square matrix. Raises ValueError unless n is a non-negative integer."""
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise TypeError("sparse matrix is not square")
    if not isinstance(n, (int, numpy.integer)) or n < 0:
        raise ValueError(f"exponent must be >= 0, not {n!r}")
    if n == 0:
        ones = td.ones((1, a.shape[0]), dtype=a.dtype, device=a.device)
        return a._class("dia")((ones, numpy.array([0])), shape=a.shape)
    r = None
    while True:
        if n & 1:
            r = a.copy() if r is None else r @ a
        n >>= 1
        if not n:
            return r
        a = a @ a


def selection(idx, n, dtype):
    """A CSR matrix of ones with n rows and len(idx) columns. The one of column j is in row idx[j]."""
    order = _parts.order_of(idx, n)
    indptr = _parts.pointers(_parts.gather(idx, order), n, order.dtype)
    ones = td.ones(idx.size, dtype=dtype, device=idx.device)
    return CLASSES["csr", False]._from(ones, order, indptr, (n, idx.size), canonical=True)
