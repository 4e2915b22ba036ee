"""match in compiled functions, kernels and mapped functions, beside CPython."""

import enum
import random

import pytest

import treadle as td
from treadle import cuda, njit


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def values(x):
    match x:
        case 0:
            return 10
        case 1 | 2 | -3:
            return 20
        case n if n > 100:
            return n * 2
        case 7 as seven if seven % 2:
            r = seven
        case _:
            r = -1
    return r + 1


def without_default(x):
    r = 5
    match x % 4:
        case 1:
            r = 6
        case 2:
            r += 2
            match r:
                case 7:
                    r = 70
    return r


def bound_before_the_guard(x):
    n = 0
    match x:
        case n if n < 0:
            return 1
        case 3:
            pass
    return n


def pairs(p):
    match p:
        case (0, y):
            return y
        case (x, 0) | (1, x):
            return 100 + x
        case (x, y) if x == y:
            return 200 + x
        case _:
            return -1


def nested(p):
    match p:
        case (x, (1 | 2 as a, b)) if b > x:
            return x + a * b
        case [_, [a, _]]:
            return a
    return 0


def texts(s):
    match s:
        case "add" | "plus":
            return 1
        case "mul":
            return 2
    return 0


def singletons(x):
    match x:
        case None:
            return 1
        case True:
            return 2
        case _:
            return 3


def colors(c):
    match c:
        case Color.RED:
            return "r"
        case Color.BLUE:
            return "b"


@pytest.mark.parametrize(
    "f, items",
    [
        (values, [0, 1, 2, -3, 7, 8, 101, 100, 5]),
        (values, [0.0, 2.0, 7.0, 150.5]),
        (without_default, range(8)),
        (bound_before_the_guard, [-1, 3, 4]),
        (pairs, [(0, 3), (3, 0), (1, 9), (2, 2), (2, 3), (0, 0)]),
        (nested, [(2, (1, 4)), (2, (2, 1)), (2, (3, 9))]),
        (texts, ["add", "plus", "mul", "", "adds"]),
        (singletons, [None, True, False, 1, 2.5]),
        (colors, list(Color)),
    ],
)
def test_functions(f, items):
    compiled = njit(f)
    for x in items:
        assert compiled(x) == f(x), x


@cuda.jit
def stepped(a, out):
    i = cuda.grid(1)
    if i < a.size:
        match a[i] % 3:
            case 0:
                out[i] = 1
            case k if k == a[i]:
                out[i] = 2
            case _:
                out[i] = 3


@pytest.mark.parametrize("device", ["cpu", "null"])
def test_kernels(device):
    a, out = td.arange(9, device=device), td.zeros(9, device=device)
    stepped[1, 32](a, out)
    assert out.tolist() == [1, 2, 2, 1, 3, 3, 1, 3, 3]


def test_mapped_functions():
    xs = [random.randrange(-3, 200) for _ in range(300)]
    with td.executor.DeviceExecutor() as ex:
        assert list(ex.map(values, xs)) == [values(x) for x in xs]


def of_classes(x):
    match x:
        case int():
            return 1
    return 0


def test_patterns_of_classes_are_refused():
    with pytest.raises(TypeError, match="match"):
        njit(of_classes)(1)
