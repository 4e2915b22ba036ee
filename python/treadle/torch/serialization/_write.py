"""torch.save: a zip archive with a pickle, which names PyTorch's functions, and a record for each tensor's bytes."""

import collections
import io
import os
import pickle
import types
import zipfile
from typing import NamedTuple

from ... import torch
from .._prim import whole_storage
from ..nn.parameter import Parameter
from ..sparse import SparseTensor
from . import _whole
from ._elements import _CLASS_OF, tensor_bytes
from ._safetensors import save_safetensors

_ALIGN = 64  # tensors' bytes begin at multiples of this, as in PyTorch's files


class _Name(NamedTuple):
    """A global of PyTorch's, under the name that pickles have for it."""

    module: str
    name: str

    def __call__(self, *args):
        raise TypeError(f"{self.module}.{self.name} stands in a pickle only")


class _Stored(NamedTuple):
    """Bytes of the archive that hold the elements of one tensor."""

    dtype: str
    key: str
    count: int


class _Pickler(pickle._Pickler):  # Python's own class, because C's wants global names to be importable
    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self.arrays, self.storages = [], {}
        self.names = {}  # of classes and functions of ours; one object each, so that a pickle says it once

    def persistent_id(self, obj):
        if not isinstance(obj, _Stored):
            return None
        return ("storage", _Name("torch", _CLASS_OF[obj.dtype]), obj.key, "cpu", obj.count)

    def reducer_override(self, obj):
        if isinstance(obj, Parameter):
            parts = obj.detach(), obj.requires_grad, collections.OrderedDict()
            held = dict(vars(obj))  # what a program has added
            name = "_rebuild_parameter_with_state" if held else "_rebuild_parameter"
            return _Name("torch._utils", name), (*parts, held) if held else parts
        if isinstance(obj, torch.Tensor):
            return _Name("torch._utils", "_rebuild_tensor_v2"), self._parts(obj)
        if isinstance(obj, SparseTensor):
            parts = obj._indices(), obj._values().detach(), obj.size(), obj.is_coalesced()
            return _Name("torch._utils", "_rebuild_sparse_tensor"), (torch.sparse_coo, parts)
        if isinstance(obj, torch.layout):
            return _Name("torch.serialization", "_get_layout"), (repr(obj),)
        if isinstance(obj, torch.device):
            return _Name("torch", "device"), (obj.type,) if obj.index is None else (obj.type, obj.index)
        if isinstance(obj, torch.Size):
            return _Name("torch", "Size"), (tuple(obj),)
        if isinstance(obj, torch.nn.Module):
            make, args, state, *rest = (*obj.__reduce_ex__(2), None)[:5]
            return make, args, _whole.module_state(obj, state) if isinstance(state, dict) else state, *rest
        return NotImplemented

    def save_global(self, obj, name=None):
        found = _whole.home(obj)
        if found and not found[0]:
            _whole.warn_of(found[1])
        if not found or not found[0]:
            return super().save_global(obj, name)
        return self.save(self.names.setdefault(found, _Name(*found)))

    dispatch = {**pickle._Pickler.dispatch, types.FunctionType: save_global}  # how Python's own class finds methods

    def _storage(self, tensor, number, flat):
        """(number of the record, count of elements) of the tensor's storage. Tensors of one storage share a record."""
        if (number, tensor.dtype) not in self.storages:
            whole = tensor if flat is None else flat
            self.storages[number, tensor.dtype] = len(self.arrays), int(whole.numel()), tensor
            self.arrays.append(tensor_bytes(whole))
        return self.storages[number, tensor.dtype][:2]

    def _parts(self, tensor):
        dtype = str(tensor.dtype).removeprefix("torch.")
        if dtype not in _CLASS_OF:
            raise TypeError(f"torch.save: tensors of {tensor.dtype} have no place in PyTorch's files")
        plain, number, flat = whole_storage(tensor.detach())
        key, count = self._storage(plain, number, flat)
        place = plain.storage_offset(), tuple(map(int, plain.shape)), tuple(map(int, plain.stride()))
        needs_grad = bool(tensor.requires_grad and tensor.is_leaf)
        return _Stored(dtype, str(key), count), *place, needs_grad, collections.OrderedDict()

    def save_name(self, obj):
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    def save(self, obj, save_persistent_id=True):
        if isinstance(obj, torch.dtype):
            obj = _Name(*str(obj).split("."))
        if isinstance(obj, _Name):
            known = self.memo.get(id(obj))
            return self.write(self.get(known[0])) if known else self.save_name(obj)
        return super().save(obj, save_persistent_id)


def _add(archive, name, data):
    """Write a record. Its header's extra field is padded so that its bytes begin at a multiple of _ALIGN."""
    info = zipfile.ZipInfo(name)
    begin = archive.fp.tell() + 30 + len(name.encode())
    gap = -(begin + 4) % _ALIGN
    info.extra = b"FB" + gap.to_bytes(2, "little") + b"Z" * gap
    archive.writestr(info, data)


def save(
    obj,
    f,
    pickle_module=pickle,
    pickle_protocol=2,
    _use_new_zipfile_serialization=True,
    _disable_byteorder_record=False,
):
    """Write obj to a path or file: tensors, states of modules and optimizers, and anything that can be pickled.

    If the path ends in ".safetensors", obj is a dict of names and tensors, and the file has that format.
    """
    if isinstance(f, (str, os.PathLike)) and os.fspath(f).endswith(".safetensors"):
        return save_safetensors(obj, f)
    text = io.BytesIO()
    pickler = _Pickler(text, pickle_protocol)
    pickler.dump(obj)
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, "archive/data.pkl", text.getvalue())
        _add(archive, "archive/byteorder", b"little")
        for key, array in enumerate(pickler.arrays):
            _add(archive, f"archive/data/{key}", array.tobytes())
        _add(archive, "archive/version", b"3\n")
    return None
