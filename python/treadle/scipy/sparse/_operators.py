"""The operators of sparse matrices: with numbers, with dense arrays, and with each other. A format without a method of
its own goes through CSR."""

import operator
import warnings

import numpy

import treadle as td

from ..._core import asarray, ndarray
from . import _parts
from ._arith import multiplied
from ._kinds import is_number, is_scipys

_NEGATED = {
    operator.eq: operator.ne,
    operator.ne: operator.eq,
    operator.lt: operator.ge,
    operator.ge: operator.lt,
    operator.gt: operator.le,
    operator.le: operator.gt,
}
_SYMBOL = {
    operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.ge: ">=", operator.gt: ">", operator.le: "<=",
}  # fmt: skip


class SparseWarning(Warning):
    """A warning of this package."""


class SparseEfficiencyWarning(SparseWarning):
    """Warns of an operation that another format does faster."""


def warn_slow(text):
    warnings.warn(text, SparseEfficiencyWarning, stacklevel=4)


# The meaning of NumPy's functions whose second operand is a sparse matrix. An operator of a NumPy array calls such a
# function, so multiply means what * means for the matrix.
_REFLECTED = {
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "matmul": "__rmatmul__",
    "equal": "__eq__",
    "not_equal": "__ne__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "greater": "__lt__",
    "greater_equal": "__le__",
}
_FORWARD = {
    "add": "__add__",
    "subtract": "__sub__",
    "multiply": "multiply",
    "matmul": "__matmul__",
    "equal": "__eq__",
    "not_equal": "__ne__",
    "less": "__lt__",
    "less_equal": "__le__",
    "greater": "__gt__",
    "greater_equal": "__ge__",
}
_UNARY = {"absolute": "__abs__", "negative": "__neg__", "conjugate": "conj"}


class Operators:
    """The operators of Sparse with a second operand."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        name = ufunc.__name__
        if method != "__call__" or kwargs:
            return NotImplemented
        if len(inputs) == 1 and (name in _UNARY or hasattr(self, name)):
            return getattr(self, _UNARY.get(name, name))()
        if len(inputs) != 2 or name not in _REFLECTED:
            return NotImplemented
        if inputs[0] is self:
            return getattr(self, _FORWARD[name])(inputs[1])
        return getattr(self, _REFLECTED[name])(inputs[0])

    def _dense_like(self, other):
        """other as an array on this matrix's device. None if it is no array."""
        if isinstance(other, Operators) or is_scipys(other):
            return None
        try:
            a = asarray(other, device=None if isinstance(other, ndarray) else self.device)
        except (TypeError, ValueError):
            return None
        if a.device != self.device:
            _parts.same_device(self.data, a)
        return a

    def _sparse_like(self, other):
        """other as a sparse matrix of treadle's on this one's device. None if it is not sparse."""
        if isinstance(other, Operators):
            if other.device != self.device:
                _parts.same_device(self.data, other.data)
            return other
        return self._class(other.format)(other, device=self.device) if is_scipys(other) else None

    def _add(self, other, f, name):
        if is_number(other):
            if other == 0:
                return self.copy()
            raise NotImplementedError(f"{name} a nonzero scalar to a sparse array is not supported")
        sparse = self._sparse_like(other)
        if sparse is not None:
            if sparse.shape != self.shape:
                raise ValueError("inconsistent shapes")
            return self._combined(sparse, f)
        dense = self._dense_like(other)
        return NotImplemented if dense is None else f(self.toarray(), td.broadcast_to(dense, self.shape))

    def __add__(self, other):
        return self._add(other, td.logical_or if self._bools(other) else operator.add, "adding")

    __radd__ = __add__

    def _bools(self, other):
        return (
            self.dtype.kind == "b"
            and getattr(getattr(other, "dtype", None), "kind", "") == "b"
            and not isinstance(other, (ndarray, numpy.ndarray))
        )

    def __sub__(self, other):
        return self._add(other, td.logical_xor if self._bools(other) else operator.sub, "subtracting")

    def __rsub__(self, other):
        if is_number(other):
            if other == 0:
                return -self.copy()
            raise NotImplementedError("subtracting a sparse array from a nonzero scalar is not supported")
        dense = self._dense_like(other)
        return NotImplemented if dense is None else td.broadcast_to(dense, self.shape) - self.toarray()

    def _combined(self, other, f):
        return self.tocsr()._combined(other, f)

    def multiply(self, other):
        """The product element by element with a number, a dense array or a sparse matrix, which broadcast."""
        return multiplied(self, other)

    def __mul__(self, other):
        return self.multiply(other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if is_number(other):
            wide = self.astype("float64", copy=False) if numpy.can_cast(self.dtype, "float64") else self
            return wide._scaled(1 / other)
        sparse = self._sparse_like(other)
        if sparse is not None:
            if sparse.shape != self.shape:
                raise ValueError(f"inconsistent shapes {self.shape} and {sparse.shape}")
            wide = self.astype("float64", copy=False) if numpy.can_cast(self.dtype, "float64") else self
            x, y = wide.toarray(), sparse.toarray()
            return td.where((x == 0) & (y == 0), x.dtype.type(numpy.nan), x / y)
        dense = self._dense_like(other)
        return NotImplemented if dense is None else self.multiply(1 / dense)

    def __pow__(self, n):
        return self.power(n)

    def maximum(self, other):
        """The larger of two elements. A number above 0 gives a dense result, and SparseEfficiencyWarning."""
        return self._extreme(other, td.maximum, "positive")

    def minimum(self, other):
        """The smaller of two elements. A number below 0 gives a dense result, and SparseEfficiencyWarning."""
        return self._extreme(other, td.minimum, "negative")

    def _extreme(self, other, f, sign):
        if is_number(other):
            beyond = other > 0 if sign == "positive" else other < 0
            if bool(beyond):
                warn_slow(f"Taking {f.__name__} with a {sign} number results in a dense matrix.")
                return type(self)(f(self.toarray(), other))
            return self._cs()._mapped(lambda data: f(data, other))
        sparse = self._sparse_like(other)
        if sparse is not None:
            if sparse.shape != self.shape:
                raise ValueError(f"inconsistent shapes {self.shape} and {sparse.shape}")
            return self._cs()._combined(sparse, f)
        dense = self._dense_like(other)
        if dense is None:
            raise ValueError("Operands not compatible.")
        return f(self.toarray(), dense)

    def _cs(self):
        return self if self._format in ("csr", "csc") else self.tocsr()

    def _compare(self, other, op):
        if is_number(other):
            return self._compare_number(other, op)
        sparse = self._sparse_like(other)
        if sparse is not None:
            if sparse.shape != self.shape:
                if op in (operator.eq, operator.ne):
                    return op is operator.ne
                raise ValueError("inconsistent shape")
            if not op(0, 0):
                return self._cs()._combined(sparse, op)
            warn_slow(f"Comparing two sparse matrices using {_SYMBOL[op]} is inefficient. "
                      f"Try using {_SYMBOL[_NEGATED[op]]} instead.")  # fmt: skip
            return self._cs()._complement(self._cs()._combined(sparse, _NEGATED[op]))
        dense = self._dense_like(other)
        return NotImplemented if dense is None else op(self.toarray(), dense)

    def _compare_number(self, other, op):
        other = other.item() if hasattr(other, "item") else other
        if not op(0, other):
            if other != other:
                return type(self)(self.shape, dtype=bool, device=self.device)
            return self._cs()._mapped(lambda data: op(data, other))
        warn_slow(f"Comparing a sparse matrix with {other} using {_SYMBOL[op]} is inefficient. "
                  f"Try using {_SYMBOL[_NEGATED[op]]} instead.")  # fmt: skip
        if other != other:
            return type(self)(td.ones(self.shape, dtype=bool, device=self.device))
        a = self._cs()
        return a._complement(a._mapped(lambda data: _NEGATED[op](data, other)))

    def __eq__(self, other):
        return self._compare(other, operator.eq)

    def __ne__(self, other):
        return self._compare(other, operator.ne)

    def __lt__(self, other):
        return self._compare(other, operator.lt)

    def __gt__(self, other):
        return self._compare(other, operator.gt)

    def __le__(self, other):
        return self._compare(other, operator.le)

    def __ge__(self, other):
        return self._compare(other, operator.ge)

    # ---- products ----

    def dot(self, other):
        """The matrix product, or the product with a number."""
        return self * other if is_number(other) else self @ other

    def __matmul__(self, other):
        if is_number(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self._matmul(other)

    def __rmatmul__(self, other):
        if is_number(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        dense = self._dense_like(other)
        return NotImplemented if dense is None else self.transpose()._matmul(dense.T).T

    def _matmul(self, other):
        n = self._shape2[1]
        sparse = self._sparse_like(other)
        dense = None if sparse is not None else self._dense_like(other)
        if sparse is None and dense is None:
            return NotImplemented
        x = sparse if dense is None else dense
        if x.ndim not in (1, 2):
            raise ValueError("could not interpret dimensions")
        if x.shape[0] != n:
            raise ValueError(f"matmul: dimension mismatch with signature (n,k={n}),(k={x.shape[0]},m?)->(n,m?)")
        if dense is None:
            return self._times_sparse(sparse)
        if dense.ndim == 2 and dense.shape[1] == 1 and self.ndim == 2:
            return self._times_vector(dense.reshape(-1)).reshape(-1, 1)
        r = self._times_vector(dense) if dense.ndim == 1 else self._times_matrix(dense)
        return r if self.ndim == 2 else r.reshape(r.shape[1:])

    def _times_vector(self, x):
        return self.tocsr()._times_vector(x)

    def _times_matrix(self, x):
        return self.tocsr()._times_matrix(x)

    def _times_sparse(self, other):
        return self.tocsr()._times_sparse(other)
