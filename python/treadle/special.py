"""Special functions, by the names of scipy.special and torch.special: this is treadle.scipy.special."""

import sys

from ._public import dir_of as _dir_of
from .scipy import special

sys.modules[__name__] = special

__dir__ = _dir_of(__name__)
