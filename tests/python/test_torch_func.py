"""Derivatives of torch.func and torch.autograd.functional take part in backward passes outside of them, as PyTorch's do, and are
the same while nothing is recorded."""

import numpy as np
import pytest

import treadle.torch as torch
from treadle.torch import func, nn
from treadle.torch.autograd import functional
from treadle.torch.nn import functional as F

X = torch.tensor([0.5, -1.0, 2.0])


@pytest.fixture
def w():
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


SLOPES = {
    "grad": lambda w: func.grad(lambda x: (w * x**2).sum())(X),
    "jacrev": lambda w: func.jacrev(lambda x: w * x**2)(X).diagonal(),
    "jacfwd": lambda w: func.jacfwd(lambda x: w * x**2)(X).diagonal(),
    "jvp": lambda w: func.jvp(lambda x: w * x**2, (X,), (torch.ones(3),))[1],
    "vjp": lambda w: func.vjp(lambda x: w * x**2, X)[1](torch.ones(3))[0],
    "hessian": lambda w: func.hessian(lambda x: (w * x**3 / 3).sum())(X).diagonal(),
    "vmap": lambda w: func.vmap(func.grad(lambda x, v: v * x**2))(X, w),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_have_gradients(name, w):
    slope = SLOPES[name](w)
    np.testing.assert_allclose(slope.tolist(), (2 * w * X).tolist())
    slope.sum().backward()
    np.testing.assert_allclose(w.grad.tolist(), (2 * X).tolist())


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_while_nothing_is_recorded(name, w):
    with torch.no_grad():
        slope = SLOPES[name](w)
    assert not slope.requires_grad and slope.tolist() == (2 * w * X).tolist()
    assert not SLOPES[name](w.detach()).requires_grad


def test_functional_while_nothing_is_recorded():
    def cubes(x):
        return x**3

    with torch.no_grad():
        assert functional.jacobian(cubes, X).diagonal().tolist() == (3 * X**2).tolist()
        assert functional.hessian(lambda x: cubes(x).sum(), X).diagonal().tolist() == (6 * X).tolist()
        assert functional.jvp(cubes, X, torch.ones(3))[1].tolist() == (3 * X**2).tolist()
        assert functional.hvp(lambda x: cubes(x).sum(), X, torch.ones(3))[1].tolist() == (6 * X).tolist()


def test_inner_steps_by_grad_have_second_derivatives():
    """One step of MAML: the gradients of an inner step by func.grad and by autograd.grad agree."""
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    params, x, y = dict(net.named_parameters()), torch.randn(6, 2), torch.randn(6, 1)

    def loss(p, part):
        return F.mse_loss(func.functional_call(net, p, (x[part],)), y[part])

    inner, outer, results = slice(0, 3), slice(3, 6), []
    for slopes in (lambda: func.grad(loss)(params, inner),
                   lambda: dict(zip(params, torch.autograd.grad(loss(params, inner), params.values(), create_graph=True),
                                    strict=True))):  # fmt: skip
        g = slopes()
        net.zero_grad()
        loss({k: p - 0.5 * g[k] for k, p in params.items()}, outer).backward()
        results.append([p.grad.numpy() for p in net.parameters()])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_what_is_returned_besides_is_detached_from_the_argument(w):
    slope, aux = func.grad(lambda x: ((x**2).sum(), x * 2), has_aux=True)(X)
    assert not aux.requires_grad and aux.tolist() == (X * 2).tolist()
    slope, aux = func.grad(lambda x: ((x**2).sum(), x * w), has_aux=True)(X)
    aux.sum().backward()
    assert w.grad.tolist() == X.tolist()
