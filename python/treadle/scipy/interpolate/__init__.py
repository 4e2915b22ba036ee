"""scipy.interpolate's names. Interpolants are evaluated on the device. SciPy computes on the host what is computed
once for many evaluations: coefficients of splines, triangulations."""

from .. import _table

__getattr__, __dir__, __all__ = _table.Table(
    "interpolate",
    native={
        "interpolate._piecewise": "BPoly PPoly",
        "interpolate._hermite": "Akima1DInterpolator CubicHermiteSpline PchipInterpolator",
        "interpolate._bspline": "BSpline splantider splder splev",
        "interpolate._several": "NdBSpline NdPPoly",
        "interpolate._smooth": "InterpolatedUnivariateSpline LSQUnivariateSpline UnivariateSpline",
        "interpolate._linear": "interp1d",
        "interpolate._grid": "RegularGridInterpolator interpn",
        "interpolate._polynomial": "BarycentricInterpolator KroghInterpolator",
    },
    composed={
        "interpolate._hermite": "CubicSpline pchip_interpolate",
        "interpolate._bspline": "make_interp_spline make_lsq_spline make_smoothing_spline",
        "interpolate._polynomial": "barycentric_interpolate krogh_interpolate",
        "interpolate._radial": "RBFInterpolator",
    },
).attach()


def _converter(module, name):
    def convert(x):
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{module}"), name)._of(x)

    return convert


# These functions build an object with SciPy on the host and convert it to the class here that evaluates it.
_table.converts("scipy.interpolate._bsplines.BSpline", _converter("_bspline", "BSpline"))
_table.converts("scipy.interpolate._interpolate.BPoly", _converter("_piecewise", "BPoly"))
_table.converts("scipy.interpolate._interpolate.PPoly", _converter("_piecewise", "PPoly"))
_table.converts("scipy.interpolate._ndbspline.NdBSpline", _converter("_several", "NdBSpline"))
_table.converts("scipy.interpolate._fitpack2.UnivariateSpline", _converter("_smooth", "UnivariateSpline"))
