"""Leaving a program that uses treadle.pycuda at any point prints nothing and never aborts; autoinit's contexts."""

import os
import subprocess
import sys
import textwrap

import pytest

START = """
import atexit, gc, os, sys, threading
import numpy as np
import treadle.pycuda.driver as cuda
from treadle.pycuda import tools
"""

AUTO = "import treadle.pycuda.autoinit\n"

USE = """
x = np.arange(1000, dtype=np.float32)
memory, stream, event = cuda.to_device(x), cuda.Stream(), cuda.Event()
pinned = cuda.pagelocked_empty(1000, np.float32)
managed = cuda.managed_zeros(10, np.int32)
registered = cuda.register_host_memory(x)
texture = cuda.TextureReference()
cuda.matrix_to_texref(x.reshape(10, 100), texture, "C")
pool = tools.DeviceMemoryPool()
pooled, kept = pool.allocate(100), pool.allocate(100)
del kept
host_pool = tools.PageLockedMemoryPool()
host = host_pool.allocate(10, np.int32)
cuda.memcpy_htod_async(memory, pinned, stream)
event.record(stream)
"""

# name: (text after START, exit code)
ENDINGS = {
    "at its end": (AUTO + USE, 0),
    "context made and not popped": ("context = cuda.Device(0).make_context()\n" + USE, 0),
    "two contexts not popped": ("a = cuda.Device(0).make_context(); b = cuda.Device(0).make_context()\n" + USE, 0),
    "popped before objects go": ("context = cuda.Device(0).make_context()\n" + USE + "context.pop()\n", 0),
    "detached before objects go": (
        "context = cuda.Device(0).make_context()\n" + USE + "context.detach()\ngc.collect()\n",
        0,
    ),
    "autoinit's context popped": (AUTO + USE + "treadle.pycuda.autoinit.context.pop()\n", 0),
    "autoinit's context detached": (AUTO + USE + "treadle.pycuda.autoinit.context.detach()\n", 0),
    "one more pushed than popped": (AUTO + "cuda.Device(0).make_context()\n" + USE, 0),
    "both modules": (AUTO + "import treadle.pycuda.autoprimaryctx\n" + USE, 0),
    "no context at all": (USE, 0),
    "sys.exit": (AUTO + USE + "sys.exit(3)\n", 3),
    "sys.exit in a thread": (
        AUTO + USE + "def body():\n    c = cuda.Device(0).make_context(); m = cuda.mem_alloc(99); sys.exit(5)\n"
        "t = threading.Thread(target=body); t.start(); t.join()\n",
        0,
    ),
    "os._exit": (AUTO + USE + "os._exit(4)\n", 4),
    "os._exit in a thread": (
        AUTO + USE + "threading.Thread(target=lambda: os._exit(4)).start()\nimport time; time.sleep(30)\n",
        4,
    ),
    "a thread that still works": (
        AUTO + USE + "def body():\n    while True: cuda.to_device(x)\n"
        "threading.Thread(target=body, daemon=True).start()\nimport time; time.sleep(0.2)\n",
        0,
    ),
    "objects used in atexit": (AUTO + USE + "atexit.register(lambda: cuda.memcpy_dtoh(pinned, memory))\n", 0),
    "objects made in atexit": (AUTO + USE + "atexit.register(lambda: (cuda.mem_alloc(10), cuda.Stream()))\n", 0),
    "objects that only module globals hold": (
        AUTO + USE + "class End:\n    def __del__(self): self.m.free()\nend = End(); end.m = cuda.mem_alloc(10)\n",
        0,
    ),
    "a circle of objects": (
        AUTO + USE + "class Ring: pass\nr = Ring(); r.me = r; r.all = (memory, stream, event, texture, pooled, host)\n",
        0,
    ),
    "memory freed by hand": (
        AUTO
        + USE
        + "memory.free(); pinned.base.free(); managed.base.free(); registered.base.unregister(); pooled.free()\n",
        0,
    ),
    "a child that exits": (
        AUTO + USE + "pid = os.fork()\nif pid == 0: sys.exit(0)\nassert os.waitpid(pid, 0)[1] == 0\n",
        0,
    ),
}


def run(text, device, **env):
    return subprocess.run(
        [sys.executable, "-c", START + textwrap.dedent(text)],
        env={**os.environ, "TREADLE_DEVICE": device, **env},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("device", ["cpu", "null"])
@pytest.mark.parametrize("name", ENDINGS)
def test_leaving(name, device):
    text, code = ENDINGS[name]
    r = run(text, device)
    assert (r.returncode, r.stdout, r.stderr) == (code, "", "")


@pytest.mark.parametrize("device", ["cpu", "null"])
def test_an_exception_is_all_that_is_printed(device):
    r = run(AUTO + USE + "cuda.memcpy_htod(memory, np.zeros(2000))\n", device)
    assert (
        r.returncode == 1
        and r.stderr.startswith("Traceback")
        and r.stderr.rstrip().splitlines()[-1].startswith("treadle.LogicError: cuMemcpyHtoD(")
    )


CHECKS = {
    "autoinit": """
import treadle.pycuda.autoinit as auto
import treadle.pycuda as pycuda
assert auto.device == auto.context.get_device() == cuda.Device(0) and cuda.Context.get_current() is auto.context
assert isinstance(pycuda.VERSION, tuple) and pycuda.VERSION_TEXT and pycuda.VERSION_STATUS == ""
auto.context.synchronize()
auto.context.pop()
try:
    cuda.mem_alloc(4)
    raise SystemExit("memory without a context")
except cuda.LogicError:
    pass
""",
    "autoprimaryctx": """
import treadle.pycuda.autoprimaryctx as auto
assert cuda.Context.get_current() is auto.context and auto.device == cuda.Device(0)
""",
    "threads use autoinit's": """
import treadle.pycuda.autoinit
seen = []
t = threading.Thread(target=lambda: seen.append(cuda.mem_alloc(4).device.name))
t.start(); t.join()
assert seen == [cuda.Context.get_device()._device.name], seen
""",
    "default contexts": """
device = tools.get_default_device()
assert device == cuda.Device(0)
context = tools.make_default_context()
assert cuda.Context.get_current() is context
context.pop()
made = []
def mine(device):
    made.append(device)
    return device.make_context()
tools.make_default_context(mine).pop()
assert made == [cuda.Device(0)]
def never(device):
    raise cuda.LogicError("not this one")
try:
    tools.make_default_context(never)
    raise SystemExit("no context was made")
except cuda.RuntimeError as e:
    assert "not this one" in str(e)
fixture = tools.init_cuda_context_fixture()
next(fixture)
cuda.mem_alloc(4)
assert list(fixture) == []
""",
    "no exception class is lost": """
import treadle as td, pickle
for e in (cuda.LogicError("a"), cuda.MemoryError("b"), cuda.LaunchError("c"), cuda.CompileError("d")):
    again = pickle.loads(pickle.dumps(e))
    assert type(again) is type(e) and str(again) == str(e)
""",
}


@pytest.mark.parametrize("device", ["cpu", "null"])
@pytest.mark.parametrize("name", CHECKS)
def test_in_a_program_of_its_own(name, device):
    r = run(CHECKS[name], device)
    assert (r.returncode, r.stdout, r.stderr) == (0, "", "")


def test_the_device_that_is_named(tmp_path):
    assert run("assert tools.get_default_device(0) == cuda.Device(0)\n", "cpu", CUDA_DEVICE="0").returncode == 0
    r = run(AUTO, "cpu", CUDA_DEVICE="7")
    assert r.returncode == 1 and "CUDA_ERROR_INVALID_DEVICE" in r.stderr
    assert "ValueError" in run(AUTO, "cpu", CUDA_DEVICE="first").stderr
    (tmp_path / ".cuda_device").write_text("0\n")
    assert run(AUTO, "cpu", HOME=str(tmp_path)).returncode == 0


def test_a_gpu_that_is_asked_for_and_is_not_there():
    import treadle as td

    if any(d.kind == "cuda" for d in td.devices()):
        pytest.skip("there is a GPU")
    r = run(AUTO, "cuda")
    assert r.returncode == 1 and "cuInit failed" in r.stderr
