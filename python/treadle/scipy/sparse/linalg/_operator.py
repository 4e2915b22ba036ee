"""Linear operators: a matrix as solvers use it, by its products with vectors."""

import numpy

import treadle as td

from ...._core import asarray, ndarray
from .._base import Sparse
from .._kinds import CLASSES, is_number, is_scipys


class LinearOperator:
    """A matrix defined by its products: LinearOperator(shape, matvec, rmatvec=None, matmat=None, dtype=None,
    rmatmat=None).

    matvec(x) is the product with a vector, and rmatvec(x) that of the conjugate transpose. matmat and rmatmat are the
    products with matrices; without them each column is multiplied by itself. Subclasses define _matvec (or _matmat),
    and _rmatvec or _adjoint. dtype None: that of the product with a vector of zeros. The functions take and return
    treadle's arrays.
    """

    ndim = 2
    __array_ufunc__ = None

    def __new__(cls, *args, **kwargs):
        return super().__new__(_Functions if cls is LinearOperator else cls)

    def __init__(self, dtype, shape):
        shape = tuple(int(n) for n in shape)
        if len(shape) != 2 or min(shape) < 0:
            raise ValueError(f"invalid shape {shape!r} (must be 2-d)")
        self.shape, self.dtype = shape, None if dtype is None else numpy.dtype(dtype)

    def _find_dtype(self):
        if self.dtype is None:
            self.dtype = asarray(self.matvec(td.zeros(self.shape[1]))).dtype

    def __repr__(self):
        dtype = "unspecified dtype" if self.dtype is None else f"dtype={self.dtype}"
        return f"<{self.shape[0]}x{self.shape[1]} {type(self).__name__} with {dtype}>"

    # ---- products ----

    def matvec(self, x):
        """The product with a vector, which has one axis or is a column. Raises ValueError for another length."""
        return self._vector("matvec", self._matvec, asarray(x), self.shape[1], self.shape[0])

    def rmatvec(self, x):
        """The product of the conjugate transpose with a vector."""
        return self._vector("rmatvec", self._rmatvec, asarray(x), self.shape[0], self.shape[1])

    def _vector(self, name, f, x, n, m):
        if x.shape not in ((n,), (n, 1)):
            raise ValueError(f"{name}: dimension mismatch: {self.shape} and {x.shape}")
        return asarray(f(x)).reshape((m,) if x.ndim == 1 else (m, 1))

    def matmat(self, X):
        """The product with a matrix or a sparse matrix."""
        return self._matrix("matmat", self._matmat, X, self.shape[1])

    def rmatmat(self, X):
        """The product of the conjugate transpose with a matrix."""
        return self._matrix("rmatmat", self._rmatmat, X, self.shape[0])

    def _matrix(self, name, f, X, n):
        X = X if isinstance(X, (Sparse, ndarray)) else asarray(X)
        if X.ndim != 2:
            raise ValueError(f"{name}: expected 2-d ndarray or matrix, not {X.ndim}-d")
        if X.shape[0] != n:
            raise ValueError(f"{name}: dimension mismatch: {self.shape}, {X.shape}")
        return f(X)

    def _matvec(self, x):
        return self.matmat(x.reshape(-1, 1))

    def _matmat(self, X):
        return td.stack([self.matvec(X[:, j]).reshape(-1) for j in range(X.shape[1])], axis=1)

    def _rmatvec(self, x):
        if type(self)._adjoint is LinearOperator._adjoint:
            raise NotImplementedError("rmatvec is not defined")
        return self.H.matvec(x)

    def _rmatmat(self, X):
        return td.stack([self.rmatvec(X[:, j]).reshape(-1) for j in range(X.shape[1])], axis=1)

    def dot(self, x):
        """The product with a number, a vector, a matrix or an operator."""
        if isinstance(x, LinearOperator):
            return _product(self, x)
        if is_number(x):
            return _scaled(self, x)
        x = x if isinstance(x, (Sparse, ndarray)) else asarray(x)
        return self.matvec(x) if x.ndim == 1 or x.shape == (self.shape[1], 1) else self.matmat(x)

    def __call__(self, x):
        return self.dot(x)

    def __mul__(self, x):
        return self.dot(x)

    def __rmul__(self, x):
        return _scaled(self, x) if is_number(x) else self._from_left(x)

    def __matmul__(self, x):
        if is_number(x):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self.dot(x)

    def __rmatmul__(self, x):
        if is_number(x):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self._from_left(x)

    def _from_left(self, x):
        x = asarray(x)
        return self.T.matvec(x) if x.ndim == 1 else self.T.matmat(x.T).T

    # ---- operators of operators ----

    def adjoint(self):
        """The conjugate transpose."""
        return self._adjoint()

    def transpose(self):
        """The transpose."""
        return self._transpose()

    H = property(adjoint)
    T = property(transpose)

    def _adjoint(self):
        return _Functions(self.shape[::-1], self.rmatvec, self.matvec, self.rmatmat, self.dtype, self.matmat)

    def _transpose(self):
        a = self
        return _Functions(
            a.shape[::-1],
            lambda x: td.conj(a.rmatvec(td.conj(x))),
            lambda x: td.conj(a.matvec(td.conj(x))),
            lambda x: td.conj(a.rmatmat(td.conj(x))),
            a.dtype,
            lambda x: td.conj(a.matmat(td.conj(x))),
        )

    def __add__(self, other):
        if not isinstance(other, LinearOperator):
            return NotImplemented
        if self.shape != other.shape:
            raise ValueError(f"cannot add {self!r} and {other!r}: shape mismatch")
        a, b = self, other
        return _Functions(
            a.shape,
            lambda x: a.matvec(x) + b.matvec(x),
            lambda x: a.rmatvec(x) + b.rmatvec(x),
            lambda x: a.matmat(x) + b.matmat(x),
            _common(a, b),
            lambda x: a.rmatmat(x) + b.rmatmat(x),
        )

    def __neg__(self):
        return _scaled(self, -1)

    def __sub__(self, other):
        return self + -other if isinstance(other, LinearOperator) else NotImplemented

    def __truediv__(self, number):
        if not is_number(number):
            raise ValueError("Can only divide a linear operator by a scalar.")
        return _scaled(self, 1.0 / number)

    def __pow__(self, n):
        if not isinstance(n, int) or n < 0 or self.shape[0] != self.shape[1]:
            raise ValueError(f"a square operator to a non-negative integer power expected, got {self!r} and {n!r}")
        a = self

        def times(f):
            def repeated(x):
                for _ in range(n):
                    x = f(x)
                return x

            return repeated

        return _Functions(a.shape, times(a.matvec), times(a.rmatvec), times(a.matmat), a.dtype, times(a.rmatmat))


class _Functions(LinearOperator):
    def __init__(self, shape, matvec, rmatvec=None, matmat=None, dtype=None, rmatmat=None):
        super().__init__(dtype, shape)
        self.args = ()
        self.__matvec, self.__rmatvec, self.__matmat, self.__rmatmat = matvec, rmatvec, matmat, rmatmat
        self._find_dtype()

    def _matvec(self, x):
        return self.__matvec(x)

    def _rmatvec(self, x):
        if self.__rmatvec is None:
            raise NotImplementedError("rmatvec is not defined")
        return self.__rmatvec(x)

    def _matmat(self, X):
        return super()._matmat(X) if self.__matmat is None else self.__matmat(X)

    def _rmatmat(self, X):
        return super()._rmatmat(X) if self.__rmatmat is None else self.__rmatmat(X)


class MatrixOperator(LinearOperator):
    """The operator of a matrix, dense or sparse."""

    def __init__(self, A):
        super().__init__(A.dtype, A.shape)
        self.A, self._turned = A, None

    def _matmat(self, X):
        return self.A @ X

    def _matvec(self, x):
        return self.A @ x

    def _adjoint(self):
        if self._turned is None:
            self._turned = MatrixOperator(self.A.conj().T)
        return self._turned

    def _rmatmat(self, X):
        return self.H.matmat(X)

    def _transpose(self):
        return MatrixOperator(self.A.T)


class IdentityOperator(LinearOperator):
    """The unit matrix."""

    def __init__(self, shape, dtype=None):
        super().__init__(dtype, shape)

    def _matvec(self, x):
        return x

    _rmatvec = _matmat = _rmatmat = _matvec

    def _adjoint(self):
        return self

    _transpose = _adjoint


def _common(*operators):
    return numpy.result_type(*(a.dtype for a in operators))


def _scaled(a, number):
    number = number.item() if hasattr(number, "item") else number
    turned = number.conjugate() if isinstance(number, complex) else number
    return _Functions(
        a.shape,
        lambda x: number * a.matvec(x),
        lambda x: turned * a.rmatvec(x),
        lambda x: number * a.matmat(x),
        numpy.result_type(a.dtype, type(number)),
        lambda x: turned * a.rmatmat(x),
    )


def _product(a, b):
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"cannot multiply {a!r} and {b!r}: shape mismatch")
    return _Functions(
        (a.shape[0], b.shape[1]),
        lambda x: a.matvec(b.matvec(x)),
        lambda x: b.rmatvec(a.rmatvec(x)),
        lambda x: a.matmat(b.matmat(x)),
        _common(a, b),
        lambda x: b.rmatmat(a.rmatmat(x)),
    )


def aslinearoperator(A):
    """A as a LinearOperator. A may be one, a dense or sparse matrix, or an object with shape and matvec. Raises
    TypeError for anything else."""
    if isinstance(A, LinearOperator):
        return A
    if isinstance(A, Sparse):
        return MatrixOperator(A.tocsr() if A.format == "coo" else A)
    if is_scipys(A):
        return MatrixOperator(CLASSES["csr", False](A))
    if hasattr(A, "shape") and hasattr(A, "matvec"):
        return _Functions(
            A.shape,
            A.matvec,
            getattr(A, "rmatvec", None),
            getattr(A, "matmat", None),
            getattr(A, "dtype", None),
            getattr(A, "rmatmat", None),
        )
    if isinstance(A, (ndarray, numpy.ndarray, list, tuple)):
        return MatrixOperator(td.atleast_2d(asarray(A)))
    raise TypeError(f"type not understood: {type(A).__name__}")
