"""Devices that run out, and driver calls that fail, in the middle of a map, a collective, a backward pass.

Each program is run with the first, second, … call of a driver's function failing: it says so or gets through; its inputs
are what they were, everything is freed, and the next run is right.
"""

import contextlib
import gc

import numpy as np
import pytest
from conftest import LIB

import treadle as td
import treadle.distributed as dist
import treadle.torch as torch
from treadle.executor import DeviceExecutor

CALLS = ["cuMemCreate", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuLaunchKernel"]
OUT_OF_MEMORY, LAUNCH_FAILED = 2, 719
KB = 1 << 10

X = np.arange(4.0)
W = np.linspace(-1, 1, 12).reshape(4, 3)


class Map:
    """A function of numbers, one of rows, and an executor's."""

    def __init__(self):
        self.x = td.asarray(X)

    def run(self):
        with DeviceExecutor() as pool:
            many = list(pool.map(lambda x: 2 * x + 1, X.tolist()))
        rows = td.map(lambda r: (r * r).sum(), td.asarray(W))
        return np.concatenate([td.map(lambda x: x * x + 1, self.x).get(), many, rows.get()])

    def intact(self):
        return np.array_equal(self.x.get(), X)


class Backward:
    def __init__(self):
        self.w = torch.tensor(W, requires_grad=True, device="null")
        self.x = torch.tensor(X, device="null")

    def run(self):
        self.w.grad = None
        loss = torch.tanh(self.x @ self.w).square().sum() + (self.w * self.w).mean()
        loss.backward()
        return np.append(self.w.grad.cpu().numpy(), loss.item())

    def intact(self):
        self.w.grad = None
        return np.array_equal(self.w.detach().cpu().numpy(), W) and np.array_equal(self.x.cpu().numpy(), X)


class Collectives:
    def __init__(self):
        self.group = dist.local_group(["null", "null:1"])
        self.x = [td.asarray(X + r, device=d) for r, d in enumerate(self.group.devices)]

    def run(self):
        total = self.group.all_reduce(self.x)
        parts = self.group.all_gather(self.x)
        return np.concatenate([a.get().ravel() for a in (*total, *parts)])

    def intact(self):
        return all(np.array_equal(a.get(), X + r) for r, a in enumerate(self.x))


@pytest.fixture(params=[Map, Backward, Collectives], ids=lambda c: c.__name__.lower())
def program(request):
    with td.device("null"):
        p = request.param()
        yield p
        if isinstance(p, Collectives):
            p.group.close()
    gc.collect()


def used(expected=0):
    """Bytes in use; where that is more than was expected, cycles are looked for first."""
    td.synchronize("null")
    if td.memory.stats("null")["used"] > expected:
        gc.collect()
        td.synchronize("null")
    return td.memory.stats("null")["used"]


@contextlib.contextmanager
def failing(call, k, code):
    LIB.td_null_fail(call.encode(), k, code)
    try:
        yield
    finally:
        LIB.td_null_fail(call.encode(), 0, 0)


@pytest.mark.parametrize("call", CALLS)
def test_calls_that_fail(program, call):
    want = program.run()
    assert program.intact()
    before = used()
    for k in range(1, 4):
        with failing(call, k, OUT_OF_MEMORY if call == "cuMemCreate" else LAUNCH_FAILED):
            try:
                np.testing.assert_allclose(program.run(), want)
            except (td.OutOfMemoryError, RuntimeError) as e:
                assert any(word in str(e) for word in (call, "out of memory", "group", "nccl")), e
                if isinstance(program, Collectives):
                    program.group.close()
                    program.group = dist.local_group(["null", "null:1"])
        assert program.intact()
        assert used(before) <= before, k
    np.testing.assert_allclose(program.run(), want)


@contextlib.contextmanager
def full():
    """The null device has a megabyte left, and then nothing."""
    spills = td.memory.spill(device="null")
    td.memory.spill(False, "null")
    td.memory.limit(used() + 1024 * KB, "null")
    hog = []
    try:
        for size in (64 * KB, 4 * KB, KB // 2):
            with contextlib.suppress(td.OutOfMemoryError):
                while True:
                    hog.append(td.empty(size, "uint8", device="null"))
        yield
    finally:
        hog.clear()
        td.memory.limit(None, "null")
        td.memory.spill(spills, "null")


def test_backward_runs_out():
    with td.device("null"):
        w = torch.tensor(np.ones((64, 32)), requires_grad=True, device="null")
        x = torch.tensor(np.ones((32, 64)), device="null")
        before = used()
        loss = (w @ x).square().sum()
        assert float(loss.detach()) == 64 * 64 * 32**2
        with full(), pytest.raises(td.OutOfMemoryError):
            loss.backward(retain_graph=True)
            w.grad.cpu().numpy()
        w.grad = None
        loss.backward()
        assert (w.grad.cpu().numpy() == 2 * 32 * 64).all()
        del loss
        w.grad = None
        assert used(before) <= before


def test_map_runs_out():
    with td.device("null"):
        x = td.arange(8.0 * KB)
        td.evaluate(x)
        before = used()
        with full(), pytest.raises(td.OutOfMemoryError):
            td.evaluate(td.map(lambda v: v * v, x))
        assert used(before) == before
        assert float(td.map(lambda v: v + 1, x)[-1]) == 8 * KB


def test_collective_runs_out():
    group = dist.local_group(["null", "null:1"])
    try:
        x = [td.arange(8.0 * KB, device=d) + r for r, d in enumerate(group.devices)]
        td.evaluate(*x)
        before = used()
        with full(), pytest.raises(td.OutOfMemoryError):
            group.all_reduce(x)
        assert used(before) == before
        assert np.array_equal(group.all_reduce(x)[1].get(), 2 * np.arange(8.0 * KB) + 1)
    finally:
        group.close()
