"""The kinds of operands, and the classes of sparse matrices by format."""

import numpy

from ..._core import ndarray

CLASSES = {}  # (format, is an array): class


def is_number(x):
    """Is x a scalar, or an array without axes?"""
    return numpy.isscalar(x) or (isinstance(x, (ndarray, numpy.ndarray)) and x.ndim == 0)


def is_scipys(x):
    """Is x one of SciPy's own sparse matrices?"""
    return type(x).__module__.startswith("scipy.sparse") and hasattr(x, "tocsr")
