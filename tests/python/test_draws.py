"""Draws made of others: orders, choices and distributions, by their statistics and on every device."""

import math

import numpy as np
import pytest

import treadle as td

N = 20_000


def chi_square(counts, expected):
    """Below the limit that one in a million honest draws exceeds (Wilson and Hilferty's approximation)."""
    counts, expected = np.asarray(counts, "f8"), np.asarray(expected, "f8")
    assert expected.min() > 5, "too few draws for the test"
    k = len(counts) - 1
    x = ((counts - expected) ** 2 / expected).sum()
    assert x < k * (1 - 2 / (9 * k) + 4.75 * math.sqrt(2 / (9 * k))) ** 3, f"{x} with {k} degrees of freedom"


# name, parameters, inverse of the distribution function
DISTRIBUTIONS = [
    ("standard_exponential", (), lambda q: -np.log1p(-q)),
    ("exponential", (2.5,), lambda q: -2.5 * np.log1p(-q)),
    ("gumbel", (1.0, 2.0), lambda q: 1 - 2 * np.log(-np.log(q))),
    ("laplace", (1.0, 2.0), lambda q: 1 + 2 * np.where(q < 0.5, np.log(2 * q), -np.log(2 - 2 * q))),
    ("logistic", (1.0, 2.0), lambda q: 1 + 2 * np.log(q / (1 - q))),
    ("pareto", (3.0,), lambda q: (1 - q) ** (-1 / 3) - 1),
    ("rayleigh", (2.0,), lambda q: 2 * np.sqrt(-2 * np.log1p(-q))),
    ("standard_cauchy", (), lambda q: np.tan(np.pi * (q - 0.5))),
    ("weibull", (1.5,), lambda q: (-np.log1p(-q)) ** (1 / 1.5)),
    ("triangular", (-1.0, 0.0, 3.0), lambda q: np.where(q < 0.25, -1 + 2 * np.sqrt(q), 3 - np.sqrt(12 * (1 - q)))),
]


@pytest.mark.parametrize("name,parameters,inverse", DISTRIBUTIONS)
def test_distribution(name, parameters, inverse):
    x = getattr(td.random.default_rng(11), name)(*parameters, size=N).get()
    assert np.isfinite(x).all()
    edges = inverse(np.arange(1, 40) / 40)
    chi_square(np.bincount(np.searchsorted(edges, x), minlength=40), np.full(40, N / 40))


def test_lognormal():
    x = np.log(td.random.default_rng(4).lognormal(1.0, 0.5, N).get())
    assert abs(x.mean() - 1) < 0.02 and abs(x.std() - 0.5) < 0.02


@pytest.mark.parametrize("name,parameters", [(d[0], d[1]) for d in DISTRIBUTIONS] + [("lognormal", (0.0, 1.0))])
def test_on_all_devices(name, parameters, dev):
    ours = getattr(td.random.default_rng(3, device=dev), name)(*parameters, size=(3, 7))
    cpu = getattr(td.random.default_rng(3, device="cpu"), name)(*parameters, size=(3, 7))
    assert ours.device == dev and ours.shape == (3, 7)
    np.testing.assert_allclose(ours.get(), cpu.get(), rtol=1e-12, atol=1e-14)


ORDERS = [
    lambda g, d: g.permutation(57), lambda g, d: g.permutation(td.asarray(np.arange(12.0).reshape(4, 3), device=d), axis=1),
    lambda g, d: g.permuted(td.asarray(np.arange(40).reshape(4, 10), device=d), axis=1), lambda g, d: g.permuted(td.asarray(np.arange(9), device=d)),
    lambda g, d: g.choice(50, 20), lambda g, d: g.choice(50, (4, 5), replace=False), lambda g, d: g.choice(5, 30, p=[0.1, 0, 0.4, 0.3, 0.2]),
    lambda g, d: g.choice(5, 3, replace=False, p=[0.1, 0, 0.4, 0.3, 0.2]), lambda g, d: g.integers([1, 5, 9], [[10], [20]]),
    lambda g, d: g.choice(td.asarray(np.arange(12.0).reshape(3, 4), device=d), 5, axis=1),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(ORDERS)))
def test_orders_are_equal_on_all_devices(k, dev):
    ours = ORDERS[k](td.random.default_rng(8, device=dev), dev)
    cpu = ORDERS[k](td.random.default_rng(8, device="cpu"), "cpu")
    assert ours.device == dev and ours.get().tobytes() == cpu.get().tobytes()


def test_permutation_gives_every_order_as_often():
    g = td.random.default_rng(2)
    seen = {}
    for row in g.permuted(td.asarray(np.tile(np.arange(4), (12_000, 1))), axis=1).tolist():
        seen[tuple(row)] = seen.get(tuple(row), 0) + 1
    assert len(seen) == 24
    chi_square(list(seen.values()), np.full(24, 500))
    first = np.array([g.permutation(5).get() for _ in range(600)])
    for place in range(5):
        chi_square(np.bincount(first[:, place], minlength=5), np.full(5, 120))


def test_shuffle_keeps_the_elements(dev):
    g = td.random.default_rng(6)
    t, x, items = td.asarray(np.arange(20).reshape(10, 2)), np.arange(10), list(range(10))
    whole = td.arange(20)
    part, before = whole[::2], whole * 1
    g.shuffle(t), g.shuffle(x), g.shuffle(items), g.shuffle(part)
    rows = t.get()
    assert (np.sort(rows[:, 0]) == np.arange(0, 20, 2)).all() and (rows[:, 1] == rows[:, 0] + 1).all()
    assert (np.sort(x) == np.arange(10)).all() and sorted(items) == list(range(10))
    assert (whole.get()[1::2] == np.arange(1, 20, 2)).all() and (np.sort(whole.get()) == np.arange(20)).all()
    assert (before.get() == np.arange(20)).all() and not (rows[:, 0] == np.arange(0, 20, 2)).all()
    columns = td.asarray(np.arange(6).reshape(2, 3))
    g.shuffle(columns, axis=1)
    assert (columns.get()[1] - columns.get()[0] == 3).all()
    with pytest.raises(ValueError, match="read-only"):
        g.shuffle(td.broadcast_to(td.asarray(1), (4,)))


def test_choice():
    g = td.random.default_rng(9)
    chi_square(np.bincount(g.choice(10, N).get(), minlength=10), np.full(10, N / 10))
    p = np.array([0.5, 0.25, 0.125, 0.0, 0.125])
    counts = np.bincount(g.choice(5, N, p=p).get(), minlength=5)
    assert counts[3] == 0
    chi_square(counts[p > 0], N * p[p > 0])
    rows = np.array([g.choice(4, 2, replace=False).get() for _ in range(1200)])
    assert (rows[:, 0] != rows[:, 1]).all()
    chi_square(np.bincount(rows[:, 0] * 4 + rows[:, 1], minlength=16)[[1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14]], np.full(12, 100))
    p = np.array([0.6, 0.3, 0.1])
    pairs = np.array([g.choice(3, 2, replace=False, p=p).get() for _ in range(3000)])
    expected = {(i, j): p[i] * p[j] / (1 - p[i]) for i in range(3) for j in range(3) if i != j}
    chi_square([(pairs == k).all(1).sum() for k in expected], [3000 * v for v in expected.values()])
    a = td.asarray(np.arange(12.0).reshape(3, 4))
    assert g.choice(a, 5).shape == (5, 4) and g.choice(a, (2, 2), axis=1).shape == (3, 2, 2) and g.choice(7).shape == ()
    assert set(g.choice([5, 6], 50).tolist()) == {5, 6} and g.choice(0, 0).shape == (0,)


def test_integers_of_arrays():
    g = td.random.default_rng(1)
    low, high = td.asarray([0, -5, 100]), td.asarray([2, 5, 101])
    x = g.integers(low, high, (5000, 3)).get()
    for k, (lo, hi) in enumerate([(0, 2), (-5, 5), (100, 101)]):
        assert set(np.unique(x[:, k])) == set(range(lo, hi))
    chi_square(np.bincount(x[:, 1] + 5), np.full(10, 500))
    assert g.integers([1, 1], endpoint=True, dtype="uint8").dtype == "uint8" and g.integers(3, [4, 5]).shape == (2,)
    assert int(g.integers([7], 7, endpoint=True)[0]) == 7


def test_refusals():
    g = td.random.default_rng(0)
    for f in (
        lambda: g.choice(3, 4, replace=False), lambda: g.choice(0, 1), lambda: g.choice(3, 2, p=[0.5, 0.5]), lambda: g.choice(3, p=[0.5, 0.5, 0.5]),
        lambda: g.choice(2, p=[1.5, -0.5]), lambda: g.choice(3, 3, replace=False, p=[0.5, 0.5, 0]), lambda: g.exponential(-1), lambda: g.pareto(0),
        lambda: g.integers([3, 4], [3, 9]), lambda: g.integers([300], dtype="uint8"), lambda: g.triangular(2, 1, 3), lambda: g.choice(td.asarray(3.0)),
        lambda: g.permutation(td.zeros(3), axis=1), lambda: g.exponential(td.asarray([1.0, -1])),
    ):  # fmt: skip
        with pytest.raises((ValueError, np.exceptions.AxisError)):
            f()


def test_module_functions():
    td.random.seed(5)
    a = [td.random.permutation(9), td.random.choice(9, 4, replace=False), td.random.exponential(size=3), td.random.standard_exponential(2)]
    td.random.seed(5)
    b = [td.random.permutation(9), td.random.choice(9, 4, replace=False), td.random.exponential(size=3), td.random.standard_exponential(2)]
    for x, y in zip(a, b, strict=True):
        assert x.get().tobytes() == y.get().tobytes()
    x = td.arange(5)
    td.random.shuffle(x)
    assert sorted(x.tolist()) == list(range(5)) and set(td.random.random_integers(1, 3, 50).tolist()) == {1, 2, 3}
    with pytest.raises(AttributeError):
        td.random.nothing_of_that_name  # noqa: B018


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_draws_that_become_complex(dtype):
    """A kernel that stores complex numbers takes half as many lanes as one of draws alone."""
    a = td.random.default_rng(3).standard_normal(300_000, dtype="float32").astype(dtype)
    assert a.get().tolist() == td.random.default_rng(3).standard_normal(300_000, dtype="float32").get().tolist()
