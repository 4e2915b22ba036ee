"""The names of numpy.polynomial.chebyshev: series of Chebyshev polynomials."""

from .._public import dir_of as _dir_of
from . import _basis

globals().update(_basis.names("chebyshev"))

__dir__ = _dir_of(__name__)
