"""The names of numpy.polynomial.polynomial: power series."""

from .._public import dir_of as _dir_of
from .._public import set_doors as _set_doors
from . import _basis

globals().update(_basis.names("polynomial"))
_set_doors(__name__, "polynomial.polynomial")

__dir__ = _dir_of(__name__)
