"""torch.load: archives, files from before 1.6, and where tensors are put."""

import io
import os
import pickle
import zipfile
import zlib
from importlib import import_module

from ... import torch
from ..._exchange import _unpickle
from ..nn.parameter import Parameter
from ._elements import _kind
from ._globals import _allowed, _safe
from ._rebuild import _Awaited, _Storage, _TypedName
from ._safetensors import load_safetensors

_PARTS = {"_nn": "nn.functional", "_fft": "fft", "_linalg": "linalg", "_special": "special"}


def _function_of(module, name):
    """The function that PyTorch's pickles call by a name of torch._C, as "torch._C._fft", "fft_fft"; or the class whose
    attribute they take."""
    part = module.rpartition(".")[2]
    if part == "_C":
        return {"_VariableFunctionsClass": torch, "_VariableFunctions": torch, "TensorBase": torch.Tensor}[name]
    return getattr(import_module(f"{torch.__name__}.{_PARTS[part]}"), name.removeprefix(f"{part[1:]}_"))


class _Names:
    """Resolves the names and references in the pickle of an archive."""

    archive = folder = None
    weights_only = True

    def find_class(self, module, name):
        found = _safe(module, name)
        if found is None and self.weights_only:
            raise pickle.UnpicklingError(
                f"Weights only load failed: the file wants {module}.{name}, which could run any code. If you trust its "
                f"source, load it with `weights_only=False`, or allow this one: torch.serialization.add_safe_globals("
                f"[{name}])."
            )
        if module == "torch._C" or module.startswith("torch._C."):
            return _function_of(module, name)
        theirs = module.split(".")[0] == "torch"
        return found or super().find_class("treadle." + module if theirs else module, name)

    def persistent_load(self, found):
        kind, typed, key, _, count = found[:5]
        if kind != "storage" or not isinstance(typed, _TypedName) or type(count) is not int:
            raise pickle.UnpicklingError(f"torch.load: a reference of kind {kind!r}")
        if key not in self.storages:
            name = f"{self.folder}/data/{key}"
            self.storages[key] = _Storage(self.archive, name, typed.dtype, count, self.order)
        return self.storages[key]


class _Older:
    """Resolves the references in the pickle of a file from before 1.6. size: the bytes of the file."""

    def persistent_load(self, found):
        kind, typed, *rest = found
        if kind == "module":
            return typed
        key, _, count, view = rest
        if kind != "storage" or view is not None or not isinstance(typed, _TypedName):
            raise pickle.UnpicklingError(f"torch.load: a reference of kind {kind!r}, to a part of a storage")
        if type(count) is not int or not 0 <= count * _kind(typed.dtype).itemsize <= self.size:
            raise RuntimeError(f"torch.load: a storage of {count} elements in a file of {self.size} bytes")
        if key not in self.storages:
            self.storages[key] = _Awaited(count, typed.dtype)
        return self.storages[key]


class _Careful(_Names, _unpickle.Unpickler):
    """For files of unknown origin."""

    def stateful(self, thing, state):
        return super().stateful(thing, state) or type(thing) in _allowed.values()

    def makes(self, kind):
        return super().makes(kind) or kind in _allowed.values()


class _Trusting(_Names, pickle.Unpickler):
    """For files that the program trusts."""

    weights_only = False


class _CarefulOlder(_Older, _Careful):
    pass


class _TrustingOlder(_Older, _Trusting):
    pass


def _reader(careful, trusting, weights_only, file, options, **about):
    reader = (careful if weights_only else trusting)(file, **options)
    vars(reader).update(about, storages={})
    return reader


_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001


def _load_older(file, weights_only, options):
    """Load a file from before 1.6. It holds numbers that identify it, the object, and the storages one after another.

    Raises RuntimeError for any other file, and for another byte order.
    """
    at = file.tell()
    size = file.seek(0, os.SEEK_END) - at
    file.seek(at)

    def one(weights_only=True, **options):
        return _reader(_CarefulOlder, _TrustingOlder, weights_only, file, options, size=size)

    try:
        first = one().load()
    except Exception:  # bytes that are no pickle can raise anything
        first = None
    if first != _MAGIC or one().load() != _PROTOCOL:
        raise RuntimeError("torch.load: neither a zip archive nor a file of PyTorch before 1.6")
    about = one().load()
    if not isinstance(about, dict) or not about.get("little_endian", True):
        raise RuntimeError("torch.load: the file was written on a machine of another byte order")
    reader = one(weights_only, **options)
    obj = reader.load()
    keys = one().load()
    if not isinstance(keys, list) or any(k not in reader.storages for k in keys) or len(keys) < len(reader.storages):
        raise RuntimeError("torch.load: the file's list of storages is not that of its tensors")
    for key in keys:
        storage = reader.storages[key]
        count, expected = int.from_bytes(file.read(8), "little"), storage.flat.numel()
        if count != expected:
            raise RuntimeError(f"torch.load: a storage of {count} elements where {expected} were expected")
        data = file.read(count * storage.flat.dtype.itemsize)
        if len(data) != count * storage.flat.dtype.itemsize:
            raise RuntimeError(f"torch.load: the file ends in a storage of {count} elements")
        storage.fill(data)
    return obj


def _forced(weights_only):
    """weights_only, unless the environment changes it. TORCH_FORCE_WEIGHTS_ONLY_LOAD=1 always does,
    TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1 only where the program does not say."""
    yes = ("1", "y", "yes", "true")
    if os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "") in yes:
        return True
    if weights_only is None and os.environ.get("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "") in yes:
        return False
    return weights_only is not False


def _moved(obj, place):
    """obj, with ``place(tensor)`` in place of each tensor."""
    if isinstance(obj, Parameter):
        return Parameter(place(obj.detach()), obj.requires_grad)
    if isinstance(obj, torch.Tensor):
        return place(obj)
    if isinstance(obj, dict):
        for key in obj:
            obj[key] = _moved(obj[key], place)
        return obj
    if isinstance(obj, (list, tuple)) and not hasattr(obj, "_fields"):
        return type(obj)(_moved(v, place) for v in obj)
    return obj


def _placing(map_location):
    """A function tensor -> tensor for load's map_location, or None."""
    if map_location is None:
        return None
    if callable(map_location) and not isinstance(map_location, torch.device):
        return lambda t: map_location(t, "cpu")
    if isinstance(map_location, dict):
        map_location = map_location.get("cpu", "cpu")
    device = torch.device(map_location)
    return None if device.type == "cpu" else lambda t: t.to(device)


_UNPACKERS = (OSError, zipfile.lzma.LZMAError) if zipfile.lzma else (OSError,)  # raised by bz2 and lzma
_PICKLE_MOST = 1 << 30  # bytes of a compressed pickle, which holds no elements of tensors


def _load_archive(archive, weights_only, options):
    name = next((n for n in archive.namelist() if n.endswith("/data.pkl")), None)
    if name is None:
        raise RuntimeError("torch.load: the archive holds no data.pkl: it is not a file of torch.save")
    folder = name.rsplit("/", 1)[0]
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED and info.file_size > _PICKLE_MOST:
        raise RuntimeError(f"torch.load: the archive's {name} would be unpacked to {info.file_size} bytes")
    order = {b"little": "<", b"big": ">"}
    said = archive.read(f"{folder}/byteorder") if f"{folder}/byteorder" in archive.namelist() else b"little"
    if said not in order:
        raise RuntimeError(f"torch.load: the archive's byte order is {said[:20]!r}")
    text = io.BytesIO(archive.read(name))
    about = {"archive": archive, "folder": folder, "order": order[said]}
    return _reader(_Careful, _Trusting, weights_only, text, options, **about).load()


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Load what save() or PyTorch's save() wrote, from a path or file. Files from before 1.6 can be read, too. Tensors
    are on the CPU, or where map_location says.

    Raises pickle.UnpicklingError if the file holds more than tensors and plain values, unless weights_only=False.
    """
    place = _placing(map_location)
    if isinstance(f, (str, os.PathLike)):
        if os.fspath(f).endswith(".safetensors"):
            obj = load_safetensors(f)
            return _moved(obj, place) if place else obj
        with open(f, "rb") as file:
            return load(file, map_location, weights_only=weights_only, **pickle_load_args)
    weights_only = _forced(weights_only)
    if not zipfile.is_zipfile(f):
        f.seek(0)
        obj = _load_older(f, weights_only, pickle_load_args)
        return _moved(obj, place) if place else obj
    try:
        with zipfile.ZipFile(f) as archive:
            obj = _load_archive(archive, weights_only, pickle_load_args)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, *_UNPACKERS) as error:
        if isinstance(error, OSError) and error.errno is not None:  # reading failed
            raise
        raise RuntimeError(f"torch.load: the archive is damaged: {error}") from error
    return _moved(obj, place) if place else obj
