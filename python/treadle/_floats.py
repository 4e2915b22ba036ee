"""The parts of floats and their neighbours, and the operations with two results."""

import numpy

from . import _core
from ._core import asarray, ndarray
from ._sorting import _on_host

_UFUNC = _core.ufuncs()


def _floating(x):
    """As the functions of ops.def take it: integers in NumPy's float for them."""
    x = x if isinstance(x, ndarray) else asarray(x)
    return x if x.dtype.kind == "f" else x.astype(numpy.sqrt(numpy.empty(0, x.dtype)).dtype)


def divmod(x1, x2, /):
    """(x1 // x2, x1 % x2)."""
    return _UFUNC["floor_divide"](x1, x2), _UFUNC["remainder"](x1, x2)


def modf(x, /):
    """The fractional and the whole part, both with x's sign."""
    x = _floating(x)
    whole = _UFUNC["trunc"](x)
    rest = _UFUNC["select"](_UFUNC["isinf"](x), 0.0, x - whole)
    return _UFUNC["copysign"](rest, x), whole


def frexp(x, /):
    """Mantissas from 0.5 up to 1 and int32 exponents: x = m * 2**e."""
    x = _floating(x)
    return _UFUNC["mantissa"](x), _UFUNC["exponent"](x).astype("int32")


def ldexp(x1, x2, /):
    """x1 * 2**x2 for integers x2, rounded once. TypeError if x2 holds other numbers."""
    x1 = _floating(x1)
    x2 = asarray(x2, device=x1.device)
    if x2.dtype.kind not in "iub":
        raise TypeError(f"ldexp: the exponents are {x2.dtype}, not integers")
    # Beyond these bounds every result is 0 or infinite; halves hold them too.
    bounded = _UFUNC["minimum"](_UFUNC["maximum"](x2.astype("int64"), -8192), 8192)
    return _UFUNC["scale"](x1, bounded.astype(x1.dtype))


def nextafter(x1, x2, /):
    """The neighbour of x1 towards x2. Halves, which kernels compute in float32, go by way of the host."""
    if numpy.result_type(*(getattr(x, "dtype", x) for x in (x1, x2))) != numpy.float16:
        return _UFUNC["nextafter"](x1, x2)
    x1 = x1 if isinstance(x1, ndarray) else asarray(x1, "float16", device=x2.device)
    return _on_host(numpy.nextafter, x1, _core.asnumpy(x2))


def spacing(x, /):
    """The distance to the neighbour that is farther from 0, with x's sign; NaN for infinities."""
    x = _floating(x)
    if x.dtype.itemsize == 2:
        return _on_host(numpy.spacing, x)
    return nextafter(x, _UFUNC["copysign"](float("inf"), x)) - x
