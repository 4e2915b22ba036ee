"""Integers in compiled functions: at the edges of their dtypes, and in random expressions, against CPython and NumPy."""

import operator
import random
import re
import warnings

import numpy as np
import pytest
from small_kernels import made

from treadle import njit

OPS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod, "&": operator.and_,
       "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "==": operator.eq, "<": operator.lt,
       ">=": operator.ge}  # fmt: skip
INTS = (0, 1, -1, 2, -2, 3, 7, -7, 10, 62, 63, 64, -64, 255, -256, 2**31 - 1, -(2**31), 2**31, 2**32, 2**53 + 1, 2**62, -(2**62), 2**63 - 1,
        -(2**63 - 1), -(2**63))  # fmt: skip
DTYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def python(op, a, b):
    """CPython's value; None: it raises, or is beyond int64."""
    if op in ("<<", ">>") and (b < 0 or b > 200):
        return None
    try:
        r = OPS[op](a, b)
    except ZeroDivisionError:
        return "ZeroDivisionError"
    return r if -(2**63) <= r < 2**63 else None


def outcome(f, *args):
    try:
        return f(*args)
    except ZeroDivisionError:
        return "ZeroDivisionError"


@pytest.mark.parametrize("op", OPS)
def test_python_ints(op):
    f = njit(made(f"def f(a, b):\n    return a {op} b\n"))
    for a in INTS:
        for b in INTS:
            want = python(op, a, b)
            if want is not None:
                got = outcome(f, a, b)
                assert got == want and type(got) is type(want), (a, op, b)


@pytest.mark.parametrize("op", ("+", "-", "*", "//", "%", "<<", ">>", "&"))
def test_one_side_known(op):
    for k in (1, -1, 2, -2, 3, -3, 8, -8, 63, 1000, 2**31, -(2**31), 2**62, -(2**63), 2**63 - 1):
        f, g = (njit(made(f"def f(x):\n    return {t}\n")) for t in (f"x {op} ({k})", f"({k}) {op} x"))
        for x in INTS:
            for h, want in ((f, python(op, x, k)), (g, python(op, k, x))):
                if want is not None:
                    assert outcome(h, x) == want, (x, op, k)


def test_powers():
    f = njit(lambda a, b: a**b)
    for a in (0, 1, -1, 2, -2, 3, -3, 10, -10, 3037000499, -(2**31)):
        for b in (0, 1, 2, 3, 5, 19, 31, 62, 63):
            if -(2**63) <= a**b < 2**63:
                assert f(a, b) == a**b, (a, b)


@pytest.mark.parametrize("a", DTYPES)
@pytest.mark.parametrize("op", ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "==", "<", ">="))
def test_numpys_integers_of_mixed_widths(a, op):
    f = njit(made(f"def f(a, b):\n    return a {op} b\n"), error_model="numpy")
    for b in DTYPES:
        if a == b == "bool" and op in "+-":
            continue  # bools are Python's in compiled functions
        for x in values(a):
            for y in values(b):
                if op in ("<<", ">>") and not 0 <= int(y) < 64 or op in ("//", "%") and int(y) == 0:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        want = OPS[op](x, y)
                    except TypeError:
                        continue  # uint64 with a sign becomes float64
                got = f(x, y)
                assert got == want or (got != got and want != want), (a, x, op, b, y)


def values(dtype):
    t = np.dtype(dtype)
    if t.kind == "b":
        return (np.False_, np.True_)
    info = np.iinfo(t)
    return [t.type(v) for v in (0, 1, 2, 7, info.max, info.max - 1, info.min, *((-1, -7) if t.kind == "i" else ()))]


class Fits:
    """An int whose every step stays in int64; else OverflowError."""

    def __init__(self, v):
        self.v = int(v)
        if not -(2**63) <= self.v < 2**63:
            raise OverflowError


def step(op, turned=False):
    def run(a, b):
        a, b = (x.v if isinstance(x, Fits) else int(x) for x in ((b, a) if turned else (a, b)))
        if op in ("<<", ">>") and not 0 <= b < 64:
            raise OverflowError
        return Fits(OPS[op](a, b))

    return run


for _name, _op in (("add", "+"), ("sub", "-"), ("mul", "*"), ("floordiv", "//"), ("mod", "%"), ("and", "&"), ("or", "|"), ("xor", "^"),
                   ("lshift", "<<"), ("rshift", ">>")):  # fmt: skip
    setattr(Fits, f"__{_name}__", step(_op))
    setattr(Fits, f"__r{_name}__", step(_op, turned=True))
Fits.__neg__ = lambda a: Fits(-a.v)
Fits.__invert__ = lambda a: Fits(~a.v)
Fits.__abs__ = lambda a: Fits(abs(a.v))
Fits.__lt__ = lambda a, b: a.v < (b.v if isinstance(b, Fits) else b)
Fits.__gt__ = lambda a, b: a.v > (b.v if isinstance(b, Fits) else b)
Fits.__eq__ = lambda a, b: a.v == (b.v if isinstance(b, Fits) else b)
Fits.__bool__ = lambda a: a.v != 0
Fits.__hash__ = None


def expression(rng, depth):
    if not depth or rng.random() < 0.15:
        return rng.choice(("a", "b", "c", "t", str(rng.choice((1, 2, 3, 7, 10, 63, 255, 2**31)))))
    kind = rng.randint(0, 9)
    if kind == 0:
        return f"{rng.choice(('-', '~', 'abs'))}({expression(rng, depth - 1)})"
    if kind == 1:
        return f"({expression(rng, depth - 1)} if {expression(rng, 1)} < {expression(rng, 1)} else {expression(rng, depth - 1)})"
    if kind == 2:
        return f"{rng.choice(('min', 'max'))}({expression(rng, depth - 1)}, {expression(rng, depth - 1)})"
    return f"({expression(rng, depth - 1)} {rng.choice(tuple(OPS)[:10])} {expression(rng, depth - 1)})"


def check_expression(seed):
    rng = random.Random(seed)
    lines = ["def f(a, b, c):", "    t = 1"]
    for _ in range(rng.randint(1, 3)):
        e = expression(rng, 3)
        lines.append(rng.choice((f"    t = {e}", f"    for i in range(3): t = (t ^ {e}) >> 1", f"    if {expression(rng, 1)} > t: t = {e}")))
    text = "\n".join([*lines, "    return t"]) + "\n"
    f = made(re.sub(r"(?<!range\()\b(\d+)\b", r"Fits(\1)", text), Fits=Fits)
    g, n = njit(made(text)), 0
    for _ in range(12):
        args = [rng.choice(INTS) for _ in "abc"]
        try:
            want = f(*map(Fits, args))
            want = want.v
        except OverflowError:
            continue
        except ZeroDivisionError:
            want = "ZeroDivisionError"
        n += 1
        assert outcome(g, *args) == want, (text, args)
    return n


@pytest.mark.parametrize("seed", range(60))
def test_random_expressions(seed):
    check_expression(seed)


def test_random_expressions_of_new_seeds():
    seed = random.SystemRandom().randrange(10**9)
    print("seed", seed)
    for i in range(40):
        check_expression(seed + i)


M = 2**63 - 1


@pytest.mark.parametrize("bounds", [(M,), (0, M, 2), (M, 0, -3), (-M, M, M), (3, 3, -1), (0, 7, 3), (M - 2, M), (-M - 1, -M, M)])
def test_lengths_of_ranges_that_are_known(bounds):
    """Counted when compiling, beyond the half of what an int64 holds too."""
    given = ", ".join(map(str, bounds))
    f = made(f"def f():\n    return len(range({given}))")
    assert njit(f)() == len(range(*bounds))


def test_negative_powers_known_when_running_truncate():
    """As Numba's: 0 where the base is beyond 1. They had been inverses modulo 2**64."""
    f = njit(lambda x, y: x**y)
    for x in (-3, -2, -1, 1, 2, 3, 7):
        for y in (-5, -2, -1, 0, 1, 4):
            assert f(x, y) == int(float(x) ** y)
            assert f(np.array([x, x]), y).tolist() == [int(float(x) ** y)] * 2
