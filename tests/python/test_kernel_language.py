"""The language of compiled functions: every construct against CPython, on the interpreter and compiled."""

import copy
import enum
import math

import numpy as np
import pytest

import treadle as td
from treadle import _core

FUNCTION = 1


def compiled(f):
    return _core.Dispatcher(f, mode=FUNCTION, checked=True)


CASES = []


def case(*args):
    """The function is called with these arguments, by CPython and compiled."""

    def add(f):
        CASES.append(pytest.param(f, args, id=f"{f.__name__}-{len(CASES)}"))
        return f

    return add


def outcome(f, args):
    """(result or the exception's type, the arguments afterwards)."""
    args = copy.deepcopy(args)
    try:
        result = f(*args)
    except Exception as e:
        result = type(e)
    return result, args


def same(a, b):
    if isinstance(a, type) or isinstance(b, type):
        return a is b
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if a is None or b is None:
        return a is b
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return bool(np.allclose(a, b, rtol=1e-12, equal_nan=True))


@pytest.mark.parametrize("device", ["cpu", "null"])
@pytest.mark.parametrize("f, args", CASES)
def test_as_in_python(f, args, device):
    wanted = outcome(f, args)
    with td.device(device):
        got = outcome(compiled(f), args)
    assert same(wanted[0], got[0]), (wanted[0], got[0])
    assert all(map(same, wanted[1], got[1]))


A = np.array([1.0, -2.0, 3.0, 7.0, 8.0])
M = np.arange(12.0).reshape(3, 4)


@case(10)
@case(0)
def a_sum(n):
    s = 0
    for i in range(n):
        s += i * i
    return s


@case(A)
def over_an_array(a):
    s = 0.0
    for x in a:
        s += x
    return s


@case(27)
def a_while(n):
    k = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        k += 1
    return k


@case(3, 4.5)
def tuples(a, b):
    c = (a, b, a + b)
    x, y, z = c
    a, b = b, a
    return x * y + z - a, b, c[-1], c[1:]


@case(A)
@case(np.array([1.0, 2.0]))
def break_continue_else(a):
    r = -1
    for i in range(len(a)):
        if a[i] < 0:
            continue
        if a[i] > 5:
            r = i
            break
    else:
        r = 99
    return r


@case(5)
@case(50)
def while_else(n):
    while n > 0:
        n -= 7
        if n == 1:
            break
    else:
        return n, 1
    return n, 0


@case(1)
@case(-1)
@case(0)
def early_return(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    return 0


@case(M)
def return_inside_loops(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 6:
                return i, j
    return -1, -1


@case(M)
def nested_loops(a):
    n, m = a.shape
    s = 0.0
    for i in range(n):
        for j in range(m):
            if a[i, j] > 4.5:
                s += a[i, j]
            else:
                s -= 1
    return s


def power_of(x, k=2):
    return x**k


def scaled(x, *, by=3):
    return x * by


def summed(*values):
    s = 0
    for v in values:
        s += v
    return s


@case(3)
@case(2.5)
def calls(x):
    return power_of(x) + power_of(x, k=3), scaled(x), scaled(x, by=x), summed(x, 1, 2.5), summed(*(x, x))


@case(7, 2)
@case(-7, 2)
@case(7, -2)
@case(7.5, 2.0)
@case(-7.5, 2.0)
@case(1, 0)
@case(1.0, 0.0)
def divisions(a, b):
    return a // b, a % b, a / b, divmod(a, b)


@case(True, False)
@case(3, 0)
@case(0, 2.5)
def booleans(a, b):
    return (a and b), (a or b), not a


@case(3)
@case(1)
def conditional_expression(x):
    return 1 if x > 2 else 2.5


@case(A)
def negative_indices(a):
    s = 0.0
    for i in range(len(a)):
        s = s * 2 + a[-1 - i]
    return a[-1] + a[-2], s


@case(A)
def stores(a):
    for i in range(a.shape[0]):
        a[i] = a[i] * 2
    a[0] += 5
    a[-1] //= 3


@case(np.arange(11.0))
def slices(a):
    b = a[1:-1:2]
    c = a[::-1]
    d = a[3:]
    s = 0.0
    for i in range(len(b)):
        s += b[i] * c[i] - d[i]
    return s, len(b), len(a[20:]), c[0]


@case(M)
def rows_and_columns(a):
    s = 0.0
    for i in range(a.shape[0]):
        row = a[i]
        for x in row:
            s += x
    for j in range(a.shape[1]):
        column = a[:, j]
        s -= column[1] * a.T[j, 0]
    return s, a[1, ...][2], a[..., 1][2], a[None, 1, 2][0]


@case(np.arange(6))
def enumerate_zip_reversed(a):
    s = 0
    for i, x in enumerate(a):
        s += i * x
    for i, (x, y) in enumerate(zip(a, a[1:]), 5):
        s += x * y + i
    for x in reversed(a):
        s = s * 2 + x
    for i in reversed(range(3)):
        s = s * 2 + i
    return s


@case(3)
@case(7.5)
def chained_comparisons(x):
    return 1 < x < 5, 1 < x <= 7.5 != x, x != 3


@case(-3, 2, 1)
@case(-3.5, 2.5, 1.0)
def builtins_of_numbers(a, b, c):
    return min(a, b, c), max(a, b), abs(a), round(b), divmod(a, b), pow(a, 2), int(a), float(b), bool(c)


@case(1)
@case(1, 2)
def a_default_none(x, y=None):
    if y is None:
        return x
    return x + y


@case(1 + 2j)
def complex_numbers(z):
    w = z * z + 1j
    return w, z.real, z.imag, abs(z), w == z


@case(9)
def ranges(n):
    s = 0
    for i in range(n, 0, -2):
        s = s * 3 + i
    for i in range(2, n):
        s += i
    for i in range(n, n - 5, -1):
        s = s * 2 - i
    for i in range(0, n, n // 3):
        s += i
    return s


@case(1)
@case(-1)
def assertion(x):
    assert x > 0, "not above zero"
    return x


@case(1)
@case(-1)
def exception(x):
    if x < 0:
        raise ValueError("below zero")
    return x


@case(5)
def first_turn(n):
    first = True
    s = 0
    for i in range(n):
        if first:
            first = False
        else:
            s += i - previous  # noqa: F821 - assigned in the iteration before
        previous = i
    return s


@case(2)
def over_a_tuple(n):
    out = 0
    for k in (1, 2.5, 3):
        out += k * n
    for k, f in ((1, 2), (3, 4)):
        if k == 3:
            continue
        out += f
    return out


@case(5)
def walrus(n):
    while (k := n - 1) > 0:
        n = k
    return n


@case(3.0, 4)
@case(2, 3)
def powers(x, n):
    return x**n, 2**n, x**2, x**0.5, x**-1, x**0


@case(5, 3)
@case(-5, 2)
def bits(a, b):
    return a << b, a >> 1, a & b, a | b, a ^ b, ~a


@case(1)
def starred(a):
    x, *y = (a, a + 1, a + 2)
    *p, q = (x, *y)
    return x, len(y), y[0], p[1], q


@case(2)
@case(5)
def membership(x):
    return x in (1, 2, 3), x not in (5, 6)


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 7


LIMIT = 4
TABLE = np.array([5, 7, 9])
NESTED = ((1, 2), (3.5, 4))


@case(1)
def constants(i):
    return LIMIT + i, TABLE[i], NESTED[1][0], Colour.BLUE + i, math.pi, np.float32(2)


@case(M.copy(), np.zeros((3, 4)), 3)
def arrays_change_places(a, b, n):
    for _ in range(n):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = a[i, j] + 1
        a, b = b, a
    return a[2, 3]


@case(True)
@case(False)
def array_of_either(which):
    a, b = TABLE[:2], TABLE[1:]
    c = a if which else b
    return c[0], len(c)


@case(4)
def changing_types(n):
    x = n
    x = x + 0.5
    x = (x, n)
    return x


@case(10)
def growing_types(n):
    x = 0
    for i in range(n):
        if i > 5:
            x = x + 0.25
    return x


@case(2.0)
def scalar_functions(x):
    return math.sqrt(x), math.sin(x), np.exp(x)


def recursive(n):
    return recursive(n - 1) + 1 if n else 0


MODE = "su" + "m"  # another object than the literal below


@case("mean", ("a", "b"))
@case("sum", ("a", "sum"))
def strings(mode, modes):
    return (mode == "sum", mode != "sum", MODE == "sum", mode in modes, "b" in modes, mode not in ("sum", "x"),
            (mode, 1) == ("sum", 1), mode == MODE)  # fmt: skip


@pytest.fixture(scope="module")
def f32():
    return np.linspace(-1, 1, 9, dtype=np.float32)


def test_float32_stays_float32(f32):
    """NumPy 2's rule: Python's numbers take the dtype of what they meet."""

    def k(a):
        return a[1] * 0.5, a[1] + 1, math.sin(a[1]), a[1] ** 2, 2 * a[1] / 3, -a[0], a[2] * len(a)

    f = compiled(k)
    assert np.allclose(f(f32), [float(x) for x in k(f32)], rtol=1e-6)
    assert "float64" not in f._text(0, "ir", None)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_keep_their_dtype_beside_literals(dtype):
    def k(a):
        return a[0] + 1, a[0] * a[1], a[0] & 3

    f = compiled(k)
    assert f(np.array([5, 6], dtype)) == (6, 30, 1)
    stores = [line for line in f._text(0, "ir", None).splitlines() if "store" in line]
    assert len(stores) == 3 and all(dtype in line for line in stores), stores


def test_a_changed_global_recompiles():
    global LIMIT

    def k(i):
        return i + LIMIT

    f, old = compiled(k), LIMIT
    try:
        assert f(1) == 1 + old
        LIMIT = 40
        assert f(1) == 41
    finally:
        LIMIT = old


def test_a_function_that_calls_itself():
    assert compiled(recursive)(3) == 3


def test_a_counter_of_narrow_integers_is_wide():
    """Where NumPy's scalar would wrap, a sum that starts as a Python int does not."""

    def k(a):
        s = 0
        for x in a:
            s += x
        return s

    assert compiled(k)(np.array([200, 100], np.uint8)) == 300
