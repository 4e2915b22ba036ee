"""Gradients where a function bends, is tied or saturates: zero-initialised layers begin there."""

import math

import numpy as np
import pytest
from torch_kinks import KINKS, X

from treadle import torch

F = torch.nn.functional


@pytest.mark.parametrize("expression", KINKS)
def test_derivatives(expression):
    x = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    space = {"x": x, "o": torch.zeros(len(X), dtype=torch.float64), "torch": torch, "F": F, "math": math}
    first, second = KINKS[expression]
    (g,) = torch.autograd.grad(eval(expression, space).sum(), x, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), first, rtol=1e-7, atol=1e-9)
    if second is not None:
        (h,) = torch.autograd.grad((g * torch.arange(1, len(X) + 1)).sum(), x)
        np.testing.assert_allclose(h.numpy(), second, rtol=1e-7, atol=1e-8)


def test_a_layer_of_zeros_learns():
    """Its logits are 0, where the loss has a slope."""
    layer = torch.nn.Linear(3, 1)
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    x, t = torch.ones(4, 3), torch.ones(4, 1)
    F.binary_cross_entropy_with_logits(layer(x), t).backward()
    assert layer.bias.grad.item() == -0.5 and layer.weight.grad.tolist() == [[-0.5] * 3]
