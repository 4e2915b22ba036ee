"""Functions spelled with others: NaN-skipping reductions, einsum, norms, padding, calculus. Against NumPy's of the same
name, by tables of texts on every device and by drawn arguments."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treadle as td

SEED = np.random.default_rng(3)
A, M, V = SEED.random((2, 3, 4)) * 4 - 2, SEED.random((3, 3)) + np.eye(3), np.array([0.5, -1.25, 3.0, 2.0])
N = SEED.random((4, 5)).astype("float32")
N[1, 2] = N[0, :] = N[3, 4] = np.nan
NAMES = {"a": A, "m": M, "v": V, "n": N, "i": np.arange(12).reshape(3, 4) - 5, "f": A.astype("float32"),
         "b": V > 0, "h": N.astype("float16"), "x": np.sort(SEED.random(6)), "u": np.arange(5, dtype="uint8")}  # fmt: skip

NAN = [
    f"np.{name}(n{axis})"
    for name in "nansum nanprod nanmin nanmax nanmean nanvar nanstd nanmedian".split()
    for axis in ("", ", axis=0", ", axis=1", ", axis=(0, 1)", ", axis=1, keepdims=True")
] + [
    "np.nancumsum(n)", "np.nancumsum(n, 1)", "np.nancumprod(n, 0)", "np.nanargmin(n[1:], 1)", "np.nanargmax(n)",
    "np.nanargmax(n[1:], 1, keepdims=True)", "np.nanmean(i, 0)", "np.nanvar(i)", "np.nansum(i, 1)", "np.nanmax(i, 0)",
    "np.nanargmin(i, 1)", "np.nanstd(i, 1, ddof=1)", "np.nanvar(n, 1, ddof=2)", "np.nanvar(n, 1, ddof=5)",
    "np.nanmean(h, 1)", "np.nanstd(h, 0)", "np.nansum(h)", "np.nansum(n, dtype='float64')", "np.nanmean(n, dtype='float64')",
    "np.nanpercentile(n, 30, axis=1)", "np.nanquantile(n, [0.25, 0.5], axis=0)", "np.nancumsum(i, 1)", "np.nanprod(b)",
]  # fmt: skip
EINSUM = [
    f"np.einsum({t})"
    for t in """'ij,jk->ik', m, m;'ij,jk', m, m;'ij->ji', m;'ii', m;'ii->i', m;'ij->', m;'ij->j', i;'i,j->ij', v, v;
'i,i', v, v;'i,i->', v, v;'ijk,jk->i', a, i;'...j,j->...', a, v;'...j,j', a, v;'i...->...', a;'...ij->...ji', a;
'ijk,lk->ijl', a, i;'bij,bik->bjk', a, a;'bij,bjk->bik', a, a.swapaxes(1, 2);'ij,ij->ij', i, i;'ij,ij', i, i;
'ij,jk,kl->il', m, m, m;'ij,jk,kl', m, m, m, optimize=True;'ij,kj,lj->ikl', m, m, m, optimize='greedy';
'i,ij,j', v, a[0, :3, :3].repeat(2, 0)[:4, :3].repeat(2, 1)[:, :4], v;'ij,jk,kl,lm->im', m, m, m, m, optimize='optimal';
'iij->j', a[:, :2, :] ;'ij,j->i', b[:, None] & b, b;a, [0, 1, 2], [2, 0];m, [0, 1], m, [1, 2], [0, 2];m, [0, 0];
'ij,jk->ik', m[:1], m;'ij,ij->ij', m[:1], m;'ij,ij->j', m[:, :1], m;'ij,ij', m[:1], m;'i->', i[0];'ab,bc,ca', m, m, m;
'...,...', m, m;'...i,...i->...', a, a;a, [..., 0], v, [0], [...];'i,j,k->kji', v, v, v;',ij', 3, m;',', 2, 3.5;
'ij,jk->ik', f[0, :, :3], f[0, :, :3];'ij , jk -> ik', m, m;'ijk,k->', a, v;'aab,b->a', a[:, :2], v;'ba', i""".replace("\n", "").split(";")
]
LINALG = [
    "np.tensordot(a, a, ((1, 2), (1, 2)))", "np.tensordot(a, a, 0)", "np.kron(m, i)", "np.kron(v, v)", "np.kron(m, a)",
    "np.cross(m, m[::-1])", "np.cross(m[0], m)", "np.cross(i.T, i.T[::-1])", "np.cross(m, m[1], axisa=0, axisc=0)",
    "np.vdot(m, m)", "np.inner(a, v)", "np.outer(v, i)", "np.trace(a, 1, 1, 2)", "np.vecdot(a, v)", "np.matvec(a, v)",
    "np.vecmat(v[:3], a)", "np.linalg.vecdot(a, a, axis=1)", "np.linalg.trace(a)", "np.linalg.diagonal(a, offset=1)",
    "np.linalg.matrix_power(m, 5)", "np.linalg.matrix_power(m, 0)", "np.linalg.matrix_power(m, -2)",
    "np.linalg.multi_dot([m, i, i.T, m])", "np.linalg.multi_dot([v, a[0].T, m, m[0]])", "np.linalg.multi_dot([m, m])",
    "np.linalg.inv(m)", "np.linalg.det(m)", "np.linalg.solve(m, m[0])", "np.linalg.cholesky(m @ m.T)", "np.linalg.qr(m)[1]",
    "np.linalg.svd(m)[1]", "np.linalg.eigh(m + m.T).eigenvalues", "np.linalg.lstsq(a[0], v[:3], rcond=None)[0]",
    "np.linalg.pinv(i)", "np.linalg.slogdet(m).logabsdet", "np.linalg.eigvalsh(m + m.T)", "np.linalg.cond(m)",
    "np.linalg.matrix_norm(a)", "np.linalg.vector_norm(a)", "np.linalg.vector_norm(a, axis=(0, 1), ord=3)",
    "np.linalg.norm(a)", "np.linalg.norm(i)", "np.linalg.norm(f)", "np.linalg.norm(a, keepdims=True)",
] + [
    f"np.linalg.norm({x}, {order}{axis})"
    for x, axis, orders in (
        ("v", "", "None 0 1 -1 2 -2 3 0.5 np.inf -np.inf"), ("a", ", 1", "None 0 1 2 -1.5 np.inf"),
        ("m", "", "None 'fro' 'nuc' 1 -1 2 -2 np.inf -np.inf"), ("a", ", (0, 2)", "None 'fro' 'nuc' 1 -2 np.inf -1"),
        ("a", ", (2, 1), True", "'fro' 'nuc' 1 -np.inf 2"), ("f", ", -1, True", "None 1 np.inf 2.5"),
    ) for order in orders.split()
]  # fmt: skip
CALCULUS = [
    "np.diff(a, 2, 1)", "np.diff(b)", "np.diff(v, prepend=0)", "np.diff(m, axis=0, append=m[:1])", "np.diff(v, 9)",
    "np.diff(v, prepend=[1, 2], append=3.5)", "np.ediff1d(i)", "np.ediff1d(v, 9, [1, 2])", "np.ediff1d(v[:1])",
    "np.gradient(v)", "np.gradient(v, 2)", "np.gradient(v, x[:4])", "np.gradient(v, edge_order=2)", "np.gradient(i[0])",
    "np.gradient(v, x[:4], edge_order=2)", "np.gradient(m)[1]", "np.gradient(a, axis=2)", "np.gradient(m, 2.0, x[:3])[1]",
    "np.gradient(a, 1, axis=(1, 2))[0]", "np.gradient(f, axis=1, edge_order=2)", "np.gradient(v, [0.0, 1, 2, 3])",
    "np.trapezoid(v)", "np.trapezoid(a, axis=1)", "np.trapezoid(v, x[:4])", "np.trapezoid(m, dx=0.5)", "np.trapezoid(i, axis=0)",
    "np.trapezoid(m, m)", "np.interp(a, x, x * x)", "np.interp([0.1, 0.3, 0.9], x, x * x)", "np.interp(v, x, x, left=-9, right=9)",
    "np.interp(x, x, x[::-1])", "np.interp(a, x, x, period=0.7)", "np.interp(v, x[:1], x[:1])", "np.interp(n, x, x)",
    "np.interp(2, [1, 3], [5, 6])", "np.cov(m)", "np.cov(v)", "np.cov(v, v[::-1])", "np.cov(a[0], rowvar=False)", "np.cov(m, bias=True)",
    "np.cov(m, ddof=0)", "np.cov(a[0], fweights=[1, 2, 1, 3])", "np.cov(a[0], aweights=[0.5, 2, 1, 3])", "np.cov(i)",
    "np.cov(a[0], fweights=[1, 2, 1, 3], aweights=[0.5, 2, 1, 3], ddof=2)", "np.cov(f[0])", "np.cov(m, m, rowvar=False)",
    "np.corrcoef(m)", "np.corrcoef(v, v[::-1])", "np.corrcoef(v)", "np.corrcoef(a[0], rowvar=False)", "np.vander(v)",
    "np.vander(u, 3)", "np.vander(v, 3, True)", "np.polyval([3, 0.5, 1], v)", "np.polyval(v, m)", "np.polyval([2, 1], i)",
    "np.ix_([0, 2], [1, 3])[1]", "np.ix_(b, v)[0]", "np.divmod(i, 3)[0]", "np.divmod(v, 0.75)[1]", "np.modf(v)[0]", "np.modf(v)[1]",
    "np.modf(i)[0]", "np.modf(np.array([np.inf, -np.inf, np.nan, -0.0]))[0]", "np.frexp(v)[0]", "np.frexp(a)[1]", "np.frexp(f)[1]",
    "np.ldexp(v, 3)", "np.ldexp(v, u[:4])", "np.ldexp(f, -140)", "np.ldexp(v, 10**6)", "np.ldexp(h, i[0, :1])", "np.nextafter(v, 0)",
    "np.nextafter(f, np.inf)", "np.nextafter(h, np.float16(9))", "np.spacing(v)", "np.spacing(f)", "np.spacing(h)", "np.gcd(i, 6)",
    "np.lcm(u, u[::-1])", "np.gcd(u, 3)", "np.pad(a, 1)", "np.tile(i, (2, 1, 2))", "np.repeat(i, 2)",
] + [
    f"np.{name}({x}, {y}, '{mode}')"
    for name in ("convolve", "correlate") for mode in ("full", "same", "valid")
    for x, y in (("v", "x"), ("x", "v"), ("v[:2]", "x"), ("x", "x"), ("i[0]", "u"), ("b", "b[:2]"), ("f[0, 0]", "v[:3]"))
]  # fmt: skip


def same(ours, theirs, text, rtol=1e-12):
    theirs = np.asarray(theirs)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, (text, ours.dtype, theirs.dtype, ours.shape, theirs.shape)
    rtol = {"float16": 2e-3, "float32": 2e-6}.get(str(theirs.dtype), rtol)
    np.testing.assert_allclose(ours.get(), theirs, rtol=rtol, atol=rtol, err_msg=text)


@pytest.mark.parametrize("text", NAN + EINSUM + LINALG + CALCULUS)
def test_as_numpy(text, dev):
    if "ndarray" in text or not hasattr(np, text[3:].split("(")[0].split(".")[0]):
        pytest.skip("this NumPy does not have it")
    ours = {k: td.asarray(v) for k, v in NAMES.items()}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(eval(text, {"np": td}, ours), eval(text, {"np": np}, NAMES), text)


ERRORS = """
np.einsum('ij,jk->ik', m); np.einsum('ij', v); np.einsum('ij,jk->iz', m, m); np.einsum('ij->ii', m); np.einsum('i%->i', m)
np.einsum('ij,jk', m, i.T); np.einsum('ii', i); np.einsum('...i->i', a); np.einsum(); np.einsum('i', m); np.einsum('i->i...i', v)
np.linalg.norm(v, 'fro'); np.linalg.norm(m, 3); np.linalg.norm(a, 1); np.linalg.norm(a, axis=5); np.linalg.norm(m, 2, (0, 0))
np.linalg.matrix_power(i, 2); np.linalg.inv(m * 0); np.linalg.cholesky(-m); np.linalg.multi_dot([m]); np.nanargmin(n, 1)
np.nanargmax(n[0]); np.nanmax(n[:0]); np.pad(v, -1); np.pad(v, (1, 2, 3)); np.pad(v, 1, 'nonsense'); np.pad(v, 1.5)
np.pad(v, 1, 'edge', constant_values=3); np.pad(v[:0], 1, 'edge'); np.gradient(v[:1]); np.gradient(v, 1, 2)
np.gradient(v, [1, 2]); np.gradient(v, edge_order=3); np.diff(v, -1); np.diff(np.array(1)); np.interp(v, x, v); np.interp(v, [], [])
np.convolve(m, v); np.convolve(v, v[:0]); np.correlate(v, v, 'most'); np.ldexp(v, 1.5); np.gcd(v, v); np.gcd(b, b); np.cross(v, v)
np.cov(v, fweights=[1.5, 1, 1, 1]); np.cov(v, aweights=[1, 1]); np.cov(v, aweights=[-1, 1, 1, 1]); np.cov(a); np.vander(m); np.ix_(m)
np.cov(m, ddof=0.5); np.repeat(v, [1, 2]); np.repeat(v, -1); np.tensordot(m, a, 1); np.kron
"""


@pytest.mark.parametrize("text", [t.strip() for t in ERRORS.replace("\n", ";").split(";") if "(" in t])
def test_errors(text):
    """What NumPy refuses is refused, by an exception of the same kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as theirs:
            eval(text, {"np": np}, NAMES)
        with pytest.raises(Exception) as ours:
            eval(text, {"np": td}, {k: td.asarray(v) for k, v in NAMES.items()})
    kinds = (ValueError, TypeError, IndexError, RuntimeError, np.linalg.LinAlgError)
    assert any(isinstance(ours.value, k) and isinstance(theirs.value, k) for k in kinds), (ours.value, theirs.value)


def test_out():
    t, out = td.asarray(N), td.zeros((4,), "float32")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("nansum", "nanmean", "nanmax", "nanstd", "nanmedian"):
            assert getattr(td, name)(t, 1, out=out) is out
            same(out, getattr(np, name)(N, 1), name)
    with pytest.raises(ValueError):
        td.nanmean(t, 1, out=td.zeros(3, "float32"))
    m = td.zeros((3, 3))
    assert td.einsum("ij,jk->ki", td.asarray(M), td.asarray(M), out=m) is m
    same(m, (M @ M).T, "einsum")
    with pytest.raises(ValueError):
        td.einsum("ij->i", td.asarray(M), out=m)
    with pytest.raises(TypeError):
        td.einsum("ij->i", td.asarray(M), dtype="int32")
    same(td.einsum("ij->i", td.asarray(NAMES["i"]), dtype="float64"), np.einsum("ij->i", NAMES["i"], dtype="float64"), "dtype")


def test_numpy_calls_them():
    same(np.nansum(td.asarray(N)), np.nansum(N), "nansum")
    same(np.einsum("ij,jk", td.asarray(M), td.asarray(M)), M @ M, "einsum")
    same(np.linalg.norm(td.asarray(M), axis=0), np.linalg.norm(M, axis=0), "norm")


def test_fft(dev):
    t = td.asarray(V)
    np.testing.assert_allclose(td.fft.rfft(t).get(), np.fft.rfft(V))
    np.testing.assert_allclose(td.fft.ifft(td.fft.fft(t)).get().real, V, atol=1e-15)
    same(td.fft.fftfreq(4), np.fft.fftfreq(4), "fftfreq")


# ---- drawn arguments ----

EXTENTS = {"a": 2, "b": 3, "c": 1, "d": 4}


@st.composite
def expressions(draw):
    terms = draw(st.lists(st.text("abcd", max_size=3), min_size=1, max_size=3))
    known = sorted(set("".join(terms)))
    result = "".join(draw(st.permutations(known))[: draw(st.integers(0, len(known)))]) if known else ""
    return ",".join(terms) + draw(st.sampled_from(["", "->" + result]))


@given(expressions(), st.sampled_from([False, True, "greedy", "optimal"]), st.sampled_from(["float64", "int32"]))
def test_einsum(text, optimize, dtype):
    rng = np.random.default_rng(len(text))
    arrays = [rng.integers(-3, 4, [EXTENTS[c] for c in t]).astype(dtype) for t in text.split("->")[0].split(",")]
    ours = td.einsum(text, *map(td.asarray, arrays), optimize=optimize)
    same(ours, np.einsum(text, *arrays), text)


SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=3)
MODES = ["constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap"]


@given(SHAPES, st.data(), st.sampled_from(MODES), st.sampled_from(["float64", "int64", "float32"]))
def test_pad(shape, data, mode, dtype):
    x = np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(dtype)
    width = data.draw(st.one_of(st.integers(0, 5), st.tuples(st.integers(0, 5), st.integers(0, 5)),
                                st.tuples(*[st.tuples(st.integers(0, 9), st.integers(0, 9)) for _ in shape])))  # fmt: skip
    options = {}
    if mode in ("reflect", "symmetric"):
        options["reflect_type"] = data.draw(st.sampled_from(["even", "odd"]))
    elif mode == "constant":
        options["constant_values"] = data.draw(st.sampled_from([0, 7, (1, 2)]))
    elif mode == "linear_ramp":
        options["end_values"] = data.draw(st.sampled_from([0, 5, (-3, 4)]))
    elif mode in ("maximum", "mean", "median", "minimum"):
        options["stat_length"] = data.draw(st.sampled_from([None, 1, 2, (3, 1)]))
    text = f"pad({shape}, {width}, {mode}, {options})"
    try:
        theirs = np.pad(x, width, mode, **options)
    except ValueError:
        with pytest.raises(ValueError):
            td.pad(td.asarray(x), width, mode, **options)
        return
    same(td.pad(td.asarray(x), width, mode, **options), theirs, text)


@given(st.lists(st.integers(0, 3), max_size=3), st.lists(st.integers(0, 3), max_size=4))
def test_tile(shape, reps):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    same(td.tile(td.asarray(x), tuple(reps)), np.tile(x, tuple(reps)), f"tile {shape} {reps}")


@given(SHAPES, st.data())
def test_repeat(shape, data):
    x = np.arange(np.prod(shape)).reshape(shape)
    axis = data.draw(st.one_of(st.none(), st.integers(-len(shape), len(shape) - 1)))
    n = x.size if axis is None else x.shape[axis]
    counts = data.draw(st.one_of(st.integers(0, 3), st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    same(td.repeat(td.asarray(x), counts, axis), np.repeat(x, counts, axis), f"repeat {shape} {counts} {axis}")


@given(SHAPES, st.data(), st.booleans())
def test_norm(shape, data, keepdims):
    x = np.random.default_rng(len(shape)).random(shape) + 0.1
    axes = data.draw(st.permutations(range(len(shape))))[: data.draw(st.integers(1, min(2, len(shape))))]
    orders = [None, 1, -1, 2, -2, np.inf, -np.inf] + ([0, 3, -2.5] if len(axes) == 1 else ["fro", "nuc"])
    order = data.draw(st.sampled_from(orders))
    axis = axes[0] if len(axes) == 1 else tuple(axes)
    same(td.linalg.norm(td.asarray(x), order, axis, keepdims), np.linalg.norm(x, order, axis, keepdims), f"norm {shape} {order} {axis}", 1e-10)


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(["full", "same", "valid"]), st.sampled_from(["convolve", "correlate"]))
def test_sliding_products(n, m, mode, name):
    """The fused sum that devices without NumPy's memory use."""
    a, v = np.arange(n) * 3 - 5, np.arange(m) * 2 - 3
    with td.device("null"):
        same(getattr(td, name)(td.asarray(a), td.asarray(v), mode), getattr(np, name)(a, v, mode), f"{name} {n} {m} {mode}")


@pytest.mark.recorded
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
def test_random_borders(mode, dev, rng):
    """Widths below, at and above the array's own extents, on every axis."""
    for shape in ((6,), (5, 4), (3, 4, 5)):
        a = rng.integers(0, 99, shape)
        for _ in range(12):
            widths = rng.integers(0, 6, (len(shape), 2)).tolist()
            kw = {"constant_values": rng.integers(0, 9, (len(shape), 2)).tolist()} if mode == "constant" else {}
            want = np.pad(a, widths, mode, **kw)
            np.testing.assert_array_equal(td.pad(td.asarray(a, device=dev), widths, mode, **kw).get(), want, f"{shape} {widths}")
