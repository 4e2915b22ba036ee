"""Tensors made of storages, as pickles ask for it. Every size and stride is checked: a file may hold any numbers."""

import math
import pickle

from ... import torch
from ..nn.parameter import Parameter
from ._elements import _kind, tensor_of


class _Storage:
    """A storage of the archive. It is read when a tensor needs it."""

    def __init__(self, archive, name, dtype, count, order):
        self.archive, self.name, self.dtype, self.count, self.order = archive, name, dtype, count, order
        self.flat = None

    def tensor(self):
        """The tensor of its elements. Raises RuntimeError if the archive holds fewer."""
        if self.flat is None:
            want = self.count * _kind(self.dtype).itemsize
            have = _record_size(self.archive, self.name)
            if have != want:  # before unpacking: a few bytes can unpack to any size
                raise RuntimeError(f"torch.load: the record {self.name} has {have} bytes, and {want} were expected")
            self.flat = tensor_of(self.archive.read(self.name), self.dtype, (-1,), self.order)
        return self.flat


def _record_size(archive, name):
    """The size of a record of an archive, in bytes. Raises RuntimeError if there is no such record."""
    try:
        return archive.getinfo(name).file_size
    except KeyError:
        raise RuntimeError(f"torch.load: the archive has no record {name}") from None


class _Awaited:
    """A storage of a file from before 1.6. Its values stand after the objects that are made of it."""

    def __init__(self, count, dtype):
        self.flat = torch.zeros(count, dtype=getattr(torch, dtype))
        self.dtype = dtype

    def tensor(self):
        return self.flat

    def fill(self, data):
        with torch.no_grad():
            self.flat.copy_(tensor_of(data, self.dtype, (-1,)))


def _check_place(count, offset, size, stride):
    """Raise RuntimeError unless all elements of that size and these strides, from offset on, are among `count`
    elements."""
    numbers = (offset, *size, *stride)
    whole = len(size) == len(stride) and all(type(n) is int and 0 <= n < 1 << 63 for n in numbers)
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if whole else 0
    if not whole or (math.prod(size) and last >= count):
        raise RuntimeError(
            f"torch.load: a tensor of size {size} and strides {stride} from element {offset} on does not lie in its "
            f"storage of {count} elements"
        )


def _rebuild_tensor(storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None):
    flat, size, stride = storage.tensor(), tuple(size), tuple(stride)
    _check_place(flat.numel(), offset, size, stride)
    count, dense = 1, True
    for n, s in zip(reversed(size), reversed(stride), strict=True):
        dense &= n <= 1 or s == count
        count *= n
    if count == 0:
        tensor = flat[:0].reshape(size)
    elif dense:
        tensor = flat[offset : offset + count].reshape(size)
    else:
        tensor = flat.as_strided(size, stride, offset)
    return tensor.requires_grad_() if requires_grad else tensor


def _rebuild_parameter(data, requires_grad, hooks):
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, hooks, state):
    """A parameter with the attributes that a program has given it: a dict, or a pair of dicts."""
    made = Parameter(data, requires_grad)
    for attributes in state if isinstance(state, tuple) else (state,):
        if not isinstance(attributes, (dict, type(None))):
            raise pickle.UnpicklingError(f"torch.load: a parameter's attributes are a {type(attributes).__name__}")
        for name, value in (attributes or {}).items():
            if not isinstance(name, str) or name in dir(Parameter):  # methods stay what they are
                raise pickle.UnpicklingError(f"torch.load: a parameter has no attribute {name!r} to be set")
            setattr(made, name, value)
    return made


class _TypedName:
    """The class of a storage, as pickles name it."""

    def __init__(self, dtype):
        self.dtype = dtype


def _rebuild_sparse(layout, data):
    """A sparse tensor from indices, values, size and, in newer files, whether places are unique."""
    if layout is not torch.sparse_coo:
        raise pickle.UnpicklingError(f"torch.load: a sparse tensor of {layout}: there are those of torch.sparse_coo")
    indices, values, size, *coalesced = data
    return torch.sparse_coo_tensor(indices, values, size, is_coalesced=coalesced[0] if coalesced else None)


def _layout(name):
    known = {"torch.sparse_coo": torch.sparse_coo, "torch.strided": torch.strided}
    return known.get(name, name)


_REBUILD = {
    "_rebuild_sparse_tensor": _rebuild_sparse,
    "_rebuild_tensor_v2": _rebuild_tensor,
    "_rebuild_tensor": _rebuild_tensor,
    "_rebuild_parameter": _rebuild_parameter,
    "_rebuild_parameter_with_state": _rebuild_parameter_with_state,
}
