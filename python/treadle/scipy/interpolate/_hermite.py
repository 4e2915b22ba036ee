"""Piecewise cubic interpolants from values and slopes. The slopes are given, or come from the method of Fritsch and
Butland (PCHIP) or of Akima."""

import numpy

import treadle as td

from ..._core import asarray, ndarray
from .. import _table
from ._piecewise import PPoly
from ._support import scipys


def prepared(x, y, axis, slopes=None):
    """(x, y, slopes), with axis moved to the front. Raises ValueError for shapes that differ or x that does not
    ascend."""
    device = next((a.device for a in (y, x, slopes) if isinstance(a, ndarray)), None)
    x, y = asarray(x, device=device), asarray(y, device=device)
    if x.dtype.kind == "c":
        raise ValueError("`x` must contain real values.")
    dtype = "complex128" if "c" in (y.dtype.kind, getattr(getattr(slopes, "dtype", None), "kind", "f")) else "float64"
    x, y = x.astype("float64"), y.astype(dtype)
    axis = axis % y.ndim
    if x.ndim != 1:
        raise ValueError("`x` must be 1-dimensional.")
    if x.size < 2:
        raise ValueError("`x` must contain at least 2 elements.")
    if x.size != y.shape[axis]:
        raise ValueError(f"The length of `y` along `axis`={axis} doesn't match the length of `x`")
    given = [x, y]
    if slopes is not None:
        slopes = asarray(slopes, device=device).astype(dtype)
        if slopes.shape != y.shape:
            raise ValueError("The shapes of `y` and `dydx` must be identical.")
        given.append(slopes)
    *finite, rises = td.stack([td.isfinite(a).all() for a in given] + [(x[1:] > x[:-1]).all()]).tolist()
    for name, fine in zip(("x", "y", "dydx"), finite, strict=False):
        if not fine:
            raise ValueError(f"`{name}` must contain only finite values.")
    if not rises:
        raise ValueError("`x` must be strictly increasing sequence.")
    return x, td.moveaxis(y, axis, 0), axis, None if slopes is None else td.moveaxis(slopes, axis, 0)


class CubicHermiteSpline(PPoly):
    """CubicHermiteSpline(x, y, dydx, axis=0, extrapolate=None): piecewise cubics with the values y and slopes dydx at
    x."""

    def __init__(self, x, y, dydx, axis=0, extrapolate=None):
        x, y, axis, slopes = prepared(x, y, axis, dydx)
        self._set(x, y, slopes, axis, extrapolate)

    def _set(self, x, y, slopes, axis, extrapolate):
        extrapolate = True if extrapolate is None else extrapolate
        h = (x[1:] - x[:-1]).reshape((-1,) + (1,) * (y.ndim - 1))
        secant = (y[1:] - y[:-1]) / h
        t = (slopes[:-1] + slopes[1:] - 2 * secant) / h
        self.c = td.stack([t / h, (secant - slopes[:-1]) / h - t, slopes[:-1], y[:-1]])
        self.x, self.axis, self.extrapolate, self._falls = x, axis, extrapolate, False


def _sides(h0, h1, m0, m1):
    """The slope at an end: that of a parabola through three points, limited so that it does not overshoot."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    away = td.sign(d) != td.sign(m0)
    beyond = (td.sign(m0) != td.sign(m1)) & (abs(d) > 3.0 * abs(m0))
    return td.where(away, 0.0, td.where(beyond, 3.0 * m0, d))


def _monotone(x, y):
    """Slopes of a monotone interpolant: weighted harmonic means of the secants' slopes."""
    h = (x[1:] - x[:-1]).reshape((-1,) + (1,) * (y.ndim - 1))
    m = (y[1:] - y[:-1]) / h
    if y.shape[0] == 2:
        return td.concatenate([m, m])
    flat = (td.sign(m[1:]) != td.sign(m[:-1])) | (m[1:] == 0) | (m[:-1] == 0)
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    mean = (w1 / td.where(flat, 1.0, m[:-1]) + w2 / td.where(flat, 1.0, m[1:])) / (w1 + w2)
    inner = td.where(flat, 0.0, 1.0 / mean)
    first, last = _sides(h[0], h[1], m[0], m[1]), _sides(h[-1], h[-2], m[-1], m[-2])
    return td.concatenate([first[None], inner, last[None]])


class PchipInterpolator(CubicHermiteSpline):
    """PchipInterpolator(x, y, axis=0, extrapolate=None): cubics that are monotone wherever the values are."""

    def __init__(self, x, y, axis=0, extrapolate=None):
        x, y, axis, _ = prepared(x, y, axis)
        if y.dtype.kind == "c":
            raise ValueError("`PchipInterpolator` only works with real values for `y`.")
        self._set(x, y, _monotone(x, y), axis, extrapolate)


def _akima(x, y, method):
    h = (x[1:] - x[:-1]).reshape((-1,) + (1,) * (y.ndim - 1))
    m = (y[1:] - y[:-1]) / h
    if y.shape[0] == 2:
        return td.concatenate([m, m])
    second = m[1] if m.shape[0] > 1 else m[0]
    before = 2 * m[0] - second
    after = 2 * m[-1] - (m[-2] if m.shape[0] > 1 else m[-1])
    m = td.concatenate([(2 * before - m[0])[None], before[None], m, after[None], (2 * after - m[-1])[None]])
    change = abs(m[1:] - m[:-1])
    f1, f2 = change[2:], change[:-2]
    if method == "makima":
        size = abs(m[1:] + m[:-1])
        f1, f2 = f1 + 0.5 * size[2:], f2 + 0.5 * size[:-2]
    both = f1 + f2
    turns = both > 1e-9 * both.max()
    return td.where(turns, m[1:-2] + f2 / td.where(turns, both, 1.0) * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))


class Akima1DInterpolator(CubicHermiteSpline):
    """Akima1DInterpolator(x, y, axis=0, method="akima", extrapolate=False): cubics whose slope at a point comes from
    the four secants around it. method "makima" uses other weights, which avoid overshoot where the values are flat."""

    def __init__(self, x, y, axis=0, *, method="akima", extrapolate=None):
        if method not in ("akima", "makima"):
            raise NotImplementedError(f"`method`={method} is unsupported.")
        x, y, axis, _ = prepared(x, y, axis)
        if y.dtype.kind == "c":
            raise ValueError("`Akima1DInterpolator` only works with real values for `y`.")
        self._set(x, y, _akima(x, y, method), axis, False if extrapolate is None else extrapolate)

    def extend(self, c, x, right=True):
        raise NotImplementedError("Extending a 1-D Akima interpolator is not yet implemented")

    @classmethod
    def from_spline(cls, tck, extrapolate=None):
        raise NotImplementedError("This method does not make sense for an Akima interpolator.")

    @classmethod
    def from_bernstein_basis(cls, bp, extrapolate=None):
        raise NotImplementedError("This method does not make sense for an Akima interpolator.")


class CubicSpline(CubicHermiteSpline):
    """CubicSpline(x, y, axis=0, bc_type="not-a-knot", extrapolate=None): cubics with continuous second derivatives.
    SciPy computes the coefficients on the host."""

    def __init__(self, x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
        device = next((a.device for a in (y, x) if isinstance(a, ndarray)), None)

        def made(x, y, axis, bc_type, extrapolate):
            s = scipys().CubicSpline(x, y, axis, bc_type, extrapolate)
            return s.c, s.x, s.axis, s.extrapolate

        args = (asarray(x, device=device), asarray(y, device=device), axis, bc_type, extrapolate)
        c, places, self.axis, self.extrapolate = _table.call("scipy.interpolate.CubicSpline", made, args, {})
        self.c, self.x, self._falls = c, places, False


def pchip_interpolate(xi, yi, x, der=0, axis=0):
    """Evaluate the PchipInterpolator of (xi, yi) at x. der: the order of the derivative, or a list of orders."""
    p = PchipInterpolator(xi, yi, axis=axis)
    if numpy.ndim(der) == 0:
        return p(x) if der == 0 else p.derivative(der)(x)
    return [p(x, nu) for nu in der]
