"""torch.distributions: distributions with draws, densities and distances, differentiable in their parameters."""

import sys
from types import ModuleType

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

# PyTorch's modules, of which each holds one class or two.
_MODULES = {
    "bernoulli": "Bernoulli", "beta": "Beta", "binomial": "Binomial", "categorical": "Categorical",
    "dirichlet": "Dirichlet", "distribution": "Distribution", "exponential": "Exponential", "gamma": "Gamma",
    "geometric": "Geometric", "half_normal": "HalfNormal", "independent": "Independent",
    "kl": "kl_divergence register_kl", "laplace": "Laplace",
    "log_normal": "LogNormal", "multinomial": "Multinomial", "normal": "Normal",
    "multivariate_normal": "MultivariateNormal", "one_hot_categorical": "OneHotCategorical", "poisson": "Poisson",
    "uniform": "Uniform",
}  # fmt: skip

for _name, _held in _MODULES.items():
    _module = ModuleType(f"{__name__}.{_name}")
    vars(_module).update((k, globals()[k]) for k in _held.split())
    globals()[_name] = sys.modules[_module.__name__] = _module
