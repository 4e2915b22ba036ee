"""Special functions that are expressions of arrays: they fuse with what uses them."""

import math

import numpy

import treadle

from ... import _core
from ..._core import asarray, ndarray
from ._error import log_ndtr, ndtr

_UFUNC = _core.ufuncs()
_select = _UFUNC["select"]

# The name here, and the row of ops.def that implements it.
ROWS = _core.op_names("scipy.special")
globals().update({name: getattr(treadle, row) for name, row in ROWS.items()})

__all__ = [*ROWS, "ndtr", "log_ndtr"]


def floating(x):
    """x as an array of floating-point or complex numbers."""
    x = x if isinstance(x, ndarray) else asarray(x)
    return x if x.dtype.kind in "fc" else x.astype("float64")


def _floats(*xs):
    """Arrays of floating-point numbers. Python's numbers stay, so that they do not widen float32."""
    if not any(isinstance(x, (ndarray, numpy.ndarray, numpy.generic)) for x in xs):
        return [floating(x) for x in xs]
    return [x if isinstance(x, (int, float)) else floating(x) for x in xs]


def _given(r, out):
    if out is None:
        return r
    out[...] = r
    return out


def xlog1py(x, y, out=None):
    """x log(1 + y), and 0 if x is 0 and y is not NaN."""
    x, y = map(asarray, _floats(x, y))
    none = (x == 0) & (y == y)
    return _UFUNC["multiply"](x, _UFUNC["log1p"](_select(none, 0, y)), out=out)


def entr(x, out=None):
    """-x log x, 0 at 0, and -inf for negative x."""
    x = floating(x)
    return _given(_select(x < 0, float("-inf"), -_UFUNC["xlogy"](x, x)), out)


def log_expit(x, out=None):
    """The logarithm of the logistic function, -softplus(-x)."""
    return _given(-_UFUNC["softplus"](-floating(x)), out)


def rel_entr(x, y, out=None):
    """x log(x / y) for positive x and y, 0 if x is 0 and y is not negative, else inf."""
    x, y = map(asarray, _floats(x, y))
    r = x * _UFUNC["log"](x / y)
    r = _select((x > 0) & (y > 0), r, _select((x == 0) & (y >= 0), 0.0, math.inf))
    return _given(_select((x != x) | (y != y), math.nan, r), out)


def kl_div(x, y, out=None):
    """x log(x / y) - x + y for positive x and y, y if x is 0 and y is not negative, else inf."""
    x, y = map(asarray, _floats(x, y))
    r = x * _UFUNC["log"](x / y) - x + y
    r = _select((x > 0) & (y > 0), r, _select((x == 0) & (y >= 0), y, math.inf))
    return _given(_select((x != x) | (y != y), math.nan, r), out)


def huber(delta, r, out=None):
    """r^2 / 2 for |r| <= delta, linear beyond. inf for negative delta."""
    delta, r = map(asarray, _floats(delta, r))
    size = abs(r)
    value = _select(size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta))
    return _given(_select(delta < 0, math.inf, value), out)


def pseudo_huber(delta, r, out=None):
    """delta^2 (sqrt(1 + (r / delta)^2) - 1); inf for negative delta."""
    delta, r = map(asarray, _floats(delta, r))
    u = r / delta
    s = u * u
    root = _UFUNC["sqrt"](1 + s)
    value = delta * delta * _select(s > 1, root - 1, s / (root + 1))  # no cancellation where s is small
    value = _select((delta == 0) | (r == 0), 0.0, value)
    return _given(_select(delta < 0, math.inf, value), out)


def boxcox(x, lmbda, out=None):
    """(x^lmbda - 1) / lmbda, or log x if lmbda is 0."""
    x, lmbda = map(asarray, _floats(x, lmbda))
    return _given(_power_less_1(_UFUNC["log"](x), lmbda), out)


def boxcox1p(x, lmbda, out=None):
    """((1 + x)^lmbda - 1) / lmbda, or log(1 + x) if lmbda is 0."""
    x, lmbda = map(asarray, _floats(x, lmbda))
    return _given(_power_less_1(_UFUNC["log1p"](x), lmbda), out)


def _power_less_1(log, lmbda):
    small = abs(lmbda) < 1e-19
    return _select(small, log, _UFUNC["expm1"](lmbda * log) / _select(small, 1.0, lmbda))


def inv_boxcox(y, lmbda, out=None):
    """(1 + lmbda y)^(1 / lmbda), or exp y if lmbda is 0."""
    y, lmbda = map(asarray, _floats(y, lmbda))
    return _given(_UFUNC["exp"](_log_of_power(y, lmbda)), out)


def inv_boxcox1p(y, lmbda, out=None):
    """inv_boxcox minus 1."""
    y, lmbda = map(asarray, _floats(y, lmbda))
    return _given(_UFUNC["expm1"](_log_of_power(y, lmbda)), out)


def _log_of_power(y, lmbda):
    none = lmbda == 0
    return _select(none, y, _UFUNC["log1p"](lmbda * y) / _select(none, 1.0, lmbda))


def exp10(x, out=None):
    """10^x."""
    return _UFUNC["power"](10.0, floating(x), out=out)


def cosm1(x, out=None):
    """cos x - 1, as -2 sin(x/2)^2."""
    s = _UFUNC["sin"](0.5 * floating(x))
    return _given(-2.0 * s * s, out)


def _degrees(x):
    """x, in degrees, reduced to half a turn. float32 is computed in float64 and converted back."""
    x = floating(x)
    return x - 360.0 * _UFUNC["rint"](x / 360.0)


def sindg(x, out=None):
    """sin of x degrees, exact at multiples of 90."""
    d = _degrees(x)
    d = _select(d > 90, 180 - d, _select(d < -90, -180 - d, d))
    return _given(_UFUNC["sin"](d * (math.pi / 180)), out)


def cosdg(x, out=None):
    """cos of x degrees, exact at multiples of 90."""
    return _given(_UFUNC["sin"]((90 - abs(_degrees(x))) * (math.pi / 180)), out)


def _half_turn(x):
    x = floating(x)
    return x - 180.0 * _UFUNC["rint"](x / 180.0)


def tandg(x, out=None):
    """tan of x degrees, inf at 90."""
    d = _half_turn(x)
    near = _UFUNC["tan"](_select(abs(d) > 45, 0.0, d) * (math.pi / 180))
    rest = _UFUNC["copysign"](90.0, d) - d
    far = 1.0 / _UFUNC["tan"](_select(rest == 0, 1.0, rest) * (math.pi / 180))
    return _given(_select(abs(d) == 90, math.inf, _select(abs(d) > 45, far, near)), out)


def cotdg(x, out=None):
    """cot of x degrees, inf at 0."""
    d = _half_turn(x)
    near = 1.0 / _UFUNC["tan"](_select(d == 0, 1.0, d) * (math.pi / 180))
    far = _UFUNC["tan"]((_UFUNC["copysign"](90.0, d) - d) * (math.pi / 180))
    return _given(_select(d == 0, math.inf, _select(abs(d) > 45, far, near)), out)


def diric(x, n):
    """Dirichlet's function sin(n x / 2) / (n sin(x / 2)), for a positive integer n."""
    x, n = map(asarray, (floating(x), n))
    half = 0.5 * x
    below = _UFUNC["sin"](half)
    near = abs(below) < 1e-7 if x.dtype.itemsize > 4 else abs(below) < 1e-3
    turns = _UFUNC["rint"](x / (2 * math.pi))
    limit = _UFUNC["power"](-1.0, turns * (n - 1))
    r = _select(near, limit, _UFUNC["sin"](n * half) / (n * _select(near, 1.0, below)))
    return _select((n > 0) & (n == _UFUNC["floor"](n)), r, math.nan).astype(x.dtype)


def radian(d, m, s, out=None):
    """Degrees, minutes and seconds, converted to radians."""
    d, m, s = map(asarray, _floats(d, m, s))
    return _given(((s / 60 + m) / 60 + d) * (math.pi / 180), out)


def sinc(x):
    """sin(pi x) / (pi x), numpy.sinc."""
    return treadle.sinc(x)


# ---- along axes ----


def _shift(a, axis):
    """The largest element, which is subtracted before exp. 0 if it is infinite or NaN."""
    top = a.real.max(axis, keepdims=True)
    return _select(_UFUNC["isfinite"](top), top, 0)


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """log(sum(b exp(a))) along axis, without overflow. return_sign adds the sign of the sum; without it the logarithm
    of a negative sum is NaN."""
    a = floating(a)
    if b is not None:
        b = floating(b)
        a = _select(b != 0, a, float("-inf"))
    top = _shift(a, axis)
    terms = _UFUNC["exp"](a - top)
    total = (terms if b is None else b * terms).sum(axis, keepdims=True)
    sign = _UFUNC["sign"](total)
    r = _UFUNC["log"](abs(total) if return_sign else total) + top
    if not keepdims:
        r, sign = r.squeeze(_axes(axis, a.ndim)), sign.squeeze(_axes(axis, a.ndim))
    return (r, sign) if return_sign else r


def _axes(axis, ndim):
    if axis is None:
        return tuple(range(ndim))
    return tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)


def softmax(x, axis=None):
    """exp(x) divided by its sum along axis (None: all axes)."""
    x = floating(x)
    e = _UFUNC["exp"](x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x, axis=None):
    """The logarithm of softmax, exact where that is near 0."""
    x = floating(x)
    moved = x - _shift(x, axis)
    return moved - _UFUNC["log"](_UFUNC["exp"](moved).sum(axis, keepdims=True))
