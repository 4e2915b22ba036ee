"""The parts of floats and their neighbours, and the operations with two results."""

import numpy

from .. import _core
from .._core import asarray, ndarray
from ._spelled import spelled

_UFUNC = _core.ufuncs()


def _floating(x):
    """x as an array that the core's functions of floats accept: integers in the float dtype that NumPy gives them."""
    x = x if isinstance(x, ndarray) else asarray(x)
    return x if x.dtype.kind == "f" else x.astype(numpy.sqrt(numpy.empty(0, x.dtype)).dtype)


@spelled(2, 2)
def divmod(x1, x2, /):
    """(x1 // x2, x1 % x2)."""
    return _UFUNC["floor_divide"](x1, x2), _UFUNC["remainder"](x1, x2)


@spelled(1, 2)
def modf(x, /):
    """The fractional and the whole part, both with x's sign."""
    x = _floating(x)
    whole = _UFUNC["trunc"](x)
    rest = _UFUNC["select"](_UFUNC["isinf"](x), 0.0, x - whole)
    return _UFUNC["copysign"](rest, x), whole


@spelled(1, 2, dtypes=())
def frexp(x, /):
    """Mantissas from 0.5 up to 1 and int32 exponents: x = m * 2**e."""
    x = _floating(x)
    return _UFUNC["mantissa"](x), _UFUNC["exponent"](x).astype("int32")


@spelled(2, typed=1)
def ldexp(x1, x2, /):
    """x1 * 2**x2 for integers x2, rounded once. Other numbers in x2 raise TypeError."""
    x1 = _floating(x1)
    x2 = asarray(x2, device=x1.device)
    if x2.dtype.kind not in "iub" or x2.dtype == "uint64":
        raise TypeError(f"ldexp: the exponents are {x2.dtype}, not integers")
    # Beyond these bounds every result is 0 or infinite. float16 holds them too.
    bounded = _UFUNC["minimum"](_UFUNC["maximum"](x2.astype("int64"), -8192), 8192)
    return _UFUNC["scale"](x1, bounded.astype(x1.dtype))


def _float_of(x):
    """The dtype in which NumPy computes with x: float16 for the smallest integers. A Python number stays as it is."""
    dtype = getattr(x, "dtype", None)
    return x if dtype is None else dtype if dtype.kind not in "biu" else numpy.sqrt(numpy.empty(0, dtype)).dtype


def _is_default(x, y):
    """Whether x is a bool array beside a Python number. NumPy then computes in the number's default dtype."""
    return isinstance(dt := getattr(x, "dtype", None), numpy.dtype) and dt.kind == "b" and type(y) in (int, float)


def _bits(x):
    """The bits of float16 as int32. Kernels compute float16 in float32, where the neighbours differ."""
    return x.copy().view("uint16").astype("int32")


def _halves(bits):
    return bits.astype("uint16").view("float16")


@spelled(2)
def nextafter(x1, x2, /):
    """The neighbour of x1 towards x2."""
    x1, x2 = (asarray(x) if isinstance(x, (list, tuple)) else x for x in (x1, x2))
    if numpy.result_type(_float_of(x1), _float_of(x2)) != numpy.float16 or _is_default(x1, x2) or _is_default(x2, x1):
        return _UFUNC["nextafter"](x1, x2)
    a, b = _core._beside("nextafter", x1, x2)
    a, b = a.astype("float16", copy=False), b.astype("float16", copy=False)
    select = _UFUNC["select"]
    bits = _bits(a)
    near = bits + select((b > a) == (a > 0), 1, -1)
    near = select(a == 0, select(_UFUNC["signbit"](b), 0x8001, 1), near)
    near = select(a == b, bits, near)
    return select(_UFUNC["isnan"](a) | _UFUNC["isnan"](b), a + b, _halves(near))


@spelled(1)
def spacing(x, /):
    """The distance to the neighbour that is farther from 0, with x's sign; NaN for infinities. Of halves NumPy's: of
    negative ones the distance to the next larger, without a sign."""
    x = _floating(x)
    if x.dtype != "float16":
        return nextafter(x, _UFUNC["copysign"](float("inf"), x)) - x
    bits, select = _bits(x), _UFUNC["select"]
    exponent = (bits & 0x7C00) >> 10
    # toward 0 from a negative power of two, the neighbour is half as far
    exponent = exponent - ((bits & 0x83FF) == 0x8000)
    step = select(exponent > 10, (exponent - 10) << 10, 1 << (_UFUNC["maximum"](exponent, 1) - 1))
    step = select(bits == 0x7BFF, 0x7C00, step)
    return select(_UFUNC["isfinite"](x), _halves(step), float("nan"))
