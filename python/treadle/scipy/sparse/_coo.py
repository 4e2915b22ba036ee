"""Coordinates (COO): an index array for each axis, and the elements, in any order. Elements at the same place count as
their sum."""

import numpy

import treadle as td

from ..._core import asarray, ndarray, zeros
from . import _kernels, _parts
from ._base import Sparse, register, shape_of, sparray, spmatrix
from ._dia import of_coo
from ._kinds import is_scipys
from ._reduce import Reductions


class _coo(Reductions, Sparse):
    """arg1: a dense array, a sparse matrix (SciPy's, too), a shape, or (data, (row, col)). dtype: of the data; copy:
    not to share arrays with arg1; device: where it goes, where arg1 is not on one. ValueError: an index lies outside
    of the shape.
    """

    _format = "coo"

    def __init__(self, arg1, shape=None, dtype=None, copy=False, *, maxprint=None, device=None):
        if isinstance(arg1, Sparse) or is_scipys(arg1):
            a = arg1.tocoo()
            put = self._putter(arg1, copy, device)
            self._take(put(a.data), tuple(put(c) for c in a.coords), a.shape, bool(a.has_canonical_format))
        elif isinstance(arg1, tuple) and len(arg1) == 2 and hasattr(arg1[1], "__len__"):
            self._from_pairs(*arg1, shape, dtype, copy, device)
        elif isinstance(arg1, tuple):
            shape = shape_of(arg1, self._ndims)
            idx = _parts.index_dtype(*shape)
            none = tuple(zeros(0, dtype=idx, device=device) for _ in shape)
            self._take(zeros(0, dtype=dtype or "float64", device=device), none, shape, True)
        else:
            self._from_dense(arg1, shape, dtype, device)
        self._cast(dtype)

    def _from_pairs(self, data, coords, shape, dtype, copy, device):
        given = [x.device for x in (data, *coords) if isinstance(x, ndarray)]
        device = given[0] if given else device
        data = td.atleast_1d(asarray(data, dtype, device=device))
        coords = [td.atleast_1d(asarray(c, device=device)) for c in coords]
        coords = [c if c.size or c.dtype.kind in "iu" else c.astype("int64") for c in coords]
        if any(c.shape != data.shape or c.ndim != 1 for c in coords):
            raise ValueError("all index and data arrays must have the same length")
        if shape is None and not data.size:
            raise ValueError("cannot infer dimensions from zero sized index arrays")
        ends = td.stack([m.astype("int64") for c in coords for m in (c.min(), c.max())]).tolist() if data.size else []
        shape = shape_of([n + 1 for n in ends[1::2]] if shape is None else shape, self._ndims)
        if len(coords) != len(shape):
            raise ValueError(f"mismatching number of index arrays for shape; got {len(coords)}, expected {len(shape)}")
        for axis, (low, high) in enumerate(zip(ends[::2], ends[1::2], strict=True)):
            if high >= shape[axis]:
                raise ValueError(f"axis {axis} index {high} exceeds matrix dimension {shape[axis]}")
            if low < 0:
                raise ValueError(f"negative axis {axis} index: {low}")
        idx = _parts.index_dtype(*shape)
        if self._is_array:
            idx = numpy.result_type(idx, *(c.dtype for c in coords if c.dtype.kind == "i" and c.size))
        data = data.copy() if copy else data
        self._take(data, tuple(c.astype(idx, copy=copy) for c in coords), shape, False)

    def _from_dense(self, arg1, shape, dtype, device):
        a = arg1 if isinstance(arg1, ndarray) else asarray(arg1, device=device)
        if not self._is_array:
            a = td.atleast_2d(a)
        elif a.ndim == 0:
            raise ValueError("sparse array classes do not support instantiation from a scalar")
        if a.ndim not in self._ndims:
            raise TypeError(f"expected {'1D or ' if self._is_array else ''}2D array or matrix, not {a.ndim}D")
        if shape is not None and shape_of(shape, self._ndims) != a.shape:
            raise ValueError(f"inconsistent shapes: {shape} != {a.shape}")
        flat = td.ascontiguousarray(a).reshape(-1)
        at, idx = _parts.places(flat != 0), _parts.index_dtype(*a.shape)
        coords = (at,) if a.ndim == 1 else (at // a.shape[1], at % a.shape[1]) if at.size else (at, at)
        data = _parts.gather(flat, at)
        self._take(data if dtype is None else data.astype(dtype), tuple(c.astype(idx) for c in coords), a.shape, True)

    def _take(self, data, coords, shape, canonical):
        self.data, self.coords, self._shape, self.has_canonical_format = data, tuple(coords), tuple(shape), canonical

    @classmethod
    def _from(cls, data, coords, shape, canonical=False):
        """A matrix of these arrays, which are known to fit."""
        a = cls.__new__(cls)
        a._take(data, coords, shape, canonical)
        return a

    def _with_data(self, data):
        return self._from(data, tuple(c.copy() for c in self.coords), self._shape, self.has_canonical_format)

    @property
    def row(self):
        return self.coords[-2] if self.ndim > 1 else td.zeros_like(self.coords[0])

    @row.setter
    def row(self, value):
        self.coords = (asarray(value, device=self.device).astype(self.coords[0].dtype), self.coords[1])

    @property
    def col(self):
        return self.coords[-1]

    @col.setter
    def col(self, value):
        self.coords = (*self.coords[:-1], asarray(value, device=self.device).astype(self.coords[-1].dtype))

    def _getnnz(self, axis=None):
        axis = None if axis is None else self._axis(axis)
        return self.data.size if axis is None else _parts.counts(self.coords[1 - axis], self._shape[1 - axis])

    def _reshaped(self, shape, order):
        rows, columns = self._shape2
        row, col = (c.astype("int64") for c in (self.row, self.col))
        flat = row * columns + col if order == "C" else col * rows + row
        m, n = shape if len(shape) == 2 else (1, *shape)
        step = n if order == "C" else m
        pair = (flat // step, flat % step) if step else (flat, flat)
        idx = _parts.index_dtype(*shape)
        pair = tuple(c.astype(idx) for c in (pair if order == "C" else pair[::-1]))
        return self._class("coo")._from(self.data, pair[2 - len(shape) :], shape)

    def resize(self, *shape):
        """Change the shape of this matrix. Elements outside of it are dropped."""
        shape = shape_of(shape[0] if len(shape) == 1 else shape, self._ndims)
        if len(shape) != self.ndim:
            raise ValueError("resize keeps the number of axes")
        if any(n < m for n, m in zip(shape, self._shape, strict=True)):
            inside = self.coords[0] < shape[0]
            for c, n in zip(self.coords[1:], shape[1:], strict=True):
                inside = inside & (c < n)
            at = _parts.places(inside)
            self.data = _parts.gather(self.data, at)
            self.coords = tuple(_parts.gather(c, at) for c in self.coords)
        self._shape = shape

    def transpose(self, axes=None, copy=False):
        """The transpose: the index arrays, exchanged."""
        if axes is not None and (len(axes) != self.ndim or len(set(axes)) != self.ndim):
            raise ValueError("axes don't match matrix dimensions")
        order = range(self.ndim)[::-1] if axes is None else axes
        data, coords = (self.data.copy(), [c.copy() for c in self.coords]) if copy else (self.data, self.coords)
        return self._from(data, tuple(coords[k] for k in order), tuple(self._shape[k] for k in order))

    def sum_duplicates(self):
        """Sort by row and column, and add up the elements at the same place, in this matrix."""
        if self.has_canonical_format:
            return
        row, col, data = _parts.sorted_summed(self.row, self.col, self.data, self._shape2)
        self._take(data, (row, col)[2 - self.ndim :], self._shape, True)

    def eliminate_zeros(self):
        """Remove stored zeros, in this matrix."""
        at = _parts.places(self.data != 0)
        coords = tuple(_parts.gather(c, at) for c in self.coords)
        self._take(_parts.gather(self.data, at), coords, self._shape, self.has_canonical_format)

    def setdiag(self, values, k=0):
        """Write values, an array or a number, to the k-th diagonal of this matrix. Raises ValueError if it has none."""
        rows, columns = self.shape
        if (k > 0 and k >= columns) or (k < 0 and -k >= rows):
            raise ValueError("k exceeds array dimensions")
        values = asarray(values, device=self.device)
        length = min(rows + min(k, 0), columns - max(k, 0))
        n = length if values.ndim == 0 else min(length, values.size)
        low = max(-k, 0)
        old = (self.col - self.row != k) | (self.row < low) | (self.row >= low + n)
        at, line = _parts.places(old), td.arange(n, dtype=self.row.dtype, device=self.device)
        new = td.broadcast_to(values.astype(self.dtype) if values.ndim == 0 else values[:n].astype(self.dtype), (n,))
        self._take(
            _parts.join(_parts.gather(self.data, at), new),
            (
                _parts.join(_parts.gather(self.row, at), line + low),
                _parts.join(_parts.gather(self.col, at), line + (low + k)),
            ),
            self._shape,
            False,
        )

    # ---- conversion ----

    def tocoo(self, copy=False):
        return self.copy() if copy else self

    def _compressed(self, fmt, major, minor):
        cls = self._class(fmt)
        if self.has_canonical_format and fmt == "csr":
            return cls._of_sorted(major, minor, self.data, self._shape)
        return cls._of_pairs(major, minor, self.data, self._shape)

    def tocsr(self, copy=False):
        return self._compressed("csr", self.row, self.col)

    def tocsc(self, copy=False):
        if self.ndim != 2:
            raise ValueError(f"Cannot convert. CSC format must be 2D. Got {self.ndim}D")
        return self._compressed("csc", self.col, self.row)

    def todia(self, copy=False):
        """The matrix in DIA format, which suits matrices with few diagonals."""
        return of_coo(self)

    # ---- products ----

    def _times_vector(self, x):
        dtype = numpy.result_type(self.dtype, x.dtype)
        on_gpu = not self.device.host
        if on_gpu and (dtype.kind == "c" or dtype.itemsize < 4 or td.config.deterministic):
            return self.tocsr()._times_vector(x)  # there is no atomic addition, or it has another order each time
        y = zeros(self._shape2[0], dtype=dtype, device=self.device)
        if not self.data.size:
            return y
        data, x = self.data.astype(dtype, copy=False), td.ascontiguousarray(x.astype(dtype, copy=False))
        if on_gpu:
            _kernels.atomic_products[(data.size + 255) // 256, 256](self.row, self.col, data, x, y)
        else:
            _kernels.scattered_products(self.row, self.col, data, x, y)
        return y


@register
class coo_matrix(spmatrix, _coo):
    __doc__ = f"A matrix of elements and their coordinates.\n\n    {_coo.__doc__}"


@register
class coo_array(_coo, sparray):
    __doc__ = f"An array, of one axis or two, of elements and their coordinates.\n\n    {_coo.__doc__}"
    _ndims = (1, 2)

    def __getitem__(self, key):
        r = self.tocsr()[key]
        return r.tocoo() if isinstance(r, Sparse) else r
