"""scipy.stats.sampling, computed by SciPy on the host."""

from .._table import Table

__getattr__, __dir__, __all__ = Table("stats.sampling").attach()
