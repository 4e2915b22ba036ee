"""Subscripts of compressed matrices. Reading returns a matrix, or a number for a single element. Writing changes the
matrix itself."""

import numpy

import treadle as td

from ..._core import arange, asarray, ndarray, zeros
from . import _parts
from ._arith import selection
from ._base import Sparse
from ._kinds import is_scipys
from ._operators import warn_slow

FULL = slice(None)


def _is_int(x):
    return isinstance(x, (int, numpy.integer)) and not isinstance(x, (bool, numpy.bool_))


class Key:
    """A parsed subscript: rows and columns, each an int, a slice or an array, and the shape of the selection."""

    def __init__(self, a, key):
        self.device = a.device
        items = list(key) if isinstance(key, tuple) else [key]
        items = self._without_dots([self._item(a, i) for i in items], a.ndim)
        self.shape, self.index, at, first, gaps = [], [], 0, None, 0
        arrays = []
        for item in items:
            if item is None:
                self.shape.append(1)
                continue
            if isinstance(item, ndarray) and item.dtype.kind == "b":
                if item.shape != a.shape[at : at + item.ndim]:
                    raise IndexError(f"bool index has shape {item.shape} instead of {a.shape[at : at + item.ndim]}")
                found = [asarray(x, device=a.device) for x in td.nonzero(item)]
            else:
                found = [item]
            for x in found:
                n = a.shape[at]
                at += 1
                if isinstance(x, slice):
                    self.index.append(x)
                    self.shape.append(len(range(*x.indices(n))))
                    gaps += first is not None and not arrays
                elif _is_int(x):
                    if not -n <= x < n:
                        raise IndexError(f"index ({x}) out of range")
                    self.index.append(int(x) % n)
                else:
                    self.index.append(_inside(x, n))
                    arrays.append(self.index[-1].shape)
                    first = len(self.shape) if first is None else first
        if arrays:
            try:
                both = numpy.broadcast_shapes(*arrays)
            except ValueError:
                raise IndexError("shape mismatch: indexing arrays could not be broadcast together") from None
            self.shape[first:first] = both
        self.shape = tuple(self.shape)
        if len(self.shape) > 2:
            raise IndexError(f"Indexing that leads to >2D is not supported by {a.format} format.")

    def _item(self, a, item):
        if item is None or item is Ellipsis or isinstance(item, slice) or _is_int(item):
            return item
        if isinstance(item, Sparse) or is_scipys(item):
            if item.dtype != bool or item.shape != a.shape:
                raise IndexError(
                    "Indexing with sparse matrices is not supported except boolean indexing where matrix and index are "
                    "equal shapes."
                )
            return a._sparse_like(item).toarray()
        x = asarray(item, device=a.device)
        if not x.size and x.dtype.kind == "f":
            x = x.astype("int64")
        if x.dtype.kind not in "iub":
            raise IndexError(f"arrays used as indices must be of integer (or boolean) type, not {x.dtype}")
        return int(x) if x.ndim == 0 else x

    def _without_dots(self, items, ndim):
        used = sum(
            0 if i is None or i is Ellipsis else i.ndim if isinstance(i, ndarray) and i.dtype.kind == "b" else 1
            for i in items
        )
        if used > ndim:
            raise IndexError("Too many indices for array or tuple index out of range.")
        dots = [k for k, i in enumerate(items) if i is Ellipsis]
        if len(dots) > 1:
            raise IndexError("an index can only have a single ellipsis")
        at = dots[0] if dots else len(items)
        return items[:at] + [FULL] * (ndim - used) + items[at + 1 :]


def _inside(x, n):
    """The index array x of an axis of n, with negative indices counted from the end."""
    if x.ndim not in (1, 2):
        raise IndexError(f"Index dimension must be 1 or 2. Got {x.ndim}")
    x = x.astype("int64")
    if x.size:
        low, high = td.stack([x.min(), x.max()]).tolist()
        if high >= n or low < -n:
            raise IndexError(f"index ({high if high >= n else low}) out of range")
        if low < 0:
            x = td.where(x < 0, x + n, x)
    return x


class Indexing:
    """a[key] and a[key] = value of CSR and CSC."""

    def __getitem__(self, key):
        k = Key(self, key)
        a = self if self.ndim == 2 else self.reshape(1, self.shape[0]).tocsr()
        row, col = k.index if self.ndim == 2 else (0, *k.index)
        r = a._picked(row, col)
        if not isinstance(r, Sparse):
            if r.ndim == 0 and k.shape and self._is_array:
                return type(self)(r.reshape(k.shape))
            return r if not self._is_array or r.shape == k.shape else type(self)(r.reshape(k.shape))
        if not self._is_array:
            shape = k.shape if len(k.shape) == 2 else r.shape if None not in _as_tuple(key) else (1, *k.shape)
        else:
            shape = k.shape
        if r.shape == shape:
            return r
        r = r.reshape(shape)
        return r.asformat(self.format) if len(shape) == self.ndim else r

    def _picked(self, row, col):
        """The selected elements of rows and columns: a number, an array (of a matrix: a row with two axes), or a
        matrix."""
        if _is_int(row) and _is_int(col):
            return self._samples(*(asarray([x], device=self.device) for x in (row, col))).reshape(())
        arrays = [isinstance(x, ndarray) for x in (row, col)]
        if all(arrays) and not (row.ndim == 2 and row.shape[1] == 1 and (col.ndim == 1 or col.shape[0] == 1)):
            row, col = td.broadcast_arrays(row, col)
            if not row.size:
                return type(self)((1, *row.shape)[-2:], dtype=self.dtype, device=self.device)
            r = self._samples(row.reshape(-1), col.reshape(-1))
            return (
                (r.reshape(1, -1) if not self._is_array else r) if row.ndim == 1 else type(self)(r.reshape(row.shape))
            )
        if any(x.ndim > 1 for x, array in zip((row, col), arrays, strict=True) if array) and not all(arrays):
            raise IndexError("index results in >2 dimensions")
        parts = [
            x.reshape(-1) if array else slice(x, x + 1) if _is_int(x) else x
            for x, array in zip((row, col), arrays, strict=True)
        ]
        major, minor = self._swap(parts)
        return self._some_major(major)._some_minor(minor)

    def _getrow(self, i):
        return self._line(i, 0)

    def _getcol(self, j):
        return self._line(j, 1)

    def _line(self, i, axis):
        n = self.shape[axis]
        if not -n <= i < n:
            raise IndexError(f"index ({i}) out of range")
        cut = slice(int(i) % n, int(i) % n + 1)
        return self._picked(cut, FULL) if axis == 0 else self._picked(FULL, cut)

    def _found(self, row, col):
        """The positions of elements in the data of this matrix, which is in canonical format, and whether they exist.
        """
        major, minor = self._swap((row, col))
        n = self._lines[1]
        keys, wanted = self._majors().astype("int64") * n + self._indices, major.astype("int64") * n + minor
        at = td.searchsorted(keys, wanted)
        inside = td.minimum(at, max(keys.size - 1, 0))
        if not keys.size:
            return inside, wanted < 0
        return inside, _parts.gather(keys, inside) == wanted

    def _samples(self, row, col):
        """The elements at pairs of indices, as an array."""
        a = self._canonical_form()
        if not a.data.size:
            return zeros(row.shape, dtype=self.dtype, device=self.device)
        at, there = a._found(row, col)
        return td.where(there, _parts.gather(a.data, at), self.dtype.type(0))

    def _some_major(self, index):
        lines, across = self._lines
        if isinstance(index, slice):
            if index == FULL:
                return self
            start, stop, step = index.indices(lines)
            index = arange(start, stop, step, dtype="int64", device=self.device)
        starts = _parts.gather(self._indptr, index)
        lengths = _parts.gather(self._indptr, index + 1) - starts
        at, _ = _parts.ranges(starts, lengths)
        idx = self._indices.dtype if at.size <= _parts.INT32_MAX else numpy.dtype("int64")
        indptr, shape = _parts.running(lengths, idx), self._swap((index.size, across))
        return self._from(
            _parts.gather(self.data, at), _parts.gather(self._indices, at).astype(idx), indptr, shape, self
        )

    def _some_minor(self, index):
        lines, across = self._lines
        if isinstance(index, slice):
            if index == FULL:
                return self.copy()
            start, stop, step = index.indices(across)
            if step == 1:
                at = _parts.places((self._indices >= start) & (self._indices < stop))
                major = _parts.gather(self._majors(), at)
                indptr = _parts.pointers(major, lines, self._indptr.dtype)
                indices = _parts.gather(self._indices, at) - start
                shape = self._swap((lines, max(stop - start, 0)))
                return self._from(_parts.gather(self.data, at), indices, indptr, shape, self)
            index = arange(start, stop, step, dtype="int64", device=self.device)
        if not index.size:
            return type(self)(self._swap((lines, 0)), dtype=self.dtype, device=self.device)
        by_rows = self if self._format == "csr" else self.T
        r = by_rows @ selection(index, across, self.dtype)
        return r if self._format == "csr" else r.T

    # ---- writing ----

    def __setitem__(self, key, value):
        k = Key(self, key)
        row, col = k.index if self.ndim == 2 else (0, *k.index)
        if isinstance(row, ndarray) and isinstance(col, ndarray):
            row, col = td.broadcast_arrays(row, col)
        else:
            row, col = (_line_of(x, n, self.device) for x, n in zip((row, col), self._shape2, strict=True))
            row, col = td.broadcast_arrays(row.reshape(-1, 1), col.reshape(1, -1))
        if not row.size:
            return
        self.sum_duplicates()
        sparse = self._sparse_like(value)
        if sparse is not None:
            return self._set_sparse(row, col, sparse)
        x = self._dense_like(value).astype(self.dtype)
        if x.size == 1:
            x = td.broadcast_to(x.reshape(()), row.shape)
        elif tuple(n for n in x.shape if n != 1) == tuple(n for n in row.shape if n != 1):
            x = x.reshape(row.shape)
        else:
            x = td.broadcast_to(x, row.shape)
        self._set(row.reshape(-1), col.reshape(-1), td.ascontiguousarray(x).reshape(-1))

    def _set_sparse(self, row, col, value):
        """Write a sparse value. Elements of this matrix that the value lacks become zeros."""
        shape = row.shape if row.ndim == 2 else (1, *row.shape)
        try:
            dense = td.broadcast_to(value.toarray().reshape(value._shape2), shape).reshape(-1).astype(self.dtype)
        except ValueError:
            raise ValueError("shape mismatch in assignment") from None
        row, col = row.reshape(-1), col.reshape(-1)
        _, there = self._found(row, col)
        at = _parts.places(there | (dense != 0))
        if at.size:
            self._set(_parts.gather(row, at), _parts.gather(col, at), _parts.gather(td.ascontiguousarray(dense), at))

    def _set(self, row, col, values):
        """Write values at pairs of indices. If a pair occurs several times, its last value counts. This matrix is in
        canonical format."""
        _, there = self._found(row, col)
        if not bool(there.all()):
            warn_slow(
                f"Changing the sparsity structure of a {type(self).__name__} is expensive. lil and dok are more "
                "efficient."
            )
        new = self._swap((row, col))
        idx = self._indices.dtype
        major, minor = (
            _parts.join(x, y.astype(idx)) for x, y in zip((self._majors(), self._indices), new, strict=True)
        )
        data = _parts.join(self.data, values)
        order = _parts.order_of_pairs(major, minor, self._lines)
        major, minor = _parts.gather(major, order), _parts.gather(minor, order)
        last = _parts.join(_parts.starts_run(major, minor)[1:], asarray([True], device=self.device))
        at = _parts.places(last)
        self._replace(_parts.gather(major, at), _parts.gather(minor, at), _parts.gather(data, _parts.gather(order, at)))

    def _replace(self, major, minor, data):
        a = self._of_sorted(major, minor, data, self._shape)
        self._take(a.data, a._indices, a._indptr, self._shape, a)

    def setdiag(self, values, k=0):
        """Write values, an array or a number, to the k-th diagonal of this matrix. Raises ValueError if it has none."""
        a = self.tocoo(copy=False)
        a.sum_duplicates()
        a.setdiag(values, k)
        a = a.asformat(self._format)
        self._take(a.data, a._indices, a._indptr, self._shape, a)


def _as_tuple(key):
    return tuple(x for x in (key if isinstance(key, tuple) else (key,)) if x is None)


def _line_of(x, n, device):
    """The indices that an item of a subscript selects, as an array."""
    if isinstance(x, slice):
        return arange(*x.indices(n), dtype="int64", device=device)
    return asarray([x], device=device) if _is_int(x) else x.reshape(-1)
