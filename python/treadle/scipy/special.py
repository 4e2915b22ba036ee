"""Special functions, under scipy.special's names."""

from ._table import Table

__getattr__, __dir__, __all__ = Table("special").attach()
