"""treadle.debug: kernels that are wrong and what is said of each, breakpoints, prints; on every device that interprets."""

import io
import linecache
import subprocess
import sys
import textwrap
from bdb import BdbQuit

import numpy as np
import pytest

import treadle as td
from treadle import cuda

# Devices whose kernels the interpreter runs.
interpreted = pytest.mark.parametrize("where", ["cpu", "null"])


def function(text, file="wrong.py", **names):
    """The last function of a text, as if it stood in that file from line 1 on."""
    text = textwrap.dedent(text).lstrip("\n")
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np, "cuda": cuda, "td": td, **names}
    exec(compile(text, file, "exec"), space)
    return [f for f in space.values() if getattr(f, "__code__", None) and f.__code__.co_filename == file][-1]


PAIR = np.dtype([("n", np.int32), ("v", np.float32, (3,))], align=True)
HELPER = function("def second(a, i):\n    return a[i + 8]\n", "helper.py")


def floats(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


# name: text, (grid, block), arguments, error, message. What stands in [] is where it happened.
WRONG = {
    "index": (
        """
        def k(a):
            i = cuda.grid(1)
            a[i + 1] = i
        """,
        (2, 4),
        [floats(8)],
        IndexError,
        "index 8 is out of bounds for axis 0 of 'a' with shape (8,) "
        "[kernel k, block (1, 0, 0), thread (3, 0, 0), wrong.py:3]",
    ),
    "an index that overflows before a remainder": (
        """
        def k(a):
            i = cuda.threadIdx.x
            w = np.int32(70000) * np.int32(i + 40000)
            a[w % 7] = i
        """,
        (1, 1),
        [floats(8)],
        OverflowError,
        "the index overflows: its product at line 3 does not fit int32 [kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:4]",
    ),
    "a shuffle from a lane that it does not name": (
        """
        def k(a):
            i = cuda.threadIdx.x
            if i < 16:
                a[i] = cuda.shfl_sync(0xFFFF, a[i], i + 4)
        """,
        (1, 32),
        [floats(32)],
        RuntimeError,
        "the shuffle reads lane 16, which is not among its members 0xffff: what it gets is not defined "
        "[kernel k, block (0, 0, 0), thread (12, 0, 0), wrong.py:4]",
    ),
    "negative index": (
        """
        def k(a):
            a[0] = a[-9, 1]
        """,
        (1, 1),
        [floats(8, 2)],
        IndexError,
        "index -9 is out of bounds for axis 0 of 'a' with shape (8, 2) "
        "[kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:2]",
    ),
    "index of a row": (
        """
        def k(a, out):
            row = a[cuda.threadIdx.x]
            if row.shape[0] > 5:
                row = a[0]
            out[0] = row[1]
        """,
        (1, 1),
        [floats(0, 2), floats(1)],
        IndexError,
        "index 0 is out of bounds for axis 0 of 'a' with shape (0, 2) "
        "[kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:2]",
    ),
    "index of a slice": (
        """
        def k(a):
            b = a[2:6]
            b[cuda.threadIdx.x] = 1
        """,
        (1, 5),
        [floats(8)],
        IndexError,
        "index 4 is out of bounds for axis 0 of 'a' with shape (4,) "
        "[kernel k, block (0, 0, 0), thread (4, 0, 0), wrong.py:3]",
    ),
    "index of a tuple": (
        """
        def k(a):
            t = (1, 2, 3)
            a[0] = t[cuda.threadIdx.x + 3]
        """,
        (1, 1),
        [floats(8)],
        IndexError,
        "index 3 is out of bounds for axis 0 with size 3 [kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:3]",
    ),
    "index of an atomic operation": (
        """
        def k(a):
            cuda.atomic.add(a, cuda.grid(1), 1)
        """,
        (1, 9),
        [floats(8)],
        IndexError,
        "index 8 is out of bounds for axis 0 of 'a' with shape (8,) "
        "[kernel k, block (0, 0, 0), thread (8, 0, 0), wrong.py:2]",
    ),
    "index of a record": (
        """
        def k(a):
            a[4].n = 1
        """,
        (1, 1),
        [np.zeros(4, PAIR)],
        IndexError,
        "index 4 is out of bounds for axis 0 of 'a' with shape (4,) "
        "[kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:2]",
    ),
    "index of a record's field": (
        """
        def k(a):
            for i in range(4):
                a[1].v[i] = i
        """,
        (1, 1),
        [np.zeros(4, PAIR)],
        IndexError,
        "index 3 is out of bounds for axis 0 of 'v' with shape (3,) "
        "[kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:3]",
    ),
    "index in a function of another file": (
        """
        def k(a):
            a[0] = second(a, 1)
        """,
        (1, 1),
        [floats(8)],
        IndexError,
        "index 9 is out of bounds for axis 0 of 'a' with shape (8,) "
        "[kernel k, block (0, 0, 0), thread (0, 0, 0), helper.py:2]",
    ),
    "index of a shared array": (
        """
        def k(a):
            s = cuda.shared.array((2, 4), np.float32)
            s[cuda.threadIdx.x, 0] = 1
        """,
        (1, 3),
        [floats(8)],
        IndexError,
        "index 2 is out of bounds for axis 0 of 's' with shape (2, 4) "
        "[kernel k, block (0, 0, 0), thread (2, 0, 0), wrong.py:3]",
    ),
    "two threads write": (
        """
        def k(a, out):
            i = cuda.grid(1)
            out[0] = a[i]
        """,
        (1, 4),
        [floats(8) + 1, floats(2)],
        RuntimeError,
        "data race on element 0 of 'out': it is written here, and written by thread (0, 0, 0) at line 3, with no barrier "
        "between [kernel k, block (0, 0, 0), thread (1, 0, 0), wrong.py:3]",
    ),
    "two blocks write": (
        """
        def k(a):
            if cuda.threadIdx.x == 0:
                a[1, 2] += 1
        """,
        (2, 4),
        [floats(2, 4)],
        RuntimeError,
        "data race on element (1, 2) of 'a': it is read here, and written by block (0, 0, 0), thread (0, 0, 0) at line 3, "
        "with no barrier of the grid between [kernel k, block (1, 0, 0), thread (0, 0, 0), wrong.py:3]",
    ),
    "a neighbour is read": (
        """
        def k(a):
            i = cuda.grid(1)
            x = a[(i + 1) % 8]
            a[i] = x
        """,
        (1, 8),
        [floats(8)[::-1]],
        RuntimeError,
        "data race on element 1 of 'a': it is written here, and read by thread (0, 0, 0) at line 3, with no barrier between "
        "[kernel k, block (0, 0, 0), thread (1, 0, 0), wrong.py:4]",
    ),
    "a race between two functions": (
        """
        def k(a):
            i = cuda.grid(1)
            if i == 1:
                a[8] = 5
            cuda.syncwarp()
            if i == 40:
                a[0] = second(a, 0)
        """,
        (1, 64),
        [floats(64)],
        RuntimeError,
        "data race on element 8 of 'a': it is read here, and written by thread (1, 0, 0) at wrong.py:4, with no barrier "
        "between [kernel k, block (0, 0, 0), thread (40, 0, 0), helper.py:2]",
    ),
    "a barrier is missing": (
        """
        def k(a):
            s = cuda.shared.array(8, np.float32)
            i = cuda.threadIdx.x
            s[i] = a[i]
            cuda.syncthreads()
            s[7 - i] = s[i] + 1
            a[i] = s[i]
        """,
        (1, 8),
        [floats(8)],
        RuntimeError,
        "data race on element 4 of 's': it is read here, and written by thread (3, 0, 0) at line 6, with no barrier between "
        "[kernel k, block (0, 0, 0), thread (4, 0, 0), wrong.py:6]",
    ),
    "shared memory that nobody has written": (
        """
        def k(a):
            s = cuda.shared.array(8, np.float32)
            i = cuda.threadIdx.x
            if i != 3:
                s[i] = a[i]
            cuda.syncthreads()
            a[i] = s[i]
        """,
        (1, 8),
        [floats(8)],
        RuntimeError,
        "element 3 of 's' is read, and nobody has written it: shared memory is not initialised, or a barrier is missing "
        "behind the write [kernel k, block (0, 0, 0), thread (3, 0, 0), wrong.py:7]",
    ),
    "dynamic shared memory that nobody has written": (
        """
        def k(a):
            x = cuda.shared.dynamic("x", 4, np.float32)
            y = cuda.shared.dynamic("y", 4, np.float64)
            x[0] = 1
            a[0] = y[1]
        """,
        (1, 1, 0, 64),
        [floats(8)],
        RuntimeError,
        "element 1 of 'y' is read, and nobody has written it: shared memory is not initialised, or a barrier is missing "
        "behind the write [kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:5]",
    ),
    "local memory that nobody has written": (
        """
        def k(a):
            mine = cuda.local.array((2, 2), np.float64)
            mine[0, 0] = 1
            a[0] = mine[0, 0] + mine[1, 0]
        """,
        (1, 1),
        [floats(8)],
        RuntimeError,
        "element 2 of 'mine' is read, and nobody has written it: local memory is not initialised "
        "[kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:4]",
    ),
    "a barrier of some": (
        """
        def k(a):
            i = cuda.threadIdx.x
            if i < 4:
                cuda.syncthreads()
            a[i] = i
            cuda.syncthreads()
        """,
        (1, 8),
        [floats(8)],
        RuntimeError,
        "divergent barrier: thread (4, 0, 0) does not reach it: it waits at line 6 "
        "[kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:4]",
    ),
    "a barrier that some have left": (
        """
        def k(a):
            i = cuda.threadIdx.x
            if i >= 6:
                return
            cuda.syncthreads()
            a[i] = i
        """,
        (1, 8),
        [floats(8)],
        RuntimeError,
        "divergent barrier: thread (6, 0, 0) does not reach it: it has ended "
        "[kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:5]",
    ),
    "an index overflows int32": (
        """
        def k(a):
            i = np.int32(cuda.threadIdx.x)
            at = i * np.int32(1_500_000_000)
            a[at] = 1
        """,
        (1, 8),
        [floats(8)],
        OverflowError,
        "the index overflows: its product at line 3 does not fit int32 "
        "[kernel k, block (0, 0, 0), thread (2, 0, 0), wrong.py:4]",
    ),
    "an index overflows int64": (
        """
        def k(a, n):
            at = 0
            for i in range(3):
                at = at + n
            a[at] = 1
        """,
        (1, 1),
        [floats(8), 2**62],
        OverflowError,
        "the index overflows: its sum at line 4 does not fit int64 "
        "[kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:5]",
    ),
    "an exception of its own": (
        """
        def k(a):
            if a[cuda.grid(1)] > 3:
                raise KeyError("too large")
        """,
        (1, 8),
        [floats(8)],
        KeyError,
        "'too large [kernel k, block (0, 0, 0), thread (4, 0, 0), wrong.py:3]'",
    ),
}
def arguments(args):
    return [td.asarray(a) if isinstance(a, np.ndarray) and not a.dtype.names else a for a in args]


@interpreted
@pytest.mark.parametrize("name", WRONG)
def test_what_is_said(where, name):
    text, config, args, error, message = WRONG[name]
    with td.device(where), pytest.warns(td.PerformanceWarning) if where == "null" and any(
        getattr(getattr(a, "dtype", None), "names", None) for a in args
    ) else td.debug(on=False):
        k = cuda.jit(function(text, second=HELPER))
        with td.debug(), pytest.raises(error) as e:
            k[config](*arguments(args))
        assert str(e.value) == message
        x = td.arange(4)
        assert (x + 1).get().tolist() == [1, 2, 3, 4]  # the device goes on
        with td.debug():
            cuda.jit(function("def ok(a):\n    a[cuda.grid(1)] = 1\n"))[1, 4](y := td.zeros(4))
        assert y.get().tolist() == [1] * 4


def test_index_errors_on_every_device(dev):
    """Without an interpreter too: checks are compiled in."""
    cases = [name for name in WRONG if WRONG[name][3] is IndexError and not np.asarray(WRONG[name][2][0]).dtype.names]
    assert len(cases) > 6
    for name in cases:
        text, config, args, error, message = WRONG[name]
        k = cuda.jit(function(text, second=HELPER), debug=True)
        with pytest.raises(error) as e:
            k[config](*arguments(args))
            td.synchronize()
        assert str(e.value) == message
        assert (td.arange(4) + 1).get().tolist() == [1, 2, 3, 4]


RIGHT = {
    "neighbours behind a barrier": """
        def k(a):
            s = cuda.shared.array(32, np.float32)
            i = cuda.threadIdx.x
            s[i] = a[i]
            cuda.syncthreads()
            a[i] = s[31 - i]
        """,
    "a reduction by warps": """
        def k(a):
            v = a[cuda.threadIdx.x]
            for step in (16, 8, 4, 2, 1):
                v += cuda.shfl_xor_sync(0xffffffff, v, step)
            a[cuda.threadIdx.x] = v
        """,
    "atomics": """
        def k(a):
            cuda.atomic.add(a, 0, 1)
            cuda.atomic.max(a, 1, cuda.threadIdx.x)
        """,
    "a flag that all raise": """
        def k(a):
            a[3] = 1
        """,
    "a sum of half a warp": """
        def k(a):
            i = cuda.threadIdx.x
            x = a[i]
            if i < 16:
                for d in (8, 4, 2, 1):
                    x += cuda.shfl_down_sync(0xFFFF, x, d)
                    x += cuda.shfl_up_sync(0xFFFF, x, d)
            if i == 0:
                a[0] = x
        """,
    "a remainder of a power of two": """
        def k(a):
            w = np.int32(70000) * np.int32(a[cuda.threadIdx.x] + 40000)
            if a[w % 32] < 0:
                a[0] = 1
        """,
    "a hash that wraps": """
        def k(a):
            h = np.int32(cuda.threadIdx.x)
            for i in range(4):
                h = h * np.int32(1103515245) + np.int32(12345)
            a[(h & 31)] = a[(h & 31)]
        """,
}


@interpreted
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right(where, name):
    """Nothing is found, and the results are those of the kernel as it runs otherwise."""
    with td.device(where):
        k = cuda.jit(function(RIGHT[name]))
        x, y = td.asarray(floats(32)), td.asarray(floats(32))
        with td.debug():
            k[1, 32](x)
        k[1, 32](y)
        assert np.array_equal(x.get(), y.get())


FRESH = {
    "a load": "a[i] * 2",
    "an atomic operation": "cuda.atomic.add(a, i, 1)",
    "an element of a row": "a[i:][0]",
}


@interpreted
@pytest.mark.parametrize("dtype", ["int32", "uint64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("how", FRESH)
def test_new_arrays_have_no_values(where, how, dtype):
    """Those of device_array, empty and their like; once something is written there they have."""
    if "atomic" in how and dtype == "complex128":
        return
    k = cuda.jit(function(f"def k(a, out):\n    i = cuda.grid(1)\n    out[i] = {FRESH[how]}\n"))
    with td.device(where), td.debug():
        out = td.zeros(4, dtype)
        for make in (cuda.device_array, td.empty, lambda n, dt: td.empty_like(td.zeros(n, dtype=dt))):
            a = make(4, dtype)
            with pytest.raises(RuntimeError, match="^element 0 of 'a' is read, and nobody has written it: .* wrong.py:3]$"):
                k[1, 4](a, out)
            a[:] = 1
            k[1, 4](a, out)
            assert a.tolist() == ([2] * 4 if "atomic" in how else [1] * 4)


@interpreted
def test_nan_made_in_a_kernel(where):
    """What errstate asks for is looked for in kernels, too, where it is stored; a NaN that was read is not told."""
    text = """
        def k(a, out, way):
            i = cuda.grid(1)
            x = np.sqrt(a[i])
            if way == 1:
                x = x if a[i] >= 0 else np.float32(0)
            elif way == 2:
                x = np.log(np.float32(0) * a[i])
            elif way == 3:
                x = np.exp(a[i] * a[i] * np.float32(1000))
            out[i] = x
        """
    k = cuda.jit(function(text))
    said = {
        (0, "invalid"): "invalid value encountered in sqrt [kernel k, block (0, 0, 0), thread (1, 0, 0), wrong.py:3]",
        (2, "divide"): "divide by zero encountered in log [kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:7]",
        (3, "over"): "overflow encountered in exp [kernel k, block (0, 0, 0), thread (0, 0, 0), wrong.py:9]",
    }
    with td.device(where), td.debug():
        a, out = td.asarray(np.array([4, -4, np.nan], np.float32)), td.zeros(3, np.float32)
        for way in range(4):
            for kind in ("invalid", "divide", "over"):
                with td.errstate(**{kind: "raise"}):
                    if (way, kind) in said:
                        with pytest.raises(FloatingPointError) as e:
                            k[1, 3](a, out, way)
                        assert str(e.value) == said[way, kind]
                    elif (way, kind) != (2, "invalid"):
                        k[1, 3](a, out, way)
        with td.errstate(invalid="warn"), pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"):
            k[1, 3](a, out, 0)
        assert np.array_equal(out.get(), np.array([2, np.nan, np.nan], np.float32), equal_nan=True)


@interpreted
def test_a_grid_that_is_too_small(where, recwarn):
    text = """
        def k(a, out, step):
            i = cuda.grid(1)
            if i < a.size:
                out[i * step] = a[i]
        """
    k = cuda.jit(function(text))
    with td.device(where), td.debug():
        a, out = td.zeros(100), td.zeros(100)
        for grid, step in ((4, 1), (1, 2)):
            k[grid, 32](a, out, step)
        assert not [w for w in recwarn if w.category is RuntimeWarning]
        with pytest.warns(RuntimeWarning, match="kernel k: its 64 threads wrote the first elements of 'out', which has 100"):
            k[2, 32](a, out, 1)


LOCK = """
        def k(a):
            while cuda.atomic.cas(a, 1, 0, 1) != 0:
                pass
            cuda.threadfence()
            a[0] = a[0] + 1
            cuda.threadfence()
            cuda.atomic.exch(a, 1, 0)
        """


@interpreted
def test_a_lock_orders(where):
    """Lanes of a compiled kernel could not wait for each other."""
    with td.device(where), td.debug():
        a = td.zeros(4)
        cuda.jit(function(LOCK))[2, 32](a)
        assert a.get().tolist() == [64, 0, 0, 0]


def test_contexts_nest(dev):
    @cuda.jit
    def k(a):
        a[5] = 1

    def wrong():
        k[1, 1](a)
        td.synchronize()

    if dev.startswith("cuda"):
        pytest.skip("a GPU has memory behind the array")
    a = td.zeros(8)[:4]
    with td.debug():
        with td.debug(on=False):
            wrong()
        with pytest.raises(IndexError):
            wrong()
    wrong()
    assert len(k.signatures) == 1


def test_the_thread_is_checked():
    for wrong in ((-1, 0), (0, (1, 2, 3, 4)), (0, 1.5)):
        with pytest.raises((ValueError, TypeError)):
            td.debug(thread=wrong)


def test_programs_under_the_environments_word(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import treadle as td\nfrom treadle import cuda\n"
        "@cuda.jit\ndef k(a):\n    a[cuda.grid(1)] = 1\n    breakpoint()\n"
        "k[1, 4](td.zeros(3))\n"
    )
    for value, found in (("1", "IndexError: index 3 is out of bounds"), ("0", "")):
        env = {"TREADLE_DEBUG": value, "PYTHONPATH": ":".join(sys.path), "TREADLE_DEVICE": "cpu", "PYTHONBREAKPOINT": "0"}
        done = subprocess.run([sys.executable, str(program)], env=env, capture_output=True, text=True)
        assert found in done.stderr and (done.returncode != 0) == bool(found), done.stderr


# ---- breakpoints ----

STOPS = """
def inner(t):
    u = t + 0.5
    breakpoint()
    return u

def k(a, n, flag):
    i = cuda.grid(1)
    s = cuda.shared.array((2, 4), np.int32)
    s[0, cuda.threadIdx.x] = i
    x = a[i] * 2
    both = (x, n, None)
    row = a[1:3]
    for j in range(2):
        y = inner(j)
        breakpoint()
    a[i] = x + SCALE
"""


def session(monkeypatch, capsys, commands, where, thread=None):
    """What pdb answers to the commands, and what the launch comes to."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(c + "\n" for c in commands)))
    k = cuda.jit(function(STOPS, "<stops>", SCALE=10))
    with td.device(where), td.debug(thread=thread):
        a = td.asarray(floats(8))
        capsys.readouterr()
        try:
            k[2, 4](a, 3 - 1j, True)
        except BdbQuit:
            a = None
    return [line.removeprefix("(Pdb) ") for line in capsys.readouterr().out.splitlines()], a


@interpreted
def test_a_breakpoint_shows_the_variables(where, monkeypatch, capsys):
    asked = ["p u, t", "c", "p i, n, flag, j, y", "p both", "p a.shape, row", "p int(s[0, 2]), SCALE", "l", "c", "c", "c"]
    out, a = session(monkeypatch, capsys, asked, where, thread=(1, 2))
    assert out[:3] == ["inner: block (1, 0, 0), thread (2, 0, 0)", "> <stops>(3)inner()", "-> breakpoint()"]
    assert out[3] == "(0.5, 0)"
    assert out[4:7] == ["k: block (1, 0, 0), thread (2, 0, 0)", "> <stops>(15)k()", "-> breakpoint()"]
    assert out[7:11] == [
        "(6, (3-1j), True, 0, 0.5)",
        "(12.0, (3-1j), None)",
        "((8,), array([12., 14.], dtype=float32))",
        "(6, 10)",
    ]
    assert " 15  ->\t        breakpoint()" in out
    assert sum(line.startswith("k: block") for line in out) == 2
    assert a.get().tolist() == (floats(8) * 2 + 10).tolist()


@interpreted
def test_the_first_thread_stops_and_can_quit(where, monkeypatch, capsys):
    out, a = session(monkeypatch, capsys, ["n", "p i", "q"], where)
    assert out[0] == "inner: block (0, 0, 0), thread (0, 0, 0)" and out[3] == "k: block (0, 0, 0), thread (0, 0, 0)"
    assert out[6] == "0" and a is None
    with td.device(where):
        assert (td.arange(4) + 1).get().tolist() == [1, 2, 3, 4]


def test_a_breakpoint_is_nothing_outside(dev):
    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        breakpoint()
        a[i] = i

    a = td.zeros(4)
    k[1, 4](a)
    assert a.get().tolist() == [0, 1, 2, 3]
    assert "local" not in next(iter(k.overloads.values())).text("ir")


def test_a_breakpoint_is_refused_on_gpus():
    k = cuda.jit(function("def k(a):\n    breakpoint()\n"), debug=True)
    with pytest.raises(TypeError, match="breakpoint.. does not stop a GPU's threads: run the kernel on the CPU"):
        cuda.compile_ptx(k.py_func, "void(float32[:])", debug=True)


def test_functions_stop_too(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("p x, total\nc\n"))
    f = td.jit(function("def f(x):\n    total = x.sum()\n    breakpoint()\n    return total * 2\n", "<f>"))
    with td.debug():
        assert f(floats(4)) == 12
    out = capsys.readouterr().out
    assert "> <f>(3)f()" in out and "array([0., 1., 2., 3.], dtype=float32), 6.0" in out


# ---- prints ----


@interpreted
def test_prints_are_in_order(where, capsys):
    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        for j in range(3):
            print(i, j, a[i])
            cuda.syncthreads()
        print(f"{i} done")

    with td.device(where), td.debug():
        k[2, 2](td.asarray(floats(4)))
    lines = capsys.readouterr().out.splitlines()
    for i in range(4):
        assert [line for line in lines if line.startswith(f"{i} ")] == [f"{i} {j} {i}.0" for j in range(3)] + [f"{i} done"]


@interpreted
def test_what_was_printed_before_a_failure_is_shown(where, capsys):
    @cuda.jit
    def k(a):
        print("at", cuda.grid(1))
        a[0] = cuda.grid(1)

    with td.device(where), td.debug(), pytest.raises(RuntimeError, match="data race"):
        k[1, 4](td.ones(1))
    assert capsys.readouterr().out == "at 0\nat 1\n"
