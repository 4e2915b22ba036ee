"""torch.distributions: all distributions, transforms and divergences against PyTorch's values; draws against moments."""

import json
import math
import pathlib
import warnings

import pytest
import torch_distribution_cases as cases

import treadle.torch as torch
from treadle.torch import distributions as D

VALUES = json.loads((pathlib.Path(__file__).parent / "torch_distribution_values.json").read_text())


@pytest.fixture(scope="module")
def ours():
    return cases.told(torch)


@pytest.mark.parametrize("family", sorted({k.split(".")[0] for k in VALUES}))
def test_pytorchs_values(ours, family):
    for name in (k for k in VALUES if k.split(".")[0] == family):
        assert name in ours, name
        expected = [float("nan") if v is None else v for v in VALUES[name]]
        found = [float("nan") if v is None else v for v in ours[name]]
        assert found == pytest.approx(expected, rel=3e-5, abs=3e-5, nan_ok=True), name


# Whose mean and variance are finite, and known.
DRAWN = [n for n in VALUES if n.endswith(".variance") and n.split(".")[0] not in ("Cauchy", "HalfCauchy", "VonMises")]


@pytest.mark.parametrize("name", sorted(n.rsplit(".", 1)[0] for n in DRAWN))
def test_draws_have_the_moments(name):
    torch.manual_seed(3)
    d, _ = cases.made(torch)[name]
    draws = d.sample((4000,)).double()
    variance = d.variance.double()
    error = (draws.mean(0) - d.mean.double()).abs() / (variance / 4000).sqrt()
    steady = torch.isfinite(variance)
    assert (error[steady] < 5).all() and bool(d.support.check(d.sample((5,))).all())


@pytest.mark.parametrize("name", ["Gamma", "Beta", "Dirichlet", "Chi2", "StudentT", "InverseGamma"])
def test_draws_are_differentiable(name):
    """The gradient of draws' mean is that of the distribution's mean."""
    torch.manual_seed(1)
    a = torch.tensor([3.0, 4.0, 6.0], dtype=torch.float64, requires_grad=True)
    make = {"Gamma": lambda: D.Gamma(a, 2.0), "Beta": lambda: D.Beta(a, a + 1), "Dirichlet": lambda: D.Dirichlet(a),
            "Chi2": lambda: D.Chi2(a), "StudentT": lambda: D.StudentT(6.0, a, 2.0),
            "InverseGamma": lambda: D.InverseGamma(a, 2.0)}[name]  # fmt: skip
    weight = torch.tensor([1.0, 2.0, -1.0])
    d = make()
    (expected,) = torch.autograd.grad((d.mean * weight).sum(), a, retain_graph=True)
    (found,) = torch.autograd.grad((d.rsample((20000,)).mean(0) * weight).sum(), a)
    assert found.tolist() == pytest.approx(expected.tolist(), abs=0.03)


def test_wrong_parameters_and_values_are_told():
    for make in (
        lambda: D.Normal(0.0, -1.0),
        lambda: D.Bernoulli(1.5),
        lambda: D.Categorical(logits=torch.tensor([float("nan"), 0.0])),
        lambda: D.Gamma(-1.0, 1.0),
        lambda: D.Normal(0.0, 1.0).log_prob(torch.tensor(float("nan"))),
        lambda: D.Poisson(1.0).log_prob(torch.tensor(0.5)),
        lambda: D.Normal(torch.zeros(3), 1.0).log_prob(torch.zeros(2)),
        lambda: D.MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(3)),
    ):
        with pytest.raises(ValueError):
            make()
    assert D.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Bernoulli(1.5).probs.item() == 1.5
    finally:
        D.Distribution.set_default_validate_args(True)


def test_expand_and_enumerate():
    d = D.Normal(torch.tensor([0.0, 1.0]), 1.0).expand((3, 2))
    assert d.batch_shape == (3, 2) and d.sample((4,)).shape == (4, 3, 2)
    assert D.Categorical(torch.ones(2, 3)).enumerate_support().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert D.Bernoulli(torch.tensor([0.1, 0.2])).enumerate_support(expand=False).tolist() == [[0.0], [1.0]]
    with pytest.raises(NotImplementedError):
        D.Normal(0.0, 1.0).enumerate_support()


def test_divergences_take_the_nearest_classes():
    class Mine(D.Normal):
        pass

    @D.register_kl(Mine, Mine)
    def _(p, q):
        return torch.tensor(7.0)

    assert D.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0)).item() == 7
    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(0.0, 1.0)).item() == 0
    with pytest.raises(NotImplementedError, match="No KL"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Wishart(torch.tensor(3.0), torch.eye(2)))


def test_transforms_keep_what_they_computed():
    t = D.ExpTransform(cache_size=1)
    x = torch.tensor([1.0, 2.0])
    y = t(x)
    assert t.inv(y) is x and t.inv.inv is t
    with pytest.raises(ValueError, match="cache_size"):
        D.ExpTransform(cache_size=3)
    with pytest.raises(NotImplementedError, match="Cannot transform"):
        D.biject_to(D.constraints.boolean)


def test_independent_takes_no_more_dims_than_there_are():
    base = torch.distributions.Normal(torch.zeros(2), torch.ones(2))
    assert repr(torch.distributions.Independent(base, 1)) == (
        "Independent(Normal(loc: torch.Size([2]), scale: torch.Size([2])), 1)"
    )
    with pytest.raises(ValueError, match="actual 2 vs 1"):
        torch.distributions.Independent(base, 2)


def test_a_programs_own_distribution():
    class Point(torch.distributions.Distribution):
        arg_constraints = {}

        def __init__(self, at, checks):
            self.at, self.checks = at, checks
            super().__init__(at.shape)

        def log_prob(self, value):
            if self.checks:
                self._validate_sample(value)
            return torch.where(value == self.at, 0.0, -math.inf)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Point(torch.ones(2), False).log_prob(torch.ones(2)).tolist() == [0, 0]
    with pytest.warns(UserWarning, match="does not define `support`"):
        Point(torch.ones(2), True).log_prob(torch.ones(2))
    for name in ("mean", "variance", "mode", "support", "stddev"):
        with pytest.raises(NotImplementedError):
            getattr(Point(torch.ones(2), False), name)
        assert getattr(torch.distributions.Distribution, name).__doc__

    class Wide(torch.distributions.Uniform):
        support = torch.distributions.constraints.positive

        def log_prob(self, value):  # accepts what its support does not have, since it never asks
            return value * 2

    assert Wide(0.0, 1.0).log_prob(torch.tensor(-3.0)) == -6


def test_a_transform_and_a_distribution_that_are_modules():
    class Scale(torch.distributions.Transform, torch.nn.Module):
        domain = codomain = torch.distributions.constraints.real
        bijective = True

        def __init__(self):
            super().__init__(cache_size=1)
            self.log_scale = torch.nn.Parameter(torch.ones(2))

        def _call(self, x):
            return x * self.log_scale.exp()

        def _inverse(self, y):
            return y / self.log_scale.exp()

        def log_abs_det_jacobian(self, x, y):
            return self.log_scale.expand(x.shape)

        def __hash__(self):
            return torch.nn.Module.__hash__(self)

    class Held(torch.distributions.Normal, torch.nn.Module):
        def __init__(self):
            super().__init__(torch.zeros(2), torch.ones(2))
            self.layer = torch.nn.Linear(2, 2)

    scale, x = Scale(), torch.ones(2)
    y = scale(x)
    assert scale._cached_x_y[0] is x and scale.inv(y) is x and list(dict(scale.named_parameters())) == ["log_scale"]
    flow = torch.distributions.TransformedDistribution(torch.distributions.Normal(torch.zeros(2), 1.0), [scale])
    flow.log_prob(torch.ones(2)).sum().backward()
    assert scale.log_scale.grad is not None and len(list(Held().parameters())) == 2
