"""What compiled functions read from elsewhere is what Python reads: globals, cells, defaults, attributes and functions
that change between calls, in value and in type."""

import functools
import math
import os
import random
import types
import warnings

import numpy as np
import pytest
from conftest import DEVICES

import treadle as td
from treadle import cuda, guvectorize, jit, stencil, vectorize
from treadle.executor import DeviceExecutor

NUMBERS = [1, 100, -3]
Q = 1
T = (1, 2)
module = types.ModuleType("module")
module.k, module.f = 1, lambda a: a + 1


class Class:
    k = 1


def helper(a, b=1, *, c=1):
    return a + b + c


def deeper(a):
    return helper(a)


def reads_global(a):
    return a + Q


def reads_tuple(a):
    return a + T[0]


def calls(a):
    return deeper(a)


def reads_module(a):
    return a + module.k


def reads_modules_function(a):
    return module.f(a)


def reads_class(a):
    return a + Class.k


def roots(a):
    return math.sqrt(abs(a))


def closed(value):
    def reads_cell(a):
        return a + value

    def change(other):
        nonlocal value
        value = other

    return reads_cell, change


VALUES = [1, 2.5, math.nan, True, 1j, 2**70, np.float32(1.5), np.float64(2.5), np.int64(3), 7, 0.0, -0.0, 2**62, "no"]


@pytest.fixture
def ex():
    with warnings.catch_warnings(), DeviceExecutor(max_workers=2) as made:
        warnings.simplefilter("ignore", td.PerformanceWarning)
        yield made


def outcome(run):
    try:
        return repr(run())
    except Exception as error:
        return type(error)


def same(ex, f, numbers=NUMBERS):
    for _ in range(2):
        assert outcome(lambda: list(ex.map(f, numbers))) == outcome(lambda: list(map(f, numbers)))


@pytest.mark.parametrize("order", ["as they stand", "shuffled", "back and forth"])
@pytest.mark.parametrize("f", [reads_global, reads_module, reads_class, "cell", "partial", "tuple"])
def test_values_in_executors(f, order, ex, monkeypatch):
    values = VALUES[:]
    seed = int.from_bytes(os.urandom(4), "little")
    print("seed", seed)
    if order == "shuffled":
        random.Random(seed).shuffle(values)
    elif order == "back and forth":
        values = [v for other in values[1:6] for v in (1, other)]
    cell, change = closed(1)
    same(ex, cell)
    for v in values:
        print(repr(v))
        monkeypatch.setitem(globals(), "Q", v)
        monkeypatch.setitem(globals(), "T", (v, 0))
        monkeypatch.setattr(module, "k", v)
        monkeypatch.setattr(Class, "k", v)
        change(v)
        same(ex, {"cell": cell, "tuple": reads_tuple, "partial": functools.partial(reads_global)}.get(f, f))


@pytest.mark.parametrize("value", [(2.5,), [4, 5], [2.5], (1j,), (2**70,), (), (np.float32(1),)], ids=repr)
def test_tuples_and_lists_in_executors(value, ex, monkeypatch):
    same(ex, reads_tuple)
    monkeypatch.setitem(globals(), "T", value)
    same(ex, reads_tuple)


def test_functions_in_executors(ex, monkeypatch):
    same(ex, calls)
    for f in (lambda a: a + 0.5, lambda a: (a, Q), lambda a: Q * 2.0, lambda a, b=1j: a + b, lambda a: [a] * a):
        monkeypatch.setitem(globals(), "helper", f)
        same(ex, calls)
    monkeypatch.setitem(globals(), "Q", 1.5)
    monkeypatch.setitem(globals(), "helper", lambda a: Q * 2)
    same(ex, calls)
    monkeypatch.undo()
    same(ex, calls)
    same(ex, reads_modules_function)
    monkeypatch.setattr(module, "f", lambda a: a / 2)
    same(ex, reads_modules_function)


def test_code_and_defaults_in_executors(ex, monkeypatch):
    for name, value in (
        ("__defaults__", (2.5,)), ("__defaults__", (1j,)), ("__defaults__", None), ("__defaults__", (2**70,)),
        ("__kwdefaults__", {"c": 2.5}), ("__code__", (lambda a, b=1, *, c=1: a * b * c).__code__),
    ):  # fmt: skip
        same(ex, calls)
        with monkeypatch.context() as m:
            m.setattr(helper, name, value)
            same(ex, calls)
            same(ex, helper)
    monkeypatch.setitem(helper.__kwdefaults__, "c", 0.5)
    same(ex, calls)
    same(ex, helper)


def test_partials_keywords_in_executors(ex):
    f = functools.partial(helper, b=1)
    same(ex, f)
    f.keywords["b"] = 2.5
    same(ex, f)


def test_a_library_that_is_replaced(ex, monkeypatch):
    same(ex, roots)
    monkeypatch.setattr(math, "sqrt", lambda a: a + 1)
    same(ex, roots)


@pytest.mark.parametrize("device", DEVICES)
def test_global_of_another_type_on_devices(device, monkeypatch):
    with DeviceExecutor(device) as ex:
        for v in (1, 2.5, True, 1j, 0.0, -0.0, 1):
            monkeypatch.setitem(globals(), "Q", v)
            assert repr(list(ex.map(reads_global, range(5)))) == repr([reads_global(a) for a in range(5)])


def test_global_that_changes_meanwhile(ex, monkeypatch):
    """A slice is of one type, or of the other."""
    for _ in range(20):
        monkeypatch.setitem(globals(), "Q", 1)
        results = ex.map(reads_global, range(1 << 16))
        first = next(results)
        monkeypatch.setitem(globals(), "Q", 2.5)
        assert first in (1, 2.5)
        assert all(r in (a + 1, a + 2.5) for a, r in enumerate(results, 1))


# ---- functions and kernels: numbers of types that they have ----

COMPILED = [1, 2.5, math.nan, 1j, 7, 0.0, -0.0, True, 2.5, 1]


@pytest.mark.parametrize("f", [reads_global, reads_module, reads_class, reads_tuple])
def test_values_in_functions(f, monkeypatch):
    made = jit(f)
    for v in COMPILED:
        monkeypatch.setitem(globals(), "Q", v)
        monkeypatch.setitem(globals(), "T", (v, 0))
        monkeypatch.setattr(module, "k", v)
        monkeypatch.setattr(Class, "k", v)
        assert repr(made(-0.0)) == repr(f(-0.0))
        assert repr(made(3)) == repr(f(3))


def test_replaced_functions_in_functions(monkeypatch):
    made = jit(calls)
    assert made(1) == calls(1)
    for name, value in (("__defaults__", (2.5,)), ("__kwdefaults__", {"c": 2.5}),
                        ("__code__", (lambda a, b=1, *, c=1: a * b * c + 0.5).__code__)):  # fmt: skip
        with monkeypatch.context() as m:
            m.setattr(helper, name, value)
            assert made(1) == calls(1)
        assert made(1) == calls(1)
    monkeypatch.setitem(helper.__kwdefaults__, "c", 7.5)
    assert made(1) == calls(1)
    made = jit(reads_modules_function)
    assert made(1) == 2
    monkeypatch.setattr(module, "f", lambda a: a / 2)
    assert made(1) == 0.5


@pytest.mark.parametrize("signatures", [(), ["(int64,)", "(float64,)"], ["float64(int64)"]], ids=repr)
def test_values_in_ufuncs(signatures, monkeypatch):
    made = vectorize(signatures)(reads_global) if signatures else vectorize(reads_global)
    a = np.arange(5)
    for v in (1, 2.5, True, 7, -1.5, 1, 2.5):
        monkeypatch.setitem(globals(), "Q", v)
        want = a + v
        got = made(a)
        assert got.dtype == (float if signatures == ["float64(int64)"] else want.dtype)
        assert np.array_equal(got, want)


def test_values_in_stencils_and_gufuncs(monkeypatch):
    cell, a = 1, np.arange(6)
    smooth = stencil(lambda a: a[-1] * cell + a[1] * Q)
    for v in (1, 2.5, 7, 1, 2.5):
        monkeypatch.setitem(globals(), "Q", v)
        for cell in (2, 0.5):  # noqa: B007 - the stencil reads it
            want = np.array([0, *(a[:-2] * cell + a[2:] * v), 0])
            got = smooth(a)
            assert got.dtype == want.dtype
            assert np.array_equal(got, want)

    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def add(a, out):
        for i in range(a.shape[0]):
            out[i] = a[i] + Q

    for v in (1, 2.5, True, 1):
        monkeypatch.setitem(globals(), "Q", v)
        assert np.array_equal(add(a), a + v)


@pytest.mark.parametrize("device", DEVICES)
def test_values_in_kernels(device, monkeypatch):
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.shape[0]:
            out[i] = deeper(a[i]) * module.k + Q

    with td.device(device):
        a, out = td.arange(5), td.zeros(5)
        for q, k, h in ((1, 1, helper), (2.5, 1, helper), (1, 2.5, lambda a: a / 2), (-0.0, 2, helper), (1, 1, helper)):
            monkeypatch.setitem(globals(), "Q", q)
            monkeypatch.setattr(module, "k", k)
            monkeypatch.setitem(globals(), "helper", h)
            kernel[1, 32](a, out)
            assert out.get().tolist() == [deeper(x) * k + q for x in range(5)]
