"""What programs for the array API's standard ask: what the library has, on which devices, with which dtypes."""

import numpy

from . import _core

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


class Info:
    """The object that __array_namespace_info__() gives; the standard says what its methods tell."""

    def capabilities(self):
        """Masks and shapes that depend on data are there; axes are at most 16."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 16}

    def default_device(self):
        """The device of arrays that are made without device=."""
        return _core.device()

    def default_dtypes(self, *, device=None):
        """The dtypes of numbers without one."""
        names = {"real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64"}
        return {kind: numpy.dtype(name) for kind, name in names.items()}

    def devices(self):
        """All devices, GPUs first."""
        return tuple(_core.devices())

    def dtypes(self, *, device=None, kind=None):
        """The dtypes of the standard by name: of a kind, of several, or all."""
        kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        unknown = [k for k in kinds if k not in _KINDS]
        if unknown:
            raise ValueError(f"dtypes: kind {unknown[0]!r} is none of {', '.join(map(repr, _KINDS))}")
        return {name: numpy.dtype(name) for k in kinds for name in _KINDS[k]}


def __array_namespace_info__():
    """What there is, for the array API's standard: capabilities, devices, dtypes."""
    return Info()


def astype(x, dtype, /, *, copy=True, device=None):
    """x in another dtype: a copy; with copy=False x itself where nothing changes."""
    x = x if device is None else x.to_device(device)
    return x.astype(dtype, copy=copy)
