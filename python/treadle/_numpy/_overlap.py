"""Whether arrays lie in the same memory."""

import numpy

from .. import _core


class _Place:
    """An array's memory for NumPy, by its address alone. Nothing is read."""

    def __init__(self, a):
        self.__array_interface__ = {
            "version": 3, "shape": a.shape, "strides": a.strides, "data": (a._address(), False),
            "typestr": f"|V{a.dtype.itemsize}",
        }  # fmt: skip


def _seen(a):
    return numpy.asarray(_Place(a)) if isinstance(a, _core.ndarray) and a.size else a


def _asked(ask, a, b, max_work):
    arrays = [x for x in (a, b) if isinstance(x, _core.ndarray)]
    if len({x.device for x in arrays}) > 1 or any(x.size == 0 for x in arrays):
        return False
    return bool(ask(_seen(a), _seen(b), max_work))


def shares_memory(a, b, max_work=None):
    """Whether there is a byte that both arrays have.

    Parameters
    ----------
    a, b : ndarray
        Arrays of treadle's or NumPy's; what is recorded is computed first.
    max_work : int, optional
        As numpy.shares_memory's.

    Returns
    -------
    bool
        Views have their array's memory.

    Examples
    --------
    >>> a = np.arange(4)
    >>> np.shares_memory(a, a[1:])
    True
    """
    return _asked(numpy.shares_memory, a, b, max_work)


def may_share_memory(a, b, max_work=None):
    """Whether the bounds of two arrays' memory overlap.

    Parameters
    ----------
    a, b : ndarray
        Arrays of treadle's or NumPy's.
    max_work : int, optional
        Accepted for NumPy's signature.

    Returns
    -------
    bool
        True may be wrong, False is not.

    Examples
    --------
    >>> np.may_share_memory(np.ones(2), np.ones(2))
    False
    """
    return _asked(numpy.may_share_memory, a, b, max_work)
