"""CUDA's vector types as structured dtypes: ``vec.float3``, ``vec.make_float3(x, y, z)``."""

import numpy

_BASES = {
    "char": (numpy.int8, 4),
    "uchar": (numpy.uint8, 4),
    "short": (numpy.int16, 4),
    "ushort": (numpy.uint16, 4),
    "int": (numpy.int32, 4),
    "uint": (numpy.uint32, 4),
    "long": (numpy.int64, 4),
    "ulong": (numpy.uint64, 4),
    "longlong": (numpy.int64, 2),
    "ulonglong": (numpy.uint64, 2),
    "float": (numpy.float32, 4),
    "double": (numpy.float64, 2),
}


class vec:
    """CUDA's vector types: ``vec.float3`` is a dtype with fields x, y, z, ``vec.make_float3`` makes one element."""


def _maker(name, dtype, count):
    fields = "xyzw"[:count]

    def make(*args, **kwargs):
        values = dict(zip(fields, args, strict=False), **kwargs)
        if len(args) > count or len(values) != len(args) + len(kwargs) or set(values) != set(fields):
            raise TypeError(f"make_{name}() takes {', '.join(fields)}")
        return numpy.array(tuple(values[f] for f in fields), dtype=dtype)

    make.__name__ = make.__qualname__ = "make_" + name
    make.__doc__ = f"make_{name}({', '.join(fields)}): a 0-d NumPy array of vec.{name}."
    return make


def _define():
    for base, (kind, longest) in _BASES.items():
        for count in range(1, longest + 1):
            name = f"{base}{count}"
            dtype = numpy.dtype([(field, kind) for field in "xyzw"[:count]])
            setattr(vec, name, dtype)
            setattr(vec, "make_" + name, staticmethod(_maker(name, dtype, count)))


_define()

# C's name of each type. Of types with equal layouts (long2, longlong2) the first one keeps its name.
NAMES = {}
for _name in vars(vec):
    if isinstance(getattr(vec, _name), numpy.dtype):
        NAMES.setdefault(getattr(vec, _name), _name)
