"""Hermite's polynomials of the physicists as a basis: the names of numpy.polynomial.hermite."""

from .._public import dir_of as _dir_of
from . import _basis

globals().update(_basis.names("hermite"))

__dir__ = _dir_of(__name__)
