"""Loops over flattened arrays: which indices i * w + j are known to be apart, and that the results are those in order."""

import itertools

import numpy as np
import pytest
from kernel_names import function
from test_jit import DEVICES

import treadle as td
from treadle import jit

H, W, D = 5, 7, 3

PROVEN = {
    "known": ("h", "7", "a[i * 7 + j] = b[i * 7 + j] + 1"),
    "argument": ("h", "w", "a[i * w + j] += b[j]"),
    "turned round": ("h", "w", "a[j + w * i] = i - j"),
    "from 1": ("h", "1, w", "a[i * w + j] = b[i * w + j - 1]"),
    "shape": ("m.shape[0]", "m.shape[1]", "a[i * m.shape[1] + j] = m[i, j]"),
    "stride": ("h", "0, w, 2", "a[i * w + j] = 3"),
    "transposed out": ("h", "w", "a[i * w + j] = b[j * h + i]"),
    "from a later row": ("1, h", "w", "a[i * w + j] = b[(i - 1) * w + j]"),
}
REFUSED = {
    "wrong width": ("h", "w", "a[i * (w - 1) + j] += a[i * w + j]"),
    "wider": ("h", "w + 1", "a[i * w + j] = i"),
    "neighbour": ("h", "w", "a[i * w + j + 1] = i"),
    "down": ("h", "w - 1, -1, -1", "a[i * w + j] = a[(i + 1) % h * w + j] + 1"),
    "from below": ("h", "-1, w", "a[i * w + j] = i"),
    "first alone": ("h", "w", "a[i * w] = i + j"),
    "another block": ("h - 1", "w", "a[i * w + j] = a[(i + 1) * w + j] + 1"),
    "whole": ("h", "w", "a[i * w + j] = a[j] + 1"),
    "changed": ("h", "w", "v = w + j\n        a[i * v] = i"),
}


def made(outer, inner, line):
    return function(f"def f(a, b, m, h, w):\n  for i in range({outer}):\n    for j in range({inner}):\n        {line}\n")


def given():
    return np.arange(2.0 * H * W), np.arange(2.0 * H * W) % 5, np.arange(float(H * W)).reshape(H, W), H, W


def check(fn, *args):
    mine, python = ([x.copy() if isinstance(x, np.ndarray) else x for x in args] for _ in range(2))
    f = jit(fn)
    f(*mine)
    fn(*python)
    for x, y in zip(mine, python):
        np.testing.assert_array_equal(x, y)
    return f


@pytest.mark.parametrize("name", PROVEN)
def test_proven(name):
    f = check(made(*PROVEN[name]), *given())
    assert "in parallel" in f.explain().splitlines()[-1], f.explain()
    fn = f.py_func
    for gpu in DEVICES[1:]:
        args = [td.asarray(x, device=gpu) if isinstance(x, np.ndarray) else x for x in given()]
        python = given()
        jit(fn)(*args)
        fn(*python)
        np.testing.assert_array_equal(args[0].get(), python[0])


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    f = check(made(*REFUSED[name]), *given())
    assert "in order" in f.explain().splitlines()[-1], f.explain()


def test_explain_tells_what_is_missing():
    f = check(made("h", "w + 1", "a[i * w + j] = i"), *given())
    assert "of i * w + j, j runs over range(w)" in f.explain()


CUBES = ["a[(i * h + j) * w + k] = b[(i * h + j) * w + k] + 1", "a[i * h * w + j * w + k] = i",
         "a[i * (h * w) + j * w + k] = i", "a[k + w * (j + h * i)] = k", "a[j * w + k + i * h * w] += 1"]  # fmt: skip


@pytest.mark.parametrize("line", CUBES)
def test_three_axes(line):
    text = f"""def f(a, b, d, h, w):
    for i in range(d):
        for j in range(h):
            for k in range(w):
                {line}
"""
    f = check(function(text), np.zeros(D * H * W), np.arange(D * H * W) % 4.0, D, H, W)
    assert ("in parallel" in f.explain()) == ("(h * w)" not in line), f.explain()


def test_a_width_of_zero_or_below():
    """Where no inner loop runs nothing is stored; where w is negative an index counts from the end."""
    f = jit(made("h", "w", "a[i * w + j] = i"))
    g = jit(function("def f(a, h, w):\n  for i in range(h):\n    a[i * w] = i\n"))
    for w in (0, -1, -3):
        a = np.zeros(12)
        f(a, a.copy(), np.zeros((1, 1)), 4, w)
        assert not a.any()
        g(a, 4, w)
        want = np.zeros(12)
        for i in range(4):
            want[i * w] = i
        assert np.array_equal(a, want)
    assert "in order" in g.explain()


def test_all_small_programs():
    """Every pair of a store and a load of these forms, with loops that fit them and that do not."""
    index = ["i * w + j", "i * h + j", "j * w + i", "i + j", "i * w", "j", "i * w + j + 1", "(i + 1) * w + j", "i * w + 2 * j"]
    for to, of, end in itertools.product(index[:6], index, ["w", "h"]):
        check(made("h", end, f"a[{to}] = a[{of}] + b[j] + 1"), *given())
