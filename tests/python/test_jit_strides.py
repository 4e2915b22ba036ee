"""Slices whose step only the running program knows, positions where a condition holds, and which loop a ufunc takes."""

import itertools
import random

import numpy as np
import pytest
from conftest import DEVICES

import treadle as td
from treadle import cuda, njit, vectorize


@njit
def taken(a, i, j, k):
    return a[i:j:k].copy()


@njit
def stored(a, i, j, k):
    a[i:j:k] = 7.0


@njit
def open_ends(a, k):
    return a[::k].copy(), a[::-k].sum(), a[1::k].size, a[:3:k].copy()


@njit
def twice(m, i, k, n):
    return m[i:, ::k][::n].copy(), m[::n, i].sum()


@njit
def primes(n):
    p = np.ones(n + 1, np.bool_)
    p[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if p[i]:
            p[i * i :: i] = False
    return np.nonzero(p)[0]


def test_steps():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    draw = random.Random(seed)
    for _ in range(400):
        a = np.arange(float(draw.randrange(9)))
        i, j, k = draw.randrange(-12, 12), draw.randrange(-12, 12), draw.choice([-5, -3, -2, -1, 1, 2, 3, 9])
        assert taken(a, i, j, k).tolist() == a[i:j:k].tolist(), (a, i, j, k)
        ours, theirs = a.copy(), a.copy()
        stored(ours, i, j, k)
        theirs[i:j:k] = 7
        assert ours.tolist() == theirs.tolist(), (a, i, j, k)
        got = open_ends(a, k)
        assert [got[0].tolist(), got[1], got[2], got[3].tolist()] == [
            a[::k].tolist(), a[::-k].sum(), a[1::k].size, a[:3:k].tolist(),
        ]  # fmt: skip
        m, n = np.arange(30.0).reshape(5, 6), draw.choice([-3, -1, 1, 2])
        part, total = twice(m, i % 5, k, n)
        assert part.tolist() == m[i % 5 :, ::k][::n].tolist() and total == m[::n, i % 5].sum()


def test_a_sieve():
    p = primes(1000)
    assert p.tolist() == [n for n in range(2, 1001) if all(n % d for d in range(2, int(n**0.5) + 1))]


def test_a_step_of_0():
    for f in (taken, stored):
        with pytest.raises(ValueError, match="slice step cannot be zero"):
            f(np.arange(3.0), 0, 3, 0)


def test_a_step_that_is_no_integer():
    with pytest.raises(TypeError, match="a slice is of integers and None, not float"):
        njit(lambda a, k: a[::k].sum())(np.arange(3.0), 1.5)


@pytest.mark.parametrize("device", DEVICES)
def test_a_kernels_step(device):
    @cuda.jit
    def spread(a, k, out):
        part = a[::k]
        i = cuda.grid(1)
        if i < part.size:
            out[i] = part[i]

    with td.device(device):
        for k in (1, 2, 3, -2):
            out = td.zeros(10, device=device)
            spread[1, 32](td.arange(10.0, device=device), k, out)
            want = np.arange(10.0)[::k]
            assert out.get()[: len(want)].tolist() == want.tolist()


def test_positions():
    @njit
    def where(a):
        return np.where(a > 0.5), np.where(a > 0.5)[0][:2].copy(), np.where(a)[0].size

    a = np.random.default_rng().random(20)
    both, first, count = where(a)
    assert both[0].tolist() == np.where(a > 0.5)[0].tolist() and count == np.count_nonzero(a)
    assert first.tolist() == np.where(a > 0.5)[0][:2].tolist()


# dtypes of the results that NumPy's rule gives for loops in this order: the first that both operands go into safely
OPERANDS = {"i4": np.int32(2), "i8": np.arange(2), "f4": np.ones(2, "f4"), "i1": np.ones(2, "i1"), "b": np.ones(2, bool),
            "int": 3, "float": 2.5}  # fmt: skip
ORDERS = {
    "f8 i8": "ddddddd ddddddd ddddddd ddddddd ddddddd ddddddd ddddddd",
    "f8 f4": "ddddddd ddddddd ddddddd ddddddd ddddddd ddddddd ddddddd",
    "f4 f8": "ddddddd ddddddd ddfffff ddffffd ddfffdd ddffddd ddfdddd",
    "i4 i8": "il-iii- ll-lll- ------- il-iii- il-iil- il-ill- -------",
    "f4": "------- ------- --fffff --ffff- --fff-- --ff--- --f----",
}


@pytest.mark.parametrize("order", ORDERS)
def test_loops_in_order(order):
    names = {"f8": "float64", "f4": "float32", "i8": "int64", "i4": "int32"}
    f = vectorize([f"{names[t]}({names[t]}, {names[t]})" for t in order.split()])(lambda x, y: x + y)
    found = ""
    for a, b in itertools.product(OPERANDS, OPERANDS):
        try:
            found += f(OPERANDS[a], OPERANDS[b]).dtype.char
        except TypeError:
            found += "-"
    assert found == ORDERS[order].replace(" ", "")


OUTSIDE = {
    "F": np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
    "moved": np.moveaxis(np.arange(24.0).reshape(3, 4, 2), -1, 0),
    "cut": np.arange(192.0).reshape(4, 6, 8)[::2, ::2, ::2],
    "backwards": np.arange(24.0).reshape(2, 3, 4)[:, ::-1],
    "broadcast": np.broadcast_to(np.arange(4.0), (2, 3, 4)),
}


@pytest.mark.parametrize("order", OUTSIDE)
@pytest.mark.parametrize("device", DEVICES)
def test_arrays_from_outside_have_any_order(device, order):
    outside = OUTSIDE[order]
    flat = outside[1].T

    @cuda.jit
    def k(out):
        i = cuda.grid(1)
        if i < outside.size:
            out[i] = outside[i // 12, i // 4 % 3, i % 4] + 100 * flat[i % 4, i // 4 % 3]

    out = td.zeros(24, device=device)
    k[1, 32](out)
    want = (outside + 100 * outside[1]).ravel()
    assert out.get().tolist() == want.tolist()


@pytest.mark.parametrize("order", OUTSIDE)
def test_a_function_reads_such_an_array(order):
    outside = OUTSIDE[order]

    @njit
    def f(i):
        return outside[i].sum(), outside[i, 1, 2], outside[:, i, 0].copy(), (outside * 2).sum(axis=0)

    for got, want in zip(f(1), f.py_func(1)):
        np.testing.assert_array_equal(got, want)


def test_a_function_returns_such_an_array():
    def made(outside):
        return njit(lambda i: (outside, outside[:, i], outside[0].copy()))

    for outside in OUTSIDE.values():
        f = made(outside)
        whole, part, own = f(1)
        del f  # what it returned lives on
        for got, want in ((whole, outside), (part, outside[:, 1]), (own, outside[0])):
            np.testing.assert_array_equal(got, want)
        assert not whole.flags.writeable and own.flags.writeable


def test_a_function_returns_any_part_of_its_argument():
    @njit
    def f(a, i):
        return a[i], a[::-1], a[0, ::-1], a[:, i]

    a = np.arange(24.0).reshape(4, 6)
    for x in (a, a[::-1], a[:, ::-1], a[::-2, ::-1], a[::2, 1:], a.T):
        for got, want in zip(f(x, 1), f.py_func(x, 1)):
            np.testing.assert_array_equal(got, want)
            assert np.shares_memory(got, a)


def test_flat_of_a_vector_is_the_vector():
    @njit
    def fill(a):
        for i in range(a.size):
            a.flat[i] += i
        first = a.flat
        first[0] = 9
        return sum([x + 1 for x in a.flat])

    a, b = np.arange(12.0), np.arange(12.0)
    assert fill(a[::-3]) == fill.py_func(b[::-3])
    np.testing.assert_array_equal(a, b)
