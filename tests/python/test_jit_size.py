"""Functions that are deep or long: results as Python's, and how long it takes to compile them."""

import linecache
import time
import warnings

import numpy
import pytest

import treadle as td
from treadle import jit
from treadle.executor import DeviceExecutor


def defined(text):
    name = f"<size {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def chain(n, then):
    tests = "".join(f"    elif a == {i}:\n        {then} {3 * i}\n" for i in range(1, n))
    return defined(f"def f(a):\n    if a == 0:\n        {then} 0\n{tests}    else:\n        {then} -1\n    return r\n")


def nest(n):
    """Conditions and loops in turn; CPython takes 20 loops and, of a text, 100 levels."""
    lines, kinds = ["def f(a):", "    r = 0"], ["if a > {0}:", "for i{0} in range(1):"]
    for d in range(n):
        lines.append("    " + " " * d + kinds[d % 6 == 5].format(d))
    return defined("\n".join([*lines, "    " + " " * n + "r += 1", "    return r", ""]))


@pytest.mark.parametrize("n", [63, 64, 65, 200, 990])
@pytest.mark.parametrize("then", ["r =", "return"])
def test_chain_of_conditions(n, then):
    f = chain(n, then)
    with td.device("cpu"):
        compiled = jit(f)
        assert [compiled(i) for i in (0, 1, n // 2, n - 1, n, -7)] == [f(i) for i in (0, 1, n // 2, n - 1, n, -7)]


@pytest.mark.parametrize("n", [70, 95])
def test_nest(n):
    f = nest(n)
    with td.device("cpu"):
        assert [jit(f)(i) for i in (5, n, n + 50)] == [f(i) for i in (5, n, n + 50)]


def test_too_deep():
    with td.device("cpu"), pytest.raises(td.CompileError, match="line .*: more than 1024 loops and conditions inside"):
        jit(chain(1100, "r ="))(3)


LONG = {
    "integers": ("a = (a * 3 + {}) % 1000003", 10_000),
    "floats": ("a = a * 0.5 + {}.25", 10_000),
    "ifs": ("if a > {}: a = a + 1", 4_000),
    "loops": ("for i in range(3): a = a * 3 % 1009 + i", 700),
    "variables": ("v{0} = a + {0}; a = v{0} % 77", 5_000),
    "arrays": ("b[{} % 7] += a; a = b[3] % 1009", 2_000),
}


def long(kind):
    line, n = LONG[kind]
    return defined("def f(a, b):\n" + "".join(f"    {line.format(i)}\n" for i in range(n)) + "    return a\n")


@pytest.mark.parametrize("kind", LONG)
def test_long(kind):
    f = long(kind)
    b, wanted = [5] * 7, [5] * 7
    with td.device("cpu"):
        began = time.process_time()
        assert jit(f)(7, b := numpy.array(b)) == f(7, wanted)
    assert time.process_time() - began < 5  # about 1 s; minutes where a pass compares each line with all others
    assert b.tolist() == wanted


@pytest.mark.parametrize("kind", ["integers", "floats", "ifs"])
def test_long_in_map(kind):
    line, n = LONG[kind]
    f = defined("def f(a):\n" + "".join(f"    {line.format(i)}\n" for i in range(n // 4)) + "    return a\n")
    with DeviceExecutor("cpu") as ex, warnings.catch_warnings():
        warnings.simplefilter("error")  # it is compiled
        began = time.process_time()
        assert list(ex.map(f, [5, 7, -3])) == [f(5), f(7), f(-3)]
    assert time.process_time() - began < 10  # 1 to 3 s
