"""Every row of ops.def against its own meaning, on all dtypes, layouts and devices."""

import numpy as np
import pytest
from numpy_side import COMPLEX, FLOATS, INTS, REAL, ULP, EachOf, check, layouts, values

import treadle as td
from treadle import _core, _describe

ROWS = {name: (arity, kinds, meaning) for name, arity, kinds, meaning in _core.ops()}
FUNCTIONS = _core.ufuncs()
COLUMNS = _core.op_columns()


def halves(text):
    """A column's numbers before and behind its |."""
    here, _, behind = text.partition("|")
    return [float(n) for n in here.split()], [float(n) for n in behind.split()]


# Units in the last place that results may be off: of real numbers, of complex numbers' parts.
EXACTNESS = {name: halves(exactness) for name, (exactness, _) in COLUMNS.items()}
INEXACT = {name for name, (real, _) in EXACTNESS.items() if real != [0]}
# Where the meaning is what the row does, and NumPy's does not depend on the build.
DOMAIN = {name: tuple(halves(domain)[0]) for name, (_, domain) in COLUMNS.items() if halves(domain)[0]}
SHAPE = (3, 5)
# Rows that serve the compiler: no face has them.
INNER = set(ROWS) - {row for face in ("numpy", "treadle") for row in _core.op_names(face).values()}
# Rows over floats alone that NumPy has no function for: integers become floats, halves are rounded once.
SPELLED = {name for name, row in ROWS.items() if row[1] == "f" and not hasattr(np, name)} - {"fma"}


def meaning_of(name, args):
    with np.errstate(all="ignore"):
        return eval(ROWS[name][2], {"np": np, "abs": np.abs, "math": EachOf()}, dict(zip("xyz", args, strict=False)))


def expected(name, args):
    """NumPy's value, or the exception with which it refuses these dtypes."""
    kinds = ROWS[name][1]
    if name == "pow":
        return np.power(*args)
    ufunc = getattr(np, name, None)
    if name not in ("select", "fma") and isinstance(ufunc, np.ufunc):
        with np.errstate(all="ignore"):
            r = ufunc(*args)
        # NumPy leaves 1 / 0 of integers to the machine
        return np.where(args[0] == 0, 0, r).astype(r.dtype) if name == "reciprocal" and r.dtype.kind in "iu" else r
    if name in SPELLED and not any(a.dtype.kind == "c" for a in args):
        return meaning_of(name, [a.astype("float64") for a in args]).astype(np.sqrt(args[0][:0]).dtype)
    if name != "angle" and any(a.dtype.kind not in kinds for a in args[name == "select" :]):
        raise TypeError("not NumPy's")
    r = np.asarray(meaning_of(name, args))
    return r.astype(args[0].dtype) if name == "mulhi" else r


def dtypes_of(name):
    kinds = ROWS[name][1]
    if name in INNER - {"scale", "mantissa", "exponent"} | {"fma", "nextafter"}:
        return [d for d in REAL + COMPLEX if np.dtype(d).kind in kinds and d != "float16"]
    return [d for d in REAL + COMPLEX if (name, d) != ("angle", "bool")]  # NumPy's angle makes int64 of bool first


def ulp_of(name, dtype, args=()):
    if any(np.asarray(a).dtype.kind == "c" for a in args):
        return (EXACTNESS[name][1] or [0])[0]
    (units,) = EXACTNESS[name][0]
    if str(dtype) == "float16":
        return units / 2 if units else 1
    return units if str(dtype) in ULP else 0


def operands(name, dtype, shape, rng):
    low, high = DOMAIN.get(name, (-4, 5))
    args = [values(shape, dtype, rng, low, high) for _ in range(ROWS[name][0])]
    if name == "select":
        args[0] = rng.random(shape) < 0.5
    return args


def agree(name, args, ours, context):
    try:
        theirs = expected(name, args)
    except TypeError:
        with pytest.raises(TypeError):
            FUNCTIONS[name](*ours)
        return
    except ValueError:
        with pytest.raises(ValueError):
            FUNCTIONS[name](*ours).get()
        return
    r = FUNCTIONS[name](*ours)
    check(r, theirs, ulp_of(name, r.dtype, args), context)


@pytest.mark.parametrize("name", ROWS)
def test_dtypes(name, rng):
    for dtype in dtypes_of(name):
        args = operands(name, dtype, SHAPE, rng)
        agree(name, args, [td.asarray(a) for a in args], f"{name} {dtype}")


@pytest.mark.parametrize("name", ROWS)
def test_devices(name, dev, rng):
    kinds = ROWS[name][1]
    dtype = "float32" if "f" in kinds else "uint32" if kinds == "u" else "int32" if "i" in kinds else "bool"
    args = operands(name, dtype, (7,), rng)
    ours = [td.asarray(a) for a in args]
    assert all(a.device == dev for a in ours)
    theirs = expected(name, args)
    check(FUNCTIONS[name](*ours), theirs, max(2, ulp_of(name, theirs.dtype)) if dev != "cpu" else ulp_of(name, theirs.dtype), name)


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if "c" in row[1]])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_on_devices(name, dtype, dev, rng):
    for shape in ((), (7,), (3, 5), (40,)):
        args = operands(name, dtype, shape, rng)
        agree(name, args, [td.asarray(a) for a in args], f"{name} {dtype} {shape}")


@pytest.mark.parametrize("name", [n for n in ROWS if n not in ("select", "mulhi", "truncate_divide")])
def test_layouts(name, rng):
    dtype = "float64" if "f" in ROWS[name][1] else "int64" if "i" in ROWS[name][1] else "bool"
    low, high = DOMAIN.get(name, (-4, 5))
    for layout, base, view in layouts(SHAPE, dtype, rng):
        base = values(base.shape, dtype, rng, low, high)
        ours = view(td.asarray(base))
        args = [view(base)] * ROWS[name][0]
        check(FUNCTIONS[name](*[ours] * len(args)), expected(name, args), ulp_of(name, ours.dtype), f"{name} {layout}")


SHAPES = [((), ()), ((0,), (0,)), ((0, 3), (3,)), ((4, 1), (1, 5)), ((5,), (3, 1)), ((2, 3, 4), (3, 1)), ((1,), (6,))]


@pytest.mark.parametrize("name", ["add", "maximum", "arctan2", "less", "floor_divide"])
@pytest.mark.parametrize("a,b", SHAPES)
def test_broadcasting(name, a, b, dev, rng):
    x, y = values(a, "float32", rng), values(b, "float32", rng)
    check(FUNCTIONS[name](td.asarray(x), td.asarray(y)), getattr(np, name)(x, y), 4, f"{name} {a} {b}")


@pytest.mark.parametrize("name", ["add", "multiply", "subtract", "divide", "power", "less", "maximum", "bitwise_and"])
def test_promotion(name, rng):
    pairs = [(a, b) for a in REAL + COMPLEX for b in REAL + COMPLEX]
    for a, b in pairs:
        x, y = values((3,), a, rng, 0, 4), values((3,), b, rng, 0, 4)
        agree(name, [x, y], [td.asarray(x), td.asarray(y)], f"{name} {a} {b}")


WEAK = [True, 3, 2.5, 1.5 - 2j]


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "maximum", "equal", "floor_divide"])
@pytest.mark.parametrize("dtype", REAL + COMPLEX)
def test_python_scalars_are_weak(name, dtype, rng):
    x = values((4,), dtype, rng, 0, 5)
    for s in WEAK:
        for theirs, ours in (((x, s), (td.asarray(x), s)), ((s, x), (s, td.asarray(x)))):
            try:
                with np.errstate(all="ignore"):
                    want = getattr(np, name)(*theirs)
            except TypeError:
                with pytest.raises(TypeError, match="complex"):
                    FUNCTIONS[name](*ours)
                continue
            check(FUNCTIONS[name](*ours), want, ulp_of(name, dtype, theirs), f"{name} {dtype} {s!r}")


@pytest.mark.parametrize("strong", [np.float64(1.5), np.float32(1.5), np.int16(3), np.array(2.0), np.bool_(True)])
def test_numpy_scalars_are_strong(strong, rng):
    for dtype in INTS + FLOATS:
        x = values((4,), dtype, rng, 0, 5)
        check(td.asarray(x) * strong, x * strong, 1, f"{dtype} * {strong!r}")
        check(strong * td.asarray(x), strong * x, 1, f"{strong!r} * {dtype}")


UNARY = ["-x", "+x", "abs(x)", "~x"]
BINARY = ["x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "x ** y", "x & y", "x | y", "x ^ y", "x << y",
          "x >> y", "x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y", "divmod(x, y)[0]", "divmod(x, y)[1]"]  # fmt: skip


@pytest.mark.parametrize("text", UNARY + BINARY)
@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32"])
def test_operators(text, dtype, rng):
    x, y = values((6,), dtype, rng, 0, 5), values((6,), dtype, rng, 0, 5)
    ours = {"x": td.asarray(x), "y": td.asarray(y)}
    try:
        with np.errstate(all="ignore"):
            theirs = eval(text, {}, {"x": x, "y": y})
    except TypeError:
        with pytest.raises(TypeError):
            eval(text, {}, ours)
        return
    check(eval(text, {}, ours), theirs, 2, f"{text} {dtype}")


@pytest.mark.parametrize("op", ["+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=", "<<=", ">>="])
@pytest.mark.parametrize("dtype", ["bool", "int32", "float32"])
@pytest.mark.parametrize("other", [2, 0.5, "same"])
def test_inplace_operators(op, dtype, other, rng):
    x = values((6,), dtype, rng, 0, 5)
    y = values((6,), dtype, rng, 0, 5) if other == "same" else other
    t, u = td.asarray(x), td.asarray(y) if other == "same" else other
    error = None
    try:
        with np.errstate(all="ignore"):
            exec(f"x {op} y", {}, theirs := {"x": x, "y": y})
    except (TypeError, ValueError) as e:
        error = type(e)
    ours = {"x": t, "y": u}
    if error:
        with pytest.raises((TypeError, ValueError)):
            exec(f"x {op} y", {}, ours)
        check(t, x, 0, "left alone")
    else:
        exec(f"x {op} y", {}, ours)
        assert ours["x"] is t
        check(t, theirs["x"], 2, f"{op} {dtype} {other}")


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("other", ["bool", "int8", "uint64", "float32", "float64", "complex128"])
def test_inplace_product(dtype, other, rng):
    """x @= y keeps x's dtype, and refuses a product that it cannot hold, as NumPy."""
    x, y = values((3, 3), dtype, rng, 0, 5), values((3, 3), other, rng, 0, 5)
    t = td.asarray(x)
    if not np.can_cast(np.result_type(x, y), x.dtype, "same_kind"):
        with pytest.raises(TypeError):
            x @= y
        with pytest.raises(TypeError):
            t @= td.asarray(y)
    else:
        x @= y
        t @= td.asarray(y)
    check(t, x, 4, f"{dtype} @= {other}")


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 0.5, -1, -2, 2.5, -0.5])
@pytest.mark.parametrize("dtype", FLOATS)
def test_powers(exponent, dtype, rng):
    x = values((50,), dtype, rng, 0.1, 4)
    check(td.asarray(x) ** exponent, x**exponent, 4, f"{dtype} ** {exponent}")


def test_special_values(rng):
    x = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-310, 1e308, 1e10, -1e10, 0.5])
    for dtype in ("float32", "float64"):
        with np.errstate(all="ignore"):
            v = x.astype(dtype)
            for name, (arity, kinds, _) in ROWS.items():
                if "f" not in kinds or not isinstance(getattr(np, name, None), np.ufunc) or name == "pow":
                    continue
                a = v if arity == 1 else np.repeat(v, len(v))
                b = None if arity == 1 else np.tile(v, len(v))
                args = [a] if arity == 1 else [a, b]
                check(FUNCTIONS[name](*map(td.asarray, args)), getattr(np, name)(*args), ulp_of(name, dtype), f"{name} {dtype}")


def test_integers_are_total():
    for dtype in INTS:
        info = np.iinfo(dtype)
        x = np.array([info.min, info.max, 0, 1, 7], dtype)
        y = np.array([0, 1, 2, info.max] + ([np.iinfo(dtype).max] if info.min == 0 else [-1]), dtype)
        a, b = np.repeat(x, 5), np.tile(y, 5)
        with np.errstate(all="ignore"):
            for name in ("floor_divide", "remainder", "fmod", "multiply", "subtract", "divide"):
                check(FUNCTIONS[name](td.asarray(a), td.asarray(b)), getattr(np, name)(a, b), 1, f"{name} {dtype}")
            shift = np.tile(np.array([0, 1, 7, 63, 100], dtype), 5)
            for name in ("left_shift", "right_shift"):
                check(FUNCTIONS[name](td.asarray(a), td.asarray(shift)), getattr(np, name)(a, shift), 0, f"{name} {dtype}")


@pytest.mark.parametrize("source", REAL)
def test_casts(source, rng):
    x = values((5, 7), source, rng, -100, 100)
    for target in REAL:
        if np.dtype(source).kind == "f" and np.dtype(target).kind == "u":
            x = abs(x)  # C leaves negative floats to unsigned open, and so does NumPy
        check(td.asarray(x).astype(target), x.astype(target), 0, f"{source} to {target}")


def test_out_where_dtype(rng):
    x, y = values((4, 5), "float32", rng), values((5,), "float32", rng)
    mask = rng.random((4, 5)) < 0.5
    out, n_out = td.zeros((4, 5), "float32"), np.zeros((4, 5), "float32")
    r = td.add(td.asarray(x), td.asarray(y), out=out)
    assert r is out
    check(out, np.add(x, y, out=n_out))
    td.multiply(td.asarray(x), 2, out, where=td.asarray(mask))
    np.multiply(x, 2, out=n_out, where=mask)
    check(out, n_out)
    check(td.add(td.asarray(x), 1, dtype="float64"), np.add(x, 1, dtype="float64"))
    with pytest.raises(TypeError):
        td.add(td.asarray(x), 1.5, out=td.zeros((4, 5), "int32"))
    with pytest.raises(TypeError):
        td.add(td.asarray(x), 1, nonsense=3)


@pytest.mark.parametrize("alias", sorted(td.ALIASES))
def test_aliases(alias):
    assert getattr(td, alias) is getattr(td, td.ALIASES[alias])


def test_documented():
    for name, f in FUNCTIONS.items():
        assert f.__name__ == name and _describe._renamed(ROWS[name][2], f.nin) in f.__doc__ and f.nin == ROWS[name][0]


def test_ufunc_reduce(rng):
    x = values((3, 4), "float32", rng)
    for name in ("add", "multiply", "maximum", "minimum"):
        check(getattr(td, name).reduce(td.asarray(x)), getattr(np, name).reduce(x), 4)
        check(getattr(td, name).reduce(td.asarray(x), axis=None), getattr(np, name).reduce(x, axis=None), 8)
    with pytest.raises(ValueError, match="binary"):
        td.exp.reduce(td.asarray(x))


def test_sin_of_large_arguments(dev):
    x = np.array([1e10, 1e5, -1e7], "float32")
    check(td.sin(td.asarray(x)), np.sin(x.astype("f8")).astype("f4"), 2)
