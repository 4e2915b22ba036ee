"""Sorting an array of one axis that is divided: each device sorts its part, sends the others what belongs there, and
merges what it gets.

Where the parts are divided is found on the host: every s-th element of each part tells for a value how many elements
precede it, to s elements a part; the elements between two such values tell the rest.
"""

import functools

import numpy

from .. import _core
from .._vmap._array import function
from ._array import joined, sharded
from ._mesh import even, moved_all

_SAMPLES = 1 << 13  # elements of each part that the host looks at first
_RUN, _THREADS = 16, 256  # elements that one thread merges; threads of a block


class _Part:
    """A sorted part, of which the host has every step-th element."""

    def __init__(self, array, samples, step):
        self.array, self.samples, self.step, self.size = array, samples, step, array.size

    def fewest(self, value):
        """At least so many elements precede value, or equal it."""
        return max(0, int(numpy.searchsorted(self.samples, value, "left")) - 1) * self.step

    def most(self, value):
        """At most so many do."""
        return min(self.size, int(numpy.searchsorted(self.samples, value, "right")) * self.step)


def _sampled(arrays):
    steps = [max(1, a.size // _SAMPLES) for a in arrays]
    taken = [a[::s].copy() for a, s in zip(arrays, steps, strict=True)]
    _core.evaluate(*taken)
    return [_Part(a, t.get(), s) for a, t, s in zip(arrays, taken, steps, strict=True)]


def _first(samples, holds):
    """The number of the first sample for which holds(sample); once true it stays so."""
    lo, hi = 0, len(samples)
    while lo < hi:
        middle = (lo + hi) // 2
        lo, hi = (lo, middle) if holds(samples[middle]) else (middle + 1, hi)
    return lo


def divided(parts, rank):
    """How many elements of each part are among the `rank` first of all. Equal ones count in the parts' order."""
    low, high = [0] * len(parts), [p.size for p in parts]
    for p in parts:
        k = _first(p.samples, lambda v: sum(q.most(v) for q in parts) > rank)
        if k:
            low = [max(a, q.fewest(p.samples[k - 1])) for a, q in zip(low, parts, strict=True)]
        k = _first(p.samples, lambda v: sum(q.fewest(v) for q in parts) >= rank)
        if k < len(p.samples):
            high = [min(a, q.most(p.samples[k])) for a, q in zip(high, parts, strict=True)]
    runs = [q.array[a:b].copy() for q, a, b in zip(parts, low, high, strict=True)]
    _core.evaluate(*runs)
    runs = [r.get() for r in runs]
    left = rank - sum(low)
    if not left:
        return low
    bound = numpy.partition(numpy.concatenate(runs), left - 1)[left - 1]
    counts = [int(numpy.searchsorted(r, bound, "left")) for r in runs]
    left -= sum(counts)
    for k, r in enumerate(runs):
        more = min(left, int(numpy.searchsorted(r, bound, "right")) - counts[k])
        counts[k] += more
        left -= more
    return [a + n for a, n in zip(low, counts, strict=True)]


@functools.cache
def _merging(dtype):
    """The kernel that merges two sorted arrays. A block finds how many elements of each the blocks before it take and
    brings its own into shared memory; there each of its threads finds the same of the threads before it."""
    from .. import cuda

    most = _RUN * _THREADS

    @cuda.jit(device=True)
    def follows(x, y):  # does y belong before x? NaN come last
        return y < x or (x != x and y == y)

    @cuda.jit
    def merge(a, b, out):
        ends = cuda.shared.array(2, "int64")
        own = cuda.shared.array(most, dtype)
        found = cuda.local.array(_RUN, dtype)
        n, m, t = a.shape[0], b.shape[0], cuda.threadIdx.x
        first = cuda.blockIdx.x * most
        last = min(n + m, first + most)
        if t < 2:  # of the d elements that come first, how many are a's?
            d = first if t == 0 else last
            lo, hi = max(0, d - m), min(d, n)
            while lo < hi:
                middle = (lo + hi) // 2
                if follows(a[middle], b[d - 1 - middle]):
                    hi = middle
                else:
                    lo = middle + 1
            ends[t] = lo
        cuda.syncthreads()
        start, n = ends[0], ends[1] - ends[0]
        m = last - first - n
        for k in range(t, n + m, _THREADS):
            own[k] = a[start + k] if k < n else b[first - start + k - n]
        cuda.syncthreads()
        d = min(n + m, t * _RUN)
        lo, hi = max(0, d - m), min(d, n)
        while lo < hi:
            middle = (lo + hi) // 2
            if follows(own[middle], own[n + d - 1 - middle]):
                hi = middle
            else:
                lo = middle + 1
        i, j = lo, n + d - lo
        for k in range(_RUN):
            if i < n and (j >= n + m or not follows(own[i], own[j])):
                found[k] = own[i]
                i += 1
            elif j < n + m:
                found[k] = own[j]
                j += 1
        cuda.syncthreads()
        for k in range(_RUN):
            if d + k < n + m:
                own[d + k] = found[k]
        cuda.syncthreads()
        for k in range(t, n + m, _THREADS):
            out[first + k] = own[k]

    return merge


def merged(a, b):
    """The elements of two sorted arrays of a device, sorted."""
    if not a.size or not b.size:
        return a if a.size else b
    if a.device.host:
        return function("sort")(joined([a, b], 0))
    out = _core.empty(a.size + b.size, a.dtype, device=a.device)
    _merging(a.dtype.str)[-(-out.size // (_RUN * _THREADS)), _THREADS](a, b, out)
    return out


def sort(x):
    """x, of one axis, in order, evenly divided. NotImplemented for dtypes whose order is no comparison."""
    if x.dtype.kind not in "iuf":
        return NotImplemented
    mesh = x.mesh
    owners = sorted({p[2] for p in x.pieces})
    arrays = [function("sort")(joined([a for _, _, i, a in x.pieces if i == k], 0)) for k in owners]
    _core.evaluate(*arrays)
    parts, cuts = _sampled(arrays), even(x.size, len(mesh))
    at = [divided(parts, c) for c in cuts[:-1]] + [[p.size for p in parts]]
    owned = [(i, p.array[a:b]) for i in range(len(mesh))
             for p, a, b in zip(parts, at[i], at[i + 1], strict=True) if a < b]  # fmt: skip
    sent = moved_all([run for _, run in owned], [mesh[i] for i, _ in owned], "sort")
    made = []
    for i in range(len(mesh)):
        runs = [run for (k, _), run in zip(owned, sent, strict=True) if k == i]
        while len(runs) > 1:
            runs = [merged(*runs[k : k + 2]) if k + 1 < len(runs) else runs[k] for k in range(0, len(runs), 2)]
        if runs:
            own = runs[0].copy() if any(_core._same_storage(runs[0], p.array) for p in parts) else runs[0]
            made.append((cuts[i], cuts[i + 1], i, own))
    return sharded(mesh, 0, cuts, made)
