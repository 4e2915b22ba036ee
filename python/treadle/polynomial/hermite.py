"""The names of numpy.polynomial.hermite: series of the physicists' Hermite polynomials."""

from .._public import dir_of as _dir_of
from .._public import set_doors as _set_doors
from . import _basis

globals().update(_basis.names("hermite"))
_set_doors(__name__, "polynomial.hermite")

__dir__ = _dir_of(__name__)
