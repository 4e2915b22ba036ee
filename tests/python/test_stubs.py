"""What an editor sees: stubs beside the modules, signatures that are real, completion of public names.

The stubs' own checks (`make lint`: tools/types.sh) compare them with the package; here stands what holds of an installed
package, and that functions give what the stubs say, by the rows that compare treadle with NumPy and PyTorch.
"""

import ast
import importlib
import inspect
import pathlib
import pkgutil
import subprocess
import sys
import types

import numpy as np
import pytest
import scipy_side
import test_numpy_cases
import torch_cases
import torch_side

import treadle as td
import treadle.torch as torch

HOME = pathlib.Path(td.__file__).parent
# Programs, and what `python -m treadle` runs.
NOT_FACES = ("demo", "examples", "unchanged", "__main__")


def below(name):
    yield name
    for info in pkgutil.iter_modules(getattr(importlib.import_module(name), "__path__", ())):
        if not info.name.startswith(("_", "lib" + "treadle")) and info.name not in NOT_FACES:
            yield from below(f"{name}.{info.name}")


MODULES = list(below("treadle"))
each_module = pytest.mark.parametrize("module", MODULES)


def public(module):
    mod = importlib.import_module(module)
    for name in dir(mod):
        if hasattr(mod, name):  # of a library that is installed
            yield name, getattr(mod, name)


def stub(module):
    at = HOME.joinpath(*module.split(".")[1:])
    path = at / "__init__.pyi" if at.is_dir() else at.with_suffix(".pyi")
    return ast.parse(path.read_text(encoding="utf-8"))


def declared(body):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, (ast.AnnAssign, ast.Assign)):
            yield ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])


# ---- files and names ----


def test_the_package_says_that_it_is_typed():
    assert (HOME / "py.typed").is_file()


@each_module
def test_every_public_name_is_in_the_stub(module):
    there = dict(public(module))
    modules = {n: v.__name__ for n, v in there.items() if isinstance(v, types.ModuleType)}
    lent = {n for n, full in modules.items() if full.startswith(("numpy", module + "."))}  # those have stubs of their own
    missing = there.keys() - set(declared(stub(module).body)) - lent
    assert not {name for name in missing if name.isidentifier()}


@each_module
def test_completion_shows_public_names_alone(module):
    assert [name for name in dir(importlib.import_module(module)) if name.startswith("_")] == []


@each_module
def test_completion_shows_no_module_that_is_only_used(module):
    used = [n for n, v in public(module) if isinstance(v, types.ModuleType) and not v.__name__.startswith(("treadle", "numpy"))]
    assert used == []


# ---- signatures ----

# Functions whose parameters nobody can tell, and why.
LOOSE = {
    "numpy's own": "treadle.printoptions treadle.lib.add_docstring treadle.testing.assert_no_gc_cycles "
    "treadle.testing.assert_no_warnings treadle.testing.assert_raises treadle.testing.tempdir "
    "treadle.testing.temppath",
    "scipy's own, which names none": "treadle.scipy.interpolate.make_interp_spline "
    "treadle.scipy.interpolate.make_lsq_spline treadle.scipy.interpolate.make_smoothing_spline "
    "treadle.scipy.odr.odr treadle.scipy.optimize.linear_sum_assignment",
    "CuPy's own names none either": "treadle.fuse treadle.testing.parameterize",
    "PyTorch's own names none either": "treadle.torch.distributed.fsdp.wrap.always_wrap_policy "
    "treadle.torch.nn.attention.restore_flash_attention_impl",
    "typing's own": "treadle.torch.jit.Final",
}
LOOSE = {name: why for why, names in LOOSE.items() for name in names.split()}
FROM_SCIPY = ("treadle.scipy.stats", "treadle.scipy.special", "treadle.special", "treadle.scipy.signal")


def bare(signature):
    kinds = {p.kind for p in signature.parameters.values()}
    return kinds == {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def unsigned(module):
    for name, value in public(module):
        if isinstance(value, type) or not callable(value) or not getattr(value, "__name__", None):
            continue
        try:
            if not bare(inspect.signature(value)):
                continue
        except (ValueError, TypeError):
            pass
        yield f"{module}.{name}"


@each_module
def test_functions_have_signatures(module):
    found = set(unsigned(module))
    if module in FROM_SCIPY:  # what SciPy computes is as SciPy's own function says
        theirs = importlib.import_module(module.replace("treadle.special", "scipy.special").replace("treadle.", ""))
        found = {name for name in found if not hasattr(theirs, name.rpartition(".")[2])}
    assert found - LOOSE.keys() == set()


def test_the_exceptions_are_exceptions():
    found = {name for module in MODULES for name in unsigned(module)}
    assert LOOSE.keys() - found == set()


@pytest.mark.parametrize("cls", [td.ndarray, torch.Tensor, td.Stream, td.Event, td.device], ids=lambda c: c.__name__)
def test_methods_have_signatures(cls):
    for name in dir(cls):
        if not name.startswith("_") and callable(getattr(cls, name)) and not getattr(getattr(cls, name), "_refused", 0):
            inspect.signature(getattr(cls, name))


@pytest.mark.parametrize("cls", [td.Stream, td.Event, td.device, td.ndarray], ids=lambda c: c.__name__)
def test_classes_have_signatures(cls):
    assert not bare(inspect.signature(cls))


def test_signatures_name_what_calls_take():
    assert str(inspect.signature(td.ndarray.take)) == "(self, /, indices, axis=None, out=None, mode='raise')"
    assert str(inspect.signature(torch.sin)) == "(input, *, out=None)"
    assert str(inspect.signature(torch.add)) == "(input, other, *, alpha=1, out=None)"
    assert str(inspect.signature(td.use)) == "(device, /)"
    x = td.arange(6).reshape(2, 3)
    assert (x.take(indices=[1], axis=1, out=None, mode="clip") == td.asarray([[1], [4]])).all()
    t = torch.ones(2)
    assert torch.equal(torch.add(input=t, other=t, alpha=2, out=torch.empty(2)), torch.full((2,), 3.0))


@pytest.mark.parametrize("name", [n for n in dir(td.ndarray) if not n.startswith("_") and hasattr(np.ndarray, n)])
def test_methods_of_arrays_have_numpys_parameters(name):
    """Names that NumPy gives defaults have the same defaults: a call by keyword means the same."""
    ours, theirs = getattr(td.ndarray, name), getattr(np.ndarray, name)
    if not callable(ours):
        return
    try:
        want = inspect.signature(theirs).parameters
    except ValueError:
        return  # NumPy's own has none
    have = inspect.signature(ours).parameters
    for parameter in want.values():
        mine = have.get(parameter.name)
        known = isinstance(parameter.default, (bool, int, str)) and mine is not None and mine.default is not mine.empty
        assert not known or type(mine.default) is not type(parameter.default) or mine.default == parameter.default, name


def parameters_of(body):
    """The annotations of the parameters of functions and methods, but self's, and those of * and **."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from parameters_of(node.body)
        elif isinstance(node, ast.FunctionDef):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            yield from (ast.unparse(p.annotation) for p in every if p.annotation)


def test_most_parameters_say_what_they_take():
    found = [text for module in MODULES for text in parameters_of(stub(module).body)]
    assert len(found) > 15000 and found.count("Any") < 0.38 * len(found)


# ---- what functions give ----

PLAIN = {"bool": bool, "int": int, "str": str, "None": type(None), "bytes": bytes, "float": float}


def fits(value, text):
    """Whether a value is of a type as the stubs spell it; True for types that say nothing, and for type variables."""
    text = text.replace("builtins.", "").lstrip("_")
    if " | " in text:
        return any(fits(value, part) for part in text.split(" | "))
    if text.startswith(("ndarray", "Bools", "Ints", "Same")):
        return isinstance(value, td._core.ndarray)
    if text.startswith(("tuple", "list")):
        return isinstance(value, tuple if text.startswith("tuple") else list)
    if text == "Tensor":
        return isinstance(value, torch.Tensor)
    if text == "dtype":
        return isinstance(value, torch.dtype)
    return not PLAIN.get(text) or type(value) is PLAIN[text]


def results(module, cls=None):
    body = stub(module).body
    if cls:
        body = next(n for n in body if isinstance(n, ast.ClassDef) and n.name == cls).body
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(ast.unparse(node.returns))
    return found


def called(text):
    """(what stands before the last dot, name) of a text that is one call."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None, None
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute):
        return ast.unparse(tree.func.value), tree.func.attr
    return None, None


@pytest.mark.parametrize(
    "rows, module, cls",
    [("", "treadle", None), ("linalg", "treadle.linalg", None), ("fft", "treadle.fft", None), ("ndarray", "treadle", "ndarray")],
)
def test_numpys_functions_give_what_the_stubs_say(rows, module, cls, monkeypatch, tmp_path):
    monkeypatch.setattr(td.config, "fallback", "allow")
    monkeypatch.chdir(tmp_path)
    stated, wrong, tried = results(module, cls), [], 0
    for name, texts in test_numpy_cases.CASES[rows].items():
        for text in texts or []:
            base, last = called(text)
            if last != name or base not in ("np", f"np.{rows}", "x") or name not in stated:
                continue
            try:
                value = eval(text, test_numpy_cases.operands(td, "float64", "contiguous", str(tmp_path / "f")))
            except Exception:
                continue  # a text that raises, as NumPy's does
            tried += 1
            if not any(fits(value, said) for said in stated[name]):
                wrong.append(f"{text}: {type(value).__name__}, not {stated[name]}")
    assert not wrong and tried > 15


def test_torchs_functions_give_what_the_stubs_say():
    modules = ("torch", "torch.linalg", "torch.fft", "torch.special", "torch.nn.functional")
    stated = {m: results(f"treadle.{m}") for m in modules} | {"": results("treadle.torch", "Tensor")}
    wrong, tried = [], 0
    for _, text in torch_cases.cases():
        base, name = called(text)
        said = stated.get(base if base in stated else "" if base and not base.startswith(("torch", "numpy")) else None, {}).get(name)
        if not said:
            continue
        try:
            value = eval(text, torch_side.scope(torch))
        except Exception:
            continue
        tried += 1
        if not any(fits(value, s) for s in said):
            wrong.append(f"{text}: {type(value).__name__}, not {said}")
    assert not wrong and tried > 1000


# ---- what functions take ----

TAKES = {
    "Int": lambda v: hasattr(v, "__index__"),
    "Real": lambda v: hasattr(v, "__float__"),
    "bool": lambda v: isinstance(v, bool),
    "str": lambda v: isinstance(v, str),
    "None": lambda v: v is None,
    "ArrayLike": lambda v: v is not None and not isinstance(v, dict) and "sparse" not in type(v).__module__,
    "Axis": lambda v: v is None or hasattr(v, "__index__") or isinstance(v, (tuple, list)),
    "Shape": lambda v: hasattr(v, "__index__") or isinstance(v, (tuple, list)),
}


def taken(value, text):
    """Whether a parameter of the type takes a value; True for types that say nothing."""
    if "Literal[" in text and isinstance(value, str):
        return value in ast.literal_eval(text[text.index("[") : text.index("]") + 1])
    parts = [part.replace("builtins.", "").lstrip("_") for part in text.split(" | ")]
    return any(part not in TAKES or TAKES[part](value) for part in parts)


class Recorded:
    """A module of SciPy's names whose functions note the arguments that the stubs refuse."""

    def __init__(self, module, wrong):
        self.module, self.wrong = module, wrong
        body = stub(module.__name__).body
        self.stated = {n.name: n.args for n in body if isinstance(n, ast.FunctionDef)}

    def __getattr__(self, name):
        value = getattr(self.module, name)
        if isinstance(value, types.ModuleType):
            inner = Recorded(value, self.wrong)
            setattr(self, name, inner)
            return inner
        if name not in self.stated or not callable(value):
            return value

        def call(*args, **kwargs):
            self.note(name, inspect.signature(value).bind(*args, **kwargs).arguments)
            return value(*args, **kwargs)

        return call

    def note(self, name, arguments):
        stated = self.stated[name]
        said = {p.arg: ast.unparse(p.annotation) for p in stated.posonlyargs + stated.args + stated.kwonlyargs}
        for parameter, value in arguments.items():
            text = said.get(parameter, "Any")
            if not taken(value, text):
                self.wrong.append(f"{self.module.__name__}.{name}: {parameter}={value!r}, not {text}")


def test_scipys_functions_take_what_the_stubs_say(monkeypatch):
    """The rows that compare treadle with SciPy pass what its users pass."""
    monkeypatch.setattr(td.config, "fallback", "allow")
    wrong, tried = [], 0
    root = Recorded(td.scipy, wrong)
    for cases in scipy_side.load()[1].values():
        for case in cases if isinstance(cases, list) else [cases]:
            try:
                case.call(root, td)
                tried += 1
            except Exception:
                continue  # a row of what raises
    assert not wrong and tried > 1000


# ---- programs ----

GOOD = {
    "arrays": """
import treadle as np
a = np.zeros((3, 4), dtype=np.float32)
b: np.ndarray = np.sqrt(a * a + 1) * np.exp(-a)
total: float = float(b.sum())
q, r = np.linalg.qr(b)
same: bool = np.allclose(q, r)
draws = np.random.Generator(np.random.PCG64(0)).gamma(2.5, 1.5, size=(2, 3))
parts: list[np.ndarray] = np.split(b, 2, 1)
""",
    "kernels": """
import numpy
from treadle import cuda, jit
@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2
x = cuda.to_device(numpy.ones(8))
twice[1, 32](x)
twice[(1,), (32,), cuda.stream()](x)
@jit
def add(a: int, b: int) -> int:
    return a + b
@jit(nopython=True)
def sub(a: int, b: int) -> int:
    return a - b
c: int = add(1, 2) + sub(1, 2)
""",
    "tensors": """
import treadle.torch as torch
from treadle.torch import nn
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
loss: torch.Tensor = (net(torch.rand(4, 2)) ** 2).mean()
loss.backward()
n: int = loss.numel()
""",
    "dtypes": """
from typing import assert_type
import numpy
import treadle as np
a = np.zeros(3, dtype=np.float64)
assert_type((a + a).dtype, numpy.dtype[numpy.float64])
assert_type(a.get().dtype, numpy.dtype[numpy.float64])
assert_type(a.astype(np.int8).dtype, numpy.dtype[numpy.int8])
assert_type((a < 1).dtype, numpy.dtype[numpy.bool_])
""",
}
BAD = {
    "a missing operand": ("import treadle as np\nnp.add(np.ones(3))\n", "call-arg"),
    "no such function": ("import treadle as np\nnp.sqroot(2)\n", "attr-defined"),
    "no such parameter": ("import treadle as np\nnp.median(np.ones(3), axes=0)\n", "call-arg"),
    "an array is no string": ("import treadle as np\ns: str = np.ones(3).sum()\n", "assignment"),
    "another dtype": (
        "import numpy\nimport treadle as np\na = np.ones(3, dtype=np.float64)\n"
        "x: np.ndarray[tuple[int, ...], numpy.dtype[numpy.int8]] = a\n",
        "assignment",
    ),
    "an axis is a number": ("import treadle as np\nnp.flip(np.ones(3), axis='x')\n", "arg-type"),
    "a layout has four names": ("import treadle as np\nnp.ones(3).ravel(order='Z')\n", "arg-type"),
    "a size is a shape": ("import treadle as np\nnp.random.Generator(np.random.PCG64(0)).gamma(2.5, size=2.5)\n", "arg-type"),
    "SciPy's policies": ("from treadle.scipy import stats\nstats.zscore([1.0], nan_policy='drop')\n", "arg-type"),
    "a tensor is no list": ("import treadle.torch as torch\ntorch.sin([1.0])\n", "arg-type"),
    "a tensor has no such method": ("import treadle.torch as torch\ntorch.ones(3).summ()\n", "attr-defined"),
}


def mypy(text, folder):
    pytest.importorskip("mypy", reason="mypy is one of `make lint`'s tools")
    name = f"{folder.name}.py"  # of its own: what mypy keeps of a module is found by its name
    (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--allow-untyped-defs", "--allow-untyped-calls", "--cache-dir", folder.parent / "mypy", name],
        cwd=folder, env={"MYPYPATH": str(HOME.parent), "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return [line for line in done.stdout.splitlines() if line.startswith(name) and "error" in line]


@pytest.mark.parametrize("name", GOOD)
def test_good_programs_check(name, tmp_path):
    assert mypy(GOOD[name], tmp_path) == []


@pytest.mark.parametrize("name", BAD)
def test_bad_programs_do_not(name, tmp_path):
    text, kind = BAD[name]
    found = mypy(text, tmp_path)
    assert len(found) == 1 and kind in found[0], found
