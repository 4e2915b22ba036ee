"""The names of numpy.polynomial.legendre: series of Legendre polynomials."""

from .._public import dir_of as _dir_of
from .._public import set_doors as _set_doors
from . import _basis

globals().update(_basis.names("legendre"))
_set_doors(__name__, "polynomial.legendre")

__dir__ = _dir_of(__name__)
