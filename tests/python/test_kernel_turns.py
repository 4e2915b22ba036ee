"""Kernels whose threads cannot run in lanes: they take turns on the CPU, as they stand, and never wait for ever.

The null device's interpreter says what is right. Locks come first: where lanes go in step, they are never freed.
"""

import linecache
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from kernel_names import run

import treadle as td
from treadle import cuda

ENGINE = os.environ.get("TREADLE_KERNELS")
PACKAGE = str(pathlib.Path(td.__file__).resolve().parents[1])


@pytest.fixture(params=["cpu", "null"])
def dev(request):
    """Not on a GPU: some of these never end there, and others need memory to be volatile."""
    with td.device(request.param):
        yield request.param


# ---- loops that wait ----


def test_a_lock_by_compare_and_swap(dev):
    def kernel(lock, count):
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        count[0] = count[0] * 3 % 1000003 + 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)

    lock, count = run(kernel, 3, 70, np.zeros(1, np.int32), np.zeros(1, np.int64))
    want = 0
    for _ in range(210):
        want = want * 3 % 1000003 + 1
    assert lock[0] == 0 and count[0] == want


def test_a_lock_whose_holder_leaves_the_loop_by_a_variable(dev):
    def kernel(lock, count):
        mine = False
        while not mine:
            if cuda.atomic.exch(lock, 0, 1) == 0:
                mine = True
        count[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)

    assert run(kernel, 2, 64, np.zeros(1, np.int32), np.zeros(1, np.int64))[1][0] == 128


def test_tickets(dev):
    def kernel(ticket, order):
        mine = cuda.atomic.add(ticket, 0, 1)
        while cuda.atomic.add(ticket, 1, 0) != mine:
            pass
        order[mine] = mine + 1
        cuda.threadfence()
        cuda.atomic.add(ticket, 1, 1)

    order = run(kernel, 2, 50, np.zeros(2, np.int32), np.zeros(100, np.int32))[1]
    assert np.array_equal(order, np.arange(1, 101))


def test_a_flag_of_a_thread_that_comes_later(dev):
    def kernel(flag, data, out):
        i = cuda.threadIdx.x
        if i == cuda.blockDim.x - 1:
            data[cuda.blockIdx.x] = 7 + cuda.blockIdx.x
            cuda.threadfence()
            flag[cuda.blockIdx.x] = 1
        while flag[cuda.blockIdx.x] == 0:
            pass
        out[cuda.grid(1)] = data[cuda.blockIdx.x]

    out = run(kernel, 3, 70, np.zeros(3, np.int32), np.zeros(3, np.int32), np.zeros(210, np.int32))[2]
    assert np.array_equal(out, np.repeat([7, 8, 9], 70))


def test_warps_that_hand_on_in_a_row(dev):
    def kernel(turn, out):
        warp = cuda.threadIdx.x // 32
        while cuda.atomic.max(turn, 0, 0) != warp:
            pass
        cuda.syncwarp()
        out[cuda.threadIdx.x] = cuda.shfl_sync(0xFFFFFFFF, turn[0] * 100 + cuda.laneid, 5)
        cuda.syncwarp()
        if cuda.laneid == 0:
            cuda.atomic.add(turn, 0, 1)

    out = run(kernel, 1, 96, np.zeros(1, np.int32), np.zeros(96, np.int32))[1]
    assert np.array_equal(out, np.repeat([5, 105, 205], 32))


QUICK = {
    "sum": """
def kernel(s, x):
    old = s[0]
    while True:
        seen = old
        old = cuda.atomic.cas(s, 0, seen, seen + x[cuda.grid(1)])
        if old == seen:
            break
""",
    "probe": """
def kernel(s, x):
    h = x[cuda.grid(1)] * 7 % s.size
    while cuda.atomic.cas(s, h, 0, x[cuda.grid(1)]) != 0:
        h = (h + 1) % s.size
""",
    "queue": """
def kernel(s, x):
    while True:
        i = cuda.atomic.add(s, 0, 1)
        if i >= x.size:
            break
        x[i] += 1
""",
    "halving": """
def kernel(s, x):
    i = cuda.grid(1)
    while x[i] > 1:
        x[i] //= 2
""",
    "counting": """
def kernel(s, x):
    i = 0
    while i < x[0]:
        i += 1
    s[cuda.grid(1)] = i
""",
    "chase": """
def kernel(s, x):
    i = x[cuda.grid(1)]
    while i > 0:
        i = x[i - 1] - 1
    s[cuda.grid(1)] = i
""",
}
WAITING = {
    "lock": "while cuda.atomic.cas(s, 0, 0, 1) != 0: pass",
    "constant": "e = 0\n    while cuda.atomic.cas(s, 0, e, 1) != e: pass",
    "added": "while cuda.atomic.add(s, 0, 1) != 0: cuda.atomic.sub(s, 0, 1)",
    "flag": "while s[0] == 0: pass",
    "later": "v = s[0]\n    while v == 0: v = s[0]",
}


def why_in_turns(text, tmp_path):
    """What the pass says of a kernel; '' where it is widened."""
    path = tmp_path / "one.py"
    path.write_text("import numpy as np\nimport treadle as td\nfrom treadle import cuda\n" + text +
                    "\ncuda.jit('(int32[:], int32[:])')(kernel)\n")  # fmt: skip
    env = {**os.environ, "TREADLE_DEVICE": "cpu", "TREADLE_DUMP": "wide", "TREADLE_KERNELS": "",
           "PYTHONPATH": PACKAGE}  # fmt: skip
    done = subprocess.run([sys.executable, path], env=env, capture_output=True, text=True, timeout=120, check=True)
    found = [line for line in done.stderr.splitlines() if "take turns" in line]
    return found[0] if found else ""


@pytest.mark.parametrize("name", QUICK)
def test_loops_that_end_by_themselves_stay_in_lanes(name, tmp_path):
    assert why_in_turns(QUICK[name], tmp_path) == ""


@pytest.mark.parametrize("name", WAITING)
def test_loops_that_wait_are_found(name, tmp_path):
    text = f"def kernel(s, x):\n    {WAITING[name]}\n    x[cuda.grid(1)] = 1\n    cuda.atomic.exch(s, 0, 0)\n"
    assert "a loop waits for what another thread writes" in why_in_turns(text, tmp_path)


# ---- barriers and exchanges where threads have parted ----


@cuda.jit
def ends_early(a, b, n, every):
    i = cuda.grid(1)
    if i >= n or i % every == every - 1:
        return
    a[i] = i
    cuda.cg.this_grid().sync()
    b[i] = a[n - 1 - i] if (n - 1 - i) % every != every - 1 else -1
    cuda.cg.this_grid().sync()
    if b[i] > 3:
        a[i] = b[i]


@pytest.mark.parametrize("n, every", [(64, 100), (50, 100), (49, 2), (64, 5), (64, 2)])
def test_threads_that_have_ended_are_not_waited_for_by_the_grid(n, every, dev):
    a, b = np.zeros(64), np.zeros(64)
    ends_early[4, 16](cuda.InOut(a), cuda.InOut(b), n, every)
    i = np.arange(64)
    runs = (i < n) & (i % every != every - 1)
    met = np.where(runs[np.abs(n - 1 - i)], n - 1 - i, -1)
    np.testing.assert_array_equal(b, np.where(runs, met, 0))
    np.testing.assert_array_equal(a, np.where(runs, np.where(met > 3, met, i), 0))


@pytest.mark.parametrize("n", [48, 33, 1])
def test_blocks_whose_first_thread_has_ended(n):
    """On a GPU such a grid waits for ever."""
    with td.device("cpu"), pytest.raises(RuntimeError, match=r"first thread of block \(\d, 0, 0\) has ended"):
        ends_early[4, 16](np.zeros(64), np.zeros(64), n, 100)


def test_barriers_of_the_grid(dev):
    def kernel(a, b):
        tile = cuda.shared.array(50, np.int64)
        own = cuda.shared.array(0, np.int64)
        i = cuda.grid(1)
        tile[cuda.threadIdx.x] = i
        own[cuda.threadIdx.x] = 3 * i
        a[i] = i
        cuda.cg.this_grid().sync()
        b[i] = a[a.size - 1 - i] + tile[49 - cuda.threadIdx.x] + own[cuda.threadIdx.x]
        cuda.cg.this_grid().sync()
        a[i] = b[(i + 50) % a.size]

    a, b = np.zeros(200, np.int64), np.zeros(200, np.int64)
    cuda.jit(kernel)[4, 50, 0, 400](cuda.InOut(a), cuda.InOut(b))
    i = np.arange(200)
    want = 199 - i + i // 50 * 50 + 49 - i % 50 + 3 * i
    assert np.array_equal(b, want) and np.array_equal(a, np.roll(want, -50))


def test_exchanges_of_halves_and_of_those_who_are_there(dev):
    def kernel(out):
        i = cuda.threadIdx.x
        half = 0xFFFF if i < 16 else 0xFFFF0000
        out[0, i] = cuda.shfl_sync(half, i, (i & 16) + i * 3 % 16)
        out[1, i] = cuda.ballot_sync(half, i % 3 == 0)
        out[2, i] = cuda.match_any_sync(half, i % 5)
        if i % 2:
            out[3, i] = cuda.activemask()
        if i >= 20:
            return
        cuda.syncthreads()
        out[4, i] = cuda.syncthreads_count(i % 4 == 0)

    out = run(kernel, 1, 32, np.zeros((5, 32), np.int64))[0]
    i = np.arange(32)
    half = np.where(i < 16, 0xFFFF, 0xFFFF0000)

    def bits(mask):
        return int(sum(1 << int(k) for k in np.flatnonzero(mask)))

    assert np.array_equal(out[0], (i & 16) + i * 3 % 16)
    assert np.array_equal(out[1], bits(i % 3 == 0) & half)
    assert np.array_equal(out[2], [bits(i % 5 == k % 5) & int(half[k]) for k in i])
    assert np.array_equal(out[3], np.where(i % 2, 0xAAAAAAAA, 0))
    assert np.array_equal(out[4], np.where(i < 20, 5, 0))


def test_local_memory_beyond_the_stack(dev):
    def kernel(out):
        far = cuda.local.array(40000, np.int32)
        near = cuda.local.array(4, np.int32)
        i = cuda.threadIdx.x
        for k in range(40000):
            far[k] = k + i
        near[i % 4] = i
        m = 3 if i < 2 else 12
        out[i] = far[39999 - i] + cuda.shfl_sync(m, near[i % 4], i ^ 1)

    assert run(kernel, 1, 4, np.zeros(4, np.int64))[0].tolist() == [40000, 39999, 40002, 40001]


@pytest.mark.parametrize("says, text", [
    ("divergent barrier: thread .4, 0, 0. does not reach it: it waits at line",
     "if i < 4: cuda.syncthreads()\n    else: cuda.syncthreads()"),
    ("divergent barrier: thread .4, 0, 0. does not reach it: it has ended", "if i < 4: cuda.syncthreads()"),
    ("divergent shuffle: thread .4, 0, 0. does not reach it: it has ended",
     "if i < 4: a[i] = cuda.shfl_sync(0xffffffff, i, 3)"),
    ("divergent syncwarp: thread .1, 0, 0. does not reach it: it waits at line",
     "if i == 0: cuda.syncwarp(3)\n    else: cuda.syncthreads()"),
    ("thread 5 of the warp is not among the members 0x1f", "cuda.syncwarp(31)\n    a[i] = cuda.popc(31 if i else 30)"),
])  # fmt: skip
def test_those_who_wait_for_ever_are_named(dev, says, text):
    if dev == "cpu" and not ENGINE and ("shuffle" in says or "members" in says):
        pytest.skip("lanes do not notice who is missing")
    space = {"cuda": cuda}
    source = f"def kernel(a):\n    i = cuda.threadIdx.x\n    {text}\n    a[i] = 1\n"
    name = f"<turns {hash(text)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), space)
    kernel, a = cuda.jit(space["kernel"]), cuda.InOut(np.zeros(8, np.int32))
    with pytest.raises(RuntimeError, match=says):
        kernel[1, 8](a)
    with pytest.raises(RuntimeError, match="block .2,0,0.|block .0,0,0."):
        kernel[3, 8](a)
    assert run(lambda out: None, 1, 8, np.arange(3))[0].tolist() == [0, 1, 2]  # the device goes on


@pytest.mark.skipif(ENGINE == "interpret", reason="the interpreter says it in other words")
def test_what_is_recorded_is_refused():
    with td.device("cpu"):
        @cuda.jit
        def kernel(a):
            half = 0xFFFF if cuda.threadIdx.x < 16 else 0xFFFF0000
            a[cuda.threadIdx.x] = cuda.shfl_sync(half, cuda.threadIdx.x, 3 + (cuda.threadIdx.x & 16))

        a = td.zeros(32, dtype="int32")
        kernel[1, 32](a)
        assert np.array_equal(np.asarray(a), np.repeat([3, 19], 16))

        @td.graph
        def twice(x):
            y = x + 1
            kernel[1, 32](y)
            return y

        with pytest.raises(ValueError, match="whose threads take turns"):
            twice(td.zeros(32, dtype="int32"))


# ---- all of them ----


@pytest.mark.parametrize("engine", ["switch", "interpret"])
def test_every_kernel_by_the_other_engines(engine):
    """The CUDA names' tests on the CPU, with all kernels in turns, and all interpreted."""
    here = pathlib.Path(__file__).parent
    env = {**os.environ, "TREADLE_KERNELS": engine, "TREADLE_DEVICE": "cpu", "PYTHONPATH": PACKAGE}
    which = "cpu and not engines"
    if engine == "interpret":  # it raises where others write into what lies behind
        which += " and not writing_past"
    files = ["test_kernel_cuda.py", "test_kernel_turns.py", "test_kernel_atomics.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", which, *files],
        cwd=here, env=env, capture_output=True, text=True, timeout=600, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
