"""Subscripts of tensors that hold arrays. They are parsed like those of arrays, and read and written by differentiable
picks. Three rules are PyTorch's: an integer, also a tensor of one without dims, selects first and is no index array
that others broadcast with; a tensor of uint8 is a mask; a list of less than 32 items that are not all numbers is a
tuple.
"""

import warnings
from operator import index as _index

import numpy

from .. import _core
from .._callers import outside
from .._core import Tensor, ndarray, tensor_wrap
from ._indexing import owner_of, parse
from ._pick import Pick

_FULL = slice(None)


_MANY = 32  # a list of as many items is one array of indices, whatever they are


def _is_part(item):
    """Does such an item of a list make a tuple of it?"""
    return item is None or item is Ellipsis or isinstance(item, (slice, Tensor, list, tuple, range, numpy.ndarray))


def _as_tuple(key):
    """A subscript that is a list as PyTorch understands it, a tuple where its items say so."""
    if not isinstance(key, list) or len(key) >= _MANY or not any(map(_is_part, key)):
        return key
    warnings.warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated; use x[tuple(seq)] instead of x[seq].",
        UserWarning,
        stacklevel=outside()[1],
    )
    return tuple(key)


def _plain(item):
    """An item of a subscript for the parser of arrays: tensors become arrays, lists of tensors lists of numbers."""
    if isinstance(item, Tensor):
        a = item._array
        if a.dtype == "uint8":
            return a != 0
        if a.ndim and a.dtype.kind != "b" and a.dtype.name not in ("int64", "int32"):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        return int(item.detach().item()) if a.ndim == 0 and a.dtype.kind in "iu" else a
    if isinstance(item, list):
        return [_plain(i) if not isinstance(i, Tensor) else i.tolist() for i in item]
    return item


def _is_number(item):
    return isinstance(item, (int, numpy.integer)) and not isinstance(item, bool)


def _dims(item):
    """How many dims of a tensor an item selects from: a mask from as many as it has."""
    if item is None or isinstance(item, (bool, numpy.bool_)):
        return 0
    if isinstance(item, list):
        item = numpy.asarray(item)
    is_mask = isinstance(item, (ndarray, numpy.ndarray)) and item.dtype.kind == "b"
    return item.ndim if is_mask else 1


def _selected(a, key):
    """(the view of a that the key's integers select, the key without them and without an Ellipsis for no dim)."""
    first, rest, spare = [], [], a.ndim - sum(_dims(item) for item in key if item is not Ellipsis)
    for item in key:
        if _is_number(item):
            first.append(_index(item))
        elif item is not Ellipsis:
            first += [_FULL] * _dims(item)
            rest.append(item)
        elif spare:
            first.append(item)
            rest.append(item)
    return (a[tuple(first)] if len(rest) < len(key) else a), tuple(rest)


def _parse(t, key):
    """The Pick for a subscript of t."""
    key = tuple(_plain(i) for i in key) if isinstance(key, tuple) else (_plain(key),)
    a, rest = _selected(t._array, key)
    plain = all(item is None or item is Ellipsis or isinstance(item, slice) for item in rest)
    return Pick(a[rest]) if plain else parse(a, rest)


def _overlaps(t):
    return any(s == 0 and n > 1 for s, n in zip(t.stride(), t.shape, strict=True))


def _window(t, p):
    return t if p.view.shape == t._array.shape and p.view.strides == t._array.strides else _core._grad_view(t, p.view)


def _indices(p):
    return tuple(tensor_wrap(_core.asarray(a, dtype="int64", device=p.view.device)) for a in p.arrays)


def getitem(t, key):
    """t[key] for a key that holds arrays."""
    parts = _as_tuple(key)
    if parts is not key:
        return t[parts]
    owner = owner_of(key)
    if owner is not None:
        return owner._subscript("getitem", t, key)
    if t.requires_grad and _overlaps(t):  # elements share memory, but the gradient needs memory of its own for each
        t = t.clone()
    p = _parse(t, key)
    window = _window(t, p)
    if not p.arrays:
        return window
    return _core._grad_pick(window, tuple(p.axes), _indices(p), p.place, p.flags)


def _is_mask(key):
    return isinstance(key, Tensor) and key.dtype._kind == "b"


def _mask_of(t, key):
    """key as a boolean tensor of t's shape on t's device, or None where it is not one."""
    if isinstance(key, Tensor) and key._array.dtype.kind == "b" and key._array.shape == t._array.shape and t.ndim:
        return key if key._array.device == t._array.device else None
    return None


def setitem(t, key, value):
    """t[key] = value for a key that holds arrays."""
    parts = _as_tuple(key)
    if parts is not key:
        t[parts] = value
        return
    owner = owner_of(key)
    if owner is not None:
        return owner._subscript("setitem", t, key, value)
    if not isinstance(value, (Tensor, int, float, complex, bool)):
        value = tensor_wrap(_core.asarray(value, device=t._array.device))
    elif isinstance(value, Tensor) and value.dtype is not t.dtype and (value.numel() != 1 or not _is_mask(key)):
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {t.dtype} for the destination and "
            f"{value.dtype} for the source."
        )
    mask = _mask_of(t, key)
    if mask is not None and (not isinstance(value, Tensor) or value.ndim == 0):
        if isinstance(value, Tensor):
            value = value._cast(t._array.dtype)
        t.copy_(_core._grad_apply("select", mask, value, t))
        return
    p = _parse(t, key)
    window = _window(t, p)
    if not p.arrays:
        window.copy_(value)
        return
    _core._grad_put_(window, tuple(p.axes), _indices(p), p.place, p.flags, value, False)


def add_item(t, key, value):
    """t[key] += value, adding once for each time that an index occurs."""
    key = _as_tuple(key)
    p = _parse(t, key)
    window = _window(t, p)
    if not p.arrays:
        window.add_(value)
        return
    _core._grad_put_(window, tuple(p.axes), _indices(p), p.place, p.flags, value, True)
