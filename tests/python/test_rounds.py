"""Loops of a program become loops of one kernel: the same values to the last bit, whatever the rounds read and hand on.

``python tests/python/test_rounds.py 1000 [seed]`` runs that many random loops."""

import random
import sys
import time

import numpy as np
import pytest

import treadle as td
from treadle import _core

pytestmark = pytest.mark.recorded

SHAPE = (7, 19)


def counted(function):
    """The function's result, how many kernels were launched and made, and how many values rounds have computed."""
    before = _core.jit_stats()
    result = function()
    td.evaluate(*result if isinstance(result, tuple) else (result,))
    after = _core.jit_stats()
    made = [after[k] - before[k] for k in ("compiled", "loaded")]
    return (
        result,
        after["launches"] - before["launches"],
        sum(made),
        after["forms"]["rounds"] - before["forms"]["rounds"],
    )


def mandelbrot(xp, re, im, rounds):
    x, y = xp.zeros_like(re), xp.zeros_like(re)
    count = xp.zeros(re.shape, dtype="i4")
    for _ in range(rounds):
        xx, yy = x * x, y * y
        y = 2 * x * y + im
        x = xx - yy + re
        count = count + (xx + yy < 4)
    return count, x, y


def updates(xp, a, b, rounds):
    for _ in range(rounds):
        a = a * 0.99 + b
    return a


def times(xp, a, b, rounds):
    for k in range(rounds):
        a = a + b * (0.125 * k)
        a = a * 0.5 - k
    return a


def two_rounds_back(xp, a, b, rounds):
    for _ in range(rounds):
        a, b = b, 0.25 * b - 0.5 * a + 0.125
    return a, b


def lags_apart(xp, a, b, rounds):
    x, y, z = b, a, b
    for _ in range(rounds):
        x, y, z = y - (xp.maximum(z, x) - a), z, a - z
    return x, y, z


def windows(xp, a, b, rounds):
    s = xp.zeros(a.shape[1])
    for k in range(rounds):
        s = s * 0.5 + a[k % len(a)] * b[-k % len(a), ::-1]
    return s


def unchanged_but_pending(xp, a, b, rounds):
    c = a * 2 + b
    z = c
    for _ in range(rounds):
        z = abs(z) * 0.5 + c
    return z, c


def a_reduction_follows(xp, a, b, rounds):
    return xp.minimum(updates(xp, a, b, rounds), 3).sum(0) + 1


LOOPS = {f.__name__: f for f in (mandelbrot, updates, times, two_rounds_back, lags_apart, windows, unchanged_but_pending)}


def operands(dtype, shape=SHAPE):
    rng = np.random.default_rng(3)
    return [rng.uniform(-1.5, 1.5, shape).astype(dtype) for _ in range(2)]


def same(got, wanted):
    for g, w in zip(*(x if isinstance(x, tuple) else (x,) for x in (got, wanted)), strict=True):
        assert g.dtype == w.dtype
        np.testing.assert_array_equal(g.get(), w)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("rounds", [4, 30, 77, 600])
@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_values(dev, name, rounds, dtype):
    host = operands(dtype)
    same(LOOPS[name](td, *map(td.asarray, host), rounds), LOOPS[name](np, *host, rounds))


@pytest.mark.parametrize("name", LOOPS)
def test_one_kernel_whatever_the_count(dev, name):
    a, b = map(td.asarray, operands("f8", (11, 101)))
    rounds = 60 + 2 * len(a)  # windows come back to where they began
    _, launches, _, of_rounds = counted(lambda: LOOPS[name](td, a, b, rounds))
    assert launches <= 2 and of_rounds == 1
    _, launches, made, of_rounds = counted(lambda: LOOPS[name](td, a, b, rounds + len(a)))
    assert launches <= 2 and of_rounds == 1 and made == 0


def test_a_reduction_follows(dev):
    host = operands("f8")
    got, launches, _, of_rounds = counted(lambda: a_reduction_follows(td, *map(td.asarray, host), 100))
    np.testing.assert_allclose(got.get(), a_reduction_follows(np, *host, 100), rtol=1e-13)
    assert launches <= 3 and of_rounds == 1


def test_thousands_of_rounds(dev):
    host = operands("f8", (3, 5))
    got, launches, made, _ = counted(lambda: updates(td, *map(td.asarray, host), 10_000))
    same(got, updates(np, *host, 10_000))
    assert launches < 20 and made <= 4


def test_draws(dev):
    def walk():
        td.random.seed(11)
        x = td.zeros(SHAPE)
        for _ in range(50):
            x = x * 0.5 + td.random.normal(size=SHAPE) - td.random.uniform(size=SHAPE)
        return x

    together, _, _, of_rounds = counted(walk)
    assert of_rounds == 1
    td.random.seed(11)
    x = np.zeros(SHAPE)
    for _ in range(50):
        x = x * 0.5 + td.random.normal(size=SHAPE).get() - td.random.uniform(size=SHAPE).get()
    same(together, x)


@pytest.mark.parametrize("dtype", ["i8", "f2", "u1"])
def test_rounds_that_compute_nothing(dev, dtype):
    for step in (lambda x: x - x, abs, lambda x: x * 1):
        ours, theirs = (xp.arange(100).astype(dtype) for xp in (td, np))
        for _ in range(100):
            ours, theirs = step(ours), step(theirs)
        np.testing.assert_array_equal(ours.get(), theirs)


def test_held_values_are_kept(dev):
    """States that the program keeps lie outside of the rounds; all of them kept, there are none."""
    host = operands("f8")
    for every in (1, 25, 40):
        kept, wanted = [], []
        for xp, out in ((td, kept), (np, wanted)):
            a, b = map(xp.asarray, host)
            for k in range(120):
                a = a * 0.5 + b
                a = xp.sqrt(abs(a)) - 0.25
                if k % every == 0:
                    out.append(a)
            out.append(a)
        for g, w in zip(kept, wanted, strict=True):
            np.testing.assert_array_equal(g.get(), w)


# ---- random loops ----

REAL = ["{} + {}", "{} - {}", "{} * {}", "xp.minimum({}, {})", "xp.maximum({}, {})", "xp.where({0} > {1}, {1}, {0})"]
ONE = {
    "f": ["-{}", "abs({})", "xp.sqrt(abs({}))", "{} * 0.5", "0.75 - {}", "{} + k * 0.125"],
    "i": ["-{}", "{} * 3", "{} ^ 5", "{} + k"],
}
DTYPES = ["f4", "f8", "i4", "i8", "u1", "f2"]


class Loop:
    """Text of a random function of the module, arrays and rounds."""

    def __init__(self, seed):
        draw = self.draw = random.Random(seed)
        self.dtype = draw.choice(DTYPES)
        self.rounds = draw.choice([3, 9, 20, 41, 100])
        self.state = [f"s{i}" for i in range(draw.randint(1, 4))]
        body = [
            f"t{i} = {self.operation(self.state + [f't{j}' for j in range(i)])}" for i in range(draw.randint(1, 12))
        ]
        temporary = [f"t{j}" for j in range(len(body))]
        body += [f"{s} = {draw.choice(temporary + self.state)}" for s in self.state]
        body += draw.choice(
            [
                [],
                [],
                ["if k % 17 == 5: kept.append(s0)"],
                ["if k == 20: s0 = s0 + 1"],
                ["if k % 30 == 29: float(s0[0, 0])"],
            ]
        )
        lines = [f"def f(xp, w, {', '.join(self.state)}):", "  kept = []", f"  for k in range({self.rounds}):"]
        lines += ["    " + line for line in body] + [f"  return [*kept, {', '.join(self.state)}]"]
        self.text = "\n".join(lines)

    def operation(self, names):
        kind = "f" if self.dtype[0] == "f" else "i"
        operand = [self.draw.choice(names * 3 + ["w[0]", "w[k % 4]"]) for _ in range(2)]
        if self.draw.random() < 0.4:
            return self.draw.choice(ONE[kind]).format(*operand)
        return self.draw.choice(REAL).format(*operand)


def run(seed, device):
    loop = Loop(seed)
    space = {}
    exec(loop.text, space)
    rng = np.random.default_rng(seed)
    low, high = (-2, 2) if loop.dtype[0] == "f" else (0, 9)
    w = rng.uniform(low, high, (4, *SHAPE)).astype(loop.dtype)
    state = [rng.uniform(low, high, SHAPE).astype(loop.dtype) for _ in loop.state]
    with np.errstate(all="ignore"):
        wanted = space["f"](np, w, *state)
    with td.device(device):
        got = space["f"](td, td.asarray(w), *map(td.asarray, state))
        for g, x in zip(got, wanted, strict=True):
            same = g.dtype == x.dtype and np.array_equal(g.get(), x, equal_nan=loop.dtype[0] == "f")
            assert same, f"seed {seed}, {loop.dtype}\n{loop.text}"


def test_random_loops(dev):
    first = int(time.time()) % 1_000_000 * 1000
    print("seeds from", first)
    for seed in range(first, first + 25):
        run(seed, dev)


if __name__ == "__main__":
    td.config.eager = 0
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for number in range(start, start + int(sys.argv[1])):
        run(number, "cpu")
