"""Order statistics of long vectors on a GPU without sorting them.

Histograms find the bin that holds the wanted elements, and only that bin is sorted. This reads the data five times. A
sort reads and writes them four to eight times, and also the indices if those are wanted.
"""

import numpy

from .. import _core
from .._core import asnumpy
from .._exchange._place import on
from .._numpy._join import concatenate
from ._sorting import sort

_UFUNC = _core.ufuncs()
_select = _UFUNC["select"]

LONG = 1 << 22  # elements from which this beats sorting
BINS = 4096  # bins that fit shared memory
LEVELS = 4  # nested histograms after which sorting would have been faster
SHARE, SMALL = 256, 1 << 16  # the bin is sorted when it holds at most this fraction of the data, or this many elements


def serves(x):
    """Whether x is a long vector of floats on a GPU."""
    return not x.device.host and x.ndim == 1 and x.size >= LONG and x.dtype in ("float32", "float64")


def _number(a):
    return asnumpy(a)[()]


def _tightened(x, start, stop, closed):
    """The least and the greatest element between start and stop."""
    below = x <= stop if closed else x < stop
    inf = x.dtype.type(numpy.inf)
    return _number(_select(x >= start, x, inf).min()), _number(_select(below, x, -inf).max())


def around(x, first, last):
    """Elements first to last of the sorted x: (a sorted array that holds them, how many elements of x come before it).

    None where x holds NaN or infinities, or where too many elements are nearly the same."""
    both = _number(_core._ends(x))
    start, stop = x.dtype.type(both.real), x.dtype.type(both.imag)
    if not numpy.isfinite(stop - start):
        return None
    below, closed = 0, True  # elements below start; whether the range includes stop
    for level in range(LEVELS):
        if level:
            start, stop = _tightened(x, start, stop, closed)
        if start == stop:
            return _core._broadcast_to(on(x.device, start), (last - first + 1,)), first
        edges = numpy.linspace(start, stop, BINS + 1, dtype=x.dtype)
        if not (edges[:-1] < edges[1:]).all() or BINS / (float(stop) - float(start)) > numpy.finfo(x.dtype).max:
            return None
        counts = _core._histogram(x, on(x.device, edges), float(start), float(stop))
        ends = below + numpy.cumsum(asnumpy(counts))
        low, high = (int(numpy.searchsorted(ends, k, "right")) for k in (first, last))
        below = int(ends[low - 1]) if low else below
        start, stop, closed = edges[low], edges[high + 1], high == BINS - 1
        if ends[high] - below <= max(SMALL, x.size // SHARE):
            inside = (x >= start) & (x <= stop if closed else x < stop)
            return sort(_core._select(x, inside)), below
    return None


def largest(x, k):
    """The indices of the k largest elements of x, in no order. None as for around()."""
    found = around(x, x.size - k, x.size - k)
    if found is None:
        return None
    least = found[0][x.size - k - found[1]]
    above = _core._select(None, x > least)
    return concatenate((above, _core._select(None, x == least)[: k - above.shape[0]]))
