"""Slices as values of compiled functions beside CPython: arguments, results, constants, parts that may be None."""

import itertools
import random

import numpy as np
import pytest

import treadle as td
from treadle import cuda, njit
from treadle._compile import _jit

PARTS = (None, 0, 1, 2, 5, 9, -1, -2, -9)
STEPS = (None, 1, 2, 3, -1, -2)


def outcome(f, *args):
    try:
        return f(*args)
    except (ValueError, TypeError) as e:
        return type(e)


def same(got, want):
    if isinstance(want, np.ndarray):
        return isinstance(got, np.ndarray) and got.dtype == want.dtype and np.array_equal(got, want)
    return type(got) is type(want) and got == want


def of_sequence(x, s):
    return x[s]


def stored(a, s, v):
    a[s] = v
    return a


def removed(x, s):
    del x[s]
    return x


def parts(s):
    return s.start, s.stop, s.step, isinstance(s, slice), isinstance(s, tuple)


def itself(s):
    return s


def places(s, n):
    return s.indices(n)


def rows(a, s, t):
    return a[s, 1], a[0, s], a[s, t], a[..., s].shape


def test_arguments():
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    compiled = {f: njit(f) for f in (of_sequence, stored, removed, parts, itself, places, rows)}
    for _ in range(60):
        s, t = (slice(rng.choice(PARTS), rng.choice(PARTS), rng.choice(STEPS)) for _ in range(2))
        a, m = np.arange(7.0), np.arange(20).reshape(4, 5)
        for f, args in (
            (of_sequence, (a, s)), (of_sequence, ([3, 1, 4, 1, 5, 9], s)), (of_sequence, ("slices", s)),
            (stored, (a.copy(), s, 2.5)), (removed, ([3, 1, 4, 1, 5, 9], s)), (parts, (s,)), (itself, (s,)),
            (places, (s, rng.choice((0, 1, 4, 9)))), (rows, (m, s, t)),
        ):  # fmt: skip
            mine, theirs = ([x.copy() if isinstance(x, (np.ndarray, list)) else x for x in args] for _ in range(2))
            got, want = outcome(compiled[f], *mine), outcome(f, *theirs)
            alike = all(map(same, got, want)) if isinstance(want, tuple) else same(got, want)
            assert alike, f"seed {seed}: {f.__name__}{args}: {got}, not {want}"


def chosen(x, lo, hi, by, which):
    start = lo if which & 1 else None
    stop = None
    if which & 2:
        stop = hi
    step = by if which & 4 else None
    s = slice(start, stop, step)
    return x[s], x[start:stop], x[::step]


def chosen_slice(x, k):
    s = slice(1, k) if k > 2 else slice(None, -1, 2) if k else slice(-1, None, -1)
    return x[s]


def test_parts_that_only_the_running_program_knows():
    f, g = njit(chosen), njit(chosen_slice)
    for x in (np.arange(6), [2, 7, 1, 8, 2, 8], "euler's"):
        for which, by in itertools.product(range(8), (2, -1, 0)):
            got, want = outcome(f, x, 1, 4, by, which), outcome(chosen, x, 1, 4, by, which)
            assert got is want or all(map(same, got, want)), (x, which, by)
        for k in (0, 2, 4):
            assert same(g(x, k), chosen_slice(x, k))


FROM_GLOBAL, FROM_NUMPY = slice(None, None, 2), np.s_[1:3, ::-1]


def of_constants(s):
    return lambda t, a: (t[s], a[s], a[FROM_GLOBAL])


def test_constants():
    for s in (slice(1, 3), slice(None, -1), slice(None, None, -2), slice(4, 0, -1)):
        f, t, a = of_constants(s), (1, 2.5, "x", (3,)), np.arange(9)
        got, want = njit(f)(t, a), f(t, a)
        assert got[0] == want[0] and same(got[1], want[1]) and same(got[2], want[2])
    m = np.arange(20).reshape(4, 5)
    assert same(njit(lambda m: m[FROM_NUMPY])(m), m[FROM_NUMPY])


@cuda.jit
def between(a, out, s):
    part = a[s]
    i = cuda.grid(1)
    if i < part.size:
        out[i] = part[i]


@pytest.mark.parametrize("device", ["cpu", "null"])
def test_kernels_take_slices(device):
    for s in (slice(2, None, 3), slice(None, 2), slice(7, 1, -2)):
        a, out = td.arange(9.0, device=device), td.zeros(9, device=device)
        between[1, 32](a, out, s)
        want = np.arange(9.0)[s]
        assert np.array_equal(out.get()[: want.size], want) and not out.get()[want.size :].any()


def test_slices_of_others_are_refused():
    with pytest.raises(TypeError, match="integers and None"):
        njit(of_sequence)(np.arange(3.0), slice(1.5, None))
    with pytest.raises(TypeError, match="integers and None"):
        njit(lambda a, x: a[slice(x)])(np.arange(3.0), 1.5)


def unpacked(xs, n):
    return [*xs], [*range(n), 7, *xs], [n, *[x + 1 for x in xs]], [*(1, 2), n]


def test_lists_of_unpacked_ones():
    for xs in ([4, 5], [1]):
        assert njit(unpacked)(xs, 3) == unpacked(xs, 3)


def test_parts_by_numbas_rules():
    """There each part is a number; an end that is None lies beyond all others."""
    most, least = 2**63 - 1, -(2**63)
    f = _jit.decorator(_jit.CPUFunction, lambda s: (s.start, s.stop, s.step), {"_numba": True})
    g = _jit.decorator(_jit.CPUFunction, of_sequence, {"_numba": True})
    for start, stop, step in itertools.product(PARTS, PARTS, STEPS):
        down = step is not None and step < 0
        ends = (most if down else 0, least if down else most)
        want = [e if p is None else p for p, e in zip((start, stop), ends, strict=True)]
        assert f(slice(start, stop, step)) == (*want, step or 1)
        assert same(g(np.arange(7), slice(start, stop, step)), np.arange(7)[start:stop:step])
