"""Ctrl-C in the middle of work: KeyboardInterrupt, everything freed, inputs intact, the next call works."""

import contextlib
import functools
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import treadle as td
from treadle import jit, prange, vectorize
from treadle.executor import DeviceExecutor


@contextlib.contextmanager
def interrupted(after):
    """The body, which has no end, is interrupted some seconds after its begin; again much later, should that have come to
    a place that cannot raise it."""
    over = threading.Event()

    def press():
        wait = after
        while not over.wait(wait):
            os.kill(os.getpid(), signal.SIGINT)
            wait = 10

    timer = threading.Thread(target=press)
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            yield
    finally:
        over.set()
        timer.join()


@pytest.fixture
def clean(dev):
    """What was used before is all that is used afterwards."""
    gc.collect()
    td.synchronize(dev)
    used = td.memory.stats(dev)["used"]
    yield dev
    gc.collect()
    assert td.memory.stats(dev)["used"] <= used


def endless(x):
    while True:
        y = td.sin(x) + 1
        z = (y @ y).sum() + y.max()
        td.evaluate(y, z)
        td.asnumpy(y[:4])


def test_between_launches(clean):
    x = td.reshape(td.arange(64.0), (8, 8))
    with interrupted(0.1):
        endless(x)
    assert td.asnumpy(x).ravel().tolist() == list(range(64))
    assert float((x + 1).sum()) == 64 * 65 / 2


def test_many_at_once(clean):
    """One call that evaluates very many arrays."""
    x = td.ones(1000)

    def work():
        while True:
            td.evaluate(*[td.sqrt(x * float(k)) for k in range(200)])

    with interrupted(0.1):
        work()
    assert float(td.sqrt(x * 4).sum()) == 2000


def test_while_arrays_move(clean):
    spills = td.memory.spill(device=clean)
    td.memory.trim(clean)
    td.memory.spill(True, clean)
    td.memory.limit(td.memory.stats(clean)["used"] + (6 << 20), clean)
    try:
        arrays = [td.full(1 << 16, float(k)) for k in range(24)]

        def work():
            while True:
                for k, a in enumerate(arrays):
                    arrays[k] = a + 0
                    td.evaluate(arrays[k])

        with interrupted(0.2):
            work()
        assert [float(a[5]) for a in arrays] == list(range(24))
        assert td.memory.stats(clean)["spilled"] > 0
        arrays.clear()
    finally:
        td.memory.limit(None, clean)
        td.memory.spill(spills, clean)
        td.memory.trim(clean)


def test_while_a_source_is_read(clean):
    class Slow:
        shape, dtype = (1 << 20,), np.dtype("float32")
        reads = 0

        def __getitem__(self, key):
            self.reads += 1
            if self.reads == 3:
                os.kill(os.getpid(), signal.SIGINT)
            return np.ones(1 << 20, "float32")[key]

    td.memory.trim(clean)
    td.memory.limit(td.memory.stats(clean)["used"] + (2 << 20), clean)
    try:
        source = Slow()
        with pytest.raises(KeyboardInterrupt):
            for _ in range(50):
                float(td.from_host(source).sum())
        assert float(td.from_host(source).sum()) == 1 << 20
    finally:
        td.memory.limit(None, clean)


# ---- compiled loops on the CPU ----


@contextlib.contextmanager
def rings(handler, after=0.3):
    """handler is called some seconds from now as a signal's, without any other thread."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@jit
def spins(a):
    while a > 0:
        a = a + 0
    return a


@jit
def searches(x):
    for i in range(1 << 60):
        if x[i % x.size] > 2:
            return i
    return -1


@jit
def runs_alone(n):
    s = 1.0
    for i in range(n):
        s = s * 1.0000001 + i
    return s


@jit
def runs_nested(n):
    s = 1.0
    for i in range(n):
        for j in range(i % 3, 20):
            s = s * 1.0000001 + j
    return s


@jit(parallel=True)
def runs_on_all_cores(x):
    for i in prange(x.size):
        a = x[i]
        while a >= 0:
            a = a * 1.0
        x[i] = a
    return x[0]


@jit
def descends(n):
    if n < 1:
        return spins(n + 2)
    return descends(n - 1) + descends(n - 2)


@vectorize
def spins_each(x):
    while x > 0:
        x = x + 0.0
    return x


ENDLESS = {
    "while": lambda: spins(1),
    "while-float": lambda: spins(1.5),
    "break": lambda: searches(np.ones(7)),
    "alone": lambda: runs_alone(10**15),
    "nested": lambda: runs_nested(10**15),
    "cores": lambda: runs_on_all_cores(np.ones(64)),
    "recursive": lambda: descends(4),
    "vectorize": lambda: spins_each(np.ones(20)),
    "nogil": lambda: jit(spins.py_func, nogil=True)(1),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_loop(name):
    with td.device("cpu"), rings(signal.default_int_handler):
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            ENDLESS[name]()
    assert time.monotonic() - began < 10  # it takes 0.02 s; compiling comes first
    assert spins(0) == 0 and searches(np.array([1.0, 3.0])) == 1 and descends(-5) == spins(-3)


def test_what_a_loop_has_written_stays():
    @jit
    def fill(out):
        i = 0
        while i >= 0:
            out[i % out.size] += 1
            i += 1
        return i

    out = np.zeros(1000, "int64")
    with td.device("cpu"), rings(signal.default_int_handler), pytest.raises(KeyboardInterrupt):
        fill(out)
    assert out.min() > 0 and out.max() - out.min() <= 1  # whole iterations


def test_a_handler_that_returns_changes_nothing():
    @jit
    def count(n):
        k = n * 0
        s = n * 0
        while k < n:
            s ^= k * k
            k += 1
        return s

    calls = []

    def handler(*_):
        calls.append(count(1000))

    want = {n: functools.reduce(lambda s, k: s ^ k * k, range(n), 0) for n in (1000, 100_000)}
    with td.device("cpu"):
        assert count(100_000) == want[100_000]
        alone = count(1_500_000_000)
        with rings(handler, 0.05):
            assert count(1_500_000_000) == alone
    assert calls == [want[1000]]


def test_map_that_is_interrupted():
    with DeviceExecutor("cpu") as ex:
        with rings(signal.default_int_handler), pytest.raises(KeyboardInterrupt):
            list(ex.map(spins.py_func, [1, 2, 3]))
        assert list(ex.map(spins.py_func, [0, -1])) == [0, -1]
    # the thread has ended: shutdown has waited for it


@pytest.mark.parametrize("n", [1, 500])
def test_process_ends_after_a_timeout(n, tmp_path):
    file = tmp_path / "endless.py"
    file.write_text(
        "from treadle.executor import DeviceExecutor\n"
        "def spins(a):\n    while a > 0:\n        a = a + 0\n    return a\n"
        "if __name__ == '__main__':\n"
        "    try:\n"
        f"        list(DeviceExecutor('cpu').map(spins, [1] * {n}, timeout=1))\n"
        "    except TimeoutError:\n        print('late')\n"
    )
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "late\n", "")
