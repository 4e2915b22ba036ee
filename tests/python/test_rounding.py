"""round and numpy.round in compiled functions: CPython's and NumPy's results, also before the point."""

import warnings

import numpy as np
import pytest

import treadle as td
from treadle import cuda, njit

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
VALUES = (0, 1, 4, 5, 6, 14, 15, 16, 25, 35, 45, 50, 55, 99, 100, 127, 149, 150, 151, 250, 350, 12345, 65000, 10**9 + 5, 2**31 - 1,
          25 * 10**14, 2**52 - 1)
DIGITS = (-25, -20, -19, -18, -16, -15, -9, -4, -3, -2, -1, 0, 1, 5)


def same(got, want):
    return type(got) is type(want) and got == want and np.signbit(got) == np.signbit(want)


@pytest.mark.parametrize("n", DIGITS)
def test_python_ints(n):
    fixed, given = njit(lambda x: round(x, n)), njit(lambda x, n: round(x, n))
    for x in (*VALUES, 2**63 - 1, 2**62 + 1, 5 * 10**18, 5 * 10**18 + 1):
        for v in (x, -x, -x - 1):
            want = round(v, n)
            if abs(want) < 2**63:
                assert same(fixed(v), want) and same(given(v, n), want), (v, n)


def test_bools_are_ints():
    assert [njit(lambda x: round(x))(x) for x in (True, False)] == [1, 0]
    assert type(njit(lambda x: round(x))(True)) is int
    assert [njit(lambda x: round(x, -1))(x) for x in (True, False)] == [0, 0]


def test_ndigits_by_name():
    f = njit(lambda x: (round(x, ndigits=-1), round(x, ndigits=None)))
    assert f(16) == (20, 16)


@pytest.mark.parametrize("dtype", INTS)
def test_numpys_integers(dtype):
    f, g = njit(lambda x, n: round(x, n)), njit(lambda x, n: np.round(x, n))
    info = np.iinfo(dtype)
    for x in {v for u in (*VALUES, info.max, info.min) for v in (u, -u) if info.min <= v <= info.max and abs(v) < 2**52}:
        x = np.dtype(dtype).type(x)
        for n in (-20, -4, -3, -2, -1, 0, 2):
            if info.bits >= 32 and not info.min <= round(int(x), n) <= info.max:
                continue  # NumPy casts a float64 that does not fit, each machine in its way
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = np.round(x, n)
            assert f(x, n) == want and g(x, n) == want, (x, n)


def test_arrays_and_kernels():
    a = np.array(VALUES)
    for device in ("cpu", "null"):
        with td.device(device):
            out = cuda.to_device(np.zeros_like(a))

            @cuda.jit
            def k(a, out):
                i = cuda.grid(1)
                if i < a.size:
                    out[i] = round(a[i], -2)

            k[1, 32](cuda.to_device(a), out)
            assert out.copy_to_host().tolist() == [round(v, -2) for v in VALUES]
    assert njit(lambda a: np.round(a, -1))(a).tolist() == [round(v, -1) for v in VALUES]


def floats():
    rng = np.random.default_rng(3)
    yield from (2.675, 1.005, 0.125, 0.375, 2.5, 3.5, 1e300, 1e-300, 0.0, 5e-324, 150.0, 250.0, 1234567.5, 2.0**52 + 0.5, 1e22)
    yield from (k / 8 for k in range(40))
    yield from (k / 100 + 0.005 for k in range(300))
    yield from (rng.normal(size=300) * 10.0 ** rng.integers(-5, 12, 300)).tolist()


@pytest.mark.parametrize("n", (-22, -12, -5, -3, -2, -1, 0, 1, 2, 3, 6, 12, 15))
def test_python_floats_are_rounded_exactly(n):
    f = njit(lambda x, n: round(x, n))
    for x in floats():
        assert same(f(x, n), round(x, n)) and same(f(-x, n), round(-x, n)), (x, n)


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("n", (-3, -2, -1, 1, 2, 3))
def test_numpys_floats(dtype, n):
    f, g = njit(lambda x, n: round(x, n)), njit(lambda x: np.round(x, n))
    for x in floats():
        if abs(x) < 1e30:
            x = np.dtype(dtype).type(x)
            assert f(x, n) == round(x, n) and g(x) == np.round(x, n), (x, n)


def test_complex_numbers_round_part_by_part():
    rng = np.random.default_rng(seed := np.random.SeedSequence().entropy)
    for _ in range(40):
        x = rng.normal(size=(2, 30)) * 10.0 ** rng.integers(-3, 9, (2, 1))
        x = (x[0] + 1j * x[1]).astype(rng.choice(["c8", "c16"]))
        x[:2] = complex(np.inf, 1), complex(np.nan, -0.0)
        decimals = int(rng.integers(-3, 10))
        with np.errstate(all="ignore"):
            want = np.round(x, decimals)
        got = td.round(td.asarray(x, device="cpu"), decimals).get()
        np.testing.assert_array_equal(got.view(got.real.dtype), want.view(want.real.dtype), f"seed {seed}, {decimals}")
        assert got.dtype == want.dtype
