"""scipy.stats.mstats, computed by SciPy on the host."""

from .._table import Table

__getattr__, __dir__, __all__ = Table("stats.mstats").attach()
