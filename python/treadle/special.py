"""Special functions, under the names that scipy.special and torch.special give them: treadle.scipy.special itself."""

import sys

from .scipy import special

sys.modules[__name__] = special
