"""NumPy's estimators for the width of a histogram's bins, computed from reductions on the device. "stone", which
compares histograms, is in _counting.py.

Each estimator takes the flat data, which is not empty, and the ends of its range. It returns a width, or 0 where it
cannot tell.
"""

import numpy

from .._core import asnumpy
from ._quantile import percentile

_UNSIGNED = {numpy.dtype(f"int{n}"): numpy.dtype(f"uint{n}") for n in (8, 16, 32, 64)}


def difference(a, b):
    """a - b of scalars a >= b, without overflow."""
    dt = numpy.result_type(a, b)
    if dt not in _UNSIGNED:
        return numpy.subtract(a, b, dtype=dt)
    return numpy.subtract(numpy.asarray(a, dt), numpy.asarray(b, dt), casting="unsafe", dtype=_UNSIGNED[dt])


def _number(x):
    """A reduction's value as NumPy's scalar."""
    return asnumpy(x)[()]


def extent(x):
    return difference(_number(x.max()), _number(x.min()))


def _sqrt(x, ends):
    return extent(x) / numpy.sqrt(x.size)


def _sturges(x, ends):
    return extent(x) / (numpy.log2(x.size) + 1.0)


def _rice(x, ends):
    return extent(x) / (2.0 * x.size ** (1.0 / 3))


def _scott(x, ends):
    return (24.0 * numpy.pi**0.5 / x.size) ** (1.0 / 3.0) * _number(x.std())


def _doane(x, ends):
    n = x.size
    if n <= 2:
        return 0.0
    sigma = _number(x.std())
    if not sigma > 0.0:
        return 0.0
    skew = _number((((x - x.mean()) / sigma) ** 3).mean())
    by = numpy.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    return extent(x) / (1.0 + numpy.log2(n) + numpy.log2(1.0 + numpy.absolute(skew) / by))


def _fd(x, ends):
    high, low = asnumpy(percentile(x, [75, 25]))
    return 2.0 * (high - low) * x.size ** (-1.0 / 3.0)


def _auto(x, ends):
    return min(max(_fd(x, ends), _sqrt(x, ends) / 2), _sturges(x, ends))


ESTIMATORS = {
    "auto": _auto,
    "doane": _doane,
    "fd": _fd,
    "rice": _rice,
    "scott": _scott,
    "sqrt": _sqrt,
    "sturges": _sturges,
}
