"""Atomic operations on shared memory, which a CPU does without atomic instructions, beside those on global memory."""

import numpy as np
import pytest

import treadle as td
from treadle import cuda

THREADS, PLACES = 96, 5
INTEGERS = ("int32", "uint32", "int64", "uint64")
NUMBERS = (*INTEGERS, "float32", "float64")
DTYPES = {"add": (*NUMBERS, "float16"), "sub": NUMBERS, "max": NUMBERS, "min": NUMBERS, "nanmax": NUMBERS,
          "nanmin": NUMBERS, "and_": INTEGERS, "or_": INTEGERS, "xor": INTEGERS, "exch": INTEGERS,
          "inc": ("uint32", "uint64"), "dec": ("uint32", "uint64")}  # fmt: skip
CASES = [(name, dtype) for name, dtypes in DTYPES.items() for dtype in dtypes]


def kernels(name, dtype):
    """(on shared, on global memory): the values afterwards, and what each thread was given as the old one."""
    op = getattr(cuda.atomic, name)

    @cuda.jit
    def on_shared(values, out, old):
        own = cuda.shared.array(PLACES, dtype)
        t = cuda.threadIdx.x
        if t < PLACES:
            own[t] = out[t]
        cuda.syncthreads()
        old[t] = op(own, t % PLACES, values[t])
        cuda.syncthreads()
        if t < PLACES:
            out[t] = own[t]

    @cuda.jit
    def on_global(values, out, old):
        t = cuda.threadIdx.x
        old[t] = op(out, t % PLACES, values[t])

    return on_shared, on_global


def inputs(name, dtype):
    rng = np.random.default_rng(len(name))
    values = rng.integers(0, 9, THREADS) if name in ("inc", "dec") else rng.integers(-90, 90, THREADS)
    values = values.astype("int64").astype(dtype)
    if values.dtype.kind == "f" and name != "add":
        values[::7] = np.nan
    return values, (np.arange(PLACES) + 3).astype(dtype)


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_shared_memory_is_no_different(name, dtype):
    values, start = inputs(name, dtype)
    found = []
    with td.device("cpu"):
        for kernel in kernels(name, np.dtype(dtype)):
            out, old = start.copy(), np.zeros(THREADS, dtype)
            kernel[1, THREADS](values, out, old)
            found.append((out, old))
    (out, old), (wanted, wanted_old) = found
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(old, wanted_old)  # lanes take their turns in order
    assert (old[:PLACES] == start).all() and (out != start).any()


def test_sums_are_right():
    values, start = inputs("add", "int32")
    with td.device("cpu"):
        out = start.copy()
        kernels("add", np.int32)[0][1, THREADS](values, out, np.zeros(THREADS, "int32"))
    places = np.arange(THREADS) % PLACES
    assert out.tolist() == [int(start[k] + values[places == k].sum()) for k in range(PLACES)]
