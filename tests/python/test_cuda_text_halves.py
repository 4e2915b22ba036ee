"""CUDA C++ text on a CPU: half and bfloat16, every value of one operand, against NumPy and ml_dtypes; vector types' sizes."""

import bisect
import math
from fractions import Fraction

import cuda_text
import ml_dtypes
import numpy as np
import pytest
from cuda_text import F4, F8, I4, I8, U2, U4

ALL = np.arange(65536, dtype=np.uint16)
draw = np.random.default_rng(6)
OTHER = draw.permutation(ALL)
FEW = draw.choice(ALL, 3000)
ROWS = []
HALF, BF16 = "half", "bfloat16"
TYPE = {HALF: np.dtype(np.float16), BF16: np.dtype(ml_dtypes.bfloat16)}
NAN = 0x7FFF


def row(expression, result, operands, oracle, ulps=0):
    ROWS.append((expression, result, operands, oracle, ulps))


def bits(x, kind):
    """Numbers of the kind as words; all that are none as CUDA's."""
    x = np.asarray(x)
    if x.dtype == np.float64:  # ml_dtypes rounds it twice: the first time to odd
        near = x.astype("f4")
        whole = near.view("u4") - (abs(near.astype("f8")) > abs(x))
        x = np.where((near == x) | ~np.isfinite(near), near, (whole | 1).astype("u4").view("f4"))
    if x.dtype != TYPE[kind]:
        x = x.astype(TYPE[kind])
    return np.where(np.isnan(x.astype("f4")), NAN, x.view(np.uint16)).astype(np.uint16)


def wide(words, kind):
    return words.view(TYPE[kind]).astype("f4")


def small(kind, expression, oracle, n=1):
    """expression of numbers A, B, C of the kind; the oracle gets and gives floats, of which the result is rounded."""
    words = (ALL, OTHER, OTHER[::-1].copy())[:n]
    for letter in "ABC"[:n]:
        expression = expression.replace(letter, f"__ushort_as_{kind}({letter.lower()})")
    text = f"canon(__{kind}_as_ushort({expression}), {0x7C00 if kind == HALF else 0x7F80})"
    row(text, U2, [(U2, w) for w in words], lambda *x: bits(oracle(*(wide(v, kind) for v in x)), kind))


def fused(a, b, c):
    """Rounded once: in float64 with the float64 sum's error put into its last bit."""
    a, b, c = (v.astype("f8") for v in (a, b, c))
    p = a * b
    s = p + c
    t = s - p
    error = (p - (s - t)) + (c - t)
    odd = np.where(
        (error != 0) & np.isfinite(s) & (s.view("i8") & 1 == 0),
        np.nextafter(s, np.where(error > 0, np.inf, -np.inf)),
        s,
    )
    return odd


def flags(kind, expression, oracle, n=2):
    words = (ALL, OTHER)[:n]
    for letter in "AB"[:n]:
        expression = expression.replace(letter, f"__ushort_as_{kind}({letter.lower()})")
    row(expression, I4, [(U2, w) for w in words], lambda *x: oracle(*(wide(v, kind) for v in x)))


def rounded(kind, how):
    """A Fraction rounded into the kind, by search among its values."""
    finite = np.sort(np.unique(wide(ALL[(ALL & NAN) < (0x7C00 if kind == HALF else 0x7F80)], kind)))
    exact = [Fraction(float(v)) for v in finite]

    def of(v):
        r = choose(Fraction(v) if isinstance(v, int) else Fraction(float(v)))
        return r if r else math.copysign(0.0, v)

    def choose(v):
        at = bisect.bisect_left(exact, v)
        if at < len(exact) and exact[at] == v:
            return float(finite[at])
        below, above = (
            (float(finite[at - 1]) if at else -math.inf),
            (float(finite[at]) if at < len(exact) else math.inf),
        )
        if how in ("ru", "rd"):
            return above if how == "ru" else below
        if how == "rz":
            return below if v > 0 else above
        return (
            float(np.float64(float(v)).astype(TYPE[kind]))
            if math.isinf(below) or math.isinf(above)
            else min(
                (below, above), key=lambda u: (abs(Fraction(u) - v), int(np.array(u, TYPE[kind]).view(np.uint16)) & 1)
            )
        )

    return of


for kind in (HALF, BF16):
    h = kind
    row(f"canonf(__{h}2float(__ushort_as_{h}(a)))", F4, [(U2, ALL)], lambda a, kind=kind: wide(a, kind))
    for name, operation in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide)):
        small(kind, f"__h{name}(A, B)", operation, 2)
    for op, operation in (("+", np.add), ("-", np.subtract), ("*", np.multiply), ("/", np.divide)):
        small(kind, f"(A {op} B)", operation, 2)
    small(kind, "__hfma(A, B, C)", fused, 3)
    small(
        kind,
        "__hadd_sat(A, B)",
        lambda a, b, kind=kind: np.nan_to_num(np.clip((a + b).astype(TYPE[kind]).astype("f4"), 0, 1)),
        2,
    )
    small(kind, "__hneg(A)", np.negative)
    small(kind, "__habs(A)", np.abs)
    small(kind, "(-A)", np.negative)
    small(kind, "__hmax(A, B)", np.fmax, 2)
    small(kind, "__hmin(A, B)", np.fmin, 2)
    small(kind, "__hmax_nan(A, B)", np.maximum, 2)
    small(kind, "__hmin_nan(A, B)", np.minimum, 2)
    for name in "sqrt exp exp2 log log2 log10 sin cos tanh floor ceil trunc rint".split():
        small(kind, f"h{name}(A)", lambda x, name=name: getattr(np, name)(x.astype("f8")))
    small(kind, "hrsqrt(A)", lambda x: 1 / np.sqrt(x.astype("f8")))
    small(kind, "hrcp(A)", lambda x: 1 / x.astype("f8"))
    small(kind, "hexp10(A)", lambda x: 10.0 ** x.astype("f8"))
    for name, compare in (
        ("eq", np.equal),
        ("lt", np.less),
        ("le", np.less_equal),
        ("gt", np.greater),
        ("ge", np.greater_equal),
    ):
        flags(kind, f"__h{name}(A, B)", compare)
        flags(kind, f"__h{name}u(A, B)", lambda a, b, compare=compare: compare(a, b) | np.isnan(a) | np.isnan(b))
    flags(kind, "__hne(A, B)", lambda a, b: (a != b) & ~np.isnan(a) & ~np.isnan(b))
    for op, compare in (
        ("==", np.equal),
        ("!=", np.not_equal),
        ("<", np.less),
        ("<=", np.less_equal),
        (">", np.greater),
        (">=", np.greater_equal),
    ):
        flags(kind, f"(A {op} B)", compare)
    flags(kind, "__hisnan(A)", np.isnan, 1)
    flags(kind, "__hisinf(A)", lambda a: np.where(np.isinf(a), np.sign(a), 0), 1)
    flags(kind, "bool(A)", lambda a: a != 0, 1)
    # Pairs: the low part in the low bits.
    pair = f"pair_{kind}(a)", f"pair_{kind}(b)"
    pairs = draw.integers(0, 1 << 32, 5000, dtype=np.uint32), draw.integers(0, 1 << 32, 5000, dtype=np.uint32)

    def by_parts(operation, kind=kind):
        def oracle(*words):
            parts = [w.view(np.uint16).reshape(-1, 2) for w in words]
            return bits(operation(*(wide(p, kind) for p in parts)), kind).reshape(-1).view(np.uint32)

        return oracle

    for text, operation in (
        ("__hadd2({}, {})", np.add),
        ("__hsub2({}, {})", np.subtract),
        ("__hmul2({}, {})", np.multiply),
        ("__h2div({}, {})", np.divide),
        ("({} * {})", np.multiply),
        ("__hmax2({}, {})", np.fmax),
        ("__heq2({}, {})", np.equal),
        ("__hltu2({}, {})", lambda a, b: ~(a >= b)),
        ("h2sqrt({})", np.sqrt),
        ("h2exp({})", lambda a: np.exp(a.astype("f8"))),
        ("__hneg2({})", np.negative),
        ("__lowhigh2highlow({})", lambda a: a[:, ::-1]),
        (f"__low2{h}2({{}})", lambda a: a[:, [0, 0]]),
        (f"__high2{h}2({{}})", lambda a: a[:, [1, 1]]),
        (f"__highs2{h}2({{}}, {{}})", lambda a, b: np.stack([a[:, 1], b[:, 1]], 1)),
        (f"__floats2{h}2_rn(__low2float({{}}), __high2float({{}}))", lambda a, b: np.stack([a[:, 0], b[:, 1]], 1)),
    ):
        n = text.count("{}")
        row(f"word_{kind}({text.format(*pair)})", U4, [(U4, p) for p in pairs[:n]], by_parts(operation))
    row(
        f"__hblt2({pair[0]}, {pair[1]})",
        I4,
        [(U4, p) for p in pairs],
        lambda a, b, kind=kind: np.all(
            wide(a.view(np.uint16), kind).reshape(-1, 2) < wide(b.view(np.uint16), kind).reshape(-1, 2), 1
        ),
    )
    # Every rounding of floats near and far, and of whole numbers.
    floats = np.concatenate(
        [
            draw.uniform(-3, 3, 300),
            draw.uniform(-1e-6, 1e-6, 300),
            draw.uniform(-7e4, 7e4, 300),
            [65504, 65519.9, 65520, 1e-8, -1e-8, 3e38],
        ]
    ).astype("f4")
    wholes = draw.integers(-(1 << 40), 1 << 40, 300) >> draw.integers(0, 40, 300)
    for how in ("rn", "rz", "ru", "rd"):
        near = rounded(kind, how)
        row(
            f"canon(__{h}_as_ushort(__float2{h}_{how}(a)), 0xffff)",
            U2,
            [(F4, floats)],
            lambda a, near=near, kind=kind: bits(np.array([near(v) for v in a]), kind),
        )
        row(
            f"canon(__{h}_as_ushort(__ll2{h}_{how}(a)), 0xffff)",
            U2,
            [(I8, wholes)],
            lambda a, near=near, kind=kind: bits(np.array([near(int(v)) for v in a]), kind),
        )
        to_whole = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}[how]
        row(
            f"__{h}2int_{how}(__ushort_as_{h}(a))",
            I4,
            [(U2, FEW)],
            lambda a, kind=kind, to_whole=to_whole: np.clip(
                np.nan_to_num(to_whole(wide(a, kind).astype("f8")), nan=0), -(1 << 31), (1 << 31) - 1
            ),
        )
    row(
        f"__{h}_as_ushort(__double2{h}(a))",
        U2,
        [(F8, np.array([1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11, 1 + 2.0**-9 - 2.0**-50, 1 + 2.0**-8 + 2.0**-45]))],
        lambda a, kind=kind: bits(np.array([rounded(kind, "rn")(v) for v in a]), kind),
    )

BEFORE = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__device__ unsigned short canon(unsigned short x, unsigned short top) { return (x & 0x7fff) > top ? 0x7fff : x; }
__device__ float canonf(float x) { return x; }
__device__ __half2 pair_half(unsigned x) { return __half2(__ushort_as_half(x), __ushort_as_half(x >> 16)); }
__device__ __nv_bfloat162 pair_bfloat16(unsigned x) { return __nv_bfloat162(__ushort_as_bfloat16(x), __ushort_as_bfloat16(x >> 16)); }
__device__ unsigned word_half(__half2 x) { return canon(__half_as_ushort(x.x), 0x7c00) | canon(__half_as_ushort(x.y), 0x7c00) << 16; }
__device__ unsigned word_bfloat16(__nv_bfloat162 x) { return canon(__bfloat16_as_ushort(x.x), 0x7f80) | canon(__bfloat16_as_ushort(x.y), 0x7f80) << 16; }
"""


@pytest.fixture(scope="module")
def program():
    return cuda_text.compiled(cuda_text.text_of(ROWS, BEFORE))


@cuda_text.each(ROWS)
def test_function(program, k):
    with np.errstate(all="ignore"):
        cuda_text.check(program, ROWS, k)


def test_with_another_compiler():
    cuda_text.run_with_gxx(__file__)
