"""Declared signatures of compiled functions: numbers are converted to them, where Python calls and in compiled code."""

import importlib.util

import numpy as np
import pytest
from test_unchanged import program, run

from treadle import jit, njit, types
from treadle.types import float32, float64, int8, int32, int64

SMALL = {
    "int8": (int8(int64), lambda x: x * 100, 5, -12),
    "int32": ("i4(i8)", lambda x: x * 3_000_000_000, 3, 410065408),
    "uint8": ("u1(i8)", lambda x: x - 1, 0, 255),
    "float32": (float32(float64), lambda x: x / 3, 1.0, float(np.float32(1 / 3))),
    "bool": (types.boolean(int64), lambda x: x, 7, True),
    "int of float": (int64(float64), lambda x: x * 2, 1.7, 3),
    "float of int": (float64(int64), lambda x: x + 1, 2, 3.0),
    "complex": (types.complex128(float64), lambda x: x, 2.0, 2 + 0j),
    "argument": (float64(float32), lambda x: x, 0.1, float(np.float32(0.1))),
    "inferred": ((float32,), lambda x: x, 0.1, float(np.float32(0.1))),
}


@pytest.mark.parametrize("name", SMALL)
def test_results_have_the_declared_type(name):
    sig, f, given, want = SMALL[name]
    g = njit(sig)(f)
    got = g(given)
    assert got == want and type(got) is type(want)

    @njit
    def caller(n):
        out = np.zeros(n, np.complex128)
        for i in range(n):
            out[i] = g(given)
        return out

    assert caller(3).tolist() == [want] * 3


def test_a_generator_of_random_words():
    @njit("i4(i8[:])")
    def word(state):
        state[0] = (((state[0] & 4294967294) << 12) & 0xFFFFFFFF) ^ ((((state[0] << 13) & 0xFFFFFFFF) ^ state[0]) >> 19)
        return state[0] ^ state[1] * 12345

    @njit
    def several(state, n):
        return [word(state) % 30 for _ in range(n)]

    def wrapped(state):
        state[0] = (((state[0] & 4294967294) << 12) & 0xFFFFFFFF) ^ ((((state[0] << 13) & 0xFFFFFFFF) ^ state[0]) >> 19)
        return int(np.int64(state[0] ^ (state[1] * 12345)).astype(np.int32))

    ours, theirs = np.array([123456789, 987654321987]), [123456789, 987654321987]
    assert several(ours, 9) == [wrapped(theirs) % 30 for _ in range(9)]


def test_several_signatures_by_the_arguments():
    @jit([int32(int32, int64), float32(float64, int64), float64(float64, float64)])
    def f(x, n):
        return x * 3.3 + n

    @jit
    def calls(x):
        return f(x, 1), f(np.int32(2), 1), f(x, 2.0)

    want = float(np.float32(0.1 * 3.3 + 1)), int(2 * 3.3 + 1), 0.1 * 3.3 + 2
    assert calls(0.1) == want
    assert [f(0.1, 1), f(np.int32(2), 1), f(0.1, 2.0)] == list(want)


def test_void_and_arrays_stay_what_they_are():
    @njit("void(f8[:], f8)")
    def fill(a, v):
        a[:] = v

    @njit("f8[:](f8[:])")
    def twice(a):
        return a * 2

    @njit
    def both(a):
        fill(a, 3)
        return twice(a)

    assert both(np.zeros(3)).tolist() == [6.0, 6.0, 6.0]
    assert fill(np.zeros(2), 1.0) is None and isinstance(twice(np.ones(2)), np.ndarray)


def test_functions_that_call_each_other():
    @njit("i4(i4)")
    def steps(n):
        return 0 if n <= 0 else 1 + steps(n - 2)

    assert steps(9) == 5 and type(steps(9)) is int


NAMES = """
import ctypes, warnings
import importlib.util

import numpy as np
import numba
from numba import carray, config, get_num_threads, jit_module, literally, njit, objmode, set_num_threads, threading_layer
from numba import errors, set_parallel_chunksize, parallel_chunksize
from numba.core.errors import NumbaDeprecationWarning, NumbaPerformanceWarning, NumbaWarning, TypingError
import numba.core.config
from numba.core.decorators import njit as same
from numba import NumbaExperimentalFeatureWarning, NumbaTypeError, TypingError as TopError
from numba.core.errors import NumbaKeyError, RequireLiteralValue, UnsupportedParforsError
from numba.cuda import CudaSupportError
from numba.cuda.cudadrv.error import CudaSupportError as Deep, NvvmSupportError
import numba.extending

assert TopError is TypingError and issubclass(NumbaTypeError, TypingError) and Deep is CudaSupportError
assert not hasattr(numba.extending, "functools")
try:
    numba.gdb
    raise AssertionError
except AttributeError as e:
    assert "Numba is not installed" in str(e)

warnings.simplefilter("ignore", category=NumbaDeprecationWarning)
config.THREADING_LAYER = "threadsafe"
assert numba.config.THREADING_LAYER == "threadsafe" and numba.errors.TypingError is TypingError
assert issubclass(NumbaPerformanceWarning, NumbaWarning) and same is not None
set_num_threads(1)
assert get_num_threads() == 1 and isinstance(threading_layer(), str)
for bad in (0, 10**6):
    try:
        set_num_threads(bad)
        raise AssertionError
    except ValueError:
        pass
with parallel_chunksize(4):
    assert numba.get_parallel_chunksize() == 4
assert numba.get_parallel_chunksize() == 0
memory = (ctypes.c_double * 6)(*range(6))
assert carray(ctypes.cast(memory, ctypes.POINTER(ctypes.c_double)), (2, 3))[1, 0] == 3

@njit
def refused(x):
    return {}[x].y

@njit
def scaled(x, n):
    return x * literally(n)

try:
    refused(1)
    raise AssertionError
except TypingError:
    pass
assert scaled(2.0, 3) == 6.0

def half(x):
    return x / 2

jit_module()
assert half(3) == 1.5 and half.signatures

@njit("i8(i8)")
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

assert fib(20) == 6765
fib.disable_compile()
assert fib(3.0) == 2

@njit(parallel=True)
def by_threads(a):
    part = np.zeros((numba.get_num_threads(), 2))
    for i in numba.prange(a.size):
        t = numba.get_thread_id()
        part[t, 0] += a[i]
        part[t, 1] += 1
    return part[:, 0].sum(), part[:, 1].sum()

assert by_threads(np.arange(1000.0)) == (499500, 1000) and numba.get_thread_id() == 0
assert "it asks for its thread's number" in by_threads.explain()

@njit
def cut(x, y):  # Numba's range takes floats
    return [i for i in range(x)], [i for i in range(y, x, 1.9)], [i for i in range(-2.5, np.round(x / 2))]

assert cut(3.7, 0.9) == ([0, 1, 2], [0, 1, 2], [-2, -1, 0, 1])

@njit(locals={"s": numba.float32, "k": numba.int8})
def declared(n):
    s, k = 0.1, 300
    return s, k

assert declared(0) == (np.float32(0.1), 44)
summed = numba.vectorize(lambda x, y: x + y)
summed._compile_for_argtys((numba.types.uint32, numba.types.uint32))
assert summed(np.uint32(1), np.uint32(2)) == 3 and summed.types[0].startswith("II->")
print("done")
"""


@pytest.mark.skipif(importlib.util.find_spec("numba") is not None, reason="the names are the real Numba's then")
def test_names_without_numba(tmp_path):
    path = program(tmp_path, "names.py", NAMES)
    status, out, err = run(path)
    assert (status, out) == (0, "done\n"), err


def test_overloads_that_ask_for_values_are_refused():
    """numba.literally in an overload wants another overload for the value; its own result would be wrong."""
    from treadle._compile import _overloads

    def power(x, n):
        raise NotImplementedError

    def literally(n):
        return n

    _overloads.register(power, lambda x, n: lambda x, n: literally(n))
    with pytest.raises(TypeError, match="power: its overload calls numba.literally"):
        njit(lambda x, n: power(x, n))(3, 2)


def test_an_overload_may_be_the_function_itself():
    from treadle._compile import _overloads

    def double(x):
        return x + x

    _overloads.register(double, lambda x: double)
    assert njit(lambda x: double(x))(3) == 6


def test_optional_arguments_are_values_or_none():
    text = "float64(float64, optional(uint64))"
    for signature in (text, [text], types.float64(types.float64, types.Optional(types.uint64))):
        f = njit(signature)(lambda x, seed: x if seed is None else x + seed)
        assert (f(1.5, None), f(1.5, 3), len(f.signatures)) == (1.5, 4.5, 2)
