"""The device "meta": tensors that have a shape, a dtype and no values. Each test is a process of its own, because a
program that names the device changes torch's functions."""

import subprocess
import sys
import textwrap

import pytest

BEFORE = "import treadle.torch as torch\nfrom treadle.torch import nn\nimport copy, pytest\n"


def runs(text):
    subprocess.run([sys.executable, "-W", "ignore", "-c", BEFORE + textwrap.dedent(text)], check=True)


def test_tensors_have_shapes_alone():
    runs("""
        t = torch.empty(2, 3, device="meta")
        assert repr(t) == "tensor(..., device='meta', size=(2, 3))" and t.is_meta and t.device == torch.device("meta")
        assert t.stride() == (3, 1) and t.is_contiguous() and torch.zeros(2, 0, 3, device="meta").stride() == (3, 3, 1)
        for r, shape, dtype in (
            (t + 1, (2, 3), torch.float32), (t > 0, (2, 3), torch.bool), (t.sum(1), (2,), torch.float32),
            (t.t(), (3, 2), torch.float32), (t @ t.t(), (2, 2), torch.float32), (t.max(1).indices, (2,), torch.int64),
            (torch.cat([t, t]), (4, 3), torch.float32), (t.double(), (2, 3), torch.float64),
            (t.to(torch.float16), (2, 3), torch.float16), (t[0], (3,), torch.float32), (torch.ones(2).to("meta"), (2,), torch.float32),
            (torch.empty_like(torch.ones(2), device="meta"), (2,), torch.float32), (t.new_zeros(4), (4,), torch.float32),
            (torch.arange(5, device="meta"), (5,), torch.int64), (torch.randn(3, device="meta"), (3,), torch.float32),
        ):
            assert r.is_meta and tuple(r.shape) == shape and r.dtype is dtype
        assert torch.empty(10**7, 10**7, device="meta").add(1).numel() == 10**14  # takes no memory
        assert torch.empty_like(t, device="cpu").device.type == "cpu"
        assert torch.ones(1).device.type == "cpu"
    """)


def test_there_are_no_values_to_read():
    runs("""
        t = torch.empty(2, device="meta")
        for read, kind in (
            (lambda: t.sum().item(), RuntimeError), (lambda: bool(t.sum()), RuntimeError), (lambda: t.tolist(), NotImplementedError),
            (lambda: t.cpu(), NotImplementedError), (lambda: t.to("cpu"), NotImplementedError), (lambda: t.numpy(), TypeError),
            (lambda: t.nonzero(), NotImplementedError), (lambda: nn.Linear(2, 2, device="meta").to("cpu"), NotImplementedError),
        ):
            with pytest.raises(kind):
                read()
        assert t.fill_(3) is t and t.add_(1) is t and nn.init.normal_(t) is t
        t[0] = 5
    """)


@pytest.mark.parametrize("way", ["to_empty", "assign"])
def test_a_module_gets_its_memory_later(way):
    runs(f"""
        with torch.device("meta"):
            net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(8 * 36, 10), nn.LayerNorm(10))
            x = torch.rand(2, 3, 8, 8)
        assert all(p.is_meta and isinstance(p, nn.Parameter) and p.requires_grad for p in net.parameters())
        assert net(x).shape == (2, 10) and all(b.is_meta for b in net.buffers()) and copy.deepcopy(net)[0].weight.is_meta
        saved = {{k: torch.full(v.shape, 0.01, dtype=v.dtype) if v.is_floating_point() else torch.zeros_like(v, device="cpu")
                  for k, v in net.state_dict().items()}}
        if {way!r} == "assign":
            net.load_state_dict(saved, assign=True)
        else:
            assert net.to_empty(device="cpu") is net
            net.load_state_dict(saved)
        assert all(type(p) is nn.Parameter and p.device.type == "cpu" and p.requires_grad for p in net.parameters())
        y = net.eval()(torch.ones(1, 3, 8, 8))
        assert torch.allclose(y, torch.full((1, 10), 0.01))
        y.sum().backward()
        assert nn.Linear(2, 2).to("meta").weight.is_meta
    """)
