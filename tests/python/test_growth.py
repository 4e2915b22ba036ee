"""Long loops: flat memory, no deep recursion, few kernels."""

import numpy as np
import pytest

import treadle as td
from treadle import _core

pytestmark = pytest.mark.recorded


def test_a_sum_that_grows(grown):
    x = td.ones(4)
    s = td.zeros(4)

    def add(times):
        nonlocal s
        for _ in range(times):
            s = s + x

    add(2000)
    done = grown(lambda: add(98_000), 8 << 20)
    assert s.tolist() == [2000 + 98_000 * done] * 4


def test_a_sum_in_place():
    x, s = td.ones(4), td.zeros(4)
    for _ in range(20_000):
        s += x
    assert s.tolist() == [20_000] * 4


def test_retained_scalars(grown):
    x = td.arange(10.0)
    kept = [x[3] * k for k in range(1000)]
    grown(lambda: kept.extend([x.sum() + k for k in range(100_000)]), 100_000 * 2500)
    assert float(kept[-1]) == 45 + 99_999 and float(kept[5]) == 15
    assert sum(float(k) for k in kept[1000:1100]) == 45 * 100 + 4950


def test_a_deep_graph_dies_quietly():
    for _ in range(3):
        x = td.ones(3)
        for _ in range(50_000):
            x = x * 1.5
        del x


def body(a, b, c):
    """37 operations, as in a simulation's step."""
    t = a * 0.5 + b
    u = t - c * 0.25
    v = td.sqrt(abs(u) + 1)
    w = td.where(v > 1.5, v * 0.5, v + 0.125)
    p = w * w + t * 0.1
    q = td.exp(-p * 0.01) + td.sin(t) * 0.1
    r = q * u - w
    s = td.minimum(td.maximum(r, -2), 2)
    d = s * 0.3 + a * 0.2 - c * 0.1
    e = d / (1 + abs(d))
    f = td.tanh(e) + e * e * 0.05
    return f + 0.1, f * 0.9 - s * 0.01, e


def test_a_loop_body_compiles_a_few_times():
    a, b, c = (td.asarray(np.linspace(0, 1, 64, dtype="f4") + k) for k in range(3))
    recorded = _core.jit_stats()["recorded"]
    body(a, b, c)
    assert _core.jit_stats()["recorded"] - recorded >= 37
    before = _core.jit_stats()
    for _ in range(1000):
        a, b, c = body(a, b, c)
    after = _core.jit_stats()
    assert np.isfinite(a.get()).all()
    assert after["launches"] - before["launches"] <= 25  # some fifty rounds a kernel
    assert after["compiled"] + after["loaded"] - before["compiled"] - before["loaded"] <= 3


def test_kernels_are_counted():
    td.evaluate(td.ones(3) + 1)
    stats = _core.jit_stats()
    assert stats["kernels"] == stats["compiled"] + stats["loaded"] > 0


def test_numbers_are_arguments_not_kernels():
    x = td.arange(100.0)
    td.evaluate(x * 0.1)
    before = _core.jit_stats()
    for k in range(50):
        td.evaluate(x * (0.1 + k))
    after = _core.jit_stats()
    assert after["compiled"] + after["loaded"] == before["compiled"] + before["loaded"]


def test_one_kernel_for_a_chain():
    a, b, c, d = (td.asarray(np.random.default_rng(k).random(1000)) for k in range(4))
    td.evaluate(a, b, c, d)
    before = _core.jit_stats()["launches"]
    td.evaluate(td.sqrt(a * a + b * b) * td.exp(-c) + d)
    assert _core.jit_stats()["launches"] - before == 1


@pytest.mark.parametrize("seed", range(5))
def test_random_reuse_of_names(seed):
    """A thousand random operations on eight names, all exact in float64."""
    rng = np.random.default_rng(seed)
    ours = [td.arange(6.0) + k for k in range(8)]
    theirs = [np.arange(6.0) + k for k in range(8)]
    for _ in range(1000):
        i, j, k = rng.integers(0, 8, 3)
        op = rng.integers(0, 5)
        for side, np_like in ((ours, td), (theirs, np)):
            if op == 0:
                side[i] = side[j] + side[k]
            elif op == 1:
                side[i] = side[j] - side[k]
            elif op == 2:
                side[i] = np_like.where(side[j] > side[k], side[j], side[k][::-1])
            elif op == 3:
                side[i][::2] = side[j][1::2]
            else:
                side[i] = side[j] % 1009
    for t, x in zip(ours, theirs, strict=True):
        assert t.tolist() == x.tolist()
