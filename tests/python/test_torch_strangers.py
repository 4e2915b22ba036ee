"""What programs and libraries that know nothing of treadle do with PyTorch's names, on values that PyTorch gave."""

import collections
import copy
import math
import warnings

import numpy as np
import pytest
from test_unchanged import program, run

import treadle.torch as torch
from treadle.torch import nn
from treadle.torch.nn import functional as F

LIBRARY = """
import importlib.metadata, importlib.util, sys
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader
import torch.fx
from torch.jit.annotations import List
from torch.nn.modules.utils import _pair
from torch.onnx.symbolic_helper import parse_args

class Tracer(torch.fx.Tracer):
    pass

@torch.fx.wrap
def doubled(x):
    return x * 2

@parse_args("v", "i")
def exported(graph, x, n):
    return x

try:
    torch.ops.load_library("/nowhere/_C.so")
    compiled = True
except OSError:
    compiled = False
KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU) | torch._C.DispatchKeySet("x")
KNOWN = sys.modules["torch"], importlib.util.find_spec("torch").name, importlib.metadata.version("torch")
def isa(x):
    return isinstance(x, torch.Tensor)
"""


def _installed(tmp_path):
    """A folder with an installed library that imports torch."""
    (tmp_path / "site" / "asker-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "site" / "asker-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: asker\nVersion: 1.0\n")
    (tmp_path / "site" / "asker.py").write_text(LIBRARY)
    return f"import sys\nsys.path.insert(0, {str(tmp_path / 'site')!r})\nimport asker\n"


def test_libraries_get_the_programs_torch(tmp_path):
    text = _installed(tmp_path) + (
        "import torch, torch.nn.functional as F\n"
        "print(asker.torch is torch, asker.F is F, asker.KNOWN[0] is torch, asker.KNOWN[1], asker.KNOWN[2] == torch.__version__)\n"
        "print(asker.isa(torch.ones(2)), asker.doubled(3), asker.exported(1, 2, 3), asker._pair(4), asker.compiled)\n"
        "try:\n    asker.Tracer()\nexcept NotImplementedError as error:\n    print('torch.fx.Tracer' in str(error))\n"
    )
    status, out, err = run(program(tmp_path, "prog.py", text))
    assert status == 0, err
    assert out.split() == "True True True torch True True 6 2 (4, 4) False True".split()


def test_a_kept_torch_is_pythons(tmp_path):
    status, out, err = run("--keep", "torch", program(tmp_path, "prog.py", _installed(tmp_path)))
    assert status == 1 and "No module named 'torch'" in err


def test_parameter_lists_hold_anything():
    inner = nn.ParameterList([nn.Parameter(torch.ones(2)), torch.zeros(1)])
    held = nn.ParameterList([inner, torch.ones(3), 5, nn.Linear(1, 1)])
    assert [type(v).__name__ for v in held] == ["ParameterList", "Parameter", "int", "Linear"]
    assert sorted(n for n, _ in held.named_parameters()) == ["0.0", "0.1", "1", "3.bias", "3.weight"]
    rows = nn.ParameterList([nn.ParameterList([torch.ones(1), torch.ones(1)]) for _ in range(2)])
    assert [(len(a), b.shape) for a, b in rows[:0]] == [] and [tuple(b.shape) for a, b in rows] == [(1,), (1,)]
    assert len(copy.deepcopy(held)) == 4 and list(held.state_dict()) == ["1", "0.0", "0.1", "3.weight", "3.bias"]
    held[2] = torch.ones(2)
    assert isinstance(held[2], nn.Parameter) and held.append(None)[-1] is None
    assert "(3): Object of type: Linear" in repr(held) and "(1): Parameter containing: [torch.float32 of size 3]" in repr(held)
    for wrong in (3, torch.ones(1)):
        with pytest.raises(TypeError, match="ParameterList.extend should be called with an iterable"):
            held.extend(wrong)


def test_parameter_dicts_hold_anything():
    held = nn.ParameterDict({"b": torch.ones(1), "a": nn.Parameter(torch.ones(2)), "z": 3, "c": None})
    assert list(held) == ["a", "b", "c", "z"]  # a plain dict's keys are sorted
    assert list(nn.ParameterDict(collections.OrderedDict(b=1, a=2))) == ["b", "a"]
    assert sorted(n for n, _ in held.named_parameters()) == ["a", "b"] and held["z"] == 3
    assert held.pop("z") == 3 and held.popitem() == ("c", None) and list(held | {"y": 1}) == ["a", "b", "y"]
    assert isinstance(held.setdefault("k", torch.ones(1)), torch.Tensor) and isinstance(held["k"], nn.Parameter)
    assert list(reversed(held)) == ["k", "b", "a"] and held.get("none", 7) == 7
    del held["a"]
    held.clear()
    assert len(held) == 0 and not list(held.parameters())
    with pytest.raises(TypeError, match="cannot be used as a key as it is not a string"):
        nn.ParameterDict({1: torch.ones(1)})


def test_lists_of_modules_keep_none():
    layers = nn.ModuleList([nn.ModuleList([nn.ReLU(), None]), nn.ModuleList([nn.ReLU(), nn.Linear(1, 1)])])
    assert [second is None for _, second in layers] == [True, False]
    layers.append(None)
    layers.extend([None])
    layers.insert(0, None)
    assert [m is None for m in layers] == [True, False, False, True, True]
    assert [n for n, _ in layers.named_children()] == ["1", "2"]
    for wrong in (lambda: layers.append(3), lambda: nn.ModuleList([3])):
        with pytest.raises(TypeError, match="int is not a Module subclass"):
            wrong()


def _softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_rows_without_a_key_are_zero(kind):
    """scaled_dot_product_attention: 0, and gradients that are numbers; other rows as without them."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, 3, 4)) for _ in range(3))
    may = rng.random((2, 3, 3)) > 0.4
    may[0, 1], may[1] = False, False
    may[0, 0, 0] = may[0, 2, 0] = True
    t = [torch.from_numpy(x).requires_grad_() for x in (q, k, v)]
    mask = torch.from_numpy(may if kind == "bool" else np.where(may, 0.0, -math.inf))
    got = F.scaled_dot_product_attention(*t, attn_mask=mask)
    got.sum().backward()
    scores = np.where(may, q @ k.swapaxes(1, 2) / 2, -math.inf)
    some = may.any(-1)
    want = np.zeros_like(q)
    want[some] = (np.where(some[..., None], _softmax(np.where(some[..., None], scores, 0)), 0) @ v)[some]
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-12)
    assert all(np.isfinite(x.grad.numpy()).all() for x in t)
    assert (t[0].grad.numpy()[~some] == 0).all() and (t[0].grad.numpy()[0, 0] != 0).any()


@pytest.mark.parametrize("need_weights", [False, True])
def test_padded_sequences_of_nothing(need_weights):
    """MultiheadAttention: 0 before the last layer without weights, NaN with them; other sequences as they are."""
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(4, 2, batch_first=True, dtype=torch.float64)
    x = torch.randn(2, 3, 4, dtype=torch.float64)
    padding = torch.tensor([[True] * 3, [False, True, False]])
    got = attention(x, x, x, key_padding_mask=padding, need_weights=need_weights)[0]
    alone = attention(x[1:], x[1:], x[1:], key_padding_mask=padding[1:])[0]
    np.testing.assert_allclose(got[1].detach().numpy(), alone[0].detach().numpy(), rtol=1e-12)
    if need_weights:
        assert torch.isnan(got[0]).all()
    else:
        np.testing.assert_allclose(got[0].detach().numpy(), attention.out_proj.bias.detach().numpy() * np.ones((3, 1)), rtol=1e-12)


def test_names_that_libraries_take():
    utils = nn.modules.utils
    assert utils._pair(3) == (3, 3) and utils._triple([1, 2, 3]) == (1, 2, 3) and utils._ntuple(4)("a") == ("a",)
    norms = nn.modules.batchnorm
    assert issubclass(norms._BatchNorm, norms._NormBase) and issubclass(nn.Dropout, nn.modules.dropout._DropoutNd)
    assert nn.modules.activation.MultiheadAttention is nn.MultiheadAttention
    assert nn.parallel.distributed.DistributedDataParallel is nn.parallel.DistributedDataParallel
    from treadle.torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

    parts = [torch.arange(3.0), torch.ones(2, 2)]
    flat = _flatten_dense_tensors(parts)
    assert flat.tolist() == [0, 1, 2, 1, 1, 1, 1] and [p.shape for p in _unflatten_dense_tensors(flat, parts)] == [(3,), (2, 2)]
    with pytest.raises(AssertionError, match="no"):
        torch._assert(False, "no")
    torch._check(True)
    with pytest.raises(RuntimeError, match="why"):
        torch._check(False, lambda: "why")
    assert "treadle" in torch.__config__.show() and torch.distributed.distributed_c10d.Backend
    weight = nn.init._no_grad_trunc_normal_(nn.Parameter(torch.zeros(50)), 0, 1, -0.5, 0.5)
    assert 0 < weight.detach().abs().max() <= 0.5


def test_sparse_types_of_old():
    i = torch.tensor([[0, 1], [2, 0]])
    made = torch.sparse.FloatTensor(i, torch.tensor([3.0, 4.0]), torch.Size([2, 3]))
    assert made.to_dense().tolist() == [[0, 0, 3], [4, 0, 0]] and made.dtype == torch.float32
    assert torch.sparse.LongTensor(i, torch.tensor([3, 4]), (2, 3)).dtype == torch.int64
    assert torch.sparse.DoubleTensor(size=(2, 3)).to_dense().tolist() == [[0] * 3] * 2


class _Product(torch.autograd.Function):
    """A product by a sparse matrix, as graph networks write it."""

    @staticmethod
    def forward(ctx, indices, values, shape, dense):
        sparse = torch.sparse_coo_tensor(indices, values, shape)
        ctx.save_for_backward(sparse, dense)
        return torch.matmul(sparse, dense)

    @staticmethod
    def backward(ctx, grad):
        sparse, dense = ctx.saved_tensors
        at = sparse._indices()
        return None, grad.matmul(dense.t())[at[0], at[1]], None, sparse.t().matmul(grad)


def test_functions_take_sparse_tensors():
    i = torch.tensor([[0, 1, 1], [2, 0, 1]])
    values, dense = torch.tensor([3.0, 4.0, 5.0], requires_grad=True), torch.arange(6.0).reshape(3, 2).requires_grad_()
    _Product.apply(i, values, (2, 3), dense).sum().backward()
    assert values.grad.tolist() == [9, 1, 5] and dense.grad.tolist() == [[4, 4], [5, 5], [3, 3]]
    sparse = torch.sparse_coo_tensor(i, torch.tensor([3.0, 4.0, -5.0]), (2, 3))
    for function in (torch.abs, torch.neg, lambda s: torch.add(s, s), lambda s: torch.mul(s, 2), lambda s: torch.div(s, 2), lambda s: torch.transpose(s, 0, 1)):
        assert function(sparse).to_dense().tolist() == function(sparse.to_dense()).tolist()
    with pytest.raises(NotImplementedError, match="sparse tensors: torch.stack is not there"):
        torch.stack([sparse, sparse])


@pytest.mark.parametrize("window", [((), (), 2), ((1,), (1,), 0), ((2, 2), (1, 2), 1), ((2,), (3,), None)])
def test_windows_are_written_with_gradients(window):
    """as_strided_scatter: the window is src, and gradients go to what each element came from."""
    size, stride, offset = window
    data, src = np.arange(9.0).reshape(3, 3), np.arange(10.0, 10 + math.prod(size)).reshape(size)
    want, at = data.copy(), np.lib.stride_tricks.as_strided(np.arange(9)[offset or 0 :], size, [8 * s for s in stride])
    want.reshape(-1)[at] = src
    x, s = torch.from_numpy(data).requires_grad_(), torch.from_numpy(src).requires_grad_()
    got = torch.as_strided_scatter(x, s, size, stride, offset)
    np.testing.assert_array_equal(got.detach().numpy(), want)
    (got * torch.arange(9.0, dtype=torch.float64).reshape(3, 3)).sum().backward()
    np.testing.assert_array_equal(s.grad.numpy(), at)
    left = np.arange(9.0)
    left[at] = 0
    np.testing.assert_array_equal(x.grad.numpy(), left.reshape(3, 3))


def _lists():
    return [torch.arange(1.0, 3), torch.ones(3)], [torch.full((2,), 2.0), torch.full((3,), 3.0)]


# torch._foreach_NAME(x, …) of PyTorch on _lists().
EACH = {
    "add": (lambda f, x, y: f(x, y, alpha=2), [[5, 6], [7, 7, 7]]),
    "div": (lambda f, x, y: f(x, [2.0, 4.0]), [[0.5, 1], [0.25, 0.25, 0.25]]),
    "lerp": (lambda f, x, y: f(x, y, 0.5), [[1.5, 2], [2, 2, 2]]),
    "addcmul": (lambda f, x, y: f(x, y, y, [1.0, 2.0]), [[5, 6], [19, 19, 19]]),
    "addcdiv": (lambda f, x, y: f(x, y, y, value=3), [[4, 5], [4, 4, 4]]),
    "maximum": (lambda f, x, y: f(x, y), [[2, 2], [3, 3, 3]]),
    "clamp_min": (lambda f, x, y: f(x, 1.5), [[1.5, 2], [1.5, 1.5, 1.5]]),
    "norm": (lambda f, x, y: f(x, ord=1), [3, 3]),
    "max": (lambda f, x, y: f(x), [2, 1]),
    "neg": (lambda f, x, y: f(x), [[-1, -2], [-1, -1, -1]]),
}


@pytest.mark.parametrize("name", EACH)
def test_functions_of_lists_of_tensors(name):
    use, want = EACH[name]
    x, y = _lists()
    got = use(getattr(torch, f"_foreach_{name}"), x, y)
    assert isinstance(got, tuple) and [t.tolist() for t in got] == want and [t.tolist() for t in x] == [[1, 2], [1, 1, 1]]
    if name not in ("norm", "max"):
        use(getattr(torch, f"_foreach_{name}_"), x, y)
        assert [t.tolist() for t in x] == want


def test_what_is_wrong_with_lists_of_tensors():
    with pytest.raises(RuntimeError, match="Tensor list must have same number of elements as scalar list, got 2 and 1"):
        torch._foreach_add(_lists()[0], [1])
    with pytest.raises(AttributeError):
        torch._foreach_nothing  # noqa: B018


def test_containers_with_methods_of_these_names():
    """A program's class may have an update() that counts something, or an extend(): without modules none is called."""

    class Metrics(nn.ModuleDict):
        def update(self, *values):
            self.seen += 1

    class Grown(nn.ModuleList):
        def extend(self, modules):
            self.seen += 1

    assert len(Metrics()) == len(Grown()) == 0


def test_storages_of_files_and_devices_by_their_private_name(tmp_path):
    (tmp_path / "bytes").write_bytes(bytes(range(8)))
    stored = torch.UntypedStorage.from_file(str(tmp_path / "bytes"), False, 6)
    assert stored.tolist() == list(range(6)) and isinstance(torch.device("cpu"), torch.types._device)


def test_view_by_keywords():
    x = torch.arange(6, dtype=torch.int32)
    assert x.view(size=(2, 3)).shape == (2, 3) and x.view(dtype=torch.int16).shape == (12,)
    x.view(dtype=torch.float32)[0] = 1
    assert x[0] == 0x3F800000


def test_every_dtype_of_a_buffer():
    for dtype in (torch.bfloat16, torch.float16, torch.bool, torch.uint8, torch.int64, torch.complex64):
        want = torch.tensor([1, 0, 1]).to(dtype)
        data = bytearray(want.view(torch.uint8).numpy().tobytes())
        got = torch.frombuffer(data, dtype=dtype)
        assert got.dtype is dtype and got.tolist() == want.tolist()
        got[0] = 0
        assert not any(data[: want.element_size()])
        assert torch.frombuffer(bytes(data), dtype=dtype, count=1, offset=want.element_size()).tolist() == [0]


def test_integers_select_before_index_arrays():
    x = torch.arange(24.0).reshape(2, 3, 4)
    assert x[0, :, [0, 2]].tolist() == [[0, 2], [4, 6], [8, 10]]
    assert torch.equal(x[torch.tensor(1), :, [1, 1]], x[1][:, [1, 1]])
    assert torch.equal(x[:, [0, 1], ..., [2, 3]], x[:, [0, 1], [2, 3]])
    x[0, :, [0, 2]] = torch.tensor([[1.0, 2.0]])
    assert x[0, :, 0].tolist() == [1, 1, 1] and x[0, :, 2].tolist() == [2, 2, 2]
    y = torch.zeros(2, 3, 4, requires_grad=True)
    (y[1, :, [0, 0, 3]] * torch.arange(9.0).reshape(3, 3)).sum().backward()
    assert y.grad[1].tolist() == [[1, 0, 0, 2], [7, 0, 0, 5], [13, 0, 0, 8]] and not y.grad[0].any()


def test_an_integer_tensor_selects_a_view():
    x = torch.zeros(3, 2)
    x[torch.tensor(1)].add_(1)
    x[:, torch.tensor(0)].add_(5)
    assert x.tolist() == [[5, 0], [6, 1], [5, 0]]


def test_a_tensor_of_bytes_is_a_mask():
    x = torch.arange(3.0)
    assert x[torch.tensor([1, 0, 1], dtype=torch.uint8)].tolist() == [0, 2]
    with pytest.raises(IndexError):
        x[torch.tensor([1], dtype=torch.uint8)]


def test_a_slice_does_not_step_back():
    x = torch.arange(4.0).reshape(2, 2)
    for key in (slice(None, None, -1), (0, slice(None, None, -1)), (slice(None, None, -1), [0, 1])):
        with pytest.raises(ValueError, match="step must be greater than zero"):
            x[key]


def test_a_tensor_in_a_list_is_one_number():
    assert torch.tensor([torch.tensor([1.5])]).tolist() == [1.5]
    assert torch.tensor([[torch.tensor([1.0])], [2]]).shape == (2, 1)
    assert torch.tensor([torch.tensor([[3]]), 2.5]).tolist() == [3, 2.5]
    for values, kind in (([torch.tensor(1.0, dtype=torch.float64), 2], torch.float64),
                         ([torch.tensor(1, dtype=torch.int32)], torch.int32),
                         ([torch.tensor(1.0, dtype=torch.float16)], torch.float16),
                         ([torch.tensor(1.0, dtype=torch.float16), 2.5], torch.float32),
                         ([torch.tensor(True), 1], torch.int64)):  # fmt: skip
        assert torch.tensor(values).dtype is kind and torch.as_tensor(values).dtype is kind
    with pytest.raises(ValueError, match="only one element tensors"):
        torch.tensor([torch.tensor([1.0, 2.0])])
    with pytest.raises(TypeError, match="only integer tensors of a single element"):
        torch.tensor([torch.tensor([1, 2])])


def test_what_is_refused_as_pytorch_refuses_it():
    """Each of these gave a result, or an exception that no handler for PyTorch's catches."""
    for f, kind, text in (
        (lambda: F.interpolate(torch.ones(2, 3), 2), NotImplementedError, "Only 3D, 4D and 5D"),
        (lambda: torch.normal(0.0, -1.0, (2,)), RuntimeError, "std >= 0.0, but found std -1"),
        (lambda: F.cosine_similarity(torch.ones(2, 3), torch.ones(3, 2)), RuntimeError, "size of tensor a .3. .*dimension 1"),
        (lambda: torch.ones(2).masked_select(torch.ones(3).bool()), RuntimeError, "size of tensor a .2. .*dimension 0"),
        (lambda: torch.linalg.solve(torch.eye(3), torch.ones(2, 2)), RuntimeError, "linalg.solve"),
        (lambda: torch.linalg.inv(torch.eye(2).half()), RuntimeError, "linalg.inv"),
    ):
        with pytest.raises(kind, match=text):
            f()
    loader = torch.utils.data.DataLoader([1, 2, 3])
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        loader.batch_size = 2


def test_an_attentions_output_layer_has_pytorchs_name():
    assert "(out_proj): NonDynamicallyQuantizableLinear(in_features=4" in repr(nn.MultiheadAttention(4, 2))


@pytest.mark.parametrize(
    "name", ["softmax(x, -1)", "log_softmax(x, -1)", "linalg.inv(x)", "linalg.cholesky(x)", "linalg.eigh(x)[0]", "exp(x)"]
)
def test_operands_of_what_is_derived_from_results_may_change(name):
    """PyTorch keeps the result alone. A second derivative, which records the operation again, needs the operand."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 3))
    leaf = torch.tensor(a @ a.T + 3 * np.eye(3), requires_grad=True)
    weights = torch.tensor(rng.standard_normal(3))

    def total(write):
        x = leaf * 2
        r = eval(f"torch.{name}", {"torch": torch, "x": x})
        if write:
            x.zero_()
        return (r * weights).sum()

    want, got = (torch.autograd.grad(total(write), leaf)[0] for write in (False, True))
    assert torch.equal(want, got)
    if name != "exp(x)":
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(total(True), leaf, create_graph=True)


def test_softmax_written_over_its_operand():
    """Attention in two halves, as diffusion models compute it."""
    leaf = torch.randn(4, 3, requires_grad=True, dtype=torch.float64)
    scores = leaf * 2
    for half in (slice(2, None), slice(2)):
        scores[half] = scores[half].softmax(-1)
    (scores * torch.arange(3)).sum().backward()
    other = leaf.detach().requires_grad_()
    ((other * 2).softmax(-1) * torch.arange(3)).sum().backward()
    assert torch.allclose(leaf.grad, other.grad)


@pytest.mark.parametrize(
    "name",
    ["x.sign()", "x.sgn()", "F.elu(x)", "F.selu(x)", "F.celu(x)", "1 / x", "x / (x + 9)", "F.normalize(x, dim=0)", "x.abs()"]
    + ["F.gelu(x)", "x.log()", "x.prod(0, keepdim=True)", "x.floor()", "F.leaky_relu(x)", "F.log_softmax(x, 0) * 1"],
)
def test_results_whose_values_no_derivative_needs_may_change(name):
    """x / norm written to afterwards, as losses of angles do it."""
    found = []
    for write in (False, True):
        leaf = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64, requires_grad=True)
        r = eval(name, {"F": F, "x": leaf * 1})
        r = r.mul_(3) if write else r * 3
        (r * torch.arange(3)).sum().backward()
        found.append(leaf.grad)
    assert torch.equal(*found)


def test_diagonals_of_expanded_tensors_have_gradients():
    x = torch.arange(4.0, requires_grad=True)
    e = (x * 1).expand(2, 3, 4)
    for r, want in ((e.diagonal(), [2, 2, 2, 2]), (e.diagonal(0, 1, 2), [2, 2, 2, 0]), (e[0, :, :3].trace(), [1, 1, 1, 0])):
        assert torch.autograd.grad(r.sum(), x, retain_graph=True)[0].tolist() == want
    assert e.detach().diagonal().data_ptr() == e.data_ptr()


def test_one_number_fills_an_expanded_tensor():
    for fill in (lambda e: e.zero_(), lambda e: e.fill_(0), lambda e: e.__setitem__(slice(None), 0.0)):
        x = torch.arange(4.0)
        fill(x.expand(3, 4))
        assert x.tolist() == [0, 0, 0, 0]
    for write in (lambda e: e.copy_(torch.ones(3, 4)), lambda e: e.add_(1)):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            write(torch.arange(4.0).expand(3, 4))


_I, _J = torch.tensor([0, 1]), torch.tensor([1, 2])
# PyTorch takes these lists for tuples, and warns; it takes the others for arrays of indices.
_TUPLES = [
    [None, slice(None)], [0, slice(None)], [slice(None), 0], [[0, 1], [1, 2]], [_I, _J], [..., 0], [[0, 1], [1]],
    [torch.tensor(0), torch.tensor(1)], [None], [np.array([0, 1]), np.array([1, 2])], [(0, 1)], [range(2), 0], [_I, 1],
    [0, _J], [[True, False, True, False], 2], [slice(1, 3), _J],
]  # fmt: skip
_ARRAYS = [[0, 1], [], [True, False, True, False], [3] * 40, [np.int64(1), 2]]


@pytest.mark.parametrize("key", _TUPLES, ids=repr)
def test_lists_that_are_tuples_in_subscripts(key):
    x = torch.arange(24.0).reshape(4, 6)
    with pytest.warns(UserWarning, match=r"use x\[tuple\(seq\)\] instead"):
        assert torch.equal(x[key], x[tuple(key)])
    a, b, c = x.clone(), x.clone(), x.clone().requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a[key] = -1.0
        c[key].sum().backward()
    b[tuple(key)] = -1.0
    assert torch.equal(a, b) and torch.equal(c.grad == 1, b == -1)


@pytest.mark.parametrize("key", _ARRAYS, ids=repr)
def test_lists_that_are_arrays_in_subscripts(key):
    x = torch.arange(24.0).reshape(4, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index = torch.tensor(key, dtype=torch.bool if True in key and 0 in key and len(key) == 4 else torch.int64)
        assert torch.equal(x[key], x[index])


def test_a_tensor_equals_elements_of_numpys_array():
    t, grown = torch.tensor([1, 2]), torch.ones(2, requires_grad=True)
    for a, want in ((np.array([1, 3]), [True, False]), (np.array([1.0, 2.0], np.float32), [True, True]),
                    (np.array(2), [False, True]), (np.array([[1], [2]]), [[True, False], [False, True]])):  # fmt: skip
        assert (t == a).tolist() == want and (a == t).tolist() == want
    assert (t == np.array(["a", "b"])) is False and (grown == np.ones(2)).all()
    with pytest.raises(RuntimeError, match="size"):
        assert t == np.arange(3)


_OWN = {  # the dtype that PyTorch gives each number alone
    "np.float32(1.5)": "float32", "np.float64(1.5)": "float64", "np.float16(1.5)": "float16", "np.int32(1)": "int32",
    "np.int64(1)": "int64", "np.uint8(1)": "uint8", "np.int8(1)": "int8", "np.bool_(True)": "bool", "1": "int64",
    "1.5": "float32", "True": "bool", "1j": "complex64", "np.complex64(1j)": "complex64", "torch.tensor(1.5)": "float32",
    "np.complex128(1j)": "complex128", "np.ones(1)[0]": "float64", "torch.tensor(1.5, dtype=torch.float16)": "float16",
}  # fmt: skip


@pytest.mark.parametrize("first", _OWN)
def test_lists_of_numbers_of_several_dtypes(first):
    """Their dtype is what these dtypes promote to, in the order and the depth of the list."""
    for second in _OWN:
        want = torch.promote_types(getattr(torch, _OWN[first]), getattr(torch, _OWN[second]))
        a, b = eval(first), eval(second)
        for data in ([a, b], [b, a], (a, a, b), [[a, a], [a, b]], [[a], [b]]):
            assert torch.tensor(data).dtype is want and torch.as_tensor(data).dtype is want, data
