"""The oracle's side: dtypes, layouts, values, and what counts as equal."""

import numpy as np

import treadle as td

BOOL, INTS, FLOATS = ["bool"], [f"{s}int{n}" for s in ("", "u") for n in (8, 16, 32, 64)], ["float16", "float32", "float64"]
REAL = BOOL + INTS + FLOATS

# Units in the last place that functions may be off by: NumPy's own errors and ours.
ULP = {"float16": 2, "float32": 4, "float64": 4}


def values(shape, dtype, rng, low=-4, high=5):
    """Small numbers, so that integer arithmetic has something to wrap and floats little to overflow."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind == "u":
        return rng.integers(max(int(low), 0), max(int(high), 1), shape).astype(dtype)
    if dtype.kind == "i":
        return rng.integers(int(low), max(int(high), 1), shape).astype(dtype)
    return (rng.random(shape) * (high - low) + low).astype(dtype)


def layouts(shape, dtype, rng):
    """Arrays of one shape in memory: (name, base, function that makes the view of base)."""
    wide = tuple(2 * n for n in shape)
    yield "contiguous", values(shape, dtype, rng), lambda a: a
    yield "strided", values(wide, dtype, rng), lambda a: a[tuple(slice(None, None, 2) for _ in shape)]
    yield "transposed", values(shape[::-1], dtype, rng), lambda a: a.T
    yield "reversed", values(shape, dtype, rng), lambda a: a[tuple(slice(None, None, -1) for _ in shape)]
    yield "offset", values(tuple(n + 3 for n in shape), dtype, rng), lambda a: a[tuple(slice(2, -1) for _ in shape)]


def check(ours, theirs, ulp=0, context=""):
    """Same dtype, shape and values (NaN equal to NaN), to ulp units in the last place for floats."""
    theirs = np.asarray(theirs)
    assert isinstance(ours, td.ndarray), f"{context}: {type(ours)}"
    assert ours.dtype == theirs.dtype, f"{context}: dtype {ours.dtype}, NumPy's {theirs.dtype}"
    assert ours.shape == theirs.shape, f"{context}: shape {ours.shape}, NumPy's {theirs.shape}"
    got = ours.get()
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
