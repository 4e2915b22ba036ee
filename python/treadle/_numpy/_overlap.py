"""Whether arrays lie in the same memory."""

import numpy

from .. import _core


class _Place:
    """An array's memory as NumPy sees it, by address alone: nothing is read."""

    def __init__(self, a):
        self.__array_interface__ = {
            "version": 3, "shape": a.shape, "strides": a.strides, "data": (a._address(), False),
            "typestr": f"|V{a.dtype.itemsize}",
        }  # fmt: skip


def _seen(a):
    return numpy.asarray(_Place(a)) if isinstance(a, _core.ndarray) and a.size else a


def _asked(ask, a, b, max_work):
    arrays = [x for x in (a, b) if isinstance(x, _core.ndarray)]
    if len({x.device for x in arrays}) > 1 or any(x.size == 0 for x in (a, b)):
        return False
    return bool(ask(_seen(a), _seen(b), max_work))


def shares_memory(a, b, max_work=None):
    """Is there a byte that both arrays have? Views have their array's memory; what is recorded is computed first.
    NumPy arrays are allowed; max_work as in numpy.shares_memory."""
    return _asked(numpy.shares_memory, a, b, max_work)


def may_share_memory(a, b, max_work=None):
    """Do the bounds of the arrays' memory overlap?"""
    return _asked(numpy.may_share_memory, a, b, max_work)
