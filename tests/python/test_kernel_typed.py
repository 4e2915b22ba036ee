"""Functions with fixed types in kernels (float16's, bfloat16's, libdevice's): every one against exact arithmetic or NumPy.

The names come from the compiler's table: one that has no model here fails.
"""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from kernel_names import LETTERS, assemble, function, typed_names

import treadle as td
from treadle import cuda

TYPED = typed_names()
BITS = {"e": (11, -14, 15), "g": (8, -126, 127), "f": (24, -126, 127), "d": (53, -1022, 1023)}
INTS = {"c": (8, 1), "C": (8, 0), "h": (16, 1), "H": (16, 0), "i": (32, 1), "I": (32, 0), "l": (64, 1), "L": (64, 0)}


# ---- exact rounding ----


def rounded(x, letter, how="rn"):
    """An exact number (a Fraction, or inf and NaN) as a float of the letter's type, in a float."""
    if isinstance(x, float):
        return x
    digits, low, high = BITS[letter]
    if x == 0:
        return 0.0
    e = max(abs(x.numerator).bit_length() - x.denominator.bit_length(), low)
    while abs(x) >= Fraction(2) ** (e + 1):
        e += 1
    while abs(x) < Fraction(2) ** e and e > low:
        e -= 1
    unit = Fraction(2) ** (e - digits + 1)
    n = whole(x / unit, how) * unit
    most = (2 - Fraction(2) ** (1 - digits)) * Fraction(2) ** high
    if abs(n) <= most:
        return float(n)
    inward = how == "rz" or (how == "rd" and x > 0) or (how == "ru" and x < 0)
    return (float(most) if inward else math.inf) * (1 if x > 0 else -1)


def whole(q, how):
    """A Fraction to an integer."""
    down = q.numerator // q.denominator
    if q == down or how == "rd":
        return down
    if how == "ru":
        return down + 1
    if how == "rz":
        return down + (q < 0)
    if q - down == Fraction(1, 2):
        return (down + 1 if q > 0 else down) if how == "ra" else down + down % 2
    return down + (q - down > Fraction(1, 2))


def exact(x):
    x = float(x) if not isinstance(x, int) else x
    return x if isinstance(x, float) and not math.isfinite(x) else Fraction(x)


def finite(*args):
    return all(isinstance(x, Fraction) for x in args)


def root(x, letter, how):
    """The square root of a Fraction: of 256 bits, with a last one that says that there were more."""
    if x <= 0:
        return 0.0 if x == 0 else math.nan
    k = 256 + x.denominator.bit_length()
    n = x * 4**k
    r = math.isqrt(n.numerator // n.denominator)
    return rounded(Fraction(2 * r + (Fraction(r) ** 2 != n), 2 * 2**k), letter, how)


def directed(op, letter, how, *args):
    x = [exact(a) for a in args]
    if not finite(*x):
        with np.errstate(all="ignore"):
            a = np.array(args, np.float64)
            return float({"add": lambda: a[0] + a[1], "sub": lambda: a[0] - a[1], "mul": lambda: a[0] * a[1],
                          "div": lambda: a[0] / a[1], "fma": lambda: a[0] * a[1] + a[2], "rcp": lambda: 1 / a[0],
                          "sqrt": lambda: np.sqrt(a[0])}[op]())  # fmt: skip
    if letter == "d" and how != "rn" and any(0 < abs(v) < Fraction(1, 2**500) for v in x):
        return None  # the errors underflow: docs/numba.md says so
    if op in ("div", "rcp"):
        num, den = (x[0], x[1]) if op == "div" else (Fraction(1), x[0])
        if den == 0:
            return math.nan if num == 0 else math.copysign(math.inf, num) * math.copysign(1, args[-1])
        return rounded(num / den, letter, how)
    if op == "sqrt":
        return root(x[0], letter, how)
    return rounded({"add": lambda: x[0] + x[1], "sub": lambda: x[0] - x[1], "mul": lambda: x[0] * x[1],
                    "fma": lambda: x[0] * x[1] + x[2]}[op](), letter, how)  # fmt: skip


def to_int(letter, how, source):
    width, signed = INTS[letter]
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)

    def model(x):
        x = float(x)
        if math.isnan(x):
            top = 2 ** (width - 1) if source == "d" or width == 64 else 0
            return wrap(top, letter)
        if math.isinf(x):
            return high if x > 0 else low
        return min(max(whole(Fraction(x), how), low), high)

    return model


def wrap(n, letter):
    width, signed = INTS[letter]
    n = int(n) & (1 << width) - 1
    return n - (1 << width) if signed and n >> (width - 1) else n


def unsigned(n, width=32):
    return int(n) & (1 << width) - 1


# ---- models ----


def np64(f, units=4.0):
    """NumPy's function in float64, and how many units in the last place a result may be off: libmvec's functions, which
    a CPU calls, promise 4; NVIDIA's powf promises 9."""

    def model(*x):
        with np.errstate(all="ignore"):
            return f(*(np.float64(v) for v in x))

    model.units = units
    return model


NUMPY = {"acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
         "atanh": np.arctanh, "cbrt": np.cbrt, "ceil": np.ceil, "cos": np.cos, "cosh": np.cosh, "exp": np.exp,
         "exp2": np.exp2, "expm1": np.expm1, "fabs": np.abs, "floor": np.floor, "log": np.log, "log10": np.log10,
         "log1p": np.log1p, "log2": np.log2, "rint": np.rint, "nearbyint": np.rint, "sin": np.sin, "sinh": np.sinh,
         "tan": np.tan, "tanh": np.tanh, "trunc": np.trunc, "atan2": np.arctan2, "copysign": np.copysign,
         "fmax": np.fmax, "fmin": np.fmin, "fmod": np.fmod, "hypot": np.hypot, "pow": np.power,
         "exp10": lambda x: np.power(10.0, x), "rsqrt": lambda x: 1 / np.sqrt(x), "rcbrt": lambda x: 1 / np.cbrt(x),
         "sqrt": np.sqrt, "powi": np.power, "ldexp": lambda x, n: np.ldexp(x, int(n)),
         "scalbn": lambda x, n: np.ldexp(x, int(n)), "logb": lambda x: logb(x)}  # fmt: skip


def pure(f):
    """math's function, with NumPy's values where that raises."""
    def model(x):
        try:
            return f(float(x))
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return model


def gamma(x):
    if x == -math.inf or (x < 0 and x == int(x)):
        return math.nan
    return math.copysign(math.inf, x) if x == 0 else math.gamma(x)


def lgamma(x):
    """None: near its zeros math's own is off."""
    if math.isinf(x) or (x <= 0 and x == int(x)):
        return math.inf
    y = math.lgamma(x)
    return None if abs(y) < 1 else y


def normcdf(x):
    """As erfc, whose argument's rounding is taken out."""
    if not math.isfinite(x) or abs(x) > 36:
        return 0.0 if x < 0 else 1.0 if x > 0 else math.nan
    t = Fraction(float(x)) * Fraction(math.isqrt(2 * 10**80), 2 * 10**40)
    high = float(t)
    r = math.erfc(-high) / 2
    return r * (1 - 2 * high * float(t - Fraction(high))) if high < -1 else r


def logb(x):
    if x == 0 or not math.isfinite(x):
        return -math.inf if x == 0 else abs(x)
    return float(math.frexp(x)[1] - 1)


def ilogb(x):
    if x == 0 or math.isnan(x):
        return -(2**31)
    return 2**31 - 1 if math.isinf(x) else math.frexp(x)[1] - 1


def turn(f, quarter):
    """sin or cos of pi * x, exact at quarters of a turn."""
    def model(x):
        if not math.isfinite(x):
            return math.nan
        q = Fraction(float(x)) * 2 % 4
        n = whole(q, "rn")
        r = float(q - n) * math.pi / 2
        n += quarter
        return float([math.sin, math.cos][n % 2](r) * (-1 if n % 4 > 1 else 1))

    return model


sinpi, cospi = turn("sin", 0), turn("cos", 1)


def remquo(x, y):
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan, None
    if math.isinf(y):
        return x, 0
    n = whole(Fraction(float(x)) / Fraction(float(y)), "rn")
    low = abs(n) % 8
    return math.remainder(x, y), low if (x < 0) == (y < 0) else -low


def modf(x):
    if math.isinf(x):
        return math.copysign(0.0, x), x
    return math.modf(x)


def byte_perm(x, y, z):
    source = [unsigned(x) >> 8 * k & 255 for k in range(4)] + [unsigned(y) >> 8 * k & 255 for k in range(4)]
    out = 0
    for k in range(4):
        n = unsigned(z) >> 4 * k & 15
        b = source[n & 7]
        out |= (b if n < 8 else 255 * (b >> 7)) << 8 * k
    return wrap(out, "i")


def bits(source, to):
    codes = {"f": "<f", "i": "<i", "d": "<d", "l": "<q", "e": "<e", "h": "<h"}
    return lambda x: struct.unpack(codes[to], struct.pack(codes[source], x))[0]


def pattern(letter):
    """bfloat16's bits of a float, and back."""
    def to_bits(x):
        return struct.unpack(f"<{letter}", struct.pack("<f", x)[2:])[0]

    def of_bits(n):
        return struct.unpack("<f", b"\0\0" + struct.pack(f"<{letter}", n))[0]

    return to_bits, of_bits


def libdevice_integers():
    sign24 = lambda n: (unsigned(n, 24) ^ 1 << 23) - (1 << 23)  # noqa: E731
    order = lambda w: lambda x: int(f"{unsigned(x, w):0{w}b}"[::-1], 2)  # noqa: E731
    zeros = lambda w: lambda x: w - unsigned(x, w).bit_length()  # noqa: E731
    first = lambda w: lambda x: (unsigned(x, w) & -unsigned(x, w)).bit_length()  # noqa: E731
    u = unsigned
    m = {"abs": abs, "max": max, "min": min, "mulhi": lambda x, y: x * y >> 32, "hadd": lambda x, y: x + y >> 1,
         "rhadd": lambda x, y: x + y + 1 >> 1, "uhadd": lambda x, y: u(x) + u(y) >> 1,
         "urhadd": lambda x, y: u(x) + u(y) + 1 >> 1, "umax": lambda x, y: max(u(x), u(y)),
         "umin": lambda x, y: min(u(x), u(y)), "umulhi": lambda x, y: u(x) * u(y) >> 32,
         "mul24": lambda x, y: sign24(x) * sign24(y), "umul24": lambda x, y: u(x, 24) * u(y, 24),
         "sad": lambda x, y, z: abs(x - y) + z, "usad": lambda x, y, z: abs(u(x) - u(y)) + z, "llabs": abs, "llmax": max,
         "llmin": min, "ullmax": lambda x, y: max(u(x, 64), u(y, 64)), "ullmin": lambda x, y: min(u(x, 64), u(y, 64)),
         "mul64hi": lambda x, y: x * y >> 64, "umul64hi": lambda x, y: u(x, 64) * u(y, 64) >> 64, "byte_perm": byte_perm,
         "brev": order(32), "brevll": order(64), "clz": zeros(32), "clzll": zeros(64), "ffs": first(32),
         "ffsll": first(64), "popc": lambda x: u(x).bit_count(), "popcll": lambda x: u(x, 64).bit_count()}  # fmt: skip
    return {"cuda.libdevice." + n: lambda *x, f=f: f(*map(int, x)) for n, f in m.items()}


def libdevice_floats():
    m = {}
    for n, f in NUMPY.items():
        for suffix in ("", "f"):
            m[n + suffix] = np64(f, 10.0 if n in ("pow", "exp10", "powi") else 4.0)
    for n in ("cos", "exp", "exp10", "log", "log2", "log10", "pow", "sin", "tan"):
        m[f"fast_{n}f"] = m[n + "f"]
    for suffix in ("", "f"):
        t = suffix or "d"
        one = {"erf": pure(math.erf), "erfc": pure(math.erfc), "tgamma": pure(gamma), "lgamma": pure(lgamma),
               "normcdf": normcdf, "sinpi": sinpi, "cospi": cospi}  # fmt: skip
        for n, f in one.items():
            f.units = 64.0 if n in ("normcdf", "tgamma", "lgamma") else 8.0
            m[n + suffix] = f
        m["round" + suffix] = lambda x: float(whole(Fraction(float(x)), "ra")) if math.isfinite(x) else x
        m["fdim" + suffix] = np64(lambda x, y: np.float64(0) if x <= y else x - y, 0.5)
        m["ilogb" + suffix] = ilogb
        m["remainder" + suffix] = lambda x, y: remquo(x, y)[0]
        m["remquo" + suffix], m["modf" + suffix], m["frexp" + suffix] = remquo, modf, math.frexp
        m["nextafter" + suffix] = (lambda x, y: np.nextafter(np.float32(x), np.float32(y))) if suffix else np.nextafter
        m["fma" + suffix] = lambda x, y, z, t=t[0]: directed("fma", t, "rn", x, y, z)
        m["sincospi" + suffix] = lambda x: (sinpi(x), cospi(x))
        m["sincospi" + suffix].units = 8.0
        m["sincos" + suffix] = np64(lambda x: (np.sin(x), np.cos(x)))
        m["isfinited" if not suffix else "finitef"] = lambda x: int(math.isfinite(x))
        m["isinf" + (suffix or "d")] = lambda x: int(math.isinf(x))
        m["isnan" + (suffix or "d")] = lambda x: int(math.isnan(x))
        m["signbit" + (suffix or "d")] = lambda x: int(math.copysign(1, x) < 0)
    m["fast_sincosf"] = m["sincosf"]
    m["fast_fdividef"] = lambda x, y: directed("div", "f", "rn", x, y)
    m["frsqrt_rn"] = np64(lambda x: 1 / np.sqrt(x), 0.5)
    m["saturatef"] = lambda x: 0.0 if math.isnan(x) else min(max(x, 0.0), 1.0)
    m["float2half_rn"] = lambda x: wrap(np.float32(x).astype(np.float16).view(np.uint16), "h")
    m["half2float"] = lambda x: float(np.int16(x).view(np.float16))
    m["double_as_longlong"], m["longlong_as_double"] = bits("d", "l"), bits("l", "d")
    m["float_as_int"], m["int_as_float"] = bits("f", "i"), bits("i", "f")
    m["double2hiint"] = lambda x: wrap(bits("d", "l")(x) >> 32, "i")
    m["double2loint"] = lambda x: wrap(bits("d", "l")(x), "i")
    m["hiloint2double"] = lambda x, y: bits("l", "d")(wrap(unsigned(x) << 32 | unsigned(y), "l"))
    return {"cuda.libdevice." + n: f for n, f in m.items()}


def libdevice_rounding():
    m = {}
    for how in ("rn", "rz", "rd", "ru"):
        for t, one in (("f", "f"), ("d", "")):
            for op in ("add", "sub", "mul", "div", "rcp", "sqrt"):
                m[f"{t}{op}_{how}"] = lambda *x, a=(op, t, how): directed(*a, *x)
            m[f"fma{one}_{how}"] = lambda *x, a=("fma", t, how): directed(*a, *x)
            name = "float" if t == "f" else "double"
            for short, letter in (("int", "i"), ("uint", "I"), ("ll", "l"), ("ull", "L")):
                m[f"{name}2{short}_{how}"] = to_int(letter, how, t)
                width = INTS[letter][0]
                if letter in "IL":
                    m[f"{short}2{name}_{how}"] = lambda x, t=t, h=how, w=width: rounded(Fraction(unsigned(x, w)), t, h)
                else:
                    m[f"{short}2{name}_{how}"] = lambda x, t=t, h=how: rounded(Fraction(int(x)), t, h)
        m[f"double2float_{how}"] = lambda x, h=how: rounded(exact(x), "f", h)
    for t, suffix in (("d", ""), ("f", "f")):
        m["llrint" + suffix], m["llround" + suffix] = to_int("l", "rn", t), to_int("l", "ra", t)
    return {"cuda.libdevice." + n: f for n, f in m.items()}


def halves(module, t):
    op = {"hadd": "add", "hsub": "sub", "hmul": "mul", "hdiv": "div", "hfma": "fma", "hrcp": "rcp", "hsqrt": "sqrt"}
    m = {n: lambda *x, o=o: directed(o, t, "rn", *x) for n, o in op.items()}
    for n in ("sin", "cos", "log", "log2", "log10", "exp", "exp2", "exp10", "rsqrt", "floor", "ceil", "trunc", "rint"):
        m["h" + n] = np64(NUMPY[n], 1.0)
    m |= {"hneg": lambda x: -x, "habs": abs, "hmax": np64(np.fmax), "hmin": np64(np.fmin)}
    compare = {"eq": lambda x, y: x == y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y,
               "ge": lambda x, y: x >= y, "ne": lambda x, y: x < y or x > y}  # fmt: skip
    m |= {"h" + n: f for n, f in compare.items()}
    if t == "g":
        cut = lambda v: 0.0 if math.isnan(v) else min(max(v, 0.0), 1.0)  # noqa: E731
        for n in ("hadd", "hsub", "hmul"):
            m[n + "_rn"] = m[n]
            m[n + "_sat"] = lambda x, y, f=m[n]: cut(f(x, y))
        m["hfma_sat"] = lambda *x: cut(m["hfma"](*x))
        m["hfma_relu"] = lambda *x: (lambda v: v if v > 0 or math.isnan(v) else 0.0)(m["hfma"](*x))
        m["htanh"] = m["htanh_approx"] = np64(np.tanh, 1.0)
        m["hmax_nan"], m["hmin_nan"] = np64(np.maximum), np64(np.minimum)
        m["hisnan"], m["hisinf"] = math.isnan, lambda x: 0 if not math.isinf(x) else 1 if x > 0 else -1
        for n in ("eq", "ne", "lt", "le", "gt", "ge"):
            m[f"h{n}u"] = lambda x, y, f=compare[n]: bool(f(x, y)) or math.isnan(x) or math.isnan(y)
        names = {LETTERS[c]: c for c in "cChHiIlL"}
        for how in ("rn", "rz", "rd", "ru"):
            m |= {f"bfloat16_to_{n}_{how}": to_int(c, how, "g") for n, c in names.items()}
            for n in (*names, "float32"):
                m[f"{n}_to_bfloat16_{how}"] = lambda x, h=how: rounded(exact(x), "g", h)
        m["float32_to_bfloat16"] = m["float64_to_bfloat16"] = lambda x: rounded(exact(x), "g")
        m["bfloat16_to_float32"] = lambda x: x
        for n, c in (("int16", "h"), ("uint16", "H")):
            m[f"bfloat16_as_{n}"], m[f"{n}_as_bfloat16"] = pattern(c)
    return {f"cuda.{module}.{n}": f for n, f in m.items()}


MODELS = libdevice_integers() | libdevice_floats() | libdevice_rounding() | halves("fp16", "e") | halves("bf16", "g")


def test_all_names_have_models():
    assert not set(TYPED) - set(MODELS)


# ---- the comparison ----


def values(letter, n, rng):
    """n values of a type: the special ones, and random ones of all sizes."""
    if letter in INTS:
        width, signed = INTS[letter]
        low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
        special = [0, 1, high, low, high - 1, low + 1, 2, 3, 255 % (high + 1), high // 2, high // 3]
        ran = [int(rng.integers(low, high, endpoint=True, dtype=LETTERS[letter])) >> int(rng.integers(width)) for _ in range(n)]
        return (special + ran)[:n]
    digits, least, most = BITS[letter]
    top = float((2 - Fraction(2) ** (1 - digits)) * Fraction(2) ** most)
    tiny = float(Fraction(2) ** (least - digits + 1))
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, math.inf, -math.inf, math.nan, top, -top, 3.0, 1 / 3,
               127.5, 128.5, 32767.5, 65535.0, 2.0**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63), 2.0**64]  # fmt: skip
    special += [tiny, -tiny, 3 * tiny, float(Fraction(2) ** least)]
    ran = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, size=n)
    order = rng.permutation(len(special))
    return [rounded(exact(float(x)), letter) for x in [*(special[k] for k in order), *ran][:n]]


def close(got, want, letter, units, name, x):
    if want is None:
        return
    if "float2half" in name and math.isnan(x[0]):  # any of the half's NaNs
        assert int(got) & 0x7C00 == 0x7C00 and int(got) & 0x3FF, f"{name}{x}: {got}"
        return
    if letter in INTS or letter == "b":
        assert int(got) == (wrap(want, letter) if letter in INTS else int(want)), f"{name}{x}: {got}, not {want}"
        return
    want = float(want)
    if math.isnan(want) or math.isnan(got):
        assert math.isnan(want) and math.isnan(got), f"{name}{x}: {got}, not {want}"
        return
    if not units or math.isinf(want):
        want = rounded(exact(want), letter)
        same = got == want or (units and not math.isfinite(want) and abs(got) >= 0.999 * 2.0 ** BITS[letter][2])
        assert same, f"{name}{x}: {got!r}, not {want!r}"
        return
    digits, least, most = BITS[letter]
    if not math.isfinite(got):
        assert abs(want) >= 0.999 * 2.0**most, f"{name}{x}: {got!r}, not {want!r}"
        return
    unit = Fraction(2) ** (max(math.frexp(want)[1] - 1, least) - digits + 1)
    assert abs(Fraction(got) - Fraction(want)) <= Fraction(units + 0.5) * unit, f"{name}{x}: {got!r}, not {want!r}"


def kernel_of(sig, names):
    """A kernel that writes what each function gives for element i to row k of its outputs."""
    results, args = sig.split(":")
    given = ", ".join(f"{p}[i]" for p in "abc"[: len(args)])
    lines = ["def kernel(" + ", ".join([*"abc"[: len(args)], *(f"o{j}" for j in range(len(results)))]) + "):",
             "    i = cuda.grid(1)", "    if i < a.size:"]  # fmt: skip
    for k, name in enumerate(names):
        lines.append(f"        r = {name}({given})")
        lines += [f"        o{j}[{k}, i] = r{f'[{j}]' if len(results) > 1 else ''}" for j in range(len(results))]
    return function("\n".join(lines) + "\n", cuda=cuda)


GROUPS = {}
for _name, _sig in TYPED.items():
    GROUPS.setdefault(_sig, []).append(_name)
N = 192


def array(letter, numbers):
    if letter == "g":
        return td.asarray(np.array(numbers, np.float32)).astype("bfloat16")
    return td.asarray(np.array(numbers, LETTERS[letter]))


def back(letter, a):
    return np.asarray(a.astype("float32") if letter == "g" else a)


@pytest.mark.parametrize("sig", list(GROUPS))
def test_values(sig, dev, rng):
    names = GROUPS[sig]
    results, args = sig.split(":")
    given = [values(c, N, rng) for c in args]
    if sig in ("d:di", "f:fi"):
        given[1] = [int(n) for n in rng.integers(-40, 40, N)]
    ins = [array(c, g) for c, g in zip(args, given)]
    outs = [td.zeros((len(names), N), dtype=LETTERS[c]) for c in results]
    cuda.jit(kernel_of(sig, names))[2, N // 2](*ins, *outs)
    got = [back(c, o) for c, o in zip(results, outs)]
    for k, name in enumerate(names):
        model = MODELS[name]
        units = getattr(model, "units", 0)
        for i in range(N):
            x = tuple(g[i] for g in given)
            want = model(*x)
            for j, c in enumerate(results):
                close(got[j][k, i].item(), want[j] if len(results) > 1 else want, c, units, name, x)


@pytest.mark.parametrize("sig", list(GROUPS))
def test_ptx(sig):
    """A kernel of all functions of one signature assembles."""
    results, args = sig.split(":")
    types = [getattr(cuda.types, LETTERS[c] if c != "b" else "boolean") for c in args + results]
    arrays = [cuda.types.Array(t, 1 if k < len(args) else 2, "C") for k, t in enumerate(types)]
    text = cuda.compile_ptx(kernel_of(sig, GROUPS[sig]), tuple(arrays))
    text = text[0] if isinstance(text, tuple) else text
    assemble(text)
