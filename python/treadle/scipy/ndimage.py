"""Images of any number of dims, under scipy.ndimage's names."""

from ._table import Table

__getattr__, __dir__, __all__ = Table("ndimage").attach()
