"""scipy.differentiate on the host: functions are called with NumPy's arrays and may answer treadle's."""

from ._table import Table

__getattr__, __dir__, __all__ = Table("differentiate").attach()
