"""What sparse matrices and arrays of all formats share: the shape, conversions, and operators, which go through CSR.

``*`` is the matrix product of ``*_matrix`` classes and the elementwise product of ``*_array`` classes. Dense results
are treadle's arrays; they have two axes where SciPy returns a numpy.matrix. Single numbers are arrays without axes.
"""

import math
import operator

import numpy

import treadle as td

from ..._core import asarray, zeros
from . import _parts
from ._arith import power
from ._host import converted, to_scipy
from ._kinds import CLASSES, is_number, is_scipys
from ._operators import Operators


class sparray:
    """The base of ``*_array`` classes, whose ``*`` multiplies element by element."""


NAMES = {
    "csr": "Compressed Sparse Row",
    "csc": "Compressed Sparse Column",
    "coo": "COOrdinate",
    "dia": "DIAgonal",
    "bsr": "Block Sparse Row",
    "lil": "List of Lists",
    "dok": "Dictionary Of Keys",
}
MAXPRINT = 50

# Functions with f(0) = 0. Their methods change only the data.
KEEP_ZERO = (
    "sin tan arcsin arctan sinh tanh arcsinh arctanh rint sign expm1 log1p deg2rad rad2deg floor ceil trunc sqrt"
).split()


def register(cls):
    """Enter the class of a format into CLASSES."""
    CLASSES[cls._format, issubclass(cls, sparray)] = cls
    return cls


def shape_of(shape, ndims=(2,)):
    """A shape as a tuple of ints. Raises TypeError or ValueError if it is none, or has another number of axes."""
    shape = (shape,) if isinstance(shape, (int, numpy.integer)) else shape
    r = tuple(operator.index(n) for n in shape)
    if len(r) not in ndims:
        raise ValueError(f"shape must have length in {ndims}. Got shape={r}")
    if any(n < 0 for n in r):
        raise ValueError("'shape' elements cannot be negative")
    return r


class Sparse(Operators):
    """The base of all formats. A format defines tocoo or tocsr, transpose, copy, and whatever it does better than CSR.
    """

    _format = "und"
    _ndims = (2,)
    __array_priority__ = 10.1
    __hash__ = None

    # ---- what it is ----

    @property
    def shape(self):
        return self._shape

    @shape.setter
    def shape(self, shape):
        new = self.reshape(shape).asformat(self.format)
        self.__dict__ = new.__dict__

    @property
    def _shape2(self):
        """The shape with two axes. An array of one axis counts as a row."""
        return self._shape if len(self._shape) == 2 else (1, *self._shape)

    @property
    def ndim(self):
        return len(self._shape)

    @property
    def format(self):
        return self._format

    @property
    def dtype(self):
        return self.data.dtype

    @property
    def device(self):
        """The device that the arrays are on."""
        return self.data.device

    @property
    def nnz(self):
        """The number of stored elements, including stored zeros."""
        return self._getnnz()

    @property
    def size(self):
        return self._getnnz()

    @property
    def T(self):
        return self.transpose()

    @property
    def real(self):
        return self._with_data(self.data.real.copy())

    @property
    def imag(self):
        imag = self.data.imag if self.dtype.kind == "c" else td.zeros_like(self.data)
        return self._with_data(imag.copy())

    @property
    def _is_array(self):
        return isinstance(self, sparray)

    def _class(self, fmt):
        """The class of another format, also a matrix or an array as this one."""
        return CLASSES[fmt, self._is_array]

    def __repr__(self):
        kind = "array" if self._is_array else "matrix"
        diagonals = f" ({self.data.shape[0]} diagonals)" if self._format == "dia" else ""
        return (
            f"<{NAMES[self._format]} sparse {kind} of dtype '{self.dtype}'\n"
            f"\twith {self.nnz} stored elements{diagonals} and shape {self.shape}>"
        )

    def __str__(self):
        a, head = self.tocoo(), repr(self)
        if not a.nnz:
            return head

        def lines(cut):
            pairs = zip(zip(*(c[cut].tolist() for c in a.coords), strict=True), a.data[cut].get(), strict=True)
            return "\n".join(f"  {place}\t{value}" for place, value in pairs)

        half = MAXPRINT // 2
        if a.nnz <= MAXPRINT:
            return f"{head}\n  Coords\tValues\n{lines(slice(None))}"
        return f"{head}\n  Coords\tValues\n{lines(slice(half))}\n  :\t:\n{lines(slice(half - MAXPRINT, None))}"

    def __bool__(self):
        if self.shape == (1, 1):
            return self.nnz != 0
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all().")

    def __len__(self):
        raise TypeError("sparse array length is ambiguous; use getnnz() or shape[0]")

    def __iter__(self):
        a = self.tocsr()
        for i in range(self.shape[0]):
            yield a[i]

    # ---- conversion ----

    def asformat(self, format, copy=False):
        """This matrix in another format. None keeps the format, and "array" gives a dense array."""
        if format is None or format == self.format:
            return self.copy() if copy else self
        convert = getattr(self, f"to{format}", None)
        if convert is None:
            raise ValueError(f"Format {format} is unknown.")
        return convert() if format == "array" else convert(copy=copy)

    def tocsr(self, copy=False):
        return self.tocoo(copy=copy).tocsr()

    def tocsc(self, copy=False):
        return self.tocsr(copy=copy).tocsc()

    def tocoo(self, copy=False):
        return self.tocsr().tocoo(copy=copy)

    def todia(self, copy=False):
        return self.tocoo(copy=copy).todia()

    def todense(self, order=None, out=None):
        """A dense array. out: the array to write to."""
        return self.toarray(order, out)

    def toarray(self, order=None, out=None):
        """A dense array. Elements at the same place are added up. out: the array to write to."""
        a = self.tocsr()
        dense = a._dense()
        if out is None:
            return dense
        if order is not None:
            raise ValueError("order cannot be specified if out is not None")
        if out.shape != self.shape or out.dtype != self.dtype:
            raise ValueError("out array must be same dtype and shape as sparse array")
        out[...] = dense
        return out

    def get(self, stream=None):
        """SciPy's matrix of the same class, on the host. Raises MissingLibraryError if SciPy is not installed."""
        return to_scipy(self)

    _scipy_ = get

    def _on_host(self, fmt, **options):
        return converted(self, fmt, options)

    def tolil(self, copy=False):
        """SciPy's lil matrix, on the host."""
        return self._on_host("lil")

    def todok(self, copy=False):
        """SciPy's dok matrix, on the host."""
        return self._on_host("dok")

    def tobsr(self, blocksize=None, copy=False):
        """SciPy's bsr matrix, on the host."""
        return self._on_host("bsr", blocksize=blocksize)

    @staticmethod
    def _putter(a, copy, device):
        """The function that makes a sparse matrix of ours of an array, a matrix of ours, or one of SciPy's. Ours comes
        back itself, or copied with copy."""
        if is_scipys(a):
            return lambda x: asarray(x, device=device)
        return lambda x: x.copy() if copy else x

    def _cast(self, dtype):
        if dtype is not None and self.data.dtype != numpy.dtype(dtype):
            self.data = self.data.astype(dtype)

    def astype(self, dtype, casting="unsafe", copy=True):
        dtype = numpy.dtype(dtype)
        if dtype == self.dtype:
            return self.copy() if copy else self
        if not numpy.can_cast(self.dtype, dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {self.dtype!r} to {dtype!r} according to the rule '{casting}'"
            )
        return self._with_data(self.data.astype(dtype))

    def _asfptype(self):
        if self.dtype.kind in "fc":
            return self
        return self.astype(numpy.result_type(self.dtype, "float32"))

    def copy(self):
        return self._with_data(self.data.copy())

    def conj(self, copy=True):
        """The complex conjugate. Without copy, a matrix of real numbers comes back itself."""
        if self.dtype.kind == "c":
            return self._with_data(self.data.conj())
        return self.copy() if copy else self

    conjugate = conj

    def reshape(self, *args, order="C", copy=False):
        """The elements in another shape, read by rows ("C") or by columns ("F"). The result is a coo matrix if the
        shape changes."""
        shape = args[0] if len(args) == 1 and not isinstance(args[0], (int, numpy.integer)) else args
        shape = tuple(operator.index(n) for n in shape)
        if shape.count(-1) == 1:
            rest = -math.prod(shape)
            shape = tuple(math.prod(self.shape) // rest if n == -1 and rest else n for n in shape)
        if math.prod(shape) != math.prod(self.shape) or any(n < 0 for n in shape):
            raise ValueError(f"cannot reshape array of size {math.prod(self.shape)} into shape {shape}")
        if len(shape) not in ((1, 2) if self._is_array else (2,)):
            raise ValueError(f"shape must have length in {(1, 2) if self._is_array else (2,)}. Got shape={shape}")
        if shape == self.shape:
            return self.copy() if copy else self
        return self.tocoo()._reshaped(shape, order)

    # ---- data alone ----

    def _deduped(self):
        """Add up elements at the same place, in this matrix, and return its data."""
        self.sum_duplicates()
        return self.data

    def sum_duplicates(self):
        """Does nothing, in formats that cannot hold a place twice."""

    def __abs__(self):
        return self._with_data(abs(self._deduped()))

    def __round__(self, ndigits=0):
        return self._with_data(td.around(self._deduped(), ndigits))

    def __neg__(self):
        if self.dtype.kind == "b":
            raise NotImplementedError("negating a boolean sparse array is not supported")
        return self._with_data(-self.data)

    def power(self, n, dtype=None):
        """The n-th power of every element. Raises NotImplementedError for n = 0, which would make all elements 1."""
        if not is_number(n):
            raise NotImplementedError("input is not scalar")
        if not n:
            raise NotImplementedError("zero power is not supported as it would densify the matrix.")
        data = self._deduped()
        return self._with_data((data if dtype is None else data.astype(dtype)) ** n)

    def _scaled(self, number):
        return self._with_data(self.data * number)

    def __imul__(self, other):
        if not is_number(other):
            return NotImplemented
        self.data = self._in_place(self.data * other)
        return self

    def __itruediv__(self, other):
        if not is_number(other):
            return NotImplemented
        self.data = self._in_place(self.data * (1.0 / other))
        return self

    def _in_place(self, data):
        if not numpy.can_cast(data.dtype, self.dtype, "same_kind"):
            raise TypeError(f"Cannot cast ufunc 'multiply' output from {data.dtype!r} to {self.dtype!r}")
        return data.astype(self.dtype, copy=False)

    # ---- diagonals ----

    def diagonal(self, k=0):
        """The k-th diagonal, dense."""
        a = self.tocoo()
        rows, columns = self.shape
        length = min(rows + min(k, 0), columns - max(k, 0))
        if length <= 0:
            return zeros(0, dtype=self.dtype, device=self.device)
        at = _parts.places(a.col - a.row == k)
        on = CLASSES["coo", True]._from(
            _parts.gather(a.data, at), (_parts.gather(a.row if k >= 0 else a.col, at),), (length,)
        )
        return on.toarray()

    def trace(self, offset=0):
        return self.diagonal(offset).sum()

    def _getcol(self, j):
        return self.tocsr()._getcol(j)

    def _getrow(self, i):
        return self.tocsr()._getrow(i)

    def nonzero(self):
        """The row and column indices of the nonzero elements."""
        a = self.tocoo()
        at = _parts.places(a.data != 0)
        return tuple(_parts.gather(c, at) for c in a.coords)


def _keeping_zero(name):
    f = getattr(td, name)

    def method(self):
        return self._with_data(f(self._deduped()))

    method.__name__ = name
    method.__doc__ = f"{name} of every element."
    return method


for _name in KEEP_ZERO:
    setattr(Sparse, _name, _keeping_zero(_name))


class spmatrix:
    """The base of ``*_matrix`` classes, whose ``*`` is the matrix product. All their results have two axes."""

    def __mul__(self, other):
        return self._scaled(other) if is_number(other) else self._matmul(other)

    def __rmul__(self, other):
        return self._scaled(other) if is_number(other) else self.__rmatmul__(other)

    def __pow__(self, n):
        return power(self, n)

    def set_shape(self, shape):
        self.shape = shape

    def get_shape(self):
        return self._shape

    def asfptype(self):
        """This matrix, converted to floating-point numbers if it holds integers."""
        return self._asfptype()

    def getformat(self):
        return self.format

    def getmaxprint(self):
        return MAXPRINT

    def getnnz(self, axis=None):
        """The number of stored elements, in all or along an axis."""
        return self._getnnz(axis)

    def getH(self):
        """The conjugate transpose."""
        return self.conj().transpose()

    @property
    def H(self):
        return self.getH()

    def getcol(self, j):
        """Column j, sparse."""
        return self._getcol(j)

    def getrow(self, i):
        """Row i, sparse."""
        return self._getrow(i)
