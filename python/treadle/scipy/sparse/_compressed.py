"""Compressed rows (CSR) and columns (CSC): three arrays on a device. Programs may read and replace them.

data and indices hold the elements, one major line after another. indptr says where each line begins. The major lines
are the rows of CSR and the columns of CSC; _swap exchanges a pair (rows, columns) into the order (major, minor). What
is known about the order of indices stays valid until a program assigns indices or indptr.
"""

import numpy

import treadle as td

from ..._core import asarray, empty, ndarray, zeros
from . import _kernels, _parts
from ._arith import combined, product
from ._base import Sparse, register, shape_of, sparray, spmatrix
from ._index import Indexing
from ._kinds import CLASSES, is_scipys
from ._reduce import Reductions

WIDTHS = (32, 16, 8, 4, 2)  # threads of a warp that share a row of about that many elements


class Compressed(Reductions, Indexing, Sparse):
    """The base of CSR and CSC.

    arg1: a dense array, a sparse matrix (SciPy's, too), a shape, (data, (row, col)), or (data, indices, indptr). dtype:
    the dtype of the data. copy: do not share arrays with arg1. device: where the matrix lies, if arg1 is on no device.
    Raises ValueError if the arrays do not fit each other.
    """

    _sorted = _canonical = None

    def __init__(self, arg1, shape=None, dtype=None, copy=False, *, maxprint=None, device=None):
        if isinstance(arg1, Sparse):
            a = arg1.asformat(self._format)
            self._take(a.data, a.indices, a.indptr, a.shape, a)
            if copy and a is arg1:
                self._take(a.data.copy(), a.indices.copy(), a.indptr.copy(), a.shape, a)
            if shape is not None:
                self._shape = shape_of(shape, self._ndims)
        elif is_scipys(arg1):
            a = arg1.asformat(self._format)
            arrays = (asarray(x, device=device) for x in (a.data, a.indices, a.indptr))
            self._take(*arrays, tuple(a.shape))
        elif isinstance(arg1, tuple) and len(arg1) == 3:
            self._from_arrays(*arg1, shape, dtype, copy, device)
        elif isinstance(arg1, tuple) and not (len(arg1) == 2 and hasattr(arg1[1], "__len__")):
            self._empty(shape_of(arg1, self._ndims), dtype, device)
        else:
            a = self._class("coo")(arg1, shape=shape, dtype=dtype, device=device)
            if a.ndim not in self._ndims:
                raise ValueError(f"{self._format.upper()} arrays don't support {a.ndim}D input. Use 2D")
            a = a.asformat(self._format)
            self._take(a.data, a.indices, a.indptr, a.shape, a)
        self._cast(dtype)

    def _empty(self, shape, dtype, device):
        two = shape if len(shape) == 2 else (1, *shape)
        idx = _parts.index_dtype(*shape)
        major = self._swap(two)[0]
        self._take(
            zeros(0, dtype=dtype or "float64", device=device),
            zeros(0, dtype=idx, device=device),
            zeros(major + 1, dtype=idx, device=device),
            shape,
        )
        self._sorted = self._canonical = True

    def _from_arrays(self, data, indices, indptr, shape, dtype, copy, device):
        given = [x.device for x in (data, indices, indptr) if isinstance(x, ndarray)]
        device = given[0] if given else device
        data = asarray(data, dtype, device=device)
        indices, indptr = (asarray(x, device=device) for x in (indices, indptr))
        if not data.ndim == indices.ndim == indptr.ndim == 1:
            raise ValueError("data, indices, and indptr should be 1-D")
        if len(indices) != len(data):
            raise ValueError("indices and data should have the same size")
        ends = indptr[td.asarray([0, -1], device=device)].tolist() if indptr.size else [0, 0]
        if shape is None:
            lines, last = indptr.size - 1, int(indices.max()) + 1 if indices.size else 0
            if lines < 0 or not indices.size:
                raise ValueError("unable to infer matrix dimensions")
            shape = self._swap((lines, last))
        shape = shape_of(shape, self._ndims)
        major = self._swap(shape if len(shape) == 2 else (1, *shape))[0]
        if indptr.size != major + 1:
            raise ValueError(f"index pointer size {indptr.size} should be {major + 1}")
        if ends[0] != 0:
            raise ValueError("index pointer should start with 0")
        if ends[1] > indices.size:
            raise ValueError("Last value of index pointer should be less than the size of index and data arrays")
        idx = _parts.index_dtype(indices.size, *shape)
        if self._is_array:
            idx = numpy.result_type(idx, *(x.dtype for x in (indices, indptr) if x.dtype.kind == "i"))
        if ends[1] < indices.size:
            data, indices = data[: ends[1]].copy(), indices[: ends[1]]
        arrays = indices.astype(idx, copy=copy), indptr.astype(idx, copy=copy)
        self._take(data.copy() if copy else data, *arrays, shape)

    def _take(self, data, indices, indptr, shape, like=None):
        """Store these arrays, which are known to fit. like: a matrix with elements at the same places."""
        self.data, self._indices, self._indptr, self._shape = data, indices, indptr, tuple(shape)
        self._sorted, self._canonical = (like._sorted, like._canonical) if like is not None else (None, None)

    @classmethod
    def _from(cls, data, indices, indptr, shape, like=None, canonical=None):
        """A matrix of these arrays, which are known to fit."""
        a = cls.__new__(cls)
        a._take(data, indices, indptr, shape, like)
        if canonical is not None:
            a._sorted = a._canonical = canonical
        return a

    @classmethod
    def _of_sorted(cls, major, minor, data, shape):
        """A matrix of elements that are sorted and have no place twice."""
        rows, columns = shape if len(shape) == 2 else (1, *shape)
        idx = _parts.index_dtype(rows, columns, data.size)
        indptr = _parts.pointers(major, cls._swap((rows, columns))[0], idx)
        return cls._from(data, minor.astype(idx, copy=False), indptr, shape, canonical=True)

    @classmethod
    def _of_pairs(cls, major, minor, data, shape):
        """A matrix of elements in any order. Those at the same place are added up."""
        two = shape if len(shape) == 2 else (1, *shape)
        return cls._of_sorted(*_parts.sorted_summed(major, minor, data, cls._swap(two)), shape)

    def _with_data(self, data):
        return self._from(data, self._indices.copy(), self._indptr.copy(), self._shape, self)

    # ---- its arrays ----

    @property
    def indices(self):
        return self._indices

    @indices.setter
    def indices(self, value):
        self._indices = asarray(value, device=self.device)
        self._sorted = self._canonical = None

    @property
    def indptr(self):
        return self._indptr

    @indptr.setter
    def indptr(self, value):
        self._indptr = asarray(value, device=self.device)
        self._sorted = self._canonical = None

    @property
    def _lines(self):
        """The number of major lines, and the extent of each."""
        return self._swap(self._shape2)

    def _majors(self):
        """The major index of each element."""
        return _parts.expanded(self._indptr, self._indices.size, self._indices.dtype)

    @property
    def has_sorted_indices(self):
        """Whether the minor indices of every line ascend. They may repeat."""
        if self._sorted is None:
            self._look()
        return self._sorted

    @has_sorted_indices.setter
    def has_sorted_indices(self, value):
        self._sorted = bool(value)

    @property
    def has_canonical_format(self):
        """Whether the minor indices of every line ascend without repeats."""
        if self._sorted is False:
            return False
        if self._canonical is None:
            self._look()
        return self._canonical

    @has_canonical_format.setter
    def has_canonical_format(self, value):
        self._canonical = bool(value)
        if value:
            self._sorted = True

    def _look(self):
        """Find out what is not known about the order. This fetches one array of two answers."""
        if self._indices.size < 2:
            self._sorted = self._canonical = True
            return
        major, minor = self._majors(), self._indices
        new = major[1:] != major[:-1]
        sorts = (new | (minor[1:] >= minor[:-1])).all()
        distinct = (new | (minor[1:] > minor[:-1])).all()
        self._sorted, self._canonical = td.stack([sorts, distinct]).tolist()

    def _getnnz(self, axis=None):
        if axis is None:
            return self._indices.size
        axis = self._axis(axis)
        if axis is None:
            return self._indices.size
        if axis == self._swap((0, 1))[0]:
            return _parts.counts(self._indices, self._lines[1])
        return self._indptr[1:] - self._indptr[:-1]

    # ---- order ----

    def sort_indices(self):
        """Sort every line's elements, in place."""
        if self.has_sorted_indices:
            return
        order = _parts.order_of_pairs(self._majors(), self._indices, self._lines)
        self._indices, self.data = _parts.gather(self._indices, order), _parts.gather(self.data, order)
        self._sorted, self._canonical = True, None

    def sorted_indices(self):
        """A copy with sorted indices."""
        a = self.copy()
        a.sort_indices()
        return a

    def sum_duplicates(self):
        """Add up the elements at the same place, in this matrix."""
        if self.has_canonical_format:
            return
        self.sort_indices()
        major, minor, data = _parts.summed(self._majors(), self._indices, self.data)
        self._take(data, minor, _parts.pointers(major, self._lines[0], self._indptr.dtype), self._shape)
        self._sorted = self._canonical = True

    def _canonical_form(self):
        """This matrix, or a copy of it, with sorted indices and without duplicates."""
        if self.has_canonical_format:
            return self
        a = self._from(self.data, self._indices, self._indptr, self._shape)
        a.sum_duplicates()
        return a

    def eliminate_zeros(self):
        """Remove stored zeros, in this matrix."""
        self._keep(self.data != 0)

    def _keep(self, mask):
        at = _parts.places(mask)
        if at.size == self.data.size:
            return
        major = _parts.gather(self._majors(), at)
        known = self._sorted, self._canonical
        self._take(
            _parts.gather(self.data, at),
            _parts.gather(self._indices, at),
            _parts.pointers(major, self._lines[0], self._indptr.dtype),
            self._shape,
        )
        self._sorted, self._canonical = known

    def _without_zeros(self):
        """This matrix without stored zeros."""
        self.eliminate_zeros()
        return self

    def prune(self):
        """Does nothing: arrays never have room after the elements."""

    def check_format(self, full_check=True):
        """Raise ValueError if, with full_check, an index lies outside of the matrix or indptr descends."""
        if self._indptr.size != self._lines[0] + 1:
            raise ValueError(f"index pointer size {self._indptr.size} should be {self._lines[0] + 1}")
        if full_check and self._indices.size:
            if int(self._indices.max()) >= self._lines[1]:
                raise ValueError(f"indices must be < {self._lines[1]}")
            if int(self._indices.min()) < 0:
                raise ValueError("indices must be >= 0")
            if int((self._indptr[1:] - self._indptr[:-1]).min()) < 0:
                raise ValueError("indptr must be a non-decreasing sequence")

    def resize(self, *shape):
        """Change the shape of this matrix. Elements outside of it are dropped."""
        shape = shape_of(shape[0] if len(shape) == 1 else shape, self._ndims)
        a = self.tocoo()
        a.resize(shape)
        a = a.asformat(self._format)
        self._take(a.data, a._indices, a._indptr, shape, a)

    # ---- conversion ----

    def tocoo(self, copy=True):
        coords = self._swap((self._majors(), self._indices.copy() if copy else self._indices))
        data = self.data.copy() if copy else self.data
        return self._class("coo")._from(
            data, coords[2 - self.ndim :], self._shape, self._format == "csr" and bool(self._canonical)
        )

    def _other(self, fmt):
        """The CSC of a CSR matrix and the other way round, by a stable sort by minor index."""
        major, minor = self._majors(), self._indices
        order = _parts.order_of(minor, self._lines[1])
        indptr = _parts.pointers(_parts.gather(minor, order), self._lines[1], self._indptr.dtype)
        a = self._class(fmt)._from(_parts.gather(self.data, order), _parts.gather(major, order), indptr, self._shape)
        a._sorted = True  # lines were read in order
        a._canonical = True if self._canonical else None
        return a

    def transpose(self, axes=None, copy=False):
        """The transpose: rows become columns. A CSR matrix becomes a CSC one on the same arrays, and the other way
        round."""
        if axes is not None and tuple(axes) != (1, 0) and self.ndim == 2:
            raise ValueError("Sparse matrices do not support an 'axes' parameter because swapping dimensions is the "
                             "only logical permutation.")  # fmt: skip
        if self.ndim == 1:
            return self.copy() if copy else self
        arrays = self.data, self._indices, self._indptr
        arrays = tuple(x.copy() for x in arrays) if copy else arrays
        return self._class("csc" if self._format == "csr" else "csr")._from(*arrays, self._shape[::-1], self)

    def _dense(self):
        a = self._canonical_form()
        rows, columns = self._lines
        flat = _parts.scattered(a._majors().astype("int64") * columns + a._indices, a.data, rows * columns)
        return (flat.reshape(rows, columns) if self._format == "csr" else flat.reshape(rows, columns).T).reshape(
            self._shape
        )

    # ---- element by element ----

    def _mapped(self, f):
        """f of the data, in canonical format. Zeros among the results are dropped."""
        self.sum_duplicates()
        a = self._with_data(f(self.data))
        a.eliminate_zeros()
        return a

    def _complement(self, other):
        """Ones where other, a matrix of bools, has no element."""
        return type(self)(~other.toarray())

    def _combined(self, other, f):
        """f of this matrix and other, where either has an element. Zeros among the results are dropped."""
        return combined(self, other.asformat(self._format), f)

    # ---- products ----

    def _row_products(self, x, dtype):
        """The product of this matrix, read as one of compressed rows, with the vector x."""
        y = empty(self._indptr.size - 1, dtype=dtype, device=self.device)
        if not y.size:
            return y
        data, x = self.data.astype(dtype, copy=False), td.ascontiguousarray(x.astype(dtype, copy=False))
        args = self._indptr, self._indices, data, x, y
        if self.device.host:
            _kernels.row_products_cpu(*args, _parts.pieces(data, y.size))
            return y
        mean = self._indices.size / y.size
        width = next((w for w in WIDTHS if w <= mean), 1) if dtype.kind != "b" else 1
        if width == 1:
            _kernels.row_products(*args, _parts.zero_of(dtype))
        else:
            _kernels.group_products(width)[(y.size * width + 255) // 256, 256](*args, _parts.zero_of(dtype))
        return y

    def _times_sparse(self, other):
        return product(self, other)


def _times_rows(self, x):
    return self._row_products(x, numpy.result_type(self.dtype, x.dtype))


class _csr(Compressed):
    _format = "csr"
    _swap = staticmethod(lambda pair: tuple(pair))
    _times_vector = _times_rows

    def tocsr(self, copy=False):
        return self.copy() if copy else self

    def tocsc(self, copy=False):
        if self.ndim != 2:
            raise ValueError(f"Cannot convert a {self.ndim}d sparse array to csc format")
        return self._other("csc")

    def _times_matrix(self, x):
        dtype = numpy.result_type(self.dtype, x.dtype)
        y = empty((self._indptr.size - 1, x.shape[1]), dtype=dtype, device=self.device)
        if y.size:
            data, x = self.data.astype(dtype, copy=False), td.ascontiguousarray(x.astype(dtype, copy=False))
            _kernels.matrix_products(self._indptr, self._indices, data, x, y, _parts.zero_of(dtype))
        return y


class _csc(Compressed):
    _format = "csc"
    _swap = staticmethod(lambda pair: tuple(pair)[::-1])

    def tocsc(self, copy=False):
        return self.copy() if copy else self

    def tocsr(self, copy=False):
        return self._other("csr")

    def nonzero(self):
        """The row and column indices of the nonzero elements, row by row."""
        return self.tocsr().nonzero()

    def _times_vector(self, x):
        return self.tocoo(copy=False)._times_vector(x)


@register
class csr_matrix(spmatrix, _csr):
    __doc__ = f"A matrix of compressed rows.\n{Compressed.__doc__.split(chr(10), 1)[1]}"


@register
class csr_array(_csr, sparray):
    __doc__ = f"An array, of one axis or two, of compressed rows.\n{Compressed.__doc__.split(chr(10), 1)[1]}"
    _ndims = (1, 2)


@register
class csc_matrix(spmatrix, _csc):
    __doc__ = f"A matrix of compressed columns.\n{Compressed.__doc__.split(chr(10), 1)[1]}"


@register
class csc_array(_csc, sparray):
    __doc__ = f"An array of compressed columns.\n{Compressed.__doc__.split(chr(10), 1)[1]}"


def make_diagonal(data, is_array):
    """A CSR matrix with data on its diagonal."""
    n = data.size
    at = td.arange(n + 1, dtype=_parts.index_dtype(n), device=data.device)
    return CLASSES["csr", is_array]._from(data, at[:-1].copy(), at, (n, n), canonical=True)
