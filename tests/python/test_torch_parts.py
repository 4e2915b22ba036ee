"""treadle.torch: what no single expression shows. Random numbers, modes, functions of a program's own, devices,
copies.
"""

import copy
import ctypes
import pathlib
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import treadle as td
import treadle.torch as torch
from treadle.torch import _device

ROOT = pathlib.Path(__file__).resolve().parents[2]


# ---- random numbers ----

DRAWS = {
    "rand": (lambda: torch.rand(20000), 0.5, 1 / 12),
    "randn": (lambda: torch.randn(20000), 0, 1),
    "rand_like": (lambda: torch.rand_like(torch.zeros(20000)), 0.5, 1 / 12),
    "randn_like": (lambda: torch.randn_like(torch.zeros(20000, dtype=torch.float64)), 0, 1),
    "randint": (lambda: torch.randint(0, 10, (20000,)).float(), 4.5, 8.25),
    "randint_like": (lambda: torch.randint_like(torch.zeros(20000), 10), 4.5, 8.25),
    "normal": (lambda: torch.normal(2.0, 3.0, (20000,)), 2, 9),
    "normal of tensors": (lambda: torch.normal(torch.full((20000,), 2.0), torch.full((20000,), 0.5)), 2, 0.25),
    "bernoulli": (lambda: torch.bernoulli(torch.full((20000,), 0.3)), 0.3, 0.21),
    "Tensor.bernoulli": (lambda: torch.zeros(20000).bernoulli(0.3), 0.3, 0.21),
    "poisson": (lambda: torch.poisson(torch.full((20000,), 4.0)), 4, 4),
    "binomial": (lambda: torch.binomial(torch.full((20000,), 10.0), torch.full((20000,), 0.5)), 5, 2.5),
    "uniform_": (lambda: torch.empty(20000).uniform_(1, 3), 2, 4 / 12),
    "normal_": (lambda: torch.empty(20000).normal_(1, 2), 1, 4),
    "exponential_": (lambda: torch.empty(20000).exponential_(2.0), 0.5, 0.25),
    "bernoulli_": (lambda: torch.empty(20000).bernoulli_(0.7), 0.7, 0.21),
    "geometric_": (lambda: torch.empty(20000).geometric_(0.5), 2, 2),
    "random_": (lambda: torch.empty(20000).random_(0, 5), 2, 2),
    "log_normal_": (lambda: torch.empty(20000).log_normal_(0.0, 0.25).log(), 0, 0.0625),
    "cauchy_": (lambda: torch.empty(20000).cauchy_().atan(), 0, np.pi**2 / 12),
    "multinomial": (lambda: torch.multinomial(torch.tensor([1.0, 1, 2]), 20000, True).float(), 1.25, 0.6875),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_have_their_mean_and_variance(name):
    draw, mean, variance = DRAWS[name]
    torch.manual_seed(3)
    x = draw()
    assert abs(x.mean().item() - mean) < 5 * (variance / x.numel()) ** 0.5
    assert abs(x.var().item() / variance - 1) < 0.08
    torch.manual_seed(3)
    assert torch.equal(x, draw()), "a seed makes it repeat"


def test_distributions_draw_what_they_say():
    from treadle.torch import distributions as D

    torch.manual_seed(0)
    p = torch.tensor([0.5, 2.0])
    for d in (D.Normal(p, p), D.LogNormal(p * 0.1, p * 0.2), D.Uniform(-p, p), D.Exponential(p), D.Gamma(p, p), D.Beta(p, p + 1),
              D.Laplace(p, p), D.Bernoulli(p / 4), D.Poisson(p), D.Binomial(5, p / 4), D.Dirichlet(p), D.Geometric(p / 4),
              D.HalfNormal(p), D.OneHotCategorical(p), D.Multinomial(4, p)):  # fmt: skip
        x = d.sample((20000,))
        assert x.shape == (20000, *d.batch_shape, *d.event_shape)
        torch.testing.assert_close(x.mean(0), d.mean, rtol=0.06, atol=0.03)
        torch.testing.assert_close(x.var(0), d.variance, rtol=0.15, atol=0.02)
    h = torch.tensor([[2.0, 0.5], [0.5, 1.0]])
    x = D.MultivariateNormal(torch.zeros(2), h).sample((20000,))
    torch.testing.assert_close(x.T.cov(), h, rtol=0.1, atol=0.05)
    m = torch.tensor([1.0], requires_grad=True)
    D.Normal(m, 1.0).rsample((7,)).sum().backward()
    assert m.grad.item() == 7


def test_generators_stand_where_they_are_put():
    g = torch.Generator().manual_seed(5)
    a = torch.rand(3, generator=g)
    state = g.get_state()
    b = torch.rand(3, generator=g)
    assert not torch.equal(a, b)
    assert torch.equal(torch.rand(3, generator=g.set_state(state)), b)
    assert g.initial_seed() == 5
    torch.manual_seed(1)
    with torch.random.fork_rng():
        first = torch.rand(2)
    assert torch.equal(first, torch.rand(2))
    assert sorted(torch.randperm(9).tolist()) == list(range(9))
    without = torch.multinomial(torch.tensor([[1.0, 1, 1, 0]]), 3)
    assert sorted(without[0].tolist()) == [0, 1, 2]


# ---- functions of a program's own ----


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, y):
        ctx.save_for_backward(x, y)
        ctx.factor = factor
        return x * factor * y, (x > 0).long()

    @staticmethod
    def backward(ctx, g, _):
        x, y = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False, True)
        return g * ctx.factor * y, None, g * ctx.factor * x


def test_a_function_with_its_own_derivative():
    x, y = torch.tensor([1.0, -2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
    r, positive = Scale.apply(x, 2.0, y)
    assert r.grad_fn.name() == "ScaleBackward" and positive.tolist() == [1, 0]
    (gx,) = torch.autograd.grad(r.sum(), x, create_graph=True)
    assert gx.tolist() == [6, 8]
    assert torch.autograd.grad(gx.sum(), y)[0].tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        r, _ = Scale.apply(x * 1, 2.0, z := y * 1)
        z += 1
        r.sum().backward()


def test_setup_context_and_once_differentiable():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            assert not torch.is_grad_enabled()
            return 2 * g * ctx.saved_tensors[0]

    x = torch.tensor([3.0], requires_grad=True)
    Square.apply(x).backward()
    assert x.grad.item() == 6
    with pytest.raises(RuntimeError, match="incorrect number of gradients"):

        class Wrong(Square):
            @staticmethod
            def backward(ctx, g):
                return g, g

        Wrong.apply(x).backward()


def test_gradients_are_those_of_finite_differences():
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    y = torch.rand(2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a, b: (a * b.exp()).softmax(1), (x, y))
    assert torch.autograd.gradgradcheck(lambda a: a.softmax(1).pow(2), (x,))
    for f in (
        lambda a: torch.linalg.svdvals(a),
        lambda a: a.sort()[0],
        lambda a: a.logcumsumexp(1),
        lambda a: torch.special.erfinv(a / 9),
    ):
        assert torch.autograd.gradgradcheck(f, (x,))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(lambda a: a * a.detach(), (x,))


def test_modes_decorate_functions_and_generators():
    x = torch.ones(2, requires_grad=True)

    @torch.no_grad()
    def f():
        return (x * 2).requires_grad

    @torch.no_grad()
    def steps():
        yield (x * 2).requires_grad
        yield (x * 2).requires_grad

    @torch.enable_grad()
    def g():
        return (x * 2).requires_grad

    assert not f() and torch.is_grad_enabled()
    for recorded in steps():
        assert not recorded and torch.is_grad_enabled()
    with torch.no_grad():
        assert g()
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)


# ---- devices ----


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_tensors_stay_on_the_cpu_and_one_warning_says_so():
    _device._told.clear()
    x = torch.ones(2)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        y = x.cuda()
        z = torch.zeros(2, device="cuda").to("cuda:0")
    assert [w.category for w in seen] == [td.PerformanceWarning] and seen[0].filename == __file__
    assert y.device == z.device == torch.device("cpu") and not y.is_cuda
    assert torch.cuda.device_count() == 0 and torch.cuda.memory_allocated() == 0
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    end.record()
    assert begin.elapsed_time(end) >= 0
    with torch.cuda.stream(torch.cuda.Stream()), torch.cuda.device(0), torch.autocast("cuda"):
        pass
    with pytest.raises(RuntimeError, match="no|NVIDIA|driver"):
        torch.cuda.get_device_name()


def test_tensors_on_another_device():
    x = torch.arange(6.0).reshape(2, 3).to("null").requires_grad_()
    assert x.device == torch.device("null", 0) and repr(x.detach()).endswith("device='null:0')")
    (x.cpu() * torch.ones(3)).sum().backward()
    assert x.grad.device == x.device and x.grad.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert torch.zeros_like(x).device == x.new_ones(2).device == x.device
    assert x.softmax(1).sum().item() == pytest.approx(2) and x.argmax().item() == 5
    assert torch.cat([x, x]).gather(1, torch.zeros(4, 1, dtype=torch.int64, device="null")).shape == (4, 1)
    with torch.device("null"):
        assert torch.zeros(2).device == torch.rand(2).device == x.device
    torch.set_default_device("null")
    assert torch.arange(3).device == x.device == torch.eye(2).device
    torch.set_default_device(None)
    with pytest.raises(RuntimeError):
        torch.device("cuda:x")
    with pytest.raises(RuntimeError, match="null and on cpu"):
        x.detach() + torch.ones(2, 3)


# ---- copies and other libraries ----


def test_memory_is_shared_with_numpy():
    a = np.arange(4.0)
    t = torch.from_numpy(a)
    t[1] = 9
    a[2] = 8
    assert t.tolist() == [0, 9, 8, 3] and a[1] == 9
    assert torch.as_tensor(a).data_ptr() == t.data_ptr() and torch.tensor(a).data_ptr() != t.data_ptr()
    b = torch.zeros(3)
    b.numpy()[1] = 5
    assert b.tolist() == [0, 5, 0]
    assert isinstance(np.sqrt(torch.ones(2)), torch.Tensor)


@pytest.mark.parametrize("name", "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split())
def test_memory_of_every_dtype_is_shared_with_numpy(name):
    dtype = getattr(torch, name)
    for t in (torch.zeros(3, dtype=dtype), torch.zeros((2, 3), dtype=dtype).T, torch.zeros((), dtype=dtype)):
        n = t.numpy()
        assert n.flags.writeable and n.shape == tuple(t.shape) and n.ctypes.data == t.data_ptr()
        n[...] = 1
        assert t.sum().item() == n.size
        t.zero_()
        assert not n.any()
    assert torch.zeros((2, 0), dtype=dtype).numpy().shape == (2, 0) and torch.zeros(0, dtype=dtype).data_ptr() == 0


def test_a_bfloat16_tensor_has_an_address():
    t = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    assert list((ctypes.c_uint16 * 2).from_address(t.data_ptr())) == [0x3F80, 0x4000]
    assert (np.float64(2) * torch.ones(2)).dtype is torch.float32
    assert torch.from_dlpack(td.arange(3)).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="requires grad"):
        np.asarray(torch.ones(2, requires_grad=True))
    with pytest.raises(TypeError, match="np.ndarray"):
        torch.from_numpy([1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool, torch.int64, torch.complex64])
def test_pickles_and_deep_copies(dtype):
    x = torch.tensor([[1.0, 0, 3]]).to(dtype)
    x.note = "kept"
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert torch.equal(x, y) and y.dtype is dtype and y.note == "kept"
    w = torch.ones(2, requires_grad=True)
    w.grad = torch.ones(2)
    v = copy.deepcopy(w)
    assert v.requires_grad and v.grad.tolist() == [1, 1] and v.data_ptr() != w.data_ptr()
    assert pickle.loads(pickle.dumps(torch.float32)) is torch.float32
    assert pickle.loads(pickle.dumps(torch.Size([1, 2]))) == torch.Size([1, 2])
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(w * 2)


def test_out_takes_results():
    x, out = torch.tensor([[1.0, 4.0]]), torch.empty(0)
    assert torch.sqrt(x, out=out) is out and out.tolist() == [[1, 2]]
    values, places = torch.empty(1), torch.empty(1, dtype=torch.int64)
    torch.max(x, 1, out=(values, places))
    assert values.item() == 4 and places.item() == 1
    assert torch.add(input=x, other=1).tolist() == [[2, 5]]
    assert torch.zeros(2, out=torch.empty(2)).shape == (2,)
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        torch.exp(torch.ones(1, requires_grad=True), out=torch.empty(1))


def test_default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.zeros(1).dtype is torch.tensor(1.5).dtype is torch.rand(1).dtype is torch.float64
        assert (torch.tensor([1]) / 2).dtype is torch.float64 and torch.tensor(1j).dtype is torch.complex128
        assert torch.exp(torch.tensor([1])).dtype is torch.float64 and torch.Tensor(2).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.raises(TypeError):
        torch.set_default_dtype(torch.int64)


def test_kinds_of_tensors():
    assert torch.FloatTensor([1, 2]).dtype is torch.float32 and torch.LongTensor(2, 3).shape == (2, 3)
    assert isinstance(torch.ones(1), torch.FloatTensor) and not isinstance(torch.ones(1), torch.IntTensor)
    assert (
        torch.Tensor([1, 2]).tolist() == [1, 2] and torch.Tensor(2, 3).shape == (2, 3) and torch.Tensor().numel() == 0
    )
    assert torch.Tensor.__name__ == "Tensor" and torch.Tensor.add(torch.ones(1), 1).item() == 2

    class Mine(torch.Tensor):
        pass

    m = torch.ones(2).as_subclass(Mine)
    assert type(m) is Mine and isinstance(m, torch.Tensor) and (m + 1).tolist() == [2, 2]


def test_close_or_not():
    torch.testing.assert_close({"a": [torch.ones(2), 1.0]}, {"a": [torch.ones(2), 1.0]})
    with pytest.raises(
        AssertionError, match=r"Mismatched elements: 1 / 2 \(50.0%\)\nGreatest absolute difference: 1.0 at index \(1,\)"
    ):
        torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0]))
    for a, b in (
        (torch.ones(2), torch.ones(3)),
        (torch.ones(2), torch.ones(2).double()),
        ([1], [1, 2]),
        ({"a": 1}, {"b": 1}),
    ):
        with pytest.raises(AssertionError):
            torch.testing.assert_close(a, b)
    t = torch.testing.make_tensor(2, 3, dtype=torch.int32, low=1, high=4)
    assert t.shape == (2, 3) and 1 <= t.min() and t.max() < 4
    with pytest.raises(AttributeError, match="docs/torch.md"):
        torch.no_such_name  # noqa: B018


def test_functional_call_and_stacked_models():
    class Model:
        def __init__(self):
            self._parameters, self._buffers = {"w": torch.ones(2, requires_grad=True)}, {}

        def __call__(self, x):
            return (self._parameters["w"] * x).sum()

    m, x = Model(), torch.tensor([1.0, 2.0])
    assert torch.func.functional_call(m, {"w": x}, (x,)).item() == 5 and m(x).item() == 3
    slope = torch.func.grad(lambda p: torch.func.functional_call(m, p, (x,)))({"w": x})
    assert slope["w"].tolist() == [1, 2]
    hessian = torch.func.hessian(lambda v: (v**3).sum())(x)
    assert hessian.tolist() == [[6, 0], [0, 12]]


UNCHANGED = """
import numpy as np
import torch
import torch.backends.cudnn as cudnn
from torch.cuda.amp import GradScaler, autocast
from torch.distributions.normal import Normal
from torch.utils.data import DataLoader

cudnn.benchmark = True
a = np.arange(4, dtype=np.float32)
t = torch.from_numpy(a)
t += 1
assert torch.as_tensor(a * 2).sum().item() == 20 and torch.tensor(np.ones((2, 2))).dtype is torch.float64
assert np.allclose(t, [1, 2, 3, 4]) and (t.numpy() + a).tolist() == [2, 4, 6, 8]
assert torch.tensor([a, a]).shape == (2, 4) and torch.__version__ >= "2"
print(Normal(0.0, 1.0).log_prob(torch.zeros(1)), type(torch.ones(1)).__module__)
"""


def test_programs_run_unchanged(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(UNCHANGED)
    done = subprocess.run([sys.executable, "-m", "treadle", script], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "tensor([-0.9189]) treadle.torch\n", done.stderr


NUMPYS_NAMES = """
    torch.sum(x, axis=1)
    x.sum(axis=1, keepdims=True)
    x.mean(axis=(0, 1))
    torch.cumprod(x, axis=0)
    x.cumsum(axis=1)
    torch.cat([x, x], axis=1)
    torch.stack([x, x], axis=0)
    x.max(axis=1)
    x.argmax(axis=1, keepdims=True)
    torch.softmax(x, axis=1)
    x.log_softmax(axis=-1)
    torch.std(x, axis=0)
    x.var(axis=1, keepdims=True)
    torch.unsqueeze(x, axis=0)
    x.squeeze(axis=0)
    torch.sort(x, axis=1)
    torch.linalg.norm(x, axis=1)
    torch.any(x > 3, axis=1)
    x.all(axis=0)
    x.prod(axis=1)
    torch.logsumexp(x, axis=1)
    torch.gather(x, axis=1, index=k[:, None])
    x.index_select(axis=0, index=k)
    x.chunk(2, axis=1)
    torch.diff(x, axis=1)
    x.median(axis=0, keepdims=True)
    x.amin(axis=1, keepdims=True)
    torch.topk(x, 2, axis=1)
    torch.unbind(x, axis=1)
    torch.count_nonzero(x, axis=0)
    torch.quantile(x, 0.5, axis=0)
    torch.narrow(x, axis=0, start=0, length=1)
    x.repeat_interleave(2, axis=0)
    torch.nansum(x, axis=0)
    torch.cummax(x, axis=0)
    torch.var_mean(x, axis=1, keepdims=True)
    torch.trapz(x, axis=0)
    torch.index_add(x, axis=0, index=k, source=x)
    x.scatter(axis=0, index=k[None], value=1.0)
    x.select(axis=0, index=1)
    x.size(axis=0)
    torch.fft.fft(x, axis=0)
    torch.maximum(x, x2=x)
    torch.swapaxes(x, axis0=0, axis1=1)
"""


@pytest.mark.parametrize("expression", [line.strip() for line in NUMPYS_NAMES.split("\n") if line.strip()])
def test_numpys_names_of_parameters(expression):
    scope = {"torch": torch, "x": torch.arange(12.0).reshape(3, 4), "k": torch.tensor([0, 2, 1])}
    plain = expression
    for theirs, ours in (("axis0", "dim0"), ("axis1", "dim1"), ("axis=", "dim="), ("keepdims", "keepdim"), ("x2", "other")):
        plain = plain.replace(theirs, ours)
    got, want = eval(expression, scope), eval(plain, scope)
    for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (got, want)), strict=True):
        assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b


def test_numpys_names_of_the_first_parameter():
    x = torch.ones(2)
    assert torch.equal(torch.add(x1=x, x2=x), x + x) and torch.equal(torch.sin(x=x), x.sin())
    with pytest.raises(TypeError, match="axes"):
        x.sum(axes=0)
    with pytest.raises(TypeError, match="multiple values"):
        x.sum(0, axis=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sinc_of_halves_is_that_of_float32_rounded(dtype):
    x = torch.tensor([0.0, 0.25, 1.0, -3.0, 7.5], dtype=dtype)
    assert torch.equal(torch.sinc(x), torch.sinc(x.float()).to(dtype)) and torch.sinc(x)[0] == 1


def test_meshgrid_takes_no_matrices():
    with pytest.raises(RuntimeError, match="Expected 0D or 1D tensor"):
        torch.meshgrid(torch.ones(2, 2), torch.ones(3), indexing="ij")
    assert [tuple(g.shape) for g in torch.meshgrid(torch.tensor(1.0), torch.ones(3), indexing="ij")] == [(1, 3)] * 2


def test_chunks_of_no_elements():
    assert [tuple(part.shape) for part in torch.zeros(0, 3).chunk(2)] == [(0, 3)] * 2


def test_stack_refuses_shapes_of_as_many_elements():
    with pytest.raises(RuntimeError, match=r"got \[2, 3\] at entry 0 and \[3, 2\] at entry 1"):
        torch.stack([torch.ones(2, 3), torch.ones(3, 2)])
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(torch.stack([x.t(), x.t() + 1], 1)[:, 0], x.t())
    assert type(torch.ones(2, 3).shape) is torch.Size and torch.ones(2, 3).shape[1:] == torch.Size([3])
