"""FITPACK's splines of one variable. SciPy fits them on the host; the device evaluates them."""

import treadle as td

from ..._core import asarray
from .. import _table
from ._bspline import splev
from ._support import scipys

_EXT = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}


class UnivariateSpline:
    """UnivariateSpline(x, y, w=None, bbox=[None, None], k=3, s=None, ext=0, check_finite=False): a smoothing spline.

    The device evaluates the spline. SciPy computes get_knots, get_coeffs, get_residual, integral, derivatives, roots,
    derivative, antiderivative and set_smoothing_factor on the host.
    """

    def __init__(self, *args, **kwargs):
        name = type(self).__name__
        self._take(_table.call(f"scipy.interpolate.{name}", getattr(scipys(), name), args, kwargs)._theirs)

    def _take(self, theirs):
        t, c, k = theirs._eval_args
        self._theirs, self._tck = theirs, (asarray(t), asarray(c), k)

    @classmethod
    def _of(cls, theirs):
        """Convert SciPy's object to one on the current device."""
        self = object.__new__(globals().get(type(theirs).__name__, cls))
        self._take(theirs)
        return self

    def _scipy_(self):
        return self._theirs

    def __call__(self, x, nu=0, ext=None):
        """Evaluate the spline, or its derivative of order nu, at x. ext: what lies beyond the data (None: as
        constructed): 0 "extrapolate", 1 "zeros", 2 "raise", 3 "const"."""
        x = asarray(x)
        if not x.size:
            return td.zeros_like(x)
        ext = self._theirs.ext if ext is None else _EXT.get(ext, ext)
        return splev(x, self._tck, nu, ext)

    def set_smoothing_factor(self, s):
        """Fit the spline again with another smoothing factor."""
        _table.call(
            "scipy.interpolate.UnivariateSpline.set_smoothing_factor", self._theirs.set_smoothing_factor, (s,), {}
        )
        self._take(self._theirs)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _table._attribute(f"scipy.interpolate.{type(self).__name__}.{name}", getattr(self._theirs, name))


class InterpolatedUnivariateSpline(UnivariateSpline):
    """UnivariateSpline through all points: (x, y, w=None, bbox=[None, None], k=3, ext=0, check_finite=False)."""


class LSQUnivariateSpline(UnivariateSpline):
    """UnivariateSpline fitted by least squares with the knots t: (x, y, t, w=None, bbox=[None, None], k=3, ext=0,
    check_finite=False)."""
