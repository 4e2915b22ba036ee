"""``STAND_INS``: the functions that are compiled in place of functions of NumPy's and Python's. The core looks them up
here. Methods of arrays are found by name.

heapq's functions stand here too. A heap is a list of numbers, or of tuples of numbers. They compare elements only by <
and in the same order as heapq, so they leave the same list.
"""

import heapq

from . import _arrayjoins, _arraymatrices, _arraynumbers, _arrays, _draws, _linear


def _rise(heap, start, at):
    """Move the element at a place towards the root until its parent is not greater."""
    x = heap[at]
    while at > start:
        parent = (at - 1) >> 1
        if not x < heap[parent]:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = x


def _sink(heap, at):
    """Move the element at a place down to a leaf along the smaller children, then up to its place."""
    end, start = len(heap), at
    x = heap[at]
    child = 2 * at + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = x
    _rise(heap, start, at)


def _heapify(x):
    for at in range(len(x) // 2 - 1, -1, -1):
        _sink(x, at)


def _heappush(heap, item):
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


def _heappop(heap):
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) == 0:
        return last
    least = heap[0]
    heap[0] = last
    _sink(heap, 0)
    return least


def _heapreplace(heap, item):
    if len(heap) == 0:
        raise IndexError("index out of range")
    least = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return least


def _heappushpop(heap, item):
    if len(heap) > 0 and heap[0] < item:
        return _heapreplace(heap, item)
    return item


def _nsmallest(n, iterable):
    return sorted(iterable)[: max(n, 0)]


def _nlargest(n, iterable):
    return sorted(iterable, reverse=True)[: max(n, 0)]


HEAPS = {
    heapq.heapify: _heapify, heapq.heappush: _heappush, heapq.heappop: _heappop, heapq.heapreplace: _heapreplace,
    heapq.heappushpop: _heappushpop, heapq.nsmallest: _nsmallest, heapq.nlargest: _nlargest,
}  # fmt: skip

STAND_INS = _draws.DRAWS | _arrays.ARRAYS | _arraynumbers.ARRAYS | _arraymatrices.ARRAYS | _arrayjoins.ARRAYS
STAND_INS |= HEAPS | _linear.LINALGS | _arrays.METHODS | _arraymatrices.METHODS | _arrayjoins.METHODS
