"""Few elements in the CPU's memory beside NumPy: NumPy's loops, subscripts with arrays, numbers, NumPy's scalars."""

import operator
import random
import warnings

import numpy as np
import pytest

import treadle as td

EXACT = """add subtract multiply divide negative absolute square sqrt less less_equal greater greater_equal equal not_equal
isnan isinf isfinite signbit floor ceil trunc rint copysign logical_and logical_or logical_xor logical_not bitwise_and
bitwise_or bitwise_xor invert maximum minimum""".split()
DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
SIZES = [0, 1, 3, 64, 65, 1000]


@pytest.fixture
def seeded(rng):
    seed = int(rng.integers(2**31))
    print(f"seed {seed}")
    return random.Random(seed)


@pytest.fixture(autouse=True)
def silent():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def numbers(rng, shape, dt):
    """Numbers of all sizes, with the special ones."""
    dt = np.dtype(dt)
    if dt.kind == "b":
        return rng.integers(0, 2, shape).astype(dt)
    if dt.kind in "iu":
        i = np.iinfo(dt)
        return np.where(rng.random(shape) < 0.3, rng.integers(0, 9, shape), rng.integers(i.min, i.max, shape, dtype=dt)).astype(dt)
    x = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)
    special = rng.choice(np.array([0.0, -0.0, np.inf, -np.inf, np.nan]), shape)
    return np.where(rng.random(shape) < 0.2, special, x).astype(dt)


def same(got, want, what):
    got = np.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape, (what, got.dtype, want.dtype, got.shape, want.shape)
    np.testing.assert_array_equal(got, want, err_msg=str(what))
    if want.dtype.kind == "f":
        kept = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got)[kept], np.signbit(want)[kept], err_msg=str(what))


def layouts(x):
    """The same numbers as they may lie."""
    yield x
    if x.ndim == 1 and x.size:
        yield np.repeat(x, 3)[::3]
        yield x[::-1].copy()[::-1]
        yield np.broadcast_to(x[:1], x.shape)
        yield x[0]


@pytest.mark.parametrize("name", EXACT)
def test_loops(name, rng, dev):
    f, g = getattr(np, name), getattr(td, name)
    for dt in DTYPES:
        for size in SIZES:
            operands = [numbers(rng, size, dt) for _ in range(f.nin)]
            for first in layouts(operands[0]):
                try:
                    want = f(first, *operands[1:])
                except TypeError:
                    continue
                if name in ("maximum", "minimum") and want.dtype.kind == "f":  # of two zeros either is right
                    want, operands = want + 0.0, [x + np.array(0, x.dtype) for x in operands]
                    first = first + np.array(0, first.dtype)
                same(g(td.asarray(first), *map(td.asarray, operands[1:])), np.asarray(want), (name, dt, size))
    x = numbers(rng, (6, 7), "f8")
    t = td.asarray(x)
    if name in ("add", "subtract", "multiply", "less", "copysign"):
        same(g(t.T, t[0, 0]), f(x.T, x[0, 0]), name)
        same(g(t[::2, ::-1], t[:3]), f(x[::2, ::-1], x[:3]), name)
        same(g(t[:, None, :2], t[None, :, 2:4]), f(x[:, None, :2], x[None, :, 2:4]), name)


def a_key(r, shape):
    """A key with lists or arrays for an array of that shape, sometimes a wrong one."""

    def item(n):
        k = [r.randrange(-n, n) if n else 0 for _ in range(r.choice([0, 1, 2, 5]))]
        return r.choice([k, np.array(k, r.choice(["i8", "i4", "u1"])) if min(k, default=0) >= 0 else np.array(k, "i8")])

    kind = r.randrange(8)
    if kind == 0:
        return np.array([r.random() < 0.5 for _ in range(int(np.prod(shape)))], bool).reshape(shape)
    if kind == 1:
        return [r.random() < 0.5 for _ in range(shape[0])]
    if kind == 2:
        return [shape[0] + 3]
    if kind == 3:
        k = [0, min(1, shape[-1] - 1)]
        return tuple(k if i % 2 else np.array(k[:1]) for i in range(len(shape)))
    if kind == 4:
        return (slice(None), *(item(n) for n in shape[1:2])) if len(shape) > 1 else item(shape[0])
    if kind == 5:
        return (..., item(shape[-1]))
    if kind == 6:
        return (None, item(shape[0]))
    return item(shape[0])


def outcome(f, *args, **kwargs):
    try:
        return f(*args, **kwargs)
    except Exception as e:
        return next(k for k in (IndexError, ValueError, OverflowError, TypeError, Exception) if isinstance(e, k))


def ours(key):
    """The key as arrays of treadle's."""
    if isinstance(key, tuple):
        return tuple(map(ours, key))
    return td.asarray(key) if isinstance(key, np.ndarray) else key


def test_subscripts_with_arrays(rng, seeded, dev):
    for _ in range(400):
        shape = seeded.choice([(5,), (12,), (3, 4), (2, 3, 4)])
        x = numbers(rng, shape, seeded.choice(["i4", "f8", "u1"]))
        t = td.asarray(x)
        key = a_key(seeded, shape)
        mine = ours(key) if seeded.random() < 0.5 else key
        want, got = outcome(operator.getitem, x, key), outcome(operator.getitem, t, mine)
        if isinstance(want, type):
            assert got is want, (key, got, want)
            continue
        same(got, want, key)
        got[...] = 0  # a copy
        same(t, x, key)


def test_assignments_to_subscripts_with_arrays(rng, seeded, dev):
    for _ in range(400):
        shape = seeded.choice([(5,), (12,), (3, 4), (2, 3, 4)])
        dt = seeded.choice(["i4", "f8", "u1"])
        x = numbers(rng, shape, dt)
        t = td.asarray(x)
        if seeded.random() < 0.5:
            x, t = x + np.array(1, dt), t + np.array(1, dt)
        before, kept, view = x.copy(), t.copy() if seeded.random() < 0.5 else t * np.array(1, dt), t[1:]
        key = a_key(seeded, shape)
        mine = ours(key) if seeded.random() < 0.5 else key
        value = seeded.choice([1, 2.0, 2**40, "array", "list"])
        there = outcome(operator.getitem, x, key)
        if isinstance(value, str):
            shaped = numbers(rng, (1,) if isinstance(there, type) else there.shape, dt)
            value = shaped if value == "array" else shaped.tolist()
        want = outcome(operator.setitem, x, key, value)
        got = outcome(operator.setitem, t, mine, ours(value))
        assert (got is want) or not isinstance(want, type), (key, value, got, want)
        if not isinstance(want, type):
            same(t, x, (key, value))
            same(view, x[1:], (key, value))
        same(kept, before, (key, value))


def a_number(r, dt):
    dt = np.dtype(dt)
    if dt.kind == "b":
        v = r.random() < 0.5
    elif dt.kind in "iu":
        i = np.iinfo(dt)
        v = r.choice([i.min, i.max, 0, 1, r.randint(i.min, i.max), r.randint(0, 100)])
    else:
        v = r.choice([0.0, -0.0, 1e30, 1e38, -3.5, np.inf, np.nan, r.random(), 1e300])
    return np.array([v]).astype(dt)


OPERATORS = [getattr(operator, n) for n in "add sub mul truediv and_ or_ xor lt le gt ge eq ne floordiv mod lshift rshift".split()]


def test_two_numbers(seeded, dev):
    """Elements beside elements, beside Python's numbers and beside NumPy's scalars."""
    for _ in range(6000):
        a, f = a_number(seeded, seeded.choice(DTYPES)), seeded.choice(OPERATORS)
        x, tx = a[0], td.asarray(a)[0]
        kind = seeded.randrange(3)
        if kind == 2:
            y = seeded.choice([seeded.randint(-300, 300), seeded.randint(-(2**40), 2**40), 2**63, seeded.random(), 1e39, -0.0,
                               float("nan"), float("inf"), True, 2, 0, 1, 2**53 + 1, 3])  # fmt: skip
            ty = y
        else:
            b = a_number(seeded, a.dtype if seeded.random() < 0.8 else seeded.choice(DTYPES))
            y = b[0]
            ty = td.asarray(b)[0] if kind else y
        if seeded.random() < 0.5:
            x, y, tx, ty = y, x, ty, tx
        want, got = outcome(f, x, y), outcome(f, tx, ty)
        if isinstance(want, type) or isinstance(got, type):
            assert isinstance(want, type) and isinstance(got, type), (f, x, y, want, got)
            continue
        same(got, np.asarray(want), (f, x, y))
        if isinstance(x, np.generic) and isinstance(tx, td._core.ndarray) and x.dtype.kind != "b":
            same(-tx, np.asarray(-x), ("-", x))
            same(abs(tx), np.asarray(abs(x)), ("abs", x))


def test_numpys_scalars_beside_arrays(rng, dev):
    for dt in ("f4", "f8", "i4"):
        x = numbers(rng, 9, dt)
        t = td.asarray(x)
        for scalar in (np.float64(1.5), np.float32(2.5), np.int64(3), np.bool_(True), np.int8(-1)):
            for f in (operator.add, operator.mul, operator.sub, operator.truediv, operator.lt, operator.eq):
                if f is operator.sub and isinstance(scalar, np.bool_):
                    continue
                got = f(scalar, t)
                assert isinstance(got, td._core.ndarray)
                same(got, f(scalar, x), (f, scalar, dt))
                same(f(t, scalar), f(x, scalar), (f, scalar, dt))


def test_ranges(dev):
    for args in ((0,), (1,), (5,), (2, 9, 3), (100,), (-3, 70), (0.5, 3), (0, 1, 0.1), (5, -60, -1), (2**40, 2**40 + 99)):
        for dt in (None, *DTYPES[1:], "c8", *(["f2"] if args[0] < 60000 else [])):
            want = outcome(np.arange, *args, dtype=dt)
            if not isinstance(want, type):
                same(td.arange(*args, dtype=dt), want, (args, dt))


@pytest.mark.parametrize("shape", [(3000,), (200, 100), (50, 40, 30), (2, 5000)], ids=str)
def test_few_places_of_many_elements(shape, dev):
    """Indices of all kinds into arrays larger than what NumPy computes: reads and writes are NumPy's."""
    seed = random.randrange(1 << 32)
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 1000, shape).astype("f4")
    x = td.asarray(a, device=dev)

    def index(n, count):
        kind = rng.integers(0, 7)
        if kind < 3:
            i = rng.integers(-n, n, count)
            return (i, i), (i, td.asarray(i, device=dev)), (i.tolist(),) * 2
        if kind == 3:
            return (int(rng.integers(-n, n)),) * 2
        if kind == 4:
            return (slice(int(rng.integers(0, 4)), None, int(rng.integers(1, 3))),) * 2
        if kind == 5:
            return (rng.random(n) < 0.01,) * 2
        return (rng.integers(-n, n, (2, 1)),) * 2

    for _ in range(60):
        count = int(rng.integers(1, 40))
        pairs = [index(n, count) for n in shape[: rng.integers(1, len(shape) + 1)]]
        pairs = [p[rng.integers(0, 3)] if isinstance(p[0], tuple) else p for p in pairs]
        theirs, ours = (tuple(p[i] for p in pairs) for i in (0, 1))
        if len(pairs) == 1 and rng.random() < 0.5:
            theirs, ours = theirs[0], ours[0]
        try:
            want = a[theirs]
        except IndexError:
            with pytest.raises(IndexError):
                x[ours]
            continue
        got = x[ours]
        np.testing.assert_array_equal(td.asnumpy(got), want, f"seed {seed}: {theirs}", strict=True)
        a[theirs] = value = float(rng.integers(0, 9))  # one value: places may repeat
        x[ours] = value if rng.random() < 0.5 else td.asarray(np.float32(value), device=dev)
        np.testing.assert_array_equal(x.get(), a, f"seed {seed}: {theirs}")
