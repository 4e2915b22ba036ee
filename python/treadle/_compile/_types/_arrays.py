"""Types of arrays, and of the records that they may consist of."""

import builtins
from types import MappingProxyType

import numpy

from ._base import Type, _set, parse

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
