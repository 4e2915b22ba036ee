"""prange's reductions where the arrays are on a GPU: the CPU's values, the same bits every time, and launches of fitting size."""

import numpy as np
import pytest
from kernel_names import assemble
from test_jit import DEVICES

import treadle as td
from treadle import cuda, njit, prange

GPUS = DEVICES[1:]


def total(a):
    s = 0.0
    for i in prange(a.size):
        s += a[i]
    return s


def several(a, b):
    s, p, m, top, n = 1.0, 1.0, a[0], -np.inf, 0
    for i in prange(a.size):
        s -= a[i] * b[i]
        p *= 1 + b[i] / 1000
        m = min(m, a[i])
        top = max(b[i], top)
        if a[i] > 0:
            n += 1
    return s / 2, p, m, top, n


def bits(x):
    every, some, odd = -1, 0, 5
    for i in prange(3, x.size, 2):
        every &= x[i]
        some |= x[i]
        odd ^= x[i]
    return every, some, odd


def complexes(z):
    s = 0j
    p = 1 + 0j
    for i in prange(z.size):
        s += z[i]
        p *= z[i]
    return s, p


def rows(m, out):
    s = 0.0
    for i in prange(m.shape[0]):
        t = 0.0
        for j in range(m.shape[1]):
            t += m[i, j]
        out[i] = t
        s += t
    return s


def repeated(a, out):
    s = 0.0
    for k in range(4):
        t = 0.0
        for i in prange(a.size):
            t += a[i] * (k + 1)
        s += t
    for i in prange(out.size):
        out[i] = s + i
    return s


def normalised(a):
    s = 0.0
    for i in prange(a.size):
        s += a[i]
    for i in prange(a.size):
        a[i] = a[i] / s
    c = 0.0
    for i in prange(a.size):
        c += a[i]
    return c


R = np.random.default_rng(3)
CASES = {
    total: lambda n: (R.random(n),),
    several: lambda n: (R.standard_normal(n), R.random(n)),
    bits: lambda n: (R.integers(0, 2**40, n),),
    complexes: lambda n: (np.exp(2j * np.pi * R.random(n)),),
    rows: lambda n: (R.random((n, 5)), np.zeros(n)),
    repeated: lambda n: (R.random(n), np.zeros(7)),
    normalised: lambda n: (R.random(n) + 1,),
}


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("n", [1, 300, 1500])
@pytest.mark.parametrize("fn", CASES, ids=lambda f: f.__name__)
def test_the_values_of_python(fn, n, gpu):
    args = CASES[fn](n)
    python = [x.copy() for x in args]
    want = fn(*python)
    f = njit(parallel=True)(fn)
    runs = []
    for _ in range(2):
        there = [td.asarray(x, device=gpu) for x in args]
        runs.append(f(*there))
        for x, y in zip(there, python):
            np.testing.assert_allclose(x.get(), y, rtol=1e-12)
    np.testing.assert_allclose(runs[0], want, rtol=1e-11)
    assert runs[0] == runs[1]
    here = [x.copy() for x in args]
    np.testing.assert_allclose(f(*here), want, rtol=1e-11)
    assert "combined in a fixed order: " in f.explain()


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "float16", "bool"])
def test_dtypes(dtype):
    def counted(a, start):
        s = start
        for i in prange(a.size):
            s += a[i]
        return s

    a = (R.random(700) * 3).astype(dtype)
    f = njit(parallel=True)(counted)
    there = f(td.asarray(a, device="null"), 10)
    here = f(a.copy(), 10)
    assert type(there) is type(here)
    np.testing.assert_allclose(there, here, rtol=1e-2 if dtype == "float16" else 1e-5)


def test_a_turn_that_fails():
    @njit(parallel=True)
    def checked(a):
        s = 0.0
        for i in prange(a.size):
            assert a[i] >= 0, "negative"
            s += a[i]
        return s

    a = td.asarray(np.arange(400.0), device="null")
    assert checked(a) == 399 * 200
    a[3] = -1.0
    with pytest.raises(AssertionError, match="negative"):
        checked(a)


def test_ptx_assembles(tmp_path):
    f = njit(parallel=True)(several)
    f(np.ones(3), np.ones(3))
    td.build(f, f.signatures[0], str(tmp_path / "f.ptx"), arch="sm_90")
    assemble((tmp_path / "f.ptx").read_text().rstrip("\0"), "sm_90")


# ---- how large the launches are ----


def one(a, n):
    for i in range(n):
        a[i] = cuda.gridDim.x


def two(m):
    for i in range(m.shape[0]):
        for j in range(1, m.shape[1]):
            m[i, j] = cuda.gridDim.x + 1000 * cuda.gridDim.y


def both(a, m):
    for i in range(0, a.size, 2):
        a[i] = cuda.gridDim.x + 1000 * cuda.gridDim.y
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            m[i, j] = 1


def triangle(m):
    for i in range(m.shape[0]):
        for j in range(i):
            m[i, j] = cuda.gridDim.x


def launched(fn, *args):
    there = [td.asarray(x, device="null") if isinstance(x, np.ndarray) else x for x in args]
    njit(fn)(*there)
    return there[0].get()


@pytest.mark.parametrize("n, blocks", [(0, 0), (1, 1), (256, 1), (257, 2), (5000, 20)])
def test_blocks_cover_the_turns(n, blocks):
    assert set(launched(one, np.zeros(6000), n)[:n]) == ({blocks} if n else set())


def test_blocks_of_two_axes():
    got = launched(two, np.zeros((19, 70)))
    assert (got[:, 1:] == 3 + 1000 * 3).all()  # blocks of 32 by 8 threads: 69 turns, 19 turns
    got = launched(both, np.zeros(9000), np.zeros((8, 40)))
    wide, high = got[0] % 1000, got[0] // 1000
    assert wide == 2 and wide * high * 256 >= 4500


def test_launches_are_bounded():
    """As many blocks as run at once wait for each other; where turns are not known the device is kept busy."""
    assert launched(one, np.zeros(10**6), np.int32(10**6))[0] < 10**6 / 256
    got = launched(triangle, np.zeros((40, 40)))
    assert got[39, 0] == 8


def test_turns_of_narrow_arguments():
    assert launched(one, np.zeros(600), np.int8(100))[0] == 1
    assert launched(one, np.zeros(600), np.uint64(600))[0] == 3
