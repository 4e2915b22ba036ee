"""The names of numpy.polynomial.hermite_e: series of the probabilists' Hermite polynomials."""

from .._public import dir_of as _dir_of
from .._public import set_doors as _set_doors
from . import _basis

globals().update(_basis.names("hermite_e"))
_set_doors(__name__, "polynomial.hermite_e")

__dir__ = _dir_of(__name__)
