"""Types of kernels' arguments and values, as signatures spell them: ``void(float32[:, ::1], int64)``.

A type is an immutable object that compares and hashes by value. What a compiler asks it:

    kind     "int" "uint" "float" "complex" "bool" "array" "tuple" "record" "nested" "optional" "pointer" "literal"
             "none" "omitted" "list" "set" "enum" "string" "vector" "time" "opaque"
    dtype    numpy.dtype of the value, or of an array's elements; None where there is none
    ndim     axes of an array; 0 otherwise
    layout   of an array: "C", "F", or "A" for any strides; None otherwise
    items    the types that it is made of: an array's element, a tuple's members, a record's fields …

``parse`` makes one of every spelling: types, NumPy's dtypes and scalar types, Python's, text. Calling a number's type
converts (``float32(3)`` is ``numpy.float32(3)``) or, with types as arguments, makes a Signature; subscripting it with
slices makes an array type.
"""

import builtins
import enum

import numpy

from ._compile._typeclasses import (
    Array,
    BaseTuple,
    Boolean,
    BooleanLiteral,
    Complex,
    CPointer,
    Dummy,
    EnumMember,
    Float,
    Integer,
    IntegerLiteral,
    IntEnumMember,
    List,
    Literal,
    NamedTuple,
    NamedUniTuple,
    NestedArray,
    NoneType,
    NPDatetime,
    NPTimedelta,
    Number,
    Omitted,
    Opaque,
    Optional,
    Record,
    Set,
    Signature,
    StringLiteral,
    Tuple,
    Type,
    UniTuple,
    Vector,
    _BFloat16,
    _literal_type,
)


def signature(return_type, *args):
    """The Signature of a function that returns return_type."""
    return Signature(return_type, args)


def literal(value):
    """The type of a constant: an int, a bool or a string."""
    kinds = {int: IntegerLiteral, builtins.bool: BooleanLiteral, str: StringLiteral}
    if type(value) not in kinds:
        raise TypeError(f"literal: constants are int, bool and str, not {type(value).__name__}")
    return kinds[type(value)](value)


def unliteral(t):
    """The type of values that need not be constant."""
    return parse(t).unliteral()


# ---- every spelling ----

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
    found = _NAMES.get(d.name if d.kind in "biufcV" else "")
    if d.kind == "V" and found is None and d.itemsize == 2 and d == bfloat16.dtype:
        found = bfloat16
    if found is None or (found is not bfloat16 and found.dtype != d):
        raise TypeError(f"elements of {d} have no type in kernels")
    return found


def parse(spelling):
    """The Type or Signature that spelling means.

    spelling: either of them; a numpy.dtype or scalar type; bool, int, float, complex, str or None; a tuple of spellings
    (a tuple of values); text such as "float32", "f4[:, ::1]", "void(int32, UniTuple(float64, 2))".
    TypeError: nothing of these, with what was found."""
    if isinstance(spelling, (Type, Signature)):
        return spelling
    if spelling is None:
        return none
    if isinstance(spelling, str):
        from ._compile._typetext import read

        return read(spelling)
    if isinstance(spelling, tuple):
        return Tuple(spelling)
    if isinstance(spelling, type) and spelling in _PYTHON:
        return _PYTHON[spelling]
    if isinstance(spelling, numpy.dtype) or (isinstance(spelling, type) and issubclass(spelling, numpy.generic)):
        return from_dtype(spelling)
    if isinstance(spelling, type) and issubclass(spelling, enum.Enum):
        return _of_enum(spelling)
    if getattr(spelling, "__name__", None) == "bfloat16":
        return bfloat16
    raise TypeError(f"{spelling!r} is not a type; there are names as in treadle.types, NumPy's dtypes and text")


def _of_enum(cls):
    kinds = {typeof(m.value) for m in cls}
    if len(kinds) != 1:
        raise TypeError(f"{cls.__name__}: values of an enum in kernels are of one type, not {sorted(map(str, kinds))}")
    return (IntEnumMember if issubclass(cls, enum.IntEnum) else EnumMember)(cls, kinds.pop())


def normalize(sig):
    """(args, return_type) of a Signature, its text, or a tuple of argument types; return_type None: to be found out."""
    if isinstance(sig, str):
        sig = parse(sig)
    if isinstance(sig, Signature):
        return sig.args, sig.return_type
    if isinstance(sig, (tuple, list)):
        return tuple(parse(t) for t in sig), None
    if isinstance(sig, BaseTuple):
        return sig.items, None
    raise TypeError(f"{sig!r} is not a signature, as void(float32[:], int32) is")


# ---- of values ----


def typeof(value):
    """The Type that value has as a kernel's argument; TypeError: none."""
    if isinstance(value, (numpy.generic, builtins.bool, int, float, complex, str, type(None), enum.Enum)):
        return _of_scalar(value)
    if isinstance(value, tuple):
        members = [typeof(v) for v in value]
        return NamedTuple(members, type(value)) if hasattr(value, "_fields") else Tuple(members)
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
    return _PYTHON[type(value)] if type(value) in _PYTHON else parse(type(value).__mro__[1])


# ---- names ----

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

_NAMES = {n: cls(kind, n, numpy.dtype(code) if code else None) for n, (cls, kind, code) in _BASE.items()}
_NAMES |= {other: _NAMES[name] for name, others in _OTHER.items() for other in others.split()}
_NAMES["none"] = _NAMES["void"] = NoneType()
VECTORS = {f"{name}x{n}": Vector(_NAMES[name], n) for name in _SHORT_VECTORS for n in (1, 2, 3, 4)}
VECTORS |= {f"{short}{n}": VECTORS[f"{name}x{n}"] for name, all in _SHORT_VECTORS.items() for short in all.split() for n in (1, 2, 3, 4)}  # fmt: skip  # noqa: E501
_NAMES |= VECTORS

boolean, bool_, b1 = (_NAMES[n] for n in ("boolean", "bool_", "b1"))
int8, int16, int32, int64 = (_NAMES[n] for n in ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (_NAMES[n] for n in ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64, bfloat16 = (_NAMES[n] for n in ("float16", "float32", "float64", "bfloat16"))
complex64, complex128, none, void = (_NAMES[n] for n in ("complex64", "complex128", "none", "void"))
globals().update(_NAMES)
voidptr = Opaque("void*", "pointer")
unicode_type = string = Opaque("unicode_type", "string")
undefined = Opaque("undefined")
unknown = Opaque("unknown")
pyobject = Opaque("pyobject")
ellipsis = Opaque("...")
GridGroup = Opaque("GridGroup")
range_state32_type, range_state64_type = Opaque("range_state_int32"), Opaque("range_state_int64")
range_iter32_type, range_iter64_type = Opaque("range_iter_int32"), Opaque("range_iter_int64")

signed_domain = frozenset((int8, int16, int32, int64))
unsigned_domain = frozenset((uint8, uint16, uint32, uint64))
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset((float32, float64))
complex_domain = frozenset((complex64, complex128))
number_domain = real_domain | integer_domain | complex_domain

_PYTHON = {builtins.bool: boolean, int: int64, float: float64, complex: complex128, str: unicode_type, type(None): none}
