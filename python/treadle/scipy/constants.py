"""scipy.constants: physical and mathematical constants, which are numbers."""

from ._table import Table

__getattr__, __dir__, __all__ = Table("constants").attach()
