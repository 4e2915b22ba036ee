"""Special functions: accuracy against Python's math, behaviour at the ends, and the sums along axes."""

import math

import numpy as np
import pytest
from numpy_side import EachOf

import treadle as td

EACH = EachOf()
# Function of Python's math, range, and units in the last place that are allowed. Python's lgamma is a formula of its
# own, off by more than libm's.
RANGES = [
    ("erf", -7, 7, 2), ("erf", -1e-3, 1e-3, 2), ("erfc", -6, 6, 4), ("erfc", 5, 9, 4), ("erfc", 9, 26, 4),
    ("gamma", 0.05, 30, 10), ("gamma", -9.9, -0.1, 12), ("lgamma", 2.5, 300, 16), ("lgamma", 1e-300, 0.5, 16),
]  # fmt: skip


def ulps(got, exact):
    """How far got is from float64's value, in units of its own dtype's last place."""
    r = exact.astype(got.dtype)
    unit = np.spacing(np.maximum(np.abs(r), np.finfo(got.dtype).tiny)).astype("f8")
    with np.errstate(invalid="ignore"):
        away = np.abs(got.astype("f8") - exact) / unit
    return np.where((got == r) | (np.isnan(got) & np.isnan(r)), 0, away)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name,low,high,allowed", RANGES)
def test_accuracy(name, low, high, allowed, dtype, rng):
    x = (rng.random(20_000) * (high - low) + low).astype(dtype)
    with np.errstate(over="ignore", under="ignore"):
        off = ulps(getattr(td, name)(td.asarray(x)).get(), getattr(EACH, name)(x.astype("f8")))
    assert off.max() <= allowed, (off.max(), x[off.argmax()])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_factorials(dtype):
    n = np.arange(3, 2000)
    exact = np.array([math.log(math.factorial(k)) for k in n.tolist()])
    assert ulps(td.lgamma(td.asarray(n + 1.0, dtype)).get(), exact).max() <= 2
    n = np.arange(3, 30)
    exact = np.array([float(math.factorial(k)) for k in n.tolist()])
    assert ulps(td.gamma(td.asarray(n + 1.0, dtype)).get(), exact).max() <= 5


INF, NAN = math.inf, math.nan
ENDS = {
    "erf": ([0.0, -0.0, INF, -INF, NAN], [0.0, -0.0, 1, -1, NAN]),
    "erfc": ([0.0, INF, -INF, NAN, 30], [1, 0, 2, NAN, 0]),
    "gamma": ([0.0, -0.0, INF, -INF, NAN, -3, 1, 200], [INF, -INF, INF, NAN, NAN, NAN, 1, INF]),
    "lgamma": ([0.0, -4, INF, -INF, NAN, 1, 2], [INF, INF, INF, INF, NAN, 0, 0]),
    "relu": ([0.0, -1, INF, -INF, NAN, 3], [0, 0, INF, 0, NAN, 3]),
    "sigmoid": ([0.0, 1e4, -1e4, INF, -INF, NAN], [0.5, 1, 0, 1, 0, NAN]),
    "log1mexp": ([0.0, -0.0, INF, -INF, NAN, 2.0**-14], [-INF, -INF, -0.0, -0.0, NAN, math.log(-math.expm1(-(2.0**-14)))]),
    "softplus": ([0.0, 1e4, -1e4, INF, -INF, NAN], [math.log(2), 1e4, 0, INF, 0, NAN]),
    "silu": ([0.0, 1e4, -1e4, INF, NAN], [0, 1e4, 0, INF, NAN]),
    "gelu": ([0.0, 1e4, -1e4, INF, NAN], [0, 1e4, 0, INF, NAN]),
    "logit": ([0, 1, 0.5, -1, 2, NAN], [-INF, INF, 0, NAN, NAN, NAN]),
    "rsqrt": ([0.0, -0.0, INF, -1, 4, NAN], [INF, -INF, 0, NAN, 0.5, NAN]),
}


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_ends(name, dtype, dev):
    x, y = (np.array(v, dtype) for v in ENDS[name])
    got = getattr(td, name)(td.asarray(x)).get()
    np.testing.assert_allclose(got, y, rtol=np.finfo(dtype).eps * 2, err_msg=name)
    zero = y == 0
    assert (np.signbit(got[zero]) == np.signbit(y[zero])).all() or name in ("silu", "gelu", "rsqrt")


def test_xlogy():
    x, y = np.array([0, 0, 0, 2, INF]), np.array([0, NAN, INF, 0, 1])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(td.xlogy(td.asarray(x), td.asarray(y)).get(), [0, NAN, 0, -INF, NAN])
    np.testing.assert_array_equal(td.special.xlog1py(td.asarray([0.0, 0, 2]), td.asarray([-1, NAN, 0])).get(), [0, NAN, 0])


def test_tails():
    """Where the plain formula would give 0, 1 or nothing."""
    x = td.asarray([-700.0, -40, 40, 700])
    np.testing.assert_allclose(td.sigmoid(x).get()[:2], [math.exp(-700), math.exp(-40)], rtol=1e-14)
    np.testing.assert_allclose(td.softplus(x).get(), [math.exp(-700), math.exp(-40), 40, 700], rtol=1e-14)
    np.testing.assert_allclose(td.special.log_expit(x).get(), [-700, -40, -math.exp(-40), -math.exp(-700)], rtol=1e-14)
    near = 0.5 + np.array([1e-12, -3e-9, 0.01])
    exact = [math.log1p((2 * p - 1) / (1 - p)) for p in near]
    np.testing.assert_allclose(td.logit(td.asarray(near)).get(), exact, rtol=1e-13)
    assert float(td.gelu(td.asarray(-10.0))) == pytest.approx(-10 * math.erfc(10 / math.sqrt(2)) / 2, rel=1e-13)


def test_normal_distribution():
    x = np.array([-30.0, -8, -5.000001, -4.999999, -1, 0, 2, 9])
    exact = np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in x])
    # rounding x / sqrt(2) moves the result by x * x roundings
    np.testing.assert_allclose(td.special.ndtr(td.asarray(x)).get(), exact, rtol=4e-13)
    log = np.array([math.log(p) if v < 1 else math.log1p(-math.erfc(v / math.sqrt(2)) / 2) for v, p in zip(x, exact, strict=True)])
    np.testing.assert_allclose(td.special.log_ndtr(td.asarray(x)).get(), log, rtol=1e-12)
    far = float(td.special.log_ndtr(td.asarray(-1e3)))
    assert far == pytest.approx(-5e5 - math.log(1e3) - 0.5 * math.log(2 * math.pi), rel=1e-9)


def test_entropy():
    np.testing.assert_allclose(td.special.entr(td.asarray([0.0, 0.5, 1, -1])).get(), [0, -0.5 * math.log(0.5), 0, -INF])


# ---- along axes ----

AXES = [None, 0, 1, -1, (0, 1)]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("shift", [0, 1000, -1000])
def test_softmax(axis, shift, dev, rng):
    x = rng.standard_normal((3, 5))
    t = td.asarray(x + shift)
    sums = np.exp(x).sum(axis, keepdims=True)
    np.testing.assert_allclose(td.special.softmax(t, axis).get(), np.exp(x) / sums, rtol=1e-11)
    np.testing.assert_allclose(td.special.log_softmax(t, axis).get(), x - np.log(sums), rtol=1e-10, atol=1e-11)
    for keepdims in (False, True):
        want = np.log(np.exp(x).sum(axis, keepdims=keepdims)) + shift
        got = td.special.logsumexp(t, axis, keepdims=keepdims)
        assert got.shape == want.shape
        np.testing.assert_allclose(got.get(), want, rtol=1e-12)


def test_logsumexp_ends():
    f = td.special.logsumexp
    for given, want in (([-INF, -INF], -INF), ([INF, 0], INF), ([INF, -INF], INF), ([NAN, 0], NAN), ([-INF, 3], 3)):
        np.testing.assert_array_equal(f(td.asarray(given)).get(), want)
    a, b = np.array([1.0, 2, 700]), np.array([1.0, -3, 0])
    got, sign = f(td.asarray(a), b=td.asarray(b), return_sign=True)
    exact = math.e - 3 * math.e**2
    np.testing.assert_allclose(got.get(), math.log(-exact), rtol=1e-14)
    assert float(sign) == -1 and math.isnan(float(f(td.asarray(a), b=td.asarray(b))))
    assert f(td.asarray([1, 2])).dtype == np.float64 and f(td.asarray([1, 2], "float32")).dtype == np.float32


def test_names():
    for name in td.special.__all__:
        assert callable(getattr(td.special, name)), name
    assert td.special.expit is td.sigmoid and td.special.gammaln is td.lgamma
