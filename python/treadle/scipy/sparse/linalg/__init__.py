"""Solvers for sparse matrices and operators, under scipy.sparse.linalg's names."""

from ..._table import Table

__getattr__, __dir__, __all__ = Table("sparse.linalg").attach()
