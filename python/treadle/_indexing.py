"""Subscripts that hold arrays: reading by `take`, writing by a mask or on the host.

Views (integers, slices, Ellipsis, None) never come here; they are the extension's. The rules are
NumPy's: index arrays broadcast together, and their axes stand where the first of them stood, or in
front when a slice stands between them.
"""

from math import prod

import numpy

from . import _core
from ._core import asarray, asnumpy, ndarray

FULL = slice(None)


def _host(a):
    """Read-only use: NumPy's view of the memory on the CPU, a copy from a GPU."""
    return _core._host_view(a) if a.device.kind == "cpu" else a.get()


def _is_true(a):
    return a if a.dtype.kind == "b" else a != 0


def flatnonzero(a):
    """Positions of the elements of a, in C order, that are not zero."""
    a = asarray(a)
    if a.dtype.kind == "c":
        return asarray(numpy.flatnonzero(_host(a)), device=a.device)
    return _core._select(None, _is_true(a))


def nonzero(a):
    """A tuple of arrays, one an axis: the indices of the elements that are not zero."""
    a = asarray(a)
    if a.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    if a.device.kind == "cpu" or a.dtype.kind == "c":
        return tuple(asarray(i, device=a.device) for i in numpy.nonzero(_host(a)))
    at, axes = flatnonzero(a), []
    for n in reversed(a.shape[1:]):
        axes.append(at % n)
        at = at // n
    return (at, *reversed(axes))


def argwhere(a):
    """The indices of the elements that are not zero, an element a row."""
    a = asarray(a)
    if a.device.kind == "cpu" or a.ndim == 0 or a.dtype.kind == "c":
        return asarray(numpy.argwhere(_host(a)), device=a.device)
    from ._shape import stack

    return stack(nonzero(a), axis=-1)


def compress(condition, a, axis=None, out=None):
    """The slices of a along axis where condition is true."""
    a, condition = _core._beside("compress", a, condition)
    r = take(a, numpy.flatnonzero(asnumpy(condition)), axis)
    return r if out is None else _store(out, r)


def extract(condition, arr):
    """The elements of arr where condition is true."""
    condition, arr = _core._beside("extract", condition, arr)
    return compress(condition.ravel(), arr.ravel())


def take(a, indices, axis=None, out=None, mode="raise"):
    """Elements of a along axis (None: of the flat array) at integer indices; IndexError out of range."""
    a, indices = _core._beside("take", a, indices)
    if axis is None:
        a, axis = a.ravel(), 0
    if not -a.ndim <= axis < a.ndim:
        raise IndexError(f"take: axis {axis} is out of bounds for array of dimension {a.ndim}")
    n = a.shape[axis]
    if mode == "wrap":
        indices = indices % n
    elif mode == "clip":
        indices = _core.ufuncs()["minimum"](_core.ufuncs()["maximum"](indices, 0), n - 1)
    r = _core._take(a, indices, axis % a.ndim)
    return r if out is None else _store(out, r)


def _store(out, value):
    out[...] = value
    return out


# ---- parsing ----


def _index_array(x, item):
    """An item of a subscript of x as an array on x's device."""
    a = _core._beside("indices", x, item)[1]
    if a.size == 0 and not isinstance(item, ndarray) and a.dtype.kind == "f":
        a = a.astype("int64")  # an empty list
    if a.dtype.kind not in "biu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return a


def _mask_axes(a, mask, axis):
    for k, n in enumerate(mask.shape):
        if n != a.shape[axis + k]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + k}; size of axis is "
                f"{a.shape[axis + k]} but size of corresponding boolean axis is {n}"
            )


def _is_plain(item):
    return item is None or item is Ellipsis or isinstance(item, slice) or (type(item) is int)


def _items(a, key):
    """The subscript with Ellipsis spelled out: one item an axis of a, and None; arrays converted."""
    items = [i if _is_plain(i) else _index_array(a, i) for i in (key if type(key) is tuple else (key,))]
    used = sum(_width(i) for i in items)
    if used > a.ndim:
        raise IndexError(f"too many indices for array: array is {a.ndim}-dimensional, but {used} were indexed")
    rest = [FULL] * (a.ndim - used)
    dots = [k for k, i in enumerate(items) if i is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    at = dots[0] if dots else len(items)
    return items[:at] + rest + items[at + 1 :]


def _width(item):
    """How many axes an item stands for."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, ndarray) and item.dtype.kind == "b" else 1


def _plan(a, key):
    """A view of a with one axis an item, and the items that stay to be taken: {axis: index array}."""
    basic, advanced, axis = [], {}, 0
    for item in _items(a, key):
        place = len(basic)
        if not isinstance(item, (ndarray, int)):
            basic.append(item)
            axis += item is not None
        elif isinstance(item, int):
            advanced[place] = numpy.asarray(item)
            basic.append(FULL)
            axis += 1
        elif item.dtype.kind != "b":
            advanced[place] = item
            basic.append(FULL)
            axis += 1
        elif item.ndim == 0:  # an axis of extent 1, taken or not
            advanced[place] = numpy.zeros(int(bool(item)), dtype=numpy.int64)
            basic.append(None)
        else:
            _mask_axes(a, item, axis)
            for k, where in enumerate(numpy.nonzero(_host(item)) if item.device.kind == "cpu" else nonzero(item)):
                advanced[place + k] = where
                basic.append(FULL)
            axis += item.ndim
    return a[tuple(basic)], advanced


def _in_range(index, n, axis):
    """Index values from 0 on, checked against the extent."""
    if index.size == 0:
        return index
    lo, hi = int(index.min()), int(index.max())
    if lo < -n or hi >= n:
        bad = hi if hi >= n else lo
        raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {n}")
    return index if lo >= 0 else (index + n) % n


def _flat_index(view, advanced, dev):
    """One index into the advanced axes seen as one axis."""
    try:
        numpy.broadcast_shapes(*(i.shape for i in advanced.values()))
    except ValueError:
        shapes = " ".join(str(i.shape).replace(", ", ",") for i in advanced.values())
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}"
        ) from None
    flat = 0
    for axis, index in advanced.items():
        n = view.shape[axis]
        if isinstance(index, ndarray) and index.dtype != numpy.int64:
            index = index.astype("int64")
        flat = flat * n + _in_range(index, n, axis)
    return asarray(flat, dtype="int64", device=dev)


# ---- reading and writing ----


def getitem(a, key):
    """a[key] for a key that holds arrays."""
    mask = _whole_mask(a, key)
    if mask is not None and a.dtype.kind == "c" and a.device.kind == "cpu":
        return asarray(_host(a)[_host(mask)], device=a.device)
    if mask is not None and a.dtype.kind != "c":
        return _core._select(a, mask)
    view, advanced = _plan(a, key)
    axes = list(advanced)
    if len(axes) == 1:
        return _core._take(view, asarray(advanced[axes[0]], device=a.device), axes[0])
    rest = [k for k in range(view.ndim) if k not in advanced]
    flat = _flat_index(view, advanced, a.device)
    moved = view.transpose(axes + rest)
    width = prod(moved.shape[: len(axes)])
    taken = _core._take(moved.reshape((width, *moved.shape[len(axes) :])), flat, 0)
    if axes[-1] - axes[0] + 1 != len(axes):
        return taken
    before, n = axes[0], flat.ndim
    order = [n + k for k in range(before)] + list(range(n)) + [n + k for k in range(before, len(rest))]
    return taken.transpose(order) if order else taken


def _whole_mask(a, key):
    """key as a boolean array of a's shape, if it is one."""
    if isinstance(key, (tuple, int)) or key is None or key is Ellipsis:
        return None
    mask = _index_array(a, key)
    if mask.dtype.kind != "b" or mask.shape != a.shape or a.ndim == 0:
        return None
    return asarray(mask, device=a.device)


def _assign_mask(a, mask, value):
    """a[mask] = value where value does not run along the masked axes; False: it does."""
    tail = a.ndim - mask.ndim
    if not numpy.isscalar(value):
        value = _core._beside("assignment", a, value)[1]
        if value.ndim > tail:
            return False
    mask = asarray(mask, device=a.device)
    if tail:
        mask = _core._broadcast_to(mask.reshape(mask.shape + (1,) * tail), a.shape)
    _core._assign_where(a, mask, value)
    return True


def setitem(a, key, value):
    """a[key] = value for a key that holds arrays."""
    if not isinstance(key, (tuple, int)) and key is not None and key is not Ellipsis:
        mask = _index_array(a, key)
        if mask.dtype.kind == "b" and 0 < mask.ndim <= a.ndim:
            _mask_axes(a, mask, 0)
            if _assign_mask(a, mask, value):
                return
    items = key if type(key) is tuple else (key,)
    where = tuple(i if _is_plain(i) else asnumpy(_index_array(a, i)) for i in items)
    if not numpy.isscalar(value):
        value = asnumpy(_core._beside("assignment", a, value)[1])
    if a.device.kind == "cpu" and _core._is_exclusive(a):
        _core._host_view(a)[where] = value
        return
    whole = a.get()
    whole[where] = value
    a[...] = whole
