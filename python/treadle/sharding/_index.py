"""Subscripts of sharded arrays, read and written, and what only changes their shape.

Slices are views of the pieces: they stay where they are, so a slice's cuts are the array's, shifted. Elements chosen by
indices along the divided axis are looked up by the device that has them and sent to the one that asked.
"""

import math

import numpy

from .. import _core
from .._core import ndarray
from .._numpy._shape import _axes, _axis
from .._vmap._array import function
from ._array import (
    SUBSCRIPTS,
    ShardedArray,
    _rows,
    apply,
    evaluated,
    gathered,
    joined,
    leaves,
    one_mesh,
    replicated,
    rule,
    settle,
    sharded,
    waiting,
)
from ._mesh import even, moved
from ._operands import Spread, as_sharded


def _is_mask(k):
    return getattr(k, "dtype", None) == bool and k.ndim > 0


def _is_list(k):
    return not isinstance(k, slice) and k is not None and getattr(k, "ndim", 0) > 0


def _spread(x, key):
    """A key as a list with one item for each axis and None for each new one."""
    key = list(key) if isinstance(key, tuple) else [key]
    key = [numpy.asarray(k) if isinstance(k, (list, bool, numpy.ndarray)) else k for k in key]
    used = sum(k.ndim if _is_mask(k) else k is not None and k is not Ellipsis for k in key)
    if used > x.ndim:
        raise IndexError(f"too many indices for array: array is {x.ndim}-dimensional, but {used} were indexed")
    at = [n for n, k in enumerate(key) if k is Ellipsis]
    if len(at) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    rest = [slice(None)] * (x.ndim - used)
    return key[: at[0]] + rest + key[at[0] + 1 :] if at else key + rest


def _number(k):
    return k.__index__() if not isinstance(k, slice) and k is not None and not _is_list(k) else None


class _Key:
    """A subscript of a sharded array: what it says of the divided axis, what it says of the others, and where the
    divided axis is in the result."""

    __slots__ = ("own", "at", "rest", "out", "lists")

    def __init__(self, x, key):
        axis = -1
        self.rest, self.out, self.own, self.at = [], 0, slice(None), 0
        for k in key:
            mask = _is_mask(k)
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


def _view_rows(x, k):
    """The slice of the divided axis as (start, step, count), step > 0, and whether it runs backwards."""
    start, stop, step = k.own.indices(x.shape[x.axis])
    count = len(range(start, stop, step))
    if step < 0:
        start, step = start + (count - 1) * step, -step
        return start, step, count, True
    return start, step, count, False


def _owner(x, number):
    """The piece that has a row: where it begins, its device, its array."""
    n = x.shape[x.axis]
    if not -n <= number < n:
        raise IndexError(f"index {number} is out of bounds for axis {x.axis} with size {n}")
    lo, _, i, a = next(p for p in x.pieces if p[0] <= number % n < p[1])
    return lo, i, a


def view(x, k):
    """A view by a basic key: slices, numbers and new axes."""
    n = x.shape[x.axis]
    number = _number(k.own)
    if number is not None:
        lo, i, a = _owner(x, number)
        return replicated(x.mesh, i, a[k.with_own(number % n - lo)])
    start, step, count, back = _view_rows(x, k)
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


def _own_list(x, k):
    """Is the divided axis alone chosen by an array?"""
    return k.lists == [k.at] and not _is_mask(k.own)


def _indices(x, k):
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
    at = _indices(x, k)
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
        r = r[_at(k.out, back)] if len(parts) > 1 else r
        made.append((cuts[i], cuts[i + 1], i, _unflat(r, k.out, (cuts[i + 1] - cuts[i], *at.shape[1:]))))
    return sharded(x.mesh, k.out, cuts, made)


def _at(axis, k):
    return (slice(None),) * axis + (k,)


def _unflat(r, axis, extents):
    return r if len(extents) == 1 else r.reshape((*r.shape[:axis], *extents, *r.shape[axis + 1 :]))


def _masked(x, k, mask):
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
    found = _masked(x, k, k.own)
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
        return replicated(x.mesh, i, a[_key_on(key, i, x.mesh)], x._writes)
    k = _Key(x, _spread(x, key))
    if not k.lists:
        return view(x, k)
    found = NotImplemented
    if _is_mask(k.own) and k.lists == [k.at]:
        found = select(x, k)
    elif _own_list(x, k):
        found = pick(x, k)
    elif k.at not in k.lists and _number(k.own) is None:
        found = _beside(x, k)
    return found if found is not NotImplemented else replicated(x.mesh, 0, x.on(0)[_key_on(key, 0, x.mesh)])


def _beside(x, k):
    """Elements chosen by arrays along other axes than the divided one."""
    if k.own != slice(None):
        return NotImplemented
    if k.lists[-1] - k.lists[0] + 1 != len(k.lists) or any(_is_mask(k.rest[n]) for n in k.lists):
        return NotImplemented
    rest = [_on_host(n) if _is_list(n) else n for n in k.rest]
    depth = numpy.broadcast(*(rest[n] for n in k.lists)).ndim
    out = k.out + (depth if k.lists[0] < k.at else 0)
    return sharded(x.mesh, out, x.cuts, [(lo, hi, i, a[tuple(rest)]) for lo, hi, i, a in x.pieces])


def _key_on(key, i, mesh):
    if type(key) is tuple:
        return tuple(_key_on(k, i, mesh) for k in key)
    if type(key) is ShardedArray:
        return key.on(i)
    return moved(key, mesh[i], "index") if isinstance(key, ndarray) else key


# ---- writing ----


@rule("setitem")
def setitem(name, fn, x, key, value):
    settle(value)
    if type(x) is not ShardedArray:
        if isinstance(x, ndarray):
            x[key.get() if type(key) is ShardedArray else key] = (
                value.to_device(x.device) if type(value) is ShardedArray else value
            )
        else:
            x[key] = value.get() if type(value) is ShardedArray else value
        return None
    if x.axis is None:
        i, a = x._main
        a[_key_on(key, i, x.mesh)] = as_sharded(value, x.mesh).on(i) if has_elements(value) else value
        x._writes[0] += 1
        return None
    k = _Key(x, _spread(x, key))
    if not k.lists:
        return _set_basic(x, k, value)
    if _is_mask(k.own) and k.lists == [k.at]:
        return _set_mask(x, k, value)
    if _own_list(x, k):
        return _set_rows(x, k, value)
    changed = x.on(0)
    changed[_key_on(key, 0, x.mesh)] = as_sharded(value, x.mesh).on(0) if has_elements(value) else value
    return assign(x, replicated(x.mesh, 0, changed))


def _set_basic(x, k, value):
    if _number(k.own) is not None:
        lo, i, a = _owner(x, _number(k.own))
        a[k.with_own(_number(k.own) % x.shape[x.axis] - lo)] = (
            as_sharded(value, x.mesh).on(i) if has_elements(value) else value
        )
        return None
    start, step, count, back = _view_rows(x, k)
    if back:  # write what is given in reverse order
        k.own = slice(start, start + (count - 1) * step + 1, step)
        k.rest[k.at] = k.own
        if has_elements(value):
            value = as_sharded(value, x.mesh)
            at = k.out - sum(isinstance(n, slice) or n is None for n in k.rest) + value.ndim
            value = apply("flip", value, at) if at >= 0 and value.shape[at] > 1 else value
    return assign(view(x, k), value)


def has_elements(value):
    return type(value) not in (int, float, complex, bool)


def assign(to, value):
    """Write value, which broadcasts to its shape, into the arrays that `to` shows."""
    if to.axis is None:
        i, a = to._main
        if a.size:
            a[...] = as_sharded(value, to.mesh).on(i) if has_elements(value) else value
            to._writes[0] += 1
        return
    if not has_elements(value):
        for _, _, _, a in to.pieces:
            a[...] = value
        return
    if type(value) is ShardedArray and value._pieces is None and value.axis == to.axis and value.shape == to.shape:
        return _assign_terms(to, value)
    value = as_sharded(value, to.mesh)
    while value.ndim > to.ndim and value.shape[0] == 1:
        value = apply("squeeze", value, 0)
    ends = zip(value.shape[::-1], to.shape[::-1], strict=False)
    if value.ndim > to.ndim or any(n not in (1, m) for n, m in ends):
        raise ValueError(f"could not broadcast input array from shape {value.shape} into shape {to.shape}")
    if value is not to and _shows(value, to):
        value = value.copy()
    # the pieces of `to` are views of its array: none of them may move, so it leads
    if value.axis is not None and value.size > to.size:
        value = value.reshard(None)
    spread = Spread([to, value], to.mesh, "setitem: halo", to)
    for _, _, _, (own, part) in spread.ranges:
        own[...] = part


def _assign_terms(to, value):
    """Compute an expression that waits, divided as `to` is, and write it there."""
    one_mesh([to, value])
    leaves = value._terms[2]
    spread = Spread([to, *leaves.values()], to.mesh, "halo", to)
    made = [(lo, hi, i, evaluated(value._terms, dict(zip(leaves, rest, strict=True))))
            for lo, hi, i, (_, *rest) in spread.ranges]  # fmt: skip
    owns = [own for _, _, _, (own, *_) in spread.ranges]
    if any(_shows(x, to) for x in leaves.values()):  # what is written changes the expression
        value._pieces, value.cuts, value._terms = list(made), to.cuts, None
        waiting.pop(id(value), None)
    for own in owns:
        own[...] = made.pop(0)[3]


def _shows(x, to):
    """May the two, of which `to` is divided, show the same elements?"""
    if x.axis is None:
        return any(_core._same_storage(x._main[1], p[3]) for p in to.pieces if p[2] == x._main[0])
    return any(_core._same_storage(p[3], q[3]) for p in x.pieces for q in to.pieces if p[2] == q[2])


def _set_mask(x, k, value):
    found = _masked(x, k, k.own)
    if found is None:
        changed = x.on(0).copy()
        changed[k.with_own(k.own.on(0) if type(k.own) is ShardedArray else k.own)] = (
            as_sharded(value, x.mesh).on(0) if has_elements(value) else value
        )
        return assign(x, replicated(x.mesh, 0, changed))
    values = as_sharded(value, x.mesh) if has_elements(value) else None
    if values is None or values.ndim == 0 or (values.ndim == 1 and values.size == 1 and k.out == 0):
        for _, _, i, a, m in found:
            a[k.with_own(m)] = value if values is None else values.on(i)
        return None
    counts = [int(m.sum()) for *_, m in found]
    out = k.out + values.ndim - (x.ndim - _mask_axes(k) + 1)
    if out < 0 or values.shape[out] == 1:
        parts = [values.on(i) for _, _, i, _, _ in found]
    elif values.shape[out] != sum(counts):
        raise ValueError(
            f"NumPy boolean array indexing assignment cannot assign {values.shape[out]} input values to the "
            f"{sum(counts)} output values where the mask is true"
        )
    else:
        ends = numpy.cumsum([0, *counts])
        parts = [values.on(i)[_rows(out, ends[n], ends[n + 1])] for n, (_, _, i, _, _) in enumerate(found)]
    for (_, _, _, a, m), part in zip(found, parts, strict=True):
        a[k.with_own(m)] = part
    return None


def _mask_axes(k):
    return k.own.ndim


def _set_rows(x, k, value):
    at = _indices(x, k)
    flat = at.reshape(-1)
    if has_elements(value):
        rest = x.on(0)[k.with_own(at)].shape if at.ndim > 1 else (*_shape_of(x, k)[: k.out], at.size, *_shape_of(x, k)[k.out + 1 :])
        value = as_sharded(value, x.mesh)
        value = apply("broadcast_to", value, rest)
        value = apply("reshape", value, (*rest[: k.out], flat.size, *rest[k.out + at.ndim :])) if at.ndim > 1 else value
    for lo, hi, i, a in x.pieces:
        mine = numpy.flatnonzero((lo <= flat) & (flat < hi))
        if mine.size:
            a[k.with_own(flat[mine] - lo)] = value.on(i)[_at(k.out, mine)] if has_elements(value) else value
    return None


def _shape_of(x, k):
    return numpy.broadcast_to(numpy.empty(()), x.shape)[k.with_own(slice(None))].shape


# ---- shapes ----


@rule("transpose permute_dims")
def _transpose(name, fn, x, axes=None):
    axes = tuple(range(x.ndim))[::-1] if axes is None else tuple(_axes(axes, x.ndim, "axis"))
    if len(axes) != x.ndim:
        raise ValueError("axes don't match array")
    return sharded(x.mesh, axes.index(x.axis), x.cuts, [(*p[:3], p[3].transpose(axes)) for p in x.pieces])


@rule("swapaxes")
def _swapaxes(name, fn, x, axis1, axis2):
    order = list(range(x.ndim))
    a, b = _axis(axis1, x.ndim, "axis1"), _axis(axis2, x.ndim, "axis2")
    order[a], order[b] = order[b], order[a]
    return apply("transpose", x, tuple(order))


@rule("matrix_transpose")
def _matrix_transpose(name, fn, x):
    return apply("swapaxes", x, -1, -2)


@rule("moveaxis")
def _moveaxis(name, fn, x, source, destination):
    source, destination = (_axes(k, x.ndim, "axis") for k in (source, destination))
    order = [k for k in range(x.ndim) if k not in source]
    for to, k in sorted(zip(destination, source, strict=True)):
        order.insert(to, k)
    return apply("transpose", x, tuple(order))


@rule("expand_dims")
def _expand_dims(name, fn, x, axis):
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = set(_axes(axes, x.ndim + len(axes), "axis"))
    at = [k for k in range(x.ndim + len(axes)) if k not in axes][x.axis]
    return sharded(x.mesh, at, x.cuts, [(*p[:3], fn(p[3], axis)) for p in x.pieces])


@rule("squeeze")
def _squeeze(name, fn, x, axis=None):
    axes = [k for k, n in enumerate(x.shape) if n == 1] if axis is None else _axes(axis, x.ndim, "axis")
    if any(x.shape[k] != 1 for k in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    if x.axis in axes:
        return apply("squeeze", x.reshard(None), tuple(axes))
    at = x.axis - sum(k < x.axis for k in axes)
    return sharded(x.mesh, at, x.cuts, [(*p[:3], fn(p[3], tuple(axes))) for p in x.pieces])


@rule("reshape")
def _reshape(name, fn, x, shape=None, order="C", **kwargs):
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if shape.count(-1) == 1:
        known = math.prod(n for n in shape if n != -1)
        shape = tuple((x.size // known if known else 0) if n == -1 else n for n in shape)
    if math.prod(shape) != x.size or -1 in shape:
        raise ValueError(f"cannot reshape array of size {x.size} into shape {shape}")
    before, n = math.prod(x.shape[: x.axis]), x.shape[x.axis]
    at, outer = 0, 1
    while at < len(shape) and outer * shape[at] <= before and outer < before:
        outer *= shape[at]
        at += 1
    while at < len(shape) and shape[at] == 1 and n != 1:
        at += 1
    if order not in ("C", "K") or outer != before or at == len(shape):
        return NotImplemented
    inner, new = math.prod(x.shape[x.axis :]), shape[at]
    block = inner // new  # elements of one of the result's rows
    row = inner // n  # of one of x's
    if (before > 1 and new != n) or (row % block and block % row):
        return NotImplemented
    scaled = [c * row for c in x.cuts]
    if any(c % block for c in scaled):
        x = gathered(x.mesh, x.axis, tuple(c * block // row for c in even(new, len(x.mesh))), x.pieces, "reshape")
    pieces = x.pieces
    if any(p[0] * row % block or p[1] * row % block for p in pieces):
        pieces = [(x.cuts[i], x.cuts[i + 1], i, x.local(i)) for i in range(len(x.mesh)) if x.cuts[i] < x.cuts[i + 1]]
    made = []
    for lo, hi, i, a in pieces:
        first, last = lo * row // block, hi * row // block
        made.append((first, last, i, fn(a, (*shape[:at], last - first, *shape[at + 1 :]))))
    return sharded(x.mesh, at, tuple(c * row // block for c in x.cuts), made)


@rule("ravel")
def _ravel(name, fn, x, order="C"):
    return apply("reshape", x, (-1,), "C" if order in ("A", "K") else order)


@rule("broadcast_to")
def _broadcast_to(name, fn, x, shape, **kwargs):
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if numpy.broadcast_shapes(x.shape, shape) != shape:
        raise ValueError(f"cannot broadcast shape {x.shape} to shape {shape}")
    at = x.axis + len(shape) - x.ndim
    if shape[at] != x.shape[x.axis]:
        return NotImplemented
    made = [(lo, hi, i, fn(a, (*shape[:at], hi - lo, *shape[at + 1 :]))) for lo, hi, i, a in x.pieces]
    return sharded(x.mesh, at, x.cuts, made)


@rule("flip")
def _flip(name, fn, x, axis=None):
    axes = range(x.ndim) if axis is None else _axes(axis, x.ndim, "axis")
    return x[tuple(slice(None, None, -1 if k in axes else 1) for k in range(x.ndim))]


@rule("roll")
def _roll(name, fn, x, shift, axis=None):
    if axis is None or isinstance(axis, tuple) or not isinstance(shift, int):
        return NotImplemented if axis is not None or x.ndim > 1 else _roll(name, fn, x, shift, 0)
    at = _axis(axis, x.ndim, "axis")
    if at != x.axis:
        return sharded(x.mesh, x.axis, x.cuts, [(*p[:3], fn(p[3], shift, at)) for p in x.pieces])
    n = x.shape[at]
    shift %= n
    if not shift:
        return x.copy()
    pieces = [(lo, hi, i, a) for part in (x[_rows(at, n - shift, n)], x[_rows(at, 0, n - shift)])
              for lo, hi, i, a in (part.pieces if part.axis is not None else [(0, part.shape[at], *part._main)])]  # fmt: skip
    return gathered(x.mesh, at, x.cuts, _in_order(pieces), "roll")


def _in_order(pieces):
    found, at = [], 0
    for lo, hi, i, a in pieces:
        found.append((at, at + hi - lo, i, a))
        at += hi - lo
    return found


@rule("concatenate concat")
def _concatenate(name, fn, arrays, axis=0, **kwargs):
    if axis is None or kwargs:
        return NotImplemented
    mesh = one_mesh(leaves(arrays))
    arrays = [as_sharded(a, mesh) for a in arrays]
    at = _axis(axis, arrays[0].ndim, "axis")
    if len({a.ndim for a in arrays}) > 1:
        raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    dtype = numpy.result_type(*(a.dtype for a in arrays))
    lead = max((a for a in arrays if a.axis is not None), key=lambda a: a.size)
    if lead.axis != at:
        arrays = [a if a.axis == lead.axis and a.cuts == lead.cuts and len(a.pieces) == len(lead.pieces)
                  else a.reshard(None) for a in arrays]  # fmt: skip
        made = [
            (lo, hi, i, fn([a.on(i)[_rows(lead.axis, lo, hi)] if a.axis is None else a.pieces[n][3] for a in arrays], at))
            for n, (lo, hi, i, _) in enumerate(lead.pieces)
        ]
        return sharded(mesh, lead.axis, lead.cuts, made)
    arrays = [a if a.axis in (None, at) else a.reshard(at) for a in arrays]
    pieces = []
    for a in arrays:
        a = a.astype(dtype, copy=False)
        pieces += a.pieces if a.axis is not None else [(0, a.shape[at], *a._main)] if a.shape[at] else []
    pieces = _in_order(pieces)
    return gathered(mesh, at, even(pieces[-1][1], len(mesh)), pieces, "concatenate")


@rule("stack")
def _stack(name, fn, arrays, axis=0, **kwargs):
    if kwargs:
        return NotImplemented
    mesh = one_mesh(leaves(arrays))
    arrays = [apply("expand_dims", as_sharded(a, mesh), axis) for a in arrays]
    return apply("concatenate", arrays, _axis(axis, arrays[0].ndim, "axis"))


@rule("diff")
def _diff(name, fn, x, n=1, axis=-1, **kwargs):
    at = _axis(axis, x.ndim, "axis")
    if kwargs or x.dtype == bool:
        return NotImplemented
    if at != x.axis:
        return sharded(x.mesh, x.axis, x.cuts, [(*p[:3], fn(p[3], n, at)) for p in x.pieces])
    for _ in range(n):
        x = x[_rows(at, 1, None)] - x[_rows(at, None, -1)]
    return x


@rule("pad")
def _pad(name, fn, x, width, mode="constant", **kwargs):
    widths = numpy.broadcast_to(numpy.asarray(width), (x.ndim, 2))
    if mode != "constant" or widths[x.axis].any():
        return NotImplemented
    return sharded(x.mesh, x.axis, x.cuts, [(*p[:3], fn(p[3], width, mode, **kwargs)) for p in x.pieces])


SUBSCRIPTS.update(slid=slid, assign_terms=_assign_terms)
