"""One map on several devices: what comes back, and in which order."""

import itertools
import math
import random
import threading
import time

import numpy as np
import pytest
from conftest import DEVICES

import treadle as td
from treadle.executor import DeviceExecutor

SEVERAL = sorted({"cpu", "null", *DEVICES})


def affine(x):
    return 3 * x + 1


def ratio(a, b):
    return a / b


def slow(x):
    k = 0
    while k < 20000 + x % 7:
        k += 1
    return k + x


def test_as_python():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    draw = random.Random(seed)
    items = [draw.randrange(-(1 << 40), 1 << draw.choice([40, 40, 40, 62])) for _ in range(5000)]
    with DeviceExecutor(devices=SEVERAL) as ex:
        assert list(ex.map(affine, items)) == [affine(x) for x in items]
        assert list(ex.map(affine, [])) == []
        assert list(ex.map(affine, [7])) == [22]
        assert list(ex.map(ratio, range(3000), itertools.repeat(7))) == [x / 7 for x in range(3000)]


def test_all_take_part(monkeypatch):
    """Each device computes a part of what takes long."""
    from treadle.executor._mapper import Mapper

    used, run = set(), Mapper.run
    monkeypatch.setattr(Mapper, "run", lambda self, lo, hi: used.add(str(self.device)) or run(self, lo, hi))
    with DeviceExecutor(devices=["cpu", "null"]) as ex:
        assert list(ex.map(slow, range(4000))) == [20_000 + x % 7 + x for x in range(4000)]
    assert used == {str(td.device("cpu")), str(td.device("null"))}


@pytest.mark.parametrize("bad", [0, 1, 77, 2999])
def test_the_first_failure_counts(bad):
    """Results before the first failing item come first, whichever device met a later one earlier."""
    b = [1] * 3000
    b[bad] = b[-1] = 0
    with DeviceExecutor(devices=SEVERAL) as ex:
        results = ex.map(ratio, range(3000), b)
        assert [next(results) for _ in range(bad)] == [float(k) for k in range(bad)]
        with pytest.raises(ZeroDivisionError):
            next(results)


def test_one_array():
    with DeviceExecutor(devices=["null", "cpu"]) as ex:
        a = ex.map(affine, np.arange(100_000), as_array=True)
    assert str(a.device) == str(td.device("null")) and a.get().tolist() == (np.arange(100_000) * 3 + 1).tolist()


def test_arrays_lie_on_one_device():
    with DeviceExecutor(devices=["cpu", "null"]) as ex:
        found = list(ex.map(lambda m: m @ m, [td.ones((2, 2), device="cpu") * k for k in range(40)]))
    assert {str(m.device) for m in found} == {str(td.device("cpu"))} and found[3].get().tolist() == [[18, 18], [18, 18]]


def test_a_time_limit_and_leaving():
    """The iterator raises, and no device begins another slice."""
    with DeviceExecutor(devices=["cpu", "null"]) as ex:
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            list(ex.map(slow, range(10_000_000), timeout=0.5))
        assert time.monotonic() - began < 20
    assert not [t for t in threading.enumerate() if t.name == "treadle-map"]


def test_submit_takes_turns():
    with DeviceExecutor(devices=["cpu", "null"]) as ex:
        where = [ex.submit(lambda: str(td.device())) for _ in range(4)]
        assert [f.result() for f in where] == [str(td.device("cpu")), str(td.device("null"))] * 2


def test_what_python_must_run():
    with DeviceExecutor(devices=["cpu", "null"]) as ex, pytest.warns(td.PerformanceWarning):
        assert list(ex.map(lambda x: f"{x:3d}", range(5))) == [f"{x:3d}" for x in range(5)]


def test_every_device():
    with DeviceExecutor(devices="all") as ex:
        assert list(ex.map(math.floor, [1.5, -1.5])) == [1, -2]


@pytest.mark.parametrize(
    "keywords, error, said",
    [
        ({"devices": []}, ValueError, "at least one"),
        ({"devices": ["cpu", "cpu"]}, ValueError, "different"),
        ({"devices": ["cpu"], "device": "cpu"}, TypeError, "devices or device"),
        ({"devices": ["cpu"], "engine": object()}, TypeError, "devices or engine"),
        ({"devices": ["nowhere"]}, ValueError, "nowhere"),
    ],
)
def test_refusals(keywords, error, said):
    with pytest.raises(error, match=said):
        DeviceExecutor(**keywords)
