"""The arrays of `python -m treadle` are numpy.ndarray itself: for libraries, the system, threads, signals."""

import re

import pytest
from test_unchanged import NEVER, program, run

CROSSOVERS = [1, 3, None, NEVER]


def same(tmp_path, text, *args, crossover=None, device="cpu", **env):
    """A program's status and output are those under Python."""
    path = program(tmp_path, "prog.py", text)
    want = run(path, treadle=False, **env)
    assert want[0] == 0, want[2]
    status, out, err = run("--device", device, *args, path, crossover=crossover, **env)
    assert (status, out) == (want[0], want[1]), err


PANDAS = """
import numpy as np, pandas as pd
df = pd.DataFrame({"v": [3, 1, 2, 5, 4], "w": list("abcde")})
a = np.array([3, 1, 2, 5, 4])
print(df.iloc[a > 1].v.tolist(), df[a > 1].v.tolist(), df.loc[a > 1].v.tolist(), df[np.isin(df.v, [1, 2])].v.tolist())
print(df.groupby(a % 2).v.sum().tolist(), pd.unique(a).tolist(), pd.factorize(a % 2)[0].tolist())
print(df.set_index(a * 2).index.tolist(), df.assign(z=a[a > 0] * 2).z.tolist())
records = np.array([(1, 2.0), (3, 4.0)], dtype=[("x", "i4"), ("y", "f8")])
print(pd.DataFrame(records).columns.tolist())
dates = np.array(["2020-01-01", "2021-02-03"], dtype="M8[D]")
print(pd.Series(dates).tolist(), (pd.Series(dates) - dates[0]).tolist())
s, m = pd.Series(np.arange(5.0)), np.arange(5) > 2
print(s[m].tolist(), s.iloc[m].tolist(), s.rolling(2).mean().tolist(), (s * a).tolist(), (a * s).tolist())
print(type(a * s).__name__, type(np.add(a, s)).__name__, type(s + a[a > 0]).__name__)
print(pd.DataFrame(np.arange(12.0).reshape(3, 4) * 2, columns=list("abcd")).describe().loc["mean"].tolist())
print(pd.cut(a, 2).codes.tolist(), pd.Series(a).value_counts().to_dict(), np.where(df.v > 2, a, 0))
"""


@pytest.mark.parametrize("crossover", CROSSOVERS)
@pytest.mark.parametrize("device", ["cpu", "null"])
def test_pandas(tmp_path, crossover, device):
    pytest.importorskip("pandas")
    same(tmp_path, PANDAS, crossover=crossover, device=device)


OTHERS = """
import numpy as np
class Asks:
    __array_ufunc__ = None
    def __radd__(self, x): return "asked"
    def __rmul__(self, x): return "asked"
    def __riadd__(self, x): return "never"
class First:
    __array_priority__ = 1000
    def __rsub__(self, x): return "first"
class Refuses:
    def __array_ufunc__(self, f, method, *args, **kwargs): return f.__name__, method, len(args)
class Sub(np.ndarray):
    def __radd__(self, x): return "sub"
x = np.arange(6.0) * 2
sub = x.view(Sub)
print(x + Asks(), x * Asks(), x - First(), x + Refuses(), np.add(x, Refuses()), type(sub * 2).__name__, type(x * sub).__name__)
try:
    x += Asks()
except TypeError as e:
    print("TypeError")
print(x + [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6] * x, np.float32(2) * x, x ** np.int64(2), divmod(x, 4)[0], 2.0 ** x, -x, +x, abs(x))
print(type(x) is np.ndarray, type(x + 1) is np.ndarray, type(x[x > 2]) is np.ndarray, type(np.sin(x)) is np.ndarray, x.base is None)
print(isinstance(np.sin, np.ufunc), np.ndarray.__module__, x.flags.owndata, (x + 1).flags.owndata, (x + 1).flags.c_contiguous)
y = (x + 1).reshape(2, 3).T * 2
print(y.flags.f_contiguous, y.strides, y.base is None, np.asfortranarray(x.reshape(2, 3) + 1).strides)
print(len(x[x > 2]), x[x > 2].shape, list(x[x > 2]), x[x > 99].size, np.shape(x[x > 2]), x[x > 2].nbytes, x[x > 2][1:].base is not None)
c = x[x > 2]; c += 1; c.shape = (2, -1); print(c, c.T.shape); c.resize(3); print(c)
c = x[x > 2]; c.sort(); c[::-1].sort(); print(c); del c
o = np.array([1, None, "a"], dtype=object); print(o == None, o * 2 if False else o.size)
class Pair(tuple): pass
g = np.arange(25.0).reshape(5, 5) * 2
print(g[Pair(([1], [1]))].shape, g[Pair(([1], [1])),].shape)
g[Pair(([1], [2]))] = 7; print(g[1, 2], np.vecdot(g, g, axes=[0, 1], keepdims=True).shape)
many = np.ones((1,) * 40) + 1; print(many.ndim, many[(0,) * 40], many.sum(), many[..., None].shape == (1,) * 41)
import copy, pickle
print(copy.copy(x + 1), copy.deepcopy(x + 1), pickle.loads(pickle.dumps(x + 1)), pickle.loads(pickle.dumps(x[x > 2], 5)))
import ctypes
z = x + 1
print((ctypes.c_double * 6).from_address(z.ctypes.data)[2], z.__array_interface__["shape"])
z = x + 1
(ctypes.c_double * 6).from_address(z.ctypes.data)[2] = 50
print((z * 2)[2], np.frombuffer(x + 1)[1], bytes(x[:1] + 1)[:2], memoryview(x + 1)[2])
"""


@pytest.mark.parametrize("crossover", CROSSOVERS)
@pytest.mark.parametrize("device", ["cpu", "null"])
def test_what_numpy_arrays_do(tmp_path, crossover, device):
    """Who answers an operator, layouts, sizes of choices by masks, copies, addresses."""
    same(tmp_path, OTHERS, crossover=crossover, device=device)


SYSTEM = """
import io, os, socket, tempfile
import numpy as np
x = np.arange(100000.0)
with tempfile.TemporaryDirectory() as d:
    path = os.path.join(d, "f")
    (x * 2).tofile(path); print(os.path.getsize(path), np.fromfile(path)[3])
    fd = os.open(path, os.O_RDWR); print(os.write(fd, x * 3)); os.close(fd)
    with open(path, "rb", buffering=0) as f:
        y = x * 4; print(f.readinto(y), y[2])
        f.seek(0); z = x * 5; m = memoryview(z).cast("B"); w = z + 1; print(f.readinto(m), z[2], w[2])
    np.save(path, x * 6); print(np.load(path + ".npy")[1], np.load(path + ".npy", mmap_mode="r+")[2])
    with open(path, "wb") as f: f.write(x * 7)
    print((np.memmap(path, float) + 1)[1])
a, b = socket.socketpair()
a.send((x[:100] * 8)); got = np.empty(100); b.recv_into(got); print(got[5])
os.readv(os.open("/dev/zero", os.O_RDONLY), [memoryview(x)]); print(x[7], (x + 1)[7])
"""


@pytest.mark.parametrize("crossover", [1, None])
@pytest.mark.parametrize("device", ["cpu", "null"])
def test_system_calls(tmp_path, crossover, device):
    """The kernel reads and writes memory without a fault that a program could handle."""
    same(tmp_path, SYSTEM, crossover=crossover, device=device)


THREADS = """
import numpy as np
from concurrent.futures import ThreadPoolExecutor
bad = 0
pool = ThreadPoolExecutor(8)
for it in range(60):
    n = 50000 + it
    y = np.linspace(0, 1, n) * 3 + it
    parts = list(pool.map(lambda k: float(y[k::8].sum()) if k % 2 else sum(y[k::8].tolist()), range(8)))
    bad += abs(sum(parts) / n - it - 1.5) > 1e-9
    z = y + 1
    def put(k):
        z[k * 100 : (k + 1) * 100] = k
        return z[k * 100]
    bad += list(pool.map(put, range(8))) != list(range(8)) or abs(float((z[800:] - y[800:] - 1).max())) > 1e-9
    c = y[y > it + 1]
    bad += len(set(pool.map(lambda k: len(c), range(8)))) != 1
print(bad)
"""
PARALLEL = """
import numpy as np
from scipy.linalg import blas, solve
for it in range(10):
    a = np.asfortranarray(np.random.default_rng(it).random((300, 300))) * 2
    b = a + 1
    c = blas.dgemm(1.0, a, b)  # threads of a library touch a and b, and the caller waits for them with the GIL
    d = solve(a + np.eye(300) * 99, b)
print(c.shape, d.shape, round(float(c[5, 7]), 6))
"""
FORK = """
import multiprocessing as mp
import numpy as np
g = np.sin(np.linspace(0, 1, 300000)) * 2
def child(k):
    return round(float(g[k] + (g * 2)[k]), 6)
with mp.get_context("fork").Pool(3) as p:
    print(p.map(child, [0, 299999]))
print(round(g[-1], 6))
"""


@pytest.mark.parametrize("device", ["cpu", "null"])
def test_threads(tmp_path, device):
    """Threads that touch one array at a time get its values, and none of them what stood there before."""
    same(tmp_path, THREADS, crossover=20000, device=device)


def test_parallel_loops_of_libraries(tmp_path):
    pytest.importorskip("scipy")
    same(tmp_path, PARALLEL)


@pytest.mark.parametrize("device", ["cpu", "null"])
def test_fork(tmp_path, device):
    same(tmp_path, FORK, device=device)


def test_other_handlers(tmp_path):
    """faulthandler comes after us and gets what is not ours; a crash is one still."""
    text = """
import faulthandler, sys
import numpy as np
x = np.arange(100000.0) * 2
faulthandler.enable()
print(x[5], (x + 1)[6])
print((x * 2)[7])
faulthandler.disable()
y = x + 1
faulthandler.enable()
print(y[3])
sys.stdout.flush()
import ctypes
ctypes.string_at(0)
"""
    status, out, err = run(program(tmp_path, "prog.py", text))
    assert (status, out) == (-11, "10.0 13.0\n28.0\n7.0\n")
    assert "Segmentation fault" in err and "prog.py" in err


def test_many_arrays(tmp_path):
    """More live arrays than the system has mappings for, and memory that goes back."""
    text = """
import resource
import numpy as np
many = [np.arange(6000.0) * k for k in range(40000)]
print(sum(float(a[7]) for a in many[::100]), many[-1][5])
del many
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for k in range(300):
    x = np.arange(200000.0) * k; x[3] = 1; y = x[x > 5] + 1
before = peak()
for k in range(3000):
    x = np.arange(200000.0) * k; x[3] = 1; y = x[x > 5] + 1
print(peak() - before < 50000, y[0])
"""
    same(tmp_path, text, crossover=5000)


def test_too_big(tmp_path):
    """What does not fit in memory is refused as by NumPy, whoever would hold it."""
    text = """
import numpy as np
for make in (lambda: np.empty(2**45), lambda: np.ones((2**23, 2**22)), lambda: np.ones(2**22)[:, None] * np.ones(2**23)):
    try:
        print(make().shape)
    except MemoryError:
        print("MemoryError")
"""
    same(tmp_path, text)


def test_choices_that_nobody_looks_at(tmp_path):
    """A choice by a mask is not counted because it ends."""
    text = """
import numpy as np
from treadle import _core
x = np.arange(1e5); m = x > 5
m[0]
n = _core.jit_stats()["launches"]
for _ in range(20):
    y = x[m] * 2
del y
assert _core.jit_stats()["launches"] == n, "elements of choices are wanted by nobody"
x[m] = x[m] * 2 + 1
assert _core._unchanged_where(x) == "ahead"
assert x[10] == 21 and x[3] == 3
"""
    assert run("--device", "cpu", program(tmp_path, "prog.py", text), crossover=1000) == (0, "", "")


def test_help(tmp_path):
    """What a person reads is NumPy's."""
    text = """
import inspect, pydoc
import numpy as np
print(inspect.signature(np.sum), pydoc.render_doc(np.ndarray.sum)[:400], np.ndarray.sum.__doc__ == np.ones(3).sum.__doc__)
print(np.sin.__doc__[:100], np.sum.__doc__[:100], np.sin.__name__, np.linalg.solve.__doc__[:80])
print([n for n in dir(np.ndarray) if not n.startswith("_")])
import pickle
print(pickle.loads(pickle.dumps(np.cos)), pickle.loads(pickle.dumps(np.sum)).__name__, np.ufunc.reduce.__name__)
"""
    same(tmp_path, text)


LENT = """
import numpy as np
try:
    from torch import as_tensor, from_dlpack, from_numpy
except ImportError:
    as_tensor = from_dlpack = from_numpy = np.asarray
r = np.arange(40000.0).reshape(200, 200)
for shared in (from_numpy, as_tensor, from_dlpack):
    for part in (np.s_[:], np.s_[::2, 1:]):
        a = 0.5 + r * 2
        t = shared(a[part])
        print(float((t * 2).sum()), end=" ")
        a += 1
        print(float((t * 2).sum()), float(a.sum()), end=" ")
        t += 1
        print(float((t * 2).sum()), float(a.sum()), float((a * 1 + 1).sum()))
"""


@pytest.mark.parametrize("crossover", CROSSOVERS)
@pytest.mark.parametrize("device", ["cpu", "null"])
def test_memory_that_tensors_share(tmp_path, crossover, device):
    """What is recorded is in the memory before it is lent by address, and stays there."""
    same(tmp_path, LENT, crossover=crossover, device=device)


RESULTS = """
import time, numpy as np
x = np.linspace(0, 1, 300_000)
y = x * 2
z = y + 1
time.perf_counter()  # computes both, y for z and for the program
part = y[::7]
print(y[5], z[-1], part[3])
y += 1  # treadle writes where the program has read
w = y * 3
time.perf_counter()
y[0] = 100  # the program writes, w is computed
v = y * 2
y[1] = 100  # the program writes, v is not
print(y[:3], w[:3], v[:3], part[0], z[0])
del y, part
u = v * v
del v, w
time.perf_counter()
print(u[::100_000])
for i in range(4):
    p = x + i
    p[0] = i  # the program's memory, which the product may be written into once the program has dropped it
    q = p * 2 - 1
    del p
    time.perf_counter()
    r = q + 1
    print(q[:3], r[:3])
"""


def test_results_that_a_clock_computes(tmp_path):
    for crossover in (1, None):
        same(tmp_path, RESULTS, crossover=crossover)


def test_what_is_assigned_is_computed_once(tmp_path):
    """A program that has read a clock drops the value that it has written into a part of an array."""
    text = """
import time, numpy as np
a, b = np.random.rand(300, 1000), np.random.rand(300, 1000)
begin = time.perf_counter()
for _ in range(5):
    b[1:-1] = 0.2 * (a[1:-1] + a[2:])
    t = a[:-1] * 3
    u = t - b[1:]
    del t
print(b.sum() > 0, u.shape, time.perf_counter() > begin)
"""
    status, out, err = run("--device", "cpu", "--explain", program(tmp_path, "prog.py", text), crossover=1000)
    assert status == 0 and out == "True (299, 1000) True\n", err
    kernels = dict(re.findall(r"kernel (add multiply|subtract multiply)\s+(\d+) ", err))
    assert int(kernels["add multiply"]) == 5, err


def test_results_become_the_programs_memory_without_a_copy(tmp_path):
    text = "import time, numpy as np\nx = np.linspace(0, 1, 300_000)\ny = x * 2\nz = y + x\ntime.perf_counter()\nprint(y[5], z[5])\n"
    path = program(tmp_path, "prog.py", text + "print(sum(y[::1000].tolist()) > 0, z[::-1][:2].tolist())\n")
    status, out, err = run("--device", "cpu", "--explain", path, crossover=1000)
    assert status == 0 and out.count("\n") == 2, err
    assert "to the host" not in err, err


SMALL_PRODUCTS = """
import time, numpy as np
a = np.linspace(0, 1, 90_000).reshape(300, 300)
a -= a.mean(axis=0)  # treadle's
products = [(a[:, i] @ a[:, i:])[-1] for i in range(100)]
print(np.allclose(products, (a.T @ a)[:100, -1]), a[0, 0] == a.T[0, 0])
"""


def test_many_small_products_bring_the_array(tmp_path):
    same(tmp_path, SMALL_PRODUCTS)
