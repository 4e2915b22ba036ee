"""Distributions, values of their support, and what both PyTorch and treadle.torch say of them: dist(torch) gives
{name: (made, value)}; told(torch) gives {name: list of numbers}. A Python that has PyTorch writes PyTorch's values to
torch_distribution_values.json by running this file."""

import json
import math
import pathlib


def made(torch):
    """{name: (distribution, a value of its support)}."""
    D, t = torch.distributions, torch.tensor
    a, b = t([0.6, 1.5, 3.0]), t([2.5, 0.8, 1.7])
    matrix = t([[2.0, 0.5], [0.5, 1.0]])
    u = t([0.2, 0.5, 0.9])
    return {
        "Beta": (D.Beta(a, b), u),
        "Cauchy": (D.Cauchy(a - 1, b), a),
        "Chi2": (D.Chi2(a), b),
        "ContinuousBernoulli": (D.ContinuousBernoulli(t([0.1, 0.5, 0.8])), u),
        "ContinuousBernoulli.logits": (D.ContinuousBernoulli(logits=t([-1.0, 0.0, 2.0])), u),
        "Dirichlet": (D.Dirichlet(a), t([0.2, 0.3, 0.5])),
        "Exponential": (D.Exponential(a), b),
        "FisherSnedecor": (D.FisherSnedecor(a + 2, b + 4), b),
        "Gamma": (D.Gamma(a, b), b),
        "GeneralizedPareto": (D.GeneralizedPareto(t([0.0, 0.0, 1.0]), b, t([0.2, 0.0, -0.3])), t([0.5, 2.0, 2.0])),
        "Geometric": (D.Geometric(u), t([0.0, 3.0, 1.0])),
        "Gumbel": (D.Gumbel(a, b), a - 1),
        "HalfCauchy": (D.HalfCauchy(b), a),
        "HalfNormal": (D.HalfNormal(b), a),
        "Independent": (D.Independent(D.Normal(a, b), 1), b),
        "InverseGamma": (D.InverseGamma(a + 2, b), a),
        "Kumaraswamy": (D.Kumaraswamy(a, b), u),
        "LKJCholesky": (D.LKJCholesky(2, 1.5), t([[1.0, 0.0], [0.6, 0.8]])),
        "Laplace": (D.Laplace(a, b), a - 1),
        "LogNormal": (D.LogNormal(a, b), a),
        "LogisticNormal": (D.LogisticNormal(a, b), t([0.1, 0.2, 0.3, 0.4])),
        "LowRankMultivariateNormal": (
            D.LowRankMultivariateNormal(t([1.0, 2.0]), t([[0.5], [1.0]]), t([1.0, 0.5])), t([0.5, 1.0])),
        "MixtureSameFamily": (
            D.MixtureSameFamily(D.Categorical(t([0.2, 0.3, 0.5])), D.Normal(a, b)), t(0.7)),
        "MixtureSameFamily.Independent": (
            D.MixtureSameFamily(D.Categorical(t([0.4, 0.6])), D.Independent(D.Normal(t([[0.0, 1.0], [2.0, 3.0]]), 1.0), 1)),
            t([0.5, 1.5])),
        "MultivariateNormal": (D.MultivariateNormal(t([1.0, 0.0]), matrix), t([0.3, 0.4])),
        "Binomial": (D.Binomial(5, u), t([0.0, 3.0, 5.0])),
        "Multinomial": (D.Multinomial(4, t([0.2, 0.3, 0.5])), t([1.0, 1.0, 2.0])),
        "NegativeBinomial": (D.NegativeBinomial(t([2.0, 3.0, 1.5]), u), t([0.0, 2.0, 5.0])),
        "Normal": (D.Normal(a, b), a - 1),
        "OneHotCategorical": (D.OneHotCategorical(t([0.2, 0.3, 0.5])), t([0.0, 1.0, 0.0])),
        "Pareto": (D.Pareto(a, b + 2), a + 1),
        "Poisson": (D.Poisson(a), t([0.0, 2.0, 5.0])),
        "RelaxedBernoulli": (D.RelaxedBernoulli(t(0.7), u), u),
        "RelaxedOneHotCategorical": (D.RelaxedOneHotCategorical(t(0.7), t([0.2, 0.3, 0.5])), t([0.3, 0.3, 0.4])),
        "StudentT": (D.StudentT(a + 2, a, b), b),
        "TransformedDistribution": (
            D.TransformedDistribution(D.Normal(a, b), [D.SigmoidTransform(), D.AffineTransform(1.0, -2.0)]),
            t([0.5, 0.0, -0.5])),
        "Uniform": (D.Uniform(a, a + b), a + 0.3),
        "VonMises": (D.VonMises(a, b), a - 1),
        "Weibull": (D.Weibull(a, b), b),
        "Wishart": (D.Wishart(t(4.0), matrix), t([[3.0, 0.2], [0.2, 2.0]])),
    }  # fmt: skip


def transforms(torch):
    """{name: (transform, a value of its domain)}."""
    D, t = torch.distributions, torch.tensor
    x = t([-1.0, 0.3, 2.0])
    return {
        "abs": (D.AbsTransform(), t([0.5, 1.0])),
        "affine": (D.AffineTransform(t([1.0, 2.0, 3.0]), t([2.0, -1.0, 0.5]), event_dim=1), x),
        "cat": (D.CatTransform([D.ExpTransform(), D.TanhTransform()], dim=0, lengths=[1, 2]), x),
        "compose": (D.ComposeTransform([D.TanhTransform(), D.AffineTransform(0.0, 3.0)]), x),
        "corr": (D.CorrCholeskyTransform(), x),
        "exp": (D.ExpTransform(), x),
        "independent": (D.IndependentTransform(D.ExpTransform(), 1), x),
        "cdf": (D.CumulativeDistributionTransform(D.Normal(0.5, 2.0)), x),
        "lower": (D.LowerCholeskyTransform(), t([[0.5, 1.0], [2.0, -1.0]])),
        "power": (D.PowerTransform(t(2.0)), t([0.5, 1.5])),
        "reshape": (D.ReshapeTransform((3,), (3, 1)), x),
        "sigmoid": (D.SigmoidTransform(), x),
        "softplus": (D.SoftplusTransform(), x),
        "stack": (D.StackTransform([D.ExpTransform(), D.SigmoidTransform(), D.TanhTransform()], dim=0), x),
        "stick": (D.StickBreakingTransform(), x),
        "tanh": (D.TanhTransform(), x),
    }


def _numbers(value):
    return [None if math.isnan(v) else v for v in value.detach().double().reshape(-1).tolist()]


def told(torch):
    """{what: numbers}."""
    D, out = torch.distributions, {}

    def tell(name, f):
        try:
            value = f()
        except (NotImplementedError, AttributeError):
            return
        out[name] = _numbers(value)

    for name, (d, value) in made(torch).items():
        tell(f"{name}.log_prob", lambda d=d, value=value: d.log_prob(value))
        for fact in ("mean", "mode", "variance"):
            tell(f"{name}.{fact}", lambda d=d, fact=fact: getattr(d, fact))
        tell(f"{name}.entropy", lambda d=d: d.entropy())
        tell(f"{name}.cdf", lambda d=d, value=value: d.cdf(value))
        tell(f"{name}.icdf", lambda d=d: d.icdf(torch.tensor(0.3)))
        tell(f"{name}.expand", lambda d=d, value=value: d.expand((2, *d.batch_shape)).log_prob(value))
    for name, (t, x) in transforms(torch).items():
        y = t(x)
        tell(f"{name}.call", lambda y=y: y)
        tell(f"{name}.inverse", lambda t=t, y=y: t.inv(y))
        tell(f"{name}.jacobian", lambda t=t, x=x, y=y: t.log_abs_det_jacobian(x, y))
    two = torch.tensor([0.5, 2.0])
    x = torch.tensor([-0.5, 0.7])
    for name, c in {
        "positive": D.constraints.positive, "interval": D.constraints.interval(-1.0, 2.0), "simplex": D.constraints.simplex,
        "less": D.constraints.less_than(1.0), "real_vector": D.constraints.real_vector,
    }.items():  # fmt: skip
        for registry in ("biject_to", "transform_to"):
            tell(f"{registry}.{name}", lambda c=c, registry=registry: getattr(D, registry)(c)(x))
    pairs = {
        "Beta": lambda v: D.Beta(v, v + 1), "Dirichlet": D.Dirichlet, "Laplace": lambda v: D.Laplace(v, v + 1),
        "HalfNormal": D.HalfNormal, "Cauchy": lambda v: D.Cauchy(v, v + 1), "Gumbel": lambda v: D.Gumbel(v, v + 1),
        "Pareto": lambda v: D.Pareto(v + 1, v), "Binomial": lambda v: D.Binomial(5, v / 3), "Geometric": lambda v: D.Geometric(v / 3),
        "OneHotCategorical": D.OneHotCategorical, "LogNormal": lambda v: D.LogNormal(v, v + 1), "Gamma": lambda v: D.Gamma(v, v + 1),
        "Normal": lambda v: D.Normal(v, v + 1), "Exponential": D.Exponential, "Poisson": D.Poisson,
    }  # fmt: skip
    for name, f in pairs.items():
        tell(f"kl.{name}", lambda f=f: D.kl_divergence(f(two + 0.3), f(two)))
    u = torch.tensor([0.2, 0.5])
    kinds = {
        "Beta": D.Beta(two, two + 1), "Exponential": D.Exponential(two), "Gamma": D.Gamma(two, two + 1), "Gumbel": D.Gumbel(x, two),
        "Laplace": D.Laplace(x, two), "Normal": D.Normal(x, two), "Pareto": D.Pareto(u, two + 3), "Uniform": D.Uniform(u, two + 0.4),
        "ContinuousBernoulli": D.ContinuousBernoulli(u), "HalfCauchy": D.HalfCauchy(two), "Unit": D.Uniform(0 * two, 0 * two + 1),
    }  # fmt: skip
    for a, p in kinds.items():
        for b, q in kinds.items():
            tell(f"kl.{a}.{b}", lambda p=p, q=q: D.kl_divergence(p, q))
    wide = D.MultivariateNormal(x, torch.eye(2) * 2)
    thin = D.LowRankMultivariateNormal(x - 1, two[:, None], two)
    for p in (wide, thin):
        for q in (wide, thin):
            tell(f"kl.{type(p).__name__}.{type(q).__name__}", lambda p=p, q=q: D.kl_divergence(p, q))
    tell("OneHotCategorical.enumerated", lambda: D.OneHotCategorical(torch.ones(2, 3)).enumerate_support())
    tell("Binomial.enumerated", lambda: D.Binomial(3, u).enumerate_support())
    tell("kl.Uniform.Normal", lambda: D.kl_divergence(D.Uniform(two, two + 1), D.Normal(two, two)))
    tell("kl.Laplace.Normal", lambda: D.kl_divergence(D.Laplace(two, two + 1), D.Normal(two + 1, two)))
    tell("kl.Exponential.Gamma", lambda: D.kl_divergence(D.Exponential(two), D.Gamma(two, two + 1)))
    tell("kl.Bernoulli.Poisson", lambda: D.kl_divergence(D.Bernoulli(two / 3), D.Poisson(two)))
    return out


if __name__ == "__main__":
    import torch

    path = pathlib.Path(__file__).parent / "torch_distribution_values.json"
    path.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in told(torch).items()) + "\n}\n")
