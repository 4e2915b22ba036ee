"""torch.distributions: distributions with draws, densities and distances, differentiable in their parameters."""

from ._base import Distribution, Independent, kl_divergence, register_kl
from ._continuous import (
    Beta,
    Dirichlet,
    Exponential,
    Gamma,
    HalfNormal,
    Laplace,
    LogNormal,
    MultivariateNormal,
    Normal,
    Uniform,
)
from ._discrete import Bernoulli, Binomial, Categorical, Geometric, Multinomial, OneHotCategorical, Poisson

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Dirichlet", "Distribution", "Exponential", "Gamma", "Geometric",
    "HalfNormal", "Independent", "Laplace", "LogNormal", "Multinomial", "MultivariateNormal", "Normal",
    "OneHotCategorical", "Poisson", "Uniform", "kl_divergence", "register_kl",
]  # fmt: skip
