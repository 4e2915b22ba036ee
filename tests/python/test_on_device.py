"""Sorting, counting, sets, choosing, calculus and what is made of them: against NumPy on every device, and without a trip
to the host. The table has cases for every name of the modules that hold them; a name without one fails."""

import contextlib
import inspect
import itertools
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle as td

MODULES = set(
    "_sorting _top _sets _quantile _counting _searching _choosing _positions _writing _indexing _calculus _nan _einsum".split()
)  # the last part of a home in _HOME, or a folder of it

S = np.random.default_rng(5)
NAMES = {
    "f": S.normal(size=(3, 5)), "g": S.normal(size=(3, 5)).astype("f4"), "i": S.integers(0, 5, (3, 5)), "z": np.empty((0, 3)),
    "c": (S.integers(0, 3, (3, 5)) + 1j * S.integers(0, 3, (3, 5))).astype("c16"), "d": (S.integers(0, 3, 9) - 1j).astype("c8"),
    "n": np.where(S.random((3, 5)) < 0.4, np.nan, S.normal(size=(3, 5))), "v": S.normal(size=9), "x": np.sort(S.random(5)),
    "w": S.integers(0, 4, (3, 5)) + 0.5, "m": S.random((3, 5)) < 0.5, "k": S.integers(0, 3, (3, 5)), "u": S.integers(0, 9, 12).astype("u1"),
    "b": S.random(9) < 0.5, "p": np.array([2, 0, 1, 4, 3]), "e": np.array([-1.0, 0, 0.5, 2]), "h": np.array([0, 3, 1, 2]),
}  # fmt: skip
NAMES["q"] = np.array(
    [complex(1, np.nan), 2, complex(np.nan, 1), 1j, complex(np.nan, 0), 2, complex(np.nan, np.nan), complex(0, np.nan)]
)

CASES = """
np.sort(c); np.sort(c, 0); np.sort(d, None); np.sort(q); np.sort(f, 1); np.argsort(c, stable=True); np.argsort(q, stable=True)
np.argsort(n, 0, stable=True); np.sort_complex(v); np.sort_complex(d); np.cumsum(c, 1); np.cumprod(d); np.cumsum(f); np.cumprod(i, 0)
np.sort(np.partition(f, 2)); np.partition(f, [1, 3], 1)[:, [1, 3]]; np.sort(np.argpartition(i, 1, 0), 0); np.lexsort((i[0], f[1]))
np.lexsort((c, k), 0); np.lexsort(i); np.lexsort((q[:5], p))
np.unique(i); np.unique(c, True, True, True); np.unique(q, True, False, True); np.unique(n, True, True, True, equal_nan=False)
np.unique(i, True, True, True, axis=0); np.unique(np.concatenate((c, c)), axis=0, return_index=True); np.unique(z); np.unique(z, axis=1)
np.unique(m, axis=1, return_counts=True); np.unique_all(i); np.unique_counts(n); np.unique_inverse(u); np.sort(np.unique_values(d))
np.intersect1d(i, p); np.intersect1d(u, p, return_indices=True); np.union1d(v, f); np.setdiff1d(u, p); np.setxor1d(u, p)
np.setdiff1d(p, u, True); np.isin(i, p[:2]); np.isin(u, i, invert=True); np.isin(u, i, kind="table"); np.isin(f, v, kind="sort")
np.isin(np.arange(40), np.arange(0, 40, 2)); np.isin(c, d)
np.median(f); np.median(n, 0); np.median(i, 1, keepdims=True); np.median(f, (0, 1)); np.median(c, 0); np.nanmedian(n); np.nanmedian(n, 1)
np.quantile(f, 0.3); np.quantile(f, [0.1, 0.9], 1); np.quantile(i, 0.5, (0, 1), method="hazen"); np.quantile(n, 0.5, 0)
np.quantile(f, 0.4, 1, weights=w, method="inverted_cdf"); np.percentile(g, 30, 0); np.percentile(u, [25, 75], method="nearest")
np.nanquantile(n, 0.25, 1); np.nanquantile(n, [0.5, 1], 0, method="median_unbiased", keepdims=True); np.nanpercentile(n, 60)
np.nanquantile(n, 0.5, 1, weights=w, method="inverted_cdf"); np.quantile(f, x, 1, method="midpoint"); np.quantile(f, 1, 0)
np.bincount(u); np.bincount(u, np.arange(12) * 0.5, 20); np.histogram(f); np.histogram(f, 4, (-1, 1)); np.histogram(f, e, weights=w)
np.histogram(i, 3, density=True); np.histogram(f, 5, weights=c); np.histogram(v, "auto"); np.histogram_bin_edges(v, "fd")
np.histogram_bin_edges(v, "doane"); np.histogram_bin_edges(u, "scott"); np.histogram_bin_edges(i, "sturges", (1, 3))
np.histogram_bin_edges(f, "rice"); np.histogram_bin_edges(f, "sqrt"); np.histogram_bin_edges(e); np.histogram2d(f[0], f[1], 4)
np.histogram2d(f[0], f[1], [3, e], weights=w[0]); np.histogramdd(f, 2); np.histogramdd([f[0], f[1]], [e, e], density=True)
np.searchsorted(x, f); np.searchsorted(np.sort(d), c.astype("c8"), "right"); np.searchsorted(x[p], f, sorter=np.argsort(x[p]))
np.searchsorted(np.sort(q), q); np.digitize(f, e); np.digitize(f, e[::-1], True); np.digitize(i, [1, 2])
np.choose(k, [f, 1, g]); np.choose(k + 1, [f, g], mode="clip"); np.select([m, f > 0], [f, i], 7); np.delete(f, 1, 1); np.delete(v, [0, -1])
np.delete(f, m[0], 1); np.delete(v, slice(1, 7, 2)); np.insert(f, 1, 9, 1); np.insert(v, [1, 3], [5, 6]); np.insert(f, p[:2], 0, 1)
np.insert(i, slice(0, 2), 9, 0); np.diag_indices(3); np.tril_indices(3, 1); np.triu_indices(3, -1, 4); np.tril_indices_from(f, 1)
np.triu_indices_from(f); np.diag_indices_from(f[:, :3]); np.mask_indices(3, np.triu, 1); np.ix_([0, 2], [True, False, True])[1]
np.unravel_index(i, (4, 5)); np.ravel_multi_index((i[0], k[0]), (5, 4)); np.trim_zeros(np.pad(i, 2)); np.trim_zeros(np.pad(f, 1), "f", 0)
np.piecewise(f, [f < 0, f > 1], [-1, 1, 0]); np.take_along_axis(f, np.argsort(f, 1), 1); np.take_along_axis(c, k[:1], 0)
np.nonzero(c); np.flatnonzero(m); np.argwhere(i); np.argwhere(c); np.compress(m[0], f, 1); np.extract(m, c); np.take(f, p, 1)
np.take(c, i, mode="wrap"); np.take(f, p * 9, 0, mode="clip")
np.convolve(v, x); np.convolve(d, v, "same"); np.correlate(d, v, "full"); np.correlate(x, v); np.convolve(b, b); np.corrcoef(f)
np.corrcoef(c); np.cov(f); np.cov(f, fweights=[1, 2, 1, 3, 1], aweights=x); np.cov(c, rowvar=False); np.diff(f, 2); np.diff(c, axis=0)
np.diff(f, prepend=0, append=f[:, :1]); np.ediff1d(i, 9, [1, 2]); np.gradient(f); np.gradient(f, x, axis=1); np.gradient(f, 2, x, edge_order=2)
np.interp(f, x, v[:5]); np.interp(f, x, c[0], period=0.3); np.interp(n, x, x, left=-1); np.trapezoid(f); np.trapezoid(f, x); np.vander(x, 3); np.unwrap(v * 4); np.unwrap(f * 4, axis=0)
np.nansum(n, 1); np.nansum(n, initial=2, where=m); np.nanprod(n, 0); np.nanmax(n, 1); np.nanmin(n, 0, initial=0, where=m); np.nanmax(q)
np.nanmean(n, 0); np.nanmean(n, 1, where=m); np.nanvar(n, 1); np.nanstd(n, ddof=1); np.nanvar(n, 1, correction=1, mean=f[:, :1]); np.nanargmax(n)
np.nanargmin(n, None, keepdims=True); np.nancumsum(n, 1); np.nancumprod(n); np.nanmean(q)
np.einsum("ij,kj->ik", f, g); np.einsum("ij->j", c); np.einsum("ii", f[:, :3]); np.einsum("ij,jk,kl", f, f.T, f, optimize=True)
np.einsum("ij,ij->i", f, f, dtype="f4", casting="same_kind"); np.einsum("...j,j", i, p); np.einsum(f, [0, 1], [1, 0]); np.einsum_path("ij,jk", f, f.T)
np.maximum.accumulate(f, 1); np.fmax.reduce(n, 1); np.subtract.reduce(f); np.bitwise_xor.accumulate(i, 1); np.add.reduceat(f, h, 1)
np.multiply.reduceat(c, [2, 0]); np.subtract.outer(x, e); np.hypot.reduce(f, (0, 1)); np.remainder.reduce(f, 1, initial=7, where=m)
"""  # fmt: skip
CASES = [t.strip() for t in re.split("[;\n]", CASES) if t.strip()]

MUTATIONS = """
np.put(y, [0, -1], 7); np.putmask(y, m, f); np.place(y, m, [1, 2]); np.put_along_axis(y, k[:, :1], 9, 1); np.fill_diagonal(y, 5)
np.put_along_axis(y, k[:1], 9, 0); y.__setitem__(m, 0); y.__setitem__((slice(None), p[:2]), 3); y.sort(0); y.partition(1)
np.add.at(y, p[:2], 1.5); np.multiply.at(y, (p[:3] % 3, p[2:]), 2); np.put(y, p, f, mode="wrap"); y.real.__setitem__(p[1:3], 4)
"""  # fmt: skip
MUTATIONS = [t.strip() for t in re.split("[;\n]", MUTATIONS) if t.strip()]


@contextlib.contextmanager
def nothing_on_the_host():
    before = td.config.fallback, td.config.implicit_host
    td.config.fallback = td.config.implicit_host = "error"
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        td.config.fallback, td.config.implicit_host = before


def equal(ours, theirs, text):
    if isinstance(theirs, (tuple, list)) and not isinstance(theirs, str):
        assert len(ours) == len(theirs), text
        for o, t in zip(ours, theirs, strict=True):
            equal(o, t, text)
        return
    if isinstance(theirs, (str, int)):
        assert ours == theirs
        return
    theirs = np.asarray(theirs)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, (
        text,
        ours.dtype,
        theirs.dtype,
        ours.shape,
        theirs.shape,
    )
    rtol = {"float32": 2e-6, "complex64": 2e-6}.get(theirs.dtype.name, 1e-12)
    np.testing.assert_allclose(ours.get(), theirs, rtol=rtol, atol=rtol, err_msg=text)


def on_device():
    return {k: td.asarray(v) for k, v in NAMES.items()}


@pytest.mark.parametrize("text", CASES)
def test_as_numpy(text, dev):
    with nothing_on_the_host():
        theirs = eval(text, {"np": np}, NAMES)
        equal(eval(text, {"np": td}, on_device()), theirs, text)


@pytest.mark.parametrize("dtype", ["f8", "i4", "c16"])
@pytest.mark.parametrize("text", MUTATIONS)
def test_written(text, dtype, dev):
    if dtype == "i4" and ("1.5" in text or "real" in text):
        pytest.skip("NumPy refuses, or there is no such view")
    with nothing_on_the_host():
        theirs, ours = NAMES["f"].astype(dtype), on_device()
        ours["y"] = td.asarray(theirs)
        ours["f"] = ours["f"].astype(dtype)
        eval(text, {"np": np}, {**NAMES, "f": NAMES["f"].astype(dtype), "y": theirs})
        eval(text, {"np": td}, ours)
        equal(
            td.sort(ours["y"]) if "partition" in text else ours["y"],
            np.sort(theirs) if "partition" in text else theirs,
            text,
        )


OURS = {"topk"}  # NumPy has none
OTHERWISE = {"einsum", "sort", "argsort"}  # what NumPy has in **kwargs is spelled out; the array API's descending=


def names_of_modules():
    return {name for home, names in td._HOME.items() if not MODULES.isdisjoint(home.split(".")) for name in names.split()}


def test_every_name_has_a_case():
    had = {m for t in CASES + MUTATIONS for m in re.findall(r"np\.(\w+)", t)}
    assert names_of_modules() - had - OURS == set()


@pytest.mark.skipif(np.__version__ < "2.4", reason="the signatures are those of NumPy 2.4")
@pytest.mark.parametrize("name", sorted(names_of_modules() - OURS - OTHERWISE))
def test_signatures(name):
    """The same parameters in the same order, of the same kinds; NumPy's <no value> may be another default here."""
    try:
        theirs = inspect.signature(getattr(np, name)).parameters.values()
    except ValueError:
        pytest.skip("NumPy does not tell")
    ours = list(inspect.signature(getattr(td, name)).parameters.values())
    assert [(p.name, p.kind) for p in ours] == [(p.name, p.kind) for p in theirs]
    for o, t in zip(ours, theirs, strict=True):
        if t.default is not t.empty and "no value" not in repr(t.default):
            assert o.default == t.default, o


# ---- what the table does not say ----


@pytest.mark.parametrize("few", [64, 2])  # with 2 rows of a GPU are not sorted but searched
@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "u1", "f2", "?"])
def test_topk(dtype, few, dev, monkeypatch):
    monkeypatch.setattr("treadle._select._top.FEW", few)
    x = (np.abs(S.normal(size=(4, 9))) * 9).astype(dtype)
    if x.dtype.kind == "f":
        x[0, 1], x[2, 2:], x[3, 4] = np.nan, -np.inf, np.inf
    for axis, k, largest in itertools.product((0, 1), (0, 1, 4), (True, False)):
        with nothing_on_the_host():
            values, at = td.topk(td.asarray(x), k, axis, largest)
            ranked = np.sort(x, axis)
            ranked = np.flip(ranked, axis) if largest else ranked
            equal(values, np.take(ranked, range(k), axis), (axis, k, largest))
            equal(td.take_along_axis(td.asarray(x), at, axis), values.get(), (axis, k, largest))
            rest = td.topk(td.asarray(x), k, axis, largest, False).values
            equal(td.sort(rest, axis), np.sort(values.get(), axis), "not sorted")
    for bad in (lambda t: td.topk(t, 99), lambda t: td.topk(t, -1), lambda t: td.topk(t, 1, 5)):
        with pytest.raises(ValueError):
            bad(td.asarray(x))


def test_more_than_one_sort_takes(dev, monkeypatch):
    """Rows by themselves, and halves merged, as from 2**32 elements on."""
    monkeypatch.setattr("treadle._select._sorting.LIMIT", 16)
    for dtype in ("i4", "f4", "c8"):
        x = S.integers(-5, 5, 50).astype(dtype)
        x[4] = np.nan if dtype != "i4" else 0
        for y, axis in ((x, -1), (x[:48].reshape(8, 6), 1), (x[:40].reshape(2, 20), 1), (x[:40].reshape(2, 20), 0)):
            with nothing_on_the_host():
                equal(td.sort(td.asarray(y), axis), np.sort(y, axis), dtype)
                equal(td.argsort(td.asarray(y), axis, stable=True), np.argsort(y, axis, kind="stable"), dtype)


def test_pieces_that_are_accumulated_side_by_side(dev, monkeypatch):
    monkeypatch.setattr("treadle._numpy._folds.CHUNK", 8)
    x = S.integers(1, 50, (2, 53))
    for name in ("fmax", "bitwise_xor", "gcd", "logaddexp"):
        equal(getattr(td, name).accumulate(td.asarray(x), 1), getattr(np, name).accumulate(x, 1), name)


BINARY = sorted(
    n
    for n in td._core.ufuncs()
    if type(getattr(td, n, None)) is td.ufunc and getattr(getattr(np, n, None), "nin", 0) == 2
)


@pytest.mark.parametrize("name", BINARY)
def test_methods_of_ufuncs(name, dev):
    """reduce, accumulate, reduceat and outer, or NumPy's refusal; the oracle of reduce is accumulate's last element, for
    NumPy's reductions of power and arctan2 over contiguous axes are wrong on some machines."""
    f, ours = getattr(np, name), getattr(td, name)
    for dtype in (
        ("i4", "?") if dev == "null" else ("f8", "c16") if name in ("subtract", "power", "maximum") else ("f8", "u1")
    ):
        x = S.integers(1, 5, (3, 4)).astype(dtype)
        t = td.asarray(x)
        tries = [
            (lambda m, a: m.accumulate(a, 1), x.shape[1:]), (lambda m, a: m.reduceat(a, [0, 2, 1]), None),
            (lambda m, a: m.outer(a, a[0]), None), (lambda m, a: m.reduce(a, initial=a.dtype.type(2)), None),
            (lambda m, a: m.reduce(a[:0]), None), (lambda m, a: m.reduce(a, (0, 1)), None), (lambda m, a: m.accumulate(a, 3), None),
        ]  # fmt: skip
        for k, (call, _) in enumerate(tries):
            with nothing_on_the_host():
                try:
                    theirs = call(f, x)
                except (TypeError, ValueError, IndexError):
                    with pytest.raises((TypeError, ValueError, IndexError)):
                        call(ours, t)
                    continue
                rtol = 3e-2 if theirs.dtype == "f2" else 1e-5 if theirs.dtype == "f4" else 1e-10
                got = call(ours, t)
                assert (got.dtype, got.shape) == (theirs.dtype, theirs.shape), (name, dtype, k)
                np.testing.assert_allclose(got.get(), theirs, rtol=rtol, atol=rtol, err_msg=f"{name} {dtype} {k}")
                if k == 0:
                    np.testing.assert_allclose(
                        ours.reduce(t, 1).get(), theirs[:, -1], rtol=rtol, err_msg=f"{name}.reduce"
                    )


@given(data=st.data())
@settings(max_examples=40)
def test_einsum_of_drawn_subscripts(data):
    sizes = dict(zip("abcd", data.draw(st.lists(st.integers(1, 3), min_size=4, max_size=4)), strict=True))
    terms = data.draw(st.lists(st.text("abcd", max_size=4), min_size=1, max_size=3))
    seen = sorted(set("".join(terms)))
    result = "".join(data.draw(st.permutations(seen))[: data.draw(st.integers(0, len(seen)))])
    arrays = [S.integers(-3, 4, [sizes[c] for c in t]) for t in terms]
    text = ",".join(terms) + data.draw(st.sampled_from(["", "->" + result]))
    for optimize in (False, "greedy"):
        equal(td.einsum(text, *map(td.asarray, arrays), optimize=optimize), np.einsum(text, *arrays), text)


@given(data=st.data())
@settings(max_examples=30)
def test_quantiles_of_drawn_numbers(data):
    numbers = st.one_of(st.floats(-9, 9, width=32), st.just(np.nan))
    x = np.array(data.draw(st.lists(numbers, min_size=1, max_size=12)), data.draw(st.sampled_from(["f8", "f4"])))
    q = data.draw(st.one_of(st.floats(0, 1), st.lists(st.floats(0, 1), min_size=1, max_size=3)))
    from treadle._select._quantile import _METHODS

    method, name = data.draw(st.sampled_from(sorted(_METHODS))), data.draw(st.sampled_from(["quantile", "nanquantile"]))
    with td.device("null"), nothing_on_the_host():
        equal(
            getattr(td, name)(td.asarray(x), q, method=method),
            getattr(np, name)(x, q, method=method),
            f"{name} {method}",
        )


def test_long_vectors_are_convolved_by_transforms(dev, monkeypatch):
    monkeypatch.setattr("treadle._numpy._calculus._sliding.SHORT", {"cpu": 0, "null": 0, "cuda": 0})
    monkeypatch.setattr("treadle._numpy._calculus._sliding.LONG", 100)
    a, b = S.normal(size=90), S.normal(size=20)
    pairs = [(a, b), (b, a), (a, b[1:]), (a + 1j * a, b - 2j * b), (a.astype("f4"), b.astype("f4"))]
    for (x, y), mode, name in itertools.product(pairs, ("full", "same", "valid"), ("convolve", "correlate")):
        with nothing_on_the_host():
            ours, theirs = getattr(td, name)(td.asarray(x), td.asarray(y), mode), getattr(np, name)(x, y, mode)
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours.get(), theirs, atol=1e-5 if x.dtype == "f4" else 1e-12)
    lost = a.copy()
    lost[7] = np.inf  # stays where it is
    equal(td.convolve(td.asarray(lost), td.asarray(b)), np.convolve(lost, b), "inf")


@pytest.mark.parametrize("kind", ["normal", "few values", "one value", "spread out", "far off", "nan", "inf"])
def test_selection_of_long_vectors(kind, monkeypatch):
    """Medians, quantiles and top elements by histograms, for vectors that are long here already."""
    for name, value in {"LONG": 64, "BINS": 8, "SMALL": 8, "SHARE": 16}.items():
        monkeypatch.setattr(f"treadle._select._selection.{name}", value)
    monkeypatch.setattr("treadle._select._top.FEW", 4)
    n = 300
    x = {
        "normal": S.normal(size=n), "few values": S.integers(0, 5, n), "one value": np.full(n, 3.0), "spread out": np.exp(S.normal(size=n) * 5),
        "far off": np.where(S.random(n) < 0.02, 1e30, S.random(n)), "nan": np.r_[S.normal(size=n - 1), np.nan], "inf": np.r_[S.normal(size=n - 1), np.inf],
    }[kind].astype("f4")  # fmt: skip
    with td.device("null"), nothing_on_the_host():
        t = td.asarray(x)
        equal(td.median(t), np.median(x), kind)
        for method in ("linear", "closest_observation", "weibull", "averaged_inverted_cdf", "midpoint"):
            for q in (0.3, 0.0, 1.0, [0.99, 0.25]):
                equal(td.quantile(t, q, method=method), np.quantile(x, q, method=method), f"{kind} {method} {q}")
        for k, largest in ((3, True), (7, False), (60, True)):
            values, at = td.topk(t, k, largest=largest)
            ranked = np.sort(x)
            equal(values, ranked[::-1][:k] if largest else ranked[:k], kind)
            equal(t[at], values.get(), kind)
            assert len(set(at.get().tolist())) == k


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    "bins,span", [(1, (0, 1)), (10, (0, 1)), (256, (-1, 1)), (1000, (0.1, 0.2)), (37, (1000, 1000.5))]
)
def test_numbers_on_edges_and_beside_them(bins, span, dtype, dev):
    """By counting, by adding up weights, among equal edges that are given, and in boxes."""
    edges = np.linspace(*span, bins + 1).astype(dtype)[:200]
    low, high = np.array(-1e9, dtype), np.array(1e9, dtype)
    x = np.concatenate([edges, np.nextafter(edges, low), np.nextafter(edges, high), [np.nan, np.inf, -np.inf]]).astype(
        dtype
    )
    t, one = td.asarray(x), np.ones(len(x))
    with nothing_on_the_host():
        counts, shown = np.histogram(x, bins, span)
        equal(td.histogram(t, bins, span), (counts, shown), "counted")
        equal(td.histogram(t, bins, span, weights=td.asarray(one))[0], counts.astype("f8"), "weighed")
        equal(td.histogram(t, shown)[0], np.histogram(x, shown)[0], "given")
        equal(td.histogramdd([t], [bins], [span]), np.histogramdd([x], [bins], [span]), "boxes")


def test_many_weights_in_few_bins(monkeypatch):
    monkeypatch.setattr("treadle._select._counting.LONG", 4)
    monkeypatch.setattr("treadle._select._counting.PIECES", 8)
    w, y = S.normal(size=500), S.normal(size=500)
    with td.device("null"), nothing_on_the_host():
        for n in (1, 3, 40):
            x = S.integers(0, n, 500)
            equal(td.bincount(td.asarray(x), td.asarray(w), n + 2), np.bincount(x, w, n + 2), f"{n} bins")
            ours = td.histogram(td.asarray(y), n, (-1, 1), weights=td.asarray(w + 1j))
            equal(ours, np.histogram(y, n, (-1, 1), weights=w + 1j), f"{n} bins of complex weights")


@pytest.mark.parametrize("span", [(0, 1e-300), (0, 5e-309), (0, 9e-308)])
def test_ranges_whose_scale_is_no_number(span, dev):
    x, one = np.array([0, 0.1, 0.5, 0.9, 1, 2, -1, np.nan]) * span[1], np.ones(8)
    for bins in (3, 100):
        with nothing_on_the_host():
            theirs = np.histogram(x, bins, span)
            equal(td.histogram(td.asarray(x), bins, span), theirs, f"{span} {bins}")
            equal(
                td.histogram(td.asarray(x), bins, span, weights=td.asarray(one))[0],
                theirs[0].astype("f8"),
                f"{span} {bins}",
            )


ONE = (
    "sort argsort sort_complex cumsum cumprod unique unique_all median nanmedian nansum nanmax nanmin nanvar nanargmax nancumsum bincount histogram "
    "histogram_bin_edges histogramdd flatnonzero nonzero argwhere diff ediff1d trapezoid cov vander trim_zeros average lexsort"
).split()
TWO = (
    "union1d intersect1d setdiff1d setxor1d isin convolve correlate searchsorted digitize take compress extract".split()
)


def same_outcome(call, text, *arrays):
    """Equal results, or refusals by exceptions of one kind."""
    with nothing_on_the_host():
        try:
            theirs = call(np, *arrays)
        except Exception as e:
            with pytest.raises((type(e), TypeError, ValueError, IndexError)):
                call(td, *map(td.asarray, arrays))
            return
        equal(call(td, *map(td.asarray, arrays)), theirs, text)


@pytest.mark.parametrize("dtype", ["f8", "i4"])
@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 0), (1,), (1, 1)])
def test_no_elements_and_no_axes(shape, dtype, dev):
    a = np.full(shape, 2, dtype)
    for name in ONE:
        same_outcome(lambda m, x, name=name: getattr(m, name)(x), name, a)
    for name in ("sort", "cumsum", "median", "nanmax", "unique", "partition", "argpartition"):
        for axis in (0, -1, 1):
            more = {"axis": axis} | ({"kth": 0} if "part" in name else {})
            same_outcome(lambda m, x, name=name, more=more: getattr(m, name)(x, **more), f"{name} {axis}", a)
    for b in (np.array(1, dtype), np.empty(0, dtype), np.array([2, 1], dtype)):
        for name in TWO:
            same_outcome(lambda m, x, y, name=name: getattr(m, name)(x, y), name, a, b)
    for q in (0.5, [0.5], []):
        same_outcome(lambda m, x, q=q: m.quantile(x, q), f"quantile {q}", a)
        same_outcome(lambda m, x, q=q: m.nanpercentile(x, q, 0), f"nanpercentile {q}", a)


def laid_out(v, layout):
    """v's values in memory of another layout."""
    if layout == "strided":
        wide = np.zeros([2 * n for n in v.shape], v.dtype)
        wide[tuple(slice(None, None, 2) for _ in v.shape)] = v
        return td.asarray(wide)[tuple(slice(None, None, 2) for _ in v.shape)]
    if layout == "transposed":
        return td.asarray(v.T.copy()).T
    back = tuple(slice(None, None, -1) for _ in v.shape)
    return td.asarray(v[back].copy())[back]


@pytest.mark.parametrize("layout", ["strided", "transposed", "reversed"])
def test_layouts(layout):
    ours = {k: laid_out(v, layout) for k, v in NAMES.items()}
    with nothing_on_the_host():
        for text in CASES:
            equal(eval(text, {"np": td}, ours), eval(text, {"np": np}, NAMES), f"{layout} {text}")


@pytest.mark.parametrize("name", ONE)
def test_broadcast(name, dev):
    a = np.array([3.0, 1, 2, 0])
    if name != "bincount":
        same_outcome(lambda m, x: getattr(m, name)(m.broadcast_to(x, (3, 4))), name, a)


BFLOAT16 = """
td.sort(x, 0); td.unique(x, True)[0]; td.median(v); td.nanmedian(x, 1); td.nanmax(x, 1); td.nanargmax(x, 1); td.topk(v, 3).values; td.isin(x, v)
td.searchsorted(td.sort(v), x); td.maximum.accumulate(v); td.fmax.accumulate(x, 1); td.add.reduceat(v, [0, 3]); td.subtract.reduce(v); td.delete(v, 1)
td.intersect1d(v, x); td.argwhere(v); td.trim_zeros(v); td.lexsort((v, v)); td.histogram(v, 4)[0]; td.nanquantile(x, 1, 1)
"""  # fmt: skip


@pytest.mark.parametrize("text", [t.strip() for t in re.split("[;\n]", BFLOAT16) if t.strip()])
def test_bfloat16(text, dev):
    """Of small whole numbers what float32 gives."""
    x, v = np.arange(24.0).reshape(4, 6) % 7, np.array([0.0, 3, 1, 5, 5, 2, 0])
    x[1, 2] = np.nan
    wide = {"td": td, "x": td.asarray(x.astype("f4")), "v": td.asarray(v.astype("f4"))}
    narrow = {"td": td, "x": wide["x"].astype("bfloat16"), "v": wide["v"].astype("bfloat16")}
    with nothing_on_the_host():
        theirs, ours = eval(text, wide), eval(text, narrow)
        assert ours.dtype == (theirs.dtype if theirs.dtype.kind != "f" else narrow["v"].dtype)
        equal(ours.astype(theirs.dtype), theirs.get(), text)
