"""Special functions, under the names that scipy.special and torch.special give them: treadle.scipy.special itself."""

import sys

from ._public import dir_of as _dir_of
from .scipy import special

sys.modules[__name__] = special

__dir__ = _dir_of(__name__)
