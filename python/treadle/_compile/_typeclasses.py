"""The classes of types.py: what a type is made of, how it compares, prints and pickles; and what spells which type, for
the classes take every spelling of the types that they are made of."""

import builtins
import enum
from types import MappingProxyType

import numpy

from .. import _core


def _is_type(x):
    """Whether x is a type, where another value would be allowed too."""
    scalar = isinstance(x, type) and (x in (builtins.bool, int, float, complex) or issubclass(x, numpy.generic))
    return scalar or isinstance(x, (Type, Signature))


class Type:
    """What every type is. name: its text; the rest is told at the head of this module."""

    __slots__ = ("kind", "name", "items", "ndim", "layout", "_dtype", "_key", "__weakref__")

    def __init__(self, kind="opaque", name="", dtype=None, items=(), ndim=0, layout=None, key=()):
        _set(self, kind=kind, name=name, _dtype=dtype, items=tuple(items), ndim=ndim, layout=layout)
        _set(self, _key=(type(self).__name__, kind, name, self.items, ndim, layout, *key))

    @property
    def dtype(self):
        return self._dtype

    def __setattr__(self, name, value):
        raise AttributeError(f"{self}: a type cannot be changed")

    def __delattr__(self, name):
        raise AttributeError(f"{self}: a type cannot be changed")

    def __eq__(self, other):
        return self._key == other._key if isinstance(other, Type) else NotImplemented

    def __hash__(self):
        return hash(self._key)

    def __repr__(self):
        return self.name

    def __str__(self):
        return self.name

    def __reduce__(self):
        raise TypeError(f"{self!r} cannot be pickled")

    def __getitem__(self, key):
        """An array type of these elements: one slice an axis, ``::1`` where neighbours lie side by side."""
        axes = key if isinstance(key, tuple) else (key,)
        if not axes or not all(isinstance(a, slice) and a.start is a.stop is None for a in axes):
            raise TypeError(f"{self}[…]: one slice for each axis, as in {self}[:, ::1], not {key!r}")
        steps = [a.step for a in axes]
        if any(s not in (None, 1) for s in steps) or steps.count(1) > 1 or 1 in steps[1:-1]:
            raise TypeError(f"{self}[…]: at most one ::1, on the first axis or the last")
        layout = "C" if steps[-1] == 1 else "F" if steps[0] == 1 else "A"
        return Array(self, len(axes), layout)

    def __call__(self, *args):
        """A signature that returns this type, of argument types."""
        return Signature(self, args)

    @property
    def key(self):
        return self._key

    def unliteral(self):
        """The type of values that need not be constant."""
        return self


def _set(o, **values):
    for name, value in values.items():
        object.__setattr__(o, name, value)


# ---- numbers ----


class Number(Type):
    """A number of NumPy's. bitwidth: bits of a value."""

    __slots__ = ()

    def __init__(self, kind, name, dtype):
        super().__init__(kind, name, dtype)

    @property
    def bitwidth(self):
        return self.dtype.itemsize * 8

    def __call__(self, *args):
        if len(args) == 1 and not _is_type(args[0]):
            return self._of(args[0])
        return Signature(self, args)

    def _of(self, value):
        return self.dtype.type(value)

    def __reduce__(self):
        return parse, (self.name,)


class Integer(Number):
    __slots__ = ()
    signed = property(lambda self: self.kind == "int")
    minval = property(lambda self: int(numpy.iinfo(self.dtype).min))
    maxval = property(lambda self: int(numpy.iinfo(self.dtype).max))

    def _of(self, value):
        value = value if isinstance(value, numpy.generic) else int(value)
        return numpy.asarray(value).astype(self.dtype)[()] if not isinstance(value, int) else self._wrap(value)

    def _wrap(self, value):
        """Two's complement, as in a kernel."""
        bits = value & ((1 << self.bitwidth) - 1)
        return self.dtype.type(bits - (1 << self.bitwidth) if self.signed and bits > self.maxval else bits)


class Float(Number):
    __slots__ = ()


class _BFloat16(Float):
    """bfloat16. NumPy lacks the dtype; treadle's is made at the first use."""

    __slots__ = ()

    @property
    def dtype(self):
        import treadle

        return treadle.bfloat16

    bitwidth = property(lambda self: 16)

    def _of(self, value):
        """The nearest bfloat16 to a value, as a float32."""
        bits = int(numpy.float32(value).view(numpy.uint32))
        if bits & 0x7FFFFFFF <= 0x7F800000:  # not NaN
            bits += 0x7FFF + (bits >> 16 & 1)
        return numpy.uint32(bits & 0xFFFF0000).view(numpy.float32)


class Complex(Number):
    __slots__ = ()
    underlying_float = property(lambda self: parse(f"float{self.bitwidth // 2}"))


class Boolean(Number):
    __slots__ = ()

    def _of(self, value):
        return builtins.bool(value)


# ---- arrays ----

_ELEMENTS = ("int", "uint", "float", "complex", "bool", "record", "nested", "time", "enum", "tuple", "vector")


class Array(Type):
    """Array(dtype, ndim, layout, readonly=False, aligned=True): layout "C", "F" or "A".

    element: the elements' type; mutable, is_c_contig, is_f_contig, is_contig."""

    __slots__ = ("readonly", "aligned")

    def __init__(self, dtype, ndim, layout, readonly=False, name=None, aligned=True):
        element = parse(dtype)
        if element.kind not in _ELEMENTS:
            raise TypeError(f"Array: elements are numbers or records, not {element}")
        if layout not in ("C", "F", "A"):
            raise ValueError(f"Array: layout is 'C', 'F' or 'A', not {layout!r}")
        if isinstance(ndim, builtins.bool) or not isinstance(ndim, int) or ndim < 0:
            raise ValueError(f"Array: ndim is a count of axes, not {ndim!r}")
        text = f"{'readonly ' * readonly}{'unaligned ' * (not aligned)}array({element}, {ndim}d, {layout})"
        _set(self, readonly=builtins.bool(readonly), aligned=builtins.bool(aligned))
        super().__init__("array", name or text, None, (element,), ndim, layout, (readonly, aligned))

    element = property(lambda self: self.items[0])
    dtype = property(lambda self: self.items[0].dtype)
    mutable = property(lambda self: not self.readonly)
    is_c_contig = property(lambda self: self.layout == "C" or (self.ndim <= 1 and self.layout != "A"))
    is_f_contig = property(lambda self: self.layout == "F" or (self.ndim <= 1 and self.layout != "A"))
    is_contig = property(lambda self: self.layout != "A")

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        """This type with other values for the parameters that are given."""
        return Array(dtype or self.element, self.ndim if ndim is None else ndim, layout or self.layout,
                     self.readonly if readonly is None else readonly, aligned=self.aligned)  # fmt: skip

    def __repr__(self):
        return f"Array({self.element!r}, {self.ndim}, {self.layout!r}, {self.readonly}, aligned={self.aligned})"

    def __reduce__(self):
        return Array, (self.element, self.ndim, self.layout, self.readonly, None, self.aligned)


class NestedArray(Type):
    """NestedArray(dtype, shape): an array of fixed shape inside a record."""

    __slots__ = ("shape",)

    def __init__(self, dtype, shape):
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        element = parse(dtype)
        _set(self, shape=shape)
        super().__init__("nested", f"nestedarray({element}, {shape})", None, (element,), len(shape), "C", (shape,))

    element = property(lambda self: self.items[0])
    dtype = property(lambda self: self.items[0].dtype)

    def __repr__(self):
        return f"NestedArray({self.element!r}, {self.shape!r})"

    def __reduce__(self):
        return NestedArray, (self.element, self.shape)


class Record(Type):
    """A structured value. fields: name → (type, offset); size: bytes; aligned. ``from_dtype`` makes one."""

    __slots__ = ("fields", "size", "aligned")

    def __init__(self, fields, size, aligned=False):
        rows = [(n, parse(t), int(offset)) for n, t, offset in fields]
        _set(self, fields=MappingProxyType({n: (t, o) for n, t, o in rows}), size=size, aligned=aligned)
        text = ",".join(f"{n}[type={t};offset={o}]" for n, t, o in rows)
        layout = numpy.dtype({"names": [r[0] for r in rows], "formats": [_format(r[1]) for r in rows],
                              "offsets": [r[2] for r in rows], "itemsize": size, "aligned": False})  # fmt: skip
        super().__init__("record", f"Record({text};{size};{aligned})", layout, [r[1] for r in rows])

    @staticmethod
    def make_c_struct(fields):
        """Record of (name, type) pairs, placed as C places them."""
        pairs = [(n, parse(t)) for n, t in fields]
        return parse(numpy.dtype([(n, *_format_pair(t)) for n, t in pairs], align=True))

    def __len__(self):
        return len(self.fields)

    def offset(self, name):
        return self.fields[name][1]

    def typeof(self, name):
        return self.fields[name][0]

    def __reduce__(self):
        return Record, ([(n, t, o) for n, (t, o) in self.fields.items()], self.size, self.aligned)


def _format_pair(t):
    return (t.dtype, t.shape) if t.kind == "nested" else (t.dtype,)


def _format(t):
    pair = _format_pair(t)
    return pair if len(pair) == 2 else pair[0]


# ---- what is made of others ----


class BaseTuple(Type):
    __slots__ = ()
    types = property(lambda self: self.items)
    count = property(lambda self: len(self.items))

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __getitem__(self, key):
        return self.items[key] if isinstance(key, int) else super().__getitem__(key)


class _Together(type):
    """Makes Tuple(types) of equal types a UniTuple, because both spell the same type and must be equal."""

    def __call__(cls, types, *rest):
        types = tuple(parse(t) for t in types)
        if cls is Tuple and types and len(set(types)) == 1:
            return UniTuple(types[0], len(types))
        return super().__call__(types, *rest)


class Tuple(BaseTuple, metaclass=_Together):
    """Tuple(types): several values, of these types."""

    __slots__ = ()

    def __init__(self, types):
        super().__init__("tuple", f"Tuple({', '.join(map(str, types))})", None, types)

    def __repr__(self):
        return f"Tuple({tuple(self.items)!r})"

    def __reduce__(self):
        return Tuple, (self.items,)


class UniTuple(BaseTuple):
    """UniTuple(dtype, count): count values of one type."""

    __slots__ = ()

    def __init__(self, dtype, count):
        one = parse(dtype)
        super().__init__("tuple", f"UniTuple({one} x {count})", None, (one,) * count, key=(one,))

    element = property(lambda self: self._key[-1])
    dtype = property(lambda self: self.element.dtype)

    def __repr__(self):
        return f"UniTuple({self.element!r}, {self.count})"

    def __reduce__(self):
        return UniTuple, (self.element, self.count)


class NamedTuple(BaseTuple):
    """NamedTuple(types, cls): a tuple whose members have names. instance_class: the Python class; fields."""

    __slots__ = ("instance_class", "fields")

    def __init__(self, types, cls):
        _set(self, instance_class=cls, fields=tuple(cls._fields))
        types = tuple(parse(t) for t in types)
        super().__init__("tuple", f"{cls.__name__}({', '.join(map(str, types))})", None, types, key=(cls,))

    def __reduce__(self):
        return NamedTuple, (self.items, self.instance_class)


class NamedUniTuple(NamedTuple):
    """NamedUniTuple(dtype, count, cls): a NamedTuple of count values of one type."""

    __slots__ = ()

    def __init__(self, dtype, count, cls):
        super().__init__((dtype,) * count, cls)

    def __reduce__(self):
        return NamedUniTuple, (self.items[0], len(self.items), self.instance_class)


class ListType(Type):
    """ListType(item_type): treadle.typed.List's of such values."""

    __slots__ = ()

    def __init__(self, item_type):
        item = parse(item_type)
        super().__init__("typedlist", f"ListType[{item}]", None, (item,))

    item_type = property(lambda self: self.items[0])
    dtype = property(lambda self: self.items[0])

    def __reduce__(self):
        return ListType, self.items


class DictType(Type):
    """DictType(key_type, value_type): treadle.typed.Dict's of such keys and values."""

    __slots__ = ()

    def __init__(self, key_type, value_type):
        items = parse(key_type), parse(value_type)
        super().__init__("typeddict", f"DictType[{items[0]},{items[1]}]", None, items)

    key_type = property(lambda self: self.items[0])
    value_type = property(lambda self: self.items[1])

    def __reduce__(self):
        return DictType, self.items


def _container(name, kind, text, doc):
    """A class of types with one other type as parameter."""

    def __init__(self, dtype, *rest, **options):
        one = parse(dtype)
        Type.__init__(self, kind, text.format(one), None, (one,))

    def __reduce__(self):
        return type(self), self.items

    element = property(lambda self: self.items[0])
    body = {"__init__": __init__, "__reduce__": __reduce__, "element": element, "__slots__": (), "__doc__": doc}
    if kind in ("optional", "pointer"):
        body["dtype"] = property(lambda self: self.items[0].dtype)
    if kind == "optional":
        body["type"] = element
    return type(name, (Type,), body)


Optional = _container("Optional", "optional", "OptionalType({})", "Optional(type): a value of type, or None.")
CPointer = _container("CPointer", "pointer", "{}*", "CPointer(type): the address of a value of type.")
List = _container("List", "list", "list({})", "List(type, reflected=False): Python's list of values of one type.")
Set = _container("Set", "set", "set({})", "Set(type, reflected=False): Python's set of values of one type.")


class Opaque(Type):
    """Something without a description."""

    __slots__ = ()

    def __init__(self, name, kind="opaque"):
        super().__init__(kind, name)

    def __reduce__(self):
        return type(self), (self.name, self.kind)


class FunctionType(Type):
    """A function that is passed as a value, of a Signature. treadle compiles functions that it knows alone."""

    __slots__ = ()

    def __init__(self, signature):
        super().__init__("function", f"FunctionType[{signature!r}]", items=(signature.return_type, *signature.args))

    @property
    def signature(self):
        return Signature(self.items[0], self.items[1:])


class Dummy(Opaque):
    __slots__ = ()


class UnicodeType(Opaque):
    """The type of strings."""

    __slots__ = ()


class NoneType(Opaque):
    """The type of None, and of what a function without a result returns."""

    __slots__ = ()

    def __init__(self, name="none", kind="none"):
        super().__init__("none", "none")


class Omitted(Type):
    """Omitted(value): an argument that was left out and has its default."""

    __slots__ = ("value",)

    def __init__(self, value):
        _set(self, value=value)
        super().__init__("omitted", f"omitted(default={value!r})", key=(_constant(value),))

    def __reduce__(self):
        return Omitted, (self.value,)


def _constant(value):
    """A key under which 1, 1.0 and True differ."""
    return type(value).__name__, repr(value)


def _literal_type(value):
    if isinstance(value, str):
        return parse(str)
    return parse(type(value) if isinstance(value, builtins.bool) or -(1 << 63) <= value < 1 << 63 else "uint64")


class Literal(Type):
    """literal(value): a constant of the program. literal_value, literal_type."""

    __slots__ = ("literal_value",)

    def __init__(self, value):
        _set(self, literal_value=value)
        one = _literal_type(value)
        super().__init__("literal", f"Literal[{type(value).__name__}]({value})", None, (one,), key=(_constant(value),))

    literal_type = property(lambda self: self.items[0])
    dtype = property(lambda self: self.items[0].dtype)

    def unliteral(self):
        return self.items[0]

    def __reduce__(self):
        return type(self), (self.literal_value,)


class IntegerLiteral(Literal):
    """IntegerLiteral(value): an integer constant."""

    __slots__ = ()


class BooleanLiteral(Literal):
    __slots__ = ()


class StringLiteral(Literal):
    __slots__ = ()


class EnumMember(Type):
    """EnumMember(cls, dtype): a member of an enum whose values have that type. instance_class: the enum."""

    __slots__ = ("instance_class",)

    def __init__(self, cls, dtype):
        one = parse(dtype)
        _set(self, instance_class=cls)
        kind = "IntEnum" if issubclass(cls, enum.IntEnum) else "Enum"
        super().__init__("enum", f"{kind}<{one}>({cls.__name__})", None, (one,), key=(cls,))

    dtype = property(lambda self: self.items[0].dtype)

    def __reduce__(self):
        return type(self), (self.instance_class, self.items[0])


class IntEnumMember(EnumMember):
    __slots__ = ()


class ClassInstanceType(Type):
    """Instances of a class of jitclass. instance_class: the class."""

    __slots__ = ("instance_class",)

    def __init__(self, cls):
        _set(self, instance_class=cls)
        super().__init__("instance", f"instance.jitclass.{cls.__name__}", key=(cls,))

    @property
    def struct(self):
        """The fields' types by name."""
        return self.instance_class.class_type.struct

    def __reduce__(self):
        return type(self), (self.instance_class,)


class DeferredType(Type):
    """A type that is told later: ``node = deferred_type(); …; node.define(Node.class_type.instance_type)``."""

    __slots__ = ("_defined",)

    def __init__(self):
        _set(self, _defined=None)
        super().__init__("deferred", "deferred", key=(id(self),))

    def define(self, t):
        """Says which type it is. ValueError: that has been said."""
        if self._defined is not None:
            raise ValueError(f"this deferred_type is {self._defined} already")
        _set(self, _defined=parse(t))

    def get(self):
        """The type. ValueError: it has not been told."""
        if self._defined is None:
            raise ValueError("this deferred_type was never defined: call define(type)")
        return self._defined


class NPDatetime(Type):
    """NPDatetime(unit): numpy.datetime64 of a unit, "" for none."""

    __slots__ = ("unit",)
    _code = "M8"

    def __init__(self, unit=""):
        dtype = numpy.dtype(f"{self._code}[{unit}]" if unit else self._code)
        _set(self, unit=unit)
        super().__init__("time", str(dtype), dtype)

    def __reduce__(self):
        return type(self), (self.unit,)


class NPTimedelta(NPDatetime):
    """NPTimedelta(unit): numpy.timedelta64 of a unit."""

    __slots__ = ()
    _code = "m8"


class Vector(Type):
    """CUDA's short vectors, such as float32x4: two to four numbers (or one) with fields x, y, z, w."""

    __slots__ = ()

    def __init__(self, element, count):
        one = parse(element)
        super().__init__("vector", f"{one}x{count}", None, (one,) * count)

    fields = property(lambda self: tuple("xyzw"[: len(self.items)]))

    def __call__(self, *args):
        if all(map(_is_type, args)) and args:
            return Signature(self, args)
        raise TypeError(f"{self}(…) makes a value inside kernels only; on the host use a tuple or a NumPy array")

    def __reduce__(self):
        return Vector, (self.items[0], len(self.items))


class Signature:
    """A function's types. return_type: a Type, None: to be found out; args: a tuple of Types. Immutable."""

    __slots__ = ("return_type", "args")
    kind = "signature"

    def __init__(self, return_type, args):
        object.__setattr__(self, "return_type", None if return_type is None else parse(return_type))
        object.__setattr__(self, "args", tuple(parse(a) for a in args))

    def __setattr__(self, name, value):
        raise AttributeError("a signature cannot be changed")

    def __eq__(self, other):
        same = isinstance(other, Signature)
        return self.return_type == other.return_type and self.args == other.args if same else NotImplemented

    def __hash__(self):
        return hash((self.return_type, self.args))

    def __repr__(self):
        args = repr(self.args) if len(self.args) != 1 else f"({self.args[0]!r},)"
        return f"{args} -> {self.return_type!r}"

    def __reduce__(self):
        return Signature, (self.return_type, self.args)


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
    found = NAMES.get(d.name if d.kind in "biufcV" else "")
    bfloat16 = NAMES["bfloat16"]
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
        return NAMES["none"]
    if isinstance(spelling, str):
        from ._typetext import Reader

        return Reader(spelling, _WORDS, _MAKERS, Signature).read()
    if isinstance(spelling, tuple):
        return Tuple(spelling)
    if isinstance(spelling, type) and spelling in PYTHON:
        return PYTHON[spelling]
    if isinstance(spelling, numpy.dtype) or (isinstance(spelling, type) and issubclass(spelling, numpy.generic)):
        return from_dtype(spelling)
    if isinstance(spelling, type) and issubclass(spelling, enum.Enum):
        return _of_enum(spelling)
    if isinstance(spelling, type) and issubclass(spelling, _core.Instance):
        return spelling.class_type.instance_type
    if getattr(spelling, "__name__", None) == "bfloat16":
        return NAMES["bfloat16"]
    raise TypeError(f"{spelling!r} is not a type; there are names as in treadle.types, NumPy's dtypes and text")


def _of_enum(cls):
    kinds = {typeof(m.value) for m in cls}
    if len(kinds) != 1:
        raise TypeError(f"{cls.__name__}: values of an enum in kernels are of one type, not {sorted(map(str, kinds))}")
    return (IntEnumMember if issubclass(cls, enum.IntEnum) else EnumMember)(cls, kinds.pop())


# ---- of values ----


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
        from ._typetext import spelled

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


def literal(value):
    """The type of a constant: an int, a bool or a string."""
    kinds = {int: IntegerLiteral, builtins.bool: BooleanLiteral, str: StringLiteral}
    if type(value) not in kinds:
        raise TypeError(f"literal: constants are int, bool and str, not {type(value).__name__}")
    return kinds[type(value)](value)


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

NAMES = {n: cls(kind, n, numpy.dtype(code) if code else None) for n, (cls, kind, code) in _BASE.items()}
NAMES |= {other: NAMES[name] for name, others in _OTHER.items() for other in others.split()}
NAMES["none"] = NAMES["void"] = NoneType()
VECTORS = {f"{name}x{n}": Vector(NAMES[name], n) for name in _SHORT_VECTORS for n in (1, 2, 3, 4)}
VECTORS |= {f"{short}{n}": VECTORS[f"{name}x{n}"] for name, all in _SHORT_VECTORS.items() for short in all.split() for n in (1, 2, 3, 4)}  # fmt: skip  # noqa: E501
NAMES |= VECTORS
NAMES |= {name: Opaque(name) for name in ("undefined", "unknown", "pyobject", "GridGroup")}
NAMES |= {f"range_{what}{n}_type": Opaque(f"range_{what}_int{n}") for what in ("state", "iter") for n in (32, 64)}
NAMES |= {"ellipsis": Opaque("..."), "voidptr": Opaque("void*", "pointer")}
NAMES["unicode_type"] = NAMES["string"] = UnicodeType("unicode_type", "string")

PYTHON = {
    builtins.bool: NAMES["bool"], int: NAMES["int64"], float: NAMES["float64"], complex: NAMES["complex128"],
    str: NAMES["unicode_type"], type(None): NAMES["none"],
}  # fmt: skip

# What text may name: types, and what makes a type of others.
_WORDS = NAMES | {cls.__name__: PYTHON[cls] for cls in (int, float, complex, str)}
_MAKERS = {
    "Array": Array, "UniTuple": UniTuple, "Tuple": Tuple, "Optional": Optional, "CPointer": CPointer, "List": List,
    "list": List, "set": Set, "Set": Set, "ListType": ListType, "DictType": DictType, "dict": DictType,
    "NestedArray": NestedArray, "IntegerLiteral": literal, "Literal": literal, "NPDatetime": NPDatetime,
    "NPTimedelta": NPTimedelta,
}  # fmt: skip
