"""td.config.checks = "bounds": wrong indices are told with their line, left out, and what follows computes right results."""

import inspect
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import treadle as td
from treadle import cuda

THREADS, BLOCKS = 16, 3
N = THREADS * BLOCKS
SEEDS = range(3)
TABLE = np.arange(7.0)


@pytest.fixture(autouse=True)
def bounds(monkeypatch):
    monkeypatch.setattr(td.config, "checks", "bounds")


# ---- kernels: the thread `at` goes to `k` at the line marked so, all others to an index that there is ----


@cuda.jit
def read(a, out, at, k):
    i = cuda.grid(1)
    out[i] = a[k if i == at else i % a.size]  # bad


@cuda.jit
def write(a, out, at, k):
    i = cuda.grid(1)
    a[k if i == at else i % a.size] = 1  # bad


@cuda.jit
def add(a, out, at, k):
    i = cuda.grid(1)
    cuda.atomic.add(a, k if i == at else i % a.size, 1)  # bad


@cuda.jit
def change(a, out, at, k):
    i = cuda.grid(1)
    out[i] += 1
    if i == at:
        a[k] += 1  # bad


@cuda.jit
def rows(a, out, at, k):
    i = cuda.grid(1)
    out[i] = a[k if i == at else i % a.shape[0], 1]  # bad


@cuda.jit
def columns(a, out, at, k):
    i = cuda.grid(1)
    a[1, k if i == at else i % a.shape[1]] = 1  # bad


@cuda.jit
def greatest(a, out, at, k):
    i = cuda.grid(1)
    cuda.atomic.max(a, (0, k if i == at else i % a.shape[1]), 1.0)  # bad


@cuda.jit
def middle(a, out, at, k):
    i = cuda.grid(1)
    out[i] = a[1, k if i == at else i % a.shape[1], 2]  # bad


@cuda.jit
def layer(a, out, at, k):
    i = cuda.grid(1)
    a[k if i == at else i % a.shape[0], 0, 1] = 1  # bad


@cuda.jit
def of_row(a, out, at, k):
    i = cuda.grid(1)
    line = a[k if i == at else i % a.shape[0], 1:3]  # bad
    out[i] = line[0]


@cuda.jit
def of_slice(a, out, at, k):
    i = cuda.grid(1)
    part = a[2:6]
    out[i] = part[k if i == at else i % 4]  # bad


@cuda.jit
def shared(a, out, at, k):
    part = cuda.shared.array(THREADS, np.float64)
    t = cuda.threadIdx.x
    part[t] = 1
    cuda.syncthreads()
    out[cuda.grid(1)] = part[k if cuda.grid(1) == at else t]  # bad


@cuda.jit
def local(a, out, at, k):
    own = cuda.local.array((2, 5), np.float64)
    i = cuda.grid(1)
    for j in range(5):
        own[0, j] = own[1, j] = j
    own[1, k if i == at else i % 5] = 1  # bad
    out[i] = own[1, 1]


@cuda.jit
def divergent(a, out, at, k):
    i = cuda.grid(1)
    j = i
    while j > 0:
        if i % 3 == at % 3:
            if i == at and j == i:
                out[i] = a[k]  # bad
            else:
                out[i] += 1
        j -= 2
    if i == 0 and at == 0:
        a[k] = 1  # bad too


@cuda.jit(device=True)
def element(a, j):
    return a[j]  # bad


@cuda.jit
def through(a, out, at, k):
    i = cuda.grid(1)
    out[i] = element(a, k if i == at else 0)


@cuda.jit
def strided(a, out, at, k):
    first = cuda.grid(1)
    for i in range(first, 2 * a.size, cuda.gridsize(1)):
        if i < a.size:
            a[i] += 0
    if first == at:
        a[k] = 3  # bad


@td.jit
def total(a, out, at, k):
    s = 0.0
    for i in range(a.size):
        s += a[k if i == at else i]  # bad
    return s


@td.njit(parallel=True)
def spread(a, out, at, k):
    for i in td.prange(a.size):
        out[i] = a[k if i == at else i]  # bad


KERNELS = [  # the kernel, the array's shape, the axis, the name; the shape that is told where it is another
    (read, (37,), 0, "a"),
    (write, (37,), 0, "a"),
    (add, (37,), 0, "a"),
    (change, (37,), 0, "a"),
    (rows, (5, 4), 0, "a"),
    (columns, (4, 6), 1, "a"),
    (greatest, (3, 9), 1, "a"),
    (middle, (2, 5, 3), 1, "a"),
    (layer, (3, 2, 4), 0, "a"),
    (of_row, (6, 4), 0, "a"),
    (of_slice, (37,), 0, "a", (4,)),
    (shared, (37,), 0, "part", (THREADS,)),
    (local, (37,), 1, "own", (2, 5)),
    (divergent, (37,), 0, "a"),
    (through, (37,), 0, "a"),
    (strided, (37,), 0, "a"),
]
FUNCTIONS = [total, spread]


def line_of(fn, mark="# bad\n"):
    lines, first = inspect.getsourcelines(fn.py_func)
    return first + next(i for i, text in enumerate(lines) if text.endswith(mark))


def wrong(rng, n):
    """An index that an axis of n elements has not."""
    return rng.choice([n + rng.randrange(40), -n - 1 - rng.randrange(40)])


def guarded(shape):
    """An array, and the memory around it, which nobody may touch."""
    n = int(np.prod(shape))
    around = td.zeros(n + 200, "f8")
    return around[100 : 100 + n].reshape(shape), around


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("row", KERNELS, ids=lambda row: row[0].py_func.__name__)
def test_kernels(dev, row, seed):
    kernel, shape, axis, name, *told = row
    said = told[0] if told else shape
    rng = random.Random(f"{kernel.py_func.__name__} {seed}")
    at, k = rng.randrange(1, N), wrong(rng, said[axis])
    a, around = guarded(shape)
    out = td.zeros(N)
    with pytest.raises(IndexError) as e:
        kernel[BLOCKS, THREADS](a, out, at, k)
        td.synchronize()
    fn = element if kernel is through else kernel
    assert str(e.value) == (
        f"index {k} is out of bounds for axis {axis} of '{name}' with shape {said} [kernel {kernel.py_func.__name__}, "
        f"block ({at // THREADS}, 0, 0), thread ({at % THREADS}, 0, 0), {__file__}:{line_of(fn)}]"
    )
    rest = around.get()
    assert not rest[:100].any() and not rest[-100:].any()
    # the same kernel, and another one, with indices that there are
    plain, right = np.zeros(shape), td.zeros(shape)
    expected, got = td.zeros(N), td.zeros(N)
    kernel[BLOCKS, THREADS](right, got, at, 0)
    td.config.checks = "none"
    kernel[BLOCKS, THREADS](td.asarray(plain), expected, at, 0)
    td.config.checks = "bounds"
    np.testing.assert_array_equal(got.get(), expected.get())
    read[BLOCKS, THREADS](td.arange(37.0), got, 0, -1)
    np.testing.assert_array_equal(got.get(), [36, *(i % 37 for i in range(1, N))])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda f: f.py_func.__name__)
def test_functions(fn, seed):
    rng = random.Random(f"{fn.py_func.__name__} {seed}")
    n = rng.randrange(2, 60)
    at, k = rng.randrange(n), wrong(rng, n)
    a, out = np.arange(float(n)), np.zeros(n)
    with pytest.raises(IndexError) as e:
        fn(a, out, at, k)
    assert str(e.value) == f"index {k} is out of bounds for axis 0 of 'a' with shape ({n},)"
    assert e.value.__notes__ == [f"in {fn.py_func.__name__}, {__file__}:{line_of(fn)}"]
    fine = fn(a, out, at, -n)
    expected = np.where(np.arange(n) == at, a[0], a)
    np.testing.assert_array_equal(expected.sum() if fine is not None else expected, out if fine is None else fine)


def test_vectorized(dev):
    @td.vectorize
    def pick(k):
        return TABLE[k]  # bad

    assert pick(td.asarray([0, -7, 6])).get().tolist() == [0, 0, 6]
    with pytest.raises(IndexError, match=r"index 7 is out of bounds for axis 0 of 'TABLE' with shape \(7,\)"):
        pick(td.asarray([1, 7, 2])).get()
    assert pick(td.asarray([3, -1])).get().tolist() == [3, 6]


def test_generalised():
    @td.guvectorize(["void(float64[:], int64, float64[:])"], "(n),()->(n)")
    def rolled(a, k, out):
        for i in range(a.size):
            out[i] = a[i + k]

    a = np.arange(6.0)
    assert rolled(a, 0).tolist() == a.tolist()
    with pytest.raises(IndexError, match=r"index 6 is out of bounds for axis 0 of '.*' with shape \(6,\)"):
        rolled(a, 1)


# ---- CUDA C++ for a CPU ----

TEXTS = {  # the statement in line 4; n is an index that x, of 40 elements, has not
    "write": "if (i == at) x[n] = 1;",
    "read": "if (i == at) x[0] = x[n];",
    "atomic": "if (i == at) atomicAdd(&x[n], 1.0);",
    "dereferenced": "if (i == at) *(x + n) = 1;",
    "shared": "__shared__ double s[40]; s[i == at ? n : i % 40] = 1;",
    "local": "double s[40]; s[i == at ? n : 0] = 1; x[0] = s[0] * 0;",
    "function": "set(x, i == at ? n : 0);",
}


@pytest.mark.parametrize("name", TEXTS)
def test_cuda_text(name):
    if not (shutil.which("clang++") or shutil.which("g++")):
        pytest.skip("there is no C++ compiler")
    rng = random.Random(name)
    at, n = rng.randrange(1, N), wrong(rng, 40)
    text = (
        "__device__ void set(double *p, int j) { p[j] = 1; }\n"
        'extern "C" __global__ void k(double *x, int at, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n'
        f"  {TEXTS[name]}\n}}"
    )
    with td.device("cpu"):
        kernel = td.RawKernel(text, "k")
        x = td.zeros(40)
        array, line = ("s" if "s[" in TEXTS[name] else "x"), 4
        said = f"index {n} is out of bounds for axis 0 of '{array}' with shape (40,) [kernel k, "
        if name == "function":
            said = f"index {n} is out of bounds for axis 0 of 'p' with shape (40,) [kernel set, "
            line = 1
        said += f"block ({at // THREADS}, 0, 0), thread ({at % THREADS}, 0, 0), "
        for _ in range(2):
            with pytest.raises(IndexError, match=re.escape(said) + rf".*:{line}\]$"):
                kernel((BLOCKS,), (THREADS,), (x, np.int32(at), np.int32(n)))
                td.synchronize()
        kernel((BLOCKS,), (THREADS,), (x, np.int32(at), np.int32(7)))
        td.synchronize()
        assert x.get().tolist() == {
            "write": [0.0] * 7 + [1] + [0] * 32,
            "atomic": [0.0] * 7 + [1] + [0] * 32,
            "dereferenced": [0.0] * 7 + [1] + [0] * 32,
            "function": [1.0] + [0] * 6 + [1] + [0] * 32,
        }.get(name, [0.0] * 40)


# ---- which checks are left out ----


def run_python(text, a, i, n, m):
    """What CPython says: the array afterwards, or IndexError."""
    space = {"min": min, "max": max}
    exec(text, space)
    try:
        space["f"](a, i, n, m)
    except IndexError:
        return IndexError
    return a


class Writer:
    """Random functions f(a, i, n, m) whose numbers stay small: loops, conditions, indices computed in many ways."""

    def __init__(self, seed):
        self.rng, self.lines, self.fresh = random.Random(seed), [], 0

    def number(self, names, depth=2):
        r = self.rng
        if depth == 0 or r.random() < 0.3:
            return r.choice([*names, *names, str(r.randrange(-3, 9))])
        x, y = self.number(names, depth - 1), self.number(names, depth - 1)
        forms = [f"({x} + {y})", f"({x} - {y})", f"({x} * {r.randrange(-2, 4)})", f"({x} // {r.randrange(1, 5)})"]
        forms += [f"({x} % {r.randrange(1, 9)})", f"min({x}, {y})", f"max({x}, {y})", f"({x} & {r.randrange(16)})"]
        forms += [f"({x} >> {r.randrange(3)})", f"abs({x})", f"({x} if {x} < {y} else {r.choice(names)})", f"(-{x})"]
        return r.choice(forms)

    def truth(self, names, depth=1):
        r = self.rng
        if depth and r.random() < 0.5:
            x, y = self.truth(names, depth - 1), self.truth(names, depth - 1)
            return r.choice([f"({x} and {y})", f"({x} or {y})", f"(not {x})"])
        x, y = self.number(names, 1), self.number(names, 1)
        how = r.choice(["<", "<=", ">", ">=", "==", "!="])
        return r.choice([f"{x} {how} {y}", f"0 <= {x} < {r.choice(['n', 'm', 'a.size'])}"])

    def name(self):
        self.fresh += 1
        return f"v{self.fresh}"

    def block(self, names, space, depth):
        names = list(names)
        for _ in range(self.rng.randrange(1, 4)):
            self.statement(names, space, depth)

    def statement(self, names, space, depth):
        r, say = self.rng, lambda text: self.lines.append(" " * space + text)
        kind = r.choice(["let", "use", "use", "if", "for", "while", "leave"] if depth else ["let", "use"])
        if kind == "let":
            names.append(self.name())
            say(f"{names[-1]} = ({self.number(names[:-1])}) % 64 - {r.choice([0, 0, 5])}")
        elif kind == "use":
            at = r.choice([self.number(names, 1), self.number(names), f"({self.number(names)}) % n", r.choice(names)])
            say(r.choice([f"a[{at}] += 1", f"a[0] += a[{at}]", f"if 0 <= {at} < a.size: a[{at}] = 2"]))
        elif kind == "if":
            say(f"if {self.truth(names)}:")
            self.block(names, space + 1, depth - 1)
            if r.random() < 0.5:
                say("else:")
                self.block(names, space + 1, depth - 1)
        elif kind == "for":
            i = self.name()
            say(f"for {i} in range({self.number(names, 1)}, min({self.number(names, 1)}, 20), {r.randrange(1, 4)}):")
            self.block([*names, i], space + 1, depth - 1)
        elif kind == "while":
            i = self.name()
            say(f"{i} = max(min({self.number(names, 1)}, 12), -12)")
            up = r.random() < 0.5
            say(f"while {i} {'<' if up else '>'} {r.choice(['n', 'm', '3', '0'])}:")
            self.block([*names, i], space + 1, depth - 1)
            say(f" {i} {'+' if up else '-'}= {r.randrange(1, 4)}")
        else:
            say(f"if {self.truth(names)}:")
            say(" return")

    def text(self):
        self.block(["i", "n", "m"], 1, 3)
        return "\n".join(["def f(a, i, n, m):", *self.lines, " return"])


@pytest.mark.parametrize("part", range(8))
def test_random_functions_fail_where_they_do_in_python(part, tmp_path):
    """What is left out is what never fails: else memory would be read or written where it must not."""
    seed = random.SystemRandom().randrange(1 << 30)
    print("seed", seed)
    failed = fine = 0
    for number in range(5):
        text = Writer(f"{seed} {part} {number}").text()
        path = tmp_path / f"f{number}.py"
        path.write_text(text)
        space = {}
        exec(compile(text, str(path), "exec"), space)
        f = td.jit(space["f"])
        rng = random.Random(f"{seed} {part} {number} calls")
        for _ in range(6):
            n, m, i = rng.randrange(1, 12), rng.randrange(0, 12), rng.randrange(0, 9)
            around = np.zeros(400, np.int64)
            a = around[200 : 200 + n]
            expected = run_python(text, np.zeros(n, np.int64), i, n, m)
            if expected is IndexError:
                failed += 1
                with pytest.raises(IndexError, match="is out of bounds for axis 0 of 'a' with shape"):
                    f(a, i, n, m)
            else:
                fine += 1
                f(a, i, n, m)
                np.testing.assert_array_equal(a, expected, err_msg=text)
            assert not around[:200].any() and not around[200 + n :].any(), text
    assert failed + fine == 30


@pytest.mark.parametrize("part", range(4))
def test_random_kernels_fail_where_they_do_in_python(dev, part, tmp_path):
    """The same for kernels: the extents of block and grid say which numbers threads have."""
    seed = random.SystemRandom().randrange(1 << 30)
    print("seed", seed)
    for number in range(4):
        text = Writer(f"{seed} kernel {part} {number}").text()
        path = tmp_path / f"k{number}.py"
        space = {"cuda": cuda}
        path.write_text(text.replace("def f(a, i, n, m):", "def k(a, n, m):\n i = cuda.grid(1)"))
        exec(compile(path.read_text(), str(path), "exec"), space)
        k = cuda.jit(space["k"])
        rng = random.Random(f"{seed} {part} {number} launches")
        for _ in range(4):
            n, m, grid, block = (rng.randrange(1, most) for most in (12, 12, 4, 6))
            around = td.zeros(400, np.int64)
            fails = any(run_python(text, np.zeros(n, np.int64), i, n, m) is IndexError for i in range(grid * block))
            try:
                k[grid, block](around[200 : 200 + n], n, m)
                td.synchronize()
                failed = False
            except IndexError:
                failed = True
            assert failed == fails, (text, n, m, grid, block)
            rest = around.get()
            assert not rest[:200].any() and not rest[200 + n :].any(), text


LEFT = """
import numpy as np
import treadle as td
from treadle import cuda

td.config.checks = "bounds"
a, v = td.zeros((9, 8)), td.asarray([1, 2, 3])

@cuda.jit
def inner(a, out):
    j, i = cuda.grid(2)
    h, w = out.shape
    if 0 < i < h - 1 and 0 < j < w - 1:
        out[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[-1, -2]

@cuda.jit
def tiles(a, out):
    part = cuda.shared.array((4, 4), np.float64)
    t, u = cuda.threadIdx.x, cuda.threadIdx.y
    for start in range(0, a.shape[1], 4):
        part[u, t] = a[u, start + t] if u < a.shape[0] and start + t < a.shape[1] else 0
        cuda.syncthreads()
        for k in range(4):
            out[u, t] += part[u, k] * part[k, t]
        cuda.syncthreads()

@cuda.jit
def halves(a, out):
    part = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    i, s = cuda.grid(1), 0.0
    while i < a.size:
        s += a[i // 8, i % 8]
        i += cuda.gridsize(1)
    part[t] = s
    n = 32
    while n > 0:
        cuda.syncthreads()
        if t < n:
            part[t] += part[t + n]
        n //= 2
    if t == 0:
        out[0, 0] = part[0]

@cuda.jit
def looked_up(v, out):
    i = cuda.grid(1)
    if i < v.size:
        out[v[i], 0] += 1

LAUNCH
td.synchronize()
"""


@pytest.mark.parametrize(
    ("launch", "left"),
    [
        ("inner[(2, 2), (5, 5)](a, a)", 0),
        ("tiles[1, (4, 4)](a, a)", 0),
        ("halves[1, 64](a, a)", 0),
        ("looked_up[1, 4](v, a)", 1),
    ],
)
def test_checks_that_hold_are_left_out(launch, left):
    """Each check that is left tells of a failure by one compare-and-swap."""
    program = LEFT.replace("LAUNCH", launch)
    environment = os.environ | {
        "TREADLE_DUMP": "ir",
        "TREADLE_CACHE_DIR": "",
        "TREADLE_DEVICE": "cpu",
        "TREADLE_EAGER": "2048",
    }
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "kernels.py")
        path.write_text(program)
        run = subprocess.run([sys.executable, path], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("atomic_cas") == left and "kernel " in run.stderr


# ---- settings ----


def test_names_of_checks():
    for value in ("Bounds", True, None, ""):
        with pytest.raises(ValueError, match="checks is one of 'none', 'bounds', not "):
            td.config.checks = value
    assert td.config.checks == "bounds"


def test_plain_kernels_after_checked_ones(dev):
    a, out = td.arange(37.0), td.zeros(N)
    for checks in ("none", "bounds", "none", "bounds"):
        td.config.checks = checks
        read[BLOCKS, THREADS](a, out, 0, 36)
        np.testing.assert_array_equal(out.get(), [36, *(i % 37 for i in range(1, N))])


PROGRAM = """
import numpy as np
import treadle as td

@td.njit
def first(a, k):
    return a[k]

assert first(np.arange(3), 1) == 1
try:
    first(np.arange(3), 9)
except IndexError as e:
    print(td.config.checks, e)
"""


@pytest.mark.parametrize(
    ("how", "environment"),
    [
        (["-m", "treadle", "--checks=bounds"], {}),
        (["-m", "treadle", "--checks", "bounds"], {}),
        ([], {"TREADLE_CHECKS": "bounds"}),
    ],
)
def test_of_a_whole_program(tmp_path, how, environment):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    run = subprocess.run([sys.executable, *how, path], env=os.environ | environment, capture_output=True, text=True)
    assert run.stdout == "bounds index 9 is out of bounds for axis 0 of 'a' with shape (3,)\n", run.stderr


@pytest.mark.parametrize(
    ("how", "environment"), [(["-m", "treadle", "--checks=all"], {}), ([], {"TREADLE_CHECKS": "all"})]
)
def test_of_a_program_with_a_wrong_name(tmp_path, how, environment):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    run = subprocess.run([sys.executable, *how, path], env=os.environ | environment, capture_output=True, text=True)
    assert run.returncode and "checks is one of 'none', 'bounds', not 'all'" in run.stderr


@pytest.mark.parametrize(
    "name", ["cache_dir", "cache_size", "cpu", "device", "dump", "kernels_kept", "profile", "sync", "threads"]
)
def test_settings_that_the_environment_decides(name):
    before = getattr(td.config, name)
    with pytest.raises(
        AttributeError, match=re.escape(f"treadle.config.{name} is what TREADLE_{name.upper()} said")
    ) as e:
        setattr(td.config, name, "cpu")
    assert getattr(td.config, name) == before and e.value.name == name
    if name == "device":
        assert "treadle.use('cpu')" in str(e.value)
