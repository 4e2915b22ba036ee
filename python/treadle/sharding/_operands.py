"""Operands of operations on sharded arrays: what stands beside a sharded array, brought to each device as it is needed.
"""

import numpy

from .._core import ndarray
from .._vmap._array import function
from ._array import ShardedArray, _rows, replicated
from ._mesh import moved


class Host:
    """An array of NumPy's, or a list, as an operand: each device gets what it needs of it."""

    __slots__ = ("_values", "_mesh", "shape", "ndim", "axis")

    def __init__(self, values, mesh):
        self._values, self._mesh, self.axis = values, mesh, None
        self.shape, self.ndim = values.shape, values.ndim

    def on(self, i):
        return function("asarray")(self._values, device=self._mesh[i])

    def part(self, axis, lo, hi, i):
        return function("asarray")(self._values[_rows(axis, lo, hi)], device=self._mesh[i])


class Single:
    """An array on one device as an operand: the others get the rows that they need."""

    __slots__ = ("_array", "_mesh", "shape", "ndim", "axis")

    def __init__(self, array, mesh):
        self._array, self._mesh, self.axis = array, mesh, None
        self.shape, self.ndim = array.shape, array.ndim

    def on(self, i):
        return moved(self._array, self._mesh[i], "operand")

    def part(self, axis, lo, hi, i):
        return moved(self._array[_rows(axis, lo, hi)], self._mesh[i], "operand")


def operand(x, mesh):
    """x as an operand: a Python number as it is, an array as an object with shape, ndim, axis, on() and part()."""
    if type(x) in (int, float, complex, bool) or type(x) is ShardedArray:
        return x
    if isinstance(x, ndarray):
        return Single(x, mesh)
    values = numpy.asarray(x)
    if values.dtype.kind == "O":
        raise TypeError(f"sharded arrays hold numbers, not {type(x).__name__}")
    return values[()] if not values.ndim else Host(values, mesh)


def as_sharded(x, mesh):
    """x as a ShardedArray: an array on one device or on the host is replicated from there."""
    if type(x) is ShardedArray:
        return x
    if isinstance(x, ndarray) and x.device in mesh.devices:
        return replicated(mesh, mesh.devices.index(x.device), x)
    return replicated(mesh, 0, function("asarray")(x, device=mesh[0]))


class Spread:
    """Operands that broadcast, spread over the devices along the axis of the result that is divided.

    cuts, axis: where the result is divided, and along which axis. ranges: (lo, hi, i, arrays), rows of the result on
    device i for which every operand is one array there; None where no operand has more than one row to divide."""

    __slots__ = ("mesh", "axis", "cuts", "ranges")

    def __init__(self, operands, mesh, what, lead=None):
        self.mesh = mesh
        operands = [operand(x, mesh) for x in operands]
        ndim = max(getattr(x, "ndim", 0) for x in operands)
        if lead is None:
            lead = max((x for x in operands if getattr(x, "axis", None) is not None), key=lambda x: x.size)
        n = lead.shape[lead.axis]
        self.axis, self.cuts = lead.axis + ndim - lead.ndim, lead.cuts
        placed = []
        for x in operands:
            at = self.axis - ndim + x.ndim if getattr(x, "ndim", 0) else -1
            extent = x.shape[at] if at >= 0 else 1
            if extent != n and extent != 1:
                if n != 1:
                    shapes = " ".join(str(y.shape) for y in operands if hasattr(y, "shape"))
                    raise ValueError(f"operands could not be broadcast together with shapes {shapes}")
                # the divided axis has one element, and broadcasts
                operands = [y.reshard(None) if y is lead else y for y in operands]
                self.ranges = None
                if any(getattr(y, "axis", None) is not None for y in operands):
                    self.__init__(operands, mesh, what)
                return
            if extent == 1 and n != 1:
                at = -1
            if type(x) is ShardedArray and x.axis is not None and x.axis != at:
                x = x.reshard(at if at >= 0 else None)
            placed.append((x, at))
        self.ranges = [(lo, hi, i, [_on(x, at, lo, hi, i, what) for x, at in placed]) for lo, hi, i in self._cut(placed)]

    def _cut(self, placed):
        starts = {p[0] for x, _ in placed if type(x) is ShardedArray for p in x.pieces}
        found = []
        for i, lo in enumerate(self.cuts[:-1]):
            hi = self.cuts[i + 1]
            if lo < hi:
                at = sorted([lo, hi, *(k for k in starts if lo < k < hi)])
                found += [(at[k], at[k + 1], i) for k in range(len(at) - 1)]
        return found


def _on(x, at, lo, hi, i, what):
    """Operand x for rows lo to hi on device i; at: the axis of x that is divided with the result, or -1."""
    if type(x) is ShardedArray:
        if x.axis is not None:
            return x.rows(lo, hi, i, what)[0]
        return x.on(i) if at < 0 else x.on(i)[_rows(at, lo, hi)]
    if getattr(x, "ndim", 0):
        return x.on(i) if at < 0 else x.part(at, lo, hi, i)
    return x


