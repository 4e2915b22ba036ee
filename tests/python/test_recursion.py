"""Functions that call themselves: in @jit on the CPU and on a GPU, and in kernels."""

from types import FunctionType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_names import assemble, function, run
from test_jit import DEVICES

import treadle as td
from treadle import cuda, jit, njit, prange, types


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def late(n):
    if n > 1:
        return n * late(n - 1)
    return 1


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def power(x, n, *, one=1.0):
    if n == 0:
        return one
    half = power(x, n // 2, one=one)
    return half * half * x if n % 2 else half * half


def both(n):
    if n == 0:
        return 0, 1.5
    a, b = both(n - 1)
    return a + n, b * 2


def root(z, n):
    return z if n == 0 else root(z * z / 2 + 1j, n - 1)


CASES = [(fib, 17), (factorial, 15), (late, 15), (ackermann, 2, 5), (is_even, 31), (power, 1.5, 13), (both, 9),
         (root, 0.3 + 0.2j, 6), (fib, np.int16(9))]  # fmt: skip
PLAIN = dict(globals())  # Python's own functions, which call each other
for f in (fib, factorial, late, ackermann, is_even, is_odd, power, both, root):
    PLAIN[f.__name__] = FunctionType(f.__code__, PLAIN)
    PLAIN[f.__name__].__kwdefaults__ = f.__kwdefaults__
    globals()[f.__name__] = njit(f)


@pytest.mark.parametrize("fn, args", [(c[0], c[1:]) for c in CASES], ids=lambda x: getattr(x, "__name__", str(x)))
def test_values(fn, args):
    got, want = globals()[fn.__name__](*args), PLAIN[fn.__name__](*args)
    assert got == want or np.allclose(got, want)
    assert np.ndim(got) or isinstance(want, np.generic) or type(got) is type(want)


@cuda.jit(device=True)
def hanoi(n, a, b, moves):
    if n == 0:
        return 0
    k = hanoi(n - 1, a, 3 - a - b, moves)
    moves[k, 0], moves[k, 1] = a, b
    return k + 1 + hanoi(n - 1, 3 - a - b, b, moves[k + 1 :])


def test_arrays_in_kernels(dev):
    def kernel(moves, count):
        count[0] = hanoi(4, 0, 2, moves)

    def moved(n, a, b):
        return [] if n == 0 else moved(n - 1, a, 3 - a - b) + [[a, b]] + moved(n - 1, 3 - a - b, b)

    moves, count = run(kernel, 1, 1, np.full((15, 2), -1), np.zeros(1, int))
    assert count[0] == 15 and moves.tolist() == moved(4, 0, 2)


def test_threads_recurse_differently(dev):
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = fib(i % 12) if i % 3 else power(2.0, i % 7)

    (out,) = run(kernel, 3, 32, np.zeros(80))
    assert out.tolist() == [PLAIN["fib"](i % 12) if i % 3 else 2.0 ** (i % 7) for i in range(80)]


def quicksort(a):
    if a.size < 2:
        return
    pivot, i, j = a[a.size // 2], 0, a.size - 1
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i += 1
            j -= 1
    quicksort(a[: j + 1])
    quicksort(a[i:])


quicksort = njit(quicksort)


@given(st.lists(st.integers(-50, 50), max_size=60))
def test_sorting(values):
    a = np.array(values, float)
    quicksort(a)
    assert a.tolist() == sorted(values)


def test_local_arrays_belong_to_each_call(dev):
    @cuda.jit(device=True)
    def digits(n, out):
        own = cuda.local.array(3, np.int64)
        for k in range(3):
            own[k] = n * 10 + k
        if n > 0:
            digits(n - 1, out)
        for k in range(3):
            out[n, k] = own[k]

    def kernel(out):
        digits(6, out)

    (out,) = run(kernel, 1, 1, np.zeros((7, 3), int))
    assert out.tolist() == [[n * 10 + k for k in range(3)] for n in range(7)]


def test_loops_call_in_parallel_where_no_array_is_used():
    @njit
    def table(out):
        for i in range(out.size):
            out[i] = fib(i % 15)

    @njit
    def sorting(m):
        for i in range(m.shape[0]):
            quicksort(m[i])

    @njit(parallel=True)
    def total(n):
        s = 0
        for i in prange(n):
            s += fib(i % 10)
        return s

    out = np.zeros(5000)
    table(out)
    assert "in parallel" in table.explain()
    assert out[:15].tolist() == [PLAIN["fib"](i) for i in range(15)]
    assert total(5000) == 500 * sum(PLAIN["fib"](i) for i in range(10))
    m = np.random.default_rng(1).random((20, 30))
    want = np.sort(m)
    sorting(m)
    assert np.array_equal(m, want) and "calls itself" in sorting.explain()
    for gpu in DEVICES[1:]:
        out = td.zeros(300, device=gpu)
        table(out)
        assert out[:15].tolist() == [PLAIN["fib"](i) for i in range(15)]


def test_too_deep(dev):
    @cuda.jit(device=True)
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    def kernel(n, out):
        out[0] = down(n)

    deep = 900 if dev == "cpu" else 25  # a GPU's threads have little stack
    assert run(kernel, 1, 1, deep, np.zeros(1))[0][0] == deep
    with pytest.raises(RecursionError, match="down: .* calls inside of each other"):
        run(kernel, 1, 1, 10**9, np.zeros(1))
    assert run(kernel, 1, 1, 5, np.zeros(1))[0][0] == 5


def test_too_deep_with_large_frames():
    @njit
    def deep(n):
        own = cuda.local.array(4096, np.float64)
        own[n % 4096] = n
        return 0.0 if n == 0 else own[n % 4096] + deep(n - 1)

    assert deep(60) == 60 * 61 / 2
    with pytest.raises(RecursionError):
        deep(10**6)

    @njit
    def each(out):
        for i in range(out.size):
            out[i] = deep(i * 10**6)

    with pytest.raises(RecursionError):
        each(np.zeros(10))


def test_exceptions_leave_all_calls(dev):
    @cuda.jit(device=True)
    def walk(n, a):
        if n < 0:
            raise ValueError("below")
        a[n] = 1
        walk(n - 1, a)
        a[n] = 2

    def kernel(a):
        walk(3, a)

    with td.device(dev):
        a = td.zeros(5)
        with pytest.raises(ValueError, match="below"):
            cuda.jit(kernel)[1, 1](a)
            td.synchronize()
        assert a.tolist() == [1, 1, 1, 1, 0]


def test_declared_types():
    f = jit("float64(int32)")(fib.py_func)
    assert f(12) == 144
    g = jit([types.int64(types.int64)])(factorial.py_func)
    assert g(10) == 3628800


@pytest.mark.parametrize(
    "text, match",
    [
        ("def f(n):\n    return f(n - 1)\n", "before it is known what it returns"),
        ("def f(n):\n    return (1,) if n == 0 else (f(n - 1), 1)\n", "do not settle|one path"),
        ("def f(n, a):\n    return 1 if n == 0 else f(n - 1, a) + f(n - 1, 'x')\n", "a is .* on one path"),
    ],
)
def test_refused(text, match):
    f = function(text)
    f.__globals__["f"] = njit(f)
    args = (3,) if "a)" not in text else (3, 1)
    with pytest.raises(TypeError, match=match):
        f.__globals__["f"](*args)


def test_ptx_assembles():
    def kernel(out):
        out[cuda.grid(1)] = fib(cuda.grid(1)) + ackermann(2, cuda.grid(1)) + power(1.5, 3)

    ptx, _ = cuda.compile_ptx(kernel, "void(float64[::1])", cc=(9, 0))
    assert ".func" in ptx
    assemble(ptx, "sm_90")


def test_under_the_debugger():
    @cuda.jit
    def kernel(n, out):
        out[0] = fib(n) + hanoi(3, 0, 2, out[1:].reshape((7, 2)))

    with td.device("cpu"), td.debug():
        out = td.zeros(15)
        kernel[1, 1](10, out)
        assert out[0] == 55 + 7
        with pytest.raises(ValueError, match="reshape"):
            kernel[1, 1](10, td.zeros(14))

    @cuda.jit
    def short(out):
        hanoi(3, 0, 2, out)

    with td.device("cpu"), td.debug(), pytest.raises(IndexError, match="'moves'"):
        short[1, 1](td.zeros((5, 2)))
