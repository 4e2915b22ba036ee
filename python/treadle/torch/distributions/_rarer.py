"""Distributions on circles, intervals and matrices."""

import math

from ... import torch
from ._base import LOG_2PI, Distribution, ExponentialFamily, broadcast
from ._continuous import Beta, _scale_tril
from ._gammas import Chi2
from .utils import clamp_probs


class ContinuousBernoulli(ExponentialFamily):
    """Numbers in [0, 1] with density proportional to probs ** x * (1 - probs) ** (1 - x). lims: the interval around 1/2
    in which probs counts as 1/2, because the formulas lose digits there."""

    has_rsample, arg_names = True, ("probs", "logits")

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            (given,) = broadcast(probs)
            self.probs = clamp_probs(given)
            self.logits = self.probs.log() - (-self.probs).log1p()
        else:
            (self.logits,) = broadcast(logits)
            self.probs = clamp_probs(torch.sigmoid(self.logits))
        self._lims = lims
        super().__init__(self.probs.shape)

    param_shape = property(lambda self: self._batch_shape, doc="The shape of the parameters.")

    def _outside(self):
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut(self):
        """probs, kept away from 1/2."""
        return torch.where(self._outside(), self.probs, self._lims[0])

    def _log_size(self):
        p = self._cut()
        below = torch.where(p <= 0.5, p, 0.0)
        above = torch.where(p >= 0.5, p, 1.0)
        size = torch.log((-p).log1p() - p.log()).where(p < 0.5, torch.log(p.log() - (-p).log1p()))
        size = size - torch.where(p < 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0))
        x = (self.probs - 0.5) ** 2
        return torch.where(self._outside(), size, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self):
        """The mean."""
        p, x = self._cut(), self.probs - 0.5
        far = p / (2.0 * p - 1.0) + 1.0 / ((-p).log1p() - p.log())
        return torch.where(self._outside(), far, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x**2) * x)

    @property
    def variance(self):
        """The variance."""
        p, x = self._cut(), (self.probs - 0.5) ** 2
        far = p * (p - 1.0) / (1.0 - 2.0 * p) ** 2 + 1.0 / ((-p).log1p() - p.log()) ** 2
        return torch.where(self._outside(), far, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape=()):
        """By inversion."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value):
        """The logarithm of the density at value."""
        return value * self.logits - torch.nn.functional.softplus(self.logits) + self._log_size()

    def cdf(self, value):
        """The probability up to value."""
        p = self._cut()
        far = (p**value * (1.0 - p) ** (1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        return torch.where(self._outside(), far, value).clamp(0, 1)

    def icdf(self, value):
        """Where cdf is value."""
        p = self._cut()
        far = ((-p + value * (2.0 * p - 1.0)).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return torch.where(self._outside(), far, value)

    def entropy(self):
        """The entropy."""
        rest = (-self.probs).log1p()
        return self.mean * (rest - self.probs.log()) - self._log_size() - rest


class GeneralizedPareto(Distribution):
    """Excesses over loc. concentration says how heavy the tail is (0: an exponential), scale how wide."""

    has_rsample, arg_names = True, ("loc", "scale", "concentration")

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast(loc, scale, concentration)
        super().__init__(self.loc.shape)

    def _flat(self):
        return torch.isclose(self.concentration, torch.zeros_like(self.concentration))

    def _safe(self):
        """The concentration, with 1 in place of 0."""
        return torch.where(self._flat(), 1.0, self.concentration)

    @property
    def mean(self):
        """The mean; infinite for concentrations from 1 on."""
        r = self.loc + self.scale / (1 - self.concentration)
        return torch.where(self.concentration < 1, r, math.inf)

    @property
    def variance(self):
        """The variance; infinite for concentrations from 1/2 on."""
        c = self.concentration
        return torch.where(c < 0.5, self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c)), math.inf)

    mode = property(lambda self: self.loc, doc="The likeliest value.")

    def rsample(self, sample_shape=()):
        """By inversion."""
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value):
        """The logarithm of the density at value."""
        z, c = (value - self.loc) / self.scale, self._safe()
        return torch.where(self._flat(), -z, -(1 + 1 / c) * (c * z).log1p()) - self.scale.log()

    def log_survival_function(self, value):
        """The logarithm of the probability above value."""
        z, c = (value - self.loc) / self.scale, self._safe()
        return torch.where(self._flat(), -z, -(c * z).log1p() / c)

    def log_cdf(self, value):
        """The logarithm of the probability up to value."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value):
        """The probability up to value."""
        return self.log_cdf(value).exp()

    def icdf(self, value):
        """Where cdf is value."""
        c = self._safe()
        return self.loc + self.scale * torch.where(
            self._flat(), -(-value).log1p(), torch.expm1(-c * (-value).log1p()) / c
        )

    def entropy(self):
        """The entropy."""
        return self.scale.log() + self.concentration + 1


class VonMises(Distribution):
    """Angles around loc. A larger concentration keeps them closer."""

    arg_names = ("loc", "concentration")

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast(loc, concentration)
        super().__init__(self.loc.shape)

    mean = mode = property(lambda self: self.loc, doc="The mean angle.")

    @property
    def variance(self):
        """1 minus the mean cosine."""
        return 1 - torch.special.i1e(self.concentration) / torch.special.i0e(self.concentration)

    def log_prob(self, value):
        """The logarithm of the density at value."""
        k = self.concentration
        return k * torch.cos(value - self.loc) - LOG_2PI - torch.log(torch.special.i0e(k)) - k

    @torch.no_grad()
    def sample(self, sample_shape=()):
        """Draws by Best and Fisher's rejection, without a gradient."""
        shape, k = self._extended_shape(sample_shape), self.concentration.double()
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        r = torch.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho)).expand(shape)
        k, found = k.expand(shape), torch.zeros(shape, dtype=torch.float64, device=k.device)
        done = torch.zeros(shape, dtype=torch.bool, device=k.device)
        while not done.all():
            u1, u2, u3 = (torch.rand(shape, dtype=torch.float64, device=k.device) for _ in range(3))
            z = torch.cos(math.pi * u1)
            f = (1 + r * z) / (r + z)
            c = k * (r - f)
            accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
            found = torch.where(accept & ~done, (u3 - 0.5).sign() * f.clamp(-1, 1).acos(), found)
            done = done | accept
        angle = (found + math.pi + self.loc.double()) % (2 * math.pi) - math.pi
        return angle.to(self.loc.dtype)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors of mean loc and covariance cov_factor @ cov_factor.T + diag(cov_diag)."""

    has_rsample, arg_names = True, ("loc", "cov_factor", "cov_diag")

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        n, rank = loc.shape[-1], cov_factor.shape[-1]
        if tuple(cov_factor.shape[-2:-1]) != (n,) or tuple(cov_diag.shape[-1:]) != (n,):
            raise ValueError(f"cov_factor must be of size (…, {n}, m), and cov_diag (…, {n})")
        lead = torch.broadcast_shapes(tuple(loc.shape[:-1]), tuple(cov_factor.shape[:-2]), tuple(cov_diag.shape[:-1]))
        self.loc, self.cov_diag = loc.expand((*lead, n)), cov_diag.expand((*lead, n))
        self.cov_factor = cov_factor.expand((*lead, n, rank))
        weighted = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        inner = weighted @ self.cov_factor + torch.eye(rank, dtype=loc.dtype, device=loc.device)
        self._capacitance = torch.linalg.cholesky(inner)
        super().__init__(lead, (n,))

    mean = mode = property(lambda self: self.loc, doc="The mean.")
    variance = property(lambda self: self.cov_factor.square().sum(-1) + self.cov_diag, doc="The variance of each part.")
    covariance_matrix = property(
        lambda self: self.cov_factor @ self.cov_factor.mT + torch.diag_embed(self.cov_diag), doc="The covariance."
    )
    scale_tril = property(lambda self: torch.linalg.cholesky(self.covariance_matrix), doc="The covariance's factor.")
    precision_matrix = property(lambda self: torch.linalg.inv(self.covariance_matrix), doc="The covariance's inverse.")

    def rsample(self, sample_shape=()):
        """loc plus the normal draws of both parts of the covariance."""
        shape = self._extended_shape(sample_shape)
        one = torch.randn((*shape[:-1], self.cov_factor.shape[-1]), dtype=self.loc.dtype, device=self.loc.device)
        two = torch.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self.cov_factor @ one.unsqueeze(-1)).squeeze(-1) + self.cov_diag.sqrt() * two

    def _log_det(self):
        return 2 * self._capacitance.diagonal(0, -2, -1).log().sum(-1) + self.cov_diag.log().sum(-1)

    def log_prob(self, value):
        """The logarithm of the density at value."""
        gap = value - self.loc
        weighted = self.cov_factor.mT @ (gap / self.cov_diag).unsqueeze(-1)
        z = torch.linalg.solve_triangular(self._capacitance, weighted, upper=False).squeeze(-1)
        square = (gap**2 / self.cov_diag).sum(-1) - (z**2).sum(-1)
        return -0.5 * (self._event_shape[0] * LOG_2PI + self._log_det() + square)

    def entropy(self):
        """The entropy."""
        return 0.5 * (self._event_shape[0] * (1.0 + LOG_2PI) + self._log_det())


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices (dim, dim). With concentration 1 all matrices are equally likely."""

    arg_names = ("concentration",)

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast(concentration)
        below = 0.5 * (dim - 2)
        offset = torch.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        offset = torch.cat([offset.new_zeros(1), offset])
        self._beta = Beta(offset + 0.5, self.concentration.unsqueeze(-1) + below - 0.5 * offset, validate_args=False)
        super().__init__(self.concentration.shape, (dim, dim))

    def sample(self, sample_shape=()):
        """Draws by the onion method, without a gradient."""
        with torch.no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            u = torch.randn(self._extended_shape(sample_shape), dtype=y.dtype, device=y.device).tril(-1)
            sphere = u / u.norm(dim=-1, keepdim=True)
            first = torch.arange(self.dim, device=y.device).reshape(-1, 1) == 0
            w = y.sqrt() * torch.where(first, 0.0, sphere)
            least = torch.finfo(w.dtype).tiny
            return w + (1 - (w**2).sum(-1)).clamp(min=least).sqrt().diag_embed()

    def log_prob(self, value):
        """The logarithm of the density at value."""
        diagonal = value.diagonal(0, -2, -1)[..., 1:]
        order = torch.arange(2, self.dim + 1, device=value.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        first = (order * diagonal.log()).sum(-1)
        less = self.dim - 1
        alpha = self.concentration + 0.5 * less
        size = torch.mvlgamma(alpha - 0.5, less) - torch.lgamma(alpha) * less + 0.5 * less * math.log(math.pi)
        return first - size


class Wishart(ExponentialFamily):
    """Sums of outer products of df normal vectors with covariance_matrix, precision_matrix or the factor scale_tril."""

    has_rsample, arg_names = True, ("df", "scale_tril")

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = [m for m in (covariance_matrix, precision_matrix, scale_tril) if m is not None]
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        if given[0].dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if scale_tril is None:
            scale_tril = _scale_tril(type(self).__name__, covariance_matrix, precision_matrix)
        n = scale_tril.shape[-1]
        df = torch.as_tensor(df, dtype=scale_tril.dtype, device=scale_tril.device)
        lead = torch.broadcast_shapes(tuple(df.shape), tuple(scale_tril.shape[:-2]))
        self.df, self.scale_tril = df.expand(lead), scale_tril.expand((*lead, n, n))
        if not bool((self.df > n - 1).all()):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        self._chi2 = Chi2(
            self.df.unsqueeze(-1) - torch.arange(n, dtype=df.dtype, device=df.device), validate_args=False
        )
        super().__init__(lead, (n, n))

    covariance_matrix = property(lambda self: self.scale_tril @ self.scale_tril.mT, doc="The covariance.")
    precision_matrix = property(lambda self: torch.linalg.inv(self.covariance_matrix), doc="The covariance's inverse.")
    mean = property(lambda self: self.df[..., None, None] * self.covariance_matrix, doc="The mean.")

    @property
    def mode(self):
        """The likeliest matrix; NaN where there is none."""
        factor = self.df - self._event_shape[0] - 1
        return torch.where(factor <= 0, math.nan, factor)[..., None, None] * self.covariance_matrix

    @property
    def variance(self):
        """The variance of each element."""
        v = self.covariance_matrix
        diagonal = v.diagonal(0, -2, -1)
        return self.df[..., None, None] * (v**2 + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape=()):
        """By Bartlett's decomposition."""
        diagonal = self._chi2.rsample(sample_shape).sqrt().diag_embed()
        shape = self._extended_shape(sample_shape)
        low = diagonal + torch.randn(shape, dtype=self.df.dtype, device=self.df.device).tril(-1)
        chol = self.scale_tril @ low
        return chol @ chol.mT

    def _half_log_det(self):
        return self.scale_tril.diagonal(0, -2, -1).log().sum(-1)

    def log_prob(self, value):
        """The logarithm of the density at value."""
        n, df = self._event_shape[0], self.df
        trace = torch.cholesky_solve(value, self.scale_tril).diagonal(0, -2, -1).sum(-1)
        size = df * self._half_log_det() + df * n / 2 * math.log(2) + torch.mvlgamma(df / 2, n)
        return (df - n - 1) / 2 * torch.linalg.slogdet(value).logabsdet - trace / 2 - size

    def entropy(self):
        """The entropy."""
        n, df = self._event_shape[0], self.df
        halves = df.unsqueeze(-1) / 2 - 0.5 * torch.arange(n, dtype=df.dtype, device=df.device)
        expected = torch.digamma(halves).sum(-1)
        return (n + 1) * (self._half_log_det() + n * math.log(2) / 2) + torch.mvlgamma(df / 2, n) - (
            df - n - 1) / 2 * expected + df * n / 2  # fmt: skip
