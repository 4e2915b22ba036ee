"""Warnings and floating-point errors under `python -m treadle`: who listens hears what NumPy says."""

import pytest
from test_unchanged import program, run
from test_unchanged_arrays import same

LISTENS = """
import warnings, numpy as np
x = np.arange(4.0) - 1
def told(f):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        f()
    return [(w.category.__name__, str(w.message)) for w in seen]
print(told(lambda: np.log(x)), told(lambda: x / 0), told(lambda: np.nanmax(x * np.nan)), told(lambda: (x * 1e308 * 10).sum()))
print(told(lambda: (x[:2] * np.nan).astype(int)), told(lambda: np.add.at(np.array([1], "i1"), [0], 1)), told(lambda: np.array([]).mean()))
print(told(lambda: np.floor_divide.at(np.arange(3), [0, 1], 0)), told(lambda: (x + 1j).astype(float)))
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try:
        print(np.sqrt(x))
    except RuntimeWarning as e:
        print("raised", e)
    try:
        print(np.nanmean(x * np.nan))
    except RuntimeWarning as e:
        print("raised", e)
y = np.empty(4, "i4")
for what in (lambda: np.copyto(y, x * np.inf), lambda: y.__setitem__([0, 1], np.array([np.nan, 1])), lambda: y.fill(np.nan),
             lambda: y.__setitem__(x > 0, np.array([np.inf, 1])), lambda: np.log(x)):
    try:
        with np.errstate(all="raise"):
            what()
        print("no error")
    except (FloatingPointError, TypeError, ValueError) as e:
        print(type(e).__name__, e)
"""


@pytest.mark.parametrize("crossover", [1, None])
def test_blocks_that_listen(tmp_path, crossover):
    same(tmp_path, LISTENS, crossover=crossover)


NEVER_ENDS = """
import sys, warnings
import numpy as np
from treadle import _core
def far():
    return _core._unchanged_far(np.arange(8.0))
assert far()
with warnings.catch_warnings(record=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not far()
    try:
        with warnings.catch_warnings(record=True):
            1 / 0
    except ZeroDivisionError:
        assert not far()
assert far()
with warnings.catch_warnings():
    warnings.simplefilter("ignore", RuntimeWarning)
    assert far()
    warnings.simplefilter("error")
    warnings.filterwarnings("error", category=RuntimeWarning)
    assert not far()
with np.errstate(all="ignore"):
    assert far()
with np.errstate(divide="raise"):
    assert not far()
assert far()
warnings.simplefilter("error", DeprecationWarning)
assert far()
warnings.simplefilter("error")
try:
    np.log(np.zeros(8)).sum()
    print("silent")
except RuntimeWarning as e:
    print(e)
"""


def test_where_listening_ends(tmp_path):
    """Work is treadle's again behind the block; an error filter that stands outside of any holds for good."""
    done = run("--device", "cpu", program(tmp_path, "prog.py", NEVER_ENDS), crossover=1)
    assert done[:2] == (0, "divide by zero encountered in log\n"), done[2]


def test_runners_of_tests_do_not_listen(tmp_path):
    """pytest records what any test warns of; only a test that asks is told."""
    text = """
import numpy as np, pytest
from treadle import _core
def test_quiet():
    assert np.isinf(np.log(np.zeros(8))).all() and _core._unchanged_far(np.zeros(8))
def test_asks():
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.log(np.zeros(8))
"""
    path = program(tmp_path, "test_prog.py", text)
    status, out, err = run("--device", "cpu", "-m", "pytest", "-q", "-p", "no:cacheprovider", path, crossover=1)
    assert status == 0 and "2 passed" in out, out + err
