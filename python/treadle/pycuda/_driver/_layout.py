"""The memory layout of GPUArrays: strides, contiguity, memory with given strides.

If the core does not know a dtype (a structure, long double), the core's array holds bytes: it has one more axis, the
last one, for the bytes of an element. The parameter `extra` says that an array is of that form.
"""

import numpy

from ... import _core
from ..._core import ndarray


def is_plain(dtype):
    """Whether the core knows this dtype. If not, its elements are stored as bytes."""
    if not dtype.isnative or dtype.fields is not None or dtype.shape:
        return False
    return dtype.itemsize <= {"b": 1, "i": 8, "u": 8, "f": 8, "c": 16}.get(dtype.kind, -1)


def shape_of(shape):
    """A shape as a tuple of ints, from a number, a sequence, or a NumPy array of either."""
    if isinstance(shape, numpy.ndarray):
        shape = shape.tolist()
    try:
        result = tuple(shape)
    except TypeError:
        result = (shape,)
    result = tuple(n.__index__() for n in result)
    if any(n < 0 for n in result):
        raise ValueError(f"negative dimensions are not allowed: {result}")
    return result


def count(shape):
    """The number of elements."""
    n = 1
    for extent in shape:
        n *= extent
    return n


def packed(shape, itemsize, order="C"):
    """The strides, in bytes, of a contiguous array. Raises ValueError unless order is 'C' or 'F'."""
    if order not in ("C", "F"):
        raise ValueError(f"invalid order: {order!r}: it is 'C' or 'F'")
    strides, step = [0] * len(shape), itemsize
    for axis in range(len(shape)) if order == "F" else reversed(range(len(shape))):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def _same(shape, one, other):
    return not count(shape) or all(n == 1 or a == b for n, a, b in zip(shape, one, other, strict=True))


class Flags:
    """Flags of an array's layout: c_contiguous, f_contiguous, forc (either of them)."""

    def __init__(self, shape, strides, itemsize):
        self.c_contiguous = _same(shape, strides, packed(shape, itemsize))
        self.f_contiguous = _same(shape, strides, packed(shape, itemsize, "F"))
        self.forc = self.c_contiguous or self.f_contiguous

    def __repr__(self):
        return f"  C_CONTIGUOUS : {self.c_contiguous}\n  F_CONTIGUOUS : {self.f_contiguous}"


def axes_of(shape, strides):
    """The axes in memory order, the largest stride first. Axes of equal strides and of extent 1 keep their order."""
    wide = [k for k in range(len(shape)) if shape[k] != 1]
    moved = iter(sorted(wide, key=lambda k: -abs(strides[k])))
    return [next(moved) if shape[k] != 1 else k for k in range(len(shape))]


def inverse(axes):
    """The inverse of a permutation."""
    back = [0] * len(axes)
    for place, axis in enumerate(axes):
        back[axis] = place
    return back


def turned(nd, axes, extra=0):
    """A view of nd with its axes permuted. The axis of bytes stays last."""
    if list(axes) == list(range(len(axes))):
        return nd
    return nd.transpose([*axes, *([len(axes)] if extra else [])])


def in_memory_order(nd, extra=0):
    """(a view of nd with its axes in memory order, the permutation that undoes it)."""
    shape, strides = nd.shape[: nd.ndim - extra], nd.strides[: nd.ndim - extra]
    axes = axes_of(shape, strides)
    return turned(nd, axes, extra), inverse(axes)


def alike(nd, extra=0):
    """A contiguous copy with nd's memory order of axes."""
    straight, back = in_memory_order(nd, extra)
    return turned(straight.copy(), back, extra)


def room(shape, dtype, strides, device=None):
    """The core's uninitialised array with these strides, in bytes."""
    extra = () if is_plain(dtype) else (dtype.itemsize,)
    kind = numpy.uint8 if extra else dtype
    axes = axes_of(shape, strides)
    straight = tuple(shape[k] for k in axes)
    if _same(shape, strides, [packed(straight, dtype.itemsize)[k] for k in inverse(axes)]):
        return turned(_core.empty(straight + extra, kind, device=device), inverse(axes), len(extra))
    steps = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    before = -sum(s for s in steps if s < 0)
    whole = _core.empty(before + sum(s for s in steps if s > 0) + dtype.itemsize, numpy.uint8, device=device)
    return at(whole, whole._address() + before, shape, dtype, strides, whole.device)


def at(owner, address, shape, dtype, strides, device=None):
    """The core's array over memory at an address. It keeps owner alive."""
    if is_plain(dtype):
        return _core._at(owner, address, shape, dtype, strides, device)
    return _core._at(owner, address, (*shape, dtype.itemsize), numpy.uint8, (*strides, 1), device)


def sent(ary, device=None):
    """A NumPy array's elements on the device: the core's array, in the same memory order and without gaps."""
    if is_plain(ary.dtype):
        axes = axes_of(ary.shape, ary.strides)
        return turned(_core.array(numpy.asarray(ary.transpose(axes), order="C"), device=device), inverse(axes))
    if ary.dtype.hasobject:
        raise TypeError(f"elements of {ary.dtype} hold Python objects: they cannot be copied to a device")
    axes = axes_of(ary.shape, ary.strides)
    straight = numpy.asarray(ary.transpose(axes), order="C")
    flat = numpy.frombuffer(straight.tobytes(), numpy.uint8).reshape((*straight.shape, ary.dtype.itemsize))
    return turned(_core.array(flat, device=device), inverse(axes), 1)


def fetched(nd, dtype):
    """The elements as a NumPy array of dtype, in nd's memory order and without gaps."""
    extra = 0 if is_plain(dtype) else 1
    straight, back = in_memory_order(nd, extra)
    host = straight.get()
    if extra:
        host = numpy.asarray(host, order="C").view(dtype).reshape(host.shape[:-1])
    return host.transpose(back)


def retyped(nd, old, new):
    """The same memory as elements of another dtype, along the axis of the smallest stride.

    Raises ValueError where the elements do not fill whole new ones."""
    if old == new:
        return nd
    size, extra = nd.shape[: nd.ndim - (not is_plain(old))], int(not is_plain(old))
    strides = nd.strides[: len(size)]
    if not size:
        if old.itemsize != new.itemsize:
            raise ValueError(f"a single element of {old} is no {new}")
        return _last_retyped(nd.reshape((1, *nd.shape)), extra, new)[0, ...]
    axis = min(range(len(size)), key=lambda k: (size[k] == 1, abs(strides[k]), -k))
    if size[axis] * old.itemsize % new.itemsize:
        raise ValueError(f"{size[axis]} elements of {old} side by side do not fill whole elements of {new}")
    axes = [k for k in range(len(size)) if k != axis] + [axis]
    return turned(_last_retyped(turned(nd, axes, extra), extra, new), inverse(axes), int(not is_plain(new)))


def _last_retyped(nd, extra, new):
    """Reinterpret the last axis of elements: first as bytes, then as the new dtype."""
    if extra:
        flat = nd.reshape((*nd.shape[:-2], nd.shape[-2] * nd.shape[-1]), copy=False)
    else:
        flat = nd if is_plain(new) else nd.view(numpy.uint8)
    if is_plain(new):
        return flat.view(new)
    return flat.reshape((*flat.shape[:-1], flat.shape[-1] // new.itemsize, new.itemsize), copy=False)


def is_core(x):
    """Whether x is an array of treadle's own."""
    return isinstance(x, ndarray)
