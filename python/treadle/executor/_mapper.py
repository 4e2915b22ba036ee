"""Maps a function of numbers over columns: compiled code computes slices, and Python computes the items that it
rejects.
"""

import numpy

from .. import _core
from .._compile._source import is_stale
from ._columns import BOOL, COMPLEX, FLOAT, INT, OTHER
from ._exact import REFUSALS, Changed, program

_NAMES = {BOOL: "bool", INT: "int", FLOAT: "float", COMPLEX: "complex", OTHER: "object"}


class Refused(Exception):
    """The function is not compiled for these items; the message is the reason.

    arrays: the reason is that the items are arrays. here: the function has changed since it was imported, so another
    process might import a different one."""

    def __init__(self, why, arrays=False, here=False):
        super().__init__(why)
        self.arrays, self.here = arrays, here


class Mapper:
    """Maps fn over columns of numbers on a device.

    The constructor raises Refused where the function cannot be compiled or the first items are not numbers."""

    def __init__(self, fn, columns, n, device, as_array):
        self._fn, self._columns, self.device, self._as_array = fn, columns, device, as_array
        self.n, self.again = n, 0  # again: items that Python has computed
        first = [c.block(0, 1) for c in columns]
        kinds = tuple(b.met for b in first)
        for column, kind in zip(columns, kinds, strict=True):
            if kind == OTHER:
                item = column.first()
                what = f"the items are not numbers that int64 and float64 hold, but {type(item).__name__}s"
                raise Refused(what, hasattr(item, "dtype"))
        try:
            self.words = program(fn, kinds, device).words
        except REFUSALS as error:
            raise Refused(str(error), here=isinstance(error, Changed) or is_stale(str(error))) from None

    def _groups(self, blocks, n):
        """Group the rows by the kinds of their items: pairs (kinds, indices of the rows). Indices of None mean all
        rows."""
        kinds = tuple(b.met for b in blocks)
        if all(b.kinds is None or k & (k - 1) == 0 for b, k in zip(blocks, kinds, strict=True)):
            return [(kinds, None)]
        table = numpy.stack([numpy.full(n, b.met, "uint8") if b.kinds is None else b.kinds for b in blocks])
        rows, where = numpy.unique(table, axis=1, return_inverse=True)
        where = where.reshape(-1)
        return [(tuple(map(int, rows[:, k])), numpy.flatnonzero(where == k)) for k in range(rows.shape[1])]

    def _compiled(self, kinds):
        if OTHER in kinds:
            return None
        try:
            return program(self._fn, kinds, self.device)
        except REFUSALS:  # Python runs the function: it gives its result or its own error
            return None

    def run(self, lo, hi):
        """Compute rows lo..hi and return (results, exception).

        The exception is None, or the one that a row raised; the results are those of the rows before it. The results
        are a list. With as_array they are an array where one can hold them."""
        n = hi - lo
        blocks = [c.block(lo, hi) for c in self._columns]
        groups = self._groups(blocks, n)
        if len(groups) == 1:
            return self._one(blocks, groups[0][0], n)
        results, left = [None] * n, []
        for kinds, index in groups:
            made = self._compiled(kinds)
            if made is None:
                left.append(index)
                continue
            outs, bad = made([b.take(k, index) for b, k in zip(blocks, kinds, strict=True)], len(index))
            for i, value in zip(index.tolist(), made.as_list(outs, len(index)), strict=True):
                results[i] = value
            left.append(index[bad])
        return self._python(blocks, numpy.sort(numpy.concatenate(left)), results)

    def _one(self, blocks, kinds, n):
        made = self._compiled(kinds)
        if made is None:
            return self._python(blocks, numpy.arange(n), [None] * n)
        outs, bad = made([b.take(k) for b, k in zip(blocks, kinds, strict=True)], n)
        left = numpy.flatnonzero(bad)
        array = made.as_array(outs, n) if self._as_array and not len(left) else None
        if array is not None:
            return array, None
        return self._python(blocks, left, made.as_list(outs, n))

    def note(self):
        """A warning for the caller when Python computed more than half of the items, else None."""
        if 2 * self.again <= max(self.n, 1000):
            return None
        name = getattr(self._fn, "__qualname__", None) or repr(self._fn)
        return (
            f"DeviceExecutor.map: Python ran {self.again} of {self.n} items of {name} again, because int64 does not "
            "hold what they compute, they divide by zero, or they raise: the compiled function does not help here"
        )

    def _python(self, blocks, left, results):
        self.again += len(left)
        for i in left.tolist():
            try:
                results[i] = self._fn(*[b.item(i) for b in blocks])
            except BaseException as error:
                error.__traceback__ = error.__traceback__.tb_next  # drop this frame from the traceback
                return results[:i], error
        return results, None


def joined(parts, device):
    """The results of all slices as one array.

    Raises TypeError or OverflowError where no array of numbers holds them."""
    if len(parts) == 1 and not isinstance(parts[0], list):
        return _core.asarray(parts[0], device=device)
    if all(isinstance(p, numpy.ndarray) for p in parts) and parts:
        return _core.asarray(numpy.concatenate(parts), device=device)
    if all(isinstance(p, _core.ndarray) for p in parts) and parts:
        from .. import concatenate

        return concatenate([_core.asarray(p, device=device) for p in parts])
    values = [v for p in parts for v in (p if isinstance(p, list) else _host(p).tolist())]
    array = numpy.asarray(values)
    if array.dtype.kind not in "biufc":
        far = any(type(v) is int and not -(1 << 63) <= v < 1 << 63 for v in values)
        if far:
            raise OverflowError("as_array=True: a result is an int that int64 does not hold; take them as a list")
        raise TypeError("as_array=True: the results are no numbers; take them as a list")
    return _core.asarray(array, device=device)


def _host(a):
    return a.get() if isinstance(a, _core.ndarray) else a
