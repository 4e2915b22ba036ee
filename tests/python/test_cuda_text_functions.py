"""CUDA C++ text on a CPU: each function of its headers against NumPy, SciPy or integers of Python, in one program."""

import math
from fractions import Fraction

import cuda_text
import numpy as np
import pytest
from cuda_text import DTYPE, F4, F8, I4, I8, U4, U8

N = 400
LIBRARY = 4  # units that the C library's vector functions promise
draw = np.random.default_rng(5)


def reals(ctype, low, high):
    """N numbers of a range, its ends and middle among them."""
    x = draw.uniform(low, high, N)
    x[:3] = low, high, (low + high) / 2
    return x.astype(DTYPE[ctype])


def wide(ctype):
    """Numbers of all magnitudes, zeroes, infinities and NaN."""
    info = np.finfo(DTYPE[ctype])
    x = np.ldexp(draw.uniform(1, 2, N) * draw.choice([-1, 1], N), draw.integers(info.minexp, info.maxexp, N))
    x[:8] = 0.0, -0.0, np.inf, -np.inf, np.nan, info.max, info.tiny, 1.0
    return x.astype(DTYPE[ctype])


def whole(ctype):
    """Integers of all magnitudes and the ends of the range."""
    info = np.iinfo(DTYPE[ctype])
    x = [info.min, info.max, 0, 1, info.max - 1, info.min + 1]
    x += [
        int(v) >> int(s)
        for v, s in zip(
            draw.integers(info.min, info.max, N - 6, dtype=info.dtype, endpoint=True),
            draw.integers(0, info.bits, N - 6),
        )
    ]
    return draw.permutation(np.array(x, info.dtype))


def wrap(value, ctype):
    info = np.iinfo(DTYPE[ctype])
    return (value - info.min) % (1 << info.bits) + info.min


def scipy_function(name):
    def oracle(*x):
        return getattr(pytest.importorskip("scipy.special"), name)(*x)

    return oracle


# Expression of a, b, c; result's type; operands (type, values); what it means, of Python's numbers or NumPy's arrays; ulps.
ROWS = []


def row(expression, result, operands, oracle, ulps=0):
    ROWS.append((expression, result, operands, oracle, ulps))


def math_rows(name, low, high, oracle, ulps, single=LIBRARY):
    for ctype, allowed in ((F8, ulps), (F4, single)):
        row(f"{name}(a)", ctype, [(ctype, reals(ctype, low, high))], oracle, allowed)
    row(f"{name}f(a)", F4, [(F4, reals(F4, low, high))], oracle, single)


def exact_turn(function):
    def oracle(x):
        return np.array([function(math.pi * float(Fraction(float(v)) % 2)) for v in x])

    return oracle


# ---- functions of real numbers ----

for name in "sin cos tan asin acos atan sinh cosh tanh exp exp2 expm1 cbrt sqrt ceil floor trunc rint".split():
    math_rows(
        name,
        -0.9 if name != "sqrt" else 0,
        0.9,
        getattr(np, {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}.get(name, name)),
        LIBRARY,
    )
for name in "log log2 log10 log1p".split():
    math_rows(name, 0.1, 40, getattr(np, name), LIBRARY)
math_rows("exp10", -8, 8, lambda x: 10.0**x, 4)
math_rows("rsqrt", 1e-3, 1e6, lambda x: 1 / np.sqrt(x), 1)
math_rows("rcbrt", -1e3, 1e3, lambda x: 1 / np.cbrt(x), 3)
math_rows("erf", -3, 3, np.vectorize(math.erf), LIBRARY)
math_rows("erfc", -3, 5, np.vectorize(math.erfc), 4)
math_rows("lgamma", 2.5, 30, np.vectorize(math.lgamma), 16)
math_rows("tgamma", 0.5, 20, np.vectorize(math.gamma), 12, single=5)
for low, high in ((-0.5, 0.5), (-1, 1), (-1e-5, 1e-5), (0.99, 1)):
    math_rows("erfinv", low, high, scipy_function("erfinv"), 6)
for low, high in ((0, 2), (0.4, 1.6), (1e-300, 1e-200), (1e-20, 1e-3)):
    row("erfcinv(a)", F8, [(F8, reals(F8, low, high))], scipy_function("erfcinv"), 8)
row("erfcinv(a)", F4, [(F4, reals(F4, 1e-30, 2))], scipy_function("erfcinv"), 1)
row("erfcinvf(a)", F4, [(F4, reals(F4, 1e-30, 2))], scipy_function("erfcinv"), 1)
for low, high, ulps in (
    (-5, 0, 64),
    (0, 5, 12),
    (5, 26, 12),
    (20, 1000, 12),
):  # SciPy's own square of a negative number is rounded
    math_rows("erfcx", low, high, scipy_function("erfcx"), ulps)
math_rows("normcdf", -5, 5, scipy_function("ndtr"), 16)
math_rows("normcdfinv", 0.001, 0.999, scipy_function("ndtri"), 16)
for low, high in ((-1, 1), (0, 35), (25, 700)):
    row("cyl_bessel_i0(a)", F8, [(F8, reals(F8, low, high))], scipy_function("i0"), 16)
    row("cyl_bessel_i1(a)", F8, [(F8, reals(F8, low, high))], scipy_function("i1"), 16)
row("cyl_bessel_i0f(a)", F4, [(F4, reals(F4, -20, 20))], scipy_function("i0"), 1)
row("cyl_bessel_i1(a)", F4, [(F4, reals(F4, -20, 20))], scipy_function("i1"), 1)
for name in "j0 j1".split():
    row(f"{name}(a)", F8, [(F8, reals(F8, 0.1, 2))], scipy_function(name), 8)
    row(f"{name}f(a)", F4, [(F4, reals(F4, 0.1, 2))], scipy_function(name), 4)
    row(f"{name}(a)", F4, [(F4, reals(F4, 0.1, 2))], scipy_function(name), 4)
for name in "y0 y1".split():
    row(f"{name}(a)", F8, [(F8, reals(F8, 4.5, 5.2))], scipy_function(name), 60)
    row(f"{name}(a)", F4, [(F4, reals(F4, 4.5, 5))], scipy_function(name), 40)
row("jn(3, a)", F8, [(F8, reals(F8, 1, 4))], lambda x: scipy_function("jv")(3, x), 16)
row("yn(2, a)", F8, [(F8, reals(F8, 0.5, 2))], lambda x: scipy_function("yn")(2, x), 16)
for ctype in (F8, F4):
    turns = np.concatenate([reals(ctype, -4, 4)[: N - 20], np.arange(-10, 10).astype(DTYPE[ctype]) / 2])
    row("sinpi(a)", ctype, [(ctype, turns)], exact_turn(math.sin), "turn")
    row("cospi(a)", ctype, [(ctype, turns)], exact_turn(math.cos), "turn")
    row(
        f"[=]{{ {ctype} s, c; sincospi(a, &s, &c); return s - c; }}()",
        ctype,
        [(ctype, turns)],
        lambda x: exact_turn(math.sin)(x) - exact_turn(math.cos)(x),
        "turn",
    )
    row(
        f"[=]{{ {ctype} s, c; sincos(a, &s, &c); return s; }}()", ctype, [(ctype, reals(ctype, -4, 4))], np.sin, LIBRARY
    )
for name, n in (("hypot", 2), ("norm3d", 3), ("norm4d", 4)):
    for ctype in (F8, F4):
        of = [(ctype, wide(ctype)[8:] if ctype == F4 else reals(ctype, -1e150, 1e150)) for _ in range(min(n, 3))]
        arguments = "a, b, c, a"[: 3 * n - 2]

        def length(*x, n=n):
            x = [v.astype(np.longdouble) for v in x]
            return np.sqrt(sum(v * v for v in (x + x[:1])[:n]))

        for text in (name,) + ((name + "f",) if ctype == F4 else ()):
            row(f"{text}({arguments})", ctype, of, length, 1)
            row(f"r{text}({arguments})", ctype, of, lambda *x, of=length: 1 / of(*x), 2)
row(
    "[=]{ double v[] = {a, b, c}; return norm(3, v) * rnorm(3, v); }()",
    F8,
    [(F8, reals(F8, 1, 9))] * 3,
    lambda a, b, c: a * 0 + 1,
    2,
)
row(
    "[=]{ float v[] = {a, b, c}; return normf(3, v) * rnormf(3, v); }()",
    F4,
    [(F4, reals(F4, 1, 9))] * 3,
    lambda a, b, c: a * 0 + 1,
    2,
)
for name, oracle in (
    ("pow", np.power),
    ("atan2", np.arctan2),
    ("fmod", np.fmod),
    ("fmax", np.fmax),
    ("fmin", np.fmin),
    ("copysign", np.copysign),
    ("nextafter", np.nextafter),
    ("fdim", lambda a, b: np.maximum(a - b, 0)),
    ("fdivide", np.divide),
):
    for ctype in (F8, F4):
        of = [(ctype, reals(ctype, 0.1, 9)), (ctype, reals(ctype, 0.1, 9))]
        row(f"{name}(a, b)", ctype, of, oracle, LIBRARY)
        if ctype == F4:
            row(f"{name}f(a, b)", ctype, of, oracle, LIBRARY)
row(
    "fma(a, b, c)",
    F8,
    [(F8, reals(F8, -9, 9))] * 3,
    lambda a, b, c: np.array([float(Fraction(x) ** 2 + Fraction(x)) for x in a]),
)
row("ldexp(a, 3) + scalbn(a, 2) + scalblnf(a, 1l)", F4, [(F4, reals(F4, -9, 9))], lambda a: a * 14, 1)
row("float(ilogb(a)) + logbf(a)", F4, [(F4, reals(F4, 1, 900))], lambda a: 2 * np.floor(np.log2(a.astype("f8"))))
row(
    "isnan(a) + 2 * isinf(a) + 4 * isfinite(a) + 8 * signbit(a)",
    I4,
    [(F4, wide(F4)[5:])],
    lambda a: np.isnan(a) + 2 * np.isinf(a) + 4 * np.isfinite(a) + 8 * np.signbit(a),
)
row("abs(a) + fabsf(a) + fabs(a)", F4, [(F4, reals(F4, -9, 9))], lambda a: 3 * abs(a), 1)
row(
    "lrintf(a) + llrint(a) + lroundf(b) + llround(b)",
    I8,
    [(F4, reals(F4, -99, 99)), (F4, reals(F4, -99, 99).round())],
    lambda a, b: 2 * np.rint(a) + 2 * b,
)
for name in "__sinf __cosf __tanf __tanhf __expf __exp10f __logf __log2f __log10f".split():
    oracle = (lambda x: 10.0**x) if name == "__exp10f" else getattr(np, name[2:-1])
    row(f"{name}(a)", F4, [(F4, reals(F4, 0.1, 3))], oracle, LIBRARY)
row(
    "[=]{ float s, c; __sincosf(a, &s, &c); return s * 2 + c; }()",
    F4,
    [(F4, reals(F4, 0.1, 1))],
    lambda x: 2 * np.sin(x) + np.cos(x),
    LIBRARY,
)
row("__powf(a, b)", F4, [(F4, reals(F4, 0.1, 3))] * 2, np.power, LIBRARY)
row("__fdividef(a, b)", F4, [(F4, reals(F4, 0.1, 3))] * 2, np.divide, 1)
row("__frsqrt_rn(a)", F4, [(F4, reals(F4, 0.1, 3))], lambda x: 1 / np.sqrt(x.astype("f8")))
row("__saturatef(a)", F4, [(F4, wide(F4))], lambda x: np.nan_to_num(np.clip(x, 0, 1)))

# ---- least and greatest ----

for a, b, r in (
    (I4, I4, I4),
    (U4, U4, U4),
    (I4, U4, U4),
    (U4, I4, U4),
    (I8, I8, I8),
    (U8, U8, U8),
    (I8, U8, U8),
    (U8, I8, U8),
):
    for name, pick in (("min", min), ("max", max)):
        row(
            f"{name}(a, b)",
            r,
            [(a, whole(a)), (b, whole(b))],
            lambda a, b, r=r, pick=pick: pick(
                wrap(a, r) % (1 << 64) if r in (U4, U8) else a, wrap(b, r) % (1 << 64) if r in (U4, U8) else b
            ),
            "int",
        )
for a, b, r in ((F4, F4, F4), (F8, F8, F8), (F4, F8, F8), (F8, F4, F8)):
    row("min(a, b)", r, [(a, wide(a)), (b, draw.permutation(wide(b)))], np.fmin)
    row("max(a, b)", r, [(a, wide(a)), (b, draw.permutation(wide(b)))], np.fmax)
row("umin(a, b) ^ umax(a, b)", U4, [(U4, whole(U4))] * 2, lambda a, b: 0, "int")
row("llmin(a, b) ^ llmax(a, b)", I8, [(I8, whole(I8)), (I8, whole(I8))], lambda a, b: a ^ b, "int")
row("ullmin(a, b) ^ ullmax(a, b)", U8, [(U8, whole(U8)), (U8, whole(U8))], lambda a, b: a ^ b, "int")

# ---- integers, bit by bit ----


def byte_perm(a, b, s):
    both, out = b << 32 | a, 0
    for i in range(4):
        pick = s >> 4 * i & 15
        byte = both >> 8 * (pick & 7) & 255
        out |= ((255 if byte & 128 else 0) if pick & 8 else byte) << 8 * i
    return out


def find_nth(mask, base, n):
    base &= 31
    if n == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    places = [i for i in (range(base, 32) if n > 0 else range(base, -1, -1)) if mask >> i & 1]
    return places[abs(n) - 1] if abs(n) <= len(places) else 0xFFFFFFFF


def low24(x, signed):
    x &= 0xFFFFFF
    return x - (1 << 24) if signed and x >> 23 else x


def ints(expression, result, types, oracle):
    row(expression, result, [(t, whole(t)) for t in types], lambda *x: wrap(oracle(*x), result), "int")


ints("__popc(a)", I4, [U4], lambda a: a.bit_count())
ints("__popcll(a)", I4, [U8], lambda a: a.bit_count())
ints("__clz(a)", I4, [I4], lambda a: 32 - (a % 2**32).bit_length())
ints("__clzll(a)", I4, [I8], lambda a: 64 - (a % 2**64).bit_length())
ints("__ffs(a)", I4, [I4], lambda a: (a & -a).bit_length() if a >= 0 else (a % 2**32 & -(a % 2**32)).bit_length())
ints("__ffsll(a)", I4, [I8], lambda a: (a % 2**64 & -(a % 2**64)).bit_length())
ints("__brev(a)", U4, [U4], lambda a: int(f"{a:032b}"[::-1], 2))
ints("__brevll(a)", U8, [U8], lambda a: int(f"{a:064b}"[::-1], 2))
ints("__byte_perm(a, b, c)", U4, [U4, U4, U4], byte_perm)
for name, oracle in (
    ("l", lambda lo, hi, n: (hi << 32 | lo) << (n & 31) >> 32),
    ("lc", lambda lo, hi, n: (hi << 32 | lo) << min(n, 32) >> 32),
    ("r", lambda lo, hi, n: (hi << 32 | lo) >> (n & 31)),
    ("rc", lambda lo, hi, n: (hi << 32 | lo) >> min(n, 32)),
):
    ints(f"__funnelshift_{name}(a, b, c)", U4, [U4, U4, U4], oracle)
ints("__mulhi(a, b)", I4, [I4, I4], lambda a, b: a * b >> 32)
ints("__umulhi(a, b)", U4, [U4, U4], lambda a, b: a * b >> 32)
ints("__mul64hi(a, b)", I8, [I8, I8], lambda a, b: a * b >> 64)
ints("__umul64hi(a, b)", U8, [U8, U8], lambda a, b: a * b >> 64)
ints("__mul24(a, b)", I4, [I4, I4], lambda a, b: low24(a, True) * low24(b, True))
ints("__umul24(a, b)", U4, [U4, U4], lambda a, b: low24(a, False) * low24(b, False))
ints("__sad(a, b, c)", U4, [I4, I4, U4], lambda a, b, c: abs(a - b) + c)
ints("__usad(a, b, c)", U4, [U4, U4, U4], lambda a, b, c: abs(a - b) + c)
ints("__hadd(a, b)", I4, [I4, I4], lambda a, b: a + b >> 1)
ints("__rhadd(a, b)", I4, [I4, I4], lambda a, b: a + b + 1 >> 1)
ints("__uhadd(a, b)", U4, [U4, U4], lambda a, b: a + b >> 1)
ints("__urhadd(a, b)", U4, [U4, U4], lambda a, b: a + b + 1 >> 1)
row(
    "__fns(a, b & 31, c)",
    U4,
    [(U4, whole(U4)), (U4, whole(U4)), (I4, draw.integers(-12, 13, N).astype("i4"))],
    find_nth,
    "int",
)
ints("abs(a)", I8, [I8], lambda a: abs(a))


def parts(x, bits, signed):
    for at in range(0, 32, bits):
        v = x >> at & (1 << bits) - 1
        yield v - (1 << bits) if signed and v >> bits - 1 else v


def dot(size_a, size_b, high, signed):
    def oracle(a, b, c):
        y = list(parts(b, size_b, signed))
        y = y if size_a == size_b else y[2:] if high else y[:2]
        return sum(p * q for p, q in zip(parts(a, size_a, signed), y)) + c

    return oracle


for ctype in (I4, U4):
    ints("__dp4a(a, b, c)", ctype, [ctype] * 3, dot(8, 8, False, ctype == I4))
    ints("__dp2a_lo(a, b, c)", ctype, [ctype] * 3, dot(16, 8, False, ctype == I4))
    ints("__dp2a_hi(a, b, c)", ctype, [ctype] * 3, dot(16, 8, True, ctype == I4))


def simd(name, signed, oracle, one=False):
    for n in (2, 4):
        bits = 32 // n
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)

        def whole_word(a, b=0, bits=bits, low=low, high=high):
            out = 0
            for i, (x, y) in enumerate(zip(parts(a, bits, signed), parts(b, bits, signed))):
                out |= (oracle(x, y, low, high) & (1 << bits) - 1) << bits * i
            return out

        ints(f"{name}{n}(a{'' if one else ', b'})", U4, [U4] * (1 if one else 2), whole_word)


def clip(v, low, high):
    return min(max(v, low), high)


simd("__vadd", True, lambda x, y, low, high: x + y)
simd("__vsub", True, lambda x, y, low, high: x - y)
for sign in (True, False):
    s = "ss" if sign else "us"
    simd(f"__vadd{s}", sign, lambda x, y, low, high: clip(x + y, low, high))
    simd(f"__vsub{s}", sign, lambda x, y, low, high: clip(x - y, low, high))
    s = s[0]
    simd(f"__vabsdiff{s}", sign, lambda x, y, low, high: abs(x - y))
    simd(f"__vmax{s}", sign, lambda x, y, low, high: max(x, y))
    simd(f"__vmin{s}", sign, lambda x, y, low, high: min(x, y))
    for name, holds in (
        ("ge", lambda x, y: x >= y),
        ("gt", lambda x, y: x > y),
        ("le", lambda x, y: x <= y),
        ("lt", lambda x, y: x < y),
    ):
        simd(f"__vcmp{name}{s}", sign, lambda x, y, low, high, holds=holds: -holds(x, y))
        simd(f"__vset{name}{s}", sign, lambda x, y, low, high, holds=holds: holds(x, y))
simd("__vcmpeq", False, lambda x, y, low, high: -(x == y))
simd("__vcmpne", False, lambda x, y, low, high: -(x != y))
simd("__vseteq", False, lambda x, y, low, high: x == y)
simd("__vsetne", False, lambda x, y, low, high: x != y)
simd("__vavgu", False, lambda x, y, low, high: x + y + 1 >> 1)
simd("__vhaddu", False, lambda x, y, low, high: x + y >> 1)
simd("__vabs", True, lambda x, y, low, high: abs(x), one=True)
simd("__vabsss", True, lambda x, y, low, high: min(abs(x), high), one=True)
simd("__vneg", True, lambda x, y, low, high: -x, one=True)
simd("__vnegss", True, lambda x, y, low, high: min(-x, high), one=True)

for size, name in ((8, "4"), (16, "2")):
    for sign, letter in ((True, "s"), (False, "u")):

        def differences(a, b, size=size, sign=sign):
            return sum(abs(x - y) for x, y in zip(parts(a, size, sign), parts(b, size, sign), strict=True))

        ints(f"__vsad{letter}{name}(a, b)", U4, [U4, U4], differences)

# ---- bits of floating numbers ----

row("__float_as_int(a)", I4, [(F4, wide(F4))], lambda a: a.view("i4"))
row("__float_as_uint(a)", U4, [(F4, wide(F4))], lambda a: a.view("u4"))
row("__int_as_float(a)", F4, [(I4, whole(I4))], lambda a: a.view("f4"))
row("__uint_as_float(a)", F4, [(U4, whole(U4))], lambda a: a.view("f4"))
row("__double_as_longlong(a)", I8, [(F8, wide(F8))], lambda a: a.view("i8"))
row("__longlong_as_double(a)", F8, [(I8, whole(I8))], lambda a: a.view("f8"))
row("__double2hiint(a)", I4, [(F8, wide(F8))], lambda a: (a.view("i8") >> 32).astype("i4"))
row("__double2loint(a)", I4, [(F8, wide(F8))], lambda a: a.view("i8").astype("i4"))
row(
    "__hiloint2double(a, b)",
    F8,
    [(I4, whole(I4)), (I4, whole(I4))],
    lambda a, b: (a.astype("i8") << 32 | b.astype("i8") & 0xFFFFFFFF).view("f8"),
)

# ---- roundings, exactly ----


def around(exact, dtype, how):
    """The exact number, a Fraction, rounded into the dtype."""
    near = dtype(float(exact)) if dtype is np.float64 else nearest_float32(exact)
    if how == "rn" or not np.isfinite(near) or Fraction(float(near)) == exact:
        return near
    up = how == "ru" or (how == "rz" and exact < 0)
    above = Fraction(float(near)) > exact
    return near if above == up else np.nextafter(near, dtype(np.inf if up else -np.inf))


def nearest_float32(exact):
    a = np.float32(float(exact))  # may be rounded twice
    choices = [np.nextafter(a, np.float32(-np.inf)), a, np.nextafter(a, np.float32(np.inf))]
    return min(choices, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view("u4")) & 1))


def arithmetic(ctype, operation):
    def oracle(how):
        def of(*x):
            return around(operation(*(Fraction(float(v)) for v in x)), DTYPE[ctype], how)

        return of

    return oracle


def square_root(ctype):
    def oracle(how):
        def of(x):
            x = Fraction(float(x))
            scale = 1 << 200
            root = math.isqrt(x.numerator * scale * scale // x.denominator)
            exact = Fraction(root, scale) if Fraction(root, scale) ** 2 == x else Fraction(2 * root + 1, 2 * scale)
            return around(exact, DTYPE[ctype], how)

        return of

    return oracle


OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}
for how in ("rn", "rz", "ru", "rd"):
    for ctype, letter in ((F4, "f"), (F8, "d")):

        def several(n, ctype=ctype):
            return [(ctype, reals(ctype, 0.5, 1e3) * draw.choice([-1, 1], N).astype(DTYPE[ctype])) for _ in range(n)]

        for name, operation in OPERATIONS.items():
            row(f"__{letter}{name}_{how}(a, b)", ctype, several(2), arithmetic(ctype, operation)(how), "exact")
        row(f"__{letter}rcp_{how}(a)", ctype, several(1), arithmetic(ctype, lambda a: 1 / a)(how), "exact")
        row(f"__{letter}sqrt_{how}(a)", ctype, [(ctype, reals(ctype, 0.5, 1e3))], square_root(ctype)(how), "exact")
        for fma in ("__fmaf", "__fmaf_ieee") if ctype == F4 else ("__fma",):
            row(f"{fma}_{how}(a, b, c)", ctype, several(3), arithmetic(ctype, lambda a, b, c: a * b + c)(how), "exact")
    for source, name in ((I4, "int"), (U4, "uint"), (I8, "ll"), (U8, "ull")):
        for target, to in ((F4, "float"), (F8, "double")):
            if target == F4 or source in (I8, U8):
                row(
                    f"__{name}2{to}_{how}(a)",
                    target,
                    [(source, whole(source))],
                    lambda v, how=how, target=target: around(Fraction(int(v)), DTYPE[target], how),
                    "exact",
                )
    row(f"__double2float_{how}(a)", F4, [(F8, reals(F8, -1e3, 1e3))], arithmetic(F4, lambda a: a)(how), "exact")
    for source, of in ((F4, "float"), (F8, "double")):
        for target, to in ((I4, "int"), (U4, "uint"), (I8, "ll"), (U8, "ull")):

            def convert(v, how=how, source=source, target=target):
                info, v = np.iinfo(DTYPE[target]), float(v)
                if math.isnan(v):
                    return 0 if source == F4 and info.bits == 32 else wrap(1 << info.bits - 1, target)
                if math.isinf(v):
                    return info.max if v > 0 else info.min
                whole_one = {"rn": round, "rz": math.trunc, "ru": math.ceil, "rd": math.floor}[how](v)
                return min(max(whole_one, info.min), info.max)

            mixed = np.where(np.arange(N) % 2, wide(source), reals(source, -99, 99))
            row(f"__{of}2{to}_{how}(a)", target, [(source, mixed)], convert, "int")
row("__int2double_rn(a)", F8, [(I4, whole(I4))], lambda a: a)
row("__uint2double_rn(a)", F8, [(U4, whole(U4))], lambda a: a)
# A product that says how it is rounded is no part of a fused operation.
row("__fmul_rn(a, b) + c", F4, [(F4, reals(F4, -9, 9)) for _ in "abc"], lambda a, b, c: a * b + c)
row("__dadd_rn(a * b, c)", F8, [(F8, reals(F8, -9, 9)) for _ in "abc"], lambda a, b, c: a * b + c)

# ---- loads, places, assumptions ----

row(
    "__ldg(&a) + __ldcg(&a) + __ldca(&a) + __ldcs(&a) + __ldlu(&a) + __ldcv(&a)",
    I8,
    [(I8, whole(I8) >> 4)],
    lambda a: 6 * a,
)
row(
    "[=]{ double x; __stwb(&x, a); double y = x; __stcg(&x, y + 1); __stcs(&y, x); __stwt(&x, y); return x; }()",
    F8,
    [(F8, reals(F8, -9, 9))],
    lambda a: a + 1,
)
row(
    "(__builtin_assume(a > 0), clock64() > 0) + (__isGlobal(&n) != 0 && !__isShared(&n))",
    I4,
    [(F4, reals(F4, 1, 2))],
    lambda a: 0 * a + 2,
)


@pytest.fixture(scope="module")
def program():
    return cuda_text.compiled(cuda_text.text_of(ROWS))


@cuda_text.each(ROWS)
def test_function(program, k):
    expression, _, _, _, ulps = ROWS[k]
    if ulps != "turn":
        return cuda_text.check(program, ROWS, k)
    got, values = cuda_text.values_of(program, ROWS, k)
    # The oracle's sine is of a rounded angle; what should be 0 is.
    assert np.all(abs(got - cuda_text.expected(ROWS[k], values)) <= 8 * np.finfo(got.dtype).eps), expression
    zeroes = np.isin(values[0] % 1, 0 if "sinpi" in expression else 0.5)
    assert "sincos" in expression or np.all(got[zeroes] == 0)


def test_with_another_compiler():
    cuda_text.run_with_gxx(__file__)
