"""Types of numbers, of points in time, and of CUDA's short vectors."""

import builtins

import numpy

from ._base import Signature, Type, _is_type, _set, parse

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
