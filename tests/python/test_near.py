"""Loads of lanes that lie near each other in memory: short rows, small strides, patterns that repeat along a last axis."""

import subprocess
import sys

import numpy as np
import pytest

import treadle as td

DTYPES = ["bool", "i1", "f2", "i4", "f4", "f8", "c8"]


def filled(rng, shape, dtype):
    x = rng.integers(0, 5, shape) if dtype[0] in "biu" else rng.integers(-8, 8, shape) / 4
    return x.astype(dtype)


def same(got, want, what):
    got = np.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape, what
    assert np.array_equal(got, want), what


@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_through_memory(dtype, dev, rng):
    """Every small step, forwards and backwards, from every place, over lengths round those of vectors."""
    for n in (3, 17, 64, 131):
        x = filled(rng, 9 * n + 40, dtype)
        a = td.asarray(x, device=dev)
        for step in (-9, -8, -3, -2, -1, 2, 3, 5, 7, 8, 9):
            first = int(rng.integers(0, 20))
            at = slice(first, first + n * step, step) if step > 0 else slice(first + n * -step, first, step)
            same(a[at] | a[at] if dtype == "bool" else a[at] + a[at], x[at] | x[at] if dtype == "bool" else x[at] + x[at], (n, step))


@pytest.mark.parametrize("dtype", DTYPES)
def test_patterns_along_a_short_axis(dtype, dev, rng):
    for k in (2, 3, 4, 5, 7, 8):
        for n in (2, 16, 33, 400):
            x, w, c, other = (filled(rng, s, dtype) for s in ((n, k), (k,), (n, 1), (n, 2 * k)))
            a, b, d, e = (td.asarray(v, device=dev) for v in (x, w, c, other))
            join = (lambda p, q: p | q) if dtype == "bool" else (lambda p, q: p * q - p)
            minus = (lambda p: p) if dtype == "bool" else (lambda p: -p)
            same(join(a, b), join(x, w), (n, k, "row of numbers"))
            same(join(a, d), join(x, c), (n, k, "column of numbers"))
            same(join(b, d), join(w, c), (n, k, "both"))
            same(join(e[:, ::2], a), join(other[:, ::2], x), (n, k, "every second"))
            same(join(e[:, k:], d), join(other[:, k:], c), (n, k, "right half"))
            same(minus(a[:, ::-1]), minus(x[:, ::-1]), (n, k, "backwards"))
            same(td.repeat(d[:, 0], k), np.repeat(c[:, 0], k), (n, k, "repeat"))
            same(td.stack([a[:, 0], d[:, 0], e[:, 1]], axis=1), np.stack([x[:, 0], c[:, 0], other[:, 1]], axis=1), (n, k, "stack"))


@pytest.mark.parametrize("dtype", ["i1", "f2", "f4", "f8", "u8"])
def test_reductions_of_short_rows(dtype, dev, rng):
    for k in (2, 3, 5, 8, 9):
        for n in (1, 16, 45, 300):
            x = filled(rng, (n, k), dtype)
            if dtype[0] == "f":
                x[rng.random((n, k)) < 0.1] = np.nan
            a = td.asarray(x, device=dev)
            for name in ("sum", "max", "min", "prod", "argmax", "argmin", "any", "all"):
                want = getattr(x, name)(axis=1)
                got = np.asarray(getattr(a, name)(axis=1))
                assert got.dtype == want.dtype and got.shape == want.shape, (name, n, k)
                assert np.allclose(got, want, rtol=2e-3 if dtype == "f2" else 1e-5, equal_nan=True), (name, n, k)


def test_places_of_nan_and_equals(dev, rng):
    for name in ("argmin", "argmax"):
        for k in range(2, 9):
            x = rng.choice(np.array([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf], "f4"), (500, k))
            same(getattr(td.asarray(x, device=dev), name)(axis=1), getattr(x, name)(axis=1), (name, k))
            same(getattr(td.asarray(x.T.copy(), device=dev), name)(axis=0, keepdims=True), getattr(x, name)(axis=1)[None], (name, k))


GUARDED = """
import ctypes, mmap
import numpy as np, treadle as td

td.config.eager = 0  # compiled code is tested

page = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
memory = mmap.mmap(-1, 3 * page)
base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
for at in (0, 2 * page):
    assert not libc.mprotect(ctypes.c_void_p(base + at), ctypes.c_size_t(page), 0)
count = 0
for dtype in ("u1", "u2", "f4", "f8"):
    room = page // np.dtype(dtype).itemsize
    whole = np.frombuffer((ctypes.c_char * page).from_address(base + page), dtype)
    whole[:] = np.arange(room) % 7
    for n in (5, 17, 64, 100):
        for k in (2, 3, 4, 7, 8):
            if n * k > room:
                continue
            for x in (whole[: n * k].reshape(n, k), whole[room - n * k :].reshape(n, k)):
                a = td.from_dlpack(x)
                w = td.asarray(np.arange(k).astype(dtype), device="cpu")
                for j in range(k):
                    assert np.array_equal(np.asarray(a[:, j] + a[:, -1 - j]), x[:, j] + x[:, -1 - j])
                assert np.array_equal(np.asarray(a * w), x * np.arange(k).astype(dtype))
                assert np.array_equal(np.asarray(a.max(axis=1)), x.max(axis=1))
                assert np.array_equal(np.asarray(td.repeat(a[:, 0], k)), np.repeat(x[:, 0], k))
                assert np.array_equal(np.asarray(a.ravel()[::-1] + 1), x.ravel()[::-1] + 1)
                count += 1
print(count)
"""


def test_nothing_beyond_an_array_is_read():
    """Memory before and behind the arrays cannot be read."""
    done = subprocess.run([sys.executable, "-c", GUARDED], capture_output=True, text=True)
    assert done.returncode == 0 and int(done.stdout) > 100, (done.returncode, done.stdout, done.stderr)
