"""Complex arrays: special values, parts as views, casts, products, and everything that moves elements."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy_side import COMPLEX, REAL, check, layouts, values

import treadle as td
from treadle import _core

ROWS = {name: arity for name, arity, kinds, _ in _core.ops() if "c" in kinds}
FUNCTIONS = _core.ufuncs()


def grid(parts):
    z = np.empty(len(parts) ** 2, np.result_type(parts.dtype, np.complex64))
    z.real, z.imag = np.repeat(parts, len(parts)), np.tile(parts, len(parts))
    return z


def specials(dtype, few=False):
    f = np.finfo(dtype)
    x = [0.0, -0.0, 1, -1, 0.5, -2, np.inf, -np.inf, np.nan, f.max, f.tiny, 1e-20]
    if not few:
        x += [-f.max, -f.tiny, f.tiny / 8, 100, -1e10, 89.2, -89.2, 720, -720, f.max / 2, 1 + 1e-6, 3.14159]
    return np.array(x, f.dtype)


def plain_product(x, y):
    """NumPy's product without the fused additions that it uses where the machine has them."""
    r = np.empty_like(x)
    r.real = x.real * y.real - x.imag * y.imag
    r.imag = x.real * y.imag + x.imag * y.real
    return r


def oracle(name, args):
    if name == "select":
        return np.where(*args)
    if name in ("multiply", "square"):
        return plain_product(args[0], args[-1])
    return getattr(np, name)(*args)


def comparable(name, args, theirs):
    """Where NumPy's value is a value: not what overflows on its way, nor tiny numbers that log1p loses."""
    size = np.abs(args[0])
    with np.errstate(all="ignore"):
        if name == "sign":
            return ~(np.isinf(size) & np.isfinite(args[0]))
        if name == "expm1":  # NumPy has NaN where the standard has a value, and infinity on its way
            return ~np.isnan(theirs) & ~np.isinf(theirs.imag)
        if name == "log1p":
            return (size > 1e-3) & ~(np.isinf(size) & np.isfinite(args[0]))
        if name == "power":  # what cannot be written as exp(y log x) of finite numbers goes by C's rules for NaN
            grown = np.abs(args[1] * np.log(args[0]))
            plain = np.isfinite(args[0]) & np.isfinite(args[1]) & (size > 1e-6) & (size < 1e6)
            return plain & np.isfinite(theirs) & (grown < 20)
    return np.ones(size.shape, bool)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", COMPLEX)
def test_special_values(name, dtype, dev):
    z = grid(specials(dtype, few=ROWS[name] > 1))
    args = [z] if ROWS[name] == 1 else [np.repeat(z, len(z)), np.tile(z, len(z))]
    if name == "select":
        args = [np.isnan(args[0]), *args]
    with np.errstate(all="ignore"):
        theirs = oracle(name, args)
        keep = comparable(name, args[name == "select" :], theirs)
    ours = FUNCTIONS[name](*map(td.asarray, args))
    ulp = 64 if name == "power" else 8
    check(td.asarray(ours.get()[keep]), theirs[keep], ulp, f"{name} {dtype} {dev}")


@pytest.mark.parametrize("dtype", COMPLEX)
def test_zeros_keep_their_signs(dtype):
    """The sides of the branch cuts."""
    z = np.empty(24, dtype)
    z.real = np.tile([2, -2, 0.5, -0.5, 0.0, -0.0], 4)
    z.imag = np.repeat([0.0, -0.0, 1, -1], 6)
    for name in "sqrt log arcsin arccos arctan arcsinh arccosh arctanh sin cos tan sinh cosh tanh exp negative conjugate".split():
        with np.errstate(all="ignore"):
            ours, theirs = FUNCTIONS[name](td.asarray(z)).get(), getattr(np, name)(z)
        for part in ("real", "imag"):
            g, t = getattr(ours, part), getattr(theirs, part)
            both = (g == 0) & (t == 0) | (abs(t) > 1e-3)
            assert (np.signbit(g) == np.signbit(t))[both].all(), f"{name} {part}: {ours} where NumPy has {theirs}"


def test_tiny_numbers_keep_their_digits():
    for dtype, size in (("complex64", 1e-20), ("complex128", 1e-200)):
        z = np.array([1 + 1j, 2 - 1j, -1 + 0.5j]).astype(dtype) * size
        for name in ("log1p", "expm1", "sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh"):
            check(FUNCTIONS[name](td.asarray(z)), z, 4, f"{name} {dtype}")


def test_sign_of_huge_numbers():
    z = np.array([1e308 + 1e308j, -1.5e308 + 1e308j])
    np.testing.assert_allclose(td.sign(td.asarray(z)).get(), z / 1e300 / abs(z / 1e300), rtol=1e-15)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_layouts(dtype, dev, rng):
    for layout, base, view in layouts((6, 7), dtype, rng):
        z, t = view(base), view(td.asarray(base))
        check(t * t + 1j, z * z + 1j, 4, layout)
        check(abs(t) * t.T.conj().T.imag, abs(z) * z.conj().imag, 4, layout)
        check(t.real * 2, z.real * 2, 0, layout)
        check(t[1:, ::2].imag + 1, z[1:, ::2].imag + 1, 0, layout)
        check(t.astype("complex128" if dtype == "complex64" else "complex64"), z.astype("complex128" if dtype == "complex64" else "complex64"), 0)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("shape", [(70, 130), (64, 64), (33, 100, 5), (128, 65)])
def test_transposes(dtype, shape, dev, rng):
    z, y = values(shape, dtype, rng), values(shape[::-1], dtype, rng)
    check(td.asarray(z).T.copy(), z.T)
    check(td.asarray(z).T + td.asarray(y), z.T + y)


# ---- parts ----


@pytest.mark.parametrize("dtype", COMPLEX)
def test_parts_are_views(dtype, dev, rng):
    z = values((4, 5), dtype, rng)
    t = td.asarray(z)
    assert t.real.dtype == z.real.dtype and t.imag.strides == z.imag.strides
    z.real[1] = 7
    t.real[1] = 7
    z.imag[:, ::2] *= 2
    t.imag[:, ::2] *= 2
    z.real, t.real = z.imag, t.imag  # reads and writes the same memory
    z.T[0].imag = 5
    t.T[0].imag = 5
    check(t, z)
    part = t.imag
    t += 1j
    z += 1j
    check(part, z.imag)
    z.imag, t.imag = np.arange(5), td.arange(5)
    check(t, z)
    check(td.real(t) ** 2 + td.imag(t) ** 2, z.real**2 + z.imag**2, 2)
    check(part.reshape(-1)[3:7], z.imag.reshape(-1)[3:7])
    check(part.sum(0), z.imag.sum(0), 4)
    check(td.sort(part), np.sort(z.imag))
    with pytest.raises(ValueError):
        t.imag = np.zeros(3)


def test_parts_of_pending_values_fuse():
    z = td.asarray(np.linspace(0, 1, 50) * (1 + 2j))
    before = _core.jit_stats()["kernels"]
    w = td.exp(z * 2)
    (w.real * 2 + w.imag).get()
    assert _core.jit_stats()["kernels"] - before <= 2


def test_parts_of_real_arrays():
    x = td.asarray([1.0, 2.0])
    assert x.real is x and x.imag.tolist() == [0, 0] and x.imag.dtype == "float64"
    with pytest.raises(ValueError, match="read-only"):
        x.imag[0] = 1
    with pytest.raises(TypeError, match="imaginary"):
        x.imag = 1
    x.real = 3
    check(x, np.array([3.0, 3.0]))


def test_questions():
    z = np.array([1 + 0j, 2 - 1j, 0, np.nan])
    for name in ("isreal", "iscomplex", "iscomplexobj", "isrealobj"):
        for a in (z, z.real, np.arange(3)):
            with np.errstate(all="ignore"):
                theirs = getattr(np, name)(a)
            ours = getattr(td, name)(td.asarray(a))
            assert ours == theirs if isinstance(theirs, bool) else (ours.get() == theirs).all()
    check(td.angle(td.asarray(z[:3]), deg=True), np.angle(z[:3], deg=True), 2)
    check(td.angle(td.asarray([True, False])), np.angle([True, False]), 2)
    check(td.conj(td.asarray([1, 2])), np.conj([1, 2]))
    check(td.asarray(z[:3]).conjugate(), z[:3].conj())
    check(td.nan_to_num(td.asarray(z)), np.nan_to_num(z))
    check(td.round(td.asarray(z[:3] / 3), 2), np.round(z[:3] / 3, 2), 2)
    with pytest.raises(TypeError):
        td.isposinf(td.asarray(z))


# ---- conversion ----


@pytest.mark.parametrize("source,target", [(a, b) for a in REAL + COMPLEX for b in REAL + COMPLEX if a in COMPLEX or b in COMPLEX])
def test_casts(source, target, dev, rng):
    z = values((3, 5), source, rng, 0, 100)
    with warnings.catch_warnings(record=True) as theirs:
        warnings.simplefilter("always")
        want = z.astype(target)
    with warnings.catch_warnings(record=True) as ours:
        warnings.simplefilter("always")
        check(td.asarray(z).astype(target), want)
    assert [w.category for w in ours] == [w.category for w in theirs]


def test_numbers_that_become_real():
    x = td.zeros(3)
    for f in (lambda: x.__setitem__(0, 1j), lambda: td.asarray([1j], dtype=float)):
        with pytest.raises(TypeError):
            f()
    for f in (lambda: x.__setitem__(0, np.complex128(2 + 1j)), lambda: x.__setitem__(slice(1, 3), td.asarray([2 + 1j, 2]))):
        with pytest.warns(np.exceptions.ComplexWarning):
            f()
    assert x.tolist() == [2, 2, 2]
    with pytest.warns(np.exceptions.ComplexWarning):  # as NumPy's full, which casts
        assert td.full(2, 1j, dtype=float).tolist() == [0, 0]
    with pytest.warns(np.exceptions.ComplexWarning):
        assert float(td.asarray([2 + 1j])[0]) == 2
    with pytest.raises(TypeError):
        x += 1j
    flags = td.zeros(2, bool)
    flags[0] = 1j
    assert flags.tolist() == [True, False]


def test_python_numbers_and_text(tmp_path):
    z = td.asarray([1 + 2j, -0.5j])
    assert complex(z[0]) == 1 + 2j and z[1].item() == -0.5j and z.tolist() == [1 + 2j, -0.5j] and abs(z[1]).item() == 0.5
    assert str(z) == str(z.get()) and repr(z) == repr(z.get()) and f"{z[0]:.1f}" == "1.0+2.0j" and bool(z[1])
    assert (z == z.get()).all() and list(z) == [1 + 2j, -0.5j]
    np.save(tmp_path / "z.npy", z.get())
    check(td.asarray(np.load(tmp_path / "z.npy")), z.get())


def test_creation(dev):
    for make in (
        lambda np, **k: np.zeros(3, dtype=complex, **k),
        lambda np, **k: np.ones((2, 2), "complex64"),
        lambda np, **k: np.full(3, 1 - 2j),
        lambda np, **k: np.full((2,), 1 - 2j, "complex64"),
        lambda np, **k: np.arange(5, dtype=complex),
        lambda np, **k: np.linspace(0, 1 + 1j, 5),
        lambda np, **k: np.eye(3, dtype=complex),
        lambda np, **k: np.asarray([[1, 2j], [3.5, True]]),
        lambda np, **k: np.asarray([1, 2], dtype="complex64"),
        lambda np, **k: np.asarray(3 - 1j),
        lambda np, **k: np.zeros_like(np.asarray([1j])),
        lambda np, **k: np.diag(np.asarray([1j, 2])),
    ):
        check(make(td), make(np), 1)


def test_errors_name_operation_and_dtype():
    z = td.asarray([1 + 1j])
    for name in ("floor_divide", "remainder", "fmod", "bitwise_and", "left_shift", "arctan2", "hypot", "logaddexp", "copysign"):
        with pytest.raises(TypeError, match=f"{name}.*complex128"):
            FUNCTIONS[name](z, z)
    for name in ("floor", "ceil", "cbrt", "signbit", "degrees", "invert", "fabs"):
        with pytest.raises(TypeError, match=f"{name}.*complex128"):
            FUNCTIONS[name](z)


def _same(ours, theirs, context):
    check(ours, np.asarray(theirs), 16, context)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_spelled_functions(dtype, rng):
    """What the package spells with others, and NumPy's functions called with our arrays."""
    z = values((5,), dtype, rng)
    t = td.asarray(z)
    for call in (
        lambda np, z: np.average(z, weights=np.asarray([1, 2, 3, 4, 5])),
        lambda np, z: np.isclose(z, z * (1 + 1e-12)),
        lambda np, z: np.nansum(np.where(z.real > 0, z, np.nan)),
        lambda np, z: np.nanmean(np.where(z.real > 0, z, np.nan)),
        lambda np, z: np.clip(z, 0, 2),
        lambda np, z: np.diff(z),
        lambda np, z: np.ptp(z),
        lambda np, z: np.outer(z, z),
        lambda np, z: np.inner(z, z),
        lambda np, z: np.tensordot(z, z, 1),
        lambda np, z: np.trace(np.outer(z, z)),
        lambda np, z: np.float_power(z, 2),
        lambda np, z: np.unique(z),
        lambda np, z: np.logical_and(z, z.real > 0),
        lambda np, z: np.logical_not(z),
        lambda np, z: np.where(z, 1, 0),
        lambda np, z: 2 - 1j * z**3 + z**0.5 - z**-1 + z**0 + 2**z,
        lambda np, z: np.add.reduce(z) + np.maximum.reduce(z),
        lambda np, z: z.real.sum(dtype=complex) + z.real.prod(dtype="complex64") + z.real.mean(dtype="complex128"),
        lambda np, z: np.cumsum(z.imag, dtype="complex128"),
        lambda np, z: z[:0].sum() + z[:0].prod(),
    ):
        _same(call(td, t), call(np, z), dtype)
    for f in (np.real, np.imag, np.conj, np.angle, np.abs, np.sqrt, np.iscomplex):
        _same(f(t), f(z), f.__name__)
    assert td.allclose(t, t) and td.array_equal(t, t) and not td.array_equal(t, t.conj())
    out = td.zeros(5, dtype)
    td.exp(t, out=out, where=td.asarray(z.real > 0))
    _same(out, np.exp(z, out=np.zeros(5, dtype), where=z.real > 0), "out where")
    for call in (lambda x: x.sum(dtype=float), lambda x: x.mean(dtype=float), lambda x: x.cumsum(dtype=float)):
        with pytest.warns(np.exceptions.ComplexWarning):
            ours = call(t)
        np.testing.assert_allclose(ours.get(), call(z.real.astype(float)), rtol=1e-6)


# ---- what moves elements ----


@pytest.mark.parametrize("dtype", COMPLEX)
def test_indexing(dtype, dev, rng):
    z = values((6, 7), dtype, rng)
    t = td.asarray(z)
    at = np.array([[0, 5], [-1, 2]])
    check(t[td.asarray(at)], z[at])
    check(t[:, td.asarray(at)], z[:, at])
    check(td.take(t, td.asarray(at), 1) * 2, np.take(z, at, 1) * 2)
    mask = abs(z) > 3
    check(t[td.asarray(mask)], z[mask])
    check(td.where(td.asarray(mask), t, 0), np.where(mask, z, 0).astype(dtype))
    t[td.asarray(mask)] = 1j
    z[mask] = 1j
    t[1:3, ::2] = t[3:5, ::2]
    z[1:3, ::2] = z[3:5, ::2]
    t[td.asarray([0, 3])] = t[td.asarray([1, 2])] * 2
    z[[0, 3]] = z[[1, 2]] * 2
    check(t, z)
    check(t[::-1, ::-1] + 0, z[::-1, ::-1])
    check(td.concatenate([t, t.conj()]), np.concatenate([z, z.conj()]))
    check(td.roll(t, 2, 1), np.roll(z, 2, 1))
    assert (td.asarray(np.flatnonzero(z)).get() == td.flatnonzero(t).get()).all()


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("shape,axis", [((7,), 0), ((3000,), 0), ((40, 50), 0), ((40, 50), 1), ((3, 200, 9), 1), ((20_000,), 0)])
def test_scans(dtype, shape, axis, dev, rng):
    z = values(shape, dtype, rng, -1, 1)
    unit = z / abs(z)
    ulp = 4 * shape[axis] if dtype == "complex128" else 64 + shape[axis]
    for name, x in (("cumsum", z), ("cumprod", unit)):
        theirs = getattr(np, name)(x.astype("complex128"), axis=axis).astype(dtype)
        check(getattr(td, name)(td.asarray(x), axis=axis), theirs, ulp, f"{name} {shape} {axis}")


@pytest.mark.parametrize("dtype", COMPLEX)
def test_order_in_extremes(dtype, dev):
    """By real part, then by imaginary part; NaN in either part wins."""
    parts = np.array([-1, 0, 2, np.inf, -np.inf], "f8")
    for z in (grid(parts).astype(dtype), np.repeat(np.array([1 + 1j, 1 - 1j, 0], dtype), 30), np.array([2, 1, complex(0, np.nan), 3], dtype)):
        for roll in (0, 1, len(z) // 2):
            x = np.roll(z, roll)
            for name in ("min", "max", "argmin", "argmax"):
                check(getattr(td.asarray(x), name)(), np.asarray(getattr(x, name)()), 0, f"{name} {x}")


@pytest.mark.parametrize("a,b", [((4, 5), (5, 6)), ((5,), (5, 3)), ((4, 5), (5,)), ((7,), (7,)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 3))])
@pytest.mark.parametrize("types", [("complex64", "complex64"), ("complex128", "complex128"), ("float32", "complex64"), ("complex64", "float64")])
def test_products(a, b, types, dev, rng):
    x, y = values(a, types[0], rng), values(b, types[1], rng)
    check(td.asarray(x) @ td.asarray(y), np.asarray(x @ y), 40)
    if len(a) == len(b) == 2:
        check(td.asarray(x).conj() @ td.asarray(y.T.copy()).T, x.conj() @ y, 40)
        check(td.dot(td.asarray(x), td.asarray(y)), np.dot(x, y), 40)
    if len(a) == len(b) == 1:
        check(td.vdot(td.asarray(x), td.asarray(y)), np.asarray(np.vdot(x, y)), 40)


def test_inplace(rng):
    z = values((9,), "complex64", rng)
    t = td.asarray(z)
    for code in ("x += 1j", "x *= 2 - 1j", "x -= y", "x /= 3", "x **= 2", "x[2:5] *= y[2:5]", "x.real += 1"):
        ours, theirs = {"x": t, "y": td.asarray(z[::-1].copy())}, {"x": z, "y": z[::-1].copy()}
        exec(code, {}, ours)
        exec(code, {}, theirs)
        t, z = ours["x"], theirs["x"]
        check(t, z, 8, code)


# ---- views of other dtypes ----


def test_view(dev, rng):
    z = values((3, 4), "complex64", rng)
    t = td.asarray(z)
    for dtype in ("float32", "complex64", "int64", "uint8", "float64", "complex128"):
        check(t.view(dtype), z.view(dtype), 0, dtype)
    t.view("float32")[1, ::2] = 9
    z.view("float32")[1, ::2] = 9
    check(t + 0, z + 0)
    check(td.asarray(z.view("float32")).view("complex64") * 2, z * 2)
    with pytest.raises(ValueError, match="last axis"):
        t.T.view("float32")
    with pytest.raises(ValueError, match="last axis"):
        td.zeros((2, 3), "float32").view("complex64")
    with pytest.raises(ValueError, match="last axis"):
        td.asarray(1j).view("float32")


@given(st.data())
@np.errstate(all="ignore")
def test_mixed_expressions(data):
    """Chains over mixed dtypes and shapes that broadcast, real parts among them, on both engines."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    dtypes = st.sampled_from(["complex64", "complex128", "float32", "float64", "int16", "bool", "float16"])
    shapes = st.sampled_from([(), (4,), (3, 1), (3, 4), (1, 4)])
    device = data.draw(st.sampled_from(["cpu", "null"]))
    theirs = values(data.draw(shapes), "complex64", rng, -2, 2)
    with td.device(device):
        ours = td.asarray(theirs)
        for _ in range(data.draw(st.integers(1, 6))):
            other = values(data.draw(shapes), data.draw(dtypes), rng, 1, 3)
            step = data.draw(st.sampled_from(["add", "subtract", "multiply", "divide", "conj", "swap", "part", "scalar"]))
            if step == "conj":
                ours, theirs = ours.conj(), theirs.conj()
            elif step == "part":
                ours, theirs = ours.real + 1j * ours.imag, theirs.real + 1j * theirs.imag
            elif step == "swap":
                ours, theirs = td.asarray(other) - ours, other - theirs
            elif step == "scalar":
                ours, theirs = ours * (1 - 0.5j), theirs * (1 - 0.5j)
            else:
                ours, theirs = getattr(td, step)(ours, td.asarray(other)), getattr(np, step)(theirs, other)
        got, theirs = ours.get(), np.asarray(theirs)
    assert got.dtype == theirs.dtype and got.shape == theirs.shape
    finite = np.isfinite(theirs)
    assert (np.isfinite(got) == finite).all()
    size = abs(theirs[finite]).max(initial=1)
    np.testing.assert_allclose(got[finite], theirs[finite], rtol=2e-4, atol=2e-4 * size)


# ---- reductions over columns ----

WIDTHS = [1, 8, 9, 31, 32, 33, 63, 64, 65, 127, 130]
REDUCTIONS = ["sum", "prod", "mean", "min", "max", "ptp", "var", "std", "nansum", "nanmax", "any", "argmax", "count_nonzero"]


def reduced(x, t, name, axis):
    theirs = getattr(np, name)(x, axis=axis)
    ours = getattr(td, name)(t, axis=axis).get()
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, name
    single = np.finfo(theirs.dtype).eps > 1e-10 if theirs.dtype.kind in "fc" else False
    np.testing.assert_allclose(ours, theirs, rtol=1e-4 if single else 1e-9, atol=1e-5 if single else 1e-12, err_msg=f"{name} {axis}")


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", COMPLEX)
def test_reductions_of_columns(name, dtype, rng):
    """Widths round those of vectors; rows few and many, so that parts of them are merged or not."""
    for width in WIDTHS:
        for rows in (3, 40, 300):
            z = (1 + rng.standard_normal((rows, width)) / 30 + 1j * rng.standard_normal((rows, width)) / 30).astype(dtype)
            reduced(z, td.asarray(z), name, 0)
    for shape, axis in (((5, 40, 70), 1), ((5, 40, 70), (0, 1)), ((40, 3, 70), 0), ((70, 40), 1), ((70, 40), None)):
        z = (1 + rng.standard_normal(shape) / 30 + 1j * rng.standard_normal(shape) / 30).astype(dtype)
        if not (isinstance(axis, tuple) and name == "argmax"):
            reduced(z, td.asarray(z), name, axis)
            reduced(z.T, td.asarray(z).T, name, axis if not isinstance(axis, int) else z.ndim - 1 - axis)


@pytest.mark.parametrize("width", [9, 33, 65, 130])
def test_complex_within_reductions(width, rng):
    """Operands are real and values complex, or the reverse."""
    x = rng.standard_normal((300, width))
    for dtype in ("float32", "float64"):
        a = x.astype(dtype)
        t = td.asarray(a)
        z, u = a + 1j * a[::-1], td.asarray(a + 1j * a[::-1])
        for f in (
            lambda m, a, z: a + 1j * a, lambda m, a, z: 2 - 1j * a, lambda m, a, z: m.abs(a + 1j), lambda m, a, z: z.real + a,
            lambda m, a, z: z.imag, lambda m, a, z: m.abs(z), lambda m, a, z: (z * a).real, lambda m, a, z: (1j * a).imag,
            lambda m, a, z: m.where(a > 0, z, a), lambda m, a, z: z == a, lambda m, a, z: a.astype(z.dtype),
        ):  # fmt: skip
            for name, axis in (("sum", 0), ("sum", 1), ("max", 0), ("var", 0)):
                reduced(f(np, a, z), f(td, t, u), name, axis)
        reduced(a, t, "ptp", 0)


@pytest.mark.parametrize("part", ["real", "imag"])
@pytest.mark.parametrize("turned", [False, True])
def test_index_arrays_into_parts(part, turned, rng):
    values = rng.standard_normal((4, 5)) + 1j * rng.standard_normal((4, 5))
    whole, a = values.copy(), td.array(values)
    whole, a = (whole.T, a.T) if turned else (whole, a)
    theirs, ours = getattr(whole, part), getattr(a, part)
    i, j = np.array([0, 2, 3, 1]), np.array([1, 3, 0, 2])
    np.testing.assert_array_equal(ours[i, j].get(), theirs[i, j])
    np.testing.assert_array_equal(ours[1:, ::2][[0, 1], [1, 0]].get(), theirs[1:, ::2][[0, 1], [1, 0]])
    np.testing.assert_array_equal(td.take_along_axis(ours, td.argsort(ours, 1), 1).get(), np.sort(theirs, 1))
    ours[i, j] = 7
    theirs[i, j] = 7
    np.testing.assert_array_equal(a.get(), whole)
