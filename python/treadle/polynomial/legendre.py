"""The names of numpy.polynomial.legendre: series of Legendre polynomials."""

from .._public import dir_of as _dir_of
from . import _basis

globals().update(_basis.names("legendre"))

__dir__ = _dir_of(__name__)
