"""Cumulative operations, selection, sorting and counting against NumPy."""

import itertools

import numpy as np
import pytest
from numpy_side import BOOL, FLOATS, INTS, REAL, check, layouts, values

import treadle as td

# Around a vector, a warp's tile, the length that makes a block take a row, a tile of a block, a segment.
SIZES = [1, 2, 3, 4, 5, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 2048, 4095, 4096, 4097, 8192, 16384, 16385, 32768, 33000]


def close(ours, x, name, axis, dtype=None, context=""):
    """Floats are accumulated more accurately than NumPy does: compared with float64's result."""
    theirs = getattr(np, name)(x, axis, dtype)
    assert ours.dtype == theirs.dtype, f"{context}: dtype {ours.dtype}, NumPy's {theirs.dtype}"
    if theirs.dtype.kind == "f":
        with np.errstate(all="ignore"):
            theirs = getattr(np, name)(x.astype("f8"), axis).astype(theirs.dtype)
    assert ours.shape == theirs.shape, context
    got = ours.get()
    if theirs.dtype.kind != "f":
        np.testing.assert_array_equal(got, theirs, err_msg=context)
        return
    step = {2: 2e-3, 4: 3e-7, 8: 1e-12}[theirs.dtype.itemsize]
    with np.errstate(all="ignore"):
        scale = np.cumsum(abs(x.astype("f8")), axis) if name == "cumsum" else np.abs(theirs.astype("f8"))
    with np.errstate(all="ignore"):
        far = ~((got == theirs) | (np.isnan(got) & np.isnan(theirs)) | (np.abs(got.astype("f8") - theirs) <= step * scale))
    assert not far.any(), f"{context}: {got[far][:5]} where NumPy has {theirs[far][:5]}"


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", REAL)
def test_cumulative_dtypes(name, dtype, dev, rng):
    x = values((3, 37, 5), dtype, rng, -2, 3)
    t = td.asarray(x)
    for axis in (None, 0, 1, 2, -1):
        close(getattr(td, name)(t, axis), x, name, axis, None, f"{name} {dtype} axis={axis}")


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype,target", list(itertools.product(["bool", "int8", "uint16", "float32"], ["bool", "int16", "uint64", "float64"])))
def test_cumulative_dtype_argument(name, dtype, target, dev, rng):
    x = values((70,), dtype, rng, 0, 3)
    close(getattr(td.asarray(x), name)(dtype=target), x, name, 0, target, f"{name} {dtype} to {target}")


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
def test_cumsum_sizes(n, dtype, dev, rng):
    x = values((n,), dtype, rng)
    close(td.cumsum(td.asarray(x)), x, "cumsum", 0, None, f"{n} {dtype}")


@pytest.mark.parametrize("shape", [(1, 5000), (3, 4096), (2, 4097), (5, 40), (40, 5), (1500, 2), (2, 1500, 3), (3000, 32), (700, 33), (2, 3, 4, 5)])
def test_cumsum_shapes(shape, dev, rng):
    x = values(shape, "float32", rng)
    for axis in (None, *range(len(shape))):
        close(td.cumsum(td.asarray(x), axis), x, "cumsum", axis, None, f"{shape} axis={axis}")


def test_cumsum_segments(dev, rng):
    """Long enough to be cut on every device, in each form."""
    for shape, axis in (((70_003,), 0), ((2, 40_001), 1), ((9001, 3), 0), ((17_000, 4), 0)):
        x = values(shape, "int32", rng)
        close(td.cumsum(td.asarray(x), axis), x, "cumsum", axis, None, f"{shape}")


def test_cumsum_layouts(dev, rng):
    for layout, base, view in layouts((6, 7), "float64", rng):
        for axis in (None, 0, 1):
            close(view(td.asarray(base)).cumsum(axis), view(base), "cumsum", axis, None, f"{layout} {axis}")
    x = values((1001,), "float32", rng)
    for start in range(1, 5):  # not aligned for vectors
        close(td.asarray(x)[start:].cumsum(), x[start:], "cumsum", 0, None, f"from {start}")


def test_cumulative_special(dev):
    for x in ([0.0, -0.0, np.inf, 1.0, -np.inf, 2.0], [-0.0, -0.0], [1.0, np.nan, 2.0], [1e30, 1e30, -1e30] * 20):
        x = np.array(x, "float32")
        with np.errstate(all="ignore"):
            close(td.asarray(x).cumsum(), x, "cumsum", 0)
    assert np.signbit(td.asarray(np.array([-0.0] * 3)).cumsum().get()).all()
    for shape in ((0,), (0, 3), (3, 0)):
        for axis in (None, *range(len(shape))):
            check(td.zeros(shape).cumsum(axis), np.zeros(shape).cumsum(axis))
    check(td.asarray(np.float32(3)).cumsum(), np.float32(3).cumsum())
    out = td.zeros((4,), dtype="float32")
    assert td.cumsum(td.ones((4,), dtype="float32"), out=out) is out
    check(out, np.array([1, 2, 3, 4], "float32"))
    with pytest.raises(IndexError, match="cumsum"):
        td.zeros((2, 3)).cumsum(2)


def test_cumsum_of_pending(dev, rng):
    x = values((300,), "float32", rng)
    t = td.asarray(x)
    close((t * 2 + 1).cumsum(), x * 2 + 1, "cumsum", 0)
    check((t > 0).cumsum() - 1, (x > 0).cumsum() - 1)


def test_cumsum_accuracy(rng):
    """float32 sums are those of float64, rounded."""
    x = rng.random(1 << 20).astype("float32")
    exact = np.cumsum(x.astype("f8"))
    ours = td.asarray(x).cumsum().get()
    assert np.abs(ours - exact).max() <= np.spacing(np.float32(exact[-1]))
    assert (td.asarray(x).cumsum().get() == ours).all()


# ---- selection ----


@pytest.mark.parametrize("n", SIZES)
def test_select_sizes(n, dev, rng):
    x = values((n,), "float32", rng)
    for mask in (x > 0, np.zeros(n, bool), np.ones(n, bool), np.arange(n) == n - 1):
        check(td.asarray(x)[td.asarray(mask)], x[mask], 0, f"{n}")
        check(td.flatnonzero(td.asarray(mask)), np.flatnonzero(mask), 0, f"{n}")


@pytest.mark.parametrize("n", [1_048_576, 1_050_001])
def test_segments_of_warps(n, dev, rng):
    """So long that warps take a segment each, by themselves."""
    x = rng.integers(-9, 10, n).astype("int32")
    t = td.asarray(x)
    check(t.cumsum(), x.cumsum())
    check(t[t > 3], x[x > 3])
    check(td.flatnonzero(t == 2), np.flatnonzero(x == 2))
    rows = x[: 70 * 1025].reshape(70, 1025)
    check(td.asarray(rows).cumsum(1), rows.cumsum(1))


@pytest.mark.parametrize("dtype", REAL)
def test_select_dtypes(dtype, dev, rng):
    x = values((7, 50), dtype, rng)
    mask = rng.random(x.shape) < 0.3
    t, m = td.asarray(x), td.asarray(mask)
    check(t[m], x[mask])
    check(t[t != 0], x[x != 0])
    for ours, theirs in zip(td.nonzero(t), np.nonzero(x)):
        check(ours, theirs)
    check(td.argwhere(t), np.argwhere(x))
    check(t[m[:, 0]], x[mask[:, 0]])
    check(t[:, m[0]], x[:, mask[0]])


def test_select_layouts(dev, rng):
    for layout, base, view in layouts((6, 7), "float32", rng):
        x, t = view(base), view(td.asarray(base))
        check(t[t > 0], x[x > 0], 0, layout)
        check(t[1:][t[1:] > 0], x[1:][x[1:] > 0], 0, layout)
    check(td.zeros((0,))[td.zeros((0,), dtype=bool)], np.zeros((0,)))
    check(td.zeros((3, 0))[td.zeros((3, 0), dtype=bool)], np.zeros((0,)))


# ---- bounds ----


def test_take_bounds(dev):
    t = td.arange(10)
    for bad in (10, -11, 2**62, -(2**63), 2**63 - 1):
        with pytest.raises(IndexError, match=str(bad)):
            t[td.asarray(np.array([0, bad, 3]))]
    check(t[td.asarray(np.array([0, -10, 9, -1]))], np.arange(10)[[0, -10, 9, -1]])
    check(t[td.asarray(np.array([], "int64"))], np.arange(0))
    with pytest.raises(IndexError):
        td.zeros((0,))[td.asarray(np.array([0]))]
    try:
        td.config.check_bounds = False
        check(t[td.asarray(np.array([1, -1]))], np.array([1, 9]))
    finally:
        td.config.check_bounds = True
    with pytest.raises(IndexError):
        t[td.asarray(np.array([10]))]


# ---- sorting and counting ----


@pytest.mark.parametrize("dtype", BOOL + INTS + FLOATS)
def test_sort(dtype, dev, rng):
    x = values((5, 40), dtype, rng)
    t = td.asarray(x)
    for axis in (None, 0, 1, -1):
        check(td.sort(t, axis), np.sort(x, axis))
        check(td.argsort(t, axis, kind="stable"), np.argsort(x, axis, kind="stable"))
    t.sort(0)
    check(t, np.sort(x, 0))
    for flags in itertools.product((False, True), repeat=3):
        ours, theirs = td.unique(td.asarray(x), *flags), np.unique(x, *flags)
        for o, n in zip(ours, theirs) if any(flags) else [(ours, theirs)]:
            check(o, n)


def test_counting(dev, rng):
    x = values((300,), "int64", rng, 0, 20)
    t, edges = td.asarray(x), np.array([0.0, 3, 7, 20])
    check(td.bincount(t), np.bincount(x))
    check(td.bincount(t, minlength=30), np.bincount(x, minlength=30))
    for dtype in INTS:
        small = values((5000,), dtype, rng, 0, 100)
        for least in (0, 200, 4096, 4097, 9000):  # counters in shared memory and not
            check(td.bincount(td.asarray(small), minlength=least), np.bincount(small.astype("i8"), minlength=least))
    with pytest.raises(ValueError):
        td.bincount(td.asarray(np.array([1, -1])))
    w = rng.random(300)
    check(td.bincount(t, td.asarray(w)), np.bincount(x, w), 8)  # a GPU adds in any order
    for bins in (10, 256, edges, td.asarray(edges)):
        host = edges if isinstance(bins, td._core.ndarray) else bins
        for ours, theirs in zip(td.histogram(t, bins), np.histogram(x, host)):
            check(ours, theirs)
    for dtype in ("float32", "float64"):
        v = values((3000,), dtype, rng)
        v[:100] = np.linspace(-1, 3, 100)
        for bins, span in ((10, None), (256, None), (7, (-1, 3)), (1, None), (300, (-2.5, 2.25))):
            for ours, theirs in zip(td.histogram(td.asarray(v), bins, span), np.histogram(v, bins, span)):
                check(ours, theirs, 0, f"{dtype} {bins} {span}")
        for ours, theirs in zip(td.histogram(td.full((50,), 2, dtype=dtype), 5), np.histogram(np.full(50, 2, dtype), 5)):
            check(ours, theirs)
    with pytest.raises(ValueError):
        td.histogram(td.asarray(np.array([1, np.nan])), 4)
    s = np.sort(x)
    check(td.searchsorted(td.asarray(s), td.asarray(w * 20)), np.searchsorted(s, w * 20))
    check(td.asarray(s).searchsorted(td.asarray(x), "right"), np.searchsorted(s, x, "right"))
    check(td.digitize(t, td.asarray(edges)), np.digitize(x, edges))
    check(td.median(t), np.median(x))
    check(td.quantile(t, 0.25), np.quantile(x, 0.25))
    check(td.lexsort((t, td.asarray(w))), np.lexsort((x, w)))


@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("n", [1, 2, 5, 8, 17, 64, 300, 1024])
def test_short_rows_overflow_where_numpys_do(dtype, n):
    """On the CPU, where factors and terms balance each other one after the other, as NumPy takes them."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        factors = rng.choice([1e-200, 1e-100, 1e200, 1e100, 1e-300, 5.0], (3, n))
        terms = rng.choice([-1e308, 1e308, 9e307, 1.0], (3, n))
        factors, terms = (v.astype(dtype) for v in (factors, terms))
        with td.device("cpu"), np.errstate(all="ignore"):
            for name, x in (("cumprod", factors), ("cumsum", terms), ("prod", factors)):
                ours, theirs = getattr(td, name)(td.asarray(x), 1).get(), getattr(np, name)(x, 1)
                said = f"{name} of {n}, seed {seed}"
                if dtype == "c16":  # products of infinite parts are not NumPy's
                    ours, theirs = (np.where(np.isfinite(v), v, np.inf) for v in (ours, theirs))
                np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=said)
