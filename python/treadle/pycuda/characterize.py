"""What a device can do, by PyCUDA's names."""

import numpy

from .._public import dir_of as _dir_of
from . import driver as cuda

_LONG_LONG = numpy.dtype(numpy.longlong).itemsize
_SIZES = {
    "char": 1,
    "short": 2,
    "int": 4,
    "long": 8,
    "long long": _LONG_LONG,
    "float": 4,
    "double": 8,
    "void *": 8,
    "bool": 1,
}


def _capability():
    return cuda.Context.get_device().compute_capability()


def has_stack():
    """Have kernels a stack? From compute capability 2.0 on; the CPU has one."""
    return _capability() >= (2, 0)


def has_double_support():
    """Has the current device float64? From compute capability 1.3 on; the CPU has it."""
    return _capability() >= (1, 3)


def sizeof(type_name, preamble=""):
    """The bytes of a type of CUDA C++; preamble: text that declares it. Sizes of types that C++ has itself are known;
    for others a kernel is compiled and asked."""
    plain = " ".join(w for w in type_name.split() if w not in ("unsigned", "signed", "const")) or "int"
    if not preamble and (plain in _SIZES or plain.endswith("*")):
        return _SIZES.get(plain, 8)
    from .compiler import SourceModule

    text = f'{preamble}\nextern "C" __global__ void write_size(size_t *output) {{ *output = sizeof({type_name}); }}'
    out = numpy.empty(1, numpy.uint64)
    SourceModule(text, no_extern_c=True).get_function("write_size")(cuda.Out(out), block=(1, 1, 1), grid=(1, 1))
    return int(out[0])


__dir__ = _dir_of(__name__)
