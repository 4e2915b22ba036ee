"""Matrix products on a CPU: cut into tiles for the pool's threads, long sums into parts, symmetric ones mirrored."""

import itertools

import numpy as np
import pytest

import treadle as td
from treadle import _core

SIZES = [
    (1, 1, 1), (1, 7, 1), (1, 300, 500), (500, 300, 1), (3, 5, 2), (17, 33, 29), (64, 64, 64), (200, 150, 333),
    (5, 9000, 7), (32, 70001, 20), (300, 20000, 3), (128, 4096, 128), (513, 257, 129), (1, 100000, 3), (2, 4096, 2),
]  # fmt: skip


def drawn(rng, dtype, shape):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def within_rounding(got, a, b):
    """No further from the product in twice the precision than sums of that length may be."""
    wide = np.result_type(a.dtype, np.float64 if a.dtype.char in "fF" else np.longdouble)
    exact = a.astype(wide) @ b.astype(wide)
    size = np.abs(a).astype(wide).real @ np.abs(b).astype(wide).real
    eps = np.finfo(a.dtype).eps
    bound = (4 + 2 * np.sqrt(a.shape[-1])) * eps * size
    assert got.dtype == a.dtype and got.shape == exact.shape
    assert (np.abs(got - exact) <= bound).all()


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_against_more_digits(dtype):
    rng = np.random.default_rng(seed := np.random.SeedSequence().entropy)
    print("seed", seed)
    with td.device("cpu"):
        for m, k, n in SIZES:
            for ta, tb, batch in itertools.product((0, 1), (0, 1), ((), (3,), (2, 20))):
                if batch and m * k * n > 1e5 or dtype in ("f8", "c16") and m * k * n > 2e5:
                    continue  # long doubles have no library
                a = drawn(rng, dtype, (*batch, k, m) if ta else (*batch, m, k))
                b = drawn(rng, dtype, (*batch, n, k) if tb else (*batch, k, n))
                x, y = td.asarray(a), td.asarray(b)
                if ta:
                    x, a = x.swapaxes(-1, -2), a.swapaxes(-1, -2)
                if tb:
                    y, b = y.swapaxes(-1, -2), b.swapaxes(-1, -2)
                within_rounding((x @ y).get(), a, b)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_many_small_matrices(dtype):
    """Every few extents up to those that a library takes, each operand as it lies, transposed, as part of another, and one
    for all."""
    rng = np.random.default_rng(seed := np.random.SeedSequence().entropy)
    print("seed", seed)
    sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33]
    with td.device("cpu"):
        for _ in range(250):
            m, k, n = rng.choice(sizes, 3)
            batch = int(rng.choice([2, 3, 50]))
            host, ours = [], []
            for rows, columns in ((m, k), (k, n)):
                x = drawn(rng, dtype, (batch, 40, 40))
                both = [x, td.asarray(x)]
                if rng.random() < 0.4:
                    both = [y.swapaxes(1, 2) for y in both]
                both = [y[:, 3 : 3 + rows, 5 : 5 + columns] for y in both]
                if rng.random() < 0.4:
                    both = [y.copy() for y in both]
                if rng.random() < 0.15:
                    both = [y[:1] for y in both]
                host.append(both[0])
                ours.append(both[1])
            within_rounding((ours[0] @ ours[1]).get(), *host)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_matrix_times_its_transpose(dtype):
    rng = np.random.default_rng(5)
    with td.device("cpu"):
        for m, k in ((100, 9), (256, 10), (300, 77), (1000, 33), (2049, 5)):
            a = drawn(rng, dtype, (m, k))
            x, t = td.asarray(a), td.asarray(np.ascontiguousarray(a.T))
            for r in ((x @ x.T).get(), (t.T @ t).get()):
                within_rounding(r, a, a.T)
                assert np.array_equal(r, r.T)
        wide = td.asarray(drawn(rng, dtype, (300, 400)))
        part = wide[:, 50:90]  # rows that lie apart
        within_rounding((part @ part.T).get(), part.get(), part.get().T)


def test_views_and_infinities():
    rng = np.random.default_rng(6)
    a, b = drawn(rng, "f4", (40, 60)), drawn(rng, "f4", (60, 50))
    a[3, 4], b[7, 8] = np.inf, np.nan
    with td.device("cpu"):
        x, y = td.asarray(a), td.asarray(b)
        for s in (np.s_[:, :], np.s_[::2, :], np.s_[::-1, :], np.s_[5:6, :], np.s_[:0, :]):
            np.testing.assert_allclose((x[s] @ y).get(), a[s] @ b, rtol=2e-5, atol=1e-5)
            np.testing.assert_allclose((x[s] @ y[:, 3]).get(), a[s] @ b[:, 3], rtol=2e-5, atol=1e-5)
    assert (td.zeros((3, 0), device="cpu") @ td.zeros((0, 4), device="cpu")).get().tolist() == [[0.0] * 4] * 3


def test_the_same_bits_each_time():
    rng = np.random.default_rng(1)
    with td.device("cpu"):
        for m, k, n in ((7, 20000, 9), (256, 256, 256), (1000, 37, 500), (32, 288, 3000), (1, 512, 700)):
            a, b = (td.asarray(drawn(rng, "f4", s)) for s in ((m, k), (k, n)))
            assert len({(a @ b).get().tobytes() for _ in range(5)}) == 1


def test_numpys_own_products_keep_their_threads():
    """The library is told to use one thread during a product, and told its number again."""
    import ctypes
    import pathlib

    found = list(pathlib.Path(np.__file__).parent.parent.glob("numpy.libs/libscipy_openblas*"))
    if not found:
        pytest.skip("NumPy brings no OpenBLAS here")
    lib = ctypes.CDLL(str(found[0]))
    threads = getattr(lib, "scipy_openblas_get_num_threads64_", None) or lib.scipy_openblas_get_num_threads
    before = threads()
    with td.device("cpu"):
        x = td.ones((300, 300), dtype="f4")
        _core._matmul(x, x)
    assert threads() == before
