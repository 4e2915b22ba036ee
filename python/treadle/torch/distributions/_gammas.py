"""Distributions whose draws are made of gamma draws: sums of squares, ratios, counts before failures."""

import math

from ... import torch
from ._base import Distribution, broadcast
from ._continuous import Gamma
from ._discrete import Bernoulli


class Chi2(Gamma):
    """The sum of the squares of df normal draws."""

    arg_names = ("df",)

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5)

    df = property(lambda self: self.concentration * 2, doc="Degrees of freedom.")


class StudentT(Distribution):
    """loc + scale times Student's t of df degrees of freedom."""

    has_rsample, arg_names = True, ("df", "loc", "scale")

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast(df, loc, scale)
        self._chi2 = Chi2(self.df, validate_args=False)
        super().__init__(self.df.shape)

    mean = property(lambda self: torch.where(self.df <= 1, math.nan, self.loc), doc="The mean; NaN for df up to 1.")
    mode = property(lambda self: self.loc, doc="The likeliest value.")

    @property
    def variance(self):
        """The variance; infinite for df in (1, 2], NaN up to 1."""
        r = torch.where(self.df > 2, self.scale**2 * self.df / (self.df - 2), math.inf)
        return torch.where(self.df <= 1, math.nan, r)

    def rsample(self, sample_shape=()):
        """Normal draws divided by roots of chi2 draws."""
        shape = self._extended_shape(sample_shape)
        x = torch.randn(shape, dtype=self.df.dtype, device=self.df.device)
        return self.loc + self.scale * x * torch.rsqrt(self._chi2.rsample(sample_shape) / self.df)

    def _size(self):
        return 0.5 * self.df.log() + 0.5 * math.log(math.pi) + torch.lgamma(0.5 * self.df) - torch.lgamma(
            0.5 * (self.df + 1))  # fmt: skip

    def log_prob(self, value):
        """The logarithm of the density at value."""
        y = (value - self.loc) / self.scale
        return -0.5 * (self.df + 1) * (y**2 / self.df).log1p() - self._size() - self.scale.log()

    def entropy(self):
        """The entropy."""
        half = 0.5 * (self.df + 1)
        return self.scale.log() + half * (torch.digamma(half) - torch.digamma(0.5 * self.df)) + self._size()


class FisherSnedecor(Distribution):
    """The ratio of two chi2 draws, each divided by its degrees of freedom."""

    has_rsample, arg_names = True, ("df1", "df2")

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = broadcast(df1, df2)
        self._one = Gamma(self.df1 * 0.5, self.df1, validate_args=False)
        self._two = Gamma(self.df2 * 0.5, self.df2, validate_args=False)
        super().__init__(self.df1.shape)

    mean = property(lambda self: torch.where(self.df2 <= 2, math.nan, self.df2 / (self.df2 - 2)), doc="The mean.")

    @property
    def mode(self):
        """The likeliest value; NaN for df1 up to 2."""
        r = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return torch.where(self.df1 <= 2, math.nan, r)

    @property
    def variance(self):
        """The variance; NaN for df2 up to 4."""
        a, b = self.df1, self.df2
        r = 2 * b**2 * (a + b - 2) / (a * (b - 2) ** 2 * (b - 4))
        return torch.where(b <= 4, math.nan, r)

    def rsample(self, sample_shape=()):
        """Ratios of gamma draws."""
        tiny = torch.finfo(self.df1.dtype).tiny
        return (self._one.rsample(sample_shape) / self._two.rsample(sample_shape).clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value):
        """The logarithm of the density at value."""
        a, b = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        first = torch.lgamma(a + b) - torch.lgamma(a) - torch.lgamma(b)
        return first + a * ratio.log() + (a - 1) * value.log() - (a + b) * (ratio * value).log1p()


class NegativeBinomial(Distribution):
    """The number of successes, each of probability probs, before total_count failures."""

    arg_names = ("total_count", "probs", "logits")

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        base = Bernoulli(probs, logits, validate_args=False)
        self.total_count, self.probs, self.logits = broadcast(total_count, base.probs, base.logits)
        self.total_count = self.total_count.to(self.probs.dtype)
        super().__init__(self.probs.shape)

    mean = property(lambda self: self.total_count * self.logits.exp(), doc="The mean.")
    variance = property(lambda self: self.mean / torch.sigmoid(-self.logits), doc="The variance.")

    @property
    def mode(self):
        """The likeliest value."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    def sample(self, sample_shape=()):
        """Poisson draws with gamma draws as their rates. They have no gradient."""
        with torch.no_grad():
            rates = Gamma(self.total_count, (-self.logits).exp(), validate_args=False).sample(sample_shape)
            return torch.poisson(rates)

    def log_prob(self, value):
        """The logarithm of value's probability."""
        F = torch.nn.functional
        plain = self.total_count * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        size = -torch.lgamma(self.total_count + value) + torch.lgamma(1.0 + value) + torch.lgamma(self.total_count)
        return plain - torch.where(self.total_count + value == 0, 0.0, size)
