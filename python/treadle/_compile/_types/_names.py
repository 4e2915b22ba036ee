"""The types' names: NumPy's, C's on 64-bit Linux and short ones; and the types of Python's own classes."""

import builtins

import numpy

from ._arrays import Array, NestedArray
from ._base import MAKERS
from ._constants import literal
from ._groups import CPointer, DictType, List, ListType, Optional, Set, Tuple, UniTuple
from ._numbers import Boolean, Complex, Float, Integer, NPDatetime, NPTimedelta, Vector, _BFloat16
from ._opaque import NoneType, Opaque, UnicodeType

_BASE = {
    "bool": (Boolean, "bool", "?"), "bfloat16": (_BFloat16, "float", None),
    **{f"int{n}": (Integer, "int", f"i{n // 8}") for n in (8, 16, 32, 64)},
    **{f"uint{n}": (Integer, "uint", f"u{n // 8}") for n in (8, 16, 32, 64)},
    **{f"float{n}": (Float, "float", f"f{n // 8}") for n in (16, 32, 64)},
    **{f"complex{n}": (Complex, "complex", f"c{n // 8}") for n in (64, 128)},
}  # fmt: skip

# The other names of numbers: C's on 64-bit Linux, NumPy's and the short ones.
_OTHER = {
    "bool": "boolean bool_ b1", "int8": "char i1", "int16": "short i2", "int32": "intc i4",
    "int64": "intp int_ long_ longlong i8 ssize_t", "uint8": "byte uchar u1", "uint16": "ushort u2",
    "uint32": "uintc u4", "uint64": "uintp uint ulong ulonglong u8 size_t", "float16": "f2 half",
    "float32": "f4 float_", "float64": "f8 double", "complex64": "c8", "complex128": "c16", "bfloat16": "bf16",
}  # fmt: skip

# C's names of the short vectors' elements, without the count.
_SHORT_VECTORS = {
    "int8": "char", "int16": "short", "int32": "int", "int64": "long longlong", "uint8": "uchar", "uint16": "ushort",
    "uint32": "uint", "uint64": "ulong ulonglong", "float32": "float", "float64": "double",
}  # fmt: skip

NAMES = {n: cls(kind, n, numpy.dtype(code) if code else None) for n, (cls, kind, code) in _BASE.items()}
NAMES |= {other: NAMES[name] for name, others in _OTHER.items() for other in others.split()}
NAMES["none"] = NAMES["void"] = NoneType()
VECTORS = {f"{name}x{n}": Vector(NAMES[name], n) for name in _SHORT_VECTORS for n in (1, 2, 3, 4)}
VECTORS |= {
    f"{short}{n}": VECTORS[f"{name}x{n}"]
    for name, all in _SHORT_VECTORS.items() for short in all.split() for n in (1, 2, 3, 4)
}  # fmt: skip
NAMES |= VECTORS
NAMES |= {name: Opaque(name) for name in ("undefined", "unknown", "pyobject", "GridGroup")}
NAMES |= {f"range_{what}{n}_type": Opaque(f"range_{what}_int{n}") for what in ("state", "iter") for n in (32, 64)}
NAMES |= {"ellipsis": Opaque("..."), "voidptr": Opaque("void*", "pointer")}
NAMES["unicode_type"] = NAMES["string"] = UnicodeType("unicode_type", "string")

PYTHON = {
    builtins.bool: NAMES["bool"], int: NAMES["int64"], float: NAMES["float64"], complex: NAMES["complex128"],
    str: NAMES["unicode_type"], type(None): NAMES["none"],
}  # fmt: skip

# The types that text may name.
WORDS = NAMES | {cls.__name__: PYTHON[cls] for cls in (int, float, complex, str)}
MAKERS |= {
    "Array": Array, "UniTuple": UniTuple, "Tuple": Tuple, "Optional": Optional, "CPointer": CPointer, "List": List,
    "list": List, "set": Set, "Set": Set, "ListType": ListType, "DictType": DictType, "dict": DictType,
    "NestedArray": NestedArray, "IntegerLiteral": literal, "Literal": literal, "NPDatetime": NPDatetime,
    "NPTimedelta": NPTimedelta,
}  # fmt: skip
