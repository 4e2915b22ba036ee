"""Types of kernels' arguments and values, as signatures spell them: ``void(float32[:, ::1], int64)``.

A type is an immutable object that compares and hashes by value. What a compiler asks it:

    kind     "int" "uint" "float" "complex" "bool" "array" "tuple" "record" "nested" "optional" "pointer" "literal"
             "none" "omitted" "list" "set" "typedlist" "typeddict" "enum" "string" "instance" "deferred"
             "vector" "time" "opaque"
    dtype    numpy.dtype of the value, or of an array's elements; None where there is none
    ndim     axes of an array; 0 otherwise
    layout   of an array: "C", "F", or "A" for any strides; None otherwise
    items    the types that it is made of: an array's element, a tuple's members, a record's fields …

``parse`` makes one of every spelling: types, NumPy's dtypes and scalar types, Python's, text. Calling a number's type
converts (``float32(3)`` is ``numpy.float32(3)``) or, with types as arguments, makes a Signature; subscripting it with
slices makes an array type.
"""

from ._compile._types._arrays import Array, NestedArray, Record
from ._compile._types._base import Signature, Type, parse
from ._compile._types._constants import (
    BooleanLiteral,
    EnumMember,
    IntegerLiteral,
    IntEnumMember,
    Literal,
    Omitted,
    StringLiteral,
    literal,
)
from ._compile._types._groups import (
    BaseTuple,
    CPointer,
    DictType,
    List,
    ListType,
    NamedTuple,
    NamedUniTuple,
    Optional,
    Set,
    Tuple,
    UniTuple,
)
from ._compile._types._names import NAMES, VECTORS
from ._compile._types._numbers import Boolean, Complex, Float, Integer, NPDatetime, NPTimedelta, Number, Vector
from ._compile._types._opaque import ClassInstanceType, DeferredType, Dummy, FunctionType, NoneType, Opaque, UnicodeType
from ._compile._types._spellings import from_dtype, typeof
from ._public import dir_of as _dir_of
from ._words import refusing as _refusing

deferred_type = DeferredType
optional = Optional


def signature(return_type, *args):
    """The Signature of a function with this return type and these argument types."""
    return Signature(return_type, args)


def unliteral(t):
    """The type of values that need not be constants."""
    return parse(t).unliteral()


def normalize(sig):
    """(args, return_type) of a Signature, its text, or a tuple of argument types. return_type None: to be inferred."""
    if isinstance(sig, str):
        sig = parse(sig)
    if isinstance(sig, Signature):
        return sig.args, sig.return_type
    if isinstance(sig, (tuple, list)):
        return tuple(parse(t) for t in sig), None
    if isinstance(sig, BaseTuple):
        return sig.items, None
    raise TypeError(f"{sig!r} is not a signature, as void(float32[:], int32) is")


# ---- names ----

boolean, bool_, b1 = (NAMES[n] for n in ("boolean", "bool_", "b1"))
int8, int16, int32, int64 = (NAMES[n] for n in ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (NAMES[n] for n in ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64, bfloat16 = (NAMES[n] for n in ("float16", "float32", "float64", "bfloat16"))
complex64, complex128, none, void = (NAMES[n] for n in ("complex64", "complex128", "none", "void"))
globals().update(NAMES)

signed_domain = frozenset((int8, int16, int32, int64))
unsigned_domain = frozenset((uint8, uint16, uint32, uint64))
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset((float32, float64))
complex_domain = frozenset((complex64, complex128))
number_domain = real_domain | integer_domain | complex_domain

__getattr__ = _refusing(__name__)
__dir__ = _dir_of(__name__)
