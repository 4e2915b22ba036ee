"""Graphs as sparse matrices, under scipy.sparse.csgraph's names. SciPy computes all of them on the host."""

from .._table import Table

__getattr__, __dir__, __all__ = Table("sparse.csgraph").attach()
