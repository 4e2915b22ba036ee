"""Diagonals (DIA): data[d, j] is the element in column j of the diagonal offsets[d]."""

import numpy

import treadle as td

from ..._core import arange, asarray, empty, ndarray, zeros
from . import _kernels, _parts
from ._base import Sparse, register, shape_of, sparray, spmatrix
from ._kinds import is_scipys
from ._reduce import Sums


class _dia(Sums, Sparse):
    """arg1: a dense array, a sparse matrix (SciPy's, too), a shape, or (data, offsets) with shape. dtype: of the
    data; copy: not to share arrays with arg1; device: where it goes, where arg1 is not on one. ValueError: an offset
    occurs twice.
    """

    _format = "dia"

    def __init__(self, arg1, shape=None, dtype=None, copy=False, *, maxprint=None, device=None):
        if isinstance(arg1, Sparse) or is_scipys(arg1):
            a = arg1.todia()
            put = self._putter(arg1, copy, device)
            self._take(put(a.data), put(a.offsets), a.shape)
        elif isinstance(arg1, tuple) and len(arg1) == 2 and not all(isinstance(n, (int, numpy.integer)) for n in arg1):
            if shape is None:
                raise ValueError("expected a shape argument")
            self._from_diagonals(*arg1, shape_of(shape), dtype, copy, device)
        elif isinstance(arg1, tuple):
            shape = shape_of(arg1)
            none = zeros(0, dtype=_parts.index_dtype(*shape), device=device)
            self._take(zeros((0, 0), dtype=dtype or "float64", device=device), none, shape)
        else:
            a = self._class("coo")(arg1, shape=shape, dtype=dtype, device=device).todia()
            self._take(a.data, a.offsets, a.shape)
        self._cast(dtype)

    def _from_diagonals(self, data, offsets, shape, dtype, copy, device):
        given = [x.device for x in (data, offsets) if isinstance(x, ndarray)]
        device = given[0] if given else device
        data = td.atleast_2d(asarray(data, dtype, device=device))
        at = numpy.atleast_1d(td.asnumpy(offsets))
        if at.ndim != 1:
            raise ValueError("offsets array must have rank 1")
        if data.ndim != 2:
            raise ValueError("data array must have rank 2")
        if len(at) != data.shape[0]:
            raise ValueError(f"number of diagonals ({data.shape[0]}) does not match the number of offsets ({len(at)})")
        if len(numpy.unique(at)) != len(at):
            raise ValueError("offset array contains duplicate values")
        self._take(data.copy() if copy else data, asarray(at, _parts.index_dtype(*shape), device=device), shape)

    def _take(self, data, offsets, shape):
        self.data, self.offsets, self._shape = data, offsets, tuple(shape)

    @classmethod
    def _from(cls, data, offsets, shape):
        """A matrix of these arrays, which are known to fit."""
        a = cls.__new__(cls)
        a._take(data, offsets, shape)
        return a

    def _with_data(self, data):
        return self._from(data, self.offsets.copy(), self._shape)

    def _mask(self):
        """Which places of data lie inside of the matrix."""
        rows, columns = self._shape
        col = arange(self.data.shape[1], dtype="int64", device=self.device)
        row = col - self.offsets.astype("int64")[:, None]
        return (row >= 0) & (row < rows) & (col < columns)

    def _getnnz(self, axis=None):
        if axis is not None:
            raise NotImplementedError("getnnz over an axis is not implemented for DIA format")
        rows, columns = self._shape
        offsets, length = self.offsets.get(), min(self.data.shape[1], columns)
        return int(numpy.maximum(numpy.minimum(rows + offsets, length) - numpy.maximum(offsets, 0), 0).sum())

    def count_nonzero(self, axis=None):
        """The number of nonzero elements, over all axes only."""
        if axis is not None:
            raise NotImplementedError("count_nonzero over an axis is not implemented for DIA format")
        return ((self.data != 0) & self._mask()).sum()

    def tocoo(self, copy=False):
        """The nonzero elements, diagonal by diagonal."""
        n, length = self.data.shape
        at = _parts.places((self._mask() & (self.data != 0)).reshape(-1))
        idx = _parts.index_dtype(*self._shape)
        col = (at % length if length else at).astype(idx)
        row = col - _parts.gather(self.offsets, at // length if length else at)
        data = _parts.gather(td.ascontiguousarray(self.data).reshape(n * length), at)
        return self._class("coo")._from(data, (row.astype(idx), col), self._shape)

    def tocsr(self, copy=False):
        return self.tocoo().tocsr()

    def todia(self, copy=False):
        return self.copy() if copy else self

    def transpose(self, axes=None, copy=False):
        """The transpose: diagonal k becomes diagonal -k, and its elements move to their new columns."""
        if axes is not None and tuple(axes) != (1, 0):
            raise ValueError("Sparse arrays/matrices do not support an 'axes' parameter")
        rows, columns = self._shape
        n, length = self.data.shape
        at = arange(rows, dtype="int64", device=self.device) + self.offsets.astype("int64")[:, None]
        inside = (at >= 0) & (at < min(length, columns))
        line = arange(n, dtype="int64", device=self.device)[:, None]
        flat = td.ascontiguousarray(self.data).reshape(n * length)
        if not flat.size:
            data = zeros((n, rows), dtype=self.dtype, device=self.device)
        else:
            places = td.where(inside, line * length + at, 0).reshape(-1)
            data = td.where(inside, _parts.gather(flat, places).reshape(n, rows), self.dtype.type(0))
        return self._from(data, -self.offsets, (columns, rows))

    def diagonal(self, k=0):
        """The k-th diagonal, dense."""
        return super().diagonal(k) if self.data.size else zeros(self._length(k), dtype=self.dtype, device=self.device)

    def _length(self, k):
        rows, columns = self._shape
        return max(min(rows + min(k, 0), columns - max(k, 0)), 0)

    def setdiag(self, values, k=0):
        """Write values, an array or a number, to the k-th diagonal of this matrix. Raises ValueError if it has none."""
        a = self.tocoo()
        a.setdiag(values, k)
        a = a.todia()
        self._take(a.data, a.offsets, a.shape)

    def resize(self, *shape):
        """Change the shape of this matrix. Elements outside of it are dropped."""
        a = self.tocoo()
        a.resize(*shape)
        a = a.todia()
        self._take(a.data, a.offsets, a.shape)

    def _combined(self, other, f):
        r = super()._combined(other, f)
        return r.todia() if other.format == "dia" else r

    def _times_vector(self, x):
        dtype = numpy.result_type(self.dtype, x.dtype)
        y = empty(self._shape[0], dtype=dtype, device=self.device)
        if y.size:
            data, x = (td.ascontiguousarray(v.astype(dtype, copy=False)) for v in (self.data, x))
            _kernels.diagonal_products(self.offsets, data, x, y, _parts.zero_of(dtype))
        return y


def of_coo(a):
    """The DIA form of a COO matrix."""
    if a.ndim != 2:
        raise ValueError(f"Cannot convert. DIA format must be 2D. Got {a.ndim}D")
    a.sum_duplicates()
    rows, columns = a.shape
    cls, idx = a._class("dia"), _parts.index_dtype(*a.shape)
    if not a.data.size:
        return cls(a.shape, dtype=a.dtype, device=a.device)
    key = (a.col.astype("int64") - a.row) + (rows - 1)
    used = _parts.places(_parts.counts(key, rows + columns) != 0)
    line = td.searchsorted(used, key)
    length = int(a.col.max()) + 1
    data = _parts.scattered(line * length + a.col, a.data, used.size * length)
    return cls._from(data.reshape(used.size, length), (used - (rows - 1)).astype(idx), a.shape)


@register
class dia_matrix(spmatrix, _dia):
    __doc__ = f"A matrix of diagonals.\n\n    {_dia.__doc__}"


@register
class dia_array(_dia, sparray):
    __doc__ = f"An array of diagonals.\n\n    {_dia.__doc__}"
