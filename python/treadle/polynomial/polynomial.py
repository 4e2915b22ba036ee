"""The names of numpy.polynomial.polynomial: power series."""

from .._public import dir_of as _dir_of
from . import _basis

globals().update(_basis.names("polynomial"))

__dir__ = _dir_of(__name__)
