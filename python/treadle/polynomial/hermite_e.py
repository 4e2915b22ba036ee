"""Hermite's polynomials of the probabilists as a basis: the names of numpy.polynomial.hermite_e."""

from .._public import dir_of as _dir_of
from . import _basis

globals().update(_basis.names("hermite_e"))

__dir__ = _dir_of(__name__)
