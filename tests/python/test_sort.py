"""Sorting and what is made of it against NumPy, on every device; null plays libtreadle_cub.so."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy_side import FLOATS, REAL, check, layouts, outcome

import treadle as td

# Around what a thread, a block and a single pass of a radix sort take.
SIZES = [0, 1, 2, 3, 31, 33, 255, 256, 257, 1023, 4095, 4097, 7000]


def spread(shape, dtype, rng):
    """Values from the dtype's whole range, some often, and for floats the special ones."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        x = rng.integers(0, 256, (*shape, dtype.itemsize), "u1").view(dtype)[..., 0].copy()
        some = rng.random(shape) < 0.3
        x[some] = rng.integers(0, 5, some.sum()).astype(dtype)
        return x
    with np.errstate(over="ignore"):
        x = (rng.standard_normal(shape) * 10.0 ** rng.integers(-12, 12, shape)).astype(dtype)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1, -1, np.finfo(dtype).tiny], dtype)
    some = rng.random(shape) < 0.4
    x[some] = special[rng.integers(0, len(special), some.sum())]
    return x


def by_numpy(f, x, *args, **kw):
    """f(x, ...), of float16 in float32: NumPy 2.4's sort of float16 misplaces elements beside inf and NaN."""
    if x.dtype != np.float16:
        return f(x, *args, **kw)
    r = f(x.astype("f4"), *args, **kw)
    return (r[0].astype("f2"), *r[1:]) if type(r) is tuple else r.astype("f2")


def same_order(at, x, axis=-1):
    """at is the one stable order of x."""
    check(at, np.argsort(x, axis, kind="stable"))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("n", SIZES)
def test_sizes(n, dtype, dev, rng):
    x = spread((n,), dtype, rng)
    t = td.asarray(x)
    check(td.sort(t), by_numpy(np.sort, x))
    same_order(td.argsort(t, kind="stable"), x)
    same_order(t.argsort(stable=True), x)
    check(t, x)  # is left alone


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 300), (300, 2), (2, 300), (17, 40), (3, 0), (4, 5, 6)])
def test_axes(shape, dtype, dev, rng):
    x = spread(shape, dtype, rng)
    t = td.asarray(x)
    for axis in (None, *range(-len(shape), len(shape))):
        check(td.sort(t, axis), by_numpy(np.sort, x, axis), 0, f"axis {axis}")
        same_order(td.argsort(t, axis, kind="stable"), x, axis)
    t.sort(0)
    check(t, by_numpy(np.sort, x, 0))


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64"])
def test_layouts(dtype, dev, rng):
    for name, base, view in layouts((9, 14), dtype, rng):
        x, t = view(base), view(td.asarray(base))
        for axis in (0, 1, None):
            check(td.sort(t, axis), by_numpy(np.sort, x, axis), 0, name)
            same_order(td.argsort(t, axis, stable=True), x, axis)
        base, ours = base.copy(), td.asarray(base)
        view(base).sort(1)
        view(ours).sort(1)
        check(ours, base, 0, name)
    x = spread((3000,), dtype, rng)
    for start in (1, 3):  # not aligned
        check(td.sort(td.asarray(x)[start::-1]), by_numpy(np.sort, x[start::-1]))
        check(td.sort(td.asarray(x)[start:]), by_numpy(np.sort, x[start:]))


def test_pending_and_kept(dev, rng):
    """What is recorded is evaluated before; what was recorded keeps the old value."""
    x = spread((500,), "int32", rng) % 100
    t = td.asarray(x) * 3 + 1
    later = t + 1
    t.sort()
    check(t, by_numpy(np.sort, x * 3 + 1))
    check(later, x * 3 + 2)
    copy = t
    copy[::-1].sort()
    check(t, by_numpy(np.sort, x * 3 + 1)[::-1])


@pytest.mark.parametrize("dtype", FLOATS)
def test_special(dtype, dev):
    x = np.array([np.nan, 1, -0.0, np.inf, -np.nan, 0.0, -np.inf, -1, np.nan, -0.0], dtype)
    t = td.asarray(x)
    check(td.sort(t), by_numpy(np.sort, x))
    check(td.argsort(t, kind="stable"), np.argsort(x, kind="stable"))
    check(td.unique(t), by_numpy(np.unique, x))
    signs = np.signbit(td.sort(t).get()[2:5])
    assert signs.sum() == 2, "bits of zeros were lost"


def test_bfloat16(dev, rng):
    x = td.asarray(spread((3, 400), "float32", rng)).astype("bfloat16")
    wide = x.astype("float32").get()
    for axis in (None, 0, 1):
        ours = td.sort(x, axis)
        assert ours.dtype == x.dtype
        check(ours.astype("float32"), by_numpy(np.sort, wide, axis))
        same_order(td.argsort(x, axis, stable=True), wide, axis)
    check(td.unique(x).astype("float32"), by_numpy(np.unique, wide))
    x.sort()
    check(x.astype("float32"), by_numpy(np.sort, wide))
    check(td.sort(td.partition(x, 5)).astype("float32"), by_numpy(np.sort, wide))


def test_complex(dev, rng):
    x = (rng.integers(-3, 3, 50) + 1j * rng.integers(-3, 3, 50)).astype("complex64")
    check(td.sort(td.asarray(x)), by_numpy(np.sort, x))
    check(td.unique(td.asarray(x)), by_numpy(np.unique, x))
    check(td.sort_complex(td.asarray(x)), np.sort_complex(x))
    check(td.sort_complex(td.asarray(x.real)), np.sort_complex(x.real))


def test_arguments(dev):
    x = np.array([[3, 1], [2, 4]])
    t = td.asarray(x)
    cases = [
        lambda m, a: m.sort(a, 2),
        lambda m, a: m.sort(a, -3),
        lambda m, a: m.argsort(a, 5),
        lambda m, a: m.sort(a, kind="bogus"),
        lambda m, a: m.sort(a, kind="stable", stable=True),
        lambda m, a: m.sort(a, order="x"),
        lambda m, a: m.sort(a[0, 0]),
        lambda m, a: m.partition(a, 2),
        lambda m, a: m.argpartition(a, -3, 0),
        lambda m, a: m.partition(a, 0.5),
        lambda m, a: a.sort(3),
        lambda m, a: a.partition(9),
    ]
    for k, f in enumerate(cases):
        (_, ours), (_, theirs) = outcome(f, td, t), outcome(f, np, x)
        assert theirs is not None and isinstance(ours, (type(theirs), ValueError)), f"case {k}: {ours!r}, {theirs!r}"
    for kind in (None, "quicksort", "heapsort", "stable", "mergesort"):
        check(td.sort(t, kind=kind), by_numpy(np.sort, x))
    with pytest.raises(TypeError):
        td.lexsort(())


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32"])
def test_partition(dtype, dev, rng):
    x = spread((6, 90), dtype, rng)
    t = td.asarray(x)
    for axis, kth in itertools.product((0, 1, -1, None), (0, 3, -1, [1, 4])):
        exact = by_numpy(np.sort, x, axis)
        ours, at = td.partition(t, kth, axis), td.argpartition(t, kth, axis)
        flat = axis if axis is not None else 0
        by_index = np.take_along_axis(x.ravel() if axis is None else x, at.get(), flat)
        for got in (ours.get(), by_index):
            for k in np.atleast_1d(kth):
                np.testing.assert_array_equal(np.take(got, k, flat), np.take(exact, k, flat))
            np.testing.assert_array_equal(np.sort(got, flat), exact)
            below = np.sort(np.take(got, range(np.atleast_1d(kth).max() % got.shape[flat]), flat), flat)
            np.testing.assert_array_equal(below, np.take(exact, range(below.shape[flat]), flat))
    t.partition(2)
    np.testing.assert_array_equal(t.get()[:, 2], by_numpy(np.sort, x)[:, 2])
    check(t.argpartition(3), t.argpartition(3).get())


def test_lexsort(dev, rng):
    a, b, c = rng.integers(0, 4, 300), rng.integers(0, 3, 300).astype("f4"), rng.random(300) < 0.5
    b[::7] = np.nan
    for keys in ((a,), (a, b), (a, b, c), (c, a)):
        check(td.lexsort([td.asarray(k) for k in keys]), np.lexsort(keys))
    rows = rng.integers(0, 3, (3, 40))
    check(td.lexsort(td.asarray(rows)), np.lexsort(rows))
    check(td.lexsort(td.asarray(a)), np.lexsort(a))
    check(td.lexsort((td.asarray(rows), td.asarray(rows[::-1])), 0), np.lexsort((rows, rows[::-1]), 0))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("shape", [(1,), (2,), (1000,), (7, 30), (0,)])
def test_unique(shape, dtype, dev, rng):
    x = spread(shape, dtype, rng)
    t = td.asarray(x)
    for flags in itertools.product((False, True), repeat=3):
        for equal_nan in (True, False):
            if not equal_nan and flags[1] and not flags[0]:
                continue  # NumPy does not sort stably then: which NaN is which is not told
            ours, theirs = (
                td.unique(t, *flags, equal_nan=equal_nan),
                by_numpy(np.unique, x, *flags, equal_nan=equal_nan),
            )
            assert isinstance(ours, tuple if any(flags) else td._core.ndarray)
            for o, n in zip(ours, theirs, strict=True) if any(flags) else [(ours, theirs)]:
                check(o, n, 0, f"{flags} {equal_nan}")
    check(td.unique(t, axis=0), by_numpy(np.unique, x, axis=0))


@given(
    data=st.lists(st.one_of(st.floats(width=32), st.sampled_from([0.0, -0.0, float("nan"), 1.0])), max_size=40),
    rows=st.integers(1, 4),
)
def test_any_floats(data, rows):
    x = np.array(data * rows, "float32").reshape(rows, len(data))
    for name in ("cpu", "null"):
        t = td.asarray(x, device=name)
        check(td.sort(t), by_numpy(np.sort, x))
        check(td.argsort(t, kind="stable"), np.argsort(x, kind="stable"))
        for o, n in zip(td.unique(t, True, True, True), by_numpy(np.unique, x, True, True, True), strict=True):
            check(o, n)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float32", "int64", "float64"])
def test_large(dtype, rng):
    """Many blocks, long rows, many rows, where there is a GPU; else a hundredth of that."""
    gpus = [d.name for d in td.devices() if d.kind == "cuda"]
    n = 3_000_000 if gpus else 30_000
    with td.device([*gpus, "null"][0]):
        for shape in ((n,), (2, n // 2), (n // 2000, 2000), (n // 3, 3)):
            x = spread(shape, dtype, rng)
            t = td.asarray(x)
            check(td.sort(t), by_numpy(np.sort, x))
            same_order(td.argsort(t, kind="stable"), x)
            again = td.argsort(t, kind="stable")
            check(again, td.argsort(t, kind="stable").get())
        x = spread((n,), dtype, rng)
        for o, n in zip(
            td.unique(td.asarray(x), True, True, True), by_numpy(np.unique, x, True, True, True), strict=True
        ):
            check(o, n)


def one_far(x):
    """All but one lie close together: the first cut leaves one bucket, which is cut again."""
    y = (np.arange(x.size) % 97).astype(x.dtype)
    if x.dtype.kind == "f":
        y = 1 + y / 512
    y[x.size // 2] = np.iinfo(x.dtype).max if x.dtype.kind in "iu" else np.finfo(x.dtype).max
    return y


# What a row of the CPU's radix sort can look like: buckets of one size, of very different ones, of one value.
ROWS = {
    "any": lambda x: x,
    "rising": np.sort,
    "falling": lambda x: np.sort(x)[::-1],
    "between 0 and 1": lambda x: np.random.default_rng(5).random(x.size).astype(x.dtype),
    "one far": one_far,
    "alike": np.zeros_like,
}


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize(
    "dtype", ["int8", "bool", "float16", "uint32", "int32", "float32", "uint64", "int64", "float64"]
)
def test_long_rows_on_the_cpu(dtype, kind, rng):
    """Rows that all threads sort together, one alone and two."""
    x = ROWS[kind](spread((150_000,), dtype, rng)) if dtype != "bool" else spread((150_000,), dtype, rng)
    t = td.asarray(x, device="cpu")
    same_order(td.argsort(t), x)
    same_order(td.argsort(t.reshape(2, -1), 1), x.reshape(2, -1), 1)


def test_info(dev):
    text, why = td._core._sort_info(dev)
    assert text and (dev == "cpu" or not why), f"{dev} sorts on the host: {why}"


def test_fallback(dev, rng, monkeypatch):
    """Where the device does not sort, the host does; it says why, and counts."""
    monkeypatch.setattr(td._core, "_sort", lambda a, values, index: None)
    monkeypatch.setattr(td._core, "_sort_info", lambda d: ("NumPy", "the library is not there"))
    x = spread((5, 30), "float32", rng)
    t = td.asarray(x)
    td.fallbacks(clear=True)
    if dev != "cpu":
        with pytest.warns(td.PerformanceWarning, match="numpy.sort is .*: the library is not there"):
            td.sort(t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if dev != "cpu" else "error")
        check(td.sort(t), np.sort(x))
        same_order(td.argsort(t, 0, stable=True), x, 0)
        check(td.lexsort((t[0], t[1])), np.lexsort((x[0], x[1])))
        check(td.sort(td.partition(t, 4)), np.sort(x))
        for o, n in zip(td.unique(t, True, True, True), np.unique(x, True, True, True), strict=True):
            check(o, n)
    names = {name for name, *_ in td.fallbacks(clear=True)}
    wanted = {"numpy.sort", "numpy.argsort", "numpy.lexsort", "numpy.partition", "numpy.unique"}
    assert names == (set() if dev == "cpu" else wanted)


def test_no_warning(dev, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        td.sort(td.asarray(rng.random(10)))
