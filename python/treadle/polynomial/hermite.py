"""Hermite's polynomials of the physicists as a basis: the names of numpy.polynomial.hermite."""

from . import _basis

globals().update(_basis.names("hermite"))
