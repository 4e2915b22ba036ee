"""Ctrl-C in the middle of work: KeyboardInterrupt, everything freed, inputs intact, the next call works."""

import contextlib
import gc
import os
import signal
import threading

import numpy as np
import pytest

import treadle as td


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
