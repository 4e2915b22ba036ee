"""Arrays as text. NumPy formats the values after they have been copied to the host."""

import functools

import numpy

from .._core import asnumpy


def _of_values(theirs):
    @functools.wraps(theirs)
    def fn(a, *args, **kwargs):
        return theirs(asnumpy(a), *args, **kwargs)

    fn.__module__ = __name__
    return fn


array2string, array_repr, array_str = map(_of_values, (numpy.array2string, numpy.array_repr, numpy.array_str))
