"""Every function that compiled Python knows, against Python and NumPy: cases for each name of the front's table."""

import builtins
import cmath
import math
import operator
import resource

import kernel_names
import numpy as np
import pytest
from numpy_side import EachOf

import treadle
from treadle import _core, cuda

MODULES = {"builtins": builtins, "math": math, "cmath": cmath, "numpy": np, "operator": operator}


def function(text, names):
    """A function of one expression, or of statements."""
    lines = text.split("\n") if "return" in text else [f"return {text}"]
    source = f"def f({', '.join(names.split())}):\n" + "".join(f"    {line}\n" for line in lines)
    return kernel_names.function(source, math=math, cmath=cmath, np=np, operator=operator)


FLOATS = [0.3, -1.7, 2.5, 1.0, 0.0, 40.25]
SMALL = [0.3, -0.9, 0.75, 0.0]
ABOVE = [1.0, 1.5, 40.25, 3.0]
POSITIVE = [0.3, 1.0, 2.5, 40.25]
SPECIAL = [math.inf, -math.inf, math.nan, -0.0]
INTS = [0, 1, 7, 12, 100]
SIGNED = [-7, 3, -12, 5]
COMPLEX = [0.3 + 0.4j, -1.5 + 2j, 1 - 1j]


def pairs(xs, ys=None):
    return [(x, y) for x in xs for y in (ys or xs)]


ONE, TWO = [(x,) for x in FLOATS + SPECIAL], pairs(FLOATS)
CASES = {}  # name of the table -> list of (expression, arguments)


def case(names, expression, args):
    for name in names.split():
        short = name.replace("numpy.", "np.").replace("builtins.", "")
        CASES.setdefault(name, []).append((expression.replace("F(", short + "("), args))


case(
    "math.exp math.exp2 math.expm1 math.sin math.cos math.tan math.atan math.sinh math.cosh math.tanh math.asinh"
    " math.degrees math.radians math.erf math.erfc math.fabs math.isnan math.isinf math.isfinite math.cbrt math.ulp",
    "F(x)",
    [(x,) for x in FLOATS],
)
case("math.sqrt math.log math.log2 math.log10 math.log1p math.gamma math.lgamma", "F(x)", [(x,) for x in POSITIVE])
case("math.asin math.acos math.atanh", "F(x)", [(x,) for x in SMALL])
case("math.acosh", "F(x)", [(x,) for x in ABOVE])
case("math.fabs math.isnan math.isinf math.isfinite math.atan math.tanh math.erf", "F(x)", [(x,) for x in SPECIAL])
case("math.log", "F(x, y)", pairs(POSITIVE, [2.0, 10.0]))
case("math.atan2 math.copysign math.hypot math.nextafter", "F(x, y)", TWO)
case("math.fmod math.remainder", "F(x, y)", pairs(FLOATS, [0.7, -2.5, 3.0, math.inf]))
case("math.pow", "F(x, y)", pairs(POSITIVE, [2.0, -3.0, 0.5, 1.7]))
case("math.fma", "F(x, y, z)", [(1.5, 2.5, -3.0)])
case("math.floor math.ceil math.trunc", "F(x)", [(x,) for x in FLOATS + INTS])
case("math.hypot", "(F(), F(x), F(x, y, z))", [(1.5, -2.0, 3.0)])
case("math.dist", "F((x, y), (z, 1.0))", [(1.5, -2.0, 3.0)])
case("math.gcd math.lcm", "(F(), F(x), F(x, y), F(x, y, 30))", pairs(INTS, SIGNED))
case("math.isqrt", "F(x)", [(x,) for x in [*INTS, 2**62, 2**62 - 1, (2**31) ** 2 - 1, 3037000499**2]])
case("math.factorial", "F(x)", [(x,) for x in range(21)])
case("math.comb math.perm", "F(x, y)", pairs([0, 1, 5, 20, 30], [0, 1, 3, 7]))
case("math.perm", "F(x)", [(x,) for x in range(15)])
case("math.frexp math.modf", "F(x)", [(x,) for x in FLOATS + [1e-310, math.inf, -0.0]])
case("math.ldexp", "F(x, y)", pairs(FLOATS, [0, 5, -3, -1080, 3000 - 2500]))
case("math.isclose cmath.isclose", "(F(x, y), F(x, y, rel_tol=0.5), F(x, y, abs_tol=3.0))", pairs(FLOATS + [math.inf]))
case("math.prod", "(F((x, y, z)), F((x, y), start=2))", [(1.5, 2, 3.0)])
case("math.fsum", "F((x, y, z))", [(1e100, 1.0, -1e100), (0.1, 0.2, 0.3)])
case("math.sumprod", "F((x, y), (y, z))", [(1.5, 2.0, 3.0), (1, 2, 3)])
case(
    "cmath.sqrt cmath.exp cmath.log cmath.log10 cmath.sin cmath.cos cmath.tan cmath.asin cmath.acos cmath.atan"
    " cmath.sinh cmath.cosh cmath.tanh cmath.asinh cmath.acosh cmath.atanh cmath.isnan cmath.isinf cmath.isfinite"
    " cmath.phase cmath.polar",
    "F(x)",
    [(x,) for x in [*COMPLEX, 0.5]],
)
case("cmath.log", "F(x, y)", pairs(COMPLEX, [2.0]))
case("cmath.rect", "F(x, y)", [(2.0, 0.5), (1.0, 3.0)])

case(
    "numpy.exp numpy.exp2 numpy.expm1 numpy.sin numpy.cos numpy.tan numpy.arctan numpy.sinh numpy.cosh numpy.tanh"
    " numpy.arcsinh numpy.degrees numpy.rad2deg numpy.radians numpy.deg2rad numpy.fabs numpy.isnan numpy.isinf"
    " numpy.isfinite numpy.cbrt numpy.spacing numpy.rint numpy.floor numpy.ceil numpy.trunc numpy.fix numpy.sign"
    " numpy.square numpy.signbit numpy.real numpy.imag numpy.conj numpy.conjugate numpy.isposinf numpy.isneginf"
    " numpy.isreal numpy.iscomplex numpy.sinc numpy.nan_to_num numpy.round numpy.around numpy.abs numpy.absolute"
    " numpy.negative numpy.positive numpy.modf numpy.frexp numpy.angle",
    "F(x)",
    [(x,) for x in FLOATS] + [(np.float32(1.25),)],
)
case("numpy.sqrt numpy.log numpy.log2 numpy.log10 numpy.log1p numpy.reciprocal", "F(x)", [(x,) for x in POSITIVE])
case("numpy.arcsin numpy.arccos numpy.arctanh", "F(x)", [(x,) for x in SMALL])
case("numpy.arccosh", "F(x)", [(x,) for x in ABOVE])
case(
    "numpy.arctan2 numpy.hypot numpy.logaddexp numpy.logaddexp2 numpy.heaviside numpy.copysign numpy.nextafter"
    " numpy.maximum numpy.minimum numpy.fmax numpy.fmin numpy.add numpy.subtract numpy.multiply numpy.equal"
    " numpy.not_equal numpy.less numpy.less_equal numpy.greater numpy.greater_equal numpy.isclose numpy.logical_and"
    " numpy.logical_or numpy.logical_xor",
    "F(x, y)",
    TWO,
)
case("numpy.fmod numpy.divide numpy.true_divide numpy.floor_divide numpy.remainder numpy.mod", "F(x, y)",
     pairs(FLOATS, [0.7, -2.5]))  # fmt: skip
case("numpy.divmod", "F(x, y)", pairs(FLOATS, [0.7, -2.5]))
case("numpy.power numpy.float_power", "F(x, y)", pairs(POSITIVE, [2.0, 0.5]))
case("numpy.gcd numpy.lcm", "F(x, y)", pairs(INTS, SIGNED))
case("numpy.ldexp", "F(x, y)", pairs(FLOATS, [3, -4]))
case("numpy.logical_not", "F(x)", [(x,) for x in FLOATS])
case("numpy.invert numpy.bitwise_not", "F(x)", [(x,) for x in SIGNED])
case("numpy.bitwise_and numpy.bitwise_or numpy.bitwise_xor", "F(x, y)", pairs(SIGNED))
case("numpy.left_shift numpy.right_shift", "F(x, y)", pairs(SIGNED, [0, 3]))
case("numpy.where", "F(x < y, x, y)", TWO)
case("numpy.clip", "(F(x, 0.0, y), F(x, None, y))", pairs(FLOATS, [1.0]))
case("numpy.nan_to_num", "(F(x), F(x, nan=7.0, posinf=2.0))", [(x,) for x in SPECIAL])
case("numpy.isposinf numpy.isneginf numpy.rint numpy.sign", "F(x)", [(math.inf,), (-math.inf,)])
case("numpy.round numpy.around", "F(x, 1)", [(0.25,), (1.37,)])
case("numpy.angle numpy.real numpy.imag numpy.conj numpy.isreal numpy.iscomplex", "F(x)", [(x,) for x in COMPLEX])
case("numpy.isclose", "F(x, y, equal_nan=True)", [(math.nan, math.nan), (1.0, math.nan)])

case(
    " ".join(
        f"operator.{n}"
        for n in "add iadd sub isub mul imul truediv itruediv floordiv ifloordiv mod imod lshift ilshift rshift irshift"
        " and_ iand or_ ior xor ixor eq ne lt le gt ge".split()
    ),
    "F(x, y)",
    pairs([7, -12, 3], [2, 5]),
)
case("operator.pow operator.ipow", "F(x, y)", pairs([7, -12, 3], [0, 2, 5]))
case("operator.neg operator.pos operator.invert operator.inv operator.not_ operator.truth operator.index operator.abs",
     "F(x)", [(7,), (-12,), (0,)])  # fmt: skip
case("operator.getitem", "F((x, y, z), 1)", [(1, 2, 3)])

case("builtins.sum", "(F((x, y, z)), F((x, y), 5))", [(1.5, 2, 3)])
case("builtins.any builtins.all", "(F((x, y)), F(()), F((True, x)))", pairs([0, 1, 2.5]))
case("builtins.ord", "F('a') + F('é') + x", [(1,)])
case("builtins.tuple", "F((x, y)) + F()", [(1, 2.5)])
case("builtins.tuple.index", "(x, y, z).index(7)", [(1, 7, 7), (7, 0, 1)])
case("builtins.tuple.count", "(x, y, z).count(7)", [(1, 7, 7), (0, 0, 1)])
case("builtins.float.is_integer", "x.is_integer()", [(1.0,), (1.5,), (math.inf,), (math.nan,)])
case("builtins.int.bit_length", "x.bit_length()", [(x,) for x in [*INTS, -5, 2**40, 2**62]])
case("builtins.abs", "F(x)", [(-3,), (2.5,), (-1 + 1j,)])
case("builtins.pow", "F(x, y)", [(3, 4), (2.5, 3.0)])
case("builtins.divmod", "F(x, y)", [(-7, 3), (7.5, -2.0)])
case("builtins.round", "(F(x), F(x, 1))", [(2.5,), (-1.25,)])
case("builtins.range", "F(x)[0] if False else x", [(3,)])
case("builtins.len", "F((x, y))", [(3, 4)])
case("builtins.enumerate", "s = 0\nfor i, v in enumerate((x, y)):\n    s += i * v\nreturn s", [(3, 4)])
case("builtins.zip", "s = 0\nfor i, v in zip((x, y), (1, 2)):\n    s += i * v\nreturn s", [(3, 4)])
case("builtins.reversed", "s = 0\nfor v in reversed((x, y)):\n    s = s * 10 + v\nreturn s", [(3, 4)])
case("builtins.min builtins.max", "(F(x, y), F((x, y, 3.0)))", pairs([2.0, 5.0, 3.5]))
case("builtins.min builtins.max", "(F(x, y), F((x, y, 3)))", pairs([2, 5, 3]))
case("builtins.isinstance", "F(x, int)", [(3,), (2.5,)])
case("numpy.generic.conjugate numpy.generic.conj", "x.conjugate()", [(x,) for x in COMPLEX])
case("numpy.generic.clip", "x.clip(0, 1)", [(np.float32(2.5),)])
case("numpy.generic.round", "x.round(1)", [(np.float64(2.25),)])
case("numpy.generic.astype", "x.astype(np.int32)", [(np.float32(2.5),), (np.float64(-7.9),)])
case("numpy.generic.item", "x.item() + 1", [(np.float32(2.5),), (np.int16(7),)])
case("numpy.generic.view", "x.view(np.int32)", [(np.float32(2.5),)])

A1, A2 = np.array([3.5, -1.25, 7.0, 0.5, 7.0]), np.arange(12.0).reshape(3, 4) * 0.75 - 2
I2, B1, C1 = np.arange(12, dtype=np.int32).reshape(3, 4) - 5, np.array([True, False, True]), np.array([1 + 2j, -1j, 3])
F32 = (np.arange(1000, dtype=np.float32) * np.float32(0.1)).astype(np.float32)
HOLED = np.array([1.5, np.nan, -2.0, 4.0])
ARRAYS = [(A1,), (A2,), (I2,), (B1,), (A2.T,), (A2[:, ::2],), (F32,)]

case("numpy.sum numpy.prod numpy.mean numpy.any numpy.all numpy.count_nonzero", "F(x)", ARRAYS + [(C1,)])
case("numpy.min numpy.max numpy.amin numpy.amax numpy.argmin numpy.argmax", "F(x)", ARRAYS + [(HOLED,)])
case("numpy.var numpy.std", "(F(x), F(x, ddof=1))", [(A1,), (A2,), (I2,), (C1,)])
case("numpy.ptp", "F(x)", [(A1,), (A2,), (I2,)])
for name in "sum prod mean min max argmin argmax any all var std".split():
    case(f"numpy.ndarray.{name}", f"x.{name}()", ARRAYS)
    case(f"numpy.ndarray.{name}", f"x.{name}(axis=0)", [(A1,), (A2,), (I2,)])
    case(f"numpy.ndarray.{name}", f"x.{name}(axis=1)", [(A2,), (I2,), (A2.T,)])
case("numpy.sum numpy.mean numpy.prod", "F(x, dtype=np.float32)", [(A1,), (I2,)])
case("numpy.nansum numpy.nanprod numpy.nanmin numpy.nanmax numpy.nanmean", "F(x)", [(HOLED,), (A2,), (I2,)])
case("numpy.dot numpy.inner numpy.vdot", "F(x, x[::-1])", [(A1,), (C1,), (I2[0],)])
case("numpy.ndarray.dot", "x.dot(x) + x @ x", [(A1,)])
case("builtins.sum builtins.any builtins.all builtins.min builtins.max builtins.len", "F(x)", [(A1,), (I2[0],)])
case("math.prod math.fsum", "F(x)", [(A1,)])
case("math.sumprod", "F(x, x)", [(A1,)])

case("numpy.dot", "(F(x, x.T), F(x, x[0]), F(x[:, 0], x), x @ x.T)", [(A2,), (I2,), (A2 + 1j,)])
case("numpy.cumsum numpy.cumprod", "F(x)", [(A1,), (I2[0],), (C1,), (B1,)])
case("numpy.ndarray.cumsum", "(x * 2).cumsum()", [(A1,), (A1[::2],)])
case("numpy.ndarray.cumprod", "x.cumprod()", [(A1,)])
case("numpy.shape numpy.ndim numpy.size", "F(x)", [(A2,), (2.5,)])
case("numpy.reshape", "F(x, (2, 6))", [(A2,)])
case("numpy.ndarray.reshape", "(x.reshape(2, 6), x.reshape(-1), x.reshape((3, -1, 2)))", [(A2,), (I2,)])
case("numpy.ravel", "F(x)", [(A2,)])
case("numpy.ndarray.ravel", "x.ravel()", [(A2,)])
case("numpy.ndarray.flatten", "x.flatten()", [(A2,), (A2.T,)])
case("numpy.transpose", "F(x)", [(A2,)])
case("numpy.ndarray.transpose", "(x.transpose(), x.transpose(1, 0), x.T)", [(A2,)])
case("numpy.swapaxes", "F(x, 0, 1)", [(A2,)])
case("numpy.ndarray.swapaxes", "x.swapaxes(0, -1)", [(A2,)])
case("numpy.squeeze", "F(x[:1], 0)", [(A2,)])
case("numpy.ndarray.squeeze", "x[:, :1].squeeze(axis=1)", [(A2,)])
case("numpy.expand_dims", "F(x, 1)", [(A2,)])
case("numpy.ndarray.view", "x.view(np.int64) + 0", [(A2,)])
case("numpy.ndarray.fill", "y = np.empty(3)\ny.fill(x)\nreturn y", [(2.5,)])
case("numpy.copyto", "y = np.empty(x.shape)\nnp.copyto(y, x)\nreturn y", [(A2,)])
case("numpy.ndarray.item", "x.item(1, 2) + x.item(0, 0)", [(A2,)])
case("numpy.ndarray.conjugate numpy.ndarray.conj", "x.conj() * x", [(C1,)])
case("numpy.ndarray.clip", "x.clip(-1, 2)", [(A2,), (I2,)])
case("numpy.ndarray.round", "x.round(1)", [(A2,)])
case("numpy.ndarray.astype", "x.astype(np.float32)", [(A2,), (I2,)])
case("numpy.zeros numpy.ones", "(F(x), F((x, 3), np.int32), F((2, x), dtype=np.float32))", [(4,)])
case("numpy.empty", "y = F((x, 2))\ny[:] = 3\nreturn y", [(4,)])
case("numpy.full", "(F(x, 2.5), F((x, 2), 7), F(x, 2, np.float32))", [(4,)])
case("numpy.zeros_like numpy.ones_like", "(F(x), F(x, dtype=np.int16))", [(A2,), (I2,)])
case("numpy.empty_like", "y = F(x)\ny[...] = x\nreturn y", [(A2,), (I2,)])
case("numpy.full_like", "F(x, 3)", [(A2,), (I2,)])
case("numpy.arange", "(F(x), F(1, x), F(x, 0, -2), F(0.0, x, 0.5), F(x, dtype=np.float32))", [(7,), (1,)])
case("numpy.linspace", "(F(0, 1, x), F(0.0, 2.0, x, endpoint=False), F(1, 3))", [(7,), (2,)])
case("numpy.eye", "(F(x), F(x, 3), F(x, k=1))", [(4,)])
case("numpy.identity", "F(x)", [(4,)])
case("numpy.array", "(F((1, 2, x)), F([[1.5, 2], [3, x]]), F((1, 2), dtype=np.float32))", [(4,)])
case("numpy.array numpy.copy", "y = F(x)\ny[0] = 0\nreturn y, x", [(A2,)])
case("numpy.asarray numpy.ascontiguousarray", "F(x)", [(A2,)])
case("numpy.ndarray.copy", "y = x.copy()\ny += 1\nreturn y, x", [(A2,)])


def domain_of(row):
    """Operands for which a row of the table is what its meaning says."""
    low, high = map(float, (_core.op_columns()[row][1].partition("|")[0] or "-4 5").split())
    return [low + (high - low) * t for t in (0.05, 0.35, 0.6, 0.95)]


ARITY = {row: arity for row, arity, *_ in _core.ops()}
for _face in ("numpy", "math", "cmath"):  # rows whose names nothing above has
    for _name, _row in _core.op_names(_face).items():
        if f"{_face}.{_name}" not in CASES:
            _values, _n = domain_of(_row), ARITY[_row]
            _rows = list(zip(*(_values[i:] for i in range(_n)), strict=False))
            case(f"{_face}.{_name}", f"F({', '.join('xyz'[:_n])})", _rows)

REFUSED = "type hash id repr format input open".split()
REFUSED = [f"builtins.{n}" for n in REFUSED] + [
    f"numpy.{n}" for n in "median percentile quantile sort argsort unique ndarray.sort".split()
]
ELSEWHERE = {  # tested with what they do
    "builtins.list", "builtins.dict", "builtins.set", "builtins.sorted", "builtins.str", "builtins.chr",
    "builtins.print", "builtins.breakpoint", "builtins.slice", "builtins.getattr", "builtins.hasattr", "numpy.ndindex", "numpy.ndenumerate", "numpy.broadcast_to", "numpy.dtype", "builtins.int.bit_count", "numpy.bitwise_count",
}  # fmt: skip


def names():
    """Every name of the tables that this Python and NumPy have; cuda's and treadle's have their own tests."""
    found = [
        name
        for names, how, signature in _core.intrinsics()
        for name in names.split()
        if how != "value" and signature is None
    ]
    kept = []
    for name in found:
        o = MODULES.get(name.split(".")[0])
        for part in name.split(".")[1:]:
            o = getattr(o, part, None)
        if o is not None:
            kept.append(name)
    return kept


NAMES = names()


def same(got, want, eps=2.0**-52):
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w, eps)
        return
    g, w = np.asarray(got), np.asarray(want)
    assert g.shape == w.shape
    assert g.dtype.kind == w.dtype.kind or {g.dtype.kind, w.dtype.kind} <= set("iub")
    if w.dtype.kind in "fc":
        eps = max(eps, np.finfo(g.dtype).eps)
        np.testing.assert_allclose(g, w, rtol=16 * eps, atol=8 * eps)
    else:
        np.testing.assert_array_equal(g, w)


def eps_of(args):
    """A float32 argument makes float32 results."""
    return 2.0**-23 if any(getattr(a, "dtype", None) == np.float32 for a in args) else 2.0**-52


def test_every_name_has_a_case():
    missing = [n for n in NAMES if n not in CASES and n not in REFUSED and n not in ELSEWHERE]
    assert not missing
    assert len(NAMES) > 300


def params():
    return [pytest.param(n, e, a, id=f"{n}-{i}") for n in NAMES for i, (e, a) in enumerate(CASES.get(n, ()))]


def copied(args):
    return [a.copy() if isinstance(a, np.ndarray) and a.base is None else a for a in args]


@pytest.mark.parametrize("name, expression, rows", params())
def test_functions(name, expression, rows):
    used = "x y z".split()[: len(rows[0])]
    plain = function(expression, " ".join(used))
    compiled = treadle.jit(plain, error_model="numpy")
    for args in rows:
        with np.errstate(all="ignore"):
            want = plain(*copied(args))
        same(compiled(*copied(args)), want, eps_of(args))


OWN = sorted(_core.op_names("treadle").values())


@pytest.mark.parametrize("row", OWN)
def test_rows_that_numpy_has_not(row):
    """By treadle's own name, of numbers and of arrays: what the row's meaning says."""
    arity, meaning = next((r[1], r[3]) for r in _core.ops() if r[0] == row)
    letters = ", ".join("xyz"[:arity])
    compiled = treadle.jit(kernel_names.function(f"def f({letters}):\n    return td.{row}({letters})", td=treadle))
    values = np.array(domain_of(row))
    args = [np.roll(values, i) for i in range(arity)]
    elementwise = {"np": np, "abs": np.abs, "math": EachOf()}
    want = eval(meaning, elementwise, dict(zip("xyz", args, strict=False)))
    same(compiled(*args), want)
    for i in range(len(values)):
        same(compiled(*(float(a[i]) for a in args)), want[i])


def leaves(value):
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("name", [n for n in NAMES if n in CASES])
def test_kernels_on_every_engine(name, dev):
    """The expressions whose results are numbers in kernels, which the null device interprets."""
    for expression, rows in CASES[name]:
        used = "x y z".split()[: len(rows[0])]
        if "return" in expression:
            continue
        for args in rows:
            with np.errstate(all="ignore"):
                wants = function(expression, " ".join(used))(*args)
            if any(np.ndim(w) for w in leaves(wants)):
                continue  # arrays: kernels cannot make them
            given = [treadle.asarray(np.ascontiguousarray(a)) if isinstance(a, np.ndarray) else a for a in args]
            for k, want in enumerate(leaves(wants)):
                item = f"({expression})[{k}]" if isinstance(wants, tuple) else expression
                kernel = cuda.jit(function(f"out[0] = {item}\nreturn", "out " + " ".join(used)))
                out = treadle.zeros(1, dtype=np.asarray(want).dtype)
                kernel[1, 1](out, *given)
                same(np.asarray(out)[0], want, eps_of(args))


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_advice(name):
    short = name.replace("numpy.", "np.").replace("builtins.", "").replace("np.ndarray.sort", "x.sort")
    kernel = cuda.jit(function(f"out[0] = {short}(x)\nreturn", "out x"))
    with pytest.raises(TypeError, match=r"File .*line 2"):
        kernel[1, 1](treadle.zeros(1), treadle.asarray(A1))


@pytest.mark.parametrize(
    "text", ["math.sin(x)", "np.sin(x)", "x * math.sqrt(2.0)", "math.hypot(x, 1, 2)", "x * np.pi", "np.clip(x, 0, 1)",
             "math.modf(x)[0]", "math.remainder(x, 2)", "np.sinc(x)", "math.log(x, 10)"],
)  # fmt: skip
def test_narrow_floats_stay(text):
    f = treadle.jit(function(f"return np.full(1, {text})", "x"))
    assert f(np.float32(0.7)).dtype == np.float32
    assert f(np.float16(0.5)).dtype == np.float16
    assert f(0.7).dtype == np.float64
    assert f(np.int8(1)).dtype == np.float64 or text.startswith("np.")


def test_float32_kernels_hold_no_float64():
    def k(a):
        i = cuda.grid(1)
        a[i] = a[i] * math.sqrt(2.0) + math.pi / 180 + math.exp(a[i]) + math.radians(90) + a.sum() / a.size

    text = cuda.compile_ptx(k, (treadle.types.float32[::1],))
    text = text[0] if isinstance(text, tuple) else text
    assert ".f64" not in text
    kernel_names.assemble(text)


# ---- whole arrays ----

WHOLE = {
    "broadcast": ("return x[:, None] * y + 1", [(A1, A2[0])]),
    "fused": ("c = x * 2 + np.sin(y)\nreturn c - x / 3", [(A2, A2 + 1), (A2, A2[0]), (A2, A2[:, :1])]),
    "compared": ("c = x > 1\nreturn c, c.sum(), ~c | (x < 0)", [(A2,), (I2,)]),
    "masked": ("return np.where(x > 0, x, -1.0)", [(A2,), (I2,)]),
    "powers": ("return x ** 2, 2.0 ** x, -x, abs(x)", [(A2,)]),
    "integers": ("return x + 1, x * y, x / 2, x // 3, x % 3", [(I2, 3)]),
    "shifted": ("x[1:] = x[:-1]\nx[:-2] += x[2:]\nreturn x", [(A1,), (A2,)]),
    "stencil": ("x[1:-1] = 0.5 * x[:-2] + 0.5 * x[2:]\nreturn x", [(A1,), (A2,)]),
    "reversed": ("x[:] = x[::-1]\nreturn x", [(A1,), (A2,)]),
    "rows": ("x[0, :] = x[2, :]\nx[1] = 7\nx[..., 2] *= 2\nreturn x", [(A2,)]),
    "in place": ("y = x\ny += 1\nx -= y * 0.5\nreturn x, y", [(A2,)]),
    "loop": ("for i in range(5):\n    x = x + i * x[::-1]\nreturn x", [(A1,)]),
    "branches": ("if y > 1:\n    z = x + 1\nelse:\n    z = x * 2\nreturn z", [(A2, 2), (A2, 0)]),
    "chosen": ("z = x + 1 if y > 1 else x\nreturn z * 2", [(A2, 2), (A2, 0)]),
    "kept": ("p = x\nq = x\nfor i in range(4):\n    p = q\n    q = x\n    x = x + 1\nreturn p, q, x", [(A1,)]),
    "iterated": ("s = 0.0\nfor r in x:\n    for v in r * 2:\n        s += v\nreturn s", [(A2,)]),
    "nested": ("return (x - x.mean(axis=0)) / x.std(axis=0)", [(A2,)]),
    "reduced": ("return (x * y).sum(), np.sum((x - y) ** 2), (x + y).max(axis=1)", [(A2, A2 + 1)]),
    "complex": ("x.real[:] = 1\nreturn x, x.imag, x * 1j, abs(x)", [(C1,)]),
    "flat": ("x.flat[3] = 9\nreturn x.ravel()[::2]", [(A2,)]),
    "tuple": ("x[0] = (1, 2, 3, 4)\nreturn x", [(A2,)]),
    "empty": ("return x[:0].sum(), x[:0] + 1", [(A1,)]),
    "shape": ("n, m = x.shape\nreturn x.ndim, x.size, x.nbytes, x.itemsize, x.strides, n * m, len(x.T)", [(A2,)]),
    "dtypes": ("return x.dtype == np.float64, x.dtype == np.int32, x.dtype != y.dtype", [(A2, I2), (I2, I2)]),
    "mask": ("x[x > 1] = y\nreturn x", [(A2, 0), (I2, 7)]),
    "early": ("for i in range(5):\n    y = x + i\n    if i == 2:\n        return y\nreturn x", [(A1,)]),
    "skipped": (
        "s = x\nfor i in range(9):\n    t = s + i\n    if i % 2:\n        continue\n    s = t * 0.5\n"
        "    if i == 6:\n        break\nreturn s, t",
        [(A1,)],
    ),
    "turns in turns": (
        "a = x\nfor i in range(4):\n    b = a * 2\n    for j in range(3):\n        c = b + j\n"
        "        if j == 1:\n            a = c - i\n    b = c\nreturn a, b, c",
        [(A1,)],
    ),
    "pairs": ("p = (x, x)\nfor i in range(4):\n    p = (p[1], p[0] + 1)\nreturn p", [(A1,)]),
    "while": ("while x.sum() < 1000:\n    x = x * 2\nreturn x", [(A1,)]),
    "member": ("return y in x, y not in x", [(A1, 7.0), (I2, 99)]),
    "text": ("return len('four') + x", [(1,)]),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_arrays(name):
    text, rows = WHOLE[name]
    plain = function(text, " ".join("x y z".split()[: len(rows[0])]))
    compiled = treadle.jit(plain, error_model="numpy")
    for args in rows:
        mine, its = ([a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
        same(compiled(*mine), plain(*its))
        for m, i in zip(mine, its, strict=True):
            same(m, i)


def test_turns_free_what_they_leave_behind():
    """2000 iterations that make 1 MiB each."""
    f = treadle.jit(function("for i in range(2000):\n    x = x + 1.0\n    y = x * 2\nreturn y", "x"))
    x = np.zeros(1 << 17)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert f(x)[-1] == 4000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_threads_make_arrays():
    text = "for i in prange(x.shape[0]):\n    r = x[i] * 2\n    x[i] = r + r[::-1]\nreturn x"
    plain = kernel_names.function(
        "def f(x):\n" + "".join(f"    {line}\n" for line in text.split("\n")), prange=treadle.prange
    )
    x = np.arange(4000.0).reshape(1000, 4)
    np.testing.assert_array_equal(treadle.jit(plain, parallel=True)(x.copy()), x * 2 + x[:, ::-1] * 2)


def test_results_own_their_memory():
    f = treadle.jit(function("y = x * 2\nreturn y, y[1:], y.T, x", "x"))
    x = np.arange(6.0)
    y, tail, turned, given = f(x)
    y[1] = 50
    assert tail[0] == 50 and turned[1] == 50
    assert np.shares_memory(given, x)
    del y, turned
    kept = [f(x)[0] for _ in range(50)]
    assert tail[0] == 50 and all(k[1] == 2 for k in kept)


@pytest.mark.parametrize(
    "text, args, error, message",
    [
        ("return x + y", (A1, A2[0]), ValueError, "broadcast: 5 and 4"),
        ("x[:] = y\nreturn 0", (A1, A2[0]), ValueError, "assignment: 5 and 4"),
        ("return x.min()", (A1[:0],), ValueError, "min of an empty array"),
        ("return x.reshape(2, 2)", (A1,), ValueError, "reshape"),
        ("return (x, 2).index(3)", (1,), ValueError, "not there"),
        ("return np.empty(x)", (1 << 58,), MemoryError, "bytes"),
        ("return np.empty(x)", (1 << 60,), ValueError, "array is too big"),
        ("x += 0.5\nreturn x", (I2,), TypeError, "cannot be changed to float64"),
        ("return np.sum(x, axis=2)", (A2,), ValueError, "axis="),
        ("return np.sum(x, where=x > 1)", (A2,), TypeError, "takes no where="),
        ("return x @ x", (A2,), ValueError, "matrix product: 4 and 3"),
        ("return math.sin(x)", (A2,), TypeError, "NumPy's function"),
        ("return np.vdot(x, x)", (A2,), TypeError, "take two vectors"),
        ("return x.nothing", (A2,), ValueError, "it has shape"),
        ("return x.T.reshape(12)", (A2,), TypeError, "C order"),
    ],
)
def test_errors(text, args, error, message):
    f = treadle.jit(function(text, " ".join("x y".split()[: len(args)])))
    with pytest.raises(error, match=message):
        f(*[a.copy() if isinstance(a, np.ndarray) else a for a in args])


@pytest.mark.parametrize("text", ["y = x + 1", "y = np.zeros(3)", "x[1:] = x[:-1] * 2", "y = x.copy()"])
def test_kernels_make_no_arrays(text, dev):
    with pytest.raises(TypeError, match="kernel"):
        cuda.jit(function(f"{text}\nreturn", "x"))[1, 1](treadle.asarray(A1))


def test_kernels_store_expressions(dev):
    k = cuda.jit(function("i = cuda_i()\nout[i] = x[i] * 2 + y\nreturn".replace("cuda_i()", "0"), "out x y"))
    out, x, y = treadle.zeros((3, 4)), treadle.asarray(A2), treadle.asarray(A2[1].copy())
    k[1, 1](out, x, y)
    np.testing.assert_allclose(np.asarray(out)[0], A2[0] * 2 + A2[1])


def test_sums_are_accurate(rng):
    x = rng.random(1 << 18, dtype=np.float32)
    exact = math.fsum(x.astype(float))
    got = treadle.jit(function("return x.sum()", "x"))(x)
    assert abs(got - exact) <= abs(float(x.sum()) - exact) + exact * 2.0**-24


def test_print_of_formatted_text(capsys):
    treadle.jit(function("print(f'x={x} y={y!r}', len('ab'))\nreturn 0", "x y"))(3, 2.5)
    assert capsys.readouterr().out == "x=3 y=2.5 2\n"


DEPENDENT = {
    "rows of before": "for i in range(1, x.shape[0]):\n    x[i] = x[i - 1] * 0.5 + x[i].sum()\nreturn x",
    "a flat view": "for i in range(x.shape[0]):\n    v = x.reshape(-1)\n    x[i] = x[i] * 2 + v[0]\n    v[i] = 1.0\nreturn x",
    "a turned view": "for i in range(x.shape[0]):\n    t = x.T\n    t[0, i] = t[0, 0] + 1\nreturn x",
}
INDEPENDENT = {
    "means": "y = np.empty(x.shape[0])\nfor i in range(x.shape[0]):\n    y[i] = x[i].mean()\nreturn y",
    "rows": "for i in range(x.shape[0]):\n    x[i, :] = x[i] * 2 + x[i, 0].item()\nreturn x",
}


@pytest.mark.parametrize("name", [*DEPENDENT, *INDEPENDENT])
def test_loops_over_rows(name):
    """What runs in parallel is decided on the memory that views and whole-array expressions touch."""
    plain = function({**DEPENDENT, **INDEPENDENT}[name], "x")
    f = treadle.jit(plain)
    x = np.random.default_rng(3).random((64, 64))
    same(f(x.copy()), plain(x.copy()))
    text = str(f.explain())
    assert ("in order" if name in DEPENDENT else "in parallel") in text, text
