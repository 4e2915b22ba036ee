"""Objects that are used by subscripting them: r_, c_, mgrid, ogrid, s_, index_exp."""

from math import ceil

import numpy

from .. import _core
from .._core import arange, asarray, ndarray
from .._exchange import _foreign
from ._create._coordinates import indices
from ._create._ranges import linspace
from ._join import concatenate, stack

index_exp, s_ = numpy.index_exp, numpy.s_


def _bounds(s):
    return 0 if s.start is None else s.start, s.stop, 1 if s.step is None else s.step


def _axes_to(ndmin, missing, at):
    """The order of axes that moves the `missing` new leading axes behind position `at`."""
    at += missing + 1 if at < 0 else 0
    every = list(range(ndmin))
    return every[:at] + every[missing:] + every[at:missing]


class _Joined:
    """Joins arrays, numbers and ranges along an axis. The class of r_ and c_."""

    def __init__(self, name, axis=0, ndmin=1, trans1d=-1):
        self._name, self.axis, self.ndmin, self.trans1d = name, axis, ndmin, trans1d

    def __len__(self):
        return 0

    def __getitem__(self, key):
        try:
            return self._of(key)
        except _core.NoNumbersError as refusal:
            return _foreign.function(f"{self._name}.__getitem__", refusal)(key)

    def _of(self, key):
        axis, ndmin, trans1d = self.axis, self.ndmin, self.trans1d
        parts, items = [], key if isinstance(key, tuple) else (key,)
        if items and isinstance(items[0], str):
            axis, ndmin, trans1d = self._directive(items[0])
            items = items[1:]
        for item in items:
            if isinstance(item, str):
                raise ValueError("special directives must be the first entry.")
            parts.append(self._part(item, ndmin, trans1d))
        if not parts:
            raise ValueError("need at least one array to concatenate")
        dtype = numpy.result_type(*(p.dtype if isinstance(p, ndarray) else p for p in parts))
        device = next((p.device for p in parts if isinstance(p, ndarray)), None)
        numbers = [isinstance(p, ndarray) for p in parts]
        parts = [p if own else asarray(p, dtype, device=device).reshape([1] * ndmin) for p, own in zip(parts, numbers)]
        return concatenate(parts, axis, dtype=dtype)

    def _directive(self, text):
        if text in ("r", "c"):
            raise _core.NoNumbersError("matrices are a class of NumPy's own")
        try:
            numbers = [int(x) for x in text.split(",")]
            return (numbers + [self.ndmin, self.trans1d][len(numbers) - 1 :])[:3]
        except ValueError:
            raise ValueError(f"unknown special directive {text!r}") from None

    @staticmethod
    def _part(item, ndmin, trans1d):
        """An item as an array of at least ndmin axes, or as the number that it is."""
        if isinstance(item, slice):
            start, stop, step = _bounds(item)
            if isinstance(step, (complex, numpy.complexfloating)):
                a = linspace(start, stop, int(abs(step)))
            else:
                a = arange(start, stop, step)
        elif isinstance(item, (int, float, complex, numpy.generic)) and not isinstance(item, ndarray):
            return item
        else:
            a = asarray(item)
        missing = ndmin - a.ndim
        if missing <= 0:
            return a
        grown = a.reshape((1,) * missing + a.shape)
        if isinstance(item, slice):
            return grown if trans1d == -1 else grown.swapaxes(-1, trans1d)
        return grown if trans1d == -1 else grown.transpose(_axes_to(ndmin, missing, trans1d))


r_, c_ = _Joined("r_", 0), _Joined("c_", -1, 2, 0)


def _steps(s, complex_step):
    """(number of points, first point, distance) that a slice stands for."""
    start, stop, step = _bounds(s)
    if not complex_step:
        return ceil((stop - start) / step), start, step
    n = int(abs(step))
    return n, start, (stop - start) / float(n - 1) if n != 1 else n


class _Grid:
    """Coordinates of a grid, by a subscript of slices. An imaginary step is a number of points, which include the
    last."""

    def __init__(self, sparse):
        self.sparse = sparse

    def __getitem__(self, key):
        if isinstance(key, slice):
            return self._line(key)
        bounds = [_bounds(s) for s in key]
        imaginary = [isinstance(step, (complex, numpy.complexfloating)) for *_, step in bounds]
        dtype = numpy.result_type(0, *(x if not i else abs(x) for b, i in zip(bounds, imaginary) for x in b))
        steps = [_steps(s, i) for s, i in zip(key, imaginary)]
        axes = indices([n for n, *_ in steps], dtype, sparse=True)
        axes = tuple((a * step + start).astype(dtype, copy=False) for a, (_, start, step) in zip(axes, steps))
        if self.sparse:
            return axes
        if not axes:
            return _core.empty(0, "int64")
        shape = [n for n, *_ in steps]
        return stack([_core._broadcast_to(a, shape) for a in axes])

    @staticmethod
    def _line(s):
        start, stop, step = _bounds(s)
        if not isinstance(step, (complex, numpy.complexfloating)):
            return arange(start, stop, step)
        n, start, distance = _steps(s, True)
        return arange(0, n, 1, dtype=numpy.result_type(start, stop, abs(step))) * distance + start


mgrid, ogrid = _Grid(False), _Grid(True)
