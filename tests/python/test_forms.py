"""Which form of evaluation computes which expression: each form's choice, on both sides of its boundary."""

import numpy as np
import pytest

import treadle as td
from treadle import _core

pytestmark = pytest.mark.recorded

ROWS, LONG = 300, 400


def softmax(xp, x):
    e = xp.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def centred(xp, x):
    return x - x.mean(0)


# An expression, and how many values each form computes for it.
CASES = {
    "elementwise work": (lambda xp, x: x * 2 + 1, {"map": 1}),
    "an input that lies across": (lambda xp, x: x.T + x.reshape(LONG, ROWS), {"map": 1}),
    "a reduction takes in what is below it": (lambda xp, x: (x * 2).sum(), {"reduction": 1}),
    "a reduction of a reduction": (lambda xp, x: (x.sum(1) * 2).sum(), {"reduction": 2}),
    "work on results is a kernel of its own": (lambda xp, x: x.sum(1) + 1, {"rows": 1}),
    "rows that are used again": (softmax, {"rows": 1}),
    "columns are no rows": (centred, {"reduction": 1, "map": 1}),
    "rows of one element are no rows": (lambda xp, x: x.reshape(-1, 1).sum(1) + 1, {"reduction": 1, "map": 1}),
}


def counts():
    return _core.jit_stats()["forms"]


@pytest.fixture
def data():
    return np.random.default_rng(5).random((ROWS, LONG))


@pytest.mark.parametrize("name", CASES)
def test_the_form(name, data):
    function, expected = CASES[name]
    x = td.asarray(data)
    before = counts()
    result = np.asarray(function(td, x))
    after = counts()
    np.testing.assert_allclose(result, function(np, data), rtol=1e-12, atol=1e-12)
    assert {k: n - before[k] for k, n in after.items() if n != before[k]} == expected


def test_hosted_values_are_computed_in_chunks(data):
    before = counts()["chunks"]
    np.testing.assert_array_equal(np.asarray(td.from_host(data) + 1), data + 1)
    assert counts()["chunks"] == before + 1


def test_every_form_is_listed_once():
    assert list(counts()) == ["return", "upload", "chunks", "two passes", "rows", "reduction", "map"]
