"""``torch.save`` and ``torch.load``: PyTorch's files (a zip archive of a pickle and tensors' bytes) and safetensors.

PyTorch reads what treadle writes, and the other way round. Loading accepts only tensors and plain values unless
``weights_only=False``, because a pickle can run any code.
"""

import collections
import enum
import io
import json
import math
import os
import pickle
import pickletools
import zipfile
import zlib
from typing import NamedTuple

import numpy

from .. import torch
from .._exchange import _unpickle
from . import _modules
from .nn.parameter import Parameter
from .sparse import SparseTensor

_ALIGN = 64  # tensors' bytes begin at multiples of this, as in PyTorch's files

# Storage classes in PyTorch's pickles, and the dtypes of their elements.
STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64",
}
_CLASS_OF = {dtype: name for name, dtype in STORAGES.items()}


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
        self.arrays = []

    def persistent_id(self, obj):
        if not isinstance(obj, _Stored):
            return None
        return ("storage", _Name("torch", _CLASS_OF[obj.dtype]), obj.key, "cpu", obj.count)

    def reducer_override(self, obj):
        if isinstance(obj, Parameter):
            return _Name("torch._utils", "_rebuild_parameter"), (
                obj.detach(),
                obj.requires_grad,
                collections.OrderedDict(),
            )
        if isinstance(obj, torch.Tensor):
            return _Name("torch._utils", "_rebuild_tensor_v2"), self._parts(obj)
        if isinstance(obj, SparseTensor):
            parts = obj._indices(), obj._values().detach(), obj.size(), obj.is_coalesced()
            return _Name("torch._utils", "_rebuild_sparse_tensor"), (torch.sparse_coo, parts)
        if isinstance(obj, torch.layout):
            return _Name("torch.serialization", "_get_layout"), (repr(obj),)
        if isinstance(obj, torch.Size):
            return _Name("torch", "Size"), (tuple(obj),)
        return NotImplemented

    def _parts(self, tensor):
        array = tensor_bytes(tensor)
        key = str(len(self.arrays))
        self.arrays.append(array)
        dtype = str(tensor.dtype).removeprefix("torch.")
        if dtype not in _CLASS_OF:
            raise TypeError(f"torch.save: tensors of {tensor.dtype} have no place in PyTorch's files")
        shape = tuple(int(n) for n in tensor.shape)
        strides = [1]
        for n in shape[:0:-1]:
            strides.insert(0, strides[0] * max(n, 1))
        stored = _Stored(dtype, key, int(tensor.numel()))
        hooks = collections.OrderedDict()
        return stored, 0, shape, tuple(strides[: len(shape)]), bool(tensor.requires_grad and tensor.is_leaf), hooks

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


def tensor_bytes(tensor):
    """The elements in C order as NumPy's bytes."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    if flat.dtype == torch.bfloat16:
        flat = flat.view(torch.int16)
    return numpy.ascontiguousarray(flat.numpy()).view(numpy.uint8)


def _kind(dtype):
    """NumPy's dtype of a dtype's elements in a file."""
    return numpy.dtype("int16" if dtype == "bfloat16" else dtype)


def tensor_of(data, dtype, shape, order="<"):
    """A tensor from its bytes. order: their byte order, as NumPy spells it."""
    array = numpy.frombuffer(data, _kind(dtype).newbyteorder(order)).astype(_kind(dtype))
    flat = torch.from_numpy(array)
    return (flat.view(torch.bfloat16) if dtype == "bfloat16" else flat).reshape(shape)


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


# ---- loading ----


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
        # A tensor that repeats elements stays a view. Otherwise a few bytes of a file could demand any amount of
        # memory.
        tensor = tensor if isinstance(storage, _Awaited) or count > flat.numel() else tensor.clone()
    return tensor.requires_grad_() if requires_grad else tensor


def _rebuild_parameter(data, requires_grad, hooks):
    return Parameter(data, requires_grad)


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
}
_SAFE = {
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("collections", "Counter"): collections.Counter,
    ("builtins", "set"): set,
    ("builtins", "complex"): complex,
    ("builtins", "bytearray"): _unpickle.some_bytes,
    ("__builtin__", "set"): set,
    ("torch.serialization", "_get_layout"): _layout,
    ("_codecs", "encode"): lambda text, how: text.encode(how),
}
_SAFE_TORCH = {"Size", "device", "Tensor"}
_allowed = {}  # (module, name): what add_safe_globals was given


def _named(found):
    """{(module, name): class or function} for objects, or for pairs (object, "module.name")."""
    pairs = [g if isinstance(g, tuple) else (g, f"{g.__module__}.{g.__qualname__}") for g in found]
    return {tuple(name.rpartition(".")[::2]): g for g, name in pairs}


def add_safe_globals(safe_globals):
    """Let load() accept these classes and functions with weights_only=True, too. The list may hold pairs of one and the
    "module.name" that files have for it."""
    _allowed.update(_named(safe_globals))


def get_safe_globals():
    """All that add_safe_globals was given."""
    return list(_allowed.values())


def clear_safe_globals():
    """Go back to taking tensors and plain values only."""
    _allowed.clear()


class safe_globals:
    """add_safe_globals as a context manager."""

    def __init__(self, safe_globals):
        self._new = _named(safe_globals)

    def __enter__(self):
        self._before = dict(_allowed)
        _allowed.update(self._new)

    def __exit__(self, *exception):
        _allowed.clear()
        _allowed.update(self._before)


def get_unsafe_globals_in_checkpoint(f):
    """The names in a file that load(weights_only=True) refuses."""
    with zipfile.ZipFile(f) as archive:
        text = archive.read(next(n for n in archive.namelist() if n.endswith("/data.pkl")))
    names, texts = [], []
    for op, value, _ in pickletools.genops(text):
        if op.name == "GLOBAL":
            names.append(tuple(value.split(" ", 1)))
        elif op.name == "STACK_GLOBAL":
            names.append(tuple(texts[-2:]))
        elif isinstance(value, str):
            texts.append(value)
    return [".".join(n) for n in dict.fromkeys(names) if _safe(*n) is None]


def _safe(module, name):
    """The object for a name that runs no code, or None if files must not name it."""
    if module == "torch._utils" and name in _REBUILD:
        return _REBUILD[name]
    if module in ("torch", "torch.storage") and name in STORAGES:
        return _TypedName(STORAGES[name])
    if module == "torch.nn.parameter" and name == "Parameter":
        return Parameter
    if module == "torch" and name.isidentifier():
        if name in _SAFE_TORCH or isinstance(getattr(torch, name, None), torch.dtype):
            return getattr(torch, name)
    ours = "treadle." + module if module.split(".")[0] == "torch" else module
    return _SAFE.get((module, name)) or _allowed.get((module, name)) or _allowed.get((ours, name))


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


# ---- settings ----


class PyTorchFileReader:
    """The records of a file that save() or PyTorch wrote. Raises RuntimeError if there is no such record."""

    def __init__(self, file):
        self._archive = zipfile.ZipFile(file)
        names = self._archive.namelist()
        self._home = names[0].partition("/")[0] + "/" if names else ""

    def get_all_records(self):
        """Their names."""
        return [n.removeprefix(self._home) for n in self._archive.namelist()]

    def has_record(self, name):
        """Is there a record of this name?"""
        return self._home + name in self._archive.namelist()

    def get_record(self, name):
        """The bytes of a record."""
        if not self.has_record(name):
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found")
        return self._archive.read(self._home + name)


class LoadEndianness(enum.Enum):
    """The byte order of files that do not say it."""

    NATIVE, LITTLE, BIG = 1, 2, 3


_settings = {"endianness": None, "mmap": 2, "crc32": True}  # mmap: MAP_PRIVATE
SourceChangeWarning = type("SourceChangeWarning", (Warning,), {"__doc__": "PyTorch's, for files before 1.6."})


def get_default_load_endianness():
    """What set_default_load_endianness was told."""
    return _settings["endianness"]


def set_default_load_endianness(endianness):
    """Keep the setting. It changes nothing: files say their order, and this machine's is little. Raises TypeError for
    anything but a LoadEndianness."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _settings["endianness"] = endianness


def get_default_mmap_options():
    """What set_default_mmap_options was told."""
    return _settings["mmap"]


class set_default_mmap_options:
    """Keep the setting, as a call and as a context manager. It changes nothing: files are read, not mapped."""

    def __init__(self, flags):
        if flags not in (1, 2):
            raise ValueError(f"Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or "
                             f"mmap.MAP_SHARED, but got {flags}")  # fmt: skip
        self._before, _settings["mmap"] = _settings["mmap"], flags

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        _settings["mmap"] = self._before


def get_crc32_options():
    """What set_crc32_options was told."""
    return _settings["crc32"]


def set_crc32_options(compute_crc32):
    """Keep the setting. It changes nothing: files always have the checksums."""
    _settings["crc32"] = bool(compute_crc32)


__getattr__, __dir__ = _modules.refusing("torch.serialization")


# ---- safetensors: the length of a JSON header in 8 bytes, the header, the tensors' bytes ----

_SAFE_DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
    "C64": "complex64",
}
_SAFE_NAMES = {v: k for k, v in _SAFE_DTYPES.items()}


def save_safetensors(tensors, path, metadata=None):
    """Write a dict of names and tensors as a safetensors file. metadata: a dict of texts. Raises TypeError for anything
    else."""
    wrong = next((k for k, v in tensors.items() if not isinstance(v, torch.Tensor)), None)
    if wrong is not None:
        raise TypeError(f"a file of safetensors holds tensors; {wrong!r} is a {type(tensors[wrong]).__name__}")
    header, data, at = {"__metadata__": dict(metadata)} if metadata else {}, [], 0
    for name in sorted(tensors, key=lambda k: (-tensors[k].element_size(), k)):  # so that all lie aligned
        dtype = str(tensors[name].dtype).removeprefix("torch.")
        if dtype not in _SAFE_NAMES:
            raise TypeError(f"a file of safetensors has no place for {tensors[name].dtype} ({name!r})")
        data.append(tensor_bytes(tensors[name]))
        shape = [int(n) for n in tensors[name].shape]
        header[name] = {"dtype": _SAFE_NAMES[dtype], "shape": shape, "data_offsets": [at, at + data[-1].nbytes]}
        at += data[-1].nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in data:
            file.write(array)


def load_safetensors(path):
    """Read the dict of names and tensors in a safetensors file. Raises RuntimeError for another file, ValueError for an
    invalid entry."""
    with open(path, "rb") as file:
        data = file.read()
    length = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + length].decode()) if data[8:9] == b"{" and len(data) >= 8 + length else None
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise RuntimeError(f"torch.load: {os.fspath(path)} is not a file of safetensors")
    about = header.pop("__metadata__", {})
    if not isinstance(about, dict) or not all(isinstance(v, str) for v in about.values()):
        raise ValueError(f"torch.load: {os.fspath(path)}: its __metadata__ is {about!r:.200}, not texts under names")
    body = memoryview(data)[8 + length :]
    found, places = {}, []
    for name, entry in header.items():
        try:
            found[name] = _entry(entry, body)
        except ValueError as error:
            raise ValueError(f"torch.load: {os.fspath(path)}, entry {name!r}: {error}") from None
        places.append((*entry["data_offsets"], name))
    _check_whole(os.fspath(path), sorted(places), len(body))
    return found


def _check_whole(path, places, nbytes):
    """Raise ValueError if the tensors' bytes overlap or leave gaps, which the format forbids."""
    at = 0
    for a, b, name in places:
        if a != at:
            raise ValueError(f"torch.load: {path}, entry {name!r}: its bytes begin at {a}, and {at} was expected")
        at = b
    if at != nbytes:
        raise ValueError(f"torch.load: {path}: its tensors have {at} bytes, and {nbytes} follow the header")


def _counts(values, what, n=None):
    """A list of counts of elements or bytes; n of them if n is given."""
    if not isinstance(values, list) or any(type(v) is not int or not 0 <= v < 1 << 63 for v in values):
        raise ValueError(f"its {what} is {values!r}, not a list of integers from 0 on")
    if n is not None and len(values) != n:
        raise ValueError(f"its {what} has {len(values)} numbers, not {n}")
    return values


def _entry(entry, body):
    """The tensor of an entry of a header. Raises ValueError if the entry describes none."""
    if not isinstance(entry, dict):
        raise ValueError(f"it is {entry!r}, not a dtype, a shape and offsets")
    missing = [k for k in ("dtype", "shape", "data_offsets") if k not in entry]
    if missing:
        raise ValueError(f"it has no {' and no '.join(missing)}")
    dtype = _SAFE_DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if dtype is None:
        raise ValueError(f"its dtype {entry['dtype']!r} is none of {', '.join(_SAFE_DTYPES)}")
    shape, (a, b) = _counts(entry["shape"], "shape"), _counts(entry["data_offsets"], "data_offsets", 2)
    if not a <= b <= len(body):
        raise ValueError(f"its bytes {a} to {b} are not in the {len(body)} bytes that follow the header")
    if math.prod(n or 1 for n in shape) * _kind(dtype).itemsize >= 1 << 63:
        raise ValueError(f"its shape {shape} of {entry['dtype']} is too big")
    want = math.prod(shape) * _kind(dtype).itemsize
    if want != b - a:
        raise ValueError(f"its shape {shape} of {entry['dtype']} takes {want} bytes, its data_offsets hold {b - a}")
    return tensor_of(body[a:b], dtype, tuple(shape))
