"""Solvers for sparse matrices and operators, under scipy.sparse.linalg's names.

Iterative solvers run on the device. Factorisations (splu, spilu, spsolve, …) are SciPy's, on the host.
"""

from ... import _table
from ._factors import SuperLU

__getattr__, __dir__, __all__ = _table.Table(
    "sparse.linalg",
    native={
        "sparse.linalg._operator": "LinearOperator aslinearoperator",
        "sparse.linalg._iterative": "bicg bicgstab cg cgs gmres minres",
        "sparse.linalg._least": "lsmr lsqr",
        "sparse.linalg._eigen": "eigsh svds",
        "sparse.linalg._factors": "SuperLU factorized",
    },
    composed={"sparse.linalg._direct": "is_sptriangular matrix_power norm spbandwidth"},
).attach()

_table.converts("builtins.SuperLU", SuperLU)
