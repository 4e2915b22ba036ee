"""A NumPy program for `python -m treadle`: its numbers, types and exceptions are NumPy's."""

import sys

import numpy as np

x = np.linspace(0, 1, 10**6)
y = np.sin(x) * np.exp(-x)
assert type(y) is np.ndarray and abs(y.sum() / 10**6 - (np.e - np.sin(1) - np.cos(1)) / (2 * np.e)) < 1e-6
assert [float(v) for v in np.arange(4.0).reshape(2, 2).sum(axis=0)] == [2, 4]
try:
    np.zeros(3) + np.zeros(4)
except ValueError as e:
    assert str(e) == "operands could not be broadcast together with shapes (3,) (4,) ", e
else:
    raise AssertionError("shapes that do not fit")
assert "treadle" in sys.modules
