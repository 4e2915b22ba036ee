"""Conversion of arguments that functions of several modules share."""

import numpy

from .. import _core


def host(x, dtype=None):
    """A small argument (weights, coefficients, a footprint, label numbers) as a NumPy array."""
    return numpy.asarray(x.get() if isinstance(x, _core.ndarray) else x, dtype)


def axis_of(axis, ndim):
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for an array of {ndim} dims")
    return axis % ndim
