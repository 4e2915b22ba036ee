"""searchsorted, digitize, isin, bincount and histogram against NumPy."""

import numpy as np
import pytest
from conftest import DEVICES
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn
from numpy_side import REAL, check, outcome, values

import treadle as td


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(dtype, side, dev):
    rng = np.random.default_rng(2)
    for n in (0, 1, 2, 3, 7, 8, 9, 100, 1000):
        a, v = np.sort(values(n, dtype, rng, -20, 20)), values((5, 7), dtype, rng, -25, 25)
        check(td.searchsorted(td.asarray(a), td.asarray(v), side), np.searchsorted(a, v, side), 0, f"{n}")
        check(td.searchsorted(td.asarray(a[::-1].copy())[::-1], td.asarray(v).T, side), np.searchsorted(a, v.T, side), 0, f"{n}, strided")


@pytest.mark.parametrize("name", DEVICES)
@given(data=st.data())
@settings(max_examples=40)
def test_any_numbers(name, data):
    kinds = st.sampled_from(["f4", "f8", "i2", "u4", "i8"])
    shapes = hn.array_shapes(min_dims=0, max_dims=2, max_side=6)
    a = np.sort(data.draw(hn.arrays(data.draw(kinds), st.integers(0, 9))))
    v = data.draw(hn.arrays(data.draw(kinds), shapes))
    side = data.draw(st.sampled_from(["left", "right"]))
    with td.device(name):
        check(td.searchsorted(td.asarray(a), td.asarray(v), side), np.searchsorted(a, v, side), 0, f"{a!r} {v!r} {side}")
        order = data.draw(st.permutations(range(len(a))))
        mixed = np.empty_like(a)
        mixed[list(order)] = a
        ours = td.searchsorted(td.asarray(mixed), td.asarray(v), side, sorter=td.asarray(np.array(order, dtype="i8")))
        check(ours, np.searchsorted(a, v, side), 0, "sorter")


def test_searching_fuses_and_reduces(dev):
    a, v = np.arange(0, 100, 3.0), np.linspace(-3, 120, 1001)
    t = (td.searchsorted(td.asarray(a) + 0, td.asarray(v) * 1, "right") * 2).sum()
    assert int(t) == int((np.searchsorted(a, v, "right") * 2).sum())
    check(td.asarray(a)[td.searchsorted(td.asarray(a), td.asarray(v)) % 5], a[np.searchsorted(a, v) % 5])


@pytest.mark.parametrize("bins", [[0.0, 1, 2.5, 4, 10], [10.0, 4, 2.5, 1, 0], [1, 1, 2], [3]])
@pytest.mark.parametrize("right", [False, True])
def test_digitize(bins, right, dev):
    for x in (np.array([0.2, 6.4, 3.0, 1.6, 10, 0, -1, np.nan, 99]), np.array([[1, 2], [3, 4]])):
        check(td.digitize(td.asarray(x), bins, right), np.digitize(x, bins, right), 0, f"{bins}")


@pytest.mark.parametrize("n", [0, 1, 5, 40])
@pytest.mark.parametrize("invert", [False, True])
def test_isin(n, invert, dev):
    rng = np.random.default_rng(n)
    for dtype in ("i4", "f8", "u1"):
        a, t = rng.integers(0, 60, (6, 5)).astype(dtype), rng.integers(0, 60, n).astype(dtype)
        if dtype == "f8" and n:
            a[0, 0] = t[0] = np.nan
        check(td.isin(td.asarray(a), td.asarray(t), invert=invert), np.isin(a, t, invert=invert), 0, f"{dtype} {n}")


def test_refusals():
    for f in (
        lambda m: m.searchsorted(m.asarray([1, 2]), 1, "middle"), lambda m: m.searchsorted(m.asarray([[1, 2]]), 1),
        lambda m: m.digitize(m.asarray([1.0]), [1, 3, 2]), lambda m: m.searchsorted(m.asarray([1, 2]), 1, sorter=m.asarray([0])),
    ):  # fmt: skip
        _, theirs = outcome(lambda f=f: f(np))
        assert type(theirs) is ValueError
        with pytest.raises(ValueError):
            f(td)


# ---- counting ----


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bins,span", [(1, None), (10, (0, 1)), (256, (-1, 1)), (1000, (0.1, 0.2)), (37, (1000, 1000.5)), (9000, None), (20, (5, 5))])
def test_histogram_of_awkward_numbers(dtype, bins, span, dev):
    rng = np.random.default_rng(bins)
    for scale, shift in ((1, 0), (3, -1), (0.2, 1000.1)):
        x = (rng.random(4000) * scale + shift).astype(dtype)
        if span:  # on the edges, beside them, and what belongs nowhere
            edges = np.linspace(*span, bins + 1).astype(dtype)[:300]
            low, high = np.array(-1e9, dtype), np.array(1e9, dtype)
            x[: 3 * len(edges)] = np.concatenate([edges, np.nextafter(edges, low), np.nextafter(edges, high)])
            x[-3:] = np.nan, np.inf, -np.inf
        expected, error = outcome(lambda x=x: np.histogram(x, bins, span))
        if error:  # more bins than float32 has numbers
            with pytest.raises(type(error)):
                td.histogram(td.asarray(x), bins, span)
            continue
        for ours, theirs in zip(td.histogram(td.asarray(x), bins, span), expected, strict=True):
            check(ours, theirs, 0, f"{bins} {span} {scale}")


@pytest.mark.parametrize("bins", [5, [0.0, 1, 2, 10], [1, 3]])
def test_histogram_of_everything(bins, dev):
    rng = np.random.default_rng(1)
    x, w = rng.integers(0, 12, (50, 4)), rng.integers(1, 5, (50, 4))
    for dtype in ("i4", "u1", "f4", "f2", "?"):
        for kw, rtol in (({}, 0), ({"density": True}, 1e-12), ({"weights": w}, 0), ({"weights": w.astype("f4")}, 1e-6)):
            ours = td.histogram(td.asarray(x.astype(dtype)), bins, **{k: td.asarray(v) if k == "weights" else v for k, v in kw.items()})
            host = x.astype(dtype)
            theirs = np.histogram(host.astype("u1") if dtype == "?" else host, bins, **kw)
            for o, t in zip(ours, theirs, strict=True):
                assert o.dtype == t.dtype, (dtype, kw)
                np.testing.assert_allclose(o.get(), t, rtol=rtol)


@pytest.mark.parametrize("n", [1, 5, 16, 17, 256, 257, 8192, 8193, 20000])
@pytest.mark.parametrize("size", [1, 3, 1000, 20001])
def test_bincount_sizes(n, size, dev):
    rng = np.random.default_rng(n + size)
    for dtype in ("i4", "u8", "i2"):
        x = rng.integers(0, min(n, 30000), size + 1).astype(dtype)
        for part in (slice(0, size), slice(1, None)):  # aligned and not
            check(td.bincount(td.asarray(x)[part], minlength=n), np.bincount(x[part].astype("i8"), minlength=n), 0, f"{dtype}")
    x = np.full(size, n - 1)
    check(td.bincount(td.asarray(x)), np.bincount(x))


def test_bincount_weights_and_refusals(dev):
    rng = np.random.default_rng(0)
    x, w = rng.integers(0, 9, 500), rng.random(500)
    check(td.bincount(td.asarray(x), td.asarray(w), 20), np.bincount(x, w, 20), 8)  # added in any order on a GPU
    check(td.bincount(td.asarray([], dtype="int64"), minlength=3), np.bincount(np.array([], dtype="i8"), minlength=3))
    for bad in (lambda m: m.bincount(m.asarray([1, -1])), lambda m: m.bincount(m.asarray([[1]])), lambda m: m.bincount(m.asarray([1]), minlength=-1),
                lambda m: m.bincount(m.asarray([1, 2]), m.asarray([1.0]))):  # fmt: skip
        with pytest.raises(ValueError):
            bad(np)
        with pytest.raises(ValueError):
            bad(td)
    with pytest.raises(TypeError):
        td.bincount(td.asarray([1.5]))
