"""Laziness cannot be observed: random programs over views, writes, shared memory and errors, run
step by step under NumPy and treadle."""

import threading

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numpy_side import check

import treadle as td

# Whole numbers, small enough that all sums and products are exact in float32: comparison is bit by bit.
SHAPES = [(6,), (2, 3), (3, 2), (1,), (4, 6)]
VIEWS = ["x[::2]", "x[::-1]", "x[1:]", "x[...]", "x.T", "x.reshape(-1)", "x[..., :2]", "x[:, None]", "x[None]"]
UNARY = ["-x", "abs(x)", "x + 0", "x * 2", "np.where(x > 2, x, -x)", "np.maximum(x, 1)", "x.sum(0)", "x.max()", "x.copy()",
         "np.floor(x / 2)", "x % 7", "x.sum(keepdims=True)", "np.roll(x, 1)", "np.concatenate([x, x])", "x.astype('int32').astype('float32')"]  # fmt: skip
BINARY = ["x + y", "x - y", "x * y % 101", "np.minimum(x, y)", "np.where(x > y, x, y)", "x + y.sum()", "x - y.max()"]
KEYS = ["[0]", "[-1:]", "[...]", "[::2]", "[::-1]", "[..., 0]", "[x > 1]", "[[0, -1]]", "[1:]", "[..., ::2]"]
INPLACE = ["+=", "-=", "*="]


class Programs(RuleBasedStateMachine):
    """pairs holds NumPy's array and treadle's; shared holds memory that both sides write to."""

    def __init__(self):
        super().__init__()
        self.pairs, self.shared = [], []

    @initialize()
    def start(self):
        self.add(np.arange(6, dtype="f4"), td.arange(6, dtype="float32"))

    def add(self, x, t):
        """A program's values: at most eight arrays, of moderate size and numbers."""
        x = np.asarray(x)
        assert t.shape == x.shape and t.dtype == x.dtype
        if x.size <= 200 and (x.size == 0 or np.abs(x).max() < 1e5):
            if len(self.pairs) >= 8:
                self.pairs.pop(0)
            self.pairs.append((x, t))

    def both(self, text, *pairs):
        """What the text gives on both sides, or None where both refuse it."""
        results = []
        for np_like, side in ((np, 0), (td, 1)):
            names = {"np": np_like, **{k: p[side] for k, p in zip("xy", pairs, strict=False)}}
            try:
                results.append(eval(text, names))
            except (ValueError, IndexError, TypeError) as e:
                results.append(type(e))
        if isinstance(results[0], type) or isinstance(results[1], type):
            assert isinstance(results[0], type) and isinstance(results[1], type), f"{text}: {results}"
            return None
        return results

    def pick(self, k):
        return self.pairs[k % len(self.pairs)]

    @rule(shape=st.sampled_from(SHAPES), start=st.integers(-5, 5))
    def make(self, shape, start):
        n = int(np.prod(shape))
        self.add(np.arange(start, start + n).astype("f4").reshape(shape), td.arange(start, start + n).astype("f4").reshape(shape))

    @rule(shape=st.sampled_from(SHAPES))
    def bring(self, shape):
        x = np.arange(int(np.prod(shape)), dtype="f4").reshape(shape)
        self.add(x.copy(), td.asarray(x))
        x[...] = -1000

    @rule(k=st.integers(0, 7), text=st.sampled_from(VIEWS))
    def view(self, k, text):
        got = self.both(text, self.pick(k))
        if got:
            self.add(*got)

    @rule(k=st.integers(0, 7), text=st.sampled_from(UNARY))
    def compute(self, k, text):
        got = self.both(text, self.pick(k))
        if got:
            self.add(*got)

    @rule(j=st.integers(0, 7), k=st.integers(0, 7), text=st.sampled_from(BINARY))
    def combine(self, j, k, text):
        got = self.both(text, self.pick(j), self.pick(k))
        if got:
            self.add(*got)

    def write(self, statement, *pairs):
        errors = []
        for side in (0, 1):
            try:
                exec(statement, {"np": np}, {k: p[side] for k, p in zip("xy", pairs, strict=False)})
                errors.append(None)
            except (ValueError, IndexError, TypeError) as e:
                errors.append(e)
        assert (errors[0] is None) == (errors[1] is None), f"{statement}: {errors}"

    @rule(k=st.integers(0, 7), key=st.sampled_from(KEYS), value=st.integers(-9, 9))
    def assign_number(self, k, key, value):
        self.write(f"x{key} = {value}", self.pick(k))

    @rule(j=st.integers(0, 7), k=st.integers(0, 7), key=st.sampled_from(KEYS), source=st.sampled_from(["y", "y[0]", "y.sum()", "-y"]))
    def assign_array(self, j, k, key, source):
        if key == "[0]" and self.pick(j)[0].ndim == 1 and source != "y.sum()":
            return  # NumPy's answer to x[0] = array([5]) depends on its version
        self.write(f"x{key} = {source}", self.pick(j), self.pick(k))

    @rule(k=st.integers(0, 7), op=st.sampled_from(INPLACE), value=st.integers(-2, 2))
    def inplace_number(self, k, op, value):
        if np.abs(self.pick(k)[0]).max(initial=0) < 1e5:
            self.write(f"x {op} {value}", self.pick(k))

    @rule(j=st.integers(0, 7), k=st.integers(0, 7), key=st.sampled_from(["", *KEYS]))
    def inplace_array(self, j, k, key):
        if max(np.abs(self.pick(i)[0]).max(initial=0) for i in (j, k)) < 1e5:
            self.write(f"x{key} += y" if key else "x += y", self.pick(j), self.pick(k))

    @rule(k=st.integers(0, 7))
    def look(self, k):
        x, t = self.pick(k)
        check(t, x)

    @rule(k=st.integers(0, 7))
    def get_and_scribble(self, k):
        """What get() gave is the caller's: writing to it changes nothing."""
        x, t = self.pick(k)
        got = t.get()
        assert np.array_equal(got, x)
        got[...] = 77

    @precondition(lambda self: len(self.shared) < 3)
    @rule(k=st.integers(0, 7))
    def export(self, k):
        x, t = self.pick(k)
        outside = np.asarray(t)
        assert outside.shape == x.shape
        self.shared.append((x, outside))

    @precondition(lambda self: len(self.shared) < 3)
    @rule(shape=st.sampled_from(SHAPES))
    def share(self, shape):
        x = np.arange(int(np.prod(shape)), dtype="f4").reshape(shape)
        outside = x.copy()
        self.add(x, td.asarray(outside, copy=False))
        self.shared.append((x, outside))

    @precondition(lambda self: self.shared)
    @rule(k=st.integers(0, 2), value=st.integers(-9, 9))
    def write_outside(self, k, value):
        """NumPy's side of shared memory is written: treadle sees it, as NumPy's own views do."""
        x, outside = self.shared[k % len(self.shared)]
        if x.size and x.ndim:
            x[..., -1] = value
            outside[..., -1] = value

    @precondition(lambda self: self.shared)
    @rule(k=st.integers(0, 2))
    def read_outside(self, k):
        x, outside = self.shared[k % len(self.shared)]
        assert np.array_equal(x, outside), f"{outside} where NumPy has {x}"

    @rule(j=st.integers(0, 7), k=st.integers(0, 7))
    def refuse(self, j, k):
        x = self.pick(j)
        for text in ("x.reshape(7, 11)", "x[99]", "x.sum(17)"):
            assert self.both(text, x) is None

    @rule(k=st.integers(0, 7))
    def drop(self, k):
        if len(self.pairs) > 1:
            self.pairs.pop(k % len(self.pairs))

    @rule()
    def evaluate_all(self):
        td.evaluate()

    @invariant()
    def bounded(self):
        assert len(self.pairs) <= 8

    def teardown(self):
        for x, t in self.pairs:
            check(t, x)
        for x, outside in self.shared:
            assert np.array_equal(x, outside)


TestPrograms = Programs.TestCase
TestPrograms.settings = settings(max_examples=150, stateful_step_count=40, deadline=None, derandomize=True)


def test_values_are_taken_when_recorded():
    x = td.arange(5.0)
    y = x + 1
    x[:] = 0
    z = x + 1
    x += 5
    check(y, np.arange(5.0) + 1)
    check(z, np.ones(5))
    check(x, np.full(5, 5.0))


def test_intermediates_used_twice(dev):
    x = td.arange(1000, dtype="float32")
    y = x * 2
    z = y + 1
    w = (y - z).sum() + z.max()
    del y
    assert float(w) == -1000 + 1999
    check(z, np.arange(1000, dtype="f4") * 2 + 1)


def test_views_of_pending_arrays():
    x = td.arange(12.0) + 1
    v = x.reshape(3, 4)[::2, 1:]
    x *= 2
    check(v, ((np.arange(12.0) + 1) * 2).reshape(3, 4)[::2, 1:])
    v[:] = 0
    assert float(x.sum()) == ((np.arange(12.0) + 1) * 2).sum() - 2 * (2 + 3 + 4 + 10 + 11 + 12)


def test_self_reference():
    x, n = td.arange(8.0), np.arange(8.0)
    for y in (x, n):
        y += y
        y[1:] -= y[:-1]
        y *= y[::-1].copy()
        y[:4], y[4:] = y[4:].copy(), y[:4].copy()
    check(x, n)


def test_diamonds_are_shared(dev):
    """2^40 paths, 40 nodes."""
    x = td.ones(10)
    for _ in range(40):
        x = x + x
    check(x, np.full(10, 2.0**40))


@pytest.mark.parametrize("count", [2, 4])
def test_threads(count):
    """Threads share arrays and the graph; each one's own results are as if it were alone."""
    base = td.arange(20_000, dtype="float64") + 1
    failures = []

    def work(seed):
        try:
            rng = np.random.default_rng(seed)
            for step in range(30):
                k = int(rng.integers(1, 9))
                n = np.arange(20_000) + 1.0
                y = base * k + step
                z = td.sqrt(y) + y[::-1]
                y[: k * 10] = 0
                want = n * k + step
                assert float(z.sum()) == pytest.approx(float((np.sqrt(want) + want[::-1]).sum()), rel=1e-12)
                want[: k * 10] = 0
                assert np.array_equal(y.get(), want)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures
    check(base, np.arange(20_000) + 1.0)


def test_threads_evaluate_the_same_array():
    for _ in range(20):
        x = td.arange(50_000, dtype="float32") * 2
        y = x + 1
        got = []
        threads = [threading.Thread(target=lambda v, to: to.append(float(v.max())), args=(v, got)) for v in (x, y, y, x)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert sorted(got) == [99998, 99998, 99999, 99999]


LOOKED_AT = [
    lambda w: float(w.sum()),
    lambda w: float((w * w).sum()),
    lambda w: float(abs(w).max()),
    lambda w: w.mean(axis=0).get(),
    lambda w: float((w * 2 + 1).std()),
]


@pytest.mark.recorded
@pytest.mark.parametrize("look", LOOKED_AT)
def test_a_loop_that_looks_compiles_a_few_kernels(dev, look):
    """A value that a loop carries on and reduces in each round is written out now and then; without, each round's kernel
    would compute all rounds before it."""
    host = np.random.default_rng(3).random((30, 70))
    w = td.asarray(host)

    def kernels():
        return td._core.jit_stats()["kernels"]

    for i in range(20):
        before = kernels()
        w, host = w * 0.9 + 1, host * 0.9 + 1
        np.testing.assert_allclose(look(w), by_numpy(look, host), rtol=1e-12)
        assert i < 6 or kernels() == before


def by_numpy(look, host):
    class Array(np.ndarray):
        def get(self):
            return np.asarray(self)

    return look(host.view(Array))


@pytest.mark.recorded
def test_a_loop_that_writes_parts_compiles_a_few_kernels(dev):
    """Back substitution: a value is carried on, and each round writes a part of an array that is computed from it. Without
    memory for the value, each round's kernel would compute all rounds before it."""
    rounds, n = 12, 2000
    c, d = np.linspace(0.1, 0.9, n * rounds).reshape(rounds, n), np.linspace(-1, 1, n * rounds).reshape(rounds, n)
    want, col = np.empty((rounds, n)), np.zeros(n)
    for k in range(rounds):
        row = d[k] - c[k] * col
        col[:] = row
        want[k] = 2 * (row - c[k])
    a, b, out, kept = td.asarray(c, device=dev), td.asarray(d, device=dev), td.empty((rounds, n), device=dev), td.zeros(n, device=dev)
    before = []
    for k in range(rounds):
        row = b[k] - a[k] * kept
        kept[:] = row
        out[k] = 2 * (row - a[k])
        before.append(td._core.jit_stats()["kernels"])
    check(out, want)
    check(kept, col)
    assert before[-1] == before[3], before
