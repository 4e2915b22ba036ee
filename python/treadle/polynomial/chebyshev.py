"""Chebyshev's polynomials as a basis: the names of numpy.polynomial.chebyshev."""

from . import _basis

globals().update(_basis.names("chebyshev"))
