"""What treadle cannot compile goes to the real Numba, where one is installed, with the program's globals unwrapped.

A stand-in of Numba's lies on the path: its jit tells what it gets, and calls the function in Python.
"""

import importlib.util
import os
import subprocess
import sys

import pytest

NUMBA = """
from . import types

__version__ = "0.0"
seen = []

class Dispatcher:
    def __init__(self, fn, options):
        self.py_func, self.options, self.compiled = fn, options, []
        seen.append(self)
    def compile(self, args):
        self.compiled.append(args)
    def __call__(self, *args, **kwargs):
        return self.py_func(*args, **kwargs)

def jit(fn, **options):
    return Dispatcher(fn, options)

def prange(*args):
    return range(*args)

def objmode(**kwargs):
    return kwargs

def cfunc(sig, **options):
    return lambda fn: (sig, options, fn.__globals__["np"].__name__, fn(2.0, 3.0))
"""

TYPES = """
class WrapperAddressProtocol: pass
class Type:
    def __init__(self, *args): self.args = args
    def __repr__(self): return f"numba's {self.args}"
    def __call__(self, *args): return self, args
class CPointer(Type): pass
class float64(Type): pass
float64 = Type("float64")
int64 = Type("int64")
def Array(*args, aligned=True): return Type(*args)
"""

TYPEINFER = """
import contextlib
@contextlib.contextmanager
def register_dispatcher(made): yield
"""

PROGRAM = """
import numpy as np
from numpy import sin
import numba
from numba import njit, prange, int64
from numba.extending import overload, register_jitable
import helper

@njit
def inner(x):
    return sin(x)

@njit(cache=True)
def outer(a, k=2):
    bytearray(1)  # not compiled
    s = 0.0
    for i in prange(a.size):
        s += inner(a[i]) * k * helper.twice(1)
    return s, type(np).__name__, prange.__module__, int64

print(outer(np.array([0.5, 1.0]))[0] == 4 * np.sin([0.5, 1.0]).sum())
r = outer(np.array([0.5]), k=1)
print(r[1:], [d.py_func.__name__ for d in numba.seen], numba.objmode(x=1))
print(outer.py_func is not numba.seen[0].py_func, later(3) if "later" in globals() else "")

@njit("float64(float64)")
def declared(x):
    bytearray(1)
    return x**0.5

print(declared(4.0), numba.seen[-1].compiled)

@njit
def raises(x):
    if x > 1:
        raise ValueError(x)
    return x

try:
    raises(3)
except ValueError as e:
    print("its own", e)
try:
    raises()
except TypeError as e:
    print("its own", len(numba.seen))
"""


def run(tmp_path, program, there=True):
    if there:
        package = tmp_path / "site" / "numba"
        (package / "core").mkdir(parents=True)
        (package / "np").mkdir()
        for name, text in {
            "__init__.py": NUMBA, "types.py": TYPES, "core/__init__.py": "", "core/typeinfer.py": TYPEINFER,
            "typed.py": "List = Dict = None", "extending.py": "", "np/__init__.py": "",
            "np/extensions.py": "def cross2d(a, b):\n    pass\n",
        }.items():  # fmt: skip
            (package / name).write_text(text)
        (tmp_path / "site" / "numba-0.0.dist-info").mkdir()
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "helper.py").write_text("def twice(x):\n    return 2 * x\n")
    main = tmp_path / "program" / "main.py"
    main.write_text(program)
    paths = [str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run([sys.executable, "-m", "treadle", main], env=env, capture_output=True, text=True, timeout=120)


def test_unwrapped(tmp_path):
    done = run(tmp_path, PROGRAM)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "True",
        "('module', 'numba', numba's ('int64',)) ['outer', 'inner'] {'x': 1}",
        "True ",
        "2.0 [(numba's ('float64',),)]",
        "its own 3",
        "its own 3",
    ]
    assert "outer: Numba compiles it, treadle cannot" in done.stderr


def test_stubs_are_not_compiled(tmp_path):
    """Numba's compiler replaces functions of Numba's package by other code."""
    done = run(
        tmp_path,
        "import numba\nfrom numba import njit\nfrom numba.np.extensions import cross2d\n"
        "@njit\ndef f(a, b):\n    return cross2d(a, b)\n"
        "f(1.0, 2.0)\nprint([d.py_func.__name__ for d in numba.seen])\n",
    )
    assert done.stdout == "['f']\n", done.stderr
    assert "cross2d" in done.stderr and "treadle cannot" in done.stderr


def test_functions_for_c(tmp_path):
    done = run(
        tmp_path,
        "import numpy as np\nfrom numba import cfunc, types\n"
        "@cfunc(types.float64(types.int64, types.CPointer(types.float64)), cache=True)\n"
        "def f(x, y):\n    return np.add(x, y)\n"
        "print(f)\n",
    )
    assert done.returncode == 0, done.stderr
    float64 = "numba's ('float64',)"
    assert done.stdout == f"(({float64}, (numba's ('int64',), numba's ({float64},))), {{'cache': True}}, 'numpy', np.float64(5.0))\n"


ABSENT = pytest.mark.skipif(importlib.util.find_spec("numba") is not None, reason="the real Numba is installed here")


@ABSENT
def test_addresses_without_numba(tmp_path):
    """cfunc gives addresses that lead to Python."""
    done = run(
        tmp_path,
        """
import ctypes
import numpy as np
from numba import carray, cfunc, float64, types

@cfunc("float64(float64, int32)")
def product(x, n):
    return x * n

@cfunc(types.void(types.CPointer(float64), types.intc))
def double(p, n):
    a = carray(p, (n,))
    for i in range(n):
        a[i] *= 2

@cfunc("int32(voidptr, float32, intp)")
def above(p, x, n):
    return carray(p, 2, np.float64)[n] > x

a = np.arange(3.0)
double.ctypes(a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), 3)
print(product(2.5, 2), product.ctypes(2.5, 2), product.address > 0, a, above.ctypes(a.ctypes.data, 1.0, 1))
at = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int32)(product.address)
print(at(1.5, 4))
""",
        there=False,
    )
    assert done.stdout.splitlines() == ["5.0 5.0 True [0. 2. 4.] 1", "6.0"], done.stderr


@ABSENT
@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("C = ctypes.CDLL(None).labs\n@njit\ndef f(x):\n    return C(x)\nf(1)", "a C function at an address"),
        ("@ctypes.CFUNCTYPE(ctypes.c_int)\ndef g(): pass\n@njit\ndef f():\n    return g()\nf()", "write it in Python"),
        ("@cfunc('float64(float64)')\ndef g(x): return x\n@njit\ndef f(x):\n    return g(x)\nf(1.0)",
         "call the Python function that the cfunc was made of"),
        ("@intrinsic\ndef g(context, x): pass\n@njit\ndef f(x):\n    return g(x)\nf(1.0)", "made for Numba's compiler"),
        ("@njit\ndef f(x):\n    with objmode():\n        print(x)\nf(1)", "do what objmode would do, before or after"),
        ("@njit\ndef f():\n    return np.random.default_rng(1)\nf()", "an argument of the compiled function"),
        ("G = np.random.default_rng(1)\n@njit\ndef f():\n    return G.random()\nf()", "is made outside"),
        ("@overload_method(types.Array, 'm')\ndef o(a): return lambda a: 1\n@njit\ndef f(a):\n    return a.m()\n"
         "f(np.ones(2))", "has no method m"),
    ],
)  # fmt: skip
def test_what_numba_alone_compiles_is_refused_with_advice(tmp_path, body, says):
    top = (
        "import ctypes\nimport numpy as np\nfrom numba import cfunc, njit, objmode, types\n"
        "from numba.extending import intrinsic, overload_attribute, overload_method\n"
    )
    done = run(tmp_path, top + body + "\n", there=False)
    assert done.returncode == 1 and says in done.stderr, done.stderr


def test_without_numba(tmp_path):
    if subprocess.run([sys.executable, "-c", "import numba"], capture_output=True).returncode == 0:
        pytest.skip("the real Numba is installed here")
    done = run(tmp_path, "from numba import njit\n@njit\ndef f():\n    bytearray(1)\nf()\n", there=False)
    assert "TypeError" in done.stderr and done.returncode == 1
