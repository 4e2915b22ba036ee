"""The names that a file may use with weights_only=True: functions that run no code of the file, and what the program
allows."""

import collections
import pickletools
import zipfile

from ... import torch
from ..._exchange import _unpickle
from ..nn.parameter import Parameter
from ._elements import STORAGES
from ._rebuild import _REBUILD, _layout, _TypedName

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
