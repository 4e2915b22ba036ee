"""Functions that are deep or long: results as Python's, and how long it takes to compile them."""

import linecache
import time

import pytest

import treadle as td
from treadle import jit


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


@pytest.mark.parametrize("line, x", [("a = (a * 3 + {}) % 1000003", 7), ("a = a * 1.0001 + {}.5", 7.0)])
def test_long(line, x):
    f = defined("def f(a):\n" + "".join(f"    {line.format(i)}\n" for i in range(3000)) + "    return a\n")
    with td.device("cpu"):
        began = time.monotonic()
        assert jit(f)(x) == f(x)
    assert time.monotonic() - began < 20  # 2 s; 60 s where a pass compares each line with all others
