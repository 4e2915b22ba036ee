"""Legendre's polynomials as a basis: the names of numpy.polynomial.legendre."""

from . import _basis

globals().update(_basis.names("legendre"))
