"""Functions spelled with the operations of the table."""

import builtins
import math

import numpy

from .. import _core
from .._core import asarray, ndarray
from .._select._indexing import nonzero
from ._spelled import into, placed, spelled

_UFUNC = _core.ufuncs()
_select, _minimum, _maximum, _rint = (_UFUNC[k] for k in ("select", "minimum", "maximum", "rint"))
_abs, _isnan, _isinf, _isfinite, _signbit = (_UFUNC[k] for k in ("absolute", "isnan", "isinf", "isfinite", "signbit"))


def _kind(a):
    """b, i, u, f or c; NumPy calls bfloat16 V."""
    return "f" if a.dtype.kind == "V" else a.dtype.kind


class _BFLOAT16_RANGE:
    min, max = -3.3895313892515355e38, 3.3895313892515355e38


def _into(name, out, value):
    return value if out is None else into(name, out, value)


def where(condition, x=None, y=None, /):
    """x where condition is true, else y; with the condition alone, as nonzero."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return _select(condition, x, y)


_ABSENT = getattr(numpy, "_NoValue", None)


def clip(a, a_min=_ABSENT, a_max=_ABSENT, out=None, *, min=_ABSENT, max=_ABSENT, **kwargs):
    """a with values below a_min and above a_max replaced by them; None: no bound. min and max are their other names.

    kwargs: where, casting, dtype, as ufuncs take them. TypeError: one bound alone without its name min or max;
    ValueError: both pairs of names.
    """
    if a_min is _ABSENT and a_max is _ABSENT:
        a_min, a_max = (None if x is _ABSENT else x for x in (min, max))
    elif a_min is _ABSENT or a_max is _ABSENT:
        missing = "a_min" if a_min is _ABSENT else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: '{missing}'")
    elif min is not _ABSENT or max is not _ABSENT:
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
        )
    return clipped(a, a_min, a_max, out, **kwargs)


def clipped(a, low, high, out=None, where=True, casting="same_kind", dtype=None, order="K", subok=True):
    """a between the bounds low and high, of which None is none."""
    a, loop = asarray(a), {} if dtype is None else {"dtype": dtype, "casting": casting}
    if a.dtype.kind in "iu" and not loop:  # a Python number beyond the dtype bounds nothing
        held = numpy.iinfo(a.dtype)
        low = None if type(low) is int and low <= held.min else low
        high = None if type(high) is int and high >= held.max else high
    if low is not None and high is not None and a.dtype.kind == "b":
        a = a.astype(numpy.result_type(a.dtype, *(getattr(x, "dtype", x) for x in (low, high))), copy=False)
    if low is not None:
        a = _maximum(a, low, **loop)
    if high is not None:
        a = _minimum(a, high, **loop)
    a = a if low is not None or high is not None else a.copy()
    return placed("clip", a, out, where, casting)


def round(a, decimals=0, out=None):
    """a rounded to decimals, halves to even."""
    a = asarray(a)
    if _kind(a) == "b":
        if decimals:
            raise TypeError("round: bools have no decimals")
        a = a.astype("float16")
    if _kind(a) in "iu":
        if decimals >= 0:
            return _into("round", out, a.copy("K"))
        unit = 10**-decimals
        return _into("round", out, (_rint(a / unit) * unit).astype(a.dtype))
    if decimals == 0:
        return _into("round", out, _rint(a))
    unit = 10.0 ** abs(decimals)
    return _into("round", out, _rint(a * unit) / unit if decimals > 0 else _rint(a / unit) * unit)


around = round


def fix(x, out=None):
    """x rounded toward zero."""
    return _UFUNC["trunc"](x, out=out)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """|a - b| <= atol + rtol |b|, element by element; infinities equal themselves."""
    a, b = _core._beside("isclose", a, b)
    b = b if _kind(b) in "fc" else b.astype("float64")
    near = (_abs(a - b) <= atol + rtol * _abs(b)) & _isfinite(b) | (a == b)
    return near | (_isnan(a) & _isnan(b)) if equal_nan else near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Are all elements close, as isclose has it?"""
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1, a2, equal_nan=False):
    """Same shape and elements?"""
    a, b = _core._beside("array_equal", a1, a2)
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan and _kind(a) in "fc" and _kind(b) in "fc":
        same = same | (_isnan(a) & _isnan(b))
    return bool(same.all())


def array_equiv(a1, a2):
    """Same elements after broadcasting?"""
    a, b = _core._beside("array_equiv", a1, a2)
    try:
        return bool((a == b).all())
    except ValueError:
        return False


def ptp(a, axis=None, out=None, keepdims=False):
    """The range, largest minus smallest."""
    a = asarray(a)
    return _into("ptp", out, a.max(axis, keepdims=keepdims) - a.min(axis, keepdims=keepdims))


def _fitted(w, a, axis):
    """Weights that broadcast against a, of which they have the shape, or that along axis."""
    if w.shape == a.shape:
        return w
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = [k % a.ndim for k in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if w.shape != tuple(a.shape[k] for k in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    w = w.transpose(sorted(builtins.range(len(axes)), key=axes.__getitem__))
    return w.reshape([n if k in axes else 1 for k, n in enumerate(a.shape)])


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The mean along axis (None: of all; or several), weighted if weights are given, with returned and their sum.

    weights: of a's shape, or of the extents along axis. ZeroDivisionError: they sum to 0, for which they are evaluated.
    """
    a = asarray(a)
    if weights is None:
        mean = a.mean(axis, keepdims=keepdims)
        total = a.size / mean.size if mean.size else 0
    else:
        a, w = _core._beside("average", a, weights)
        w = _fitted(w, a, axis)
        dt = numpy.result_type(a.dtype, w.dtype, *(["float64"] if _kind(a) in "biu" else []))
        w = _core._broadcast_to(w, a.shape)
        total = w.sum(axis, dtype=dt, keepdims=keepdims)
        if bool((total == 0).any()):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        mean = _UFUNC["multiply"](a, w, dtype=dt).sum(axis, keepdims=keepdims) / total
    if not returned:
        return mean
    return mean, _core._broadcast_to(asarray(total, dtype=mean.dtype, device=a.device), mean.shape).copy()


@spelled(2, dtypes=("float64", "complex128"))
def float_power(x1, x2, /):
    """x1 to the power x2, in float64 or complex128."""
    x1, x2 = _core._beside("float_power", x1, x2)
    dtype = "complex128" if "c" in _kind(x1) + _kind(x2) else "float64"
    return _UFUNC["power"](x1.astype(dtype), x2.astype(dtype))


def _ordered(x, name):
    x = asarray(x)
    if _kind(x) == "c":
        raise TypeError(f"{name}: complex values have no sign of infinity")
    return x


def isposinf(x, out=None):
    """Is it +inf?"""
    return _into("isposinf", out, _ordered(x, "isposinf") == float("inf"))


def isneginf(x, out=None):
    """Is it -inf?"""
    return _into("isneginf", out, _ordered(x, "isneginf") == float("-inf"))


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """x with NaN and infinities replaced by numbers."""
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    x = asarray(x)
    if _kind(x) == "c":
        r = x.copy() if copy else x
        for part in (r.real, r.imag):
            part[...] = nan_to_num(part, True, nan, posinf, neginf)
        return r
    if _kind(x) != "f":
        return x.copy()
    info = numpy.finfo(x.dtype) if x.dtype.kind == "f" else _BFLOAT16_RANGE
    r = _select(_isnan(x), nan, x)
    r = _select(isposinf(x), float(info.max) if posinf is None else posinf, r)
    r = _select(isneginf(x), float(info.min) if neginf is None else neginf, r)
    return r if copy else _into("nan_to_num", x, r)


def real_if_close(a, tol=100):
    """The real part where all imaginary parts are smaller than tol times the dtype's epsilon (tol <= 1: than tol)."""
    a = asarray(a)
    if _kind(a) != "c":
        return a
    bound = numpy.finfo(a.dtype).eps * tol if tol > 1 else tol
    return a.real if bool((_abs(a.imag) < bound).all()) else a


def sinc(x):
    """sin(pi x) / (pi x), 1 at 0."""
    y = numpy.pi * asarray(x)
    y = _select(y == 0, 1.0e-20, y)
    return _UFUNC["sin"](y) / y


def real(val):
    """The real part: of a complex array a view, of a real one the array itself."""
    return asarray(val).real


def imag(val):
    """The imaginary part: of a complex array a view, of a real one zeros."""
    return asarray(val).imag


def angle(z, deg=False):
    """The argument, from -pi to pi, or in degrees."""
    z = asarray(z)
    r = _UFUNC["angle"](z.astype("int64") if _kind(z) == "b" else z)
    return _UFUNC["degrees"](r) if deg else r


def isreal(x):
    """Is the imaginary part zero?"""
    return imag(x) == 0


def iscomplex(x):
    """Is the imaginary part other than zero?"""
    return imag(x) != 0


def common_type(*arrays):
    """The float type, a class of NumPy's, that holds what the arrays hold. TypeError: bools."""
    return numpy.common_type(*(numpy.empty(0, a.dtype) for a in arrays))


def isscalar(element):
    """Is it a number, and not an array?"""
    return not isinstance(element, ndarray) and numpy.isscalar(element)


def iscomplexobj(x):
    """Is its dtype complex?"""
    return _kind(asarray(x)) == "c"


def isrealobj(x):
    """Is its dtype not complex?"""
    return not iscomplexobj(x)


def ndim(a):
    """The number of axes."""
    return asarray(a).ndim


def shape(a):
    """The extents."""
    return asarray(a).shape


def size(a, axis=None):
    """The number of elements, or the extent of an axis, or of several together."""
    a = asarray(a)
    if axis is None:
        return a.size
    from ._shape import _axes

    return math.prod(a.shape[k] for k in _axes(axis, a.ndim, "size"))
