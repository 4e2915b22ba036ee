"""Every name of NumPy that treadle computes, against NumPy: values, dtypes, shapes and the types of exceptions, over
dtypes, layouts and devices. The names are those of treadle._numpy._names; one without a row of cases fails."""

import importlib
import pickle
import re
import warnings

import numpy as np
import numpy_cases
import numpy_cases_members as members
import pytest

import treadle as td
from treadle._numpy import _names

DTYPES = "float64 float32 float16 int64 int8 uint8 bool complex128 complex64".split()
FEW = "float64 int32 complex128".split()
TOLERANCE = {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5}

pytestmark = [
    pytest.mark.skipif(np.__version__ < "2.4", reason="the rows are of the names of NumPy 2.4"),
    pytest.mark.filterwarnings("ignore"),
]


# ---- what a text can use ----


def added(a, b):
    return a + b


def padder(vector, widths, axis, kwargs):
    vector[: widths[0]], vector[-widths[1] :] = 7, 8


def worded(a):
    return "odd" if a % 2 else "even"


def powers(a, p):
    return sum(a**k for k in p)


def some(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    low = 0 if dtype.kind in "ub" else -2
    whole = rng.integers(low, 2 if dtype.kind == "b" else 5, shape)
    if dtype.kind == "c":
        return (whole + 1j * rng.integers(-2, 3, shape)).astype(dtype)
    return (whole + (rng.integers(0, 4, shape) / 4 if dtype.kind == "f" else 0)).astype(dtype)


LAYOUTS = {
    "contiguous": lambda dt, seed: (some((3, 4), dt, seed), lambda a: a),
    "strided": lambda dt, seed: (some((6, 8), dt, seed), lambda a: a[::2, 1::2]),
    "transposed": lambda dt, seed: (some((4, 3), dt, seed), lambda a: a.T),
    "reversed": lambda dt, seed: (some((3, 4), dt, seed), lambda a: a[::-1, ::-1]),
    "empty": lambda dt, seed: (some((0, 4), dt, seed), lambda a: a),
    "no axes": lambda dt, seed: (some((), dt, seed), lambda a: a),
    "broadcast": lambda dt, seed: (some((4,), dt, seed), None),
}


def operands(lib, dtype, layout, path):
    def as_is(a):
        return lib.asarray(a.copy())

    def laid(seed):
        base, view = LAYOUTS[layout](dtype, seed)
        return view(as_is(base)) if view else lib.broadcast_to(as_is(base), (3, 4))

    return {
        "padder": padder, "added": added, "worded": worded, "powers": powers, "np": lib, "x": laid(1), "y": laid(2), "pickle": pickle, "path": path,
        "v": as_is(some(4, dtype, 3)), "m": as_is(some((3, 3), dtype, 4)), "k": as_is(some((4, 3), dtype, 5)),
        "i": as_is(np.array([2, 0, 1])), "b": as_is(some((3, 4), "bool", 6)), "q": as_is(some(4, "bool", 7)),
        "s": as_is(np.array([0.5, 1.0, 2.25, 4.0])), "d": as_is(some((3, 3), "float64", 8) / 4 + 3 * np.eye(3)),
    }  # fmt: skip


# ---- what counts as the same ----


def comparable(value):
    """Arrays as NumPy's, in tuples and lists too; whatever else as it is."""
    if isinstance(value, td._core.ndarray):
        return value.get()
    if isinstance(value, (tuple, list)):
        return [comparable(v) for v in value]
    return value


def difference(ours, theirs, values=True):
    """What differs, or None."""
    if isinstance(theirs, list):
        if not isinstance(ours, list) or len(ours) != len(theirs):
            return f"{ours!r} where NumPy has {theirs!r}"
        return next((d for a, b in zip(ours, theirs) if (d := difference(a, b, values))), None)
    if isinstance(theirs, (np.ndarray, np.generic)):
        ours = np.asarray(ours) if type(ours) in (bool, int, float, complex) and not theirs.ndim else ours
        if not isinstance(ours, (np.ndarray, np.generic)):
            return f"{type(ours)} where NumPy has {type(theirs)}"
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            return f"{ours.dtype}{ours.shape} where NumPy has {theirs.dtype}{theirs.shape}"
        if not values or theirs.dtype.kind in "OSU":
            return None if not values or (ours == theirs).all() else f"{ours} where NumPy has {theirs}"
        rtol = TOLERANCE.get(theirs.dtype.name, 1e-11) if theirs.dtype.kind in "fc" else 0
        same = np.isclose(ours, theirs, rtol, rtol, equal_nan=True) if rtol else ours == theirs
        return None if np.all(same) else f"{ours} where NumPy has {theirs}"
    if isinstance(theirs, (bool, int, float, complex, str, bytes, type(None))):
        ours = ours.item() if isinstance(ours, (np.ndarray, np.generic)) and ours.ndim == 0 else ours
        same = ours == theirs or (theirs != theirs and ours != ours)
        if isinstance(theirs, float) and isinstance(ours, float):
            same = same or abs(ours - theirs) <= 1e-5 * abs(theirs)
        return None if same or (not values and type(ours) is type(theirs)) else f"{ours!r} where NumPy has {theirs!r}"
    return None  # objects of which a text compares what counts


def outcome(code, scope):
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return comparable(eval(code, scope)), None
    except Exception as error:
        return None, error


def same_kind(ours, theirs):
    """Would a program that catches NumPy's exception catch ours?"""
    bases = [c for c in type(theirs).__mro__ if c.__module__ == "builtins" and c not in (object, BaseException, Exception)]
    own = next((c for c in (np.linalg.LinAlgError, np.exceptions.AxisError) if isinstance(theirs, c)), None)
    return isinstance(ours, own) if own else not bases or any(isinstance(ours, c) for c in bases[:2])


def compare(text, dtype, layout, path, values=True):
    code = compile(text, text, "eval")
    ours, our_error = outcome(code, operands(td, dtype, layout, path + "-ours"))
    theirs, their_error = outcome(code, operands(np, dtype, layout, path))
    where = f"{text} of {dtype}, {layout}: "
    if their_error or our_error:
        if their_error and our_error and same_kind(our_error, their_error):
            return None
        return f"{where}{our_error or ours!r} where NumPy has {their_error or theirs!r}"
    found = difference(ours, theirs, values)
    return where + found if found else None


# ---- the rows ----


def spread(rows):
    return {name: text for names, text in rows.items() for name in names.split()}


def texts(name, row, prefix, call):
    """A row's texts as expressions."""
    for text in row.split(" | "):
        text = text.strip()
        if "{" in text and call != "ndarray":
            yield text.replace("{name}", prefix + name).replace("{}", name)
        elif "{" in text:
            yield "x." + name if text == "{}" else text.replace("{}", name)
        elif re.search(rf"\b{re.escape(name)}\b", text):
            yield text
        else:
            yield f"{prefix}{name}({'' if text == '-' else text})"


def of_ufunc(name):
    f = getattr(np, name)
    operands = ", ".join("xy"[: f.nin])
    out = f"np.{name}({operands})"
    if f.nout == 1:
        masked = f"np.{name}({operands}, where=b, out={out}[::-1].copy()) | (z := {out} * 0 + 1, np.{name}({operands}, out=z), z)[2]"
    else:
        masked = f"np.{name}({operands})[1]"
    return f"{operands} | {operands}, dtype='float64' | {masked}" + (" | x, 2 | x, v | 2.5, x" if f.nin == 2 else "")


def computed(module):
    """Names of a module of NumPy's that treadle computes."""
    for name in _names.numpys(module):
        if _names.status(name, module)[0] in ("native", "composed", "host"):
            yield name


def main_cases():
    rows = spread(numpy_cases.ROWS)
    for name in computed(""):
        value = getattr(np, name)
        if isinstance(value, np.ufunc) and name not in rows:
            yield name, list(texts(name, of_ufunc(name), "np.", ""))
        elif value not in (np.ndarray, np.ufunc, np.bool) and (callable(value) or hasattr(value, "__getitem__")):
            yield name, list(texts(name, rows[name], "np.", "")) if name in rows else None


def module_cases(module, rows, prefix, call=""):
    rows = spread(rows)
    for name in computed(module):
        yield name, list(texts(name, rows[name], prefix, call)) if name in rows else None


def series_cases():
    for module, (prefix, cls, *_) in importlib.import_module("treadle.polynomial._basis").BASES.items():
        rows = spread(members.SERIES)
        for name in getattr(np.polynomial, module).__all__:
            if not callable(getattr(getattr(np.polynomial, module), name)):
                continue
            where = f"np.polynomial.{module}.{name}"
            if name == cls:
                yield where, [f"{where}.fit(s, s * s, 2)(x)", f"({where}([1, 2]) * {where}([2, 3]))(s)", f"{where}([1, 2, 3]).deriv().coef"]
                continue
            short = name[len(prefix) :] if name.startswith(prefix) else "2poly" if name.endswith("2poly") else "2poly"
            yield where, [f"{where}({t.strip()})" for t in rows[short].split(" | ")] if short in rows else None


CASES = {
    "": dict(main_cases()),
    "ndarray": dict(module_cases("ndarray", members.NDARRAY, "x.", "ndarray")),
    "linalg": dict(module_cases("linalg", members.LINALG, "np.linalg.")),
    "fft": dict(module_cases("fft", members.FFT, "np.fft.")),
    "polynomial": dict(series_cases()),
    "lib.stride_tricks": dict(module_cases("lib.stride_tricks", members.STRIDES, "np.lib.stride_tricks.")),
}
DRAWS = {
    "random": dict(module_cases("random", members.RANDOM, "np.random.")),
    "random.Generator": dict(module_cases("random.Generator", members.GENERATOR, "np.random.default_rng(3).")),
}


def test_every_name_has_a_row():
    missing = [f"{module}.{name}" for table in (CASES, DRAWS) for module, cases in table.items() for name, c in cases.items() if not c]
    assert not missing


def runs(cases, dev):
    """(text, dtype, layout): the first text in every dtype and layout, the others in few. Few on the null device, which
    interprets its kernels."""
    for n, text in enumerate(cases):
        if dev != "cpu":
            yield text, "float64", "contiguous"
            continue
        for dtype in FEW if n else DTYPES:
            yield text, dtype, "contiguous"
        for layout in LAYOUTS if not n else ():
            if layout != "contiguous":
                yield text, "float64", layout


NAMES = [(module, name) for module, cases in CASES.items() for name in cases]


def check(module, name, dev, path):
    found = [compare(*run, str(path / "f")) for run in runs(CASES[module][name] or [], dev)]
    found = [f for f in found if f]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("module, name", NAMES, ids=lambda v: v or "np")
def test_as_numpy(module, name, dev, tmp_path, monkeypatch):
    if module == "ndarray" and name in members.ON_CPU and dev != "cpu":
        pytest.skip("only arrays in host memory have it")
    monkeypatch.setattr(td.config, "fallback", "allow")
    check(module, name, dev, tmp_path)


@pytest.mark.parametrize("module, name", [(m, n) for m, cases in DRAWS.items() for n in cases], ids=lambda v: v)
def test_draws_have_numpys_dtypes_and_shapes(module, name, dev, tmp_path):
    found = [compare(text, "float64", "contiguous", str(tmp_path / "f"), values=False) for text in DRAWS[module][name] or []]
    found = [f for f in found if f]
    assert not found, "\n".join(found)
