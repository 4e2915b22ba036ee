"""Reductions over rows and what is computed from them: one kernel, NumPy's values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy_side import check, layouts

import treadle as td
from treadle import _core

pytestmark = pytest.mark.recorded

# np is NumPy or treadle, x the rows, g and b one number for each column.
PROGRAMS = {
    "softmax": "(e := np.exp(x - x.max(-1, keepdims=True))) / e.sum(-1, keepdims=True)",
    "log_softmax": "(d := x - x.max(-1, keepdims=True)) - np.log(np.exp(d).sum(-1, keepdims=True))",
    "logsumexp": "(m := x.max(-1, keepdims=True)) + np.log(np.exp(x - m).sum(-1, keepdims=True))",
    "layernorm": "(x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + b",
    "composed": "(d := x - x.mean(-1, keepdims=True)) / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * g + b",
    "standard": "(x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1)",
    "variance": "((x - x.mean(-1, keepdims=True)) ** 2).mean(-1)",
    "norm": "x / np.sqrt((x * x).sum(-1, keepdims=True))",
    "rms": "x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g",
    "minmax": "(x - (lo := x.min(-1, keepdims=True))) / (x.max(-1, keepdims=True) - lo + 1)",
    "log of sum": "np.log(np.exp(x - 3).sum(-1))",
    "chain": "np.abs((d := x - x.mean(-1, keepdims=True)) - d.max(-1, keepdims=True)).sum(-1)",
    "position": "np.where(x == x.max(-1, keepdims=True), x.argmax(-1, keepdims=True), -1)",
}
SHAPES = [(1, 2), (3, 5), (2, 32), (5, 33), (2, 1001), (3, 4, 48), (2, 4100)]
ERROR = {"float16": 3e-2, "float32": 3e-6, "float64": 1e-13}


@pytest.fixture
def launches():
    """Evaluates and counts the kernels."""

    def count(make):
        r = make()
        before = _core.jit_stats()["launches"]
        td.evaluate(r)
        return r, _core.jit_stats()["launches"] - before

    return count


def run(text, m, x, wide=False):
    g = np.linspace(0.5, 2, x.shape[-1]).astype(x.dtype)
    b = np.linspace(-1, 1, x.shape[-1]).astype(x.dtype)
    if m is np:
        x, g, b = (a.astype("f8") for a in (x, g, b)) if wide else (x, g, b)
    else:
        x, g, b = td.asarray(x), td.asarray(g), td.asarray(b)
    return eval(text, {"np": m, "x": x, "g": g, "b": b})


def near(ours, theirs, dtype, context):
    got = ours.get().astype("f8")
    scale = max(1, np.abs(theirs[np.isfinite(theirs)]).max(initial=0))
    np.testing.assert_allclose(got, theirs, rtol=ERROR[dtype], atol=ERROR[dtype] * scale, err_msg=context)


@pytest.mark.parametrize("dtype", ERROR)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, dtype, dev, launches, rng):
    for shape in SHAPES:
        if dev == "null" and dtype == "float16" and np.prod(shape) > 2000:
            continue  # the interpreter takes its time
        x = rng.standard_normal(shape).astype(dtype)
        x[0, 0] += 3  # one argmax a row
        r, n = launches(lambda x=x: run(PROGRAMS[name], td, x))
        near(r, run(PROGRAMS[name], np, x, wide=True), dtype, f"{name} {dtype} {shape}")
        assert n == 1, f"{name} {dtype} {shape}: {n} kernels"


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers(dtype, dev, launches, rng):
    programs = [
        "(x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1)",
        "x / np.sqrt((np.abs(x) ** 2).sum(-1, keepdims=True))",
        "(e := np.exp(x)) / e.sum(-1, keepdims=True) + e.sum(-1, keepdims=True)",
        "x * x.prod(-1, keepdims=True) - x.max(-1, keepdims=True)",
        "np.where(x == x.min(-1, keepdims=True), x.argmin(-1, keepdims=True), -1)",
        "x.real * x.sum(-1, keepdims=True)",
    ]
    for shape in ((3, 5), (2, 33), (2, 64), (2, 3, 24), (2, 1500)):
        x = (rng.standard_normal((*shape, 2)) + 0.1).astype("f4").view("c8")[..., 0]
        x = (x / np.abs(x) if shape[-1] > 100 else x).astype(dtype)  # for products
        for text in programs:
            r, n = launches(lambda text=text, x=x: run(text, td, x))
            theirs = run(text, np, x.astype("c16"))
            assert r.dtype == run(text, np, x).dtype, text
            scale = max(1, np.abs(theirs).max())
            error = {"complex64": 1e-5, "complex128": 1e-12}[dtype]
            np.testing.assert_allclose(r.get(), theirs, rtol=error, atol=error * scale, err_msg=f"{text} {shape}")
            assert n == 1, f"{text} {shape}: {n} kernels"


@pytest.mark.parametrize("name", PROGRAMS)
def test_layouts(name, dev, rng):
    """Some lie so that a row is no run of memory: other kernels, the same values."""
    for layout, base, view in layouts((6, 40), "float32", rng):
        ours = eval(PROGRAMS[name], {"np": td, "x": view(td.asarray(base)), "g": 2.0, "b": 1.0})
        theirs = eval(PROGRAMS[name], {"np": np, "x": view(base).astype("f8"), "g": 2.0, "b": 1.0})
        near(ours, theirs, "float32", f"{name} {layout}")


@pytest.mark.parametrize("axes", [-1, 0, 1, (1, 2), (0, 2), (0, 1), (0, 1, 2)])
def test_axes(axes, dev, launches, rng):
    x = rng.integers(-9, 9, (4, 5, 24)).astype("f4")
    g = rng.integers(-9, 9, (5, 1)).astype("f4")
    r, n = launches(lambda: (t := td.asarray(x)) * td.asarray(g) - t.sum(axes, keepdims=True) + (t * t).max(axes, keepdims=True))
    check(r, x * g - x.sum(axes, keepdims=True) + (x * x).max(axes, keepdims=True), 0, str(axes))
    assert n == 1 if 2 in np.atleast_1d(axes) or axes == -1 else n > 1


def test_numbers_of_the_whole_array(dev, launches, rng):
    """Reductions over all axes come back without keepdims."""
    for shape in ((300,), (6, 50), (2, 3, 40)):
        x = rng.integers(-9, 9, shape).astype("f4")
        t = td.asarray(x)
        r, n = launches(lambda t=t: (t - t.min()) / (t - t.min()).sum())
        check(r, (x - x.min()) / (x - x.min()).sum(), 0, str(shape))
        assert n == 1
        r, n = launches(lambda t=t: (t * t.max()).max() + t.sum())
        check(r, (x * x.max()).max() + x.sum(), 0, str(shape))
        assert n == 1


def test_fortran_order(dev, launches, rng):
    """Columns are rows of memory."""
    x = np.asfortranarray(rng.integers(-9, 9, (40, 6)).astype("f4"))
    t = td.asarray(x.T.copy()).T
    r, n = launches(lambda: t / t.sum(0, keepdims=True))
    check(r, x / x.sum(0, keepdims=True))
    assert n == 1


def test_results_that_are_needed_again(dev, launches, rng):
    """Reductions that somebody still holds are written by the same kernel; so are values read twice."""
    x = rng.integers(-9, 9, (6, 50)).astype("f4")
    t = td.asarray(x)
    m = t.max(-1, keepdims=True)
    d = t - m
    s = d.sum(-1)
    y, n = launches(lambda: d / (d * d).sum(-1, keepdims=True))
    assert n == 1
    before = _core.jit_stats()["launches"]
    check(m, x.max(-1, keepdims=True))
    check(d, x - x.max(-1, keepdims=True))
    assert _core.jit_stats()["launches"] == before, "m and d were written with y"
    check(y, (x - m.get()) / ((x - m.get()) ** 2).sum(-1, keepdims=True))
    check(s, (x - m.get()).sum(-1))


def test_memory_given_away(dev, rng):
    """An input that nobody else holds is overwritten in place."""
    x = rng.integers(-9, 9, (6, 50)).astype("f4")
    t = td.asarray(x) + 1
    td.evaluate(t)
    t = t - t.sum(-1, keepdims=True)
    check(t, x + 1 - (x + 1).sum(-1, keepdims=True))
    t /= t.max(-1, keepdims=True)
    y = x + 1 - (x + 1).sum(-1, keepdims=True)
    check(t, y / y.max(-1, keepdims=True))


def test_other_rows_stay_outside(dev, rng):
    x = rng.integers(-9, 9, (8, 8)).astype("f4")
    t = td.asarray(x)
    check(t - t.sum(1) + t.sum(-1, keepdims=True), x - x.sum(1) + x.sum(-1, keepdims=True))
    check(t - t.sum(0, keepdims=True) + t.max(1, keepdims=True), x - x.sum(0, keepdims=True) + x.max(1, keepdims=True))
    s = t.sum(1)
    check(s + s[None] * t.max(1, keepdims=True), x.sum(1) + x.sum(1)[None] * x.max(1, keepdims=True))
    u = (t * 2 + 1 - t * t).sum(1)
    check((u * u + u).sum() + u, ((v := (x * 2 + 1 - x * x).sum(1)) * v + v).sum() + v)


def test_rows_beyond_registers(launches, rng):
    """A GPU's block reads anew what it cannot hold."""
    with td.device("null"):
        x = rng.integers(-9, 9, (2, 20001)).astype("f8")
        r, n = launches(lambda: (t := td.asarray(x)) / (t - t.max(-1, keepdims=True)).sum(-1, keepdims=True))
        check(r, x / (x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))
        assert n == 1


def test_nan_and_infinity(dev):
    x = np.array([[1, np.nan, 2], [np.inf, 1, 2], [-np.inf, -np.inf, -np.inf]], "f4")
    with np.errstate(all="ignore"):
        theirs = run(PROGRAMS["softmax"], np, x)
    check(run(PROGRAMS["softmax"], td, x), theirs, 2)


def test_one_long_row(dev, rng):
    """Nothing would share the work: separate kernels, all of the machine."""
    x = rng.integers(-9, 9, (1, 50000)).astype("f8")
    t = td.asarray(x)
    check(t - t.sum(-1, keepdims=True), x - x.sum(-1, keepdims=True))


LEAVES = ["x", "y", "g", "1.0", "c"]
INNER = ["({a} + {b})", "({a} - {b})", "({a} * {b} % 13)", "np.maximum({a}, {b})", "abs({a})", "np.where({a} > {b}, {a}, {b})"]


def expressions():
    def grow(child):
        two = st.builds(lambda t, a, b: t.format(a=a, b=b), st.sampled_from(INNER), child, child)
        fold = st.builds(
            lambda a, f: f"((x + {a}) % 31).{f}(-1, keepdims=True)", child, st.sampled_from(["sum", "max", "min", "argmax", "argmin"])
        )
        return two | fold

    return st.recursive(st.sampled_from(LEAVES), grow, max_leaves=10)


@given(text=expressions(), rows=st.integers(1, 5), length=st.sampled_from([1, 2, 3, 8, 31, 64, 70]), again=st.booleans())
def test_random_expressions(text, rows, length, again):
    """Whole numbers: every sum is exact, and so is the comparison."""
    rng = np.random.default_rng(rows * 100 + length)
    x, y = rng.integers(-9, 9, (2, rows, length)).astype("f8")
    names = {"x": x, "y": y, "g": rng.integers(-9, 9, length).astype("f8"), "c": rng.integers(-9, 9, (rows, 1)).astype("f8")}
    theirs = eval(f"x * 0 + {text}", {"np": np, **names})
    for dev in ("cpu", "null"):
        with td.device(dev):
            mine = {k: td.asarray(v) for k, v in names.items()}
            part = eval(text, {"np": td, **mine})
            check(mine["x"] * 0 + part, theirs, 0, text)
            if again and isinstance(part, td._core.ndarray):
                check(part, np.asarray(eval(text, {"np": np, **names})), 0, text)
