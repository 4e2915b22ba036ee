"""C types and dtypes: what a kernel's parameters are called, and which dtypes the text's types are."""

import functools

import numpy

from .. import _core
from ._vec import NAMES as _VECTORS

_COMMON = {
    "bool": "bool", "char": "int8", "signed char": "int8", "unsigned char": "uint8", "short": "int16",
    "unsigned short": "uint16", "int": "int32", "unsigned int": "uint32", "long": "int64", "unsigned long": "uint64",
    "long long": "int64", "unsigned long long": "uint64", "float": "float32", "double": "float64",
    "pycuda::complex<float>": "complex64", "pycuda::complex<double>": "complex128", "__half": "float16", "half": "float16",
    "size_t": "uint64", "ptrdiff_t": "int64", "signed": "int32", "unsigned": "uint32", "signed int": "int32",
    "signed short": "int16", "signed long": "int64", "signed long long": "int64", "short int": "int16",
    "unsigned short int": "uint16", "long int": "int64", "unsigned long int": "uint64", "uchar": "uint8",
    "ushort": "uint16", "uint": "uint32", "ulong": "uint64", "fp_tex_float": "float32", "fp_tex_double": "float64",
    "complex<float>": "complex64", "complex<double>": "complex128",
    **{f"{u}int{n}_t": f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)},
}  # fmt: skip
_FETCHED = {"f": "fp_tex_float", "d": "fp_tex_double", "F": "fp_tex_cfloat", "D": "fp_tex_cdouble"}
_PREFERRED = {"int8": "signed char", "float16": "__half"}

_dtypes = {name: numpy.dtype(dtype) for name, dtype in _COMMON.items()}
_names = dict(_VECTORS)
for _name, _dtype in _dtypes.items():
    _names.setdefault(_dtype, _PREFERRED.get(_dtype.name, _name))
_dtypes.update((name, dtype) for dtype, name in _VECTORS.items())


def register_dtype(dtype, name):
    """Makes name, or each of a list of names, the C type of a dtype in kernels that are put together. RuntimeError: the
    name stands for another dtype."""
    dtype = numpy.dtype(dtype)
    for one in [name] if isinstance(name, str) else name:
        if _dtypes.setdefault(one, dtype) != dtype:
            raise RuntimeError(f"register_dtype: '{one}' stands for {_dtypes[one]}, not for {dtype}")
        _names.setdefault(dtype, one)


def get_or_register_dtype(c_names, dtype=None):
    """The dtype that a C type's name, or the first of a list, stands for; registers dtype for it where there is
    none."""
    names = [c_names] if isinstance(c_names, str) else list(c_names)
    if dtype is None:
        try:
            return _dtypes[names[0]]
        except KeyError:
            raise TypeError(f"'{names[0]}' is not the name of a registered C type") from None
    for name in names:
        _dtypes.setdefault(name, numpy.dtype(dtype))
    _names.setdefault(numpy.dtype(dtype), names[0])
    return _dtypes[names[0]]


def dtype_to_ctype(dtype, with_fp_tex_hack=False):
    """What C++ calls a dtype: "float", "pycuda::complex<float>". ValueError: it has no name; register_dtype gives
    one."""
    if dtype is None:
        raise ValueError("dtype may not be None")
    dtype = numpy.dtype(dtype)
    if with_fp_tex_hack and dtype.char in _FETCHED:
        return _FETCHED[dtype.char]
    try:
        return _names[dtype]
    except KeyError:
        raise ValueError(f"no C type is known for {dtype}: register_dtype(dtype, name) gives it one") from None


class Argument:
    """A kernel's parameter: dtype and name."""

    def __init__(self, dtype, name):
        self.dtype = numpy.dtype(dtype)
        self.name = name

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"


DtypedArgument = Argument


class VectorArg(Argument):
    """VectorArg(dtype, name): a pointer to elements of dtype; const: to those that the kernel only reads."""

    struct_char = "P"

    def __init__(self, dtype, name, const=False):
        super().__init__(dtype, name)
        self.const = const

    def declarator(self):
        """Its declaration in C."""
        return f"{'const ' * self.const}{dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """ScalarArg(dtype, name): a number, or a structure."""

    def declarator(self):
        """Its declaration in C."""
        return f"{dtype_to_ctype(self.dtype)} {self.name}"

    @property
    def struct_char(self):
        """Its letter in the format of Function.prepare."""
        return f"{self.dtype.itemsize}s" if self.dtype.char == "V" else self.dtype.char


_QUALIFIERS = {"const", "volatile", "restrict", "__restrict__", "__restrict", "struct"}


def parse_c_arg(c_arg):
    """The VectorArg or ScalarArg of a declaration, "const float *x". ValueError: it is none; TypeError: its type has no
    dtype."""
    words = [w for w in c_arg.replace("*", " * ").replace("&", " & ").split() if w not in _QUALIFIERS]
    pointers = words.count("*")
    words = [w for w in words if w != "*"]
    if "&" in words or len(words) < 2 or pointers > 1 or not words[-1].isidentifier():
        raise ValueError(f"'{c_arg.strip()}' is not the declaration of a number or of a pointer to numbers")
    kind = " ".join(words[:-1]).replace(" <", "<").replace("< ", "<").replace(" >", ">").replace(":: ", "::")
    dtype = get_or_register_dtype(kind)
    if not pointers:
        return ScalarArg(dtype, words[-1])
    return VectorArg(dtype, words[-1], const="const" in c_arg.partition("*")[0].split())


def parse_c_args(text):
    """The arguments of a list of declarations, whose commas within <> and () are no separators."""
    parts, depth, start = [], 0, 0
    for k, c in enumerate(text):
        depth += (c in "<(") - (c in ">)")
        if c == "," and depth == 0:
            parts.append(text[start:k])
            start = k + 1
    return [parse_c_arg(part) for part in [*parts, text[start:]]]


def get_arg_type(c_arg):
    """The letter of a declaration in the format of Function.prepare."""
    return parse_c_arg(c_arg).struct_char


_memos = []


def context_dependent_memoize(func):
    """A function that keeps what it has returned for its arguments, for each device by itself."""
    kept = {}
    _memos.append(kept)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        key = (_core.device().name, args, frozenset(kwargs.items()))
        if key not in kept:
            kept[key] = func(*args, **kwargs)
        return kept[key]

    return wrapper


def clear_context_caches():
    """Forgets what functions made by context_dependent_memoize have kept."""
    for kept in _memos:
        kept.clear()
