"""What shares memory and what is a copy: functions of tensors, copy.deepcopy, torch.save. As PyTorch 2.15 has it."""

import copy
import gc
import io

import pytest

import treadle.torch as torch
from treadle.torch import nn
from treadle.torch.nn import functional as F

COPIES = """
    a.flip(0)
    torch.fliplr(a)
    torch.flipud(a)
    torch.rot90(a)
    torch.rot90(a, 2)
    torch.rot90(a, 0)
    a.roll(0)
    torch.cat([a])
    torch.stack([a])
    a.repeat(1, 1)
    a.tile(1)
    torch.tile(a, (1, 1))
    a.repeat_interleave(1, 0)
    F.pad(a, (0, 0))
    F.pad(a, (0, 0, 0, 0), mode="constant")
    F.pad(a[None], (0, 0), mode="reflect")
    F.pad(a[None], (0, 0), mode="circular")
    F.pixel_shuffle(a[None, None], 1)
    F.pixel_unshuffle(a[None, None], 1)
    F.channel_shuffle(a[None, :, :, None], 1)
    F.fold(a.reshape(1, 1, 6), (2, 3), 1)
    F.unfold(a[None, None], 1)
    F.interpolate(a[None], scale_factor=1)
    F.avg_pool1d(a, 1)
    a.pow(1)
    a * 1
    a + 0
    a.clamp(-9)
    a.clone()
    a[[0, 1]]
    a[a > -1]
    a.index_select(0, torch.tensor([0, 1]))
    torch.tril(a, 5)
    torch.where(a > -1, a, a)
    a.masked_fill(a > 100, 0)
    torch.hstack([a])
    a.t().flatten()
    a.to(torch.float32, copy=True)
    torch.tensor(a)
"""
VIEWS = """
    a.contiguous()
    a.float()
    a.cpu()
    a.detach()
    a.view(3, 2)
    a.reshape(3, 2)
    a.flatten()
    a.t()
    a.expand(2, 3)
    a.squeeze()
    a.diagonal()
    a.unfold(0, 2, 1)
    a.chunk(1)[0]
    a[None]
    F.dropout(a, 0.5, training=False)
    torch.einsum("ij->ji", a)
    torch.as_tensor(a)
"""


def lines(text):
    return [line.strip() for line in text.split("\n") if line.strip()]


@pytest.mark.parametrize("expression", lines(COPIES) + lines(VIEWS))
def test_what_is_a_copy(expression):
    a = torch.arange(6.0).reshape(2, 3)
    before = a.clone()
    eval(expression, {"torch": torch, "F": F, "a": a}).fill_(55)
    assert torch.equal(a, before) == (expression in lines(COPIES))


# Of a tensor whose last dim has one element: what moves or folds it changes nothing.
OF_ONE = """
    o.roll(1, 1)
    o.roll((1, 2), (1, 1))
    o.flip(1)
    o.sum(1, keepdim=True)
    o.amax(1, keepdim=True)
    o.max(1, keepdim=True)[0]
    o.mean(1, keepdim=True)
    o.prod(1, keepdim=True)
    o.cumsum(1)
    o.cumprod(1)
    o.cummax(1)[0]
    o.sort(1)[0]
    o.topk(1, 1)[0]
    o.median(1, keepdim=True)[0]
    o.mode(1, keepdim=True)[0]
    o.kthvalue(1, 1, keepdim=True)[0]
    o.logsumexp(1, keepdim=True)
    torch.quantile(o, 0.5, 1, keepdim=True)
    torch.fft.fftshift(o, 1)
    torch.block_diag(o)
    F.max_pool1d(o[None], 1)
    F.adaptive_avg_pool1d(o[None], 1)
    o.gather(1, torch.zeros(3, 1, dtype=torch.long))
    o.renorm(2, 0, 1e9)
    o.nan_to_num()
    o.round()
    o.abs()
    +o.clone()
"""


@pytest.mark.parametrize("expression", lines(OF_ONE))
def test_what_is_a_copy_of_dims_of_one(expression):
    o = torch.arange(3.0).reshape(3, 1)
    eval(expression, {"torch": torch, "F": F, "o": o}).fill_(55)
    assert o.tolist() == [[0], [1], [2]]


@pytest.mark.parametrize("view", ["x.expand(2, 3)", "x.view(3, 1)[:, 0]", "x[:3]", "x.data.view(3) + 0 * x"])
def test_a_view_follows_what_its_own_values_are_copied_over(view):
    """x.copy_(x.data) writes what was there, and cuts the gradient for x and its views."""
    w = torch.ones(3, requires_grad=True)
    x = w * 2
    seen, held = eval(view, {"x": x}), x.data
    x.copy_(held)
    (seen * torch.arange(3) + x.sum()).sum().backward()
    assert w.grad.tolist() == [0, 0, 0] and x._version == 1


def saved(o):
    file = io.BytesIO()
    torch.save(o, file)
    file.seek(0)
    return torch.load(file)


def views(a):
    return {"a": a, "t": a.t(), "row": a[1], "column": a[:, 2], "steps": a[::2, 1::2], "expanded": a[0, :1].expand(5),
            "moved": a.reshape(2, 2, 6).permute(2, 0, 1), "one": a[1, 2], "nothing": a[:0]}  # fmt: skip


@pytest.mark.parametrize("backwards", [False, True], ids=["owner first", "owner last"])
@pytest.mark.parametrize("how", [copy.deepcopy, saved])
def test_copied_views_share_a_storage(how, backwards):
    a = torch.arange(24.0).reshape(4, 6)
    given = {**views(a), "bits": a.view(torch.int32), "back": a.flip(0), "double": a.double()}
    if how is saved:  # PyTorch refuses to save one memory with two dtypes
        del given["bits"]
    made = how(dict(sorted(given.items(), reverse=backwards)))
    for name, t in given.items():
        assert torch.equal(made[name], t) and made[name].dtype is t.dtype and made[name].stride() == t.stride()
        assert name not in views(a) or made[name].storage_offset() == t.storage_offset()
    made["a"].copy_(torch.arange(24.0).reshape(4, 6) * 3 + 1)
    for name, t in views(made["a"]).items():
        assert torch.equal(made[name], t), name
    assert torch.equal(made["back"], a.flip(0)) and torch.equal(a, torch.arange(24.0).reshape(4, 6))


def test_parameters_are_copied_one_by_one():
    flat = torch.zeros(10)
    m = nn.Linear(3, 2)
    m.weight, m.bias = nn.Parameter(flat[:6].view(2, 3)), nn.Parameter(flat[6:8])
    c = copy.deepcopy(m)
    assert (c.weight.storage_offset(), c.bias.storage_offset()) == (0, 0)
    c.weight.data.fill_(1)
    assert not flat.any()


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k, y):
        return x * y * k, x + y

    @staticmethod
    def backward(ctx, g, h):
        return g + h, None, g - h


def test_custom_functions_tell_what_is_before_them():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    p, q = Both.apply(x, 2.0, y * 3)
    (before, i), (other, j) = p.grad_fn.next_functions
    assert before.variable is x and type(before).__name__ == "AccumulateGrad" and before.next_functions == ()
    assert (type(other).__name__, i, j) == ("MulBackward0", 0, 0)
    (first, i), (second, j) = (p + q).grad_fn.next_functions
    assert first is second is p.grad_fn and (i, j) == (0, 1) and type(first).__name__ == "BothBackward"
    r = torch.logsumexp(Both.apply(x, 1.0, torch.ones(2))[0], 0)
    seen, ahead = set(), [r.grad_fn]
    while ahead:
        node = ahead.pop()
        seen.add(getattr(node, "variable", None))
        ahead += [before for before, _ in node.next_functions if before is not None]
    assert any(v is x for v in seen)
    node = r.grad_fn
    del p, q, r, first, second, before, other
    gc.collect()
    assert isinstance(node.next_functions, tuple)


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("map", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal_weights(shape, map, trivial):
    torch.manual_seed(1)
    layer = nn.utils.parametrizations.orthogonal(nn.Linear(*shape[::-1]), orthogonal_map=map, use_trivialization=trivial)

    def check():
        w = layer.weight if shape[0] >= shape[1] else layer.weight.T
        torch.testing.assert_close(w.T @ w, torch.eye(w.shape[1]), atol=1e-5, rtol=0)

    check()
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    before = layer.weight.detach().clone()
    for _ in range(3):
        optimizer.zero_grad()
        (layer(torch.arange(2.0 * shape[1]).reshape(2, -1)) ** 2).sum().backward()
        optimizer.step()
    check()
    assert not torch.allclose(layer.weight, before)
    assert sorted(n for n, _ in layer.named_parameters()) == ["bias", "parametrizations.weight.original"]
    if trivial or map == "householder":
        start = nn.init.orthogonal_(torch.empty(shape))
        layer.weight = start
        torch.testing.assert_close(layer.weight.detach(), start, atol=1e-5, rtol=1e-5)


def test_orthogonal_refuses():
    with pytest.raises(ValueError, match="no parameter"):
        nn.utils.parametrizations.orthogonal(nn.Linear(2, 2), "bia")
    with pytest.raises(ValueError, match="matrix"):
        nn.utils.parametrizations.orthogonal(nn.Linear(2, 2), "bias")
    with pytest.raises(ValueError, match="householder"):
        nn.utils.parametrizations.orthogonal(nn.Linear(2, 2), orthogonal_map="other")


def test_factors_by_reflections():
    a = torch.tensor([[1.0, 2, 3], [4, 5, 6.5], [7, 8, 10], [1, 0, 2]], dtype=torch.float64, requires_grad=True)
    packed, tau = torch.geqrf(a)
    q = torch.linalg.householder_product(packed, tau)
    torch.testing.assert_close(q @ packed[:3].triu(), a.detach())
    whole = torch.ormqr(packed, tau, torch.eye(4, dtype=torch.float64))
    torch.testing.assert_close(whole[:, :3], q)
    other = torch.arange(8.0, dtype=torch.float64).reshape(4, 2)
    for left in (True, False):
        for transpose in (True, False):
            m = whole.T if transpose else whole
            got = torch.ormqr(packed, tau, other if left else other.T, left, transpose)
            torch.testing.assert_close(got, m @ other if left else other.T @ m)


def test_a_few_eigenvalues():
    a = torch.diag(torch.arange(1.0, 8, dtype=torch.float64)) + 0.1
    b = torch.diag(torch.arange(2.0, 9, dtype=torch.float64))
    for largest in (True, False):
        values, vectors = torch.lobpcg(a, 2, largest=largest)
        torch.testing.assert_close(a @ vectors, vectors * values)
        whole = torch.linalg.eigvalsh(a)
        torch.testing.assert_close(values, whole[-2:].flip(0) if largest else whole[:2])
        values, vectors = torch.lobpcg(a, 2, b, largest=largest)
        torch.testing.assert_close(a @ vectors, b @ vectors * values)
    assert torch.lobpcg(a, X=torch.ones(7, 2, dtype=torch.float64))[1].shape == (7, 2)
    with pytest.raises(ValueError, match="3 x"):
        torch.lobpcg(a, 3)
