"""What is said of programs that cannot be compiled: one paragraph each, kept in kernel_errors.txt.

`python tests/python/test_kernel_errors.py` writes that file anew; read what has changed before keeping it.
"""

import linecache
import pathlib
import re

import numpy as np
import pytest

import treadle as td
from treadle import _core, cuda

GOLDEN = pathlib.Path(__file__).with_name("kernel_errors.txt")
A, F = np.arange(3.0), np.float32
WRONG = {
    "a name that is nowhere": ("def f(a):\n    return a[0] + undefined\n", (A,)),
    "a name before its value": ("def f(n):\n    if n > 1:\n        x = y\n        y = n\n    return n\n", (3,)),
    "a string and an array": ('def f(a):\n    return a + "x"\n', (A,)),
    "two types where paths meet": ("def f(a):\n    if a[0] > 0:\n        x = 1\n    else:\n        x = (1, 2)\n    return x\n", (A,)),
    "too many indices": ("def f(a):\n    return a[0, 0]\n", (A,)),
    "an index that is no integer": ("def f(a):\n    return a[0.5]\n", (A,)),
    "an attribute that is not there": ("def f(a):\n    return a.foo\n", (A,)),
    "a method that is not there": ("def f(a):\n    return a.byteswap()\n", (A,)),
    "a function that is not known": ("import os\ndef f(a):\n    return os.getpid()\n", (A,)),
    "a generator expression": ("def f(a):\n    return tuple(x for x in a)\n", (A,)),
    "a dict of more than one kind": ("def f(n):\n    d = {1: n}\n    d['a'] = n\n    return d[1]\n", (3,)),
    "a generator": ("def f(n):\n    yield n\n", (3,)),
    "try": ("def f(n):\n    try:\n        return n\n    except ValueError:\n        return 0\n", (3,)),
    "with": ("def f(a):\n    with a:\n        return 1\n", (A,)),
    "import inside": ("def f(n):\n    import no_such_module\n    return n\n", (3,)),
    "a global that is assigned": ("x = 1\ndef f(n):\n    global x\n    x = n\n    return x\n", (3,)),
    "recursion without an end": ("def f(n):\n    return f(n - 1)\n", (3,)),
    "an order of complex numbers": ("def f(z):\n    return z < 1\n", (1j,)),
    "bits of a float": ("def f(x):\n    return x & 1\n", (1.5,)),
    "a call with too many arguments": ("def g(a):\n    return a\ndef f(n):\n    return g(n, n)\n", (3,)),
    "a call without an argument": ("def g(a, b):\n    return a\ndef f(n):\n    return g(n)\n", (3,)),
    "an argument that is not known": ("def g(a):\n    return a\ndef f(n):\n    return g(n, by=2)\n", (3,)),
    "an error in a called function": ("def g(a):\n    return a.nothing\ndef f(a):\n    return g(a)\n", (A,)),
    "unpacking": ("def f(n):\n    a, b = (n, n, n)\n    return a\n", (3,)),
    "a tuple's end": ("def f(n):\n    return (n, n)[2]\n", (3,)),
    "an exception with a computed text": ("def f(n):\n    raise ValueError((n, n))\n", (3,)),
    "something that is raised": ("def f(n):\n    raise n\n", (3,)),
    "a step of zero": ("def f(n):\n    for i in range(0, n, 0):\n        pass\n", (3,)),
    "a range of floats": ("def f(x):\n    for i in range(x):\n        pass\n", (1.5,)),
    "a sum over a number": ("def f(n):\n    for x in n:\n        pass\n", (3,)),
    "a shape that is not known": ("from treadle import cuda\ndef f(n):\n    x = cuda.local.array(n, float)\n", (3,)),
    "a shared array without a dtype": ("from treadle import cuda\ndef f(n):\n    x = cuda.shared.array(3)\n", (3,)),
    "a float of a complex number": ("def f(z):\n    return float(z)\n", (1j,)),
    "a read-only array": ("def f(a):\n    a[0] = 1\n", (np.broadcast_to(A, (3,)),)),
    "a module's name that is not there": ("import math\ndef f(n):\n    return math.gama(n)\n", (3,)),
    "a list of more than one kind": ("def f(n):\n    x = []\n    x.append(n)\n    x.append(None)\n    return n\n", (3,)),
    "a matrix product of numbers": ("def f(n):\n    return n @ n\n", (3,)),
    "math of a string": ('import math\ndef f(n):\n    return math.sin("x")\n', (3,)),
    "a wrong number for a function": ("import math\ndef f(n):\n    return math.sin(n, n)\n", (3,)),
}


def said(name):
    text, args = WRONG[name]
    file = f"{name}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {}
    exec(compile(text, file, "exec"), space)
    with td.device("cpu"), pytest.raises((TypeError, ValueError, NameError, IndexError, OverflowError)) as error:
        _core.Dispatcher(space["f"], mode=1)(*args)
    return re.sub(r" at 0x[0-9a-f]+", "", f"{type(error.value).__name__}: {error.value}")


def paragraphs():
    return "".join(f"## {name}\n{said(name)}\n\n" for name in WRONG)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_said(name):
    golden = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*?)\n(?=## |\Z)", GOLDEN.read_text(encoding="utf-8"), re.MULTILINE))
    assert said(name) + "\n" == golden[name]


def test_all_name_the_place():
    """A file, a line, the line's text and a caret under what is meant."""
    for name in WRONG:
        text = said(name)
        assert f'"{name}.py", line ' in text and "^" in text, text
        assert "Traceback" not in text


def test_before_anything_runs():
    """Wrong calls of a kernel are exceptions at the call; nothing has been written."""

    @cuda.jit
    def kernel(a, b):
        a[cuda.grid(1)] = b

    a = td.zeros(4, dtype=F)
    for args, kind in [((a,), TypeError), ((a, 1, 2), TypeError), ((a, "x"), TypeError), ((a, object()), TypeError)]:
        with pytest.raises(kind):
            kernel[1, 4](*args)
    with pytest.raises(ValueError, match="2048"):
        kernel[1, 2048](a, 1)
    assert not a.any()


if __name__ == "__main__":
    GOLDEN.write_text(paragraphs(), encoding="utf-8")
