"""Polynomials in six bases, as in numpy.polynomial. Values, matrices and fits are computed on the arrays' device. The
few coefficients of a series live on the host, where NumPy does arithmetic with them."""

from numpy.polynomial import set_default_printstyle

from .._public import dir_of as _dir_of
from . import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial, polyutils
from .chebyshev import Chebyshev
from .hermite import Hermite
from .hermite_e import HermiteE
from .laguerre import Laguerre
from .legendre import Legendre
from .polynomial import Polynomial

__all__ = ["Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial", "set_default_printstyle"]

__dir__ = _dir_of(__name__)
