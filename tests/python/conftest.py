"""What the Python tests share: devices, dtypes, layouts, comparison with NumPy."""

import ctypes
import gc
import os
import pathlib
import sys
import time
import zlib

os.environ.setdefault("TREADLE_DEVICE", "cpu")

import numpy as np
import pytest
from hypothesis import settings

import treadle as td

settings.register_profile("treadle", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("treadle")

# The null devices' library, for what tests alone call. The build lays it beside the core; a wheel has none.
_NULL = pathlib.Path(td.__file__).parent / "libtreadle_null.so"
LIB = ctypes.CDLL(str(_NULL)) if _NULL.exists() else None

DEVICES = ["cpu"] + ["null"] * _NULL.exists() + [d.name for d in td.devices() if d.kind == "cuda"][:1]


@pytest.fixture(params=DEVICES)
def dev(request, monkeypatch):
    """Runs the test on every device; null interprets the kernels that a GPU would run. On the CPU small work of two tests
    in three is recorded and compiled, that of the third runs at once, as it does for users."""
    if zlib.crc32(request.node.nodeid.encode()) % 3:
        monkeypatch.setattr(td.config, "eager", 0)
    with td.device(request.param):
        yield request.param


@pytest.fixture(autouse=True)
def recorded(request, monkeypatch):
    """A test marked `recorded` counts kernels, or looks at what waits: nothing runs at once, here and in its processes."""
    if request.node.get_closest_marker("recorded"):
        monkeypatch.setattr(td.config, "eager", 0)
        monkeypatch.setenv("TREADLE_EAGER", "0")


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def _resident():
    """Bytes of this process in memory now."""
    with open("/proc/self/statm", encoding="utf-8") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def grown():
    """grown(body, most): the process has grown by less than most bytes when the body has run, or when it has run again: what
    other threads do comes and goes, what the body loses it loses each time. How often it ran."""

    def check(body, most):
        seen = []
        while len(seen) < 3 and (not seen or seen[-1] >= most):
            gc.collect()
            before = _resident()
            body()
            gc.collect()
            seen.append(_resident() - before)
        assert seen[-1] < most, seen
        return len(seen)

    return check


@pytest.fixture
def fault():
    """fault(call, n, code): the n-th call from now of the null device's driver function fails."""
    called = set()

    def fail(call, n, code):
        called.add(call)
        LIB.td_null_fail(call.encode(), n, code)

    yield fail
    for call in called:
        LIB.td_null_fail(call.encode(), 0, 0)
    td.device("null").synchronize()


@pytest.fixture(params=DEVICES)
def ctx(request):
    """A context of treadle.pycuda on every device; the thread is as before afterwards."""
    from treadle.pycuda import driver
    from treadle.pycuda._driver import _contexts

    context = driver.Device(request.param).make_context()
    yield context
    while context in _contexts._stack.contexts:
        driver.Context.pop()
    td.use(None)


_begun = {}  # a file of tests -> its generators, with the states that its import left


def pytest_runtest_setup(item):
    """What a test draws without a seed of its own is not a matter of the tests before it."""
    for generator, state in _begun[item.module]:
        generator.bit_generator.state = state
    np.random.seed(7)
    td.random.seed(7)
    if torch := sys.modules.get("treadle.torch"):
        torch.manual_seed(7)


def pytest_configure(config):
    config.treadle_begun = time.time()
    config.addinivalue_line("markers", "recorded: small work on a CPU is recorded, not run at once")
    config.addinivalue_line("markers", "last: runs behind all other tests, since it looks at what they have left")


def pytest_collection_modifyitems(items):
    for module in {item.module for item in items}:
        drawn = (g for g in vars(module).values() if isinstance(g, np.random.Generator))
        _begun[module] = [(g, g.bit_generator.state) for g in drawn]
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)
