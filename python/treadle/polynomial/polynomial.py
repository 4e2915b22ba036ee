"""Powers as a basis: the names of numpy.polynomial.polynomial."""

from . import _basis

globals().update(_basis.names("polynomial"))
