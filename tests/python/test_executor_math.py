"""Functions of math and builtins in exact maps: every public name of math is compiled, with CPython's bits and errors."""

import functools
import math
import operator
import random
import warnings

import numpy
import pytest

import treadle as td
from treadle.executor import DeviceExecutor
from treadle.executor._pythons import SPELLED

R = random.Random(11)
ODD = [0, -0.0, 1, -1, 2.5, math.inf, -math.inf, math.nan, 1e300, 5e-324, 0.5, 23.0, 24, 171.0, -2.0, 1e16]
X = [*ODD, *(R.gauss(0, 1) * 10.0 ** R.randint(-2, 2) for _ in range(40))]
Y = [R.choice(ODD) if R.random() < 0.3 else R.gauss(0, 1) * 10.0 ** R.randint(-9, 9) for _ in X]
Y = [float(y) for y in Y]  # each kind is a compilation
N = [R.randint(-2, 30) for _ in X]
K = [R.randint(-2, 12) for _ in X]


def horner(a, b):
    return a * b + 1


def fold(x, y):
    return functools.reduce(horner, (x, y, 2)), functools.reduce(max, (x, y), 0)


ONE = {name: getattr(math, name) for name in
       """acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs floor frexp gamma isfinite
       isinf isnan lgamma log log10 log1p log2 modf radians sin sinh sqrt tan tanh trunc ulp""".split()}  # fmt: skip
TWO = {name: getattr(math, name) for name in "atan2 copysign fmod nextafter pow remainder hypot isclose".split()}
INTS = {name: getattr(math, name) for name in "comb gcd lcm perm".split()}


def products(n):
    return sum(i * j for i in range(n) for j in range(i) if (i + j) % 2), len([k for k in range(n) if math.gcd(k, n) == 1])


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))


def is_product(n):
    return any(i * j == n for i in range(2, n) for j in range(2, n)), any([i * i == n for i in range(n)])  # noqa: C419


def extremes(x):
    return min(abs(x - k) for k in (1, 2.5, 4)), max(math.sin(k * x) for k in range(5)), max(k for k in range(3))


def starts(n):
    return sum((n * k for k in (1, 2.5)), 0.5), sum((k for k in (n, 2)), start=1), math.prod((n + k for k in (1, 2)), start=3)


def in_a_loop(n):
    total, k = 0, 5
    for i in range(n):
        if i % 2:
            total += sum(i * k for k in range(i))  # another k
        else:
            total -= sum([k * k for k in range(3)])
    return total, k


def while_some(n):
    steps = 0
    while any(n % d == 0 for d in range(2, 6)):
        n, steps = n + 1, steps + 1
    return n, steps


def partitions(n):
    return 1 if n < 2 else sum(partitions(n - k) for k in range(1, 3))


def one_below(n):
    """Python's frames are two for each call."""
    return 0 if n <= 0 else sum(one_below(n - k) + 1 for k in (1,))


NONE = type(None)


def told_kinds(n):
    """isinstance where paths have left numbers of several kinds."""
    x = n if n % 3 else n / 2 if n % 2 else n > 3
    y = n if n % 2 else None
    z = 1.5 if n % 2 else 2j
    return (
        isinstance(x, int), isinstance(x, float), isinstance(x, bool), isinstance(x, (bool, float)), isinstance(x, complex),
        isinstance(y, int), isinstance(y, NONE), isinstance(z, complex), isinstance(z, (float, complex)), isinstance(z, int),
    )  # fmt: skip


def sum_of_kinds(n):
    return sum([n * 0.5, 1, 0.1, 1e16] if n % 2 else [n, 3, 0.1]), sum((n if k % 2 else 0.1 * k) for k in range(n)), sum([n, True])


EXPRESSIONS = {
    "sum, len": (products, range(12)),
    "all": (is_prime, range(60)),
    "any": (is_product, range(12)),
    "min, max": (extremes, [0.1, 2.0, -3.5, 1e16]),
    "nothing": (lambda n: max(k for k in range(n)), [3, 1, 2]),
    "start": (starts, [1, 2]),
    "of floats": (lambda n: sum(1 / k for k in range(1, n + 1)), range(9)),
    "of huge floats": (lambda x: sum(x * k for k in (1e16, 1, -1e16, 1)), X[3:]),
    "of kinds": (sum_of_kinds, range(9)),
    "told kinds": (told_kinds, range(12)),
    "in a branch": (lambda n: sum(k for k in range(n)) if n > 3 else 0.5, range(7)),
    "in a loop": (in_a_loop, range(9)),
    "in a condition": (while_some, range(1, 30)),
    "recursion": (partitions, range(10)),
    "deep recursion": (one_below, [3, 200, 430]),
    "too deep recursion": (one_below, [3, 600]),
}
CASES = {
    **{name: (f, X) for name, f in ONE.items()},
    **{name: (f, X, Y) for name, f in TWO.items()},
    **{name: (f, N, K) for name, f in INTS.items()},
    "factorial": (math.factorial, N),
    "isqrt": (math.isqrt, [*N, 10**12, 10**17 + 3, 2**60]),
    "ldexp": (math.ldexp, X, K),
    "log, base": (lambda x: math.log(x, 3), X),
    "hypot of others": (lambda x, y: (math.hypot(x, y, 2), math.hypot(x), math.hypot()), X, Y),
    "dist": (lambda x, y: math.dist((x, y, 1), (y, 2.5, x)), X, Y),
    "prod": (lambda x, y: math.prod((x, y, 3), start=2), X, Y),
    "fsum": (lambda x, y: math.fsum((x, y, 1e-9, -x, 2)), X, Y),
    "fsum in the middle": (lambda x: math.fsum((1e16, 1.0, x)), [1e-16, -1e-16, 0.0, 1.0, -0.0]),
    "gcd of others": (lambda a, b: (math.gcd(a, b, 12), math.gcd(a), math.gcd(), math.lcm(a, b, 4), math.lcm()), N, K),
    "perm of one": (lambda n: math.perm(n), N),
    "isclose, how": (lambda x, y: (math.isclose(x, y, rel_tol=0.5), math.isclose(x, y, abs_tol=2)), X, Y),
    "sum": (lambda x, y: (sum((x, y, 0.1, -x)), sum((1, 2, x), start=3), sum(())), X, Y),
    "any, all": (lambda x, y: (any((x > 0, y > 0)), all((x, y, 1)), any(()), all(())), X, Y),
    "reduce": (fold, X, Y),
    "builtins": (lambda x, y: (abs(x), bool(x), float(x), max(x, y), min(x, y, 0)), X, Y),
    "builtins of ints": (lambda a, b: (divmod(a, b), pow(a, 3), int(a), round(a), a.bit_length()), N, K),
    "operator": (lambda a, b: (operator.add(a, b), operator.mul(a, b), operator.neg(a), operator.index(b)), N, K),
}
if hasattr(math, "sumprod"):
    CASES["sumprod"] = (lambda x, y: (math.sumprod((x, y, 0.1), (y, 3, x)), math.sumprod((1, 2), (3, 4))), X, Y)
if hasattr(math, "fma"):
    CASES["fma"] = (lambda x, y: math.fma(x, y, 0.5), X, Y)


def test_every_name_of_math_has_a_case():
    names = {n for n in dir(math) if callable(getattr(math, n)) and not n.startswith("_")}
    assert names <= set(CASES), names - set(CASES)


def one_by_one(f, rows):
    """What f gives for each row: its value's repr, or the exception's type and text."""
    found = []
    for row in rows:
        try:
            found.append(repr(f(*row)))
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


@pytest.fixture(scope="module")
def ex():
    with DeviceExecutor("cpu", max_workers=2) as made:
        yield made


def check(ex, f, *columns):
    """The map gives what Python gives, row by row, and compiles."""
    rows = list(zip(*columns))
    wanted = one_by_one(f, rows)
    fine = [row for row, w in zip(rows, wanted) if "Error" not in w]
    with warnings.catch_warnings():
        warnings.simplefilter("error", td.PerformanceWarning)  # all of them compile
        assert [repr(v) for v in ex.map(f, *zip(*fine))] == one_by_one(f, fine)
        for row, w in zip(rows, wanted):
            if "Error" in w:
                assert one_by_one(lambda *xs: list(ex.map(f, *([x] for x in xs)))[0], [row]) == [w]


@pytest.mark.parametrize("name", CASES)
def test_function_is_pythons(name, ex):
    check(ex, *CASES[name])


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_generator_expression(name, ex):
    check(ex, *EXPRESSIONS[name])


def test_powers_by_constants_are_the_c_librarys(ex):
    """pow(x, 2.0) of the C library is not always x * x, nor pow(x, 0.5) sqrt(x)."""
    xs = [random.uniform(0, 10) for _ in range(20_000)]
    for f in (lambda x: x**2, lambda x: x**2.0, lambda x: x**0.5, lambda x: math.pow(x, 2.0), lambda x: x**-1.0):
        check(ex, f, xs)


def test_names_that_mean_something_else(ex):
    def sum(numbers):
        return len(tuple(numbers))

    with pytest.warns(td.PerformanceWarning, match="a generator expression cannot be compiled"):
        assert list(ex.map(lambda n: sum(k for k in range(n)), [3, 4])) == [3, 4]


def number():
    kind = R.random()
    if kind < 0.3:
        return R.randint(-20, 20) if kind < 0.2 else R.choice(ODD)
    return R.gauss(0, 1) * 10.0 ** R.choice([0, 1, R.randint(-20, 20), R.randint(-300, 300)])


TAKES = {  # arguments of functions in SPELLED; the others take two numbers
    "hypot": lambda n: tuple(number() for _ in range(n)),
    "dist": lambda n: (tuple(number() for _ in range(n)), tuple(number() for _ in range(n))),
    "sumprod": lambda n: (tuple(number() for _ in range(n)), tuple(number() for _ in range(n))),
    "gcd": lambda n: tuple(R.randint(-60, 60) for _ in range(n)),
    "lcm": lambda n: tuple(R.randint(-60, 60) for _ in range(n)),
    "comb": lambda n: (R.randint(-2, 70), R.randint(-2, 70)),
    "perm": lambda n: (R.randint(-2, 30), R.randint(-2, 30)),
    "factorial": lambda n: (R.randint(-2, 40),),
    "gamma": lambda n: (R.choice([R.uniform(-5, 5), R.uniform(-175, 175), R.randint(-3, 30), number()]),),
    "lgamma": lambda n: (R.choice([R.uniform(-5, 5), R.uniform(-175, 175), R.randint(-3, 30), number()]),),
    "isclose": lambda n: (number(), number()),
    "reduce": lambda n: (horner, tuple(number() for _ in range(n)), number()),
    **dict.fromkeys(["prod", "fsum", "sum", "any", "all", "list", "sorted"], lambda n: (tuple(number() for _ in range(n)),)),
    **dict.fromkeys(["min", "max"], lambda n: (tuple(number() for _ in range(n + 1)),)),
}


@pytest.mark.parametrize("f", SPELLED, ids=lambda f: f.__name__)
def test_spelling(f):
    """What stands for a function in compiled code, run by Python: the same bits, or left to Python."""
    decided = 0
    for _ in range(2000):
        row = TAKES[f.__name__](R.randint(0, 6))
        (wanted,), (got,) = one_by_one(f, [row]), one_by_one(SPELLED[f], [row])
        if not got.startswith("ArithmeticError"):
            assert got.partition(":")[0] == wanted.partition(":")[0], row
            decided += 1
    assert decided > 800


# ---- numbers that are ints here and floats there ----

MIXED = {
    "abs(x)": abs, "abs(True if ...)": lambda x: abs(x == 3 or x), "-x": lambda x: -x, "+x": lambda x: +x,
    "x + 0": lambda x: x + 0, "x * -1": lambda x: x * -1, "0 - x": lambda x: 0 - x, "min": lambda x: min(x, 0),
    "max": lambda x: max(0, x), "x % 2": lambda x: x % 2, "x // 2": lambda x: x // 2, "float": float,
    "x ** 3": lambda x: x**3, "copysign": lambda x: math.copysign(1, x), "fabs": math.fabs, "sum": lambda x: sum((x,)),
    "divmod": lambda x: divmod(x, 2), "real": lambda x: x.real, "complex": lambda x: complex(x, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXED)
def test_signs_of_mixed_numbers(name, ex):
    f = MIXED[name]

    def of(a):
        x = 3 if a > 1 else a
        return f(x)

    for item in (-0.0, 0.0, 2.0, 1.0, -1.5, math.inf, -math.inf, math.nan):
        assert outcome(lambda item=item: list(ex.map(of, [item]))) == outcome(lambda item=item: [of(item)])


def outcome(run):
    try:
        return repr(run())
    except (ValueError, OverflowError) as error:
        return repr(error)


def squared(x):
    return x**2


def test_squares_are_the_c_librarys():
    seed = random.SystemRandom().randrange(1 << 32)
    print("seed", seed)
    rng = numpy.random.default_rng(seed)
    bits = rng.integers(0, 1 << 64, 200_000, dtype="uint64")
    values = [
        rng.standard_normal(300_000), bits.view("float64"), (bits & ~numpy.uint64(0x7FFFFFF)).view("float64"),
        2.0 ** rng.integers(-1074, 1024, 1000), [0.0, -0.0, 1.0, 1e-170, 5e-324, 1e160, float("inf"), float("nan")],
    ]  # fmt: skip
    values = numpy.concatenate(values)
    values = values[~(abs(values) > 1.3e154) | ~numpy.isfinite(values)].tolist()  # others raise OverflowError
    with DeviceExecutor(device="cpu") as pool:
        got = list(pool.map(squared, values))
    for x, y in zip(values, got, strict=True):
        want = x**2
        assert y == want or (y != y and want != want), x.hex()
