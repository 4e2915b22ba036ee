"""Mathematical functions of GPUArrays, element by element: ``cumath.sin(a, out=None, stream=None)``."""

import warnings

from .. import _core
from .. import frexp as _frexp
from .. import ldexp as _ldexp
from .. import modf as _modf
from .._public import dir_of as _dir_of
from ._arrays._gpuarray import _UFUNC, GPUArray, _delivered
from ._driver._pointer import ordered

_UNARY = {
    "fabs": "absolute",
    "ceil": "ceil",
    "floor": "floor",
    "exp": "exp",
    "log": "log",
    "log10": "log10",
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
}


def _unary(name):
    apply = _UFUNC[_UNARY[name]]

    def fn(array, stream_or_out=None, *, out=None, stream=None):
        if stream_or_out is not None:
            warnings.warn("please use 'out' or 'stream' keyword arguments", DeprecationWarning, stacklevel=2)
            if isinstance(stream_or_out, GPUArray):
                out = stream_or_out
            else:
                stream = stream_or_out
        _matches(name, array, out)
        with ordered(stream, array.device):
            return _delivered(apply(array._plain()).astype(array.dtype), out, array._allocator)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"{name}(array, out=None, stream=None): {name} of each element, in the array's dtype."
    return fn


def _matches(name, array, out):
    if out is not None and (out.dtype != array.dtype or out.shape != array.shape):
        raise ValueError(
            f"{name}: out is of {out.dtype} and shape {out.shape}, the array of {array.dtype} and {array.shape}"
        )


fabs, ceil, floor, exp, log, log10, sqrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh = map(_unary, _UNARY)


def fmod(arg, mod, stream=None):
    """The remainder of arg / mod, with arg's sign."""
    with ordered(stream, arg.device):
        return _delivered(_UFUNC["fmod"](arg._plain(), mod._plain()).astype(arg.dtype), None)


def frexp(arg, stream=None):
    """(significands, exponents), both of arg's dtype: arg == significand * 2**exponent."""
    with ordered(stream, arg.device):
        parts = _frexp(arg._plain())
        return tuple(_delivered(part.astype(arg.dtype), None) for part in parts)


def ldexp(significand, exponent, stream=None):
    """significand * 2**exponent; exponents may be of a floating-point dtype, and are cut to integers."""
    with ordered(stream, significand.device):
        power = _core.asarray(exponent._plain()).astype("int32")
        return _delivered(_ldexp(significand._plain(), power).astype(significand.dtype), None)


def modf(arg, stream=None):
    """(fractional parts, integral parts), both with arg's sign."""
    with ordered(stream, arg.device):
        parts = _modf(arg._plain())
        return tuple(_delivered(part.astype(arg.dtype), None) for part in parts)


__dir__ = _dir_of(__name__)
