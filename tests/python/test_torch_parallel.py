"""treadle.torch.nn.parallel: replicas on several devices of a process (the null device plays them), and two processes."""

import threading

import numpy as np
import pytest
import torch_parallel_side as side

import treadle as td
import treadle.torch as torch
from treadle.torch import nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.register_buffer("shift", torch.ones(2))

    def forward(self, x, scale=1.0, extra=None):
        return {"out": self.layer(x) * scale + self.shift, "size": (extra["n"] * 2,)}


def test_data_parallel_is_the_module():
    torch.manual_seed(0)
    alone = Pair()
    module = Pair()
    module.load_state_dict(alone.state_dict())
    parallel = nn.DataParallel(module.to("null:0"), device_ids=["null:0", "null:1"])
    x, n = torch.randn(5, 3), torch.arange(5.0)
    want = alone(x, scale=2.0, extra={"n": n})
    got = parallel(x.to("null:0"), scale=2.0, extra={"n": n.to("null:0")})
    assert str(got["out"].device) == "null:0"
    np.testing.assert_allclose(got["out"].detach().cpu().numpy(), want["out"].detach().numpy(), rtol=1e-6)
    assert got["size"][0].cpu().tolist() == want["size"][0].tolist()
    got["out"].sum().backward()
    want["out"].sum().backward()
    for p, q in zip(module.parameters(), alone.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.cpu().numpy(), q.grad.numpy(), rtol=1e-5)
    assert list(parallel.state_dict()) == ["module." + k for k in module.state_dict()]


def test_replicas_may_wait_for_each_other():
    """As synchronised batch norms in one process do: each has a thread then."""
    together = threading.Barrier(3, timeout=60)

    class Waits(nn.Module):
        def forward(self, x):
            together.wait()
            return x * 2

    x = torch.arange(6.0)
    got = nn.parallel.parallel_apply([Waits(), Waits(), Waits()], list(x.chunk(3)))
    assert torch.cat(got).tolist() == (x * 2).tolist()


def test_data_parallel_raises_what_a_replica_raises():
    class Fails(nn.Module):
        def forward(self, x):
            raise KeyError(str(x.device))

    with pytest.raises(KeyError, match="null:"):
        nn.DataParallel(Fails(), device_ids=["null:0", "null:1"])(torch.ones(4, 1))
    with pytest.raises(RuntimeError, match="device_ids"):
        nn.DataParallel(nn.Linear(1, 1), device_ids=["null:0", "null:1"])(torch.ones(4, 1))


def test_data_parallel_without_devices_is_the_module(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    layer = nn.Linear(2, 2)
    assert nn.DataParallel(layer)(torch.ones(1, 2)).tolist() == layer(torch.ones(1, 2)).tolist()


def reference(start, steps=4):
    """The same training on whole batches by NumPy."""
    w1, b1, w2, b2 = (p.astype("f8") for p in start)
    held = [0, 0, 0, 0]
    for step in range(steps):
        x, y = side.data(step)
        h = np.tanh(x @ w1.T + b1)
        g = 2 * (h @ w2.T + b2 - y) / y.size
        d = (g @ w2) * (1 - h * h)
        grads = [d.T @ x, d.sum(0), g.T @ h, g.sum(0)]
        held = [0.9 * m + g for m, g in zip(held, grads, strict=True)]
        w1, b1, w2, b2 = (p - 0.1 * m for p, m in zip((w1, b1, w2, b2), held, strict=True))
    return w1, b1, w2, b2


def test_two_processes_train_as_one():
    (count, start, first), (_, _, second) = td.distributed.spawn(side.train, 2, backend="local", devices="cpu", timeout=120)
    assert count > 1  # buckets
    for a, b, want in zip(first, second, reference(start), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, want, rtol=1e-4, atol=1e-5)


def test_unused_parameters_and_accumulation():
    first, second = td.distributed.spawn(side.odd, 2, backend="local", devices="cpu", timeout=120)
    for a, b in zip(first[0], second[0], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(first[0][1], [6, 8])  # the mean of 0 and the weights' sums
    assert not np.array_equal(first[1], second[1])
    assert "extra.weight, extra.bias" in first[2] and "find_unused_parameters" in first[2]
    np.testing.assert_array_equal(first[3], second[3])  # process 0's
