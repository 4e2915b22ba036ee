"""The constraints of each distribution's parameters and its support: one row for each class."""

from . import constraints as c
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
)  # fmt: skip
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
    Pareto,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    Weibull,
)  # fmt: skip
from ._discrete import Bernoulli, Binomial, Categorical, Geometric, Multinomial, OneHotCategorical, Poisson
from ._gammas import Chi2, FisherSnedecor, NegativeBinomial, StudentT
from ._rarer import (
    ContinuousBernoulli,
    GeneralizedPareto,
    LKJCholesky,
    LowRankMultivariateNormal,
    VonMises,
    Wishart,
)  # fmt: skip

_PROBS = {"probs": c.unit_interval, "logits": c.real}
_SHARES = {"probs": c.simplex, "logits": c.real_vector}
_SCALED = {"loc": c.real, "scale": c.positive}


def _depends(f, discrete=False, event_dim=0):
    return c.dependent_property(f, is_discrete=discrete, event_dim=event_dim)


_UP_TO_COUNT = _depends(lambda self: c.integer_interval(0, self.total_count), discrete=True)
_CLASSES = _depends(lambda self: c.integer_interval(0, self.logits.shape[-1] - 1), discrete=True)
_COUNTS = _depends(lambda self: c.multinomial(self.total_count), discrete=True, event_dim=1)
_ABOVE = _depends(lambda self: c.greater_than_eq(self.loc))
_WITHIN = _depends(lambda self: c.interval(self.low, self.high))

# {class: (constraints of parameters, support)}. None: the class defines that itself.
ROWS = {
    Bernoulli: (_PROBS, c.boolean),
    Beta: ({"concentration1": c.positive, "concentration0": c.positive}, c.unit_interval),
    Binomial: ({"total_count": c.nonnegative_integer, **_PROBS}, _UP_TO_COUNT),
    Categorical: (_SHARES, _CLASSES),
    Cauchy: (_SCALED, c.real),
    Chi2: ({"df": c.positive}, c.nonnegative),
    ContinuousBernoulli: (_PROBS, c.unit_interval),
    Dirichlet: ({"concentration": c.independent(c.positive, 1)}, c.simplex),
    Exponential: ({"rate": c.positive}, c.nonnegative),
    ExpRelaxedCategorical: (_SHARES, c.real_vector),
    FisherSnedecor: ({"df1": c.positive, "df2": c.positive}, c.positive),
    Gamma: ({"concentration": c.positive, "rate": c.positive}, c.nonnegative),
    GeneralizedPareto: ({**_SCALED, "concentration": c.real}, _ABOVE),
    Geometric: ({"probs": c.unit_interval, "logits": c.real}, c.nonnegative_integer),
    Gumbel: (_SCALED, c.real),
    HalfCauchy: ({"scale": c.positive}, c.nonnegative),
    HalfNormal: ({"scale": c.positive}, c.nonnegative),
    InverseGamma: ({"concentration": c.positive, "rate": c.positive}, c.positive),
    Kumaraswamy: ({"concentration1": c.positive, "concentration0": c.positive}, c.unit_interval),
    LKJCholesky: ({"concentration": c.positive}, c.corr_cholesky),
    Laplace: (_SCALED, c.real),
    LogNormal: (_SCALED, c.positive),
    LogisticNormal: (_SCALED, c.simplex),
    LogitRelaxedBernoulli: (_PROBS, c.real),
    LowRankMultivariateNormal: (
        {"loc": c.real_vector, "cov_factor": c.independent(c.real, 2), "cov_diag": c.independent(c.positive, 1)},
        c.real_vector,
    ),
    Multinomial: (_SHARES, _COUNTS),
    MultivariateNormal: ({"loc": c.real_vector, "scale_tril": c.lower_cholesky}, c.real_vector),
    NegativeBinomial: (
        {"total_count": c.greater_than_eq(0), "probs": c.half_open_interval(0.0, 1.0), "logits": c.real},
        c.nonnegative_integer,
    ),
    Normal: (_SCALED, c.real),
    OneHotCategorical: (_SHARES, c.one_hot),
    Pareto: ({"alpha": c.positive, "scale": c.positive}, None),
    Poisson: ({"rate": c.nonnegative}, c.nonnegative_integer),
    RelaxedBernoulli: (_PROBS, c.unit_interval),
    RelaxedOneHotCategorical: (_SHARES, c.simplex),
    StudentT: ({"df": c.positive, **_SCALED}, c.real),
    Uniform: ({"low": c.dependent(), "high": c.dependent()}, _WITHIN),
    VonMises: ({"loc": c.real, "concentration": c.positive}, c.real),
    Weibull: ({"scale": c.positive, "concentration": c.positive}, c.positive),
    Wishart: ({"df": c.greater_than(0), "scale_tril": c.lower_cholesky}, c.positive_definite),
}

for _class, (_parameters, _support) in ROWS.items():
    _class.arg_constraints = _parameters
    if _support is not None:
        _class.support = _support
