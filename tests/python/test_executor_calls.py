"""Executors' maps: functions that call themselves, and iterables that are read as results are taken."""

import concurrent.futures as cf
import itertools
import subprocess
import sys
import warnings

import numpy as np
import pytest
from conftest import DEVICES
from test_executor import outcome, picky, slow

import treadle as td
from treadle.executor import DeviceExecutor
from treadle.executor._columns import columns
from treadle.executor._mapper import Mapper


@pytest.fixture
def ex():
    with DeviceExecutor(max_workers=2) as made:
        yield made


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def in_steps(x):
    """None, an int or a float, from calls inside of each other."""
    if x < 0:
        return None
    if x == 0:
        return 1.5
    if x == 1:
        return 7
    return in_steps(x - 2) if x % 2 == 0 else in_steps(x - 3)


def halves(n):
    if n == 0:
        return 0, 1.0
    k, x = halves(n - 1)
    return k + 1, x / 2


def area(a, b, eps):
    m = (a + b) / 2
    fa, fm, fb = a * a * a, m * m * m, b * b * b
    whole, split = (b - a) * (fa + fb) / 2, (m - a) * (fa + fm) / 2 + (b - m) * (fm + fb) / 2
    if abs(whole - split) < eps:
        return split
    return area(a, m, eps / 2) + area(m, b, eps / 2)


def doubling(n):
    """Leaves int64 early; with values that have wrapped it would call itself for ever longer."""
    return n if n < 2 else doubling(n - 1) * doubling(n - 2) * 3 + doubling(n - 1)


def deep(n):
    return 0 if n <= 0 else 1 + deeper(n)


def deeper(n):
    return deep(n - 1)


MAPS = {
    "recursion": (fib, [*range(15), 2.5, -3]),
    "recursion of two": (ackermann, [0, 1, 2, 2], [3, 4, 5, 6]),
    "recursion beyond int64": (factorial, [*range(25), 4.0]),
    "recursion by way of another": (is_even, range(9)),
    "recursion of kinds": (in_steps, [-1, 0, 4, 7, 9, 2.0]),
    "recursion of tuples": (halves, range(9)),
    "recursion of floats": (area, [0.0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0], [1e-3] * 5),
    "recursion of wrapped values": (doubling, range(14)),
    "recursion that is deep": (deep, [5, 10, 300, 440]),
    "recursion that is too deep": (deep, [5, 400, 3000, 10]),
}


@pytest.mark.parametrize("name", MAPS)
def test_recursion_is_pythons(name, ex):
    f, *items = MAPS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", td.PerformanceWarning)  # all of them compile
        assert outcome(ex.map(f, *items)) == outcome(map(f, *items))


@pytest.mark.parametrize("device", DEVICES[1:])
@pytest.mark.parametrize("name", ["recursion", "recursion of kinds", "recursion beyond int64"])
def test_recursion_on_devices(name, device):
    f, *items = MAPS[name]
    with DeviceExecutor(device) as ex:
        assert outcome(ex.map(f, *items)) == outcome(map(f, *items))


def test_deep_calls_are_pythons():
    """Compiled calls go nearly as deep as Python's limit lets them, and no deeper than it says."""
    xs = [10, 400, 440, 2000]
    found, n = columns([xs])
    mapper = Mapper(deep, found, n, td.device("cpu"), False)
    values, error = mapper.run(0, n)
    assert values == xs[:3] and type(error) is RecursionError and mapper.again == 1
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(700)
    try:
        mapper = Mapper(deep, found, n, td.device("cpu"), False)
        values, error = mapper.run(0, n)
        assert values == [10] and type(error) is RecursionError
    finally:
        sys.setrecursionlimit(limit)


# ---- iterables that are read as results are taken ----


@pytest.mark.parametrize("engine", [False, True])
@pytest.mark.parametrize("size", [1, 2, 7, 100])
@pytest.mark.parametrize("f", [lambda x, y: x * y, lambda x, y: str(x)], ids=["compiled", "Python's"])
def test_buffersize(f, size, engine):
    read = []

    def endless():
        for i in itertools.count():
            read.append(i)
            yield i if i % 3 else i + 0.5

    warnings.simplefilter("ignore", td.PerformanceWarning)
    with cf.ThreadPoolExecutor(2) as pool, DeviceExecutor(max_workers=2, engine=pool if engine else None) as ex:
        results = ex.map(f, endless(), itertools.repeat(2), buffersize=size)
        assert len(read) == size
        for i in range(40):
            assert repr(next(results)) == repr(f(i if i % 3 else i + 0.5, 2))
            assert len(read) == size + i + 1  # as Executor.map of Python 3.14
        results.close()
        assert list(ex.map(f, [], [], buffersize=size)) == []


def test_buffersize_with_the_rest(ex):
    results = ex.map(picky, itertools.count(), buffersize=3)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(KeyError):
        next(results)
    assert list(results) == []
    whole = ex.map(lambda a, b: a * b, np.arange(5000), range(5000), buffersize=64, as_array=True)
    np.testing.assert_array_equal(whole.get(), np.arange(5000) ** 2)
    with pytest.raises(ZeroDivisionError):
        list(ex.map(lambda x: x, (1 // (9 - i) for i in range(12)), buffersize=2))
    with pytest.raises(cf.TimeoutError):
        list(ex.map(slow, itertools.repeat(400_000), timeout=0.05, buffersize=1000))
    for wrong, error in ((0, ValueError), (2.5, TypeError)):
        with pytest.raises(error, match="buffersize"):
            ex.map(abs, [1], buffersize=wrong)


CLASSES = """
import collections, dataclasses, enum
from concurrent.futures import ProcessPoolExecutor

@dataclasses.dataclass
class Point:
    x: int
    y: float

Pair = collections.namedtuple("Pair", "a b")

class Color(enum.Enum):
    RED = 1

def point(v):
    return Point(v, v / 2)

def pair(v):
    return Pair(v, [v])

if __name__ == "__main__":
    with ProcessPoolExecutor(2) as ex:
        print(list(ex.map(Point, [1, 2], [3.0, 4.0])), list(ex.map(point, [1, 2])), list(ex.map(pair, [1])))
        print(list(ex.map(Color, [1])), ex.submit(Point, 5, 6.0).result(), ex.submit(pair, 7).result())
"""


@pytest.mark.parametrize("module", [False, True])
def test_instances_of_the_programs_classes_come_back(tmp_path, module):
    """Under python -m treadle, workers' classes were looked for in treadle's own main module."""
    (tmp_path / "classes.py").write_text(CLASSES)
    what = ["-m", "classes"] if module else ["classes.py"]
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", *treadle, *what], cwd=tmp_path, capture_output=True, text=True, timeout=120
        ).stdout
        for treadle in ([], ["-m", "treadle"])
    ]
    assert outputs[0] == outputs[1] and "Point(x=5, y=6.0)" in outputs[1]
