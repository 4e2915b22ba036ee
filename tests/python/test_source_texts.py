"""Functions whose text stands in no file: of python -c, python -, exec, eval, doctests, interactive sessions."""

import ast
import collections
import doctest
import os
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest

import treadle as td
from treadle import _core, cuda, guvectorize, jit, vectorize
from treadle._compile import _texts
from treadle.executor import DeviceExecutor

PROGRAM = """
import numpy as np
from treadle import cuda, jit, vectorize

@cuda.jit(device=True)
def twice(x):
    return x + x

def thrice(x):
    return 3 * x

@cuda.jit
def k(a):
    a[cuda.grid(1)] = twice(5) + thrice(1)

a = np.zeros(4)
k[1, 4](a)
print(a.tolist(), jit(lambda x: x + 1)(2), vectorize(lambda x: x * 2)(np.arange(3.0)).tolist())
"""
PRINTED = "[13.0, 13.0, 13.0, 13.0] 3 [0.0, 2.0, 4.0]"


def python(*arguments, **how):
    env = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    run = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, **how)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("options", [["-c"], ["-Bc"], ["-B", "-Xdev", "-W", "ignore", "-c"], ["-m", "treadle", "-c"]])
def test_text_of_the_command(options):
    assert python(*options, PROGRAM, "-c", "1") == PRINTED


def test_text_that_is_the_option():
    assert python("-c" + PROGRAM) == PRINTED


def test_program_from_stdin(tmp_path):
    (tmp_path / "program").write_text(PROGRAM)
    with open(tmp_path / "program") as f:
        assert python("-", stdin=f) == PRINTED
    with open(tmp_path / "program") as f:
        assert python(stdin=f) == PRINTED


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's buffer")
def test_program_from_a_pipe():
    assert python("-", input=PROGRAM) == PRINTED


@pytest.mark.parametrize(
    "older", [b"", b"\0", b"\xff\xfe of \xc3", b"d of it\n  (a b\n)\n\x07", b"\n" * 50 + b"def\n(" * 20]
)
def test_program_from_a_buffer_that_held_another_text(monkeypatch, nothing_kept, older):
    text = b"g = lambda x: x * 3  # \xc3\xa9\ndef f(x):\n    return x - 7\n"
    monkeypatch.setattr(_core, "_stdin_buffer", lambda: text + older)
    monkeypatch.setattr(_texts.stat, "S_ISREG", lambda mode: False)
    space = {}
    exec(compile(text, "<stdin>", "exec"), space)
    _texts._kept.clear()
    assert jit(space["g"])(2) == 6
    assert jit(space["f"])(2) == -5


def test_text_that_was_given_to_exec_before_treadle_was_imported(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"def main():\n    text = {PROGRAM!r}\n    exec(text, {{}})\nmain()\n")
    assert python(str(path)) == PRINTED
    path.write_text(f"import textwrap\nexec(textwrap.dedent({textwrap.indent(PROGRAM, '  ')!r}), {{}})\n")
    assert python(str(path)) == PRINTED


def made(text, name, file="<string>"):
    space = {"cuda": cuda, "np": np, "jit": jit}
    exec(compile("".join(text), file, "exec"), space)
    return space[name]


@pytest.mark.parametrize("file", ["<string>", "<generated>", "no such file.py", ""])
def test_several_texts_of_one_name(file):
    fs = [made(f"def f(x):\n    return x + {i}\n", "f", file) for i in range(5)]
    assert [jit(f)(1) for f in fs] == [1, 2, 3, 4, 5]
    deep = made("if True:\n  def outer():\n    return (lambda x: x - 1), (lambda x: x - 2)\n", "outer", file)
    assert [jit(f)(1) for f in deep()] == [0, -1]


def test_other_ways_to_a_function():
    one = 1
    assert jit(eval(f"lambda x: x + {one}"))(2) == 3
    assert vectorize(made(f"def f(x):\n    return x * {one + 1}\n", "f"))(np.arange(3.0)).tolist() == [0, 2, 4]
    double = made("def f(x, r):\n    for i in range(x.size):\n        r[i] = 2 * x[i]\n", "f")
    assert guvectorize(["(f8[:], f8[:])"], "(n)->(n)")(double)(np.arange(3.0)).tolist() == [0, 2, 4]
    a = td.zeros(3)
    made("@cuda.jit\ndef k(a):\n    a[cuda.threadIdx.x] = 7\n", "k")[1, 3](a)
    assert a.tolist() == [7, 7, 7]
    with DeviceExecutor() as run:
        assert list(run.map(made("def square(x):\n    return x * x\n", "square"), range(5))) == [0, 1, 4, 9, 16]


def test_doctests_have_their_source():
    module = types.ModuleType("documented")
    module.__doc__ = """
    >>> from treadle import jit
    >>> @jit
    ... def f(x):
    ...     return x + 41
    >>> f(1)
    42
    """
    assert doctest.testmod(module) == (0, 3)


def test_what_was_typed():
    """Python before 3.13 keeps what is typed in readline's history alone."""
    pytest.importorskip("readline")
    lines = ["from treadle import jit", "@jit", "def f(x):", "    if x > 1:", "        return 5", "    return x + 1", "",
             "f(1), f(2)", "g = jit(lambda x: x - 1); g(1)", "@jit", "def f(x):", "    return x + 9", "", "f(1)"]  # fmt: skip
    session = f"""
import code, readline, sys
sys.displayhook = print
statement = []
for line in {lines!r}:
    statement.append(line)
    if line:
        readline.add_history(line)
    made = code.compile_command("\\n".join(statement), "<stdin>")
    if made is not None and not line.startswith(" "):
        statement = []
        if "treadle" in sys.modules:
            sys.modules["treadle._compile._texts"]._kept.clear()
        exec(made, globals())
"""
    assert python("-c", session).splitlines() == ["(2, 5)", "0", "10"]


@pytest.fixture
def nothing_kept(monkeypatch):
    monkeypatch.setattr(_texts, "_kept", collections.OrderedDict())
    monkeypatch.setattr(_texts, "_size", 0)


def test_texts_that_nobody_knows_are_refused(nothing_kept):
    f = made("def f(x):\n    return x * {}\n".format(len("seven")), "f")
    _texts._kept.clear()
    with pytest.raises(OSError, match="f: its source is not known: '<string>'"):
        jit(f)(1)


def test_functions_made_of_syntax_trees(nothing_kept, monkeypatch):
    monkeypatch.setattr(_texts, "trees", collections.deque(maxlen=4))
    text = "def f(x, n):\n    def g(y):\n        return y * n\n    return sum([g(i) for i in range(x)])\n"

    class Swapped(ast.NodeTransformer):
        def visit_Mult(self, node):
            return ast.Add()

    trees = [ast.parse(text), ast.fix_missing_locations(Swapped().visit(ast.parse(text)))]
    functions = []
    for tree in trees:
        space = {}
        exec(compile(tree, "<made>", "exec"), space)
        functions.append(space["f"])
    assert [jit(f)(5, 3) for f in functions] == [30, 25]
    with pytest.raises(ValueError, match="no attribute"):
        space = {}
        exec(compile(ast.parse("def f(x):\n    return x.nothing\n"), "<made>", "exec"), space)
        jit(space["f"])(np.ones(2))
    for tree in (ast.parse(text * 9), *trees, *trees):  # whole files are in files
        compile(tree, "<made>", "exec")
    assert len(_texts.trees) == 4


def test_what_is_kept_is_bounded(nothing_kept):
    for i in range(60):
        made(f"def f(x):\n    return x + {i}\n#" + "x" * 200_000, "f")
    assert 3 << 20 < _texts._size == sum(len(text) for _, text in _texts._kept) <= 4 << 20
    assert jit(made("def f(x):\n    return x + 1\n", "f"))(1) == 2
    with open(__file__) as f:
        compile(f.read(), __file__, "exec")
    assert not any(file == __file__ for file, _ in _texts._kept)
