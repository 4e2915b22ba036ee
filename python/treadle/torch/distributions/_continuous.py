"""Distributions with densities."""

import math

from .. import linalg
from .._prim import apply, array, wrap
from .._register import FUNCTIONS
from .._tensor._random import _normal, _source, _uniform
from ..autograd.function import Function
from ..special import digamma, lgamma
from ._base import LOG_2PI, Distribution, ExponentialFamily, broadcast, register_kl


def drawn(draw, shape, like):
    """Draws of a shape, in like's dtype and on its device."""
    dev = array(like).device
    wide = like.dtype._name if like.dtype._name in ("float32", "float64") else "float32"
    return wrap(draw(_source(None, dev), tuple(shape), wide)).to(like.dtype)


def _between(shape, like):
    """Uniform numbers in (0, 1]."""
    return 1 - drawn(_uniform, shape, like)


class _Located(Distribution):
    """Distributions with loc and scale."""

    has_rsample = True
    arg_names = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast(loc, scale)
        super().__init__(self.loc.shape)

    mean = property(lambda self: self.loc, doc="The mean.")
    mode = mean


class Normal(_Located, ExponentialFamily):
    """Normal with mean loc and standard deviation scale."""

    variance = property(lambda self: self.scale**2, doc="The variance.")
    stddev = property(lambda self: self.scale, doc="The standard deviation.")

    def rsample(self, sample_shape=()):
        """loc + scale times normal draws."""
        return self.loc + drawn(_normal, self._extended_shape(sample_shape), self.loc) * self.scale

    def log_prob(self, value):
        """The logarithm of the density at value."""
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - LOG_2PI / 2

    def cdf(self, value):
        """The probability up to value."""
        return 0.5 * (1 + apply("erf", (value - self.loc) / self.scale / math.sqrt(2)))

    def icdf(self, value):
        """The value at which cdf equals this."""
        return self.loc + self.scale * FUNCTIONS["erfinv"](2 * value - 1) * math.sqrt(2)

    def entropy(self):
        """The entropy."""
        return 0.5 + LOG_2PI / 2 + self.scale.log()


class HalfNormal(Distribution):
    """The absolute value of a normal draw with mean 0."""

    has_rsample = True
    arg_names = ("scale",)

    def __init__(self, scale, validate_args=None):
        (self.scale,) = broadcast(scale)
        super().__init__(self.scale.shape)

    mode = property(lambda self: self.scale * 0, doc="0.")
    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi), doc="The mean.")
    variance = property(lambda self: self.scale**2 * (1 - 2 / math.pi), doc="The variance.")

    def rsample(self, sample_shape=()):
        """Absolute values of normal draws."""
        return (drawn(_normal, self._extended_shape(sample_shape), self.scale) * self.scale).abs()

    def log_prob(self, value):
        """The logarithm of the density at value."""
        inside = Normal(self.scale * 0, self.scale, validate_args=False).log_prob(value) + math.log(2)
        return apply("select", value >= 0, inside, -math.inf)

    def cdf(self, value):
        """The probability up to value."""
        return apply("erf", value / self.scale / math.sqrt(2))

    def icdf(self, value):
        """Where cdf is value."""
        return self.scale * math.sqrt(2) * FUNCTIONS["erfinv"](value)

    def entropy(self):
        """The entropy."""
        return 0.5 * math.log(math.pi / 2) + 0.5 + self.scale.log()


class Laplace(_Located):
    """An exponential on both sides of loc."""

    variance = property(lambda self: 2 * self.scale**2, doc="The variance.")

    def rsample(self, sample_shape=()):
        """By inversion of the cdf."""
        u = drawn(_uniform, self._extended_shape(sample_shape), self.loc) - 0.5
        return self.loc - self.scale * u.sign() * apply("log1p", -2 * u.abs())

    def log_prob(self, value):
        """The logarithm of the density at value."""
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value):
        """The probability up to value."""
        gap = value - self.loc
        return 0.5 - 0.5 * gap.sign() * apply("expm1", -gap.abs() / self.scale)

    def icdf(self, value):
        """Where cdf is value."""
        gap = value - 0.5
        return self.loc - self.scale * gap.sign() * apply("log1p", -2 * gap.abs())

    def entropy(self):
        """The entropy."""
        return 1 + (2 * self.scale).log()


class Uniform(Distribution):
    """Uniform in [low, high)."""

    has_rsample = True
    arg_names = ("low", "high")

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast(low, high)
        super().__init__(self.low.shape)

    mode = property(lambda self: self.high * math.nan, doc="NaN: there is none.")
    mean = property(lambda self: (self.low + self.high) / 2, doc="The mean.")
    variance = property(lambda self: (self.high - self.low) ** 2 / 12, doc="The variance.")

    def rsample(self, sample_shape=()):
        """low + (high - low) times uniform draws."""
        return self.low + drawn(_uniform, self._extended_shape(sample_shape), self.low) * (self.high - self.low)

    def log_prob(self, value):
        """The logarithm of the density at value."""
        inside = (value >= self.low) & (value < self.high)
        return apply("select", inside, -(self.high - self.low).log(), -math.inf)

    def cdf(self, value):
        """The probability up to value."""
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value):
        """Where cdf is value."""
        return value * (self.high - self.low) + self.low

    def entropy(self):
        """The entropy."""
        return (self.high - self.low).log()


class Exponential(ExponentialFamily):
    """Exponential with mean 1 / rate."""

    has_rsample = True
    arg_names = ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast(rate)
        super().__init__(self.rate.shape)

    mode = property(lambda self: self.rate * 0, doc="0.")
    mean = property(lambda self: 1 / self.rate, doc="The mean.")
    variance = property(lambda self: self.rate**-2, doc="The variance.")

    def rsample(self, sample_shape=()):
        """By inversion."""
        return -_between(self._extended_shape(sample_shape), self.rate).log() / self.rate

    def log_prob(self, value):
        """The logarithm of the density at value."""
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        """The probability up to value."""
        return 1 - (-self.rate * value).exp()

    def icdf(self, value):
        """Where cdf is value."""
        return -apply("log1p", -value) / self.rate

    def entropy(self):
        """The entropy."""
        return 1 - self.rate.log()


class Gamma(ExponentialFamily):
    """The gamma distribution of shape concentration. Its mean is concentration / rate."""

    arg_names = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast(concentration, rate)
        super().__init__(self.concentration.shape)

    mean = property(lambda self: self.concentration / self.rate, doc="The mean.")
    variance = property(lambda self: self.concentration / self.rate**2, doc="The variance.")

    has_rsample = True
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0), doc="The likeliest value.")

    def rsample(self, sample_shape=()):
        """Draws by rejection. Their derivative with respect to the shape is implicit."""
        return _gamma(self.concentration, self._extended_shape(sample_shape)) / self.rate

    def cdf(self, value):
        """The probability up to value."""
        return FUNCTIONS["igamma"](self.concentration, self.rate * value)

    def log_prob(self, value):
        """The logarithm of the density at value."""
        a, b = self.concentration, self.rate
        return apply("xlogy", a, b) + apply("xlogy", a - 1, value) - b * value - lgamma(a)

    def entropy(self):
        """The entropy."""
        a = self.concentration
        return a - self.rate.log() + lgamma(a) + (1 - a) * digamma(a)


class _Gamma(Function):
    """Gamma draws of rate 1. The derivative of a draw with respect to its shape is minus that of the cdf, divided by
    the density."""

    @staticmethod
    def forward(ctx, concentration, size):
        a = array(concentration.detach())
        x = wrap(_source(None, a.device).standard_gamma(a.astype("float64"), tuple(size)))
        ctx.save_for_backward(concentration, x)
        return x.to(concentration.dtype)

    @staticmethod
    def backward(ctx, g):
        concentration, x = ctx.saved_tensors
        a = concentration.detach().double().expand(x.shape)
        step = a * 1e-4
        slope = (FUNCTIONS["igamma"](a + step, x) - FUNCTIONS["igamma"](a - step, x)) / (2 * step)
        density = ((a - 1) * x.log() - x - lgamma(a)).exp()
        r = (-slope / density).to(g.dtype) * g
        extra = r.dim() - concentration.dim()
        return (r.sum(tuple(range(extra))) if extra else r), None


def _gamma(shape_of, size):
    tiny = 1.1754943508222875e-38
    return _Gamma.apply(shape_of, tuple(size)).clamp(min=tiny)


class Beta(ExponentialFamily):
    """Beta of shapes concentration1 and concentration0, in [0, 1]."""

    arg_names = ("concentration1", "concentration0")

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast(concentration1, concentration0)
        super().__init__(self.concentration1.shape)

    @property
    def mode(self):
        """The likeliest value."""
        both = FUNCTIONS["stack"]([self.concentration1, self.concentration0], -1)
        return Dirichlet(both, validate_args=False).mode[..., 0]

    mean = property(lambda self: self.concentration1 / (self.concentration1 + self.concentration0), doc="The mean.")

    @property
    def variance(self):
        """The variance."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total**2 * (total + 1))

    has_rsample = True

    def rsample(self, sample_shape=()):
        """The share of one gamma draw in the sum of two."""
        a, b = (_gamma(c, self._extended_shape(sample_shape)) for c in (self.concentration1, self.concentration0))
        return a / (a + b)

    def log_prob(self, value):
        """The logarithm of the density at value."""
        a, b = self.concentration1, self.concentration0
        return apply("xlogy", a - 1, value) + apply("xlogy", b - 1, 1 - value) + lgamma(a + b) - lgamma(a) - lgamma(b)

    def entropy(self):
        """The entropy."""
        a, b = self.concentration1, self.concentration0
        size = lgamma(a) + lgamma(b) - lgamma(a + b)
        return size - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b)


class Dirichlet(ExponentialFamily):
    """Shares of a whole, along the last dimension of concentration."""

    arg_names = ("concentration",)

    def __init__(self, concentration, validate_args=None):
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:])

    @property
    def mode(self):
        """The likeliest shares. If all concentrations are below 1, the largest of them gets everything."""
        above = (self.concentration - 1).clamp(min=0)
        shares = above / above.sum(-1, True)
        largest = self.concentration == self.concentration.amax(-1, True)
        return apply("select", (self.concentration < 1).all(-1, True), largest.to(shares.dtype), shares)

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, True), doc="The mean.")

    @property
    def variance(self):
        """The variance."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    has_rsample = True

    def rsample(self, sample_shape=()):
        """The shares of gamma draws in their sum."""
        g = _gamma(self.concentration, self._extended_shape(sample_shape))
        return g / g.sum(-1, True)

    def log_prob(self, value):
        """The logarithm of the density at value."""
        a = self.concentration
        return apply("xlogy", a - 1, value).sum(-1) + lgamma(a.sum(-1)) - lgamma(a).sum(-1)

    def entropy(self):
        """The entropy."""
        a, n = self.concentration, self.concentration.shape[-1]
        total = a.sum(-1)
        size = lgamma(a).sum(-1) - lgamma(total)
        return size - (n - total) * digamma(total) - ((a - 1) * digamma(a)).sum(-1)


def _scale_tril(name, covariance, precision):
    """The Cholesky factor of a covariance or of the inverse of its inverse. ValueError: it is not positive-definite."""
    try:
        return linalg.cholesky(linalg.inv(precision) if covariance is None else covariance)
    except linalg.LinAlgError as problem:
        which = "precision_matrix" if covariance is None else "covariance_matrix"
        raise ValueError(
            f"Expected parameter {which} of distribution {name} to satisfy the constraint PositiveDefinite(), but "
            f"{problem}"
        ) from None


class MultivariateNormal(Distribution):
    """Normal vectors with mean loc. One of covariance_matrix, precision_matrix and the Cholesky factor scale_tril is
    given."""

    has_rsample = True
    arg_names = ("loc", "scale_tril")

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if sum(m is not None for m in (covariance_matrix, precision_matrix, scale_tril)) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        if scale_tril is None:
            scale_tril = _scale_tril(type(self).__name__, covariance_matrix, precision_matrix)
        n, lead = loc.shape[-1], broadcast(loc[..., 0], scale_tril[..., 0, 0])[0].shape
        self.loc, self._unbroadcasted_scale_tril = loc.expand((*lead, n)), scale_tril
        self.__dict__["scale_tril"] = scale_tril  # the check of the parameters reads it
        super().__init__(lead, (n,))

    @property
    def scale_tril(self):
        """The covariance's Cholesky factor."""
        # The first access computes it. Classes of other libraries set it under PyTorch's name for it.
        return self._unbroadcasted_scale_tril.expand((*self._batch_shape, *self._event_shape, *self._event_shape))

    mean = property(lambda self: self.loc, doc="The mean.")
    precision_matrix = property(lambda self: linalg.inv(self.covariance_matrix), doc="The covariance's inverse.")
    mode = mean
    covariance_matrix = property(
        lambda self: self.scale_tril @ self.scale_tril.transpose(-2, -1), doc="The covariance."
    )
    variance = property(lambda self: (self.scale_tril**2).sum(-1), doc="The variance of each part.")

    def rsample(self, sample_shape=()):
        """loc + scale_tril times normal draws."""
        z = drawn(_normal, self._extended_shape(sample_shape), self.loc)
        return self.loc + (self.scale_tril @ z[..., None])[..., 0]

    def _log_size(self):
        return self.scale_tril.diagonal(0, -2, -1).log().sum(-1)

    def log_prob(self, value):
        """The logarithm of the density at value."""
        z = linalg.solve_triangular(self.scale_tril, (value - self.loc)[..., None], upper=False)[..., 0]
        return -0.5 * ((z * z).sum(-1) + self.event_shape[0] * LOG_2PI) - self._log_size()

    def entropy(self):
        """The entropy."""
        return 0.5 * self.event_shape[0] * (1 + LOG_2PI) + self._log_size()


@register_kl(Normal, Normal)
def _(p, q):
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ratio.log())


@register_kl(Uniform, Uniform)
def _(p, q):
    r = ((q.high - q.low) / (p.high - p.low)).log()
    return apply("select", (q.low > p.low) | (q.high < p.high), math.inf, r)


@register_kl(Exponential, Exponential)
def _(p, q):
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Gamma, Gamma)
def _(p, q):
    a, b = p.concentration, q.concentration
    return b * (p.rate / q.rate).log() + lgamma(b) - lgamma(a) + (a - b) * digamma(a) + (q.rate - p.rate) * a / p.rate


@register_kl(MultivariateNormal, MultivariateNormal)
def _(p, q):
    m = linalg.solve_triangular(q.scale_tril, p.scale_tril, upper=False)
    z = linalg.solve_triangular(q.scale_tril, (q.loc - p.loc)[..., None], upper=False)[..., 0]
    inner = (m * m).sum((-2, -1)) + (z * z).sum(-1) - p.event_shape[0]
    return q._log_size() - p._log_size() + 0.5 * inner
