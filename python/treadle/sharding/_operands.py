"""Operands of operations on sharded arrays: what stands beside a sharded array, brought to each device as it is needed.
"""

import numpy

from .._core import ndarray
from .._vmap._array import function
from ._array import ShardedArray, replicated, rows_key
from ._mesh import even, moved, moved_all


class Host:
    """An array of NumPy's, or a list, as an operand: each device gets what it needs of it."""

    __slots__ = ("_values", "_mesh", "shape", "ndim", "axis")

    def __init__(self, values, mesh):
        self._values, self._mesh, self.axis = values, mesh, None
        self.shape, self.ndim = values.shape, values.ndim

    def on(self, i):
        return function("asarray")(self._values, device=self._mesh[i])

    def part(self, axis, lo, hi, i):
        return function("asarray")(self._values[rows_key(axis, lo, hi)], device=self._mesh[i])


class Single:
    """An array on one device as an operand: the others get the rows that they need."""

    __slots__ = ("_array", "_mesh", "shape", "ndim", "axis")

    def __init__(self, array, mesh):
        self._array, self._mesh, self.axis = array, mesh, None
        self.shape, self.ndim = array.shape, array.ndim

    def on(self, i):
        return moved(self._array, self._mesh[i], "operand")

    def part(self, axis, lo, hi, i):
        return moved(self._array[rows_key(axis, lo, hi)], self._mesh[i], "operand")


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
    device i for which every operand is one array there; None where no operand has more than one row to divide.

    Raises ValueError where the operands' shapes do not broadcast."""

    __slots__ = ("mesh", "axis", "cuts", "ranges")

    def __init__(self, operands, mesh, what, lead=None):
        self.mesh = mesh
        operands = [operand(x, mesh) for x in operands]
        if lead is None:
            divided = [x for x in operands if getattr(x, "axis", None) is not None]
            lead = max(divided, key=lambda x: (x.size, x.ndim - x.axis))  # of equals the one of the result's first axis
        key = (lead.axis, lead.ndim, lead.cuts, *map(_layout, operands))
        plan = _plans.get(key)
        if plan is None:
            plan = self._planned(operands, lead)
            if plan is None:  # the divided axis has one element, and broadcasts
                operands = [y.reshard(None) if y is lead else y for y in operands]
                self.ranges = None
                if any(getattr(y, "axis", None) is not None for y in operands):
                    self.__init__(operands, mesh, what)
                return
            if len(_plans) >= _MOST_PLANS:
                _plans.clear()
            _plans[key] = plan
        self.axis, placed, ranges = plan
        self.cuts = lead.cuts
        for k, axis in placed:
            operands[k] = operands[k].reshard(axis)
        self.ranges = [(lo, hi, i, [_fetched(x, how, i) for x, how in zip(operands, hows, strict=True)])
                       for lo, hi, i, hows in ranges]  # fmt: skip
        moving = [(r, k) for r, (_, _, _, hows) in enumerate(ranges) for k, how in enumerate(hows) if how[3]]
        if moving:
            given = [self.ranges[r][3][k] for r, k in moving]
            sent = moved_all(given, [mesh.devices[ranges[r][2]] for r, _ in moving], what)
            for (r, k), array in zip(moving, sent, strict=True):
                self.ranges[r][3][k] = array

    def _planned(self, operands, lead):
        """(axis, [(operand, the axis along which it is to be divided)], [(lo, hi, i, how each operand is got)])."""
        ndim, n = max(getattr(x, "ndim", 0) for x in operands), lead.cuts[-1]
        axis, placed, layouts = lead.axis + ndim - lead.ndim, [], []
        for k, x in enumerate(operands):
            at = axis - ndim + x.ndim if getattr(x, "ndim", 0) else -1
            extent = x.shape[at] if at >= 0 else 1
            if extent != n and extent != 1:
                if n == 1:
                    return None
                shapes = " ".join(str(y.shape) for y in operands if hasattr(y, "shape"))
                raise ValueError(f"operands could not be broadcast together with shapes {shapes}")
            if extent == 1 and n != 1:
                at = -1
            rows = ()
            if type(x) is ShardedArray and x.axis is not None:
                rows = tuple(p[:3] for p in x.pieces)
                if x.axis != at:
                    placed.append((k, at if at >= 0 else None))
                    cuts = even(n, len(self.mesh)) if at >= 0 else ()
                    rows = tuple((lo, hi, i) for i, (lo, hi) in enumerate(zip(cuts, cuts[1:], strict=False)) if lo < hi)
            layouts.append((at, rows, type(x) if getattr(x, "ndim", 0) else None))
        return axis, placed, [(lo, hi, i, [_how(*own, lo, hi, i) for own in layouts])
                              for lo, hi, i in _cut(lead.cuts, layouts)]  # fmt: skip


_plans, _MOST_PLANS = {}, 1024  # what _planned has found, by the operands' layouts
_AS_IT_IS, _WHOLE, _PART, _PIECE = range(4)


def _layout(x):
    if type(x) is ShardedArray:
        return x.shape, x.axis, tuple([p[:3] for p in x.pieces])
    return type(x), x.shape if getattr(x, "ndim", 0) else None


def _cut(cuts, layouts):
    """(lo, hi, i): the devices' rows, divided where an operand's pieces are."""
    starts = {lo for _, rows, _ in layouts for lo, _, _ in rows}
    found = []
    for i, lo in enumerate(cuts[:-1]):
        hi = cuts[i + 1]
        if lo < hi:
            at = sorted([lo, hi, *(k for k in starts if lo < k < hi)])
            found += [(at[k], at[k + 1], i) for k in range(len(at) - 1)]
    return found


def _how(at, rows, kind, lo, hi, i):
    """How an operand is got for rows lo to hi on device i: (what is done, number of its piece, key, does it move)."""
    if rows:
        k = next(k for k, (start, stop, _) in enumerate(rows) if start <= lo < stop)
        start, stop, owner = rows[k]
        return _PIECE, k, None if (start, stop) == (lo, hi) else rows_key(at, lo - start, hi - start), owner != i
    if kind is None:
        return _AS_IT_IS, 0, None, False
    if at < 0:
        return _WHOLE, 0, None, False
    return (_WHOLE, 0, rows_key(at, lo, hi), False) if kind is ShardedArray else (_PART, at, (lo, hi), False)


def _fetched(x, how, i):
    """Operand x for a range of rows on device i, or where it is so far, if it has to move."""
    kind, k, key, _ = how
    if kind == _PIECE:
        a = x.pieces[k][3]
        return a if key is None else a[key]
    if kind == _AS_IT_IS:
        return x.on(i) if type(x) is ShardedArray else x
    if kind == _PART:
        return x.part(k, *key, i)
    return x.on(i) if key is None else x.on(i)[key]
