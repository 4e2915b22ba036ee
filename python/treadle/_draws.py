"""Draws spelled with a Generator's uniform, normal and integer ones: recorded, and fused into what uses them.

Orders come from 64-bit keys, one an element, and a stable sort; so they too are the same on every device.
"""

from math import pi

import numpy

from . import _core
from ._core import asarray, asnumpy, ndarray

_UFUNC = _core.ufuncs()
_log, _log1p, _exp, _sqrt, _tan, _power, _select, _mulhi = (
    _UFUNC[k] for k in ("log", "log1p", "exp", "sqrt", "tan", "power", "select", "mulhi")
)


def _sized(size, *parameters):
    """The shape of a draw: size, or what the parameters broadcast to."""
    if size is not None or all(numpy.isscalar(p) for p in parameters):
        return size
    return numpy.broadcast_shapes(*(() if numpy.isscalar(p) else p.shape for p in parameters))


def _given(*parameters):
    """Parameters as numbers and arrays; NumPy's go to the draw's device when they meet it."""
    return [p if numpy.isscalar(p) or isinstance(p, ndarray) else numpy.asarray(p) for p in parameters]


def _not_negative(name, v):
    if bool((v < 0).any()) if hasattr(v, "any") else v < 0:
        raise ValueError(f"{name} < 0")


def _positive(name, v):
    if bool((v <= 0).any()) if hasattr(v, "any") else v <= 0:
        raise ValueError(f"{name} <= 0")


def _above_zero(g, size):
    """Uniform in (0, 1]."""
    return 1.0 - g.random(size)


def standard_exponential(g, size=None, dtype="float64", method="inv", out=None):
    """Exponential with mean 1; method is taken and ignored."""
    shape = out.shape if out is not None else size
    r = -_log1p(-g.random(shape, dtype=dtype))
    if out is None:
        return r
    out[...] = r
    return out


def exponential(g, scale=1.0, size=None):
    """Exponential with mean scale."""
    (scale,) = _given(scale)
    _not_negative("scale", scale)
    return standard_exponential(g, _sized(size, scale)) * scale


def gumbel(g, loc=0.0, scale=1.0, size=None):
    """Gumbel: the largest of many."""
    loc, scale = _given(loc, scale)
    _not_negative("scale", scale)
    u = _above_zero(g, _sized(size, loc, scale))
    return loc - scale * _log(-_log(_select(u < 1, u, 0.5)))


def laplace(g, loc=0.0, scale=1.0, size=None):
    """Laplace: an exponential on both sides of loc."""
    loc, scale = _given(loc, scale)
    _not_negative("scale", scale)
    u = _above_zero(g, _sized(size, loc, scale))
    return loc + scale * _select(u <= 0.5, _log(2 * u), -_log(_select(u < 1, 2 - 2 * u, 1.0)))


def logistic(g, loc=0.0, scale=1.0, size=None):
    """Logistic with centre loc."""
    loc, scale = _given(loc, scale)
    _not_negative("scale", scale)
    u = _above_zero(g, _sized(size, loc, scale))
    u = _select(u < 1, u, 0.5)
    return loc + scale * (_log(u) - _log1p(-u))


def lognormal(g, mean=0.0, sigma=1.0, size=None):
    """The exponential function of a normal draw."""
    mean, sigma = _given(mean, sigma)
    _not_negative("sigma", sigma)
    return _exp(g.normal(mean, sigma, size))


def pareto(g, a, size=None):
    """Pareto II (Lomax) of shape a."""
    (a,) = _given(a)
    _positive("a", a)
    return _exp(standard_exponential(g, _sized(size, a)) / a) - 1


def rayleigh(g, scale=1.0, size=None):
    """Rayleigh: the length of a plane's normal draw."""
    (scale,) = _given(scale)
    _not_negative("scale", scale)
    return scale * _sqrt(2 * standard_exponential(g, _sized(size, scale)))


def standard_cauchy(g, size=None):
    """Cauchy about 0."""
    return _tan(pi * (g.random(size) - 0.5))


def weibull(g, a, size=None):
    """Weibull of shape a and scale 1."""
    (a,) = _given(a)
    _not_negative("a", a)
    return _power(standard_exponential(g, _sized(size, a)), 1 / a)


def triangular(g, left, mode, right, size=None):
    """Rises from left to mode and falls to right."""
    left, mode, right = _given(left, mode, right)
    for one, other, text in ((left, mode, "left > mode"), (mode, right, "mode > right")):
        over = one > other
        if bool(over.any()) if hasattr(over, "any") else over:
            raise ValueError(text)
    u, width = g.random(_sized(size, left, mode, right)), right - left
    low = u * width < (mode - left)
    up = left + _sqrt(u * width * (mode - left))
    return _select(low, up, right - _sqrt((1 - u) * width * (right - mode)))


def integers(g, low, high=None, size=None, dtype="int64", endpoint=False):
    """Integers in [low, high), element by element; what Generator.integers does with arrays."""
    low, high = (0, low) if high is None else (low, high)
    low, high = (p.astype("int64") if hasattr(p, "astype") else numpy.int64(p) for p in _given(low, high))
    high = high + 1 if endpoint else high
    if bool((low >= high).any()):
        raise ValueError("low >= high")
    info = numpy.iinfo(dtype)
    if low.size and high.size and (int(low.min()) < info.min or int(high.max()) - 1 > info.max):
        raise ValueError(f"low or high is out of bounds for {numpy.dtype(dtype).name}")
    shape = numpy.broadcast_shapes(low.shape, high.shape) if size is None else size
    bits = g.integers(-(2**63), 2**63 - 1, shape).astype("uint64")
    return (_mulhi(bits, (high - low).astype("uint64")).astype("int64") + low).astype(dtype)


# ---- orders ----


def _keys(g, shape):
    return g.integers(-(2**63), 2**63 - 1, shape)


def _order(g, n):
    from ._sorting import argsort

    return argsort(_keys(g, n), kind="stable")


def permutation(g, x, axis=0):
    """x with its slices along axis in random order; range(x) for a number."""
    if isinstance(x, (int, numpy.integer)):
        return _order(g, int(x))
    x = asarray(x)
    if not -x.ndim <= axis < x.ndim:
        raise numpy.exceptions.AxisError(axis, x.ndim)
    return _core._take(x, _order(g, x.shape[axis]), axis % x.ndim)


def shuffle(g, x, axis=0):
    """Puts the slices of x along axis in random order; lists too."""
    if isinstance(x, ndarray):
        if not x.flags.writeable:
            raise ValueError("array is read-only")
        x[...] = permutation(g, x, axis)
    elif isinstance(x, numpy.ndarray):
        x[...] = numpy.take(x, asnumpy(_order(g, x.shape[axis])), axis)
    else:
        if axis != 0:
            raise NotImplementedError("Axis argument is only supported on ndarray objects")
        x[:] = [x[i] for i in _order(g, len(x)).tolist()]


def permuted(g, x, axis=None, out=None):
    """x with every slice along axis in an order of its own (None: all elements in one random order)."""
    from ._sorting import argsort
    from ._writing import take_along_axis

    x = asarray(x)
    if axis is None:
        r = _core._take(x.ravel(), _order(g, x.size), 0).reshape(x.shape)
    else:
        r = take_along_axis(x, argsort(_keys(g, x.shape), axis, kind="stable"), axis)
    if out is None:
        return r
    out[...] = r
    return out


def _probabilities(p, n):
    """p on the host, where its sums are the same for every device."""
    p = asnumpy(p).astype("f8")
    if p.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if p.size != n:
        raise ValueError("a and p must have same size")
    if numpy.isnan(p).any():
        raise ValueError("Probabilities contain NaN")
    if (p < 0).any():
        raise ValueError("Probabilities are not non-negative")
    if abs(p.sum() - 1) > 1.5e-8:
        raise ValueError("Probabilities do not sum to 1. See Notes section of docstring for more information.")
    return p


def _weighted(g, p, size, count, replace, n):
    from ._searching import searchsorted
    from ._sorting import argsort

    p = _probabilities(p, n)
    if replace:
        ends = numpy.cumsum(p)
        u = g.random(size)
        return searchsorted(asarray(ends / ends[-1], device=u.device), u, "right")
    if (p > 0).sum() < count:
        raise ValueError("Fewer non-zero entries in p than size")
    # the first of clocks that ring at rates p (Efraimidis and Spirakis)
    rings = standard_exponential(g, n)
    rings = rings / asarray(p, device=rings.device)
    return argsort(rings, kind="stable")[:count]


def choice(g, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    """Elements of a along axis (of range(a), if a is a number): with or without replacement, with probabilities p.

    Without replacement the order is always random; shuffle is taken and ignored.
    """
    number = isinstance(a, (int, numpy.integer))
    if not number:
        a = asarray(a)
        if a.ndim == 0:
            raise ValueError("a must be a sequence or an integer, not <class 'treadle.ndarray'>")
    n = int(a) if number else a.shape[axis]
    shape = () if size is None else (int(size),) if isinstance(size, (int, numpy.integer)) else tuple(size)
    count = int(numpy.prod(shape, dtype=object))
    if n <= 0 and count:
        what = "a must be a positive integer" if number else "a cannot be empty"
        raise ValueError(what + " unless no samples are taken")
    if not replace and count > n:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    if count == 0:
        at = g.integers(0, 1, shape)
    elif p is not None:
        at = _weighted(g, p, shape, count, replace, n)
    else:
        at = g.integers(0, n, shape) if replace else _order(g, n)[:count]
    at = at.reshape(shape)
    if number:
        return at
    return _core._take(a, asarray(at, device=a.device), axis % a.ndim)
