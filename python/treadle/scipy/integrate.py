"""scipy.integrate on the host. It calls functions with NumPy arrays; they may return treadle's."""

from ._table import Table

__getattr__, __dir__, __all__ = Table("integrate").attach()
