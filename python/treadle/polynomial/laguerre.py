"""The names of numpy.polynomial.laguerre: series of Laguerre polynomials."""

from .._public import dir_of as _dir_of
from . import _basis

globals().update(_basis.names("laguerre"))

__dir__ = _dir_of(__name__)
