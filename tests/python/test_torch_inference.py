"""torch.inference_mode: what it makes takes no part in what is recorded later, with PyTorch's errors."""

import copy
import threading

import pytest

import treadle.torch as torch
from treadle.torch.nn import functional as F

SAVED = "Inference tensors cannot be saved for backward"
WRITTEN = "Inplace update to inference tensor outside InferenceMode is not allowed"
REQUIRED = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed"


@pytest.fixture
def x():
    with torch.inference_mode():
        return torch.ones(2) * 1


@pytest.fixture
def w():
    return torch.ones(2, requires_grad=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [(t, SAVED) for t in ("x * w", "w / x", "w @ x", "F.linear(w, x.view(1, 2))", "x.softmax(0) * w", "Doubled.apply(w, x)")]
    + [(t, SAVED) for t in ("torch.linalg.solve(x.diag(), w)", "torch.nn.Linear(2, 1)(x)")]
    + [(t, WRITTEN) for t in ("x.add_(1)", "x.zero_()", "x.view(2, 1).mul_(2)", "x.__setitem__(0, 2)", "x.copy_(w.data)")]
    + [(t, WRITTEN) for t in ("x.index_put_((torch.tensor([0]),), torch.tensor(2.0))", "x.detach().fill_(1)")]
    + [(t, REQUIRED) for t in ("x.requires_grad_()", "torch.nn.Parameter(x)")],
)
def test_refused(text, message, x, w):
    names = {"torch": torch, "F": F, "Doubled": Doubled, "x": x, "w": w}
    if "softmax" in text or "diag" in text:
        with torch.inference_mode():
            names["x"] = x.clone()
            text = text.replace("x.softmax(0)", "x").replace("x.diag()", "x")
            names["x"] = x.diag() if "solve" in text else x.softmax(0)
    with pytest.raises(RuntimeError, match=message):
        eval(text, names)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(b)
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2, None


def test_what_saves_nothing_is_recorded(x, w):
    for r in (x + w, w - x, x.clone() * w, torch.cat([x, w]), torch.where(x > 0, w, x), w[x.long()], (w * 1).copy_(x)):
        assert r.requires_grad and not r.is_inference()
    (x + w).sum().backward()
    assert w.grad.tolist() == [1, 1]
    frozen = torch.nn.Linear(2, 1).requires_grad_(False)
    assert not frozen(x).requires_grad and torch.zeros(2).add_(x).tolist() == [1, 1]


def test_marks(x, w):
    assert x.is_inference() and torch.is_inference(x.view(2, 1)) and x.detach().is_inference() and x[0].is_inference()
    assert not any(t.is_inference() for t in (x + 1, x.clone(), copy.deepcopy(x), w))
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and (w * 1).is_inference() and not w.view(2, 1).is_inference()
        x.add_(1)
        before = torch.ones(2, requires_grad=True)
        assert before.requires_grad and before.is_inference()
    assert not torch.is_inference_mode_enabled() and x.tolist() == [2, 2]


def test_modes_within_it(w):
    with torch.inference_mode():
        with torch.enable_grad():
            assert torch.is_grad_enabled() and not (w * 2).requires_grad
        with torch.inference_mode(False):
            assert torch.is_grad_enabled() and (w * 2).requires_grad and not torch.ones(2).is_inference()
        assert not torch.is_grad_enabled()
    with torch.no_grad(), torch.inference_mode(False):
        assert (w * 2).requires_grad
    assert (w * 2).requires_grad
    for decorated in (torch.inference_mode(), torch.inference_mode):
        assert decorated(lambda a: a * 2)(w).is_inference()


def test_it_is_the_threads_own():
    found = []
    with torch.inference_mode():
        other = threading.Thread(target=lambda: found.append(torch.ones(1).is_inference()))
        other.start()
        other.join()
    assert found == [False]
