"""Results and derivatives at NaN, infinities, signed zeros and outside of domains are PyTorch's."""

import json

import numpy as np
import pytest
from torch_edges import EXPRESSIONS, VALUES, derivatives

from treadle import torch

THEIRS = json.loads(VALUES.read_text())
# What differs, and why: the kinds are torch_edges.derivatives' keys.
POLE = ": a pole, where PyTorch's is a large number or of the other sign"
LIMIT = ": PyTorch's is NaN, ours the limit"
BESIDE = ": ours is NaN beside NaN or an infinity, where PyTorch's rule has a number"
TIE = ": a choice between branches, which PyTorch's rule makes otherwise"
LEFT_OUT = {
    "torch.digamma(x)": "0" + POLE,
    "torch.lgamma(x)": "00" + POLE,
    "torch.special.polygamma(1, x)": "r 0" + POLE,
    "torch.special.multigammaln(x, 2)": "0 00" + POLE,
    "x**0.5": "0" + LIMIT,
    "x**-0.5": "r" + LIMIT,
    "torch.i0(x)": "r 0" + LIMIT,
    "torch.special.i1(x)": "r" + LIMIT,
    "torch.special.bessel_j0(x)": "r 0" + LIMIT,
    "torch.special.polygamma(2, x)": "r 0" + LIMIT,
    "torch.copysign(x, y)": "0" + LIMIT,
    "torch.stack([x, y], 1).norm(0.5, dim=1)": "0 1" + LIMIT,
    "torch.stack([x, y], 1).logcumsumexp(1)[:, 1]": "0 1" + LIMIT,
    "torch.complex(x, y).abs()": "0 1" + LIMIT,
    "torch.view_as_real(torch.complex(x, y).sgn()).sum(-1)": "r 0 1" + LIMIT,
    "torch.linalg.vector_norm(x[:, None], inf, dim=1)": "0" + BESIDE,
    "torch.linalg.vector_norm(x[:, None], -inf, dim=1)": "0" + BESIDE,
    "torch.stack([x, y], 1).norm(inf, dim=1)": "0 1 00 01 10 11" + BESIDE,
    "x[:, None].expand(-1, 2).prod(1)": "00" + BESIDE,
    "torch.stack([x, y], 1).prod(1)": "00 01 10 11" + BESIDE,
    "x[:, None].expand(-1, 2).cumprod(1)[:, 1]": "0" + BESIDE,
    "torch.stack([x, y], 1).cumprod(1)[:, 1]": "1" + BESIDE,
    "torch.renorm(x[:, None], 2, 0, 1.0)[:, 0]": "0" + BESIDE,
    "torch.fmod(x, y)": "1 10 11" + BESIDE,
    "torch.lerp(x, y, y)": "0 1" + BESIDE,
    "torch.lerp(x, y, x)": "0 1" + BESIDE,
    "F.glu(torch.stack([x, y], 1), 1)[:, 0]": "11" + BESIDE,
    "torch.nextafter(x, y)": "0" + TIE,
    "torch.clamp(x, y, y+1)": "0 1" + TIE,
    "F.prelu(x[:, None], y[:1])[:, 0]": "01 10" + TIE,
    'F.smooth_l1_loss(x, y, reduction="none")': "00 01 10 11" + TIE,
    'F.huber_loss(x, y, reduction="none")': "00 01 10 11" + TIE,
    'F.huber_loss(x, y, reduction="none", delta=2.0)': "00 01 10 11" + TIE,
}


def floats(text):
    return np.array(text.split(), float)


@pytest.mark.parametrize("expression", [e for e in EXPRESSIONS if e in THEIRS])
def test_values_and_derivatives(expression):
    ours = derivatives(torch, expression)
    left_out = LEFT_OUT.get(expression, "").split(":")[0].split()
    for kind, text in THEIRS[expression].items():
        want, got = floats(text), np.array(ours[kind], float)
        # PyTorch's second derivative is NaN where a rule of its has 0 * inf: ours may be a number.
        compared = np.ones(want.shape, bool) if len(kind) == 1 else ~np.isnan(want)
        if kind not in left_out:
            np.testing.assert_allclose(got[compared], want[compared], rtol=1e-6, atol=1e-8, err_msg=kind)
