"""The format safetensors: the length of a JSON header in 8 bytes, the header, the tensors' bytes."""

import json
import math
import os

from ... import torch
from ._elements import _kind, tensor_bytes, tensor_of

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
