"""Subscripts of tensors that hold arrays. They are parsed like those of arrays, and read and written by differentiable
picks.
"""

from .. import _core
from .._core import Tensor, tensor_wrap
from ._indexing import owner_of, parse


def _plain(item):
    """An item of a subscript for the parser of arrays: tensors become arrays, lists of tensors lists of numbers."""
    if isinstance(item, Tensor):
        return item._array
    if isinstance(item, list):
        return [_plain(i) if not isinstance(i, Tensor) else i.tolist() for i in item]
    return item


def _parse(t, key):
    """The Pick for a subscript of t."""
    return parse(t._array, tuple(_plain(i) for i in key) if isinstance(key, tuple) else _plain(key))


def _overlaps(t):
    return any(s == 0 and n > 1 for s, n in zip(t.stride(), t.shape, strict=True))


def _window(t, p):
    return t if p.view.shape == t._array.shape and p.view.strides == t._array.strides else _core._grad_view(t, p.view)


def _indices(p):
    return tuple(tensor_wrap(_core.asarray(a, dtype="int64", device=p.view.device)) for a in p.arrays)


def getitem(t, key):
    """t[key] for a key that holds arrays."""
    owner = owner_of(key)
    if owner is not None:
        return owner._subscript("getitem", t, key)
    if t.requires_grad and _overlaps(t):  # elements share memory, but the gradient needs memory of its own for each
        t = t.clone()
    p = _parse(t, key)
    window = _window(t, p)
    if not p.arrays:
        return window.clone()
    return _core._grad_pick(window, tuple(p.axes), _indices(p), p.place, p.flags)


def _mask_of(t, key):
    """key as a boolean tensor of t's shape on t's device, or None where it is not one."""
    if isinstance(key, Tensor) and key._array.dtype.kind == "b" and key._array.shape == t._array.shape and t.ndim:
        return key if key._array.device == t._array.device else None
    return None


def setitem(t, key, value):
    """t[key] = value for a key that holds arrays."""
    owner = owner_of(key)
    if owner is not None:
        return owner._subscript("setitem", t, key, value)
    if not isinstance(value, (Tensor, int, float, complex, bool)):
        value = tensor_wrap(_core.asarray(value, device=t._array.device))
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
    p = _parse(t, key)
    window = _window(t, p)
    if not p.arrays:
        window.add_(value)
        return
    _core._grad_put_(window, tuple(p.axes), _indices(p), p.place, p.flags, value, True)
