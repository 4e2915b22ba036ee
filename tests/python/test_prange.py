"""Loops over prange: what fails in a turn reaches the caller, and what follows the loop is not run."""

import numpy as np
import pytest

from treadle import njit, prange


@njit(parallel=True)
def inverses(a, out):
    for i in prange(out.size):
        out[i] = 1 / a[i]
    out[0] = 7


@njit(parallel=True)
def refusing(a, out):
    for i in prange(out.size):
        if a[i] < 0:
            raise ValueError("negative")
        out[i] = a[i] + 1
    out[0] = 7


@njit(parallel=True)
def asserting(a, out):
    largest = 0.0
    for i in prange(out.size):
        assert a[i] >= 0, "negative"
        largest = max(largest, a[i])
        out[i] = a[i] + 1
    return largest


def checked(a):
    assert a >= 0, "negative"
    return a + 1


@njit(parallel=True)
def calling(a, out):
    for i in prange(out.size):
        out[i] = checked(a[i])


SIZES = (1, 7, 10_000)  # one turn, one piece, several


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("function", "bad", "error"), [
    (inverses, 0, ZeroDivisionError), (refusing, -1, ValueError), (asserting, -1, AssertionError),
    (calling, -1, AssertionError)])  # fmt: skip
def test_a_turn_that_fails_raises(function, bad, error, n):
    a, out = np.full(n, 4.0), np.zeros(n)
    function(a, out)
    a[n // 2], out[:] = bad, 0
    with pytest.raises(error):
        function(a, out)
    assert out[n // 2] == 0, "the turn goes on after it has failed"
    assert 7 not in out, "the function goes on after a turn has failed"
    a[n // 2] = 4
    function(a, out)  # and works again


def test_values_without_failure():
    a, out = np.arange(10_000.0) + 1, np.zeros(10_000)
    inverses(a, out)
    assert out[0] == 7 and np.array_equal(out[1:], 1 / a[1:])
    assert asserting(a, out) == 10_000 and np.array_equal(out, a + 1)


def test_prange_is_range_on_the_host():
    assert list(prange(2, 9, 3)) == [2, 5, 8]
