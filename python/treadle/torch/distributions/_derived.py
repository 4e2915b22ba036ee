"""Distributions that are transformed from others, or mixtures of others."""

import math

from ... import torch
from . import constraints
from ._base import Distribution, Independent, broadcast
from ._continuous import Exponential, Gamma, Normal, Uniform
from ._discrete import Bernoulli, Categorical, OneHotCategorical
from .transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    StickBreakingTransform,
    Transform,
    _summed,
)
from .utils import clamp_probs

_EULER = 0.57721566490153286060


class TransformedDistribution(Distribution):
    """Draws of base_distribution, changed by transforms (one, or a list). Raises ValueError if the list holds anything
    else."""

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, but was {transforms}")
        whole = ComposeTransform(self.transforms)
        base, shape = base_distribution, base_distribution.batch_shape + base_distribution.event_shape
        if len(shape) < whole.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {whole.domain.event_dim}, but got {shape}."
            )
        wide = whole.inverse_shape(whole.forward_shape(shape))
        if tuple(wide) != tuple(shape):
            base = base.expand(wide[: len(wide) - len(base.event_shape)])
        more = whole.domain.event_dim - len(base.event_shape)
        self.base_dist = Independent(base, more) if more > 0 else base
        end = whole.forward_shape(self.base_dist.batch_shape + self.base_dist.event_shape)
        dim = max(len(self.base_dist.event_shape) + whole.codomain.event_dim - whole.domain.event_dim,
                  whole.codomain.event_dim)  # fmt: skip
        cut = len(end) - dim
        super().__init__(end[:cut], end[cut:])

    has_rsample = property(lambda self: self.base_dist.has_rsample, doc="Are draws differentiable?")

    @property
    def support(self):
        """What draws can be."""
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        more = len(self._event_shape) - found.event_dim
        return constraints.independent(found, more) if more > 0 else found

    def expand(self, batch_shape, _instance=None):
        """The same distribution, batch_shape of them."""
        whole, shape = ComposeTransform(self.transforms), (*batch_shape, *self._event_shape)
        shape = whole.inverse_shape(shape)
        cut = len(shape) - len(self.base_dist.event_shape)
        made = object.__new__(type(self)) if _instance is None else _instance
        filled = dict(made.__dict__)  # by a subclass's expand()
        made.__dict__.update(self.__dict__)
        TransformedDistribution.__init__(made, self.base_dist.expand(shape[:cut]), self.transforms)
        for name in self.arg_constraints:
            value = self.__dict__.get(name)
            if isinstance(value, torch.Tensor):
                made.__dict__[name] = value.expand((*batch_shape, *value.shape[len(self._batch_shape) :]))
        made.__dict__.update(filled)
        return made

    def sample(self, sample_shape=()):
        """The base's draws, transformed, without a gradient."""
        with torch.no_grad():
            return ComposeTransform(self.transforms)(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()):
        """The base's draws, transformed."""
        return ComposeTransform(self.transforms)(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        """The base's log_prob minus the logarithm of the transforms' derivative."""
        dim, total, y = len(self._event_shape), 0.0, value
        for t in reversed(self.transforms):
            x = t.inv(y)
            dim += t.domain.event_dim - t.codomain.event_dim
            total = total - _summed(t.log_abs_det_jacobian(x, y), dim - t.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return total + _summed(base, dim - len(self.base_dist.event_shape))

    def _turned(self, value):
        """value, or 1 - value if the transforms decrease."""
        sign = 1
        for t in self.transforms:
            sign = sign * t.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value):
        """The probability up to value."""
        for t in reversed(self.transforms):
            value = t.inv(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value):
        """Where cdf is value."""
        return ComposeTransform(self.transforms)(self.base_dist.icdf(self._turned(value)))

    def __repr__(self):
        if type(self) is not TransformedDistribution:
            return super().__repr__()
        return f"TransformedDistribution({self.base_dist!r}, {self.transforms!r})"


def _base_uniform(like, low=0.0, high=1.0):
    """A uniform distribution of like's shape and dtype, whose draws keep a distance from 0 and 1."""
    return Uniform(torch.full_like(like, low), torch.full_like(like, high), validate_args=False)


class LogNormal(TransformedDistribution):
    """exp of a normal draw."""

    arg_names = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=False)
        self.loc, self.scale = base.loc, base.scale
        super().__init__(base, ExpTransform())

    mean = property(lambda self: (self.loc + self.scale**2 / 2).exp(), doc="The mean.")
    mode = property(lambda self: (self.loc - self.scale**2).exp(), doc="The likeliest value.")
    variance = property(
        lambda self: torch.expm1(self.scale**2) * (2 * self.loc + self.scale**2).exp(), doc="The variance."
    )

    def entropy(self):
        """The entropy."""
        return self.base_dist.entropy() + self.loc


class Gumbel(TransformedDistribution):
    """The largest of many draws: loc - scale * log(-log(u))."""

    arg_names = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast(loc, scale)
        info = torch.finfo(self.loc.dtype)
        base = _base_uniform(self.loc, info.tiny, 1 - info.eps)
        down = AffineTransform(0, -torch.ones_like(self.scale))
        super().__init__(base, [ExpTransform().inv, down, ExpTransform().inv, AffineTransform(self.loc, -self.scale)])

    mean = property(lambda self: self.loc + self.scale * _EULER, doc="The mean.")
    mode = property(lambda self: self.loc, doc="The likeliest value.")
    stddev = property(lambda self: math.pi / math.sqrt(6) * self.scale, doc="The standard deviation.")
    variance = property(lambda self: self.stddev**2, doc="The variance.")

    def log_prob(self, value):
        """The logarithm of the density at value."""
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self):
        """The entropy."""
        return self.scale.log() + (1 + _EULER)


class HalfCauchy(Distribution):
    """The absolute value of a Cauchy draw around 0."""

    has_rsample, arg_names = True, ("scale",)

    def __init__(self, scale, validate_args=None):
        (self.scale,) = broadcast(scale)
        super().__init__(self.scale.shape)

    mean = property(lambda self: self.scale * math.inf, doc="Infinite.")
    mode = property(lambda self: torch.zeros_like(self.scale), doc="0.")
    variance = mean

    def rsample(self, sample_shape=()):
        """Absolute values of Cauchy draws."""
        return self.scale * _cauchy(self.scale, self._extended_shape(sample_shape)).abs()

    def log_prob(self, value):
        """The logarithm of the density at value."""
        inside = math.log(2 / math.pi) - self.scale.log() - ((value / self.scale) ** 2).log1p()
        return torch.where(value >= 0, inside, -math.inf)

    def cdf(self, value):
        """The probability up to value."""
        return torch.atan(value / self.scale) * 2 / math.pi

    def icdf(self, prob):
        """Where cdf is prob."""
        return self.scale * torch.tan(prob * math.pi / 2)

    def entropy(self):
        """The entropy."""
        return math.log(2 * math.pi) + self.scale.log()


def _cauchy(like, shape):
    return torch.tan(math.pi * (torch.rand(tuple(shape), dtype=like.dtype, device=like.device) - 0.5))


class Cauchy(Distribution):
    """Cauchy around loc, of half width scale."""

    has_rsample, arg_names = True, ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast(loc, scale)
        super().__init__(self.loc.shape)

    mean = property(lambda self: torch.full_like(self.loc, math.nan), doc="NaN: there is none.")
    mode = property(lambda self: self.loc, doc="The likeliest value.")
    variance = property(lambda self: torch.full_like(self.loc, math.inf), doc="Infinite.")

    def rsample(self, sample_shape=()):
        """By inversion."""
        return self.loc + self.scale * _cauchy(self.loc, self._extended_shape(sample_shape))

    def log_prob(self, value):
        """The logarithm of the density at value."""
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value):
        """The probability up to value."""
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        """Where cdf is value."""
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        """The entropy."""
        return math.log(4 * math.pi) + self.scale.log()


class Pareto(TransformedDistribution):
    """scale times exp of an exponential draw of rate alpha."""

    arg_names = ("scale", "alpha")

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = broadcast(scale, alpha)
        super().__init__(Exponential(self.alpha, validate_args=False), [ExpTransform(), AffineTransform(0, self.scale)])

    @property
    def mean(self):
        """The mean; infinite for alpha up to 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    mode = property(lambda self: self.scale, doc="The likeliest value.")

    @property
    def variance(self):
        """The variance; infinite for alpha up to 2."""
        a = self.alpha.clamp(min=2)
        return self.scale**2 * a / ((a - 1) ** 2 * (a - 2))

    @property
    def support(self):
        """From scale to infinity."""
        return constraints.greater_than_eq(self.scale)

    def entropy(self):
        """The entropy."""
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """scale times an exponential draw to the power 1 / concentration."""

    arg_names = ("scale", "concentration")

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast(scale, concentration)
        base = Exponential(torch.ones_like(self.scale), validate_args=False)
        self.concentration_reciprocal = self.concentration.reciprocal()
        super().__init__(base, [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)])

    mean = property(
        lambda self: self.scale * torch.exp(torch.lgamma(1 + self.concentration_reciprocal)), doc="The mean."
    )

    @property
    def mode(self):
        """The likeliest value."""
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self):
        """The variance."""
        r = self.concentration_reciprocal
        return self.scale**2 * (torch.exp(torch.lgamma(1 + 2 * r)) - torch.exp(2 * torch.lgamma(1 + r)))

    def entropy(self):
        """The entropy."""
        r = self.concentration_reciprocal
        return _EULER * (1 - r) + torch.log(self.scale * r) + 1


class Kumaraswamy(TransformedDistribution):
    """(1 - u ** (1 / concentration0)) ** (1 / concentration1), in [0, 1]."""

    arg_names = ("concentration1", "concentration0")

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast(concentration1, concentration0)
        base = _base_uniform(self.concentration0, torch.finfo(self.concentration0.dtype).tiny)
        parts = [PowerTransform(self.concentration0.reciprocal()), AffineTransform(1.0, -1.0),
                 PowerTransform(self.concentration1.reciprocal())]  # fmt: skip
        super().__init__(base, parts)

    def _moment(self, n):
        a, b = self.concentration1, self.concentration0
        first = 1 + n / a
        return torch.exp(b.log() + torch.lgamma(first) + torch.lgamma(b) - torch.lgamma(first + b))

    mean = property(lambda self: self._moment(1), doc="The mean.")
    variance = property(lambda self: self._moment(2) - self._moment(1) ** 2, doc="The variance.")

    @property
    def mode(self):
        """The likeliest value; NaN where there is none."""
        a, b = self.concentration1, self.concentration0
        log_mode = b.reciprocal() * (-b).log1p() - (-a * b).log1p()
        log_mode = torch.where((a < 1) | (b < 1), math.nan, log_mode)
        return log_mode.exp()

    def entropy(self):
        """The entropy."""
        a, b = self.concentration1, self.concentration0
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * (torch.digamma(b + 1) + _EULER) - a.log() - b.log()


class InverseGamma(TransformedDistribution):
    """1 / a gamma draw."""

    arg_names = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=False)
        self.concentration, self.rate = base.concentration, base.rate
        super().__init__(base, PowerTransform(-torch.ones_like(base.rate)))

    @property
    def mean(self):
        """The mean; infinite for concentrations up to 1."""
        r = self.rate / (self.concentration - 1)
        return torch.where(self.concentration > 1, r, math.inf)

    mode = property(lambda self: self.rate / (self.concentration + 1), doc="The likeliest value.")

    @property
    def variance(self):
        """The variance; infinite for concentrations up to 2."""
        a = self.concentration
        r = self.rate.square() / ((a - 1).square() * (a - 2))
        return torch.where(a > 2, r, math.inf)

    def entropy(self):
        """The entropy."""
        a = self.concentration
        return a + self.rate.log() + torch.lgamma(a) - (1 + a) * torch.digamma(a)


class LogisticNormal(TransformedDistribution):
    """A normal draw turned into shares of a whole by stick breaking."""

    arg_names = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=False)
        self.loc, self.scale = base.loc, base.scale
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform())


class LogitRelaxedBernoulli(Distribution):
    """The log odds of a RelaxedBernoulli."""

    has_rsample, arg_names = True, ("probs", "logits")

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = torch.as_tensor(temperature)
        self._base = Bernoulli(probs, logits, validate_args=False)
        self.probs, self.logits = self._base.probs, self._base.logits
        super().__init__(self._base.batch_shape)

    param_shape = property(lambda self: self._base.batch_shape, doc="The shape of the parameters.")

    def rsample(self, sample_shape=()):
        """Log odds of draws."""
        like = self.probs
        u = clamp_probs(torch.rand(self._extended_shape(sample_shape), dtype=like.dtype, device=like.device))
        p = clamp_probs(like.expand(self._extended_shape(sample_shape)))
        return (u.log() - (-u).log1p() + p.log() - (-p).log1p()) / self.temperature

    def log_prob(self, value):
        """The logarithm of the density at value."""
        gap = self.logits - value * self.temperature
        return self.temperature.log() + gap - 2 * gap.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """A Bernoulli draw made continuous. A lower temperature brings it closer to 0 and 1."""

    arg_names = ("probs", "logits")

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        self.temperature, self.probs, self.logits = base.temperature, base.probs, base.logits
        super().__init__(base, SigmoidTransform())


class ExpRelaxedCategorical(Distribution):
    """The logarithms of a RelaxedOneHotCategorical."""

    has_rsample, arg_names = True, ("probs", "logits")

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = torch.as_tensor(temperature)
        self._categorical = Categorical(probs, logits, validate_args=False)
        self.probs, self.logits = self._categorical.probs, self._categorical.logits
        super().__init__(self.logits.shape[:-1], self.logits.shape[-1:])

    param_shape = property(lambda self: self.logits.shape, doc="The shape of the parameters.")

    def rsample(self, sample_shape=()):
        """Logarithms of draws."""
        like = self.logits
        u = clamp_probs(torch.rand(self._extended_shape(sample_shape), dtype=like.dtype, device=like.device))
        scores = (like - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value):
        """The logarithm of the density at value."""
        n = self.logits.shape[-1]
        size = math.lgamma(n) + (n - 1) * self.temperature.log()
        score = self.logits - value * self.temperature
        return (score - score.logsumexp(-1, keepdim=True)).sum(-1) + size


class RelaxedOneHotCategorical(TransformedDistribution):
    """A OneHotCategorical draw made continuous."""

    arg_names = ("probs", "logits")

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = ExpRelaxedCategorical(temperature, probs, logits)
        self.temperature, self.probs, self.logits = base.temperature, base.probs, base.logits
        super().__init__(base, ExpTransform())


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """A OneHotCategorical whose draws have the gradients of its probabilities."""

    has_rsample = True

    def rsample(self, sample_shape=()):
        """Draws, plus the probabilities minus their values: the sum has the value of the draws and the gradient of the
        probabilities."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class MixtureSameFamily(Distribution):
    """A mixture: mixture_distribution, a Categorical, chooses one from the last batch dim of component_distribution,
    which gives the draw."""

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        count, batch = mixture_distribution.logits.shape[-1], component_distribution.batch_shape
        if not batch or batch[-1] != count:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal `component_distribution.batch_shape[-1]` "
                f"({batch[-1] if batch else 'none'})"
            )
        super().__init__(batch[:-1], component_distribution.event_shape)

    def expand(self, batch_shape, _instance=None):
        """The same distribution, batch_shape of them."""
        parts = self.component_distribution.expand((*batch_shape, self.mixture_distribution.logits.shape[-1]))
        return MixtureSameFamily(self.mixture_distribution.expand(batch_shape), parts, validate_args=False)

    @property
    def support(self):
        """What draws can be."""
        return constraints.MixtureSameFamilyConstraint(self.component_distribution.support)

    def _weights(self):
        probs = self.mixture_distribution.probs
        return probs.reshape((*probs.shape, *[1] * len(self._event_shape)))

    mean = property(
        lambda self: (self._weights() * self.component_distribution.mean).sum(-1 - len(self._event_shape)),
        doc="The mean.",
    )

    @property
    def variance(self):
        """The variance."""
        dim, w, parts = -1 - len(self._event_shape), self._weights(), self.component_distribution
        mean = self.mean.unsqueeze(dim)
        return (w * parts.variance).sum(dim) + (w * (parts.mean - mean) ** 2).sum(dim)

    def _padded(self, value):
        return value.unsqueeze(-1 - len(self._event_shape))

    def cdf(self, x):
        """The probability up to x."""
        return (self.component_distribution.cdf(self._padded(x)) * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, x):
        """The logarithm of the density at x."""
        parts = self.component_distribution.log_prob(self._padded(x))
        return torch.logsumexp(parts + torch.log_softmax(self.mixture_distribution.logits, -1), -1)

    def sample(self, sample_shape=()):
        """Draws, without a gradient."""
        with torch.no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            parts, dim = self.component_distribution.sample(sample_shape), -1 - len(self._event_shape)
            index = chosen.reshape((*chosen.shape, 1, *[1] * len(self._event_shape)))
            index = index.expand((*chosen.shape, 1, *self._event_shape))
            return parts.gather(parts.dim() + dim, index).squeeze(dim)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self.mixture_distribution!r},\n  {self.component_distribution!r})"
