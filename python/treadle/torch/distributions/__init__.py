"""torch.distributions: distributions with draws, densities and divergences. Gradients flow to their parameters."""

from .. import _modules
from . import _crossed, _divergences, _facts, constraints, transforms, utils
from ._base import Distribution, ExponentialFamily, Independent, kl_divergence, register_kl
from ._continuous import (
    Beta,
    Dirichlet,
    Exponential,
    Gamma,
    HalfNormal,
    Laplace,
    MultivariateNormal,
    Normal,
    Uniform,
)
from ._derived import (
    Cauchy,
    ExpRelaxedCategorical,
    Gumbel,
    HalfCauchy,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    LogitRelaxedBernoulli,
    LogNormal,
    MixtureSameFamily,
    OneHotCategoricalStraightThrough,
    Pareto,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    TransformedDistribution,
    Weibull,
)
from ._discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    OneHotCategorical,
    Poisson,
)
from ._gammas import Chi2, FisherSnedecor, NegativeBinomial, StudentT
from ._rarer import (
    ContinuousBernoulli,
    GeneralizedPareto,
    LKJCholesky,
    LowRankMultivariateNormal,
    VonMises,
    Wishart,
)
from .constraint_registry import biject_to, transform_to
from .transforms import *  # noqa: F403  (what its __all__ lists)
from .transforms import __all__ as _transforms

__all__ = [
    *_transforms,
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet",
    "Distribution", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric",
    "Gumbel", "HalfCauchy", "HalfNormal", "Independent", "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace",
    "LogNormal", "LogisticNormal", "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial",
    "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough",
    "Pareto", "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT", "TransformedDistribution",
    "Uniform", "VonMises", "Weibull", "Wishart", "biject_to", "constraints", "kl_divergence", "register_kl",
    "transform_to", "transforms",
]  # fmt: skip

__getattr__, __dir__ = _modules.refusing("torch.distributions")
