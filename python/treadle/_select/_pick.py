"""Pick: the elements that a subscript with index arrays selects, with reading and writing them."""

from math import prod

import numpy

from .. import _core
from .._core import asarray


class Pick:
    """A parsed subscript: a view of the array, and index arrays for some of its axes."""

    __slots__ = ("view", "axes", "shown", "arrays", "place", "flags")
    DISTINCT, TRUSTED = 1, 2

    def __init__(self, view=None, axes=(), arrays=(), place=0, flags=0):
        self.view, self.axes, self.shown, self.arrays = view, [*axes], [*axes], [*arrays]
        self.place, self.flags = place, flags

    def add(self, axis, shown, index):
        self.axes.append(axis)
        self.shown.append(shown)
        self.arrays.append(index)

    @property
    def rest(self):
        """The arguments after the view of _core._pick and similar functions."""
        return tuple(self.axes), tuple(self.shown), tuple(self.arrays), self.place, self.flags

    def places(self):
        """How many different places the index arrays can select."""
        return prod(self.view.shape[k] for k in self.axes)

    def shape(self):
        """The shape that the index arrays broadcast to."""
        try:
            return numpy.broadcast_shapes(*(i.shape for i in self.arrays))
        except ValueError:
            shapes = " ".join(str(i.shape).replace(", ", ",") for i in self.arrays)
            raise IndexError(
                f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}"
            ) from None

    def numbers(self, steps):
        """A number for each selected place: the sum of each index (from the end where negative) times its step."""
        select, total = _core.ufuncs()["select"], 0
        for axis, index, step in zip(self.axes, self.arrays, steps, strict=True):
            index = asarray(index, dtype="int64", device=self.view.device)
            total = total + select(index < 0, index + self.view.shape[axis], index) * step
        return _core._broadcast_to(total, self.shape()).ravel()


def gather(a, at, axis=0):
    """Elements of a along axis at indices that are known to be in range.

    Checking them would cost a read by the host."""
    p = Pick(a, [axis], [at], axis, Pick.TRUSTED)
    return _core._pick(p.view, *p.rest)


def scatter(a, at, value, axis=0):
    """Write value along axis at indices that are known to be in range and distinct."""
    p = Pick(a, [axis], [at], axis, Pick.DISTINCT | Pick.TRUSTED)
    _core._put(p.view, *p.rest, value)


