"""NumPy, with the few names that treadle has and NumPy lacks.

A program of `examples/` reads `import treadle as np`. Its text runs a second time with this
module in treadle's place: every name is NumPy's, and what treadle adds for lazy arrays and other
memories does nothing, since NumPy's arrays are on the host and hold their values.
"""

import numpy


def asnumpy(x):
    """The array itself: it already is where `treadle.asnumpy` would bring it."""
    return numpy.asarray(x)


def evaluate(*arrays):
    """Do nothing: NumPy computes each line at once."""


def synchronize():
    """Do nothing: NumPy has no work in flight."""


def __getattr__(name):
    return getattr(numpy, name)
