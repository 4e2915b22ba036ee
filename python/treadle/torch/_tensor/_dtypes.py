"""torch.dtype: one object for each element type, its properties, and type promotion.

One table has the properties. A dtype knows the array layer's (`dtype._numpy`), and `of` finds the dtype of one of
these.
"""

import numpy

from ... import _core

_FACTS = (
    # name, the array layer's name, bits, kind (b bool, i signed, u unsigned, f float, c complex), other names
    ("bool", "bool", 8, "b", ""),
    ("uint8", "uint8", 8, "u", ""),
    ("uint16", "uint16", 16, "u", ""),
    ("uint32", "uint32", 32, "u", ""),
    ("uint64", "uint64", 64, "u", ""),
    ("int8", "int8", 8, "i", ""),
    ("int16", "int16", 16, "i", "short"),
    ("int32", "int32", 32, "i", "int"),
    ("int64", "int64", 64, "i", "long"),
    ("float16", "float16", 16, "f", "half"),
    ("bfloat16", "bfloat16", 16, "f", ""),
    ("float32", "float32", 32, "f", "float"),
    ("float64", "float64", 64, "f", "double"),
    ("complex64", "complex64", 64, "c", "cfloat"),
    ("complex128", "complex128", 128, "c", "cdouble"),
)
_RANK = "buifc"
_UNKNOWN = (
    # The types of PyTorch's that tensors cannot have here: name, bits, kind; of a float also its largest number, its
    # smallest normal number and eps.
    ("float8_e4m3fn", 8, "f", (448.0, 2.0**-6, 0.125)),
    ("float8_e4m3fnuz", 8, "f", (240.0, 2.0**-7, 0.125)),
    ("float8_e5m2", 8, "f", (57344.0, 2.0**-14, 0.25)),
    ("float8_e5m2fnuz", 8, "f", (57344.0, 2.0**-15, 0.25)),
    ("float8_e8m0fnu", 8, "f", (2.0**127, 2.0**-127, 1.0)),
    ("float4_e2m1fn_x2", 8, "f", None),
    ("complex32", 32, "c", None),
    ("quint8", 8, "u", None),
    ("qint8", 8, "i", None),
    ("qint32", 32, "i", None),
    ("quint4x2 quint2x4", 8, "u", None),
    *((f"bits{n}", max(n, 8), "u", None) for n in (8, 16)),
    *((f"{kind}int{n}", 8, kind or "i", None) for kind in ("", "u") for n in range(1, 8)),
)


class dtype:
    """The type of a tensor's elements. torch.float32 and the others of this module are its only instances."""

    __slots__ = ("_name", "_numpy", "_kind", "itemsize")

    def __init__(self, name, theirs, bits, kind):
        self._name, self._kind, self.itemsize = name, kind, bits // 8
        self._numpy = _core._bfloat16() if theirs == "bfloat16" else numpy.dtype(theirs)

    def __repr__(self):
        return "torch." + self._name

    def __reduce__(self):
        return _by_name, (self._name,)

    @property
    def _word(self):
        """PyTorch's word for it in errors and in the names of tensors' types: Float, Long, ComplexDouble."""
        return _WORDS.get(self._name) or self._name.replace("uint", "UInt")

    is_floating_point = property(lambda self: self._kind == "f", doc="A real floating-point type?")
    is_complex = property(lambda self: self._kind == "c", doc="A complex type?")
    is_signed = property(lambda self: self._kind in "ifc", doc="Can it be negative?")

    def to_complex(self):
        """The complex type whose parts have this type. Raises TypeError if there is none."""
        return _PARTS_OF[self] if self in _PARTS_OF else _no(self, "complex")

    def to_real(self):
        """The type of a complex type's parts. A real type gives itself."""
        return next((part for part, whole in _PARTS_OF.items() if whole is self), self)


_WORDS = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}  # fmt: skip


class _Unknown(dtype):
    """A type that programs may compare and put in tables. Making a tensor of it raises TypeError."""

    __slots__ = ("limits",)

    def __init__(self, name, bits, kind, limits):
        self._name, self._kind, self.itemsize, self.limits = name, kind, bits // 8, limits

    def _numpy(self):
        raise TypeError(f"{self}: there are no tensors of this type, but of {', '.join(DTYPES)}")

    _numpy = property(_numpy)


def _no(dt, what):
    raise TypeError(f"{dt} has no {what} type")


def _by_name(name):
    return NAMES[name]


DTYPES = {name: dtype(name, theirs, bits, kind) for name, theirs, bits, kind, _ in _FACTS}
NAMES = {**DTYPES, **{other: DTYPES[name] for name, *_, also in _FACTS for other in also.split()}}
NAMES |= {name: _Unknown(name, *facts) for names, *facts in _UNKNOWN for name in names.split()}
NAMES["chalf"] = NAMES["complex32"]
_OF = {dt._numpy: dt for dt in DTYPES.values()}
_PARTS_OF = {DTYPES["float32"]: DTYPES["complex64"], DTYPES["float64"]: DTYPES["complex128"]}
_BOOL, _LONG, _FLOAT, _DOUBLE = (DTYPES[k] for k in ("bool", "int64", "float32", "float64"))
_default = _FLOAT


def of(theirs):
    """The torch.dtype of a dtype of the array layer's or of NumPy's. Raises TypeError for a dtype that tensors cannot
    have."""
    found = _OF.get(theirs)
    if found is None:
        raise TypeError(f"can't convert np.ndarray of type {theirs}: tensors are {', '.join(DTYPES)}")
    return found


def want_order(name, x, error=NotImplementedError):
    """Raise the error where x is complex: NumPy orders complex numbers by their parts, PyTorch refuses to."""
    if x.dtype._kind == "c":
        raise error(f"{name}(): complex numbers have no order: compare their parts or absolute values")


def asked(dt):
    """The torch.dtype that a dtype= argument means: a torch.dtype, or Python's bool, int, float or complex. Raises
    TypeError for others."""
    if isinstance(dt, dtype):
        return dt
    for python, name in ((bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128")):
        if dt is python:
            return DTYPES[name]
    raise TypeError(f"dtype must be torch.dtype, not {type(dt).__name__}")


def set_default_dtype(d):
    """Set the dtype of new floating-point tensors, which is torch.float32 at first. Raises TypeError unless it is a
    real floating-point one."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = d
    _core._grad_default_dtype(d._numpy)


def get_default_dtype():
    """The type of new floating-point tensors."""
    return _default


def default_of(value):
    """The dtype of a tensor that is made of one Python number."""
    if isinstance(value, bool):
        return _BOOL
    if isinstance(value, int):
        return _LONG
    return _default.to_complex() if isinstance(value, complex) else _default


# ---- how types meet ----


def promote_types(type1, type2):
    """The smallest type that can hold both, as an operation on two tensors promotes them.

    A float wins over integers of any size. uint8 and a signed integer give a signed type that holds both.
    """
    for name, dt in (("type1", type1), ("type2", type2)):
        if not isinstance(dt, dtype):
            raise TypeError(f"promote_types(): argument '{name}' must be torch.dtype, not {type(dt).__name__}")
    a, b = (type1, type2) if _RANK.index(type1._kind) <= _RANK.index(type2._kind) else (type2, type1)
    if a is b:
        return a
    if a._kind == b._kind:
        if a.itemsize == b.itemsize:  # float16 with bfloat16
            return _FLOAT
        return max(a, b, key=lambda dt: dt.itemsize)
    if a._kind == "b":
        return b
    if b._kind == "i":
        if a.itemsize < b.itemsize:
            return b
        bits = 16 * a.itemsize
        if bits > 64 or a.itemsize > 1:
            raise RuntimeError(
                "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
                f"{_plain(type1)} and {_plain(type2)}"
            )
        return DTYPES[f"int{bits}"]
    if b._kind == "c" and a is _DOUBLE:
        return DTYPES["complex128"]
    return b


def _plain(dt):
    names = {
        "uint16": "UInt16",
        "uint32": "UInt32",
        "uint64": "UInt64",
        "int8": "Char",
        "int16": "Short",
        "int32": "Int",
        "int64": "Long",
    }
    return names.get(dt._name, dt._name)


def can_cast(from_, to):
    """May a result of one type be stored in a tensor of the other? Not if the other's kind is lower."""

    def place(dt):
        return "biifc".index("i" if dt._kind == "u" else dt._kind)

    if from_._kind == "i" and to._kind == "u":
        return True
    return place(from_) <= place(to)


def result_of(tensors, numbers=()):
    """The type that an operation on these tensors and Python numbers promotes to.

    A tensor without dimensions counts only if its kind is higher than that of all tensors with dimensions. A number
    counts only if its kind is higher than that of all tensors.
    """
    best = [None, None]
    for t in tensors:
        place = 0 if t.ndim else 1
        best[place] = t.dtype if best[place] is None else promote_types(best[place], t.dtype)
    r = best[0]
    for other in (best[1], *(default_of(v) for v in numbers)):
        if other is not None and (r is None or _category(other) > _category(r)):
            r = other if r is None or not (other.is_complex and r.is_floating_point) else _widened(r, other)
    return r


def _category(dt):
    return {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}[dt._kind]


def _widened(real, other):
    return real.to_complex() if real in _PARTS_OF else other


# ---- limits ----


class _Info:
    def __init__(self, dt, kinds):
        if dt._kind not in kinds:
            raise TypeError(
                f"torch.{type(self).__name__}() requires a {'n integer' if 'i' in kinds else 'floating point'} "
                "input type."
            )
        self.dtype, self.bits = dt._name, 8 * dt.itemsize

    def __repr__(self):
        return (
            f"{type(self).__name__}({', '.join(f'{k}={getattr(self, k):g}' for k in self._shown)}, dtype={self.dtype})"
        )


class iinfo(_Info):
    """Limits of an integer type: bits, min, max."""

    def __init__(self, type):
        super().__init__(type, "iu")
        self._shown = ("min", "max")
        self.min = -(1 << self.bits - 1) if type._kind == "i" else 0
        self.max = (1 << self.bits - (type._kind == "i")) - 1


class finfo(_Info):
    """Limits of a floating-point type (None: the default one): eps, max, min, tiny, smallest_normal, resolution."""

    def __init__(self, type=None):
        type = _default if type is None else type
        super().__init__(type, "fc")
        type = type.to_real()
        self._shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        self.dtype, self.bits = type._name, 8 * type.itemsize
        if isinstance(type, _Unknown):
            if type.limits is None:
                raise TypeError(f"torch.finfo: nothing is known of {type}")
            self.max, self.tiny, self.eps = type.limits
            self.min, self.resolution = -self.max if type._name != "float8_e8m0fnu" else self.tiny, 1.0
        elif type._name == "bfloat16":
            self.resolution, self.eps, self.tiny = 0.01, 2.0**-7, 2.0**-126
            self.max = (2 - 2.0**-7) * 2.0**127
            self.min = -self.max
        else:
            theirs = numpy.finfo(type._numpy)
            for k in ("resolution", "min", "max", "eps", "tiny"):
                setattr(self, k, float(getattr(theirs, k)))
        self.smallest_normal = self.tiny
