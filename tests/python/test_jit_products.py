"""Matrix products of compiled functions beside NumPy's, arrays of lists, and the memory that parallel iterations take."""

import itertools
import resource

import numpy as np
import pytest

from treadle import njit, prange, stencil, vectorize

FLOATS = [np.float32, np.float64, np.complex64, np.complex128]


@njit
def product(a, b):
    return a @ b


@njit
def dot(a, b):
    return np.dot(a, b)


def drawn(shape, dtype):
    rng = np.random.default_rng(sum(shape) + len(shape))
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("m, k, n", [(3, 4, 5), (40, 50, 60), (1, 70, 90), (60, 1, 60), (50, 0, 50), (0, 60, 60), (90, 80, 1), (13, 200, 7)])
def test_products_are_numpys(dtype, m, k, n):
    near = 2e-4 if np.dtype(dtype).itemsize // (2 if np.dtype(dtype).kind == "c" else 1) == 4 else 1e-12
    cases = [((m, k), (k, n)), ((k,), (k, n)), ((m, k), (k,))]
    for (x, y), f in itertools.product(cases, (product, dot)):
        a, b = drawn(x, dtype), drawn(y, dtype)
        for p, q in ((a, b), (np.asfortranarray(a), b), (a[::-1], np.asfortranarray(b)), (np.repeat(a, 2, -1)[..., ::2], b)):
            got, wanted = f(p, q), p @ q
            assert got.dtype == wanted.dtype and got.shape == wanted.shape
            np.testing.assert_allclose(got, wanted, rtol=near, atol=near * 10)


def test_transposed_operands_and_parts_of_a_larger_array():
    a, b = drawn((80, 80), np.float64), drawn((80, 80), np.float64)
    f = njit(lambda a, b: (a.T @ b.T)[10:20] @ a[:, 5:75:3])
    np.testing.assert_allclose(f(a, b), (a.T @ b.T)[10:20] @ a[:, 5:75:3], rtol=1e-11)


def test_operands_that_cannot_be_written_to():
    a, b = drawn((60, 50), np.float64), drawn((50, 40), np.float64)
    wanted = a @ b
    a.flags.writeable = b.flags.writeable = False
    np.testing.assert_allclose(product(a, b), wanted, rtol=1e-12, atol=1e-12)
    row = np.broadcast_to(b[:, :1], b.shape)
    np.testing.assert_allclose(product(a, row), a @ row, rtol=1e-12, atol=1e-12)


def test_sizes_that_do_not_fit():
    for x, y in (((30, 40), (30, 40)), ((40,), (30, 40)), ((30, 40), (30,))):
        with pytest.raises(ValueError, match="matrix product"):
            product(np.ones(x), np.ones(y))


def test_products_in_parallel_iterations():
    @njit(parallel=True)
    def many(a, b):
        out = np.empty((a.shape[0], a.shape[1], b.shape[2]))
        for i in prange(a.shape[0]):
            out[i] = a[i] @ b[i]
        return out

    a, b = drawn((40, 30, 20), np.float64), drawn((40, 20, 25), np.float64)
    np.testing.assert_allclose(many(a, b), a @ b, rtol=1e-12, atol=1e-12)


@njit(parallel=True)
def of_parts(x, size):
    s = 0.0
    for i in prange(x.size):
        d = np.full(size, x[i])
        for k in range(3):
            e = d * 2.0 + k
            d = e - d
        s += d.sum()
    return s


@njit(parallel=True)
def without_a_sum(x, size, out):
    for i in prange(x.size):
        if x[i] < 0:
            raise ValueError("negative")
        d = np.full(size, x[i])
        out[i] = (d + 1.0).max()


def test_what_parallel_iterations_take_is_released():
    """Each iteration takes 4 KB several times, a thousand times the memory that is left at the end."""
    x = np.arange(200000.0)
    assert of_parts(x[:10], 7) == sum((v + 3) * 7 for v in x[:10])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert of_parts(x, 500) == pytest.approx(500 * (x + 3).sum(), rel=1e-12)
    out = np.empty(x.size)
    without_a_sum(x, 500, out)
    np.testing.assert_array_equal(out, x + 1)
    with pytest.raises(ValueError, match="negative"):
        without_a_sum(np.where(x == 777, -1, x), 500, out)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KB


# ---- arguments that cannot be written to ----


def rows_in_turn(a):
    s = np.zeros(3)
    for k in range(a.shape[1]):
        part = a[:, k]
        for i in range(3):
            s[i] += part[i]
    return s


def writes_through_a_variable(a):
    for k in range(a.shape[1]):
        part = a[:, k]
        part[0] = k
    return 0


def writes_to_one_of_two(a):
    b = np.zeros(4)
    for k in range(2):
        part = a[0] if k else b
        part[0] = 7.0
    return b[0]


def test_parts_of_arguments_in_variables():
    """Only a store makes an argument one that is written to, whatever variable it goes through."""
    a = drawn((3, 4), np.float64)
    a.flags.writeable = False
    np.testing.assert_allclose(njit(rows_in_turn)(a), a.sum(1))
    for f in (writes_through_a_variable, writes_to_one_of_two):
        with pytest.raises((TypeError, ValueError), match="read-only"):
            njit(f)(a)
        b = a.copy()
        c = a.copy()
        assert njit(f)(b) == f(c)
        np.testing.assert_array_equal(b, c)


# ---- arrays of lists ----


def table(n):
    return np.array([[i * 10.0 + j for j in range(n)] for i in range(n + 1)])


def of_pairs(n):
    x = []
    for i in range(n):
        x.append((i, 2 * i))
    return np.array(x)


def of_complex(n):
    return np.array([1j * i for i in range(n)])


def summed(n):
    return np.sum(np.array([[1, 2], [3, n]])), np.asarray([[1, 2.5], [n, 4]])[0, 1]


@pytest.mark.parametrize("f", [table, of_pairs, of_complex, summed])
def test_arrays_of_lists(f):
    got, wanted = njit(f)(3), f(3)
    np.testing.assert_array_equal(got, wanted)
    assert isinstance(wanted, tuple) or got.dtype == wanted.dtype


def test_lists_of_different_lengths():
    def ragged(n):
        x = [[1, 2]]
        for i in range(n):
            x.append([i])
        return np.array(x)

    with pytest.raises(ValueError, match="different lengths"):
        njit(ragged)(2)
    with pytest.raises(ValueError, match="inhomogeneous"):
        ragged(2)


# ---- ufuncs and stencils that write to out=, compilations that are called ----


@stencil
def wave(p, c, r):
    return 2 * c[0, 0] - p[0, 0] + r * (c[-1, 0] + c[1, 0])


@vectorize
def line(a, b):
    return a * b + 1


def test_results_go_to_out():
    @njit
    def f(a, b, o, p):
        wave(a, b, 0.5, out=o)
        line(a, b, out=p)

    a, b = drawn((5, 6), np.float64), drawn((5, 6), np.float64)
    o, p = np.zeros((2, 5, 6))
    f(a, b, o, p)
    np.testing.assert_array_equal(o, wave(a, b, 0.5))
    np.testing.assert_array_equal(p, a * b + 1)


def test_a_compilation_is_called():
    assert njit(lambda x: x + 1).compile("float64(float64)")(2.0) == 3.0
