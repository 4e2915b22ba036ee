"""Windows, under scipy.signal.windows' names."""

from .._table import Table

__getattr__, __dir__, __all__ = Table("signal.windows").attach()
