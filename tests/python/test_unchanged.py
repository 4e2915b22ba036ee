"""`python -m treadle`: programs print, return and raise what they do under Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import treadle

HERE = Path(__file__).parent
NEVER = "1e18"  # elements: all arrays stay NumPy's


def run(*args, crossover=None, treadle=True, cwd=None, **env):
    """(status, output, errors) of a program."""
    env = {**os.environ, **env}
    if crossover:
        env["TREADLE_CROSSOVER"] = str(crossover)
    command = [sys.executable, *(["-m", "treadle"] if treadle else []), *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env, timeout=300)
    return done.returncode, done.stdout, done.stderr


def snippets(text):
    return dict(part.split("\n", 1) for part in text.split("@@ ")[1:])


@pytest.fixture(scope="module")
def expected():
    status, out, err = run(HERE / "unchanged_driver.py", HERE / "unchanged_snippets.txt", treadle=False)
    assert status == 0, err
    return snippets(out)


@pytest.mark.parametrize(("crossover", "device"), [(NEVER, "cpu"), (None, "cpu"), (1, "cpu"), (1, "null"), (6, "null")])
def test_snippets(expected, crossover, device):
    """Every snippet's text, the types of its errors and their texts are NumPy's, whoever holds the arrays."""
    status, out, err = run(
        "--device", device, HERE / "unchanged_driver.py", HERE / "unchanged_snippets.txt", crossover=crossover
    )
    assert status == 0, err
    assert snippets(out) == expected


@pytest.mark.parametrize(
    ("crossover", "device", "seeds"), [(1, "cpu", 60), (6, "cpu", 60), (NEVER, "cpu", 60), (1, "null", 30), (6, "null", 30)]
)
def test_random_steps(crossover, device, seeds):
    """Operations on arrays that share memory, drawn at random, beside NumPy's."""
    status, out, err = run("--device", device, HERE / "unchanged_fuzz.py", 0, seeds, 50, crossover=crossover)
    assert status == 0, out + err


@pytest.mark.parametrize(("rows", "device"), [(40, "cpu"), (8, "cpu"), (40, "null")])
def test_random_choices(rows, device):
    """Choices by masks as indices, operands, values, outputs, drawn at random, beside NumPy's; above and below the crossover."""
    args = ("--device", device, HERE / "unchanged_choices.py", 0, 120, 50, rows)
    status, out, err = run(*args, crossover=500, PYTHONWARNINGS="ignore")
    assert status == 0, out[-2000:] + err


CHOICES_AS_INDICES = """
import numpy as np
n = 250
x, y = np.mgrid[0:n, 0:n]
x.shape = y.shape = n * n
N = np.zeros((n, n), np.int64)
at = (x % 3) == 0
N[x[at], y[at]] = 1
np.logical_not(at, at)
x, y = x[at], y[at]
at = (x % 2) == 0
N[x[at], y[at]] = 2
print(N.sum(), [N[x[at]].shape for _ in range(2)])
"""


@pytest.mark.parametrize("device", ["cpu", "null"])
def test_choices_as_indices(tmp_path, device):
    """Several times: what was read of a choice as of NumPy's array depended on where memory lies."""
    path = program(tmp_path, "prog.py", CHOICES_AS_INDICES)
    want = run(path, treadle=False)
    for _ in range(4):
        status, out, err = run("--device", device, path)
        assert (status, out) == want[:2], err


OUT_BY_POSITION = """
import numpy as np
x, o, p = np.ones((60, 60)) * 2, np.zeros(60), np.zeros(60)
at = np.arange(60)
def show(name, *outs):
    print(name, *[v.ravel()[:3].round(6).tolist() for v in outs])
    for v in outs:
        v[...] = 0
np.sum(x, 0, None, o), show("sum", o)
np.max(x, 0, o), show("max", o)
np.all(x, 0, o), show("all", o)
np.take(x[0], at, 0, o), show("take", o)
np.dot(x, np.ones(60), o), show("dot", o)
np.matmul(x, np.ones(60), o), show("matmul", o)
np.compress([True] * 60, x[0], 0, o), show("compress", o)
np.concatenate([x[0]], 0, o), show("concatenate", o)
np.add(x[0], 1, o), show("add", o)
np.modf(x[0] + 0.5, o, p), show("modf", o, p)
np.add.reduce(x, 0, None, o), show("add.reduce", o)
np.add.reduceat(x, [0], 0, None, o[None]), show("add.reduceat", o)
np.argmax(x, 0, at), show("argmax", at)
for out in (x, x.T):
    view = out[:2]
    np.cumsum(x, 1, None, out), print(view[:, :3].round(6).tolist())
    np.clip(x, 1, 5, out), print(view[:, :3].round(6).tolist())
    np.subtract(out, 1, out), print(view[:, :3].round(6).tolist())
    np.add.accumulate(x, 0, None, out), print(view[:, :3].round(6).tolist())
    np.round(out / 7, 1, out), print(view[:, :3].round(6).tolist())
x.sum(0, None, o), show("x.sum", o)
x.sum(axis=0, out=o), show("x.sum", o)
x.mean(0, None, o), show("x.mean", o)
x.std(0, None, o), show("x.std", o)
x.min(0, o), show("x.min", o)
x[0].take(at, 0, o), show("x.take", o)
x.dot(np.ones(60), o), show("x.dot", o)
x[0].compress([True] * 60, 0, o), show("x.compress", o)
x.clip(1, 5, x), x.cumsum(0, None, x), x.round(1, x), show("x", x)
for refused in (lambda: np.add(x, 1, at), lambda: np.sum(x, 0, None, o, out=o), lambda: np.add(x, 1, o, o), lambda: x.sum(0, None, at[:3])):
    try:
        refused()
    except (TypeError, ValueError) as e:
        print(type(e).__name__)
"""


@pytest.mark.parametrize("device", ["cpu", "null"])
@pytest.mark.parametrize("crossover", [1, 500, NEVER])
def test_out_by_position(tmp_path, crossover, device):
    """out= that is not named is written where it is, whoever holds it and the operands."""
    path = program(tmp_path, "prog.py", OUT_BY_POSITION)
    status, out, err = run("--device", device, path, crossover=crossover)
    assert status == 0, err
    assert out == run(path, treadle=False)[1]


@pytest.mark.parametrize(("crossover", "device"), [(1, "cpu"), (5000, "null")])
def test_libraries(crossover, device):
    """SciPy and scikit-learn take a program's arrays, write into them, and give NumPy's."""
    pytest.importorskip("scipy")
    pytest.importorskip("sklearn")
    args = ("-W", "ignore", HERE / "unchanged_libraries.py")
    plain = subprocess.run([sys.executable, *map(str, args)], capture_output=True, text=True, timeout=300)
    assert plain.returncode == 0, plain.stderr
    status, out, err = run("--device", device, args[2], crossover=crossover, PYTHONWARNINGS="ignore")
    assert status == 0, err
    assert out == plain.stdout


def program(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


SAME = {  # programs whose status, output and errors are compared as they are
    "status": "import sys, numpy as np\nprint(sys.argv[1:], __name__, np.ones(2))\nsys.exit(3)",
    "text": "import sys\nsys.exit('the end')",
    "error": "import numpy as np\ndef f(x):\n    return x + np.ones(4)\nf(np.ones(3))",
    "big error": "import numpy as np\ndef f(x):\n    return x + np.ones(4)\nf(np.ones(10**6))",
    "syntax": "import numpy as np\nx = = 3",
    "chain": "import numpy as np\ntry:\n    np.zeros(3)[5]\nexcept IndexError as e:\n    raise KeyError('k') from e",
    "exit": "import atexit, threading, numpy as np\natexit.register(print, 'bye')\n"
    "threading.Thread(target=lambda: print(np.arange(3).sum())).start()",
    "path": "import os, sys\nprint(os.path.basename(sys.path[0]), os.path.basename(__file__), sys.argv[0] == __file__, __spec__)",
    "globals": "import numpy as np\nprint(sorted(k for k in globals() if k != '__annotations__'))",
    "hook": "import sys\ndef hook(t, v, tb):\n    print('hook', t.__name__, v)\nsys.excepthook = hook\nimport numpy as np\nnp.zeros(-1)",
}


@pytest.mark.parametrize("name", SAME)
def test_as_under_python(tmp_path, name):
    path = program(tmp_path, "prog.py", SAME[name])
    there, here = (run(path, "a", "--explain", treadle=t) for t in (False, True))
    assert here == there


def test_code_and_modules(tmp_path):
    program(tmp_path, "pack/__init__.py", "from numpy import ones")
    program(tmp_path, "pack/part.py", "import numpy as np\nTOTAL = np.arange(4)")
    program(tmp_path, "pack/__main__.py", "import sys\nfrom . import ones\nfrom .part import TOTAL\nprint(sys.argv[1:], TOTAL + ones(4))")
    for args in (("-m", "pack", "x"), ("-c", "import sys, numpy; print(sys.argv, numpy.ones(2))", "y")):
        assert run(*args, cwd=tmp_path, PYTHONPATH=pythonpath()) == there(*args, cwd=tmp_path)
    assert run("-m", "nosuchmodule")[0] == 1
    assert run(tmp_path / "nosuchfile.py")[0] == 2
    assert run("--nosuchoption", "x.py")[0] == 2


def pythonpath():
    import treadle

    return str(Path(treadle.__file__).parent.parent)


def there(*args, cwd):
    done = subprocess.run([sys.executable, *args], capture_output=True, text=True, cwd=cwd, timeout=100)
    return done.returncode, done.stdout, done.stderr


IMPORTS = """
import sys, types
import numpy as np, numpy.linalg, numpy.linalg as la
from numpy import sin, random as r
from numpy.linalg import norm
import importlib
import mine.inner
import library
assert type(np.ones(3)) is np.ndarray is sys.modules["numpy"].ndarray
assert numpy is np and np.linalg is la and np.random is r and np.linalg.norm is norm and np.sin is sin
assert importlib.import_module("numpy.fft") is np.fft
assert mine.inner.np is np and mine.inner.make().sum() == 3
assert type(library.make()) is sys.modules["numpy"].ndarray, "libraries keep NumPy"
assert isinstance(library.make(), np.ndarray) and not isinstance(3, np.ndarray)
assert type(np.asarray(library.make())) is np.ndarray
x = np.arange(3.0)
library.write(x)
assert x[0] == 7, "a library writes into the program's array"
assert type(library.double(x)) is sys.modules["numpy"].ndarray
try:
    import numpy.nosuch
except ModuleNotFoundError as e:
    print(e)
try:
    from numpy import nosuch
except ImportError as e:
    print(str(e).split(" (")[0])
def inside():
    import numpy
    return numpy
assert inside() is np
exec("import numpy as again", {"__name__": "__main__"})
for names in ({}, {"__name__": "mine.made"}, {"__name__": "__main__"}):
    exec("import numpy as made, cupy, importlib; again = importlib.import_module('numpy')", names)
    assert names["made"] is names["again"] is np
assert __import__("numpy") is np
assert library.execute("import numpy as found") is library.execute("found = __import__('numpy')") is sys.modules["numpy"]
"""
LIBRARY = """
import numpy as np
def make():
    return np.ones(3)
def write(x):
    np.asarray(x)[0] = 7
    x = np.asarray(x)
    x *= 1
def double(x):
    return np.add(x, x)
def execute(text):
    names = {}
    exec(text, names)
    return names["found"]
"""


@pytest.mark.parametrize("crossover", [NEVER, 1])
def test_imports(tmp_path, crossover):
    """The program's own files get treadle, installed packages NumPy."""
    program(tmp_path, "mine/__init__.py", "")
    program(tmp_path, "mine/inner.py", "import numpy as np\ndef make():\n    return np.ones(3)")
    program(tmp_path, "lib/python3/site-packages/library.py", LIBRARY)
    path = program(tmp_path, "prog.py", "import sys\nsys.path.append(sys.path[0] + '/lib/python3/site-packages')" + IMPORTS)
    status, out, err = run(path, crossover=crossover)
    assert status == 0, err
    assert out == "No module named 'numpy.nosuch'\ncannot import name 'nosuch' from 'numpy'\n"


NUMBA = """
import numpy as np
from numba import njit, prange, vectorize, cuda, float64
@njit
def total(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += np.sqrt(x[i]) * y[i]
    return s
@njit(parallel=True)
def double(x):
    r = np.empty_like(x)
    for i in prange(x.size):
        r[i] = x[i] * TABLE[1]
    return r
@vectorize([float64(float64, float64)])
def axpy(a, b):
    return a + 2 * b
@cuda.jit
def add_one(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1
TABLE = np.arange(3.0)
for n in (10, 100000):
    x, y = np.full(n, 4.0), np.ones(n)
    add_one[(n + 127) // 128, 128](y)
    r = double(x)
    print(total(x, y), r.sum(), type(r), axpy(x, y).sum(), y[0], isinstance(r, np.ndarray))
"""
CUPY = """
import numpy as np
import cupy as cp
import cupyx, cupyx.scipy.special
x = np.arange(6.0).reshape(2, 3)
y = cp.asarray(x)
y += 1
h = cp.asnumpy(y)
print(x[0, 0], h, isinstance(h, np.ndarray), isinstance(y, np.ndarray), np.abs(h - x).max(), cp.__name__)
k = cp.ElementwiseKernel("float64 a", "float64 b", "b = a * 2", "twice")
print(cp.asnumpy(k(y)).sum())
of = cp.get_array_module
print(of(x) is np, of(3) is np, of(y) is cp, of(x, y) is cp, of(x).sin(x).sum() > 0, of is cp.get_array_module)
print(cupyx.scipy.get_array_module(y) is cupyx.scipy, cupyx.scipy.get_array_module(x).__name__)
"""
PYCUDA = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
import pycuda.gpuarray as gpuarray
add = SourceModule('''
__global__ void add(float *r, const float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    r[i] = a[i] + b[i];
}
''').get_function("add")
a, b = np.arange(400, dtype=np.float32), np.ones(400, dtype=np.float32)
r = np.zeros_like(a)
add(drv.Out(r), drv.In(a), drv.In(b), block=(100, 1, 1), grid=(4, 1))
print(r[:3], abs(r - (a + b)).max())
g = gpuarray.to_gpu(a)
print((2 * g).get()[:3])
d = drv.mem_alloc(a.nbytes)
drv.memcpy_htod(d, a)
back = np.empty_like(a)
drv.memcpy_dtoh(back, d)
print((back == a).all())
"""


@pytest.mark.parametrize(("crossover", "device"), [(None, "cpu"), (1, "cpu"), (1, "null")])
def test_other_packages(tmp_path, crossover, device):
    """Programs of Numba's, CuPy's and PyCUDA's, none of which is installed."""
    where = ("--device", device)
    text = NUMBA if device == "cpu" else NUMBA.replace("100000", "100")  # the null device interprets kernels
    status, out, err = run(*where, program(tmp_path, "n.py", text), crossover=crossover)
    assert status == 0, err
    rows = [line.split() for line in out.splitlines()]
    assert [(float(r[0]), float(r[1]), r[3], float(r[4]), float(r[5]), r[6]) for r in rows] == [
        (4.0 * n, 4.0 * n, "'numpy.ndarray'>", 8.0 * n, 2.0, "True")
        for n in (10, 100000 if device == "cpu" else 100)
    ]
    status, out, err = run(*where, program(tmp_path, "c.py", CUPY), crossover=crossover)
    modules = "True " * 5 + "True\nTrue scipy\n"
    assert (status, out) == (0, "0.0 [[1. 2. 3.]\n [4. 5. 6.]] True False 1.0 cupy\n42.0\n" + modules), err
    status, out, err = run(*where, program(tmp_path, "p.py", PYCUDA), crossover=crossover)
    assert (status, out) == (0, "[1. 2. 3.] 0.0\n[0. 2. 4.]\nTrue\n"), err


def test_install(tmp_path):
    """install() and the extension of IPython: what is imported afterwards."""
    path = program(
        tmp_path,
        "prog.py",
        "import numpy as before\nimport treadle\ntreadle.install()\ntreadle.install()\nimport numpy as np\n"
        "assert np is not before and type(np.ones(3)) is before.ndarray\n"
        "class Shell:\n    user_ns = {'np': before, 'k': 1}\n"
        "s = Shell()\ntreadle.load_ipython_extension(s)\nassert s.user_ns['np'] is np\n"
        "treadle.config.crossover = 4\nassert treadle._core._unchanged_where(np.ones(4)) == 'ahead'\n"
        "assert treadle._core._unchanged_where(np.ones(3)) == 'open'",
    )
    assert run(path, treadle=False) == (0, "", "")


def test_explain_and_profile(tmp_path):
    text = (
        "import numpy as np\nx = np.linspace(0, 1, 100000)\ny = np.sin(x) * 2\nprint(y.sum() > 0)\n"
        "s = 0\nfor i in range(20000):\n    s += x[i]\nz = np.unwrap(x)\nfor i in range(3000):\n    w = np.ones(3) + 1\n"
    )
    path = program(tmp_path, "prog.py", text)
    status, out, err = run("--keep", "loops", "--explain", "--profile=trace.json", path, cwd=tmp_path, PYTHONPATH=pythonpath())
    assert (status, out) == (0, "True\n"), err
    assert "what ran where" in err and "prog.py:4" in err, err
    assert "prog.py:7 reads 20000 elements one by one" in err, err
    assert "prog.py:10" in err and "what would help most" in err, err
    assert (tmp_path / "trace.json").exists()
    status, out, err = run("--profile=t.html", path, cwd=tmp_path, PYTHONPATH=pythonpath())
    assert (status, out) == (0, "True\n") and "<svg" in (tmp_path / "t.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--devic", "cpu"], "there is no option --devic; did you mean --device?"),
        (["--explian"], "there is no option --explian; did you mean --explain?"),
        (["--docter=json"], "there is no option --docter; did you mean --doctor?"),
        (["--zzz"], "there is no option --zzz; options are --device, "),
        (["--device="], "--device needs a value: --device NAME"),
        (["--lazy-clocks=1"], "--lazy-clocks takes no value, and got '1'"),
        (["--device", "nonsense"], 'unknown device "nonsense": there are "cpu"'),
        (["--device", "cuda:99"], "cuda:99: "),
    ],
)
def test_wrong_options_are_told_in_one_line(options, said):
    status, out, err = run(*options, "-c", "print(1)")
    assert (status, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("python -m treadle") and said in err


@pytest.mark.skipif(treadle.devices()[0].kind == "cuda", reason="there is a GPU")
def test_no_gpu_is_told_in_one_line():
    status, out, err = run("--device", "cuda:0", "-c", "print(1)")
    assert (status, out, err.count("\n")) == (2, "", 1) and "no CUDA device" in err and 'use the device "cpu"' in err


@pytest.mark.parametrize("name", ["np.sin", "np.sum", "np.linalg.norm", "np.arange", "np.add.reduce", "np.fft.rfft", "np.ndarray.sum"])
def test_help_is_numpys(name):
    code = f"import inspect, numpy as np\nhelp({name})\ntry:\n    print(inspect.signature({name}))\nexcept ValueError as e:\n    print(e)"
    status, ours, err = run("-c", code)
    assert (status, ours) == run("-c", code, treadle=False)[:2], err


def test_big_work_moves(tmp_path):
    """What treadle holds: big arrays, made at once or grown from small ones, unless somebody else has the memory."""
    text = """
import numpy as np
import treadle
from treadle import _core
treadle.config.crossover = 1000
far = _core._unchanged_far
x, y = np.arange(50.0), np.ones(50)
assert not far(x) and not far(x + y) and far(x[:, None] * y) and far(np.add.outer(x, y)) and far(np.subtract(x[:, None], y))
big = np.ones((100, 100))
assert far(big) and far(big[1:]) and far(np.random.rand(1000)) and far(np.array(range(2000)))
row = big[3]
row[:] = 5
assert big.sum() == 100 * 99 + 500 and np.shares_memory(row, big) and row.base is big
big += 1
assert row[0] == 6 and type(big.sum()) is np.float64
assert far(np.sort(big)) and far(np.stack([big, big])) and far(np.concatenate((row,) * 30))
s = np.array(["a"] * 2000)
assert not far(s) and (s == "a").all()
view = np.lib.stride_tricks.sliding_window_view(big, 3, axis=0)
view = big.reshape(-1)[::2]
view[0] = 77
assert big[0, 0] == 77 and np.float64(2) * big is not None and far(np.float64(2) * big)
"""
    lazy = """
w = np.ones((100, 100))
w += 1
part = w[0]
count = lambda: _core.jit_stats()["launches"]
n = count()
z = w * 3
assert count() == n, "a view of w does not make operations on w run at once"
part[0] = 9
assert z[0, 0] == 6 and w[0, 0] == 9 and part[0] == 9
assert np.asarray(memoryview(w))[0, 0] == 9
memoryview(part)[1] = 5
z = w * 3
memoryview(part)[1] = 6
assert z[0, 1] == 15 and (w * 3)[0, 1] == 18
"""
    assert run(program(tmp_path, "lazy.py", text[: text.index("x, y =")] + lazy)) == (0, "", "")
    for device in ("cpu", "null"):
        assert run("--device", device, program(tmp_path, "prog.py", text)) == (0, "", "")


def test_order_of_equal_elements():
    """On the CPU argsort leaves equal elements in NumPy's order, whoever holds the array."""
    code = "import numpy as np; x = np.array([3, 1, 2, 1] * 9); print(x.argsort(), np.argsort(x), x.argpartition(5)[:3])"
    _, wanted, _ = run("-c", code, crossover=NEVER)
    status, out, err = run("--device", "cpu", "-c", code, crossover=1)
    assert (status, out) == (0, wanted), err
