"""Which form of evaluation computes which expression: each form's choice, on both sides of its boundary."""

import itertools

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
    "a sum of 16 rows": (lambda xp, x: x[:16].sum(0), {"map": 1}),
    "a sum of 17 rows": (lambda xp, x: x[:17].sum(0), {"reduction": 1}),
    "a mean of few rows, and work on it": (lambda xp, x: xp.sqrt(x[:7].mean(0)) + 1, {"map": 1}),
    "short rows below a reduction": (lambda xp, x: x.reshape(ROWS, -1, 4).sum(2).max(1), {"reduction": 1}),
    "squares of pixels": (lambda xp, x: x.reshape(ROWS // 2, 2, LONG // 2, 2).max((1, 3)).sum(0), {"reduction": 1}),
    "few values for many readers": (lambda xp, x: x - xp.exp(x[:3].max(0)), {"map": 2}),
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


SHORT = {
    "the first axis": ((5, 12), 0), "two axes": ((2, 3, 2, 7), (0, 2)), "the last axis": ((9, 3), -1), "both ends": ((2, 6, 3), (0, 2)),
}  # fmt: skip
SOURCES = {
    "memory": lambda xp, a: a,
    "an expression": lambda xp, a: xp.where(a > 1, a * a, a + a[..., :1]),
    "counting": lambda xp, a: a * xp.arange(a.shape[-1]),
    "across": lambda xp, a: a.transpose(*range(a.ndim)[::-1]).transpose(*range(a.ndim)[::-1]) * 2,
}


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("shape", SHORT)
@pytest.mark.parametrize("source", SOURCES)
def test_few_elements(source, shape, dtype, dev):
    """Reductions of few elements: types, shapes and values, inside of another reduction, too."""
    (extent, axis), kinds = SHORT[shape], {"b": [0, 1], "c": [0, 1, -2, np.nan, 1j, -0.0], "f": [0, 1, -2, np.nan, 3, -0.0]}
    rng = np.random.default_rng(extent[0])
    a = rng.choice(kinds.get(np.dtype(dtype).kind, [0, 1, 2, 3]), extent).astype(dtype)
    x = td.asarray(a, device=dev)
    near = {"rtol": 2e-3 if dtype == "float16" else 1e-6}
    for name, keepdims in itertools.product(["sum", "prod", "min", "max", "any", "all", "mean", "count_nonzero"], (False, True)):
        want = getattr(np, name)(SOURCES[source](np, a), axis=axis, keepdims=keepdims)
        got, inner = (getattr(td, name)(SOURCES[source](td, x), axis=axis, keepdims=keepdims) for _ in range(2))
        assert (got.dtype, got.shape) == (want.dtype, want.shape), name
        np.testing.assert_allclose(got.get(), want, **near, err_msg=name)
        np.testing.assert_allclose(inner.max().get(), want.max(), **near, err_msg=name)
        if want.dtype.kind == "f" and name not in ("min", "max"):  # of two zeros NumPy takes either
            zero = want == 0
            np.testing.assert_array_equal(np.signbit(got.get())[zero], np.signbit(want)[zero], name)


HEAT = "(x + {r}(x, 1, 0) + {r}(x, -1, 0) + {r}(x, 1, 1) + {r}(x, -2, (0, 1))) / 5"


@pytest.mark.parametrize("text", [HEAT.format(r="np.roll"), "np.cross(x[:3].T, x[3:6].T)", "np.stack([x, x + 1], -1)", "np.roll(x[::-2, ::3], 5) + 1"])
def test_kernels_that_move_elements(text, data, dev):
    """On a GPU rolls, interleaved arrays and cross products are part of the kernel that reads them."""
    x = td.asarray(data, device=dev)
    before = _core.jit_stats()["launches"]
    got = eval(text, {"np": td, "x": x})
    td.evaluate(got)
    launches = _core.jit_stats()["launches"] - before
    np.testing.assert_allclose(got.get(), eval(text, {"np": np, "x": data}), rtol=1e-15)
    assert x.device.host or launches <= 1 + ("stack" in text) + 2 * ("::" in text)


def test_hosted_values_are_computed_in_chunks(data):
    before = counts()["chunks"]
    np.testing.assert_array_equal(np.asarray(td.from_host(data) + 1), data + 1)
    assert counts()["chunks"] == before + 1


def test_every_form_is_listed_once():
    names = ["return", "upload", "chunks", "slices", "rounds", "two passes", "rows", "reduction", "map"]
    assert list(counts()) == names
