"""Hermite's polynomials of the probabilists as a basis: the names of numpy.polynomial.hermite_e."""

from . import _basis

globals().update(_basis.names("hermite_e"))
