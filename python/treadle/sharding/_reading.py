"""Subscripts of sharded arrays that are read.

Slices are views of the pieces: they stay where they are, so a slice's cuts are the array's, shifted. Elements chosen by
indices along the divided axis are looked up by the device that has them and sent to the one that asked.
"""

import numpy

from .._core import ndarray
from .._vmap._array import function
from ._array import ShardedArray, gathered, joined, replicated, sharded
from ._calls import rule
from ._mesh import even, moved
from ._operands import as_sharded


def is_mask(k):
    return getattr(k, "ndim", 0) > 0 and k.dtype.kind == "b"


def _is_list(k):
    return not isinstance(k, slice) and k is not None and getattr(k, "ndim", 0) > 0


def spread(x, key):
    """A key as a list with one item for each axis and None for each new one."""
    key = list(key) if isinstance(key, tuple) else [key]
    key = [numpy.asarray(k) if isinstance(k, (list, bool, numpy.ndarray)) else k for k in key]
    used = sum(k.ndim if is_mask(k) else k is not None and k is not Ellipsis for k in key)
    if used > x.ndim:
        raise IndexError(f"too many indices for array: array is {x.ndim}-dimensional, but {used} were indexed")
    at = [n for n, k in enumerate(key) if k is Ellipsis]
    if len(at) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    rest = [slice(None)] * (x.ndim - used)
    return key[: at[0]] + rest + key[at[0] + 1 :] if at else key + rest


def number_of(k):
    return k.__index__() if not isinstance(k, slice) and k is not None and not _is_list(k) else None


class Key:
    """A subscript of a sharded array: what it says of the divided axis, what it says of the others, and where the
    divided axis is in the result."""

    __slots__ = ("own", "at", "rest", "out", "lists")

    def __init__(self, x, key):
        axis = -1
        self.rest, self.out, self.own, self.at = [], 0, slice(None), 0
        for k in key:
            mask = is_mask(k)
            if k is not None:
                axis += k.ndim if mask else 1
            if k is not None and axis - (k.ndim - 1 if mask else 0) <= x.axis <= axis:
                self.own, self.at, self.out = k, len(self.rest), self._before()
            self.rest.append(k)
        self.lists = [n for n, k in enumerate(self.rest) if _is_list(k)]

    def _before(self):
        return sum(isinstance(k, slice) or k is None for k in self.rest)

    def with_own(self, own):
        return (*self.rest[: self.at], own, *self.rest[self.at + 1 :])


def view_rows(x, k):
    """The slice of the divided axis as (start, step, count), step > 0, and whether it runs backwards."""
    start, stop, step = k.own.indices(x.shape[x.axis])
    count = len(range(start, stop, step))
    if step < 0:
        start, step = start + (count - 1) * step, -step
        return start, step, count, True
    return start, step, count, False


def owner(x, number):
    """The piece that has a row: where it begins, its device, its array."""
    n = x.shape[x.axis]
    if not -n <= number < n:
        raise IndexError(f"index {number} is out of bounds for axis {x.axis} with size {n}")
    lo, _, i, a = next(p for p in x.pieces if p[0] <= number % n < p[1])
    return lo, i, a


def view(x, k):
    """A view by a basic key: slices, numbers and new axes."""
    n = x.shape[x.axis]
    number = number_of(k.own)
    if number is not None:
        lo, i, a = owner(x, number)
        return replicated(x.mesh, i, a[k.with_own(number % n - lo)])
    start, step, count, back = view_rows(x, k)
    if not count:
        return replicated(x.mesh, 0, x.pieces[0][3].to_device(x.mesh[0])[k.with_own(slice(0, 0))])

    def place(row):
        return min(max(-((start - row) // step), 0), count)

    made = []
    for lo, hi, i, a in x.pieces:
        first, last = place(lo), place(hi)
        if first < last:
            begin = start + first * step - lo
            own = slice(begin, begin + (last - first - 1) * step + 1, step)
            made.append((first, last, i, a[k.with_own(own)]))
    if not back:
        return sharded(x.mesh, k.out, tuple(place(c) if c else 0 for c in x.cuts[:-1]) + (count,), made)
    flip = (slice(None),) * k.out + (slice(None, None, -1),)
    made = [(count - hi, count - lo, i, a[flip]) for lo, hi, i, a in reversed(made)]
    return gathered(x.mesh, k.out, even(count, len(x.mesh)), made, "reversed slice")


def _on_host(k):
    return k.get() if isinstance(k, (ndarray, ShardedArray)) else numpy.asarray(k)


def own_list(x, k):
    """Is the divided axis alone chosen by an array?"""
    return k.lists == [k.at] and not is_mask(k.own)


def indices(x, k):
    """The indices along the divided axis, on the host, from 0 on."""
    n, at = x.shape[x.axis], _on_host(k.own)
    if at.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    bad = (at < -n) | (at >= n)
    if bad.any():
        raise IndexError(f"index {at[bad][0]} is out of bounds for axis {x.axis} with size {n}")
    return numpy.where(at < 0, at + n, at)


def pick(x, k):
    """Rows by an array of indices along the divided axis; the result is divided along the array's first axis."""
    at = indices(x, k)
    flat = at.reshape(-1)
    cuts = even(at.shape[0], len(x.mesh)) if at.ndim else (0,)
    inner = flat.size // at.shape[0] if at.size else 0
    if not inner:
        return NotImplemented
    made = []
    for i in range(len(x.mesh)):
        want = flat[cuts[i] * inner : cuts[i + 1] * inner]
        if not want.size:
            continue
        parts, order = [], []
        for lo, hi, _, a in x.pieces:
            mine = numpy.flatnonzero((lo <= want) & (want < hi))
            if mine.size:
                parts.append(moved(a[k.with_own(want[mine] - lo)], x.mesh[i], "take"))
                order.append(mine)
        back = numpy.empty(want.size, "int64")
        back[numpy.concatenate(order)] = numpy.arange(want.size)
        r = joined(parts, k.out)
        r = r[at_key(k.out, back)] if len(parts) > 1 else r
        made.append((cuts[i], cuts[i + 1], i, _unflat(r, k.out, (cuts[i + 1] - cuts[i], *at.shape[1:]))))
    return sharded(x.mesh, k.out, cuts, made)


def at_key(axis, k):
    return (slice(None),) * axis + (k,)


def _unflat(r, axis, extents):
    return r if len(extents) == 1 else r.reshape((*r.shape[:axis], *extents, *r.shape[axis + 1 :]))


def masked(x, k, mask):
    """The pieces of x and of a mask over its first axes, or over the divided one: (lo, hi, i, piece, mask's piece)."""
    m = as_sharded(mask, x.mesh)
    if m.ndim == 1:
        place = x.axis
    elif k.at == 0 and x.axis == 0:
        place = 0
    else:
        return None
    if m.shape != x.shape[place : place + m.ndim]:
        raise IndexError(f"boolean index did not match indexed array: its shape is {m.shape}, the array's {x.shape}")
    at = 0
    m = m if m.axis in (None, at) else m.reshard(at)
    found = []
    for lo, hi, i, a in x.pieces:
        part = m.on(i)[lo:hi] if m.axis is None else joined(m.rows(lo, hi, i, "mask"), 0)
        found.append((lo, hi, i, a, part))
    return found


def select(x, k):
    """The elements where a mask is true; each device keeps its own, so their numbers may differ."""
    found = masked(x, k, k.own)
    if found is None:
        return NotImplemented
    made, at, ends = [], 0, {}
    for _, _, i, a, m in found:
        r = a[k.with_own(m)]
        n = r.shape[k.out]
        if n:
            made.append((at, at + n, i, r))
        at += n
        ends[i] = at
    cuts = [0]
    for i in range(len(x.mesh)):
        cuts.append(ends.get(i, cuts[-1]))
    if not made:
        return replicated(x.mesh, found[-1][2], r)
    return sharded(x.mesh, k.out, tuple(cuts), made)


_PLAIN = (None, 1)  # steps of slices that go through all


def slid(x, key):
    """A view by slices that go through all they show, and numbers of other axes than the divided one; else None."""
    if type(key) is not tuple:
        key = (key,)
    axis, n = x.axis, len(key)
    if axis is None or n > len(x.shape):
        return None
    out = axis
    for place, k in enumerate(key):
        if type(k) is slice:
            if k.step not in _PLAIN:
                return None
        elif type(k) is int and place != axis:
            out -= place < axis
        else:
            return None
    pieces, cuts = x.pieces, x.cuts
    if axis >= n:
        return sharded(x.mesh, out, cuts, [(p[0], p[1], p[2], p[3][key]) for p in pieces])
    start, stop, _ = key[axis].indices(cuts[-1])
    count = stop - start
    if count <= 0:
        return None
    before, behind, made = key[:axis], key[axis + 1 :], []
    for lo, hi, i, a in pieces:
        first, last = lo if lo > start else start, hi if hi < stop else stop
        if first < last:
            own = a[(*before, slice(first - lo, last - lo), *behind)]
            made.append((first - start, last - start, i, own))
    if count != cuts[-1]:
        cuts = tuple([0 if c <= start else count if c >= stop else c - start for c in cuts])
    return sharded(x.mesh, out, cuts, made)


@rule("getitem")
def getitem(name, fn, x, key):
    if type(x) is not ShardedArray:
        return function("asarray")(x)[key.on(0) if type(key) is ShardedArray else key]
    if x.axis is None:
        i, a = x._main
        return replicated(x.mesh, i, a[key_on(key, i, x.mesh)], x._writes)
    k = Key(x, spread(x, key))
    if not k.lists:
        return view(x, k)
    found = NotImplemented
    if is_mask(k.own) and k.lists == [k.at]:
        found = select(x, k)
    elif own_list(x, k):
        found = pick(x, k)
    elif k.at not in k.lists and number_of(k.own) is None:
        found = _beside(x, k)
    return found if found is not NotImplemented else replicated(x.mesh, 0, x.on(0)[key_on(key, 0, x.mesh)])


def _beside(x, k):
    """Elements chosen by arrays along other axes than the divided one."""
    if k.own != slice(None):
        return NotImplemented
    if k.lists[-1] - k.lists[0] + 1 != len(k.lists) or any(is_mask(k.rest[n]) for n in k.lists):
        return NotImplemented
    rest = [_on_host(n) if _is_list(n) else n for n in k.rest]
    depth = numpy.broadcast(*(rest[n] for n in k.lists)).ndim
    out = k.out + (depth if k.lists[0] < k.at else 0)
    return sharded(x.mesh, out, x.cuts, [(lo, hi, i, a[tuple(rest)]) for lo, hi, i, a in x.pieces])


def key_on(key, i, mesh):
    if type(key) is tuple:
        return tuple(key_on(k, i, mesh) for k in key)
    if type(key) is ShardedArray:
        return key.on(i)
    return moved(key, mesh[i], "index") if isinstance(key, ndarray) else key
