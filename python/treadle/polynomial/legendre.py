"""Legendre's polynomials as a basis: the names of numpy.polynomial.legendre."""

from .._public import dir_of as _dir_of
from . import _basis

globals().update(_basis.names("legendre"))

__dir__ = _dir_of(__name__)
