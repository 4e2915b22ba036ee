"""torch.utils.checkpoint: the same values and gradients as without, computed twice."""

import pytest

import treadle.torch as torch
from treadle.torch import nn
from treadle.torch.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential


def run(use, f, *args):
    torch.manual_seed(3)
    r = checkpoint(f, *args, use_reentrant=False) if use else f(*args)
    total = sum((t * (i + 1)).sum() for i, t in enumerate(r if isinstance(r, tuple) else (r,)))
    return total


def grads(use, f, args, leaves):
    for t in leaves:
        t.grad = None
    run(use, f, *args).backward()
    return [t.grad.tolist() for t in leaves]


def test_gradients_are_those_of_an_ordinary_call():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 2))
    x = torch.randn(5, 3, requires_grad=True)
    leaves = [x, *net.parameters()]
    assert grads(True, net, (x,), leaves) == grads(False, net, (x,), leaves)
    y = x * 2  # an argument with a history
    assert grads(True, lambda t: net(t) * t.sum(), (y,), leaves) == grads(False, lambda t: net(t) * t.sum(), (x * 2,), leaves)


def test_the_function_is_called_again_for_the_backward_pass_alone():
    calls = []
    x = torch.ones(2, requires_grad=True)

    def f(a, scale=1.0):
        calls.append(a.requires_grad)
        return a.exp() * scale, a.detach()

    r, plain = checkpoint(f, x, use_reentrant=False, scale=2.0)
    assert calls == [True] and r.requires_grad and not plain.requires_grad
    r.sum().backward()
    assert calls == [True, True] and torch.allclose(x.grad, 2 * x.detach().exp())
    with torch.no_grad():
        assert not checkpoint(f, x)[0].requires_grad


def test_random_numbers_come_again_and_the_generator_goes_on():
    x = torch.ones(1000, requires_grad=True)
    torch.manual_seed(1)
    r = checkpoint(lambda t: nn.functional.dropout(t, 0.5), x, use_reentrant=False)
    after = torch.rand(1)
    r.sum().backward()
    assert torch.equal(x.grad, r.detach())
    torch.manual_seed(1)
    nn.functional.dropout(x, 0.5)
    assert torch.equal(after, torch.rand(1))


def test_named_inputs_captured_histories_and_trees():
    x, w = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
    r = checkpoint(lambda d: {"r": d["x"] * w}, {"x": x}, use_reentrant=False)["r"]
    gx, gw = torch.autograd.grad(r.sum(), (x, w))
    assert gx.tolist() == [3, 3] and gw.tolist() == [1, 1]
    h = w * 2  # with a history, and no argument: recorded as ever
    r = checkpoint(lambda t: t * h, x, use_reentrant=False)
    assert torch.autograd.grad(r.sum(), w)[0].tolist() == [2, 2]


def test_second_derivatives():
    x = torch.tensor([0.5, 2.0], requires_grad=True)
    (first,) = torch.autograd.grad(checkpoint(lambda t: t**3, x).sum(), x, create_graph=True)
    assert torch.autograd.grad(first.sum(), x)[0].tolist() == [3, 12]


def test_autocast_is_that_of_the_first_call():
    x, w, seen = torch.rand(2, 3), torch.rand(3, 3, requires_grad=True), []

    def f(t):
        seen.append((t @ w).dtype)
        return t @ w

    with torch.autocast("cpu"):
        r = checkpoint(f, x, use_reentrant=False)
    r.float().sum().backward()
    assert seen == [torch.bfloat16] * 2 and w.grad.dtype is torch.float32


def test_segments_and_a_function_that_changes():
    net = nn.Sequential(*(nn.Linear(2, 2) for _ in range(5)))
    x = torch.rand(3, 2, requires_grad=True)
    leaves = [x, *net.parameters()]
    assert grads(False, lambda t: checkpoint_sequential(net, 2, t), (x,), leaves) == grads(False, net, (x,), leaves)
    with pytest.raises(ValueError, match="6 segments of 5 functions"):
        checkpoint_sequential(net, 6, x)
    times = iter([1, 2])
    r = checkpoint(lambda t: tuple(t * 2 for _ in range(next(times))), x)
    with pytest.raises(CheckpointError, match="saved during forward: 1"):
        r[0].sum().backward()
    assert x.grad is not None and (x * 1).sum().item() > 0  # and the next calls work
