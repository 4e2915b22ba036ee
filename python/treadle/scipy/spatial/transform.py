"""scipy.spatial.transform's names: rotations, which SciPy computes on the host."""

from .._table import Table

__getattr__, __dir__, __all__ = Table("spatial.transform").attach()
