"""Every row of reduce.def against its own meaning: axes, dtypes, layouts, what feeds it."""

import itertools
import math

import numpy as np
import pytest
from numpy_side import BOOL, COMPLEX, FLOATS, INTS, REAL, check, layouts, values

import treadle as td
from treadle import _core

ROWS = {name: (identity, meaning) for name, identity, meaning in _core.reductions()}
SHAPE = (4, 3, 5)
AXES = [None, 0, 1, 2, -1, (0, 1), (0, 2), (1, 2), (0, 1, 2), ()]
ONE_AXIS = ("argmin", "argmax")


def meaning_of(name, x, axis):
    with np.errstate(all="ignore"):
        return eval(ROWS[name][1], {"np": np}, {"x": x, "axis": axis})


def ulp_of(name, dtype, n):
    """Sums of floats are added up in another order."""
    inexact = name in ("sum", "prod", "mean", "var", "std") and np.dtype(dtype).kind in "fc"
    return (4 if dtype == "float16" else 8 + n // 4) if inexact else 0


def positive(x):
    return abs(x) if x.dtype.kind == "f" else x


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", REAL + COMPLEX)
def test_axes(name, dtype, rng):
    x = positive(values(SHAPE, dtype, rng))
    if x.dtype.kind == "c":
        x.real = x.real.round()  # ties for the imaginary parts to decide
    t = td.asarray(x)
    for axis in AXES:
        if name in ONE_AXIS and isinstance(axis, tuple):
            continue
        theirs = meaning_of(name, x, axis)
        r = getattr(td, name)(t, axis)
        if name in ("argmin", "argmax", "count_nonzero") and np.ndim(theirs) == 0:
            theirs = np.int64(theirs)
        check(r, theirs, ulp_of(name, r.dtype, x.size), f"{name} {dtype} axis={axis}")


@pytest.mark.parametrize("name", ROWS)
def test_devices(name, dev, rng):
    for shape, axis in (((), None), ((), 0), ((5,), None), ((5,), 0), ((3, 4), 0), ((3, 4), 1), ((3, 4), None)):
        x = positive(values(shape, "float32", rng))
        if shape == () and axis == 0 and name in ("mean", "var", "std"):
            continue  # the ones for which NumPy has no axis 0 there
        check(getattr(td.asarray(x), name)(axis), np.asarray(meaning_of(name, x, axis)), 16, f"{name} {shape} {axis}")


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_on_devices(name, dtype, dev, rng):
    """Rows, columns and both, cut into segments and not, along what lanes run along and across it."""
    for shape in ((5,), (300, 7), (7, 300), (3, 40, 5)):
        x = values(shape, dtype, rng, -1, 1)
        if name == "prod":
            x /= abs(x)
        t = td.asarray(x)
        for axis in (None, *range(len(shape))):
            r = getattr(t, name)(axis)
            check(r, np.asarray(meaning_of(name, x, axis)), 40 + x.size, f"{name} {shape} {axis}")


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", ["float64", *COMPLEX])
def test_layouts(name, dtype, rng):
    for layout, base, view in layouts((6, 7), dtype, rng):
        x, t = view(base), view(td.asarray(base))
        if dtype == "float64":
            x, t = abs(x), abs(t)
        for axis in (None, 0, 1):
            theirs = np.asarray(meaning_of(name, x, axis))
            check(getattr(t, name)(axis), theirs, 30, f"{name} {layout} {axis}")


@pytest.mark.parametrize("name", ROWS)
def test_keepdims(name, rng):
    x = values((3, 4), "float32", rng)
    for axis in (None, 0, 1):
        theirs = getattr(np, name)(x, axis=axis, keepdims=True)
        check(getattr(td.asarray(x), name)(axis=axis, keepdims=True), theirs, 32, f"{name} {axis}")


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_empty(name, shape):
    x = np.zeros(shape, "float32")
    for axis in [None, *range(len(shape))]:
        try:
            with np.errstate(all="ignore"):
                import warnings

                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    theirs = np.asarray(meaning_of(name, x, axis))
        except ValueError:
            with pytest.raises(ValueError, match=name):
                getattr(td.asarray(x), name)(axis)
            continue
        check(getattr(td.asarray(x), name)(axis), theirs, 0, f"{name} {shape} {axis}")


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
@pytest.mark.parametrize("dtype,target", list(itertools.product(["bool", "int8", "uint8", "float32"], ["float64", "int64", "float32"])))
def test_dtype_argument(name, dtype, target, rng):
    x = positive(values((20,), dtype, rng))
    if name == "mean" and target == "int64":
        return
    check(getattr(td.asarray(x), name)(dtype=target), getattr(x, name)(dtype=target), 64 if dtype == "float32" else 2)


@pytest.mark.parametrize("dtype", BOOL + INTS + FLOATS + COMPLEX)
def test_result_dtypes(dtype):
    x = np.ones((3,), dtype)
    for name in ROWS:
        assert getattr(td.asarray(x), name)().dtype == np.asarray(meaning_of(name, x, None)).dtype, f"{name} {dtype}"


def test_ddof_and_out(rng):
    x = values((5, 6), "float64", rng)
    for name in ("var", "std"):
        check(getattr(td.asarray(x), name)(0, ddof=1), getattr(x, name)(0, ddof=1), 16)
        check(getattr(td, name)(td.asarray(x), ddof=2), getattr(np, name)(x, ddof=2), 16)
    out = td.zeros((6,))
    assert td.asarray(x).sum(0, out=out) is out
    check(out, x.sum(0), 16)
    with pytest.raises(ValueError):
        td.asarray(x).sum(0, out=td.zeros((5,)))


@pytest.mark.parametrize("shape", [(1000,), (100_003,), (3, 70_000), (70_000, 3), (1 << 20,)])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_large(shape, dtype, rng):
    x = values(shape, dtype, rng, 0, 5)
    t = td.asarray(x)
    for name in ("sum", "min", "max", "mean", "var", "argmax"):
        for axis in [None, *range(len(shape))]:
            ours, theirs = getattr(t, name)(axis).get(), getattr(x.astype("f8"), name)(axis)
            np.testing.assert_allclose(ours, theirs, rtol=2e-6, err_msg=f"{name} {shape} {axis}")


def test_cancellation(rng):
    """A mean far from zero: the variance does not lose its digits."""
    x = (rng.random(10_000) + 1e4).astype("float32")
    np.testing.assert_allclose(float(td.asarray(x).var()), x.astype("f8").var(), rtol=1e-4)


@pytest.mark.parametrize("where", ["front", "middle", "back"])
def test_nan(where):
    x = np.arange(64, dtype="float32")
    x[{"front": 0, "middle": 31, "back": 63}[where]] = np.nan
    t = td.asarray(x)
    for name in ("min", "max", "sum", "argmin", "argmax", "any", "all"):
        check(getattr(t, name)(), np.asarray(getattr(x, name)()), 0, name)


def test_first_of_equals():
    x = np.array([[3, 1, 1, 3], [3, 3, 1, 1]])
    t = td.asarray(x)
    for name, axis in itertools.product(ONE_AXIS, (None, 0, 1)):
        check(getattr(t, name)(axis), np.asarray(getattr(x, name)(axis)), 0, f"{name} {axis}")


def test_fused_with_what_feeds_it(dev, rng):
    a, b = values((50, 7), "float32", rng), values((7,), "float32", rng)
    ta, tb = td.asarray(a), td.asarray(b)
    np.testing.assert_allclose(((ta - tb) ** 2).sum(1).get(), ((a - b) ** 2).sum(1), rtol=1e-5)
    np.testing.assert_allclose((ta * 2 + tb).mean(0).get(), (a * 2 + b).mean(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(float((ta - ta.mean()).std()), (a - a.mean()).std(), rtol=1e-5)
    assert int((ta > 0).sum()) == (a > 0).sum()
    assert bool((ta * 0 == 0).all()) and not bool((ta != ta).any())
    check(td.argmax(-ta, 1), np.argmax(-a, 1))


def test_nan_functions(rng):
    x = values((6, 5), "float32", rng)
    x[1, 2] = x[3, :] = np.nan
    t = td.asarray(x)
    for name in ("nansum", "nanmax", "nanmin", "nanmean"):
        for axis in (None, 0):
            np.testing.assert_allclose(getattr(td, name)(t, axis).get(), getattr(np, name)(x, axis), rtol=1e-5)


def test_average_ptp_diff(rng):
    x, w = values((4, 6), "float64", rng), rng.random(6)
    t = td.asarray(x)
    np.testing.assert_allclose(td.average(t, 1, td.asarray(w)).get(), np.average(x, 1, w), rtol=1e-12)
    check(td.ptp(t, 0), np.ptp(x, 0))
    check(td.diff(t, 2), np.diff(x, 2), 0)
    check(t.ptp(), np.ptp(x))


@pytest.mark.parametrize("f", ["sum", "mean"])
@pytest.mark.parametrize("n", [511, 512, 4099, 1 << 20])
def test_float32_sums_are_at_least_as_close_as_numpys(f, n, dev, rng):
    """Hard data: a wide range of magnitudes, cancellation, an offset; the truth is math.fsum's."""
    if dev == "null" and n > 5000:
        return
    wide = rng.standard_normal(n) * 10 ** rng.uniform(-6, 6, n)
    pairs = np.resize([1e6, 1, -1e6, 1e-3], n)
    for name, x in (("wide", wide), ("pairs", pairs), ("offset", rng.random(n) + 1000), ("tenth", np.full(n, 0.1))):
        x = x.astype("f4")
        exact = math.fsum(x.tolist()) / (n if f == "mean" else 1)
        ours, theirs = float(getattr(td.asarray(x), f)()), float(getattr(x, f)())
        last_place = float(np.spacing(np.float32(abs(exact))))
        bound = 16 * 2.0**-24 * math.fsum(abs(x).tolist()) / (n if f == "mean" else 1) + last_place
        assert abs(ours - exact) <= bound, f"{name}: {ours} for {exact}, NumPy {theirs}"
        assert abs(ours - exact) <= 1.5 * abs(theirs - exact) + last_place + bound / 16, f"{name}: {ours} for {exact}, NumPy {theirs}"


@pytest.mark.parametrize("columns", [1, 9, 33, 63, 64, 65, 128, 200, 1000])
def test_float32_sums_over_leading_axes(columns, rng):
    """On the CPU a few rows are added up in float32: groups of rows that are whole and not, strips of columns likewise."""
    with td.device("cpu"):
        for rows in (15, 16, 17, 24, 31, 100, 5003):
            x = rng.integers(-99, 99, (rows, columns)).astype("f4")
            check(td.asarray(x).sum(0), x.sum(0), 0, f"{rows} rows")
            check((1 / td.asarray(x + 100)).sum(0), (1 / (x + 100)).sum(0, dtype="f8").astype("f4"), 16, f"{rows} rows")
        wide = (rng.standard_normal(x.shape) * 10 ** rng.uniform(-6, 6, x.shape)).astype("f4")
        bound = 16 * 2.0**-24 * abs(wide).sum(0, dtype="f8")
        for name, exact, by in (("sum", wide.sum(0, dtype="f8"), 1), ("mean", wide.mean(0, dtype="f8"), rows)):
            ours = getattr(td.asarray(wide), name)(0).get()
            assert (abs(ours - exact) <= bound / by + np.spacing(abs(ours))).all(), name


@pytest.mark.parametrize("name", ["sum", "max", "argmin", "var"])
def test_rows_read_side_by_side(name, rng):
    """Leading axes on a GPU: whole rounds of rows and what is left of them, one segment and several."""
    with td.device("null"):
        for rows in [*range(1, 20), 300]:
            x = rng.integers(-99, 99, (rows, 12)).astype("f4")
            check(getattr(td.asarray(x), name)(0), getattr(x, name)(0), 0 if name != "var" else 16, f"{name} {rows}")


def test_broadcast_inside_many_short_rows(dev, rng):
    """What is broadcast along a kept axis does not decide where lanes run."""
    x, c = rng.integers(-9, 9, (17, 1, 24)).astype("f4"), rng.integers(-9, 9, (5, 24)).astype("f4")
    check(((td.asarray(x) - td.asarray(c)) ** 2).sum(-1), ((x - c) ** 2).sum(-1))
    check(((td.asarray(x) - td.asarray(c)) ** 2).min(1), ((x - c) ** 2).min(1))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_axes_of_one_element_over_broadcast_operands(axis, dev, rng):
    """Nothing is reduced, and the largest operand does not lie along the last axis."""
    shape = [4, 5]
    shape.insert(axis, 1)
    a, b = (rng.standard_normal([n if k in keep else 1 for k, n in enumerate(shape)]) for keep in ((0, axis), (1, 2)))
    for x, y in ((a, b), (b, a), (a, a), (a + b, b)):
        check((td.asarray(x) * td.asarray(y)).sum(axis), (x * y).sum(axis), 0)
        check((td.asarray(x) * td.asarray(y)).max(axis, keepdims=True), (x * y).max(axis, keepdims=True), 0)
