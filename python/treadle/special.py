"""Special functions, under the names that scipy.special and torch.special give them."""

import numpy

import treadle

from . import _core
from ._core import asarray, ndarray

_UFUNC = _core.ufuncs()
_exp, _log, _abs, _select = _UFUNC["exp"], _UFUNC["log"], _UFUNC["absolute"], _UFUNC["select"]

# A name here: the row of ops.def that it is.
_ROWS = {
    "cbrt": "cbrt",
    "erf": "erf",
    "erfc": "erfc",
    "exp2": "exp2",
    "expit": "sigmoid",
    "expm1": "expm1",
    "gamma": "gamma",
    "gammaln": "lgamma",
    "lgamma": "lgamma",
    "log1p": "log1p",
    "logit": "logit",
    "softplus": "softplus",
    "xlogy": "xlogy",
}
globals().update({name: getattr(treadle, row) for name, row in _ROWS.items()})

__all__ = [*_ROWS, "entr", "log_expit", "log_ndtr", "log_softmax", "logsumexp", "ndtr", "softmax", "xlog1py"]


def _floating(x):
    x = x if isinstance(x, ndarray) else asarray(x)
    return x if x.dtype.kind in "fc" else x.astype("float64")


def xlog1py(x, y, out=None):
    """x log(1 + y), 0 where x is 0 and y is not NaN."""
    x, y = _floating(x), _floating(y)
    none = (x == 0) & (y == y)
    return _UFUNC["multiply"](x, _UFUNC["log1p"](_select(none, 0, y)), out=out)


def entr(x):
    """-x log x, 0 at 0 and -inf below."""
    x = _floating(x)
    return _select(x < 0, float("-inf"), -_UFUNC["xlogy"](x, x))


def log_expit(x):
    """The logarithm of the logistic function, -softplus(-x)."""
    return -_UFUNC["softplus"](-_floating(x))


def ndtr(x):
    """The distribution function of the normal distribution."""
    return 0.5 * _UFUNC["erfc"](_floating(x) * -(0.5**0.5))


def log_ndtr(x):
    """The logarithm of ndtr, by a continued fraction below -5 where ndtr runs out."""
    x = _floating(x)
    far = x < -5
    t = _select(far, -x, 5.0)
    fraction = t
    for k in range(30, 0, -1):
        fraction = t + k / fraction
    tail = -0.5 * t * t - _log(fraction) - 0.5 * float(numpy.log(2 * numpy.pi))
    near = _select(far, 0.0, x)
    upper = _UFUNC["log1p"](-ndtr(-near))
    return _select(far, tail, _select(near > 0, upper, _log(ndtr(near))))


# ---- along axes ----


def _shift(a, axis):
    """The largest element, which is subtracted before exp; 0 where it is not a number that can be."""
    top = a.max(axis, keepdims=True)
    return _select(_UFUNC["isfinite"](top), top, 0)


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """log(sum(b exp(a))) along axis, without overflow. With return_sign also the sign of the sum; else NaN where that
    is negative.
    """
    a = _floating(a)
    if b is not None:
        b = _floating(b)
        a = _select(b != 0, a, float("-inf"))
    top = _shift(a, axis)
    terms = _exp(a - top)
    total = (terms if b is None else b * terms).sum(axis, keepdims=True)
    sign = _UFUNC["sign"](total)
    r = _log(_abs(total) if return_sign else total) + top
    if not keepdims:
        r, sign = r.squeeze(_axes(axis, a.ndim)), sign.squeeze(_axes(axis, a.ndim))
    return (r, sign) if return_sign else r


def _axes(axis, ndim):
    if axis is None:
        return tuple(range(ndim))
    return tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)


def softmax(x, axis=None):
    """exp(x) divided by its sum along axis (None: all axes)."""
    x = _floating(x)
    e = _exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x, axis=None):
    """The logarithm of softmax, exact where that is near 0."""
    x = _floating(x)
    moved = x - _shift(x, axis)
    return moved - _log(_exp(moved).sum(axis, keepdims=True))
