"""Mixed precision beyond dtypes on the CPU, which torch_nn_cases.py compares: other devices, modes, threads, custom functions."""

import subprocess
import sys
import threading

import pytest

import treadle.torch as torch
from treadle.torch import nn
from treadle.torch.nn import functional as F
from treadle.torch.nn.functional import softmax  # imported before the first autocast

DEVICES = ["null"] + ["cuda"] * torch.cuda.is_available()
GPU = {  # PyTorch's lists for GPUs: what has which dtype
    "float16": [
        lambda x, w: x @ w,
        lambda x, w: F.linear(x, w, w[0]),
        lambda x, w: torch.addmm(x, x, w),
        lambda x, w: torch.mv(w, x[0]),
        lambda x, w: torch.einsum("ij,jk->ik", x, w),
        lambda x, w: F.conv1d(w[None], w[:, :, None]),
        lambda x, w: F.scaled_dot_product_attention(x[None], w[None], w[None]),
        lambda x, w: (x @ w).relu() + 1,
        lambda x, w: nn.LSTM(4, 3, device=x.device)(x)[0],
        lambda x, w: nn.BatchNorm1d(4, device=x.device)(x @ w),
        lambda x, w: F.mish(x @ w),
    ],
    "float32": [
        lambda x, w: (x @ w).exp(),
        lambda x, w: (x @ w).softmax(1),
        lambda x, w: softmax(x @ w, 1),
        lambda x, w: (x @ w).sum(),
        lambda x, w: (x @ w) ** 2,
        lambda x, w: 1 / (x @ w),
        lambda x, w: nn.LayerNorm(4, device=x.device)(x @ w),
        lambda x, w: nn.CrossEntropyLoss()(x @ w, torch.tensor([0, 1, 2], device=x.device)),
        lambda x, w: F.mse_loss(x @ w, x.half()),
        lambda x, w: (x @ w) + x,
        lambda x, w: torch.tensordot(x, w, 1),
        lambda x, w: torch.dot(x[0], w[0]),
    ],
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", GPU)
def test_on_a_gpu_by_pytorchs_lists(device, dtype):
    x, w = torch.rand(3, 4, device=device), torch.rand(4, 4, device=device, requires_grad=True)
    for f in GPU[dtype]:
        with torch.autocast(device):
            r = f(x, w)
        want = f(x, w)
        assert r.dtype is getattr(torch, dtype) and want.dtype is torch.float32
        gradient = torch.autograd.grad(r.float().sum(), w, allow_unused=True)[0]
        assert gradient is None or gradient.dtype is torch.float32
    with torch.autocast(device), torch.autocast(device, enabled=False):
        assert (x @ w).dtype is torch.float32


def test_values_are_rounded_once():
    x, w = torch.rand(5, 7), torch.rand(7, 3, requires_grad=True)
    with torch.autocast("cpu"):
        r = x @ w
    want = (x.bfloat16().float() @ w.bfloat16().float()).bfloat16()
    assert torch.equal(r, want)
    r.float().sum().backward()
    assert w.grad.dtype is torch.float32 and torch.allclose(w.grad, x.sum(0)[:, None].expand(7, 3), rtol=1e-2)


def test_the_mode_is_the_threads_and_ends_with_the_block():
    x, seen = torch.rand(2, 2), []
    with torch.autocast("cpu", dtype=torch.float16):
        assert torch.is_autocast_enabled("cpu") and not torch.is_autocast_enabled()
        assert torch.get_autocast_dtype("cpu") is torch.float16
        thread = threading.Thread(target=lambda: seen.append((x @ x).dtype))
        thread.start()
        thread.join()
        with pytest.raises(ZeroDivisionError), torch.autocast("cpu", dtype=torch.bfloat16):
            1 / 0  # noqa: B018
        assert (x @ x).dtype is torch.float16
    assert seen == [torch.float32] and (x @ x).dtype is torch.float32
    assert torch.get_autocast_dtype("cpu") is torch.bfloat16 and not torch.is_autocast_enabled("cpu")

    @torch.autocast("cpu")
    def product(a):
        return a @ a

    assert product(x).dtype is torch.bfloat16
    torch.set_autocast_enabled("cpu", True)
    assert (x @ x).dtype is torch.bfloat16
    torch.set_autocast_enabled("cpu", False)
    assert (x @ x).dtype is torch.float32
    assert torch.matmul(x, x, out=torch.empty(2, 2)).dtype is torch.float32


def test_a_parameter_is_cast_once_and_again_when_it_was_changed():
    from treadle.torch import _autocast

    w, x = nn.Parameter(torch.ones(2, 2)), torch.ones(1, 2)
    with torch.autocast("cpu"):
        first = x @ w
        kept = [t for *_, t in _autocast.state.cache.values()]
        x @ w
        assert [t for *_, t in _autocast.state.cache.values()] == kept and kept[0].dtype is torch.bfloat16
        with torch.no_grad():
            w.mul_(3)
        assert (x @ w).tolist() == [[6, 6]] and first.tolist() == [[2, 2]]
    assert not _autocast.state.cache


class Product(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        seen.append(((g @ b.t()).dtype, torch.is_autocast_enabled("cpu")))
        return (g @ b.t()).float(), (a.t() @ g).float()


class Whole(Product):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b


seen = []


def test_functions_of_a_programs_own():
    a, b = torch.rand(2, 2, requires_grad=True), torch.rand(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        low, full = Product.apply(a, b), Whole.apply(a.bfloat16(), b)
    assert low.dtype is torch.bfloat16 and full.dtype is torch.float32
    seen.clear()
    low.sum().backward()
    full.sum().backward()
    assert seen == [(torch.bfloat16, True), (torch.float32, False)]


def test_replicas_in_threads_have_their_callers_mode():
    layers, x = [nn.Linear(2, 2), nn.Linear(2, 2)], torch.rand(1, 2)
    with torch.autocast("cpu"):
        results = nn.parallel.parallel_apply(layers, [x, x])
    assert [r.dtype for r in results] == [torch.bfloat16] * 2


def test_what_is_wrong_with_an_order_of_calls():
    p = torch.ones(2, requires_grad=True)
    optimizer, scaler = torch.optim.SGD([p], lr=0.1), torch.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(p.sum()).backward()
    scaler.unscale_(optimizer)
    assert p.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step\(\)"):
        scaler.unscale_(optimizer)
    scaler.update(16.0)
    assert scaler.get_scale() == 16.0
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        scaler.update()
    again = torch.amp.GradScaler("cpu")
    again.load_state_dict(scaler.state_dict())
    assert again.get_scale() == 16.0
    half = torch.ones(2, dtype=torch.float16, requires_grad=True)
    half.sum().backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(torch.optim.SGD([half], lr=0.1))


def test_float32_programs_pay_nothing():
    """Until a program enters autocast, operations are the ones that were there."""
    text = (
        "import treadle.torch as torch; from treadle.torch.nn import functional as F\n"
        "before = torch.Tensor.__matmul__, F.linear._target\nimport treadle.torch.amp\n"
        "assert before == (torch.Tensor.__matmul__, F.linear._target)\n"
        "with torch.autocast('cpu', enabled=False): pass\n"
        "assert before == (torch.Tensor.__matmul__, F.linear._target)\n"
        "with torch.autocast('cpu'): pass\n"
        "assert torch.Tensor.__matmul__ != before[0] and F.linear._target != before[1]\n"
        "import warnings\nwarnings.simplefilter('error')\n"  # what asks for the mode is mapped over items as ever
        "r = torch.vmap(lambda t: torch.rsqrt(t) @ F.linear(t, torch.ones(2, 2)))(torch.ones(3, 2))\n"
        "assert r.tolist() == [4, 4, 4]\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True)
