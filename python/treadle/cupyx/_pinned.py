"""NumPy arrays in pinned memory of the host, from which copies to a GPU run beside the program."""

import numpy

from .. import cuda


def empty_pinned(shape, dtype=float, order="C"):
    """A NumPy array of the shape in pinned memory, its values as they are found there."""
    order = "C" if order is None else order.upper()
    return cuda.pinned_array(shape, dtype=numpy.dtype(dtype), order=order)


def zeros_pinned(shape, dtype=float, order="C"):
    """A NumPy array of zeros in pinned memory."""
    made = empty_pinned(shape, dtype, order)
    made[...] = 0
    return made


def empty_like_pinned(a, dtype=None, order="K", subok=None, shape=None):
    """empty_pinned of a's shape, dtype and order (K, A: Fortran's where a lies so), but for what is given. TypeError:
    subok, since there are no subclasses."""
    if subok is not None:
        raise TypeError("empty_like_pinned: subok is not there; the array is NumPy's own")
    if order in ("K", "A", None):
        order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
    return empty_pinned(a.shape if shape is None else shape, a.dtype if dtype is None else dtype, order)


def zeros_like_pinned(a, dtype=None, order="K", subok=None, shape=None):
    """empty_like_pinned, filled with zeros."""
    made = empty_like_pinned(a, dtype, order, subok, shape)
    made[...] = 0
    return made
