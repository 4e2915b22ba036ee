"""Special functions, under the names that scipy.special and torch.special give them: treadle.scipy.special."""

from .scipy import special as _special
from .scipy.special import __all__, __dir__  # noqa: F401  (the names are found by __getattr__)

__getattr__ = _special.__getattr__
