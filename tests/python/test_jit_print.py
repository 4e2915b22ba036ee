"""print in functions of treadle.jit: what CPython prints, at the time at which it does."""

import collections
import copy
import sys
import threading
import warnings

import numpy as np
import pytest

import treadle as td
from treadle import cuda, njit, prange, types
from treadle.typed import Dict, List

Point = collections.namedtuple("Point", "x y")


def prints(f, capsys, *args):
    """f prints, compiled, what it prints in CPython."""
    f(*copy.deepcopy(args))
    wanted = capsys.readouterr().out
    assert wanted
    njit(f)(*args)
    assert capsys.readouterr().out == wanted


@pytest.mark.parametrize(
    "x",
    [np.arange(5), np.array([1.0, -3e-20]), np.arange(6.0).reshape(2, 3), np.arange(3000), np.array([0.1], np.float32),
     np.array([True, False]), np.array([1 + 2j]), np.zeros(0), np.arange(10)[::3], np.arange(6).reshape(2, 3).T,
     (1, 2.5, True), (1,), ((1, 2), 3.5, None), ("a", 1), Point(1, 2.0), [1, 2], [1.5], ["a", "it's"], {3}, [(1, "x")],
     [[1], [2, 3]], [np.arange(2)], (np.arange(2), [1]), None, "text", 5, 2.5, True, 1 + 2j, float("nan")],
    ids=repr,
)  # fmt: skip
def test_arguments(x, capsys):
    def f(x):
        print(x)
        print("x:", x, (x, 1), f"<{x}>")

    prints(f, capsys, x)


def test_typed_boxes(capsys):
    d = Dict.empty(types.int64, types.float64)
    d[1] = 2.5
    njit(lambda a, b: print(a, b, [1], (a, 2)))(List([1, 2]), d)
    assert capsys.readouterr().out == "[1, 2] {1: 2.5} [1] ([1, 2], 2)\n"
    assert List([1, 2]) == [1, 2] and d[1] == 2.5


def test_values_as_they_are_when_printed(capsys):
    def f(a, s):
        print("first", a, a[1:], a * 2, a.shape, a.sum())
        a[0] = 7
        print("then", a, s + "!", (s + "!", 1), [s + "?"])
        own = []
        print(own)
        for k in range(3):
            own.append([k])
            own[0].append(k)
            print(k, own, [int(a[0])])
        d = {1: "a"}
        print(d, {"s"}, {2: np.arange(2)}, [True], [1 + 2j])
        d[2] = s
        print(d)
        for row in a.reshape(1, -1):
            print(row, row.T)
        return own

    prints(f, capsys, np.arange(3), "hey")


def test_values_that_may_be_none(capsys):
    def f(n):
        for k in range(n):
            x = None
            if k > 1:
                x = k * 0.5
            print(x, k)

    prints(f, capsys, 4)


def test_calls_generators_and_exceptions(capsys):
    @njit
    def deep(n, a):
        if n == 0:
            print("bottom", a)
            return 0
        print("in", n)
        return deep(n - 1, a) + 1

    def numbers(n):
        for k in range(n):
            print("yield", [k])
            yield k

    def f(a):
        print(deep(3, a))
        for x in numbers(2):
            print(x)
        try:
            print("trying", a)
            raise ValueError("no")
        except Exception:
            print("caught", (1, a))

        def inner(y):
            print(y, a)

        inner(1)

    prints(f, capsys, np.arange(2))

    def fails(a):
        print(a)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        njit(fails)(np.arange(2))
    assert capsys.readouterr().out == "[0 1]\n"


def test_in_loops_over_prange(capsys):
    @njit(parallel=True)
    def f(n):
        a = np.zeros(n)
        for i in prange(n):
            a[i] = i
            if i == 3:
                print("number", i)
        for i in prange(n):
            if i == 2:
                print("array", a[i:])
        return a

    f(5)
    assert capsys.readouterr().out == "number 3\narray [2. 3. 4.]\n"


def test_no_line_is_lost(capsys):
    n = 100_000
    njit(many)(n)
    assert capsys.readouterr().out.split("\n")[:-1] == [f"{i} {i * 0.5}" for i in range(n)]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        njit(parallel=True)(many_at_once)(n)
    assert any("the rest is lost" in str(w.message) for w in seen)


def many(n):
    for i in range(n):
        print(i, i * 0.5)


def many_at_once(n):
    for i in prange(n):
        print(i, i * 0.5)


def test_each_line_appears_at_once(monkeypatch):
    seen, a = [], np.zeros(3)

    class Out:
        def write(self, text):
            seen.append((text, a[0]))
            return len(text)

        def flush(self):
            pass

    @njit
    def f(a):
        for k in range(3):
            a[0] = k
            print(k)

    monkeypatch.setattr(sys, "stdout", Out())
    f(a)
    monkeypatch.undo()
    assert [x for text, x in seen if text.strip()] == [0, 1, 2]


def test_threads_without_the_lock(capsys):
    @njit(nogil=True)
    def f(k, n):
        for i in range(n):
            if i % 1000 == 0:
                print(k, i, [i])

    f(0, 1)
    threads = [threading.Thread(target=f, args=(k, 20_000)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    lines = capsys.readouterr().out.split("\n")[1:-1]
    assert sorted(lines) == sorted(f"{k} {i} [{i}]" for k in range(4) for i in range(0, 20_000, 1000))


def test_refused():
    with pytest.raises(TypeError, match="a kernel prints numbers and constant strings, not array"):
        cuda.jit(lambda a: print(a))[1, 1](td.zeros(3))
    with pytest.raises(TypeError, match="print takes no keyword arguments"):
        njit(lambda a: print(a, sep=""))(1)
