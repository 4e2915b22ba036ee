"""Ufuncs and generalised ufuncs made here, where NumPy has rules: division by zero, byte order, axes."""

import numpy as np
import pytest

from treadle import guvectorize, vectorize


def test_division_by_zero_gives_infinity_and_nan():
    """Numba's ufuncs follow NumPy's error model; with error_model="python" they raise."""

    def f(a, b):
        return a / b

    a = np.array([1.0, -1.0, 0.0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(vectorize(f)(a, 0.0), a / 0.0)
        np.testing.assert_array_equal(vectorize(["float64(int64, int64)"])(f)(np.array([1, -1, 0]), 0), a / 0.0)
    with pytest.raises(ZeroDivisionError):
        vectorize(error_model="python")(f)(a, 0.0)

    @guvectorize(["(float64[:], float64[:], float64[:])"], "(n),(n)->(n)")
    def g(a, b, out):
        for i in range(a.size):
            out[i] = a[i] / b[i]

    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(g(a, np.zeros(3)), a / 0.0)


@guvectorize(["(float32[:], float32[:])", "(float64[:], float64[:])"], "(n)->()")
def total(a, out):
    out[0] = a.sum()


@guvectorize(["(float64[:], float64[:])"], "(n)->(n)")
def running(a, out):
    t = 0.0
    for i in range(a.size):
        t += a[i]
        out[i] = t


@guvectorize(["(float64[:, :], float64[:], float64[:])"], "(m,n),(n)->(m)")
def product(a, b, out):
    for i in range(a.shape[0]):
        out[i] = (a[i] * b).sum()


def test_a_foreign_byte_order_has_the_row_of_its_dtype():
    assert total(np.array([1, 2], ">f4")).dtype == np.float32


@guvectorize(["(float32[:], int32, float32[:])", "(float64[:], int64, float64[:])"], "(n),()->()")
def mean(a, less, out):
    out[0] = a.sum() / (a.size - less)


@pytest.mark.parametrize("of", [np.float32, np.float64, ">f4"])
def test_a_number_of_pythons_takes_the_dtype_of_the_row(of):
    a = np.array([1, 2, 3], of)
    got = mean(a, 1)
    assert got == 3 and got.dtype == a.dtype.newbyteorder("=") == mean(a, 1, axes=[0, (), ()]).dtype
    assert mean(a, np.int64(1)).dtype == np.float64
    assert mean(a, 2**40).dtype == np.float64


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_generalised_ufuncs_along_an_axis(axis):
    x = np.random.default_rng(axis + 9).normal(size=(3, 4, 5))
    for keep in (False, True):
        np.testing.assert_allclose(total(x, axis=axis, keepdims=keep), x.sum(axis, keepdims=keep))
    np.testing.assert_allclose(running(x, axis=axis), x.cumsum(axis))
    out, least = np.empty_like(x), np.empty_like(x.sum(axis))
    assert running(x, axis=axis, out=out) is out and total(x, least, axis=axis) is least
    np.testing.assert_allclose(out, x.cumsum(axis))
    np.testing.assert_allclose(least, x.sum(axis))
    np.testing.assert_allclose(total(x, axes=[axis]), x.sum(axis))


def test_axes_of_each_operand():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(4, 2, 3)), rng.normal(size=(3, 2))
    np.testing.assert_allclose(product(a, b, axes=[(0, 2), 0, 0]), np.einsum("mkn,nk->mk", a, b))
    with pytest.raises(TypeError, match="axis is for one axis that all share"):
        product(a, b, axis=0)
    with pytest.raises(TypeError, match="both given"):
        total(a, axis=0, axes=[0])
    with pytest.raises(ValueError, match="does not name the axes"):
        total(a, axes=[(0, 1)])
    with pytest.raises(TypeError, match="keepdims"):
        running(a, keepdims=True)
    with pytest.raises(ValueError, match="axis 7"):
        total(a, axis=7)
