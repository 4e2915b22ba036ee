"""Factorisations of sparse matrices. SciPy computes them on the host; they take and return treadle's arrays."""

from ... import _table
from .. import _host as hosts


class SuperLU:
    """The result of splu and spilu: solve(rhs, trans="N") for vectors and matrices, L, U, perm_r, perm_c, shape and
    nnz."""

    def __init__(self, factors):
        self._object = factors

    def _scipy_(self):
        return self._object

    def solve(self, rhs, trans="N"):
        """The solution of A x = rhs. trans "T" solves with the transpose, "H" with its conjugate."""
        return _table.call("scipy.sparse.linalg.SuperLU.solve", self._object.solve, (rhs, trans), {})

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _table._attribute(f"scipy.sparse.linalg.SuperLU.{name}", getattr(self._object, name))


def factorized(A):
    """A function that solves A x = b for each b, by one factorisation of A on the host."""
    return hosts.call("splu", A.tocsc() if hasattr(A, "tocsc") else A).solve
