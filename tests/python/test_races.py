"""Threads over shared arrays: random programs, each of which gives what it gives alone.

The core's own interleavings are drawn by tests/null/t_races.c; here Python's objects take part: tensors and their gradients,
graphs, executors, sources on the host, other libraries' views. TREADLE_STRESS=seconds tries further seeds.
"""

import os
import sys
import threading
import time

import numpy as np
import pytest

import treadle as td
import treadle.torch as torch
from treadle.executor import DeviceExecutor

THREADS, STEPS = 4, 14


def square(x):
    return x * x + 1


def step_elementwise(p):
    x, y, _ = p.pick()
    p.put((x * 3 + y) ^ p.shared[p.draw(len(p.shared))])


def step_rows(p):
    x, y, _ = p.pick()
    p.put(x - (x * y).sum(axis=p.draw(2), keepdims=True))


def step_write(p):
    x, _, i = p.pick()
    t = p.own[i] = p.own[i].copy()
    k = p.draw(6)
    t[k : k + 2] = x[5 - k : 7 - k] + k
    t[:, ::3] += x[:, ::3]


def step_pick(p):
    x, y, i = p.pick()
    at = y[:, 0] & 7
    p.put(td.where(x > 0, x[at], y))
    t = p.own[i] = p.own[i].copy()
    t[at] = 5
    np.add.at(t, at, 2)


def step_order(p):
    x, y, _ = p.pick()
    p.put(np.sort(x, axis=1) + np.cumsum(y, axis=0))
    p.say(x[x > y].get())


def step_product(p):
    x, y, _ = p.pick()
    p.say(((x & 15).astype("float64") @ (y & 15).astype("float64").T).get())


def step_lend(p):
    x, _, _ = p.pick()
    p.put(td.from_dlpack(x.T))


def step_graph(p):
    x, y, _ = p.pick()
    fixed = p.shared[0]
    f = td.graph(lambda a: a * 2 + fixed)
    p.put(f(x) - f(y))


def step_host(p):
    x, _, _ = p.pick()
    h = td.from_host(p.rng.integers(0, 9, (8, 8)))
    p.put(td.asarray(td.stream(lambda a: a * 3 + 1, h, chunk=3)) if p.draw(2) else h + x)


def step_tensor(p):
    x, _, _ = p.pick()
    a = torch.tensor((x & 7).astype("float64").get(), requires_grad=True)
    b = p.tensor
    (a * a @ b).sum().backward()
    p.say(a.grad.numpy())


def step_map(p):
    with DeviceExecutor() as ex:
        p.say(np.array(list(ex.map(square, range(p.draw(50))))))


def step_look(p):
    x, _, _ = p.pick()
    p.say(x.get())


STEPS_OF = [v for k, v in sorted(globals().items()) if k.startswith("step_")]


class Program:
    """A program of a seed: its own arrays, those that all programs read, and what it has seen."""

    def __init__(self, seed, shared, tensor):
        self.rng = np.random.default_rng(seed)
        self.shared, self.tensor, self.seen = shared, tensor, []
        self.own = [td.asarray(self.rng.integers(-50, 50, (8, 8))) for _ in range(4)]

    def draw(self, n):
        return int(self.rng.integers(n))

    def pick(self):
        i = self.draw(4)
        return self.own[self.draw(4)], self.own[self.draw(4)] if self.draw(3) else self.shared[self.draw(len(self.shared))], i

    def put(self, value):
        self.own[self.draw(4)] = value

    def say(self, value):
        self.seen.append(np.array(value))

    def run(self):
        for _ in range(STEPS):
            STEPS_OF[self.draw(len(STEPS_OF))](self)
        for x in self.own:
            self.say(x.get())
        return self.seen


def shared_arrays():
    """Pending, and met by all at once."""
    x = td.arange(64).reshape(8, 8)
    tensor = torch.tensor(np.arange(64.0).reshape(8, 8)) * 2
    return [x * 5 + k - (x % 7).sum(axis=1, keepdims=True) for k in range(3)], tensor


def differences(seed):
    shared, tensor = shared_arrays()
    programs = [Program(THREADS * seed + k, shared, tensor) for k in range(THREADS)]
    failed, device = [], td.device().name

    def work(p):
        try:
            with td.device(device):
                p.run()
        except Exception as e:  # noqa: BLE001  whatever it is, the test tells of it
            failed.append(repr(e))

    threads = [threading.Thread(target=work, args=(p,)) for p in programs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k, p in enumerate(programs):
        alone = Program(THREADS * seed + k, *shared_arrays()).run()
        if len(alone) != len(p.seen) or any(not np.array_equal(a, b) for a, b in zip(alone, p.seen, strict=True)):
            failed.append(f"seed {seed}, thread {k}")
    return failed


@pytest.fixture
def restless():
    """Python changes threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_give_what_each_gives_alone(dev, restless):
    for seed in range(2):
        assert differences(seed) == []
    end = time.monotonic() + float(os.environ.get("TREADLE_STRESS", 0))
    seed = 1000
    while time.monotonic() < end:
        assert differences(seed) == []
        seed += 1
