"""Strides are PyTorch's; torch_strides.json holds what PyTorch gave (written by torch_strides.py)."""

import json

import numpy as np
import pytest
import torch_strides

import treadle.torch as torch
from treadle.torch.nn import functional as F

OURS = torch_strides.told(torch)
THEIRS = json.loads(torch_strides.VALUES.read_text())


def test_every_case_has_pytorchs_strides():
    assert list(OURS) == list(THEIRS)


@pytest.mark.parametrize("case", THEIRS)
def test_strides(case):
    assert OURS[case] == THEIRS[case]


def test_results_of_pools_and_padding_can_be_viewed():
    x = torch.arange(96.0).reshape(2, 3, 4, 4)
    for y in (F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1), F.pad(x, (1, 1, 1, 1)), F.pad(x, (-1, 0, 0, 0))):
        assert torch.equal(y.view(2, -1), y.reshape(2, -1))


def test_padding_that_cuts_copies():
    x = torch.ones(2, 3)
    y = F.pad(x, (-1, 0))
    y.zero_()
    assert x.sum() == 6
    x.mul_(2)
    assert y.sum() == 0


@pytest.mark.parametrize("shape, order", [((4, 2, 3), (2, 0, 1)), ((2, 4, 5, 3), (0, 3, 1, 2)), ((4, 5), (1, 0))])
def test_another_device_keeps_the_order(shape, order):
    x = torch.arange(float(np.prod(shape))).reshape(shape).permute(order).requires_grad_()
    there = x.to("null")
    assert there.device.type == "null" and there.stride() == x.stride() and (there + 1).stride() == x.stride()
    assert there.cpu().stride() == x.stride() and torch.equal(there.cpu(), x)
    (there * there).sum().backward()
    assert torch.equal(x.grad, 2 * x)
    assert x.detach()[:, :1].expand(*x.shape).to("null").shape == x.shape


def test_stride_of_one_dim():
    x = torch.arange(6.0)
    assert (x[None].stride(0), x[None].stride(-1), x[:, None].stride(1)) == (6, 1, 1)
