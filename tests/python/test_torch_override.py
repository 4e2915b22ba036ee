"""Subclasses of Tensor, functions with a history of a program's own, and what backward passes say about both."""

import pickle
import warnings

import pytest

import treadle.torch as torch
from treadle.torch import nn
from treadle.torch.nn import functional as F

# ---- subclasses ----


class Kept(torch.Tensor):
    """A subclass that changes nothing."""


class Noted(torch.Tensor):
    """Notes what it is asked for."""

    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append((func, types))
        return super().__torch_function__(func, types, args, kwargs)


SAME_CLASS = {
    "m + 1": lambda m, x: m + 1,
    "1 - m": lambda m, x: 1 - m,
    "x * m": lambda m, x: x * m,
    "x @ m": lambda m, x: x @ m,
    "m > 0": lambda m, x: m > 0,
    "m[0]": lambda m, x: m[0],
    "m.T": lambda m, x: m.T,
    "m.data": lambda m, x: m.data,
    "method": lambda m, x: m.exp(),
    "native method": lambda m, x: m.sum(),
    "cast": lambda m, x: m.to(torch.float64),
    "function": lambda m, x: torch.add(x, m),
    "list": lambda m, x: torch.cat([x, m]),
    "tuple": lambda m, x: torch.split(m, 1)[1],
    "named tuple": lambda m, x: m.max(0).values,
    "nn": lambda m, x: F.linear(x, m),
    "linalg": lambda m, x: torch.linalg.norm(m),
    "in place": lambda m, x: m.detach().add_(1),
}


@pytest.mark.parametrize("name", SAME_CLASS)
def test_results_are_of_the_subclass(name):
    x = torch.ones(2, 2, requires_grad=True)
    assert type(SAME_CLASS[name](x.as_subclass(Kept), x)) is Kept
    assert type(SAME_CLASS[name](x, x)) is torch.Tensor


def test_a_subclass_keeps_the_history():
    x = torch.ones(2, requires_grad=True)
    m = x.as_subclass(Kept)
    assert m.requires_grad and not m.is_leaf and m.data_ptr() == x.data_ptr()
    (m * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert type(pickle.loads(pickle.dumps(x.detach().as_subclass(Kept)))) is Kept


def test_parameters_give_plain_tensors():
    class Mine(nn.Parameter):
        pass

    assert type(nn.Parameter(torch.ones(2)) + 1) is type(Mine(torch.ones(2)) * 2) is torch.Tensor


def test_torch_function_is_asked_with_the_function_that_was_called():
    x = torch.ones(2).as_subclass(Noted)
    Noted.calls.clear()
    y = torch.mul(x, 2) + x
    y -= 1
    assert type(F.softmax(torch.stack([x, y]), 0)) is Noted
    assert [f for f, _ in Noted.calls] == [torch.mul, torch.Tensor.add, torch.Tensor.sub_, torch.stack, F.softmax]
    assert all(types == (Noted,) for _, types in Noted.calls)
    Noted.calls.clear()
    torch.ones(2) - x
    assert Noted.calls[0][0] is torch.Tensor.sub


def test_the_more_derived_class_is_asked_first():
    class Deeper(Noted):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "deeper", types

    x, y = torch.ones(2).as_subclass(Noted), torch.ones(2).as_subclass(Deeper)
    assert torch.add(x, y) == ("deeper", (Deeper, Noted))


class Scalar:
    """No tensor, but with functions of its own."""

    known = {}

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return cls.known[func](*args) if func in cls.known else NotImplemented


def test_objects_that_are_no_tensors_are_asked():
    Scalar.known[torch.mean] = lambda s: "mean"
    assert torch.mean(Scalar()) == "mean"
    with pytest.raises(TypeError, match="no implementation found for .*add.* on types that implement"):
        torch.add(Scalar(), torch.ones(1))


# ---- functions that write to their operands ----


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Exp(torch.autograd.Function):
    """Needs its result, which is its operand, in backward."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.exp_()
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Forgotten(Double):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 2


def test_what_a_function_writes_to_takes_its_history():
    x = torch.ones(3, requires_grad=True)
    z = x.clone()
    assert Double.apply(z) is z and type(z.grad_fn).__name__ == "DoubleBackward"
    (z * 3).sum().backward()
    assert x.grad.tolist() == [6, 6, 6]


def test_views_of_what_a_function_writes_to_follow():
    x = torch.ones(3, requires_grad=True)
    whole = x.clone()
    Exp.apply(whole[1:])
    (whole * 3).sum().backward()
    torch.testing.assert_close(x.grad, torch.tensor([3, 3 * torch.e, 3 * torch.e]))


def test_dirty_leaves_and_forgotten_results_are_refused():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in an in-place operation"):
        Double.apply(torch.ones(3, requires_grad=True))
    with pytest.raises(RuntimeError, match="must all be outputs of the Function"):
        Forgotten.apply(torch.ones(3, requires_grad=True).clone())
    assert Double.apply(torch.ones(3)).tolist() == [2, 2, 2]


# ---- what backward passes say ----


class Nan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * torch.nan


def test_anomaly_mode_names_the_function_that_makes_nan():
    x = torch.zeros(2, requires_grad=True)
    with torch.autograd.detect_anomaly():
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"):
            (x.sqrt() * 0).sum().backward()
        with pytest.raises(RuntimeError, match="Function 'NanBackward' returned nan"):
            torch.autograd.grad(Nan.apply(x).sum(), x)
        with pytest.raises(RuntimeError, match="Function 'CumprodBackward0' returned nan"):
            x.cumprod(0).backward(torch.tensor([torch.nan, 0]))
        (x * 2).sum().backward()
    with torch.autograd.detect_anomaly(check_nan=False):
        (x.sqrt() * 0).sum().backward()
    torch.autograd.set_detect_anomaly(True)
    try:
        with torch.autograd.set_detect_anomaly(False):
            Nan.apply(x).sum().backward()
        with pytest.raises(RuntimeError, match="NanBackward"):
            Nan.apply(x).sum().backward()
    finally:
        torch.autograd.set_detect_anomaly(False)
    Nan.apply(x).sum().backward()
    assert x.grad.isnan().all()


def test_functions_are_named_by_their_types():
    x = torch.ones(2, requires_grad=True)
    made = {"MulBackward0": x * 2, "SumBackward0": x.sum(), "SoftmaxBackward0": x.softmax(0), "NanBackward": Nan.apply(x)}
    assert [type(t.grad_fn).__name__ for t in made.values()] == list(made)
    assert type(made["MulBackward0"].grad_fn) is type((x * 3).grad_fn)


def test_the_gradient_of_what_is_no_leaf_warns():
    x = torch.ones(2, requires_grad=True)
    y, kept = x * 2, x * 2
    kept.retain_grad()
    with pytest.warns(UserWarning, match="grad attribute of a Tensor that is not a leaf"):
        assert y.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.grad is None and kept.grad is None and x.detach().grad is None


# ---- modules ----


@pytest.mark.parametrize("rank, shape, one", [
    (1, (40, 30), (40, 1)), (1, (20, 30, 5), (20, 30, 1)), (2, (64, 32), (64, 32)), (2, (40, 30, 5), (40, 30, 1)),
    (2, (20, 30, 4, 5), (20, 30, 1, 1)), (3, (64, 3, 4, 5), (64, 1, 1, 1)), (3, (20, 30, 2, 3, 4), (20, 30, 1, 1, 1)),
])  # fmt: skip
def test_dropout_takes_whole_channels(rank, shape, one):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r = getattr(nn, f"Dropout{rank}d")(0.5)(torch.ones(shape))
    assert tuple(r.shape) == shape
    first = r[tuple(slice(0, n) for n in one)]
    assert torch.equal(r, first.expand(shape)) and set(first.unique().tolist()) == {0, 2}
    assert 0.25 < (first == 0).float().mean().item() < 0.75


def test_dropout_of_unusual_ranks():
    with pytest.warns(UserWarning, match="dropout2d: Received a 2-D input"):
        F.dropout2d(torch.ones(3, 4))
    with pytest.raises(RuntimeError, match="dropout1d: Expected 2D or 3D input"):
        F.dropout1d(torch.ones(3))
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="Feature dropout requires at least 2 dimensions"):
        F.dropout2d(torch.ones(3))


def test_a_module_of_a_pickle_without_our_attributes_works():
    model = nn.Linear(2, 1)
    state = {k: v for k, v in model.__dict__.items() if k != "_hooked"}
    loaded = nn.Linear.__new__(nn.Linear)
    loaded.__setstate__(state)
    x = torch.ones(1, 2)
    assert torch.equal(loaded(x), model(x))
    seen = []
    model.register_forward_hook(lambda *_: seen.append(1))
    hooked = nn.Linear.__new__(nn.Linear)
    hooked.__setstate__({k: v for k, v in model.__dict__.items() if k != "_hooked"})
    hooked(x)
    assert seen == [1]


def test_functions_that_modes_have_replaced_are_asked_by_their_names():
    torch.vmap(lambda x: x * 2)(torch.ones(3))
    with torch.autocast("cpu"):
        torch.ones(2, 2) @ torch.ones(2, 2)
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        (torch.ones(2, requires_grad=True) * 2).sum().backward()
    asked = []

    class Asked(torch.Tensor):
        @classmethod
        def __torch_function__(cls, f, types, args=(), kwargs=None):
            asked.append(f)
            return 0

    x = torch.ones(2).as_subclass(Asked)
    assert torch.mul(x, x) == torch.mean(x) == torch.matmul(x, x) == F.softmax(x, 0) == 0
    assert asked == [torch.mul, torch.mean, torch.matmul, F.softmax]
