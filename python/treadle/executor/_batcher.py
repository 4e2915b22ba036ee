"""Maps a function over items that are arrays: treadle.vmap runs it for many items in one call.

Building the batched function calls the user's function once more than plain Python would. Therefore only functions are
tried whose bytecode shows no side effects.
"""

import builtins
import dis
import types

import numpy

from .. import _core
from .._vmap._array import Unbatched
from .._vmap._vmap import batched
from ._columns import Array, Numbers, Rows

_MODULES = ("numpy", "treadle", "math", "cmath", "operator")
_BUILTINS = set("abs bool complex divmod enumerate float int isinstance len max min pow range reversed round slice sum "
                "tuple zip".split())  # fmt: skip
_CHANGES = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR",
            "STORE_DEREF", "IMPORT_NAME", "YIELD_VALUE"}  # fmt: skip
_WORK = set("save savez savez_compressed savetxt load loadtxt memmap tofile fromfile genfromtxt dump dumps seed "
            "shuffle copyto put place putmask fill sort partition resize setflags write print "
            "random".split())  # fmt: skip


def _computes(x, seen):
    """Whether x only computes, as far as its type, its module or its bytecode shows."""
    if isinstance(x, types.ModuleType):
        return x.__name__.partition(".")[0] in _MODULES
    if isinstance(x, types.FunctionType) and x.__module__.partition(".")[0] not in _MODULES:
        return _is_plain(x, seen)
    if callable(x):
        module = getattr(x, "__module__", None) or type(x).__module__
        return module.partition(".")[0] in _MODULES or getattr(builtins, getattr(x, "__name__", ""), None) is x
    return isinstance(x, (bool, int, float, complex, str, tuple, numpy.ndarray, numpy.generic, _core.ndarray))


def _is_plain(f, seen):
    if f in seen:
        return True
    seen.add(f)
    if not all(_computes(x, seen) for x in [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]):
        return False
    cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    for step in dis.get_instructions(f):
        if step.opname in _CHANGES:
            return False
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and step.argval in _WORK:
            return False
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            known = step.argval in f.__globals__
            if not known and step.argval not in _BUILTINS:
                return False
            if known and not _computes(f.__globals__[step.argval], seen):
                return False
        if step.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF") and step.argval in cells:
            try:
                if not _computes(cells[step.argval].cell_contents, seen):
                    return False
            except ValueError:  # the cell is still empty
                return False
    return not any(isinstance(c, types.CodeType) for c in f.__code__.co_consts)


def _stacked(column, lo, hi, device):
    """The items lo..hi of a column as one array on the device. None where they are not arrays of one shape and dtype.
    """
    if isinstance(column, (Rows, Array, Numbers)):
        part = column.array(lo, hi)
        return _core.asarray(part, device=device)
    items = column.items[lo:hi]
    first = items[0]
    if not isinstance(first, (numpy.ndarray, _core.ndarray)) or first.dtype.kind not in "biufc":
        return None
    if any(type(x) is not type(first) or x.shape != first.shape or x.dtype != first.dtype for x in items):
        return None
    if isinstance(first, numpy.ndarray):
        return _core.asarray(numpy.stack(items), device=device)
    from .. import stack

    return stack(items)


class Batcher:
    """Maps fn over columns of arrays on a device, many items at once.

    The constructor raises Unbatched, with the reason, where that is impossible."""

    def __init__(self, fn, columns, n, device, as_array):
        self._fn, self._columns, self.device, self._as_array = fn, columns, device, as_array
        self.n, self.again, self.words = n, 0, 1  # words: numbers that one item's result takes, as in Mapper
        firsts = [c.first() for c in columns]
        arrays = [x for x in firsts if isinstance(x, (numpy.ndarray, _core.ndarray))]
        if not arrays or type(fn) is not types.FunctionType or not _is_plain(fn, set()):
            raise Unbatched("it does other things than compute with arrays")
        self._numpy = not any(isinstance(x, _core.ndarray) for x in arrays)
        self._many = batched(fn, loop=False)
        self._batch(0, 1)

    def _batch(self, lo, hi):
        stacks = [_stacked(c, lo, hi, self.device) for c in self._columns]
        if any(s is None for s in stacks):
            raise Unbatched("its items are arrays of different shapes")
        return self._many(*stacks)

    def run(self, lo, hi):
        """Compute rows lo..hi and return (results, exception).

        The exception is None, or the one that a row raised; the results are those of the rows before it."""
        try:
            result = self._batch(lo, hi)
        except Unbatched:
            return self._python(lo, hi)
        if self._as_array and isinstance(result, _core.ndarray):
            return result, None
        return self._rows(result, hi - lo), None

    def _rows(self, result, n):
        """The result of a batched call, a tree of arrays, as a list of n trees, one for each item."""
        if isinstance(result, (tuple, list)):
            parts = [self._rows(part, n) for part in result]
            if hasattr(result, "_fields"):
                return [type(result)(*row) for row in zip(*parts, strict=True)]
            return [type(result)(row) for row in zip(*parts, strict=True)] if parts else [type(result)()] * n
        if isinstance(result, dict):
            parts = [self._rows(part, n) for part in result.values()]
            return [dict(zip(result, row, strict=True)) for row in zip(*parts, strict=True)]
        if result is None:
            return [None] * n
        return list(result.get() if self._numpy else result)

    def note(self):
        if not self.again:
            return None
        return f"DeviceExecutor.map: {self.again} of {self.n} items ran one by one: they differ, or fail together"

    def _python(self, lo, hi):
        results = []
        self.again += hi - lo
        for row in zip(*[c.part(lo, hi) for c in self._columns], strict=True):
            try:
                results.append(self._fn(*row))
            except BaseException as error:
                error.__traceback__ = error.__traceback__.tb_next
                return results, error
        return results, None
