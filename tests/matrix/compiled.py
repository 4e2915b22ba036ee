"""Compiled functions: loops that run in parallel, tuples, exceptions."""

import linecache

import numpy as np

from treadle import jit

TEXT = """def doubled(x):
    return np.float64(x) * 2
"""


@jit
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@jit
def blur(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(a.shape[1]):
            b[i, j] = (a[i - 1, j] + a[i, j] + a[i + 1, j]) / 3


@jit
def halves(a, b):
    assert b > 0, "b is positive"
    return a // b, a % b


assert collatz(27) == 111
a = np.random.default_rng(0).random((100, 50))
b = np.zeros_like(a)
blur(a, b)
np.testing.assert_allclose(b[1:-1], (a[:-2] + a[1:-1] + a[2:]) / 3, rtol=1e-14)
assert "runs in parallel" in blur.explain()
assert halves(17, 5) == (3, 2)
try:
    halves(1, 0)
except AssertionError as e:
    assert str(e) == "b is positive", e
else:
    raise RuntimeError("an assertion that was not looked at")
# A text whose names were put beside it: CPython compiles the call in another way than where the text imports np.
linecache.cache["<text>"] = (len(TEXT), None, TEXT.splitlines(keepends=True), "<text>")
space = {"np": np}
exec(compile(TEXT, "<text>", "exec"), space)
assert jit(space["doubled"])(21) == 42
