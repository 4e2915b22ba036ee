"""Convolutions that the core computes tile by tile on a CPU, against the same ones as products over copied windows, whose
values other tests compare with PyTorch's."""

import random

import numpy as np
import pytest

import treadle as td
from treadle import torch
from treadle.torch.nn import _convolve
from treadle.torch.nn import functional as F

BOUND = {torch.float32: 2e-5, torch.float64: 1e-12}


@pytest.fixture
def at_once(monkeypatch):
    """at_once(False): windows are copied; .done counts what the core has computed since."""
    core = _convolve._at_once

    class Switch:
        done = 0

        def __call__(self, on):
            monkeypatch.setattr(_convolve, "_at_once", self.counted if on else lambda *a: None)

        def counted(self, *args):
            r = core(*args)
            self.done += r is not None
            return r

    switch = Switch()
    switch(True)
    with td.device("cpu"):
        yield switch


def close(a, b, dtype):
    a, b = a.detach().numpy(), b.detach().numpy()
    assert a.shape == b.shape and a.dtype == b.dtype
    np.testing.assert_allclose(a, b, rtol=BOUND[dtype], atol=BOUND[dtype] * (1 + np.abs(b).max(initial=0)))


def drawn_geometry():
    while True:
        rank = random.choice([1, 2, 2, 3])
        size = [random.randint(1, {1: 60, 2: 14, 3: 7}[rank]) for _ in range(rank)]
        geo = _convolve.Geometry(
            *(tuple(random.randint(*ends) for _ in range(rank)) for ends in ((1, 4), (1, 3))),
            tuple((random.randint(0, 3),) * 2 for _ in range(rank)),
            tuple(random.randint(1, 2) for _ in range(rank)),
            random.choice([1, 1, 2, 3]),
        )
        out = tuple(_convolve._places(size, geo))
        if min(out) > 0:
            return geo, tuple(size), out


def test_random_geometries(at_once):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    random.seed(seed)
    torch.manual_seed(seed)
    for _ in range(120):
        geo, size, out = drawn_geometry()
        dtype = random.choice(list(BOUND))
        batch, c, o = random.choice([1, 2, 5, 17]), random.choice([1, 2, 3, 8]), random.choice([1, 2, 5, 16])
        x = torch.randn(batch, c * geo.groups, *size, dtype=dtype)
        w = torch.randn(o * geo.groups, c, *geo.kernel, dtype=dtype)
        y = torch.randn(batch, o * geo.groups, *out, dtype=dtype)
        if random.random() < 0.3:  # another layout
            x, y = (t.transpose(0, 1).contiguous().transpose(0, 1) for t in (x, y))
        found = []
        for on in (True, False):
            at_once(on)
            found.append(
                (_convolve.conv(x, w, geo), _convolve.conv_input(y, w, size, geo), _convolve.conv_weight(x, y, geo))
            )
        for a, b in zip(*found, strict=True):
            close(a, b, dtype)
    assert at_once.done == 360


@pytest.mark.parametrize("shape", [(3, 4, 70, 90), (40, 6, 9, 9), (2, 130, 5, 5), (1, 1, 600, 3)])
def test_many_tiles(at_once, shape):
    """Images of several pieces, images side by side, blocks of channels; parts of a batch."""
    torch.manual_seed(1)
    x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
    w = torch.randn(9, shape[1], 3, 3, dtype=torch.float64, requires_grad=True)
    found = []
    for on in (True, False):
        at_once(on)
        y = F.conv2d(x, w, padding=1)
        found.append((y, *torch.autograd.grad((y * y).sum(), (x, w))))
    for a, b in zip(*found, strict=True):
        close(a, b, torch.float64)


def test_derivatives_of_derivatives(at_once):
    torch.manual_seed(2)
    x = torch.randn(2, 3, 6, 5, dtype=torch.float64, requires_grad=True)
    w = torch.randn(4, 3, 3, 2, dtype=torch.float64, requires_grad=True)
    f = lambda x, w: F.conv2d(x, w, stride=(2, 1), padding=1, dilation=(1, 2))  # noqa: E731
    assert torch.autograd.gradcheck(f, (x, w)) and torch.autograd.gradgradcheck(f, (x, w))
    f = lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1)  # noqa: E731
    assert torch.autograd.gradcheck(f, (x, torch.randn(3, 2, 3, 3, dtype=torch.float64, requires_grad=True)))
    assert at_once.done


def test_empty_batches(dev):
    x = torch.zeros(0, 3, 5, 5, requires_grad=True)
    w = torch.ones(2, 3, 3, 3, requires_grad=True)
    y = F.conv2d(x, w)
    assert tuple(y.shape) == (0, 2, 3, 3)
    y.sum().backward()
    assert tuple(x.grad.shape) == (0, 3, 5, 5) and w.grad.abs().sum().item() == 0
    assert tuple(F.conv_transpose2d(torch.zeros(0, 2, 3, 3), w).shape) == (0, 3, 5, 5)


def test_what_the_core_leaves(at_once):
    """Other dtypes and vmap take the other way."""
    torch.manual_seed(3)
    w = torch.randn(2, 3, 3, 3)
    half = F.conv2d(torch.randn(1, 3, 5, 5).to(torch.bfloat16), w.to(torch.bfloat16))
    assert half.dtype is torch.bfloat16
    x = torch.randn(3, 2, 3, 5, 5)
    with torch.no_grad():
        each = torch.stack([F.conv2d(t, w) for t in x])
        at_once.done = 0
        close(torch.vmap(lambda t: F.conv2d(t, w))(x), each, torch.float32)
    assert not at_once.done


def test_infinities_and_threads(at_once):
    """A window of zeros beside an infinite weight is not a number, as in the product; each run gives the same bits."""
    w = torch.ones(1, 1, 3, 3)
    w[0, 0, 0, 0] = float("inf")
    y = F.conv2d(torch.ones(1, 1, 4, 4), w, padding=1)
    at_once(False)
    want = F.conv2d(torch.ones(1, 1, 4, 4), w, padding=1)
    assert np.array_equal(y.numpy(), want.numpy(), equal_nan=True)
    at_once(True)
    torch.manual_seed(4)
    x, w = torch.randn(33, 16, 20, 20, requires_grad=True), torch.randn(24, 16, 3, 3, requires_grad=True)

    def bits():
        y = F.conv2d(x, w, padding=1)
        return [t.detach().numpy().tobytes() for t in (y, *torch.autograd.grad((y * y).sum(), (x, w)))]

    first = bits()
    assert all(bits() == first for _ in range(4))
