"""Recurrent layers: all steps at once against the same steps recorded one by one, whose values other tests compare with
PyTorch's."""

import itertools

import numpy as np
import pytest

import treadle as td
from treadle import torch
from treadle.torch import nn
from treadle.torch.nn.modules import _sequence

KINDS = [("RNN", {}), ("RNN", {"nonlinearity": "relu"}), ("LSTM", {}), ("GRU", {})]
BOUND = {torch.float32: 2e-5, torch.float64: 1e-13}


@pytest.fixture
def runs(monkeypatch):
    """A list of what was run at once; runs.off() has every step recorded."""
    run = _sequence.run

    class Runs(list):
        def on(self):
            monkeypatch.setattr(_sequence, "run", lambda *a: self.append(run(*a)) or self[-1])

        def off(self):
            monkeypatch.setattr(_sequence, "run", lambda *a: None)

    runs = Runs()
    runs.on()
    return runs


def close(a, b, dtype):
    a, b = np.asarray(a.detach().cpu().numpy()), np.asarray(b.detach().cpu().numpy())
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=BOUND[dtype], atol=BOUND[dtype])


def trained(m, x, states, weights):
    """Outputs, last states, and gradients of the input, the first states and the parameters."""
    m.zero_grad()
    for t in (x, *states):
        t.grad = None
    hx = () if not states else (states[0],) if len(states) == 1 else (tuple(states),)
    y, last = m(x, *hx)
    last = last if isinstance(last, tuple) else (last,)
    loss = sum((t * w[: t.numel()].reshape(t.shape)).sum() for t, w in zip((y, *last), weights))
    (loss + (y * y).sum()).backward()
    return [y, *last, x.grad, *(s.grad for s in states), *(p.grad for p in m.parameters())]


@pytest.mark.parametrize("kind, more", KINDS)
@pytest.mark.parametrize("dtype", BOUND)
def test_layers(dev, runs, kind, more, dtype):
    torch.manual_seed(3)
    for layers, both, bias, first, given in itertools.product(
        (1, 2), (False, True), (False, True), (False, True), (0, 1)
    ):
        steps, batch, width = (1, 2, 9) if layers == 1 else (5, 3, 8)
        m = getattr(nn, kind)(4, width, layers, bias=bias, batch_first=first, bidirectional=both, dtype=dtype, **more)
        x = torch.randn(*((batch, steps) if first else (steps, batch)), 4, dtype=dtype, requires_grad=True)
        shape = (layers * (2 if both else 1), batch, width)
        states = [
            torch.randn(shape, dtype=dtype, requires_grad=True) for _ in range(2 if kind == "LSTM" else 1) if given
        ]
        weights = [torch.randn(200 + width * batch * steps * 2, dtype=dtype) for _ in range(3)]
        runs.on()
        at_once = trained(m, x, states, weights)
        assert len(runs) == shape[0] and all(r is not None for r in runs)
        runs.clear()
        runs.off()
        for a, b in zip(at_once, trained(m, x, states, weights), strict=True):
            close(a, b, dtype)


@pytest.mark.parametrize("kind, more", KINDS)
def test_second_derivatives(dev, runs, kind, more):
    torch.manual_seed(4)
    m = getattr(nn, kind)(3, 4, dtype=torch.float64, **more)
    x = torch.randn(3, 2, 3, dtype=torch.float64, requires_grad=True)

    def penalty():
        y, last = m(x)
        loss = (y * y).sum() + sum((s * s * s).sum() for s in (last if isinstance(last, tuple) else (last,)))
        (g,) = torch.autograd.grad(loss, x, create_graph=True)
        return torch.autograd.grad((g * g).sum(), [x, *m.parameters()], allow_unused=True)

    at_once = penalty()
    assert runs and runs[0] is not None
    runs.off()
    for a, b in zip(at_once, penalty(), strict=True):
        if a is None or b is None:
            assert a is b
        else:
            close(a, b, torch.float64)


def test_gradients_by_differences(runs):
    torch.manual_seed(5)
    for kind, more in KINDS:
        if more:  # not differentiable at 0
            continue
        m = getattr(nn, kind)(2, 3, dtype=torch.float64, **more)
        x = torch.randn(4, 2, 2, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda t, m=m: m(t)[0], (x,))


def test_of_parts(dev, runs):
    """Gradients of the last state alone, of the outputs alone, of frozen weights, twice over one graph."""
    torch.manual_seed(6)
    m = nn.LSTM(3, 5)
    x = torch.randn(4, 2, 3, requires_grad=True)
    m.weight_hh_l0.requires_grad_(False)
    for pick in (lambda r: r[1][0], lambda r: r[1][1], lambda r: r[0], lambda r: r[0][1]):
        found = []
        for on in (True, False):
            runs.on() if on else runs.off()
            loss = (pick(m(x)) ** 2).sum()
            once = torch.autograd.grad(loss, [x, m.weight_ih_l0, m.bias_hh_l0], retain_graph=True)
            again = torch.autograd.grad(loss, [x, m.weight_ih_l0, m.bias_hh_l0])
            for a, b in zip(once, again, strict=True):
                close(a, b, torch.float32)
            found.append(again)
        for a, b in zip(*found, strict=True):
            close(a, b, torch.float32)


def test_results_are_the_programs_own(dev, runs):
    """Writing to outputs and states leaves backward what it kept, and inference gives the same numbers."""
    torch.manual_seed(7)
    m = nn.GRU(3, 4)
    x = torch.randn(5, 2, 3, requires_grad=True)
    y, h = m(x)
    (want,) = torch.autograd.grad((y * 1.5).sum(), x, retain_graph=True)
    kept = y.detach().clone()
    h.mul_(0)
    close(y, kept, torch.float32)
    y.mul_(1.5)
    (got,) = torch.autograd.grad(y.sum(), x)
    close(got, want, torch.float32)
    with torch.no_grad():
        free, last = m(x)
    close(free, kept, torch.float32)
    assert free.is_contiguous() and not free.requires_grad and free.storage_offset() == 0
    last.zero_()
    close(free, kept, torch.float32)


def test_views_and_empty_ones(dev, runs):
    torch.manual_seed(8)
    m = nn.LSTM(3, 4, batch_first=True)
    wide = torch.randn(3, 7, 6)
    x = wide[:, ::2, 1::2]
    at_once = m(x)[0]
    runs.off()
    close(at_once, m(x.contiguous())[0], torch.float32)
    runs.on()
    assert tuple(m(torch.zeros(0, 4, 3))[0].shape) == (0, 4, 4)
    y, (h, c) = m(torch.randn(6, 3))  # no batch
    assert tuple(y.shape) == (6, 4) and tuple(h.shape) == tuple(c.shape) == (1, 4)


def test_not_a_number(dev, runs):
    m = nn.RNN(2, 3, nonlinearity="relu")
    x = torch.randn(3, 1, 2)
    x[1, 0, 0] = float("nan")
    y = m(x)[0]
    runs.off()
    want = m(x)[0]
    assert np.array_equal(np.isnan(y.detach().cpu().numpy()), np.isnan(want.detach().cpu().numpy()))


def test_vmap_records_the_steps(runs):
    torch.manual_seed(9)
    m = nn.GRU(3, 4)
    x = torch.randn(5, 6, 2, 3)
    with torch.no_grad():
        want = torch.stack([m(t)[0] for t in x])
        got = torch.vmap(lambda t: m(t)[0])(x)
    close(got, want, torch.float32)


def test_kernels_do_not_grow_with_the_sequence(dev):
    """A longer sequence of the same width compiles nothing new."""
    from treadle import _core

    torch.manual_seed(10)
    m = nn.LSTM(16, 32, 2)

    def step(n):
        y, _ = m(torch.randn(n, 4, 16))
        (y * y).sum().backward()
        return float(m.weight_ih_l0.grad.sum())

    for n in (6, 7):
        step(n)
    before = _core.jit_stats()["kernels"]
    for n in (8, 23, 41):
        step(n)
    assert _core.jit_stats()["kernels"] - before <= 2  # sums of the gradient's rows may be cut otherwise


def test_no_product_of_the_dtype(runs):
    """Half types have no product in a CPU's library: the steps are recorded."""
    with td.device("cpu"):
        m = nn.LSTM(3, 4).to(torch.bfloat16)
        y = m(torch.randn(2, 2, 3).to(torch.bfloat16))[0]
        assert y.dtype is torch.bfloat16 and bool(torch.isfinite(y).all())


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_a_program_puts_computed_weights_into_the_list_of_weights(kind):
    layer, other, x = kind(4, 3, 2, bidirectional=True), kind(4, 3, 2, bidirectional=True), torch.randn(5, 2, 4)
    assert layer._flat_weights_names == list(dict(layer.named_parameters()))
    assert all(a is b for a, b in zip(layer._flat_weights, layer.parameters(), strict=True))
    layer._flat_weights = [w * 2 for w in other.parameters()]  # tensors with a history
    with torch.no_grad():
        for w in other.parameters():
            w.mul_(2)
        assert torch.allclose(layer(x)[0], other(x)[0], atol=1e-6)
    layer.weight_hh_l0 = nn.Parameter(torch.zeros_like(layer.weight_hh_l0))  # an attribute that is set counts again
    assert layer._flat_weights[1] is layer.weight_hh_l0
    layer.double()
    assert all(a is b for a, b in zip(layer._flat_weights, layer.parameters(), strict=True))
