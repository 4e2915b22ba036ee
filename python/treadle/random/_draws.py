"""The distributions of a Generator that draw one number for each element.

Some are lazy expressions of its uniform, normal and integer draws, which fuse into what uses them. Those that reject
values are kernels (_samplers.py). Parameters are numbers or arrays and are checked as in NumPy; checking a treadle
array waits for its values.
"""

import functools
from math import pi

import numpy

from .. import _core
from .._compile._generate import define
from .._core import asarray, ndarray
from .._exchange._host import check_out, store

_UFUNC = _core.ufuncs()
_log, _log1p, _exp, _sqrt, _tan, _power, _select, _mulhi = (
    _UFUNC[k] for k in ("log", "log1p", "exp", "sqrt", "tan", "power", "select", "mulhi")
)

# ---- parameters ----

# What a parameter must not be, with the error text. {nan} becomes NumPy's "is NaN" or "contains NaNs".
_CHECKS = {
    "any": (),
    "not negative": ((lambda v: v < 0, "{name} < 0"),),
    "positive": ((lambda v: v <= 0, "{name} <= 0"),),
    "positive number": ((lambda v: v != v, "{name} must not be NaN"), (lambda v: v <= 0, "{name} <= 0")),
    "0 to 1": ((lambda v: ~((v >= 0) & (v <= 1)), "{name} < 0, {name} > 1 or {name} {nan}"),),
    "above 0 to 1": ((lambda v: ~((v > 0) & (v <= 1)), "{name} <= 0, {name} > 1 or {name} contains NaNs"),),
    "0 to below 1": ((lambda v: ~((v >= 0) & (v < 1)), "{name} < 0, {name} >= 1 or {name} {nan}"),),
    "above 1": ((lambda v: ~(v > 1), "{name} <= 1 or {name} {nan}"),),
    # the largest mean for which int64 holds draws ten deviations above it
    "poisson": (
        (lambda v: v > _POISSON_MAX, "{name} value too large"),
        (lambda v: ~(v >= 0), "{name} < 0 or {name} {nan}"),
    ),
}
_POISSON_MAX = 2.0**63 - 1 - 10 * (2.0**63 - 1) ** 0.5


def _refuse(bad, text):
    if bool(bad.any()):
        raise ValueError(text)


def _parameter(name, v, check="any", dtype="float64"):
    """v as a NumPy number, or as an array of dtype of NumPy's or treadle's, after the check."""
    if isinstance(v, ndarray):
        if v.dtype.kind == "c":
            raise TypeError(f"{name} is complex: expected real numbers")
        v = v.astype(dtype) if v.dtype != dtype else v
    elif isinstance(v, (int, float)):
        v = numpy.dtype(dtype).type(v)
    else:
        if v is None:
            raise TypeError(f"{name} is None: expected real numbers")
        if numpy.asarray(v).dtype.kind == "c":
            raise TypeError(f"{name} is complex: expected real numbers")
        v = numpy.asarray(v).astype(dtype)
        v = v if v.ndim else v[()]
    for bad, text in _CHECKS[check]:
        _refuse(bad(v), text.format(name=name, nan="contains NaNs" if numpy.ndim(v) else "is NaN"))
    return v


def _shape(size):
    """size as a tuple."""
    shape = tuple(size) if hasattr(size, "__iter__") else (size,)
    shape = tuple(n.__index__() for n in shape)
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    return shape


def _sized(size, *parameters):
    """The shape of a draw: size, or the shape that the parameters broadcast to."""
    shape = numpy.broadcast_shapes(*(numpy.shape(p) if not isinstance(p, ndarray) else p.shape for p in parameters))
    if size is None:
        return shape
    size = _shape(size)
    if shape and numpy.broadcast_shapes(size, shape) != size:
        dims = f"Output size {size} is not compatible with broadcast dimensions of inputs"
        raise ValueError(f"{dims} {shape}.")
    return size


def _into(out, dtype, size, name):
    """The shape of a draw that fills out. Raises where out's dtype or shape differs from what the call asks for."""
    if numpy.dtype(dtype) not in (numpy.float32, numpy.float64):
        raise TypeError(f"Unsupported dtype {numpy.dtype(dtype)!r} for {name}")
    if out is None:
        return size
    check_out(name, out)
    if out.dtype != dtype:
        raise TypeError(
            f"Supplied output array has the wrong type. Expected {numpy.dtype(dtype).name}, got {out.dtype}"
        )
    if size is not None and _shape(size) != out.shape:
        raise ValueError("size must match out.shape when used together")
    return out.shape


def _filled(name, out, r):
    return r if out is None else store(name, out, r)


# ---- by rejection ----


@functools.lru_cache(maxsize=256)
def sampler(name, arrays, rows=False):
    """The kernel of a sampler.

    One thread computes one element from its random bits and its parameters; arrays says which parameters are arrays.
    With rows, one thread fills one row of the result."""
    from .. import cuda
    from . import _samplers

    names = [f"p{k}" for k in range(len(arrays))]
    given = ", ".join(f"{p}[i]" if a else p for p, a in zip(names, arrays, strict=True))
    text = (
        f"def {name}({', '.join(['bits', *names, 'out'])}):\n"
        f"    i = cuda.grid(1)\n"
        f"    if i < out.shape[0]:\n"
        f"        {f'_f(bits[i], {given}, out[i])' if rows else f'out[i] = _f(bits[i], 0, {given})'}\n"
    )
    return cuda.jit(define(text, name, cuda=cuda, _f=getattr(_samplers, name)))


def _bits(g, shape):
    """64 random bits for each element."""
    return g._words(0, 0, shape, "uint64")


def _flat(v, shape, device):
    """v broadcast to shape and flattened, on the device."""
    v = asarray(v, device=device)
    return (v if v.shape == shape else _core._broadcast_to(v, shape)).reshape(-1)


def _sampled(g, name, size, *parameters, dtype="float64", out=None):
    """Draws of the sampler `name`, in the shape of size or of the broadcast parameters, which are already checked."""
    shape = _sized(size, *parameters)
    bits = _bits(g, shape)
    device = bits.device
    count = bits.size
    r = _core.empty(shape, dtype, device=device)
    if count:
        arrays = tuple(numpy.ndim(p) > 0 for p in parameters)
        given = [_flat(p, shape, device) if a else _number(p) for p, a in zip(parameters, arrays, strict=True)]
        sampler(name, arrays).forall(count)(bits.reshape(-1), *given, r.reshape(-1))
    return _filled(f"standard_{name}", out, r)


def _number(p):
    return p.get()[()] if isinstance(p, ndarray) else p


# ---- uniform and normal: numbers alone are drawn by the core ----


def uniform(g, low=0.0, high=1.0, size=None, dtype="float64"):
    """Uniform in [low, high).

    Parameters
    ----------
    low : float or array_like, default 0.0
        Least number.
    high : float or array_like, default 1.0
        Upper bound.
    size : int or tuple of ints, optional
        Shape of the result; None means one number, or the parameters' broadcast shape.
    dtype : dtype, default 'float64'
        float32, float64, or integers to round to.

    Returns
    -------
    ndarray
        Of size's shape, or the parameters'.

    Raises
    ------
    ValueError
        high is below low.
    OverflowError
        high - low is not finite.

    Examples
    --------
    >>> np.random.default_rng(7).uniform(1.0, 2.0, size=3).shape
    (3,)
    """
    low, high = _parameter("low", low, dtype=dtype), _parameter("high", high, dtype=dtype)
    width = high - low
    if isinstance(width, ndarray):
        finite = abs(width) < numpy.inf
    else:
        finite = numpy.isfinite(width)
    if bool((~finite).any()):
        raise OverflowError("high - low range exceeds valid bounds")
    _refuse(width < 0, "high - low < 0")
    return g.random(_sized(size, low, high), dtype) * width + low


def normal(g, loc=0.0, scale=1.0, size=None, dtype="float64"):
    """Normal of a mean and a deviation.

    Parameters
    ----------
    loc : float or array_like, default 0.0
        Mean.
    scale : float or array_like, default 1.0
        Deviation, 0 or more.
    size : int or tuple of ints, optional
        Shape of the result; None means one number, or the parameters' broadcast shape.
    dtype : dtype, default 'float64'
        float32, float64, or integers to round to.

    Returns
    -------
    ndarray
        Of size's shape, or the parameters'.

    Raises
    ------
    ValueError
        scale is negative.

    Examples
    --------
    >>> np.random.default_rng(7).normal(size=3).shape
    (3,)
    """
    loc, scale = _parameter("loc", loc, dtype=dtype), _parameter("scale", scale, "not negative", dtype)
    return g.standard_normal(_sized(size, loc, scale), dtype) * scale + loc


# ---- by inversion ----


def _above_zero(g, size):
    """Uniform in (0, 1]."""
    return 1.0 - g.random(size)


def standard_exponential(g, size=None, dtype="float64", method="zig", out=None):
    """Exponential with mean 1, by inversion whatever the method says."""
    shape = _into(out, dtype, size, "standard_exponential")
    return _filled("standard_exponential", out, -_log1p(-g.random(shape, dtype)))


def exponential(g, scale=1.0, size=None):
    """Exponential with mean scale."""
    scale = _parameter("scale", scale, "not negative")
    return standard_exponential(g, _sized(size, scale)) * scale


def gumbel(g, loc=0.0, scale=1.0, size=None):
    """Gumbel: the largest of many."""
    loc, scale = _parameter("loc", loc), _parameter("scale", scale, "not negative")
    u = _above_zero(g, _sized(size, loc, scale))
    return loc - scale * _log(-_log(_select(u < 1, u, 0.5)))


def laplace(g, loc=0.0, scale=1.0, size=None):
    """Laplace: an exponential on both sides of loc."""
    loc, scale = _parameter("loc", loc), _parameter("scale", scale, "not negative")
    u = _above_zero(g, _sized(size, loc, scale))
    return loc + scale * _select(u <= 0.5, _log(2 * u), -_log(_select(u < 1, 2 - 2 * u, 1.0)))


def logistic(g, loc=0.0, scale=1.0, size=None):
    """Logistic with centre loc."""
    loc, scale = _parameter("loc", loc), _parameter("scale", scale, "not negative")
    u = _above_zero(g, _sized(size, loc, scale))
    u = _select(u < 1, u, 0.5)
    return loc + scale * (_log(u) - _log1p(-u))


def lognormal(g, mean=0.0, sigma=1.0, size=None):
    """The exponential function of a normal draw."""
    mean, sigma = _parameter("mean", mean), _parameter("sigma", sigma, "not negative")
    return _exp(normal(g, mean, sigma, size))


def pareto(g, a, size=None):
    """Pareto II (Lomax) of shape a."""
    a = _parameter("a", a, "positive")
    return _UFUNC["expm1"](standard_exponential(g, _sized(size, a)) / a)


def power(g, a, size=None):
    """Density a x**(a - 1) in [0, 1]."""
    a = _parameter("a", a, "positive")
    return _power(_above_zero(g, _sized(size, a)), 1 / a)


def rayleigh(g, scale=1.0, size=None):
    """Rayleigh: the length of a plane's normal draw."""
    scale = _parameter("scale", scale, "not negative")
    return scale * _sqrt(2 * standard_exponential(g, _sized(size, scale)))


def standard_cauchy(g, size=None):
    """Cauchy about 0."""
    return _tan(pi * (g.random(size) - 0.5))


def weibull(g, a, size=None):
    """Weibull of shape a and scale 1."""
    a = _parameter("a", a, "not negative")
    r = standard_exponential(g, _sized(size, a))
    if isinstance(a, ndarray) or numpy.ndim(a):
        a = asarray(a, device=r.device)
        return _select(a > 0, _power(r, 1 / _select(a > 0, a, 1.0)), 0.0)
    return _power(r, 1 / a) if a != 0 else r * 0


def triangular(g, left, mode, right, size=None):
    """Rises from left to mode and falls to right."""
    left, mode, right = (_parameter(k, v) for k, v in (("left", left), ("mode", mode), ("right", right)))
    _refuse(left > mode, "left > mode")
    _refuse(mode > right, "mode > right")
    _refuse(left == right, "left == right")
    u, width = g.random(_sized(size, left, mode, right)), right - left
    low = u * width < (mode - left)
    up = left + _sqrt(u * width * (mode - left))
    return _select(low, up, right - _sqrt((1 - u) * width * (right - mode)))


# ---- by rejection: of real numbers ----


def standard_gamma(g, shape, size=None, dtype="float64", out=None):
    """Gamma of that shape and scale 1."""
    size = _into(out, dtype, size, "standard_gamma")
    return _sampled(g, "gamma", size, _parameter("shape", shape, "not negative"), dtype=dtype, out=out)


def gamma(g, shape, scale=1.0, size=None):
    """Gamma of that shape and scale."""
    shape, scale = _parameter("shape", shape, "not negative"), _parameter("scale", scale, "not negative")
    return _sampled(g, "gamma", _sized(size, shape, scale), shape) * scale


def beta(g, a, b, size=None):
    """Beta of shapes a and b, in [0, 1]."""
    return _sampled(g, "beta", size, _parameter("a", a, "positive"), _parameter("b", b, "positive"))


def chisquare(g, df, size=None):
    """The sum of df squares of normal draws."""
    return _sampled(g, "chisquare", size, _parameter("df", df, "positive"))


def f(g, dfnum, dfden, size=None):
    """The ratio of two mean squares (Fisher's F)."""
    dfnum, dfden = _parameter("dfnum", dfnum, "positive"), _parameter("dfden", dfden, "positive")
    return _sampled(g, "f", size, dfnum, dfden)


def noncentral_chisquare(g, df, nonc, size=None):
    """Chi-square with df degrees of freedom about a centre that is sqrt(nonc) away."""
    df, nonc = _parameter("df", df, "positive"), _parameter("nonc", nonc, "not negative")
    return _sampled(g, "noncentral_chisquare", size, df, nonc)


def noncentral_f(g, dfnum, dfden, nonc, size=None):
    """F whose numerator is not central."""
    dfnum, dfden = _parameter("dfnum", dfnum, "positive"), _parameter("dfden", dfden, "positive")
    return _sampled(g, "noncentral_f", size, dfnum, dfden, _parameter("nonc", nonc, "not negative"))


def standard_t(g, df, size=None):
    """Student's t with df degrees of freedom."""
    return _sampled(g, "standard_t", size, _parameter("df", df, "positive"))


def vonmises(g, mu, kappa, size=None):
    """An angle in [-pi, pi] about mu (von Mises)."""
    return _sampled(g, "vonmises", size, _parameter("mu", mu), _parameter("kappa", kappa, "not negative"))


def wald(g, mean, scale, size=None):
    """Wald, or inverse Gaussian."""
    return _sampled(g, "wald", size, _parameter("mean", mean, "positive"), _parameter("scale", scale, "positive"))


# ---- by rejection: of counts ----


def binomial(g, n, p, size=None):
    """How often of n times what has probability p occurs."""
    n, p = _parameter("n", n, "not negative", "int64"), _parameter("p", p, "0 to 1")
    return _sampled(g, "binomial", size, n, p, dtype="int64")


def geometric(g, p, size=None):
    """The number of tries up to the first success, of probability p."""
    return _sampled(g, "geometric", size, _parameter("p", p, "above 0 to 1"), dtype="int64")


def hypergeometric(g, ngood, nbad, nsample, size=None):
    """How many of nsample things, taken from ngood + nbad, are good."""
    names = (("ngood", ngood), ("nbad", nbad), ("nsample", nsample))
    good, bad, sample = (_parameter(k, v, "any", "int64") for k, v in names)
    if bool((good >= 10**9).any()) or bool((bad >= 10**9).any()):
        raise ValueError("both ngood and nbad must be less than 1000000000")
    _refuse(good + bad < sample, "ngood + nbad < nsample")
    for (name, _), v in zip(names, (good, bad, sample), strict=True):
        _refuse(v < 0, f"{name} < 0")
    return _sampled(g, "hypergeometric", size, good, bad, sample, dtype="int64")


def logseries(g, p, size=None):
    """Logarithmic series: k with probability p**k / k / -log(1 - p)."""
    return _sampled(g, "logseries", size, _parameter("p", p, "0 to below 1"), dtype="int64")


def negative_binomial(g, n, p, size=None):
    """The number of failures before the n-th success, of probability p; n need not be whole."""
    n, p = _parameter("n", n, "positive number"), _parameter("p", p, "above 0 to 1")
    most = _POISSON_MAX  # largest Poisson mean whose draws, ten deviations up, fit int64
    over = (1 - p) / p * (n + 10 * (n**0.5)) > most
    _refuse(over, "n too large or p too small, see Generator.negative_binomial Notes")
    return _sampled(g, "negative_binomial", size, n, p, dtype="int64")


def poisson(g, lam=1.0, size=None):
    """The number of events where lam are expected."""
    return _sampled(g, "poisson", size, _parameter("lam", lam, "poisson"), dtype="int64")


def zipf(g, a, size=None):
    """k with probability k**-a / zeta(a)."""
    return _sampled(g, "zipf", size, _parameter("a", a, "above 1"), dtype="int64")


# ---- integers ----


def _bound(v):
    """A bound of integers(): Python's ints in an object array (of no axes for a number), or treadle's array of
    integers."""
    if isinstance(v, ndarray):
        return v if v.dtype.kind in "iu" else v.astype("int64")
    v = numpy.asarray(v)
    if v.dtype.kind not in "biufO":
        raise TypeError(f"integers: bounds are integers, not {v.dtype}")
    return numpy.asarray(numpy.frompyfunc(int, 1, 1)(v), object)


def _extent(v):
    """The least and the greatest value of a bound, as Python's ints."""
    return int(v.min()), int(v.max())


def _wrong(low, high, endpoint):
    """Whether low is above high anywhere, or equal to it without endpoint."""
    if isinstance(low, ndarray) or isinstance(high, ndarray):
        device = (low if isinstance(low, ndarray) else high).device
        kinds = [_extent(v) for v in (low, high)]
        wide = "uint64" if min(k[0] for k in kinds) >= 0 else "int64"
        low, high = (asarray(v if isinstance(v, ndarray) else v.astype(wide), device=device) for v in (low, high))
        low, high = low.astype(wide), high.astype(wide)
    return bool((low > high if endpoint else low >= high).any())


def _modulo(v, device):
    """v modulo 2**64, as uint64 on the device."""
    if not isinstance(v, ndarray):
        v = numpy.asarray(v % 2**64).astype("uint64")
    return asarray(v, device=device).astype("uint64")


def integers(g, low, high=None, size=None, dtype="int64", endpoint=False):
    """Integers of an interval, all equally likely.

    Parameters
    ----------
    low : int or array_like of int
        Least number; without high the upper bound, and 0 is the least.
    high : int or array_like of int, optional
        Upper bound, which is left out.
    size : int or tuple of ints, optional
        Shape of the result; None means one number, or the parameters' broadcast shape.
    dtype : dtype, default 'int64'
        An integer dtype or bool.
    endpoint : bool, default False
        The upper bound may be drawn.

    Returns
    -------
    ndarray
        Of size's shape, or the parameters'.

    Raises
    ------
    ValueError
        low is not below high, or dtype does not hold them.
    TypeError
        dtype is neither integers nor bool.

    Examples
    --------
    >>> np.random.default_rng(7).integers(0, 6, size=3).shape
    (3,)
    """
    dtype = numpy.dtype(dtype)
    if dtype.kind not in "biu":
        raise TypeError(f"Unsupported dtype {dtype!r} for integers")
    least, most = (0, 1) if dtype.kind == "b" else (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
    low, high = (_bound(v) for v in ((0, low) if high is None else (low, high)))
    shape = _sized(size, low, high)
    if low.size and high.size:
        if _extent(low)[0] < least:
            raise ValueError(f"low is out of bounds for {dtype.name}")
        if _extent(high)[1] - (not endpoint) > most:
            raise ValueError(f"high is out of bounds for {dtype.name}")
        if _wrong(low, high, endpoint):
            raise ValueError("low > high" if endpoint else "low >= high")
    if not low.ndim and not high.ndim:
        low, high = int(low), int(high)
        return g._words(low % 2**64, (high - low + bool(endpoint)) % 2**64, shape, dtype)
    bits = _bits(g, shape)
    low, high = _modulo(low, bits.device), _modulo(high, bits.device)
    width = high - low + numpy.uint64(bool(endpoint))  # a width of 0 stands for 2**64
    drawn = _select(width == 0, bits, _mulhi(bits, width)) + low
    return drawn.astype("uint64" if dtype.kind == "u" else "int64").astype(dtype)


def bytes(g, length):
    """Random bytes.

    Parameters
    ----------
    length : int
        How many.

    Returns
    -------
    bytes
        On the host.

    Examples
    --------
    >>> len(np.random.default_rng(7).bytes(5))
    5
    """
    return g._words(0, 256, (int(length),), "uint8").get().tobytes()


DISTRIBUTIONS = """beta binomial bytes chisquare exponential f gamma geometric gumbel hypergeometric laplace logistic
lognormal logseries negative_binomial noncentral_chisquare noncentral_f pareto poisson power rayleigh standard_cauchy
standard_exponential standard_gamma standard_t triangular vonmises wald weibull zipf""".split()
