"""scipy.constants: numbers."""

from ._table import Table

__getattr__, __dir__, __all__ = Table("constants").attach()
