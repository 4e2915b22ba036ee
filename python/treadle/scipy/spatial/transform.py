"""Rotations, under scipy.spatial.transform's names: computed by SciPy on the host."""

from .._table import Table

__getattr__, __dir__, __all__ = Table("spatial.transform").attach()
