"""The oracle's side: dtypes, layouts, values, and what counts as equal."""

import math

import numpy as np

import treadle as td

BOOL, INTS, FLOATS = ["bool"], [f"{s}int{n}" for s in ("", "u") for n in (8, 16, 32, 64)], ["float16", "float32", "float64"]
REAL = BOOL + INTS + FLOATS
COMPLEX = ["complex64", "complex128"]

# Units in the last place that functions may be off by: NumPy's own errors and ours.
ULP = {"float16": 2, "float32": 4, "float64": 4, "complex64": 8, "complex128": 8}


def values(shape, dtype, rng, low=-4, high=5):
    """Small numbers, so that integer arithmetic has something to wrap and floats little to overflow."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind == "u":
        return rng.integers(max(int(low), 0), max(int(high), 1), shape).astype(dtype)
    if dtype.kind == "i":
        return rng.integers(int(low), max(int(high), 1), shape).astype(dtype)
    if dtype.kind == "c":
        return (values(shape, "f8", rng, low, high) + 1j * values(shape, "f8", rng, low, high)).astype(dtype)
    return (rng.random(shape) * (high - low) + low).astype(dtype)


def layouts(shape, dtype, rng):
    """Arrays of one shape in memory: (name, base, function that makes the view of base)."""
    wide = tuple(2 * n for n in shape)
    yield "contiguous", values(shape, dtype, rng), lambda a: a
    yield "strided", values(wide, dtype, rng), lambda a: a[tuple(slice(None, None, 2) for _ in shape)]
    yield "transposed", values(shape[::-1], dtype, rng), lambda a: a.T
    yield "reversed", values(shape, dtype, rng), lambda a: a[tuple(slice(None, None, -1) for _ in shape)]
    yield "offset", values(tuple(n + 3 for n in shape), dtype, rng), lambda a: a[tuple(slice(2, -1) for _ in shape)]


def far_apart(got, theirs, ulp):
    """Where complex numbers differ by more than ulp units in the last place of the larger part; beside a NaN the sign
    of the other part is open."""
    finite = [np.where(np.isfinite(p), np.abs(p), 0) for p in (theirs.real, theirs.imag)]
    spacing = np.spacing(np.maximum(np.maximum(*finite), np.finfo(theirs.dtype).tiny))
    loose = np.isnan(theirs.real) | np.isnan(theirs.imag)
    far = np.zeros(theirs.shape, bool)
    for g, t in ((got.real, theirs.real), (got.imag, theirs.imag)):
        same = (g == t) | (np.isnan(g) & np.isnan(t)) | (loose & (np.abs(g) == np.abs(t)))
        far |= ~same & ~(np.abs(g - t) <= ulp * spacing)
    return far


def check(ours, theirs, ulp=0, context=""):
    """Same dtype, shape and values (NaN equal to NaN), to ulp units in the last place for floats."""
    theirs = np.asarray(theirs)
    assert isinstance(ours, td._core.ndarray), f"{context}: {type(ours)}"
    assert ours.dtype == theirs.dtype, f"{context}: dtype {ours.dtype}, NumPy's {theirs.dtype}"
    assert ours.shape == theirs.shape, f"{context}: shape {ours.shape}, NumPy's {theirs.shape}"
    got = ours.get()
    if theirs.dtype.kind == "c":
        with np.errstate(all="ignore"):
            far = far_apart(got, theirs, ulp)
        assert not far.any(), f"{context}: {got[far][:5]} where NumPy has {theirs[far][:5]}"
        return
    if theirs.dtype.kind != "f" or ulp == 0:
        np.testing.assert_array_equal(got, theirs, err_msg=context)
        return
    with np.errstate(all="ignore"):
        spacing = np.spacing(np.maximum(np.abs(theirs), np.finfo(theirs.dtype).tiny).astype(theirs.dtype))
        same = (got == theirs) | (np.isnan(got) & np.isnan(theirs))
        far = ~same & ~(np.abs(got.astype("f8") - theirs.astype("f8")) <= ulp * spacing.astype("f8"))
    assert not far.any(), f"{context}: {got[far][:5]} where NumPy has {theirs[far][:5]}"


def outcome(f, *args):
    """What f gives, or the type of what it raises."""
    try:
        with np.errstate(all="ignore"):
            return f(*args), None
    except Exception as e:
        return None, e


class EachOf:
    """Python's math over arrays, as the formulas of the tables mean it: in float64, rounded once; poles as C has them."""

    POLES = {"lgamma": math.inf}

    def __getattr__(self, name):
        def one(x):
            try:
                return getattr(math, name)(x)
            except OverflowError:
                return math.inf
            except ValueError:
                return math.copysign(math.inf, x) if x == 0 else self.POLES.get(name, math.nan)

        def each(x):
            x = np.asarray(x)
            return np.array([one(float(v)) for v in x.flat]).reshape(x.shape).astype(x.dtype)

        return each


def given(text, library):
    """What a line of Python gives whose parts stand between semicolons, with np the library and host NumPy; an exception
    is given, too."""
    names = {"np": library, "host": np, "td": td}
    *steps, last = text.split("; ")
    try:
        for step in steps:
            exec(step, names)
        return eval(last, names)
    except Exception as error:
        return error


def alike(ours, theirs, text):
    """Exceptions of one kind, or the same values; tuples and lists of them."""
    if isinstance(theirs, Exception):
        kind = next(t for t in type(theirs).__mro__ if t.__module__ == "builtins")
        assert isinstance(ours, kind), f"{text}: {ours!r} where NumPy raises {theirs!r}"
    elif isinstance(ours, Exception):
        raise AssertionError(f"{text}: {ours!r} where NumPy gives {theirs!r}") from ours
    elif isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs) and len(ours) == len(theirs), text
        for one, other in zip(ours, theirs):
            alike(one, other, text)
    elif isinstance(ours, td._core.ndarray):
        check(ours, theirs, 0, text)
    else:
        assert type(ours) is type(theirs) and ours == theirs, f"{text}: {ours!r} where NumPy gives {theirs!r}"


def same_call(text):
    """Does treadle give for the line what NumPy gives?"""
    alike(given(text, td), given(text, np), text)
