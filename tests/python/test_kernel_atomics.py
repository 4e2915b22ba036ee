"""cuda.atomic inside kernels: every operation on every dtype that it is there for, against a model of it."""

import numpy as np
import pytest
from kernel_names import assemble, cuda_names, function, run

import treadle as td
from treadle import cuda

INTS = ["int32", "uint32", "int64", "uint64"]
FLOATS = ["float32", "float64"]
ARITHMETIC = {"add": lambda old, v: old + v, "sub": lambda old, v: old - v, "max": lambda old, v: v if v > old else old,
              "min": lambda old, v: v if v < old else old, "nanmax": np.fmax, "nanmin": np.fmin,
              "exch": lambda old, v: v}  # fmt: skip
BITWISE = {"and_": lambda old, v: old & v, "or_": lambda old, v: old | v, "xor": lambda old, v: old ^ v}
COUNTERS = {"inc": lambda old, v: old * 0 if old >= v else old + 1,
            "dec": lambda old, v: v if old == 0 or old > v else old - 1}  # fmt: skip
ATOMICS = [(n, d) for n in ARITHMETIC for d in INTS + FLOATS] + [(n, d) for n in BITWISE for d in INTS]
ATOMICS += [(n, d) for n in COUNTERS for d in ("uint32", "uint64")] + [("add", "float16"), ("sub", "float16")]
ATOMIC = ARITHMETIC | BITWISE | COUNTERS


def test_every_name_is_covered():
    assert {"cuda.atomic." + n for n in (*ATOMIC, "cas", "compare_and_swap")} == {n for n in cuda_names() if "atomic" in n}


@pytest.mark.parametrize("where", ["global", "shared"])
@pytest.mark.parametrize(("name", "dtype"), ATOMICS)
def test_atomic_chain(dev, name, dtype, where, rng):
    """One thread after the other: the old values and the last one are the model's."""
    place = "a" if where == "global" else "s"
    text = f"""def kernel(a, v, old):
    s = cuda.shared.array(4, d)
    if cuda.grid(1) == 0:
        for k in range(4):
            s[k] = a[k]
        for i in range(v.size):
            old[i] = cuda.atomic.{name}({place}, i % 4, v[i])
        for k in range(4):
            a[k] = {place}[k]
"""
    d = np.dtype(dtype)
    low = -20 if d.kind != "u" else 0
    v = rng.integers(low, 20, 40).astype(d)
    a = rng.integers(0, 20, 4).astype(d)
    if d.kind == "f" and name in ("max", "min", "nanmax", "nanmin"):
        v[::7] = np.nan
        a[1] = np.nan
    got, _, old = run(function(text, cuda=cuda, d=d), 1, 32, a, v, np.zeros(40, d))
    want = a.copy()
    with np.errstate(over="ignore"):
        for i in range(40):
            assert np.array_equal(old[i], want[i % 4], equal_nan=d.kind == "f"), i
            want[i % 4] = ATOMIC[name](want[i % 4], v[i])
    assert np.array_equal(got, want, equal_nan=d.kind == "f")


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n, d in ATOMICS if n not in ("exch", "sub") and d != "float16"])
def test_atomics_of_many_threads(dev, name, dtype, rng):
    """All threads at once, on elements of an array of two axes: the result does not depend on their order."""
    text = f"def kernel(a, v):\n    i = cuda.grid(1)\n    cuda.atomic.{name}(a, (i % 2, i % 3), v[i])\n"
    d = np.dtype(dtype)
    v = rng.integers(0, 100, 128).astype(d)
    if name in COUNTERS:
        v[:] = 9
    a = rng.integers(0, 8, (2, 3)).astype(d)
    got, _ = run(function(text, cuda=cuda), 2, 64, a, v)
    want = a.copy()
    for i in range(128):
        want[i % 2, i % 3] = ATOMIC[name](want[i % 2, i % 3], v[i])
    assert np.array_equal(got, want)


@pytest.mark.parametrize("dtype", INTS + FLOATS)
def test_compare_and_swap(dev, dtype):
    def kernel(a, first, old, won):
        i = cuda.grid(1)
        old[i] = cuda.atomic.cas(a, (i % 2, 1), 5, i + 100)
        if cuda.atomic.compare_and_swap(first, 0, i + 1) == 0:
            cuda.atomic.add(won, 0, 1)

    a = np.array([[1, 5, 2], [1, 6, 2]], dtype)
    got, first, old, won = run(kernel, 2, 32, a, np.zeros(1, dtype), np.zeros(64, dtype), np.zeros(1, np.int32))
    assert won[0] == 1 and 1 <= first[0] <= 64
    assert np.array_equal(got[1], a[1]) and got[0, 1] >= 100 and (old[1::2] == 6).all()
    assert sorted(old[::2])[0] == 5 and (old[::2] == 5).sum() == 1 and set(old[::2]) <= {5, got[0, 1]}


def test_a_lock_of_cas_and_exch(dev):
    def kernel(lock, total):
        if cuda.threadIdx.x == 0:
            while cuda.atomic.cas(lock, 0, 0, 1) != 0:
                pass
            cuda.threadfence()
            total[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)

    _, total = run(kernel, 8, 32, np.zeros(1, np.int32), np.zeros(1, np.int64))
    assert total[0] == 8


def test_atomics_on_fields(dev):
    def kernel(r, out):
        i = cuda.grid(1)
        cuda.atomic.add(r[i % 2], "n", 1)
        cuda.atomic.max(r[i % 2], "x", i)
        if i < 2:
            cuda.atomic.add(out, i, r[i].n)

    records = np.array([(1, 2.5), (3, 4.5)], np.dtype([("n", np.int32), ("x", np.float64)], align=True))
    cuda.jit(kernel)[1, 32](cuda.InOut(records), td.zeros(2, dtype="int32"))
    td.synchronize()
    assert records["n"].tolist() == [17, 19] and records["x"].tolist() == [30, 31]


def test_atomics_on_fields_of_arrays(dev):
    """The field of all records is an array of its own, with the records' strides."""
    def kernel(r, out):
        i = cuda.grid(1)
        cuda.atomic.add(r["n"], i % 3, 1)
        cuda.atomic.add(r.x, i % 3, 0.5)
        cuda.atomic.min(r["in"].z[1:], -1, i)
        t = cuda.shared.array(4, record)
        if i < 4:
            t[i].n = i
        cuda.syncthreads()
        if i == 0:
            out[0] = t.n[3] + r.x.size + r["n"][::-1][0] * 100

    inner = np.dtype([("z", np.int64), ("y", np.int32)], align=True)
    record = np.dtype([("n", np.int32), ("x", np.float64), ("in", inner)], align=True)
    records = np.zeros(3, record)
    out = np.zeros(1)
    cuda.jit(kernel)[1, 30](cuda.InOut(records), cuda.InOut(out))
    td.synchronize()
    assert records["n"].tolist() == [10] * 3 and records["x"].tolist() == [5] * 3
    assert records["in"]["z"].tolist() == [0, 0, 0] and out[0] == 3 + 3 + 1000


def test_fields_of_packed_records(dev):
    """They lie where no aligned access may; an atomic one is refused."""
    def kernel(r):
        i = cuda.grid(1)
        r[i].x = r[i].x + r[i].n
        r[i].z = r[i].z * 2

    packed = np.array([(1, 2.5, 1 + 2j), (3, 4.5, 3j)], [("n", np.int8), ("x", np.float64), ("z", np.complex64)])
    cuda.jit(kernel)[1, 2](cuda.InOut(packed))
    td.synchronize()
    assert packed["x"].tolist() == [3.5, 7.5] and packed["z"].tolist() == [2 + 4j, 6j]
    with pytest.raises(TypeError, match="align=True"):
        cuda.jit(function('def kernel(r):\n    cuda.atomic.add(r[0], "x", 1)\n', cuda=cuda))[1, 1](cuda.InOut(packed))


def test_atomic_index_is_checked():
    def kernel(counts, v):
        cuda.atomic.add(counts, v[cuda.grid(1)], 1)

    with td.device("null"):
        v = np.array([0, 1, 9, 2], np.int32)
        with pytest.raises(IndexError, match="counts.*9|9.*counts"):
            run(kernel, 1, 4, np.zeros(4, np.int32), v, debug=True)


@pytest.mark.parametrize(("name", "dtype"), ATOMICS)
def test_atomic_ptx(name, dtype):
    text = f"""def kernel(a, out):
    s = cuda.shared.array(8, d)
    i = cuda.grid(1)
    cuda.atomic.{name}(a, (i, 1), 3)
    out[i] = cuda.atomic.{name}(s, i, out[i])
"""
    t = cuda.types
    e = getattr(t, dtype)
    ptx = cuda.compile_ptx(function(text, cuda=cuda, d=np.dtype(dtype)), (t.Array(e, 2, "A"), t.Array(e, 1, "C")), cc=(9, 0))[0]
    assemble(ptx, "sm_90")


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_floats_are_one_instruction_where_memory_is_a_number(name, bits):
    def kernel(a, x):
        cuda.atomic.max(a, 0, x[cuda.grid(1)])

    def other(a, x):
        cuda.atomic.min(a, 0, x[cuda.grid(1)])

    kind = f"float{bits}[::1]"
    ptx, _ = cuda.compile_ptx(kernel if name == "max" else other, f"void({kind}, {kind})", cc=(9, 0))
    less = {"max": "min", "min": "max"}[name]
    assert f"atom.global.{name}.s{bits}" in ptx and f"atom.global.{less}.u{bits}" in ptx
    assemble(ptx, "sm_90")


@pytest.mark.parametrize("dtype", FLOATS)
def test_extremes_of_all_kinds_of_floats(dev, dtype):
    """Any pair of these in memory and as the operand: signs, zeros, the smallest, the largest, infinities, NaN."""
    info = np.finfo(dtype)
    kinds = np.array([0, -0.0, 1, -1, 1.5, -1.5, info.tiny, -info.tiny, info.max, info.min, np.inf, -np.inf, np.nan,
                      -np.nan, info.smallest_subnormal, -info.smallest_subnormal], dtype)  # fmt: skip
    a, x = (m.ravel().copy() for m in np.meshgrid(kinds, kinds))

    def kernel(greatest, least, number, x):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.max(greatest, i, x[i])
            cuda.atomic.min(least, i, x[i])
            cuda.atomic.nanmax(number, i, x[i])

    got = run(kernel, 4, 64, a, a, a, x)
    want = [np.where(x > a, x, a), np.where(x < a, x, a), np.fmax(a, x)]
    for g, w in zip(got, want):
        np.testing.assert_array_equal(g, w)
