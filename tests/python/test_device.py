"""Devices, streams, events, memory, import, `python -m treadle info`."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from numpy_side import check

import treadle as td


def run(code, **env):
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, text=True, timeout=120, check=False
    )


def test_with_and_use():
    assert td.zeros(2).device == "cpu"
    with td.device("null") as d:
        assert td.zeros(2).device == "null" == d and d.kind == "null"
        with td.device("cpu"):
            assert td.zeros(2).device == "cpu"
        assert td.zeros(2).device == "null"
    assert td.zeros(2).device == "cpu"
    td.use("null")
    try:
        assert td.arange(3).device == "null"
    finally:
        td.use(None)
    assert td.arange(3).device == "cpu"
    with pytest.raises(RuntimeError), td.device("null"):
        raise RuntimeError
    assert td.arange(3).device == "cpu"


def test_device_objects():
    d = td.device("cpu")
    assert d == td.device("cpu") and d == "cpu" and d != "null" and hash(d) == hash(td.device("cpu"))
    assert d.units >= 1 and d.memory > 0 and d.model and d.arch and d.index == 0
    assert any(x == "cpu" for x in td.devices())


def test_default_is_a_threads_own():
    seen = []
    with td.device("null"):
        thread = threading.Thread(target=lambda: seen.append(td.zeros(1).device.name))
        thread.start()
        thread.join()
    assert seen == ["cpu"]


def test_between_devices(dev):
    a = td.asarray(np.arange(5.0), device="cpu")
    b = td.asarray(a, device=dev)
    assert b.device == dev
    check(b, np.arange(5.0))
    check(td.asarray(b, dtype="float32", device="cpu"), np.arange(5, dtype="float32"))
    check(b + np.ones(5), np.arange(5.0) + 1)
    check(b + [1, 2, 3, 4, 5], np.arange(5.0) + [1, 2, 3, 4, 5])


def test_streams_and_events(dev):
    s = td.Stream()
    start, end = td.Event(), td.Event()
    start.record(s)
    s.wait_event(start)
    end.record(s)
    s.synchronize()
    end.synchronize()
    assert start.done and end.done and start.elapsed(end) >= 0
    td.synchronize()
    td.synchronize(dev)


def test_memory(dev):
    before = td.memory.stats(dev)["used"]
    a = td.zeros(100_000, "float64")
    td.evaluate(a)
    assert td.memory.stats(dev)["used"] >= before + 800_000
    del a
    td.synchronize()
    stats = td.memory.stats(dev)
    assert stats["used"] <= before + 8192 and stats["peak"] >= 800_000
    td.memory.trim(dev)
    assert td.memory.stats(dev)["cached"] <= stats["cached"]


def test_evaluate():
    x = td.arange(10)
    y, z = x + 1, x * 2
    td.evaluate(y, z)
    td.evaluate()
    check(y, np.arange(10) + 1)
    with pytest.raises(TypeError):
        td.evaluate(3)


def test_import_is_light():
    code = (
        "import sys, treadle\n"
        "print('numpy' in sys.modules, any('libcuda.so' in l or 'treadle_jit' in l for l in open('/proc/self/maps')))"
    )
    assert run(code).stdout.split() == ["False", "False"]


def test_no_numpy_until_asked_for():
    code = (
        "import sys, treadle as td\n"
        "x = td.array([[1.0, 2.0], [3.0, 4.0]]) * 2 + td.arange(2)\n"
        "assert float(x.sum()) == 22 and x[1, 0].item() == 6 and x.shape == (2, 2)\n"
        "x[0] = 7; x += 1\n"
        "assert float(td.exp(x * 0).max()) == 1\n"
        "print('numpy' in sys.modules)\n"
    )
    r = run(code)
    assert r.stdout.split() == ["False"], r.stderr


def test_import_loads_few_modules():
    """What it costs is what it loads: four modules of its own, and of Python's those that a program has anyhow."""
    code = "import sys; had = set(sys.modules); import treadle; print(*sorted(set(sys.modules) - had))"
    new = run(code).stdout.split()
    ours = ["treadle", "treadle._core", "treadle._exchange", "treadle._exchange._watch"]
    assert [m for m in new if m.startswith("treadle")] == ours
    assert len(new) < 10, new


def test_one_interpreter():
    code = (
        "import treadle, sys\n"
        "try:\n    import _xxsubinterpreters as s\n"
        "except ImportError:\n    print('skip'); sys.exit()\n"
        "i = s.create()\n"
        "try:\n    s.run_string(i, 'import treadle')\n    print('loaded')\n"
        "except Exception as e:\n    print('ImportError' in str(e) or 'interpreter' in str(e))\n"
    )
    r = run(code)
    assert r.stdout.split()[0] in ("True", "skip"), r.stdout + r.stderr


@pytest.mark.parametrize("name", ["cpu", "null"])
def test_environment_chooses(name):
    assert run("import treadle as td; print(td.zeros(1).device)", TREADLE_DEVICE=name).stdout.strip() == name


def test_bad_environment():
    r = run("import treadle as td; td.zeros(1)", TREADLE_DEVICE="toaster")
    assert "toaster" in r.stderr and "Error" in r.stderr


def test_info():
    r = subprocess.run([sys.executable, "-m", "treadle", "info"], capture_output=True, text=True, timeout=120, check=False)
    assert r.returncode == 0, r.stderr
    for word in ("cpu", "cuda", "default", "compiler", "cache", "options"):
        assert word in r.stdout, r.stdout
    r = subprocess.run([sys.executable, "-m", "treadle", "--nonsense"], capture_output=True, text=True, timeout=120, check=False)
    assert r.returncode == 2 and "usage" in r.stderr


def test_config():
    assert td.config.device == os.environ["TREADLE_DEVICE"] and td.config.sync in (True, False)


def test_exit_with_work_in_flight():
    r = run("import treadle as td; x = td.ones(1000); y = [x + k for k in range(1000)]; g = (k for k in y); next(g)")
    assert r.returncode == 0 and not r.stderr


def test_with_leaves_the_thread_as_it_was():
    def run():
        with td.device("null"):
            pass
        try:
            td._core._choose_device("null:1")  # the default of all threads that have used none
            found.append(td.device().name)
        finally:
            td._core._choose_device(None)

    found = []
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == ["null:1"]
