"""Divergences between distributions of different kinds, by the mean of log q over p, which needs a few moments of p."""

import math

from ... import torch
from ._base import kl_divergence, register_kl
from ._continuous import Beta, Exponential, Gamma, Laplace, MultivariateNormal, Normal, Uniform
from ._derived import Cauchy, Gumbel, HalfCauchy, Pareto
from ._rarer import ContinuousBernoulli, LowRankMultivariateNormal


def _several(ps, *qs):
    """Register a function for each pair of the kinds."""

    def enter(f):
        for p in ps:
            for q in qs:
                register_kl(p, q)(f)
        return f

    return enter


def _mean_log(p):
    """The mean of log x."""
    if isinstance(p, Beta):
        return torch.digamma(p.concentration1) - torch.digamma(p.concentration1 + p.concentration0)
    if isinstance(p, Gamma):
        return torch.digamma(p.concentration) - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + 1 / p.alpha
    return (torch.xlogy(p.high, p.high) - torch.xlogy(p.low, p.low)) / (p.high - p.low) - 1  # Uniform


def _mean_exp(p, t):
    """The mean of exp(-t x)."""
    if isinstance(p, Normal):
        return (p.scale**2 * t**2 / 2 - p.loc * t).exp()
    if isinstance(p, Exponential):
        return p.rate / (p.rate + t)
    if isinstance(p, Gamma):
        return (p.rate / (p.rate + t)) ** p.concentration
    return ((-t * p.low).exp() - (-t * p.high).exp()) / (t * (p.high - p.low))  # Uniform


@_several((Beta, Gamma, Exponential, Gumbel, Pareto, ContinuousBernoulli), Normal)
def _(p, q):
    spread = p.variance + (p.mean - q.loc) ** 2
    return -p.entropy() + 0.5 * math.log(2 * math.pi) + q.scale.log() + spread / (2 * q.scale**2)


@_several((Beta, Gamma, Pareto, ContinuousBernoulli), Exponential)
def _(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@_several((Beta, Pareto), Gamma)
def _(p, q):
    a = q.concentration
    size = torch.lgamma(a) - a * q.rate.log()
    return -p.entropy() + size - (a - 1) * _mean_log(p) + q.rate * p.mean


@_several((Normal, Exponential, Gamma, Uniform), Gumbel)
def _(p, q):
    t = 1 / q.scale
    return -p.entropy() + q.scale.log() + (p.mean - q.loc) * t + _mean_exp(p, t) * (q.loc * t).exp()


@register_kl(Normal, Laplace)
def _(p, q):
    gap = (p.loc - q.loc) / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * (-0.5 * gap**2).exp()
    distance = distance + (p.loc - q.loc) * torch.erf(gap / math.sqrt(2))
    return -p.entropy() + (2 * q.scale).log() + distance / q.scale


@_several((Beta, ContinuousBernoulli), ContinuousBernoulli)
def _(p, q):
    return -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._log_size()


@register_kl(Uniform, ContinuousBernoulli)
def _(p, q):
    r = -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._log_size()
    return torch.where((p.low > 0) & (p.high < 1), r, math.inf)  # as PyTorch, infinite where the bounds are equal


@register_kl(Beta, Uniform)
def _(p, q):
    return torch.where((q.low <= 0) & (q.high >= 1), -p.entropy() + (q.high - q.low).log(), math.inf)


@register_kl(ContinuousBernoulli, Uniform)
def _(p, q):
    r = -p.entropy() + (q.high - q.low).log()
    return torch.where((q.low < 0) & (q.high > 1), r, math.inf)  # as PyTorch, infinite where the bounds are equal


def _within(p, low, high, r):
    """r where p's interval lies in another one, infinity elsewhere."""
    return torch.where((p.low >= low) & (p.high <= high), r, math.inf)


@register_kl(Uniform, Exponential)
def _(p, q):
    return _within(p, 0, math.inf, -p.entropy() - q.rate.log() + q.rate * p.mean)


@register_kl(Uniform, Gamma)
def _(p, q):
    a = q.concentration
    size = torch.lgamma(a) - a * q.rate.log()
    return _within(p, 0, math.inf, -p.entropy() + size - (a - 1) * _mean_log(p) + q.rate * p.mean)


@register_kl(Uniform, Beta)
def _(p, q):
    a, b = q.concentration1, q.concentration0
    size = torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)
    below = Uniform(1 - p.high, 1 - p.low, validate_args=False)
    return _within(p, 0, 1, -p.entropy() + size - (a - 1) * _mean_log(p) - (b - 1) * _mean_log(below))


@register_kl(Uniform, Pareto)
def _(p, q):
    r = -p.entropy() - (q.alpha * q.scale**q.alpha).log() + (q.alpha + 1) * _mean_log(p)
    return _within(p, q.scale, math.inf, r)


@_several((Normal, Laplace, Gumbel), Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)
@_several((Exponential, Gamma, Pareto), Beta, ContinuousBernoulli, Uniform)
@_several((Exponential, Gamma, Beta, ContinuousBernoulli), Pareto)
def _(p, q):
    """p has values where q has none."""
    return torch.full_like(p.mean, math.inf)


@register_kl(HalfCauchy, HalfCauchy)
def _(p, q):
    return kl_divergence(*(Cauchy(torch.zeros_like(d.scale), d.scale, validate_args=False) for d in (p, q)))


@_several((MultivariateNormal, LowRankMultivariateNormal), LowRankMultivariateNormal)
@_several((LowRankMultivariateNormal,), MultivariateNormal)
def _(p, q):
    return kl_divergence(*(MultivariateNormal(d.loc, scale_tril=d.scale_tril, validate_args=False) for d in (p, q)))
