"""The inputs of a map: a column for each iterable, read in slices.

A column has a length. ``block(lo, hi)`` gives a slice of it with these members: ``met``, a bit mask of the kinds of
its items; ``kinds``, the kind of each item where they differ, else None; ``take(kind, index)``, the items at index as
an array of that kind; ``item(i)``, item i as the Python object.
"""

import numpy

from .. import _core

BOOL, INT, FLOAT, NONE, COMPLEX, OTHER = 1, 2, 4, 8, 16, 32
DTYPES = {BOOL: numpy.dtype(bool), INT: numpy.dtype("int64"), FLOAT: numpy.dtype("float64"),
          COMPLEX: numpy.dtype("complex128")}  # fmt: skip


class _Listed:
    """A slice of a list or a tuple."""

    def __init__(self, items, lo, hi):
        self._items, self._lo = items, lo
        self._words, self.kinds = numpy.empty(hi - lo, "int64"), numpy.empty(hi - lo, "uint8")
        self.met = _core._items_in(items, lo, self._words, self.kinds)

    def take(self, kind, index=None):
        if kind == COMPLEX:
            at = range(len(self.kinds)) if index is None else index
            return numpy.array([self._items[self._lo + i] for i in at], DTYPES[COMPLEX])
        words = self._words if index is None else self._words[index]
        return words.astype(bool) if kind == BOOL else words.view(DTYPES[kind])

    def item(self, i):
        return self._items[self._lo + i]


class _Whole:
    """A slice of items of one kind that lie in an array of NumPy's or treadle's."""

    kinds = None

    def __init__(self, array, kind):
        self._array, self.met, self._host = array, kind, None

    def take(self, kind, index=None):
        return self._array if index is None else self._numpy()[index]

    def _numpy(self):
        if self._host is None:
            self._host = self._array.get() if isinstance(self._array, _core.ndarray) else self._array
        return self._host

    def item(self, i):
        return self._numpy()[i].item()


class Items:
    """The items of a list or a tuple. Nobody else may change it meanwhile."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def block(self, lo, hi):
        return _Listed(self.items, lo, hi)

    def part(self, lo, hi):
        """Items lo..hi in the form that is sent to another process."""
        return self.items[lo:hi]

    def first(self):
        return self.items[0]


class Rows:
    """The rows of an array of two or more axes. Each item is an array."""

    def __init__(self, array):
        self._array = array

    def __len__(self):
        return self._array.shape[0]

    def block(self, lo, hi):
        return _Listed(self.part(lo, hi), 0, hi - lo)

    def part(self, lo, hi):
        return list(self._array[lo:hi])

    def array(self, lo, hi):
        return self._array[lo:hi]

    def first(self):
        return self._array[0]

    @property
    def items(self):
        return list(self._array)


class Numbers:
    """The items of a range of ints."""

    def __init__(self, numbers):
        self.items = numbers

    def __len__(self):
        return len(self.items)

    def array(self, lo, hi):
        r = self.items[lo:hi]
        return numpy.arange(r.start, r.start + len(r) * r.step, r.step, "int64")

    def block(self, lo, hi):
        return _Whole(self.array(lo, hi), INT)

    def part(self, lo, hi):
        return self.items[lo:hi]

    def first(self):
        return self.items[0]


class Array:
    """The items of an array of one axis: the Python numbers that tolist() gives."""

    def __init__(self, array, kind):
        self._array, self._kind = array, kind

    def __len__(self):
        return self._array.shape[0]

    def array(self, lo, hi):
        return self._array[lo:hi]

    def block(self, lo, hi):
        return _Whole(self._array[lo:hi].astype(DTYPES[self._kind]), self._kind)

    def first(self):
        return self.part(0, 1).tolist()[0]

    def part(self, lo, hi):
        part = self._array[lo:hi]
        return part.get() if isinstance(part, _core.ndarray) else part

    @property
    def items(self):
        return self.part(0, len(self)).tolist()


def _array(a):
    kind = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}.get(a.dtype.kind)
    if kind is None or a.dtype.itemsize > DTYPES[kind].itemsize:
        return Items(list(a))
    if a.ndim > 1:
        return Rows(a.copy())
    if a.dtype == "uint64" and len(a) and int(a.max()) >= 1 << 63:
        return Items(a.tolist())
    return Array(a.copy(), kind)


def _column(x):
    """The column for a sequence of known length. None where x is another iterable, which must be read first."""
    if type(x) is list:
        return Items(x[:])
    if type(x) is tuple:
        return Items(x)
    if type(x) is range:
        ends = (x.start, x.stop + abs(x.step), x.stop - abs(x.step)) if len(x) else (0,)
        return Numbers(x) if all(-(1 << 62) < e < 1 << 62 for e in ends) else Items(list(x))
    if type(x) is numpy.ndarray or isinstance(x, _core.ndarray):
        return _array(x) if x.ndim else None
    return None


def columns(iterables):
    """The columns of zip(*iterables), and the number of rows, which is the length of the shortest.

    An iterator is read until it ends or until zip would stop."""
    found = [_column(x) for x in iterables]
    if None in found:
        if len(found) == 1:
            found = [Items(list(iterables[0]))]
        else:
            rows = list(zip(*iterables, strict=False))
            found = [Items(c) for c in zip(*rows, strict=True)] or [Items(())] * len(found)
    return found, min(map(len, found), default=0)


def columns_of(listed):
    """The columns for a list of rows, and the number of rows."""
    return [Items(c) for c in zip(*listed, strict=True)], len(listed)


def _in_parts(column, size=1024):
    for lo in range(0, len(column), size):
        part = column.part(lo, lo + size)
        yield from part.tolist() if isinstance(part, numpy.ndarray) else part


def rows(iterables):
    """An iterator over zip(*iterables) that reads only as far as the caller asks. Items of arrays become Python
    numbers."""
    arrays = [isinstance(x, (numpy.ndarray, _core.ndarray)) for x in iterables]
    return zip(*(_in_parts(_column(x)) if a else x for x, a in zip(iterables, arrays, strict=True)), strict=False)
