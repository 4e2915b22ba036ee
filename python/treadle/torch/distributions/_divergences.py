"""Divergences between pairs of distributions. Some pairs are defined next to their classes instead."""

import math

from ... import torch
from ._base import kl_divergence, register_kl
from ._continuous import Beta, Dirichlet, Exponential, Gamma, HalfNormal, Laplace, Normal, Uniform
from ._derived import Cauchy, Gumbel, Pareto, TransformedDistribution
from ._discrete import Bernoulli, Binomial, Geometric, OneHotCategorical, Poisson

digamma, lgamma = torch.digamma, torch.lgamma


@register_kl(Beta, Beta)
def _(p, q):
    a1, b1, a2, b2 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    s1, s2 = a1 + b1, a2 + b2
    size = lgamma(a2) + lgamma(b2) + lgamma(s1) - lgamma(a1) - lgamma(b1) - lgamma(s2)
    return size + (a1 - a2) * digamma(a1) + (b1 - b2) * digamma(b1) + (s2 - s1) * digamma(s1)


@register_kl(Dirichlet, Dirichlet)
def _(p, q):
    a, b = p.concentration, q.concentration
    size = lgamma(a.sum(-1)) - lgamma(b.sum(-1)) + (lgamma(b) - lgamma(a)).sum(-1)
    return size + ((a - b) * (digamma(a) - digamma(a.sum(-1, keepdim=True)))).sum(-1)


@register_kl(Laplace, Laplace)
def _(p, q):
    ratio, gap = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + gap / q.scale + ratio * (-gap / p.scale).exp() - 1


@register_kl(HalfNormal, HalfNormal)
def _(p, q):
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio - 1 - ratio.log())


@register_kl(Cauchy, Cauchy)
def _(p, q):
    square = (p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2
    return (square / (4 * p.scale * q.scale)).log()


@register_kl(Gumbel, Gumbel)
def _(p, q):
    euler, ratio = 0.57721566490153286060, p.scale / q.scale
    one, two = q.loc / q.scale, p.loc / q.scale
    return two - one - ratio.log() + ratio * euler + (one - two + lgamma(1 + ratio)).exp() - (1 + euler)


@register_kl(Pareto, Pareto)
def _(p, q):
    scale, ratio = p.scale / q.scale, q.alpha / p.alpha
    r = q.alpha * scale.log() - ratio.log() + ratio - 1
    return torch.where(p.scale < q.scale, math.inf, r)


@register_kl(Binomial, Binomial)
def _(p, q):
    each = p.probs * (p.probs.log() - q.probs.log()) + (1 - p.probs) * ((-p.probs).log1p() - (-q.probs).log1p())
    return torch.where(p.total_count > q.total_count, math.inf, p.total_count * each)


@register_kl(Geometric, Geometric)
def _(p, q):
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(OneHotCategorical, OneHotCategorical)
def _(p, q):
    return kl_divergence(p._class, q._class)


@register_kl(TransformedDistribution, TransformedDistribution)
def _(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("kl_divergence: the transforms of the two distributions differ")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Poisson)
def _(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Exponential, Gamma)
def _(p, q):
    ratio = q.rate / p.rate
    a, euler = q.concentration, 0.57721566490153286060
    return -a * ratio.log() + ratio + lgamma(a) + a * euler - (1 + euler)


@register_kl(Uniform, Normal)
def _(p, q):
    width = p.high - p.low
    first = (math.sqrt(math.pi * 2) * q.scale / width).log()
    return first + (width**2 / 12 + ((p.high + p.low - 2 * q.loc) / 2) ** 2) / (2 * q.scale**2)


@register_kl(Laplace, Normal)
def _(p, q):
    variance = q.scale**2
    ratio = p.scale**2 / variance
    first = 0.5 * (2 * ratio / math.pi).log()
    return -first + ratio + (p.loc**2) / (2 * variance) - p.loc * q.loc / variance + 0.5 * q.loc**2 / variance - 1


@register_kl(Poisson, Bernoulli)
@register_kl(Poisson, Binomial)
def _(p, q):
    return torch.full_like(p.rate, math.inf)
