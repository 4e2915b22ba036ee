"""Docstrings of treadle's own names: they are in numpydoc form, name every parameter, and their examples are right.

Which names are asked is told by tables: rows of ops.def and reduce.def, _HOME, and the public names of FACES. A name is
documented by another library, or by another name, and needs no sections where

- it is NumPy's object or one with NumPy's docstring (functions of files and texts),
- its docstring is "As treadle.NAME.": a method whose function has them,
- it is no function: a constant, a property, an exception, an object that is subscripted,
- it belongs to a face whose names are another library's: CuPy's (`_cupy`, `testing`, `cuda._pools`), Numba's, PyCUDA's,
  PyTorch's and SciPy's are described by docs/reference and their libraries.
"""

import doctest
import functools
import importlib
import inspect
import re
import types
import warnings

import numpy
import pytest

import treadle as td
from treadle import _core

FACES = "random linalg fft emath memory executor distributed".split()
THEIRS = {"_cupy._functions", "cuda._pools"}
CORE = """arange array asarray asnumpy device devices empty evaluate from_dlpack full ndarray ones use zeros synchronize
Stream Event""".split()
CLASSES = """ndarray Stream Event device graph profile doctor executor.DeviceExecutor distributed.Group distributed.Work
random.Generator random.BitGenerator""".split()
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
SUMMARY = 150  # characters


def own(value):
    return inspect.getdoc(value) or ""


def numpys(name, value):
    """Is it NumPy's, by identity or by its docstring?"""
    places = [vars(place).get(name) for place in (numpy, numpy.random, numpy.linalg, numpy.lib)]
    return any(theirs is value or (theirs is not None and own(value) == own(theirs) != "") for theirs in places)


def function(value):
    """Whether a name has parameters and results: a function, a class that is called, a method."""
    if isinstance(value, type):
        return not issubclass(value, BaseException)
    return callable(value)


def member(cls, name):
    """A method as a function; the static value of anything else."""
    value = inspect.getattr_static(cls, name)
    return value.__func__ if isinstance(value, (staticmethod, classmethod)) else value


def inherited(cls, name):
    """Whether a class of another library has the member: concurrent.futures describes its own."""
    return any(name in vars(c) and not c.__module__.startswith("treadle") for c in cls.__mro__[1:-1]) and name not in vars(cls)


# Rows of the table of operations that have their own name here; others are synonyms.
ROWS = sorted(name for name, row in td._ROWS.items() if name == row)


def named():
    """{full name: object} of all names that this file asks."""
    found = {}
    for name in ROWS:
        found[f"treadle.{name}"] = _core.ufuncs()[name]
    for name in [row[0] for row in _core.reductions()] + CORE:
        found[f"treadle.{name}"] = getattr(td, name)
    for home, names in td._HOME.items():
        if home not in THEIRS:
            found |= {f"treadle.{n}": getattr(td, n) for n in names.split()}
    for face in FACES:
        module = importlib.import_module(f"treadle.{face}")
        public = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
        found |= {f"treadle.{face}.{n}": getattr(module, n) for n in public}
    for path in CLASSES:
        cls = functools.reduce(getattr, path.split("."), td)
        members = [n for n in dir(cls) if not n.startswith("_")]
        found |= {f"treadle.{path}.{n}": member(cls, n) for n in members if not inherited(cls, n)}
    found["treadle.config.implicit_host_sites"] = td.config.implicit_host_sites
    return {k: v for k, v in found.items() if not isinstance(v, types.ModuleType)}


NAMED = named()
ASKED = sorted(
    k for k, v in NAMED.items()
    if function(v) and not numpys(k.rpartition(".")[2], v) and not own(v).startswith("As treadle.")
)  # fmt: skip


def sections(doc):
    """{title: text} of a docstring in numpydoc form; "" is what stands before the first section."""
    parts = SECTION.split(doc)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2]))}


def documented(text):
    """Names of a Parameters section, without stars."""
    heads = [line.partition(" : ")[0] for line in text.splitlines() if line and not line.startswith(" ")]
    return [n.strip(" *") for head in heads for n in head.split(",")]


def parameters(value):
    """Names of the parameters that a caller gives; None: Python knows none."""
    try:
        found = list(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return None
    return [n for n in found if n not in ("self", "g")]  # g: the Generator, in functions that become its methods


def test_the_tables_give_names():
    assert len(ASKED) > 480, len(ASKED)
    assert {"treadle.add", "treadle.sum", "treadle.fft.rfft", "treadle.ndarray.astype", "treadle.graph"} <= set(ASKED)


@pytest.mark.parametrize("name", ASKED)
def test_sections(name):
    doc, value = own(NAMED[name]), NAMED[name]
    told = sections(doc)
    lines = told[""].strip().splitlines()
    if lines[0].startswith(f"{name.rpartition('.')[2]}("):  # a ufunc's call, which pydoc does not show
        lines = lines[2:]
    assert lines and len(lines[0]) <= SUMMARY and (len(lines) == 1 or not lines[1]), "a summary of one line"
    given = parameters(value)
    if given is not None:
        assert sorted(documented(told.get("Parameters", ""))) == sorted(given), "Parameters"
    assert "Examples" in told and ">>> " in told["Examples"]
    known = {"", "Parameters", "Returns", "Yields", "Raises", "Examples"}
    assert set(told) <= known and list(told) == [s for s in ("", "Parameters", "Returns", "Yields", "Raises", "Examples") if s in told]
    assert max(map(len, lines)) <= 120


def test_every_method_has_a_summary():
    assert [k for k, v in NAMED.items() if k.startswith("treadle.ndarray.") and not own(v)] == []


def test_methods_lead_to_functions():
    """A method that says "As treadle.NAME." has none but that function's parameters."""
    for k, v in NAMED.items():
        match = re.match(r"As treadle\.([\w.]+)\.$", own(v))
        if match:
            f = functools.reduce(getattr, match[1].split("."), td)
            assert own(f) and set(parameters(v)) <= {*parameters(f), "kwargs", "min", "max"}, k


def test_settings():
    """treadle.config is an object: its docstring names every setting instead of parameters."""
    told = sections(own(td.config))
    assert sorted(documented(told["Attributes"])) == sorted(vars(td.config))


@pytest.mark.parametrize("name", [*ASKED, "treadle.config"])
def test_examples(name):
    """As doctest runs them, with treadle as np; warnings are none of an example's."""
    value = NAMED.get(name, td.config)
    scope = {"np": td, "numpy": numpy, "treadle": td}
    test = doctest.DocTestParser().get_doctest(own(value), scope, name, None, 0)
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = doctest.DocTestRunner(verbose=False)
        runner.run(test, out=told.append)
        td.distributed.finalize()
    assert test.examples and runner.failures == 0, "".join(told)


# An example of one expression has NumPy's value.
COMPARED = [n for n in ASKED if hasattr(numpy, n.split(".")[1]) and "random" not in n]


@pytest.mark.parametrize("name", COMPARED)
def test_values_are_numpys(name):
    """NumPy gives for an example's one expression what the docstring shows."""
    examples = doctest.DocTestParser().get_examples(own(NAMED[name]))
    path = name.removeprefix("treadle.")
    place = numpy
    for part in path.split("."):
        place = getattr(place, part, None)
    source, shown = examples[0].source, examples[0].want
    if place is None or len(examples) != 1 or not shown or f"np.{path}(" not in source or source.startswith("with"):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = eval(source, {"np": numpy, "numpy": numpy})
    shown = eval(shown.replace("<BLANKLINE>", ""), SCOPE)
    if name in OTHERWISE:
        assert shown != theirs
        return
    same(shown, theirs)


SCOPE = {k: getattr(numpy, k) for k in "array dtype float32 int16 int32 uint8 inf nan".split()} | {"np": numpy}
OTHERWISE = {"treadle.seterr", "treadle.geterr"}  # nothing is looked for at first


def same(shown, theirs):
    """Nested sequences, texts and Python's values are equal, numbers are close: they are shown with eight digits."""
    if isinstance(theirs, (tuple, list)):
        assert len(shown) == len(theirs)
        for s, t in zip(shown, theirs):
            same(s, t)
    elif hasattr(theirs, "dtype") and theirs.dtype.kind != "O":
        assert getattr(shown, "dtype", theirs.dtype) == theirs.dtype and numpy.shape(shown) == numpy.shape(theirs)
        numpy.testing.assert_allclose(shown, theirs, rtol=1e-6, atol=1e-8)
    else:
        assert numpy.array_equal(shown, theirs)


# ---- what a row's docstring says of its operands ----


@pytest.mark.parametrize("name", ROWS)
def test_refused_kinds(name):
    """Operands of the kinds that Raises names raise TypeError, all others do not."""
    from treadle import _describe

    f, told = getattr(td, name), sections(getattr(td, name).__doc__)
    refused = told.get("Raises", "").partition("TypeError\n")[2]
    for kind, word in _describe.KINDS.items():
        dtype = {"b": "bool", "i": "int64", "u": "uint8", "f": "float64", "c": "complex128"}[kind]
        operands = [td.ones(2, dtype)] * f.nin
        if word in refused:
            with pytest.raises(TypeError):
                f(*operands)
        else:
            assert f(*operands).shape == (2,)
