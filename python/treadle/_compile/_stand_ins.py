"""``STAND_INS``: the functions that are compiled in place of functions of NumPy's and Python's. The core looks them up
here. Methods of arrays are found by name.

Methods of strings and heapq's functions stand here too. A heap is a list of numbers, or of tuples of numbers. heapq's
functions compare elements only by < and in the same order as heapq, so they leave the same list.
"""

import functools
import heapq

from . import _arrayjoins, _arraymatrices, _arraynumbers, _arrays, _linear
from ._drawing import _distributions, _draws


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

# ---- map and filter: lists, since a compiled function sees their items when it iterates over them ----


def _map(f, x, *more):
    return [f(a) for a in x] if len(more) == 0 else [f(*items) for items in zip(x, *more)]


def _filter(f, x):
    return [a for a in x if a] if f is None else [a for a in x if f(a)]


def _reduce(f, x, initial=None):
    if initial is None:
        n = 0
        for a in x:
            state = a if n == 0 else f(state, a)  # noqa: F821
            n += 1
        if n == 0:
            raise TypeError("reduce() of empty iterable with no initial value")
        return state
    state = initial
    for a in x:
        state = f(state, a)
    return state


SEQUENCES = {map: _map, filter: _filter, functools.reduce: _reduce}

# ---- min, max, sum, any and all of what can be iterated over ----


def _max_items(x):
    items = list(x)
    if len(items) == 0:
        raise ValueError("max() iterable argument is empty")
    most = items[0]
    for v in items:
        if v > most:
            most = v
    return most


def _min_items(x):
    items = list(x)
    if len(items) == 0:
        raise ValueError("min() iterable argument is empty")
    least = items[0]
    for v in items:
        if v < least:
            least = v
    return least


def _max_by(x, key):
    items = list(x)
    if len(items) == 0:
        raise ValueError("max() iterable argument is empty")
    most, rank = items[0], key(items[0])
    for v in items[1:]:
        k = key(v)
        if k > rank:
            most, rank = v, k
    return most


def _min_by(x, key):
    items = list(x)
    if len(items) == 0:
        raise ValueError("min() iterable argument is empty")
    least, rank = items[0], key(items[0])
    for v in items[1:]:
        k = key(v)
        if k < rank:
            least, rank = v, k
    return least


def _max_or(x, default):
    items = list(x)
    return default if len(items) == 0 else max(items)


def _min_or(x, default):
    items = list(x)
    return default if len(items) == 0 else min(items)


def _max_array(a):
    if a.size == 0:
        raise ValueError("max() iterable argument is empty")
    most = a.max()
    if most != most:  # comparisons pass over a NaN, unless it comes first
        most = a[0]
        for i in range(1, a.size):
            if a[i] > most:
                most = a[i]
    return most


def _min_array(a):
    if a.size == 0:
        raise ValueError("min() iterable argument is empty")
    least = a.min()
    if least != least:
        least = a[0]
        for i in range(1, a.size):
            if a[i] < least:
                least = a[i]
    return least


def _sum_items(x, start):
    total = start
    for v in x:
        total += v
    return total


def _any_items(x):
    for v in x:
        if v:
            return True
    return False


def _all_items(x):
    for v in x:
        if not v:
            return False
    return True


ITEMS = {
    "max.key": _max_by, "min.key": _min_by, "max.default": _max_or, "min.default": _min_or,
    "max.items": _max_items, "min.items": _min_items, "max.array": _max_array, "min.array": _min_array,
    "sum.items": _sum_items, "any.items": _any_items, "all.items": _all_items,
}  # fmt: skip

# ---- methods of strings: those that the runtime lacks, and those it has, with keywords and bounds ----


def _find(s, sub, start=0, end=None):
    return s.find(sub, start, len(s) if end is None else end)


def _rfind(s, sub, start=0, end=None):
    return s.rfind(sub, start, len(s) if end is None else end)


def _index(s, sub, start=0, end=None):
    return s.index(sub, start, len(s) if end is None else end)


def _rindex(s, sub, start=0, end=None):
    return s.rindex(sub, start, len(s) if end is None else end)


def _part(s, start, end):
    """(s[start:end], does it begin before it ends?)"""
    n = len(s)
    begin, stop = 0 if start is None else start, n if end is None else min(end, n)
    begin = max(begin + n, 0) if begin < 0 else begin
    stop = max(stop + n, 0) if stop < 0 else stop
    return s[begin:stop], begin <= stop


def _count(s, sub, start=0, end=None):
    part, within = _part(s, start, end)
    return part.count(sub) if within else 0


def _startswith(s, prefix, start=0, end=None):
    part, within = _part(s, start, end)
    if isinstance(prefix, tuple):
        for p in prefix:
            if within and part.startswith(p):
                return True
        return False
    return within and part.startswith(prefix)


def _endswith(s, suffix, start=0, end=None):
    part, within = _part(s, start, end)
    if isinstance(suffix, tuple):
        for p in suffix:
            if within and part.endswith(p):
                return True
        return False
    return within and part.endswith(suffix)


def _split(s, sep=None, maxsplit=-1):
    return s.split(sep, maxsplit)


def _replace(s, old, new, count=-1):
    return s.replace(old, new, count)


def _rsplit(s, sep=None, maxsplit=-1):
    parts = [s]
    parts.pop()
    end = len(s)
    if sep is None:
        while True:
            while end > 0 and s[end - 1].isspace():
                end -= 1
            if end == 0:
                break
            start = 0 if 0 <= maxsplit == len(parts) else end
            while start > 0 and not s[start - 1].isspace():
                start -= 1
            parts.append(s[start:end])
            end = start
    else:
        if len(sep) == 0:
            raise ValueError("empty separator")
        while True:
            at = -1 if 0 <= maxsplit == len(parts) else s.rfind(sep, 0, end)
            if at < 0:
                break
            parts.append(s[at + len(sep) : end])
            end = at
        parts.append(s[:end])
    parts.reverse()
    return parts


def _splitlines(s, keepends=False):
    parts = [s]
    parts.pop()
    at, start = 0, 0
    while at < len(s):
        if s[at] in "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029":
            end = at + 2 if s[at : at + 2] == "\r\n" else at + 1
            parts.append(s[start : end if keepends else at])
            at = start = end
        else:
            at += 1
    if start < len(s):
        parts.append(s[start:])
    return parts


def _partition(s, sep):
    if len(sep) == 0:
        raise ValueError("empty separator")
    at = s.find(sep)
    if at < 0:
        return s, "", ""
    return s[:at], sep, s[at + len(sep) :]


def _rpartition(s, sep):
    if len(sep) == 0:
        raise ValueError("empty separator")
    at = s.rfind(sep)
    if at < 0:
        return "", "", s
    return s[:at], sep, s[at + len(sep) :]


def _removeprefix(s, prefix):
    return s[len(prefix) :] if s.startswith(prefix) else s[:]


def _removesuffix(s, suffix):
    return s[: len(s) - len(suffix)] if s.endswith(suffix) else s[:]


def _title(s):
    parts = [s]
    parts.pop()
    inside = False
    for c in s:
        parts.append(c.lower() if inside else c.upper())
        inside = c.isalpha()
    return "".join(parts)


def _istitle(s):
    inside, found = False, False
    for c in s:
        if c.isupper():
            if inside:
                return False
            inside = found = True
        elif c.islower():
            if not inside:
                return False
        else:
            inside = False
    return found


def _isidentifier(s):
    if len(s) == 0 or s[0].isdigit():
        return False
    for c in s:
        if not (c.isalnum() or c == "_"):
            return False
    return True


def _isascii(s):
    for c in s:
        if ord(c) > 127:
            return False
    return True


def _isprintable(s):
    for c in s:
        if ord(c) > 127:
            raise ValueError("cases and kinds of characters beyond ASCII are not known")
        if ord(c) < 32 or ord(c) == 127:
            return False
    return True


def _expandtabs(s, tabsize=8):
    parts = [s]
    parts.pop()
    column = 0
    for c in s:
        if c == "\t":
            wide = tabsize - column % tabsize if tabsize > 0 else 0
            parts.append(" " * wide)
            column += wide
        else:
            parts.append(c)
            column = 0 if c == "\n" or c == "\r" else column + 1
    return "".join(parts)


def _slice_indices(parts, length):
    """slice.indices; parts: start, stop, step."""
    if length < 0:
        raise ValueError("length should not be negative")
    step = 1 if parts[2] is None else parts[2]
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low, high = (-1, length - 1) if step < 0 else (0, length)
    start, stop = (high, low) if step < 0 else (low, high)
    if parts[0] is not None:
        start = parts[0] + length if parts[0] < 0 else parts[0]
        start = min(max(start, low), high)
    if parts[1] is not None:
        stop = parts[1] + length if parts[1] < 0 else parts[1]
        stop = min(max(stop, low), high)
    return start, stop, step


_TEXTS = {
    "find": _find, "rfind": _rfind, "index": _index, "rindex": _rindex, "count": _count, "startswith": _startswith,
    "endswith": _endswith, "split": _split, "replace": _replace, "rsplit": _rsplit, "splitlines": _splitlines,
    "partition": _partition, "rpartition": _rpartition, "removeprefix": _removeprefix, "removesuffix": _removesuffix,
    "title": _title, "istitle": _istitle, "isidentifier": _isidentifier, "isascii": _isascii, "isprintable":
    _isprintable, "expandtabs": _expandtabs, "casefold": lambda s: s.lower(), "isnumeric": lambda s: s.isdigit(),
}  # fmt: skip


STAND_INS = _draws.DRAWS | _distributions.DRAWS | _arrays.ARRAYS | _arraynumbers.ARRAYS | _arraymatrices.ARRAYS
STAND_INS |= _arrayjoins.ARRAYS | HEAPS | SEQUENCES | _linear.LINALGS | _arrays.METHODS | _arraymatrices.METHODS
STAND_INS |= _arrayjoins.METHODS | ITEMS | {"slice.indices": _slice_indices}
STAND_INS |= {f"str.{name}": f for name, f in _TEXTS.items()}
