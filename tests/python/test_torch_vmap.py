"""torch.vmap and torch.map: gradients through them and of every item, dimensions, chunks, randomness, what cannot be done
for all items. The operations are in test_torch_vmap_names.py."""

import warnings

import numpy as np
import pytest

import treadle as td
import treadle.torch as torch
from treadle._vmap import _vmap
from treadle._vmap._array import Unbatched
from treadle.torch import _vmap as tensors


@pytest.fixture(autouse=True)
def strict():
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", td.PerformanceWarning)
        yield


def close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-4, atol=1e-5)


def looped(f, *args):
    return torch.stack([f(*items) for items in zip(*args)])


def written(x):
    r = torch.zeros(2, 3)
    r[0] = x[0, :3]
    r[1, ::2] += x[1, 1:3]
    r.mul_(2)
    return r


PROGRAMS = {
    "softmax": lambda x: torch.softmax(x, -1) @ x.T,
    "norm": lambda x: (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5),
    "writing": written,
    "nested": lambda x: torch.vmap(lambda row: row / row.exp().sum() + x.sum())(x),
    "inverse": lambda x: torch.linalg.inv(x @ x.T + torch.eye(3)) + torch.linalg.det(x @ x.T),
    "picking": lambda x: torch.gather(x, 1, x.argsort(1)) + x[x.argmax(0)[0]] + x[:, x.argmin(1)].sum(),
    "new tensors": lambda x: x.new_zeros(2) + x[0, :2] + torch.zeros_like(x[0, :2]) + torch.ones(2),
    "dtypes": lambda x: x[0, 0].double() * torch.ones(3) + x[0, 1],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_and_gradients_through_them(name):
    f, results = PROGRAMS[name], []
    for how in (torch.vmap(f), lambda x: looped(f, x)):
        x = torch.from_numpy(np.random.RandomState(1).standard_normal((5, 3, 4)).astype("f4")).requires_grad_()
        r = how(x)
        (r * torch.arange(r.numel()).reshape(r.shape)).sum().backward()
        results.append((r, x.grad))
    (ours, slope), (theirs, their_slope) = results
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    close(ours, theirs)
    close(slope, their_slope)


def test_gradients_of_what_items_share():
    x, w = torch.randn(5, 4, 4), torch.randn(4, requires_grad=True)
    torch.vmap(lambda a: torch.linalg.solve(a + 9 * torch.eye(4), w) + torch.linalg.norm(w))(x).sum().backward()
    ours, w.grad = w.grad, None
    looped(lambda a: torch.linalg.solve(a + 9 * torch.eye(4), w) + torch.linalg.norm(w), x).sum().backward()
    close(ours, w.grad)


def test_gradients_of_every_item():
    w, x, y = torch.randn(4), torch.randn(5, 4), torch.randn(5)

    def loss(w, x, y):
        return (torch.tanh(x @ w) - y) ** 2

    ours = torch.vmap(torch.func.grad(loss), (None, 0, 0))(w, x, y)
    close(ours, looped(lambda a, b: torch.func.grad(loss)(w, a, b), x, y))
    value = torch.vmap(torch.func.grad_and_value(loss), (None, 0, 0))(w, x, y)[1]
    close(value, looped(lambda a, b: loss(w, a, b), x, y))
    cube = lambda a: (a**3).sum() * a[0]  # noqa: E731
    close(torch.vmap(torch.func.hessian(cube))(x[:2]), looped(torch.func.hessian(cube), x[:2]))
    close(torch.vmap(torch.func.jacrev(lambda a: torch.sin(a) * a[0]))(x), looped(torch.func.jacrev(lambda a: torch.sin(a) * a[0]), x))
    close(torch.func.grad(lambda x: torch.vmap(torch.func.grad(cube))(x).sum())(x), torch.func.grad(lambda x: looped(torch.func.grad(cube), x).sum())(x))


def test_modules():
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.LayerNorm(8), torch.nn.Linear(8, 3))
    params = {k: v.detach() for k, v in model.named_parameters()}
    x, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])

    def loss(params, x, y):
        return torch.nn.functional.cross_entropy(torch.func.functional_call(model, params, (x[None],)), y[None])

    grads = torch.vmap(torch.func.grad(loss), (None, 0, 0))(params, x, y)
    for k, g in grads.items():
        assert g.shape == (6, *params[k].shape)
        close(g, looped(lambda a, b: torch.func.grad(loss)(params, a, b)[k], x, y))  # noqa: B023


class Doubled(torch.autograd.Function):
    """x * w, whose backward pass says twice the gradient of x."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return 2 * g * w, g * x


def test_functions_with_formulas():
    for f in (lambda a, w: Doubled.apply(a, w).sum(-1), lambda a, w: torch.nn.functional.conv1d(a[None], w.reshape(1, 1, 4)).sum()):
        grads = []
        for how in (torch.vmap(f, (0, None)), lambda x, w: torch.stack([f(a, w) for a in x])):  # noqa: B023
            torch.manual_seed(0)
            x, w = torch.randn(5, 1, 4).requires_grad_(), torch.randn(4).requires_grad_()
            (how(x, w) ** 2).sum().backward()
            grads.append((x.grad, w.grad))
        for ours, theirs in zip(*grads):
            close(ours, theirs)
    image, kernel = torch.randn(3, 2, 3, 5, 5), torch.randn(4, 3, 3, 3)
    loss = lambda k, a: (torch.nn.functional.conv2d(a, k) ** 2).sum()  # noqa: E731
    ours = torch.vmap(torch.func.grad(loss), (None, 0))(kernel, image)
    np.testing.assert_allclose(ours.numpy(), torch.stack([torch.func.grad(loss)(kernel, a) for a in image]).numpy(), rtol=1e-3, atol=1e-3)


def test_dimensions():
    x, w = torch.randn(5, 3, 4), torch.randn(4, 2, 5)
    close(torch.vmap(lambda a, b: a @ b, (0, 2))(x, w), torch.einsum("nij,jkn->nik", x, w))
    close(torch.vmap(lambda a, b: a @ b, (0, -1), -1)(x, w), torch.einsum("nij,jkn->ikn", x, w))
    out = torch.vmap(lambda d: {"a": d["x"] * 2, "b": (d["x"].sum(), d["y"])}, ({"x": 1, "y": None},))({"x": x, "y": w})
    close(out["a"], x.transpose(0, 1) * 2)
    assert out["b"][0].shape == (3,) and out["b"][1].shape == (3, 4, 2, 5)
    for size in (1, 2, 7):
        close(torch.vmap(lambda a: a.T, chunk_size=size, out_dims=1)(x), x.permute(2, 0, 1))


def test_what_cannot_be():
    x = torch.randn(5, 4)
    with pytest.raises(ValueError, match="different sizes"):
        torch.vmap(lambda a, b: a)(x, x[:2])
    with pytest.raises(ValueError, match="non-Tensor"):
        torch.vmap(lambda a, b: a)(x, 3)
    with pytest.raises(ValueError, match="only return Tensors, got type <class 'float'>"):
        torch.vmap(lambda a: 1.0)(x)
    with pytest.raises(ValueError, match="chunk_size"):
        torch.vmap(lambda a: a, chunk_size=0)(x)
    with pytest.warns(td.PerformanceWarning, match="item by item: .*truth value"):
        r = torch.vmap(lambda a: a if a.sum() > 0 else -a)(x)
    close(r, torch.stack([a if a.sum() > 0 else -a for a in x]))
    with pytest.raises(Unbatched, match=r"\.item\(\)"):
        _vmap.batched(lambda a: a * a.sum().item(), loop=False, face=tensors.Tensors)(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError):
            torch.vmap(lambda a: a @ torch.ones(3))(x)


def test_what_was_written_before_it_runs_item_by_item():
    def f(x):
        x.add_(1)
        x[0] = 9
        return x if x.sum() > 0 else -x

    x = torch.ones(2, 3)
    with pytest.warns(td.PerformanceWarning):
        torch.vmap(f)(x)
    assert x.tolist() == [[9, 2, 2]] * 2


def test_randomness():
    x = torch.zeros(5)
    with pytest.raises(RuntimeError, match="randomness="):
        torch.vmap(lambda a: a + torch.randn(3))(x)
    r = torch.vmap(lambda a: a + torch.randn(3), randomness="different")(x).numpy()
    assert len(np.unique(r)) == 15
    r = torch.vmap(lambda a: a + torch.rand(3), randomness="same")(x).numpy()
    assert (r == r[0]).all() and len(np.unique(r)) == 3


def test_map():
    x = torch.randn(5, 3, 4, requires_grad=True)
    r = torch.map(lambda a: (a @ a.T).sum(), x)
    r.sum().backward()
    close(r, looped(lambda a: (a @ a.T).sum(), x))
    assert x.grad.shape == x.shape
    steps = torch.map(lambda v: v * 2 if v > 1 else -v, torch.arange(4.0))
    assert steps.tolist() == [0, -1, 4, 6] and isinstance(steps, torch.Tensor)
    with pytest.raises(TypeError, match="one tensor at least"):
        torch.map(lambda: 1)
