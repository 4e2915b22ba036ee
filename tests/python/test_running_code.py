"""The function that runs is the one that is compiled, whatever its file says by now."""

import glob
import importlib.util
import linecache
import os
import random
import subprocess
import sys
import textwrap
import types
import warnings

import numpy as np
import pytest
from conftest import DEVICES

import treadle as td
from treadle import cuda, jit, stencil, vectorize
from treadle._compile import _source
from treadle.executor import DeviceExecutor

TEXT = """
import math

def marked(f):
    return f

def plain(a):
    return a + 1

def other(a):
    x = a * 2
    return x

@marked
@marked
def decorated(a, b=2, *, c=3):
    "What it does."
    return a * b + c

double, triple = lambda a: a * 2, lambda a: a * 3

def outer(k):
    def nested(a):
        return a + k
    return nested
nested = outer(5)

class Class:
    own = 3
    @staticmethod
    def method(a):
        return a + Class.own

def calls(a):
    return plain(a)

def element(a):
    return a[0] + a[1]

def kernel(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        out[i] = a[i] + 1
"""
FUNCTIONS = ["plain", "other", "decorated", "double", "triple", "nested", "calls", "Class.method"]
EDITS = [("a + 1", "a - 1"), ("a + 1", "a + 2"), ("a + 1", "a + 1.0"), ("x = a * 2", "x = a ** 2"), ("return x", "return a"),
         ("a * b + c", "a * c + b"), ("lambda a: a * 2", "lambda a: a * 3"), ("lambda a: a * 3", "lambda a: 3 * a * 1"),
         ("a + k", "k - a"), ("a + Class.own", "a - Class.own"), ("plain(a)", "other(a)"), ("a[0] + a[1]", "a[0] - a[1]"),
         ("a[i] + 1", "a[i] - 1"), ("def plain(a):\n    return a + 1", "def plain(a):\n    raise ValueError()")]  # fmt: skip


@pytest.fixture
def module(tmp_path):
    made = 0

    def make(text=TEXT):
        nonlocal made
        made += 1
        name = f"edited_{os.getpid()}_{tmp_path.name}_{made}".replace("-", "_")
        file = tmp_path / f"{name}.py"
        file.write_text(text)
        spec = importlib.util.spec_from_file_location(name, file)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        module.cuda = cuda
        spec.loader.exec_module(module)
        return module, file

    return make


def function(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


@pytest.mark.parametrize("name", FUNCTIONS)
def test_found(name, module):
    f = function(module()[0], name)
    assert jit(f)(4) == f(4)


@pytest.mark.parametrize("edit", EDITS, ids=" -> ".join)
def test_edited(edit, module):
    """Each function of an edited file is compiled as it runs, or refused."""
    made, file = module()
    before = {name: function(made, name)(4) for name in FUNCTIONS}
    file.write_text(TEXT.replace(*edit))
    refused = set()
    for name in FUNCTIONS:
        try:
            assert jit(function(made, name))(4) == before[name]
        except OSError as error:
            assert name.rpartition(".")[2] in str(error) or name in ("double", "triple", "calls")
            assert str(file) in str(error)
            refused.add(name)
    changed = {"a + 1": {"plain", "calls"}, "x = a * 2": {"other"}, "return x": {"other"}, "a * b + c": {"decorated"},
               "lambda a: a * 2": {"double"}, "lambda a: a * 3": {"triple"}, "a + k": {"nested"}, "plain(a)": {"calls"},
               "a + Class.own": {"Class.method"},
               EDITS[-1][0]: {"plain", "calls"}}  # fmt: skip
    assert refused == changed.get(edit[0], set())


def test_edited_for_others(module):
    made, file = module()
    file.write_text(TEXT.replace("a + 1", "a - 1").replace("a[i] + 1", "a[i] - 1").replace("a[0] + a[1]", "a[0] - a[1]"))
    a, out = td.arange(4), td.zeros(4)
    with pytest.raises(OSError, match=r"kernel: .*was the file"):
        cuda.jit(made.kernel)[1, 4](a, out)
    with pytest.raises(OSError, match=r"element: .*was the file"):
        stencil(made.element)(np.arange(4))
    with pytest.warns(td.PerformanceWarning, match="a fallback|on the host|called"):
        assert vectorize(made.plain, otypes=[int])(a).get().tolist() == [1, 2, 3, 4]
        assert td.asnumpy(vectorize(made.plain)(np.arange(4))).tolist() == [1, 2, 3, 4]  # what runs, not the file


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_edited_in_executors(name, device, module):
    """Python runs what the file does not hold any more, in this process: others would import the file."""
    made, file = module()
    f = function(made, name)
    want = [f(a) for a in range(100)]
    file.write_text(TEXT.replace("a + ", "a - ").replace("a * ", "a + "))
    with DeviceExecutor(device) as ex, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert list(ex.map(f, range(100))) == want
    assert any("was the file" in str(w.message) for w in told)


def test_moved(module):
    made, file = module()
    file.write_text("\n" + TEXT)
    with pytest.raises(OSError, match="plain"):
        jit(made.plain)(4)


def test_written_anew(module):
    """The same text, or one that differs where nothing runs, is the function's."""
    made, file = module()
    file.write_text(TEXT.replace("return a + 1", "return a+1  # one more").replace("a * b + c", "(a * b) + c"))
    assert jit(made.plain)(4) == 5
    assert jit(made.decorated)(4) == 11


def asserting(a):
    x = a + 1
    assert x > a, "it is not above"
    for i in range(3):
        assert 0 < x + i < 1000
    return x * 2


def test_rewritten_asserts():
    """pytest has rewritten this module."""
    assert any("@py" in n for n in (*asserting.__code__.co_names, *asserting.__code__.co_varnames))
    assert jit(asserting)(4) == 10
    with DeviceExecutor() as ex:
        assert list(ex.map(asserting, range(100))) == [asserting(a) for a in range(100)]


def test_traced():
    f = jit(asserting)
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        assert f(4) == 10
    finally:
        sys.settrace(before)


PROGRAM = """
from __future__ import annotations
from treadle import jit

@jit
def f(a: int, b: int = 2) -> int:
    "Documented."
    y: int = a
    assert a > 0, "positive"
    return y + b if __debug__ else y - b

print(f(3))
"""


@pytest.mark.parametrize("options", [[], ["-O"], ["-OO"], ["-X", "importtime"]], ids=" ".join)
def test_options_of_python(options, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(PROGRAM))
    done = subprocess.run([sys.executable, *options, file], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == ("1" if "-O" in options or "-OO" in options else "5"), done.stderr


def test_text_made_known():
    text = "def made(a):\n    return a + 41\n"
    linecache.cache["<made>"] = (len(text), None, text.splitlines(keepends=True), "<made>")
    space = {}
    exec(compile(text, "<made>", "exec"), space)
    assert jit(space["made"])(1) == 42


def functions(code):
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            if c.co_flags & 2 and not c.co_flags & 0x280 and not (c.co_name[0] == "<" and c.co_name != "<lambda>"):
                yield c
            yield from functions(c)


def test_no_function_of_the_library_is_refused():
    seed = int.from_bytes(os.urandom(4), "little")
    print("seed", seed)
    files = sorted(glob.glob(os.path.join(os.path.dirname(os.__file__), "*.py")))
    n = 0
    for file in random.Random(seed).sample(files, 12):
        with open(file, "rb") as f, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for code in functions(compile(f.read(), file, "exec", dont_inherit=True)):
                _source._search(types.SimpleNamespace(__name__=code.co_name, __globals__={}, __code__=code), code)
                n += 1
    assert n > 0
