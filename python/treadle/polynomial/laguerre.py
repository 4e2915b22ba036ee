"""Laguerre's polynomials as a basis: the names of numpy.polynomial.laguerre."""

from . import _basis

globals().update(_basis.names("laguerre"))
