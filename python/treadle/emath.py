"""Functions whose result is complex where a real argument has no real one: sqrt(-1) is 1j. As numpy.emath."""

from . import _core
from ._core import asarray, ndarray
from ._numpy._math import _kind
from ._public import dir_of as _dir_of

_UFUNC = _core.ufuncs()
_SINGLE = ("float16", "float32", "int8", "uint8", "int16", "uint16")

__all__ = ["arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt"]


def _where(x, outside):
    """x as the function takes it: complex where any element lies outside of its real domain. That looks at values."""
    x = x if isinstance(x, ndarray) else asarray(x)
    if _kind(x) == "c" or not bool(outside(x).any()):
        return x
    return x.astype("complex64" if x.dtype in _SINGLE else "complex128")


def _negative(x):
    return x < 0


def _beyond_one(x):
    return _UFUNC["absolute"](x) > 1


def sqrt(x):
    """The square root, imaginary of negative numbers."""
    return _UFUNC["sqrt"](_where(x, _negative))


def log(x):
    """The natural logarithm, complex of negative numbers."""
    return _UFUNC["log"](_where(x, _negative))


def log10(x):
    """The logarithm to base 10, complex of negative numbers."""
    return _UFUNC["log10"](_where(x, _negative))


def log2(x):
    """The logarithm to base 2, complex of negative numbers."""
    return _UFUNC["log2"](_where(x, _negative))


def logn(n, x):
    """The logarithm to base n, complex of negative numbers."""
    return log(x) / log(n)


def power(x, p):
    """x to the power p: negative integers as powers give floats, negative x complex numbers."""
    x, p = _where(x, _negative), p if isinstance(p, ndarray) else asarray(p)
    if _kind(p) in "iu" and bool((p < 0).any()):
        p = p * 1.0
    return _UFUNC["power"](x, p)


def arccos(x):
    """The inverse cosine, complex beyond -1 and 1."""
    return _UFUNC["arccos"](_where(x, _beyond_one))


def arcsin(x):
    """The inverse sine, complex beyond -1 and 1."""
    return _UFUNC["arcsin"](_where(x, _beyond_one))


def arctanh(x):
    """The inverse hyperbolic tangent, complex beyond -1 and 1."""
    return _UFUNC["arctanh"](_where(x, _beyond_one))


__dir__ = _dir_of(__name__)
