"""Who reads which spelling of a type, entered in parse's table; and the types of values."""

import builtins
import enum

import numpy

from ... import _core
from ._arrays import Array, NestedArray, Record
from ._base import MAKERS, Signature, Type, parse, read
from ._constants import EnumMember, IntEnumMember, _literal_type
from ._groups import NamedTuple, Tuple
from ._names import NAMES, PYTHON, WORDS
from ._numbers import NPDatetime, NPTimedelta
from ._opaque import Opaque
from ._text import Reader, spelled


def from_dtype(dtype):
    """The type of elements of a numpy.dtype; TypeError where kernels have none."""
    d = numpy.dtype(dtype)
    if d.names is not None:
        fields = [(n, from_dtype(d.fields[n][0]), d.fields[n][1]) for n in d.names]
        return Record(fields, d.itemsize, d.isalignedstruct)
    if d.subdtype:
        return NestedArray(from_dtype(d.subdtype[0]), d.subdtype[1])
    if d.kind in "mM":
        return (NPDatetime if d.kind == "M" else NPTimedelta)(numpy.datetime_data(d)[0].replace("generic", ""))
    found = NAMES.get(d.name if d.kind in "biufcV" else "")
    bfloat16 = NAMES["bfloat16"]
    if d.kind == "V" and found is None and d.itemsize == 2 and d == bfloat16.dtype:
        found = bfloat16
    if found is None or (found is not bfloat16 and found.dtype != d):
        raise TypeError(f"elements of {d} have no type in kernels")
    return found


read.register(numpy.dtype, from_dtype)
read.register(tuple, Tuple)


@read.register
def _of_text(spelling: str):
    return Reader(spelling, WORDS, MAKERS, Signature).read()


@read.register
def _of_none(spelling: None):
    return NAMES["none"]


@read.register
def _of_class(spelling: type):
    if spelling in PYTHON:
        return PYTHON[spelling]
    if issubclass(spelling, numpy.generic):
        return from_dtype(spelling)
    if issubclass(spelling, enum.Enum):
        return _of_enum(spelling)
    if issubclass(spelling, _core.Instance):
        return spelling.class_type.instance_type
    return read.dispatch(object)(spelling)


def _of_enum(cls):
    kinds = {typeof(m.value) for m in cls}
    if len(kinds) != 1:
        raise TypeError(f"{cls.__name__}: values of an enum in kernels are of one type, not {sorted(map(str, kinds))}")
    return (IntEnumMember if issubclass(cls, enum.IntEnum) else EnumMember)(cls, kinds.pop())


def typeof(value):
    """The Type that value has as a kernel's argument; TypeError: none."""
    if isinstance(value, (numpy.generic, builtins.bool, int, float, complex, str, type(None), enum.Enum)):
        return _of_scalar(value)
    if isinstance(value, tuple):
        members = [typeof(v) for v in value]
        return NamedTuple(members, type(value)) if hasattr(value, "_fields") else Tuple(members)
    if isinstance(value, _core.Instance):
        return type(value).class_type.instance_type
    if isinstance(value, _core.Box):
        return parse(spelled(value._typename()))
    if isinstance(value, (numpy.dtype, Type)):
        return Opaque(f"dtype({value})")
    flags, dtype = getattr(value, "flags", None), getattr(value, "dtype", None)
    if flags is None or dtype is None:
        raise TypeError(f"a {type(value).__name__} cannot be an argument of a kernel")
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return Array(from_dtype(dtype), value.ndim, layout, not flags.writeable)


def _of_scalar(value):
    if isinstance(value, enum.Enum):
        return _of_enum(type(value))
    if isinstance(value, numpy.generic):
        return from_dtype(value.dtype)
    if isinstance(value, int) and not isinstance(value, builtins.bool):
        if not -(1 << 63) <= value < 1 << 64:
            raise TypeError(f"{value} does not fit 64 bits")
        return _literal_type(value)
    return PYTHON[type(value)] if type(value) in PYTHON else parse(type(value).__mro__[1])
