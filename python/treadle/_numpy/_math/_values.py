"""Functions that give each element another value: choices, bounds, rounding, replacements."""

from operator import index

import numpy

from ... import _core
from ..._core import asarray
from ..._exchange._place import allow
from ..._select._indexing import nonzero
from .._spelled import kind_of, placed, spelled
from ._compare import isneginf, isposinf

_UFUNC = _core.ufuncs()
_select, _minimum, _maximum, _rint, _isnan = (
    _UFUNC[k] for k in ("select", "minimum", "maximum", "rint", "isnan")
)


class _BFLOAT16_RANGE:
    min, max = -3.3895313892515355e38, 3.3895313892515355e38


def where(condition, x=None, y=None, /):
    """Choose from x where the condition is true, else from y.

    Parameters
    ----------
    condition : array_like of bool
        Broadcasts with x and y.
    x, y : array_like, optional
        Both or neither; without them the result is nonzero(condition).

    Returns
    -------
    ndarray
        Of the broadcast shape and the dtype that x and y promote to.

    Raises
    ------
    ValueError
        One of x and y is given alone, or the shapes do not broadcast.

    Examples
    --------
    >>> np.where([True, False], [1, 2], 0)
    array([1, 0])
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return _select(condition, _wrapped(x, y), _wrapped(y, x))


def _wrapped(n, other):
    """n, or, where it is a Python int that the integers of the other choice do not hold, what is left of it in them:
    NumPy makes an array of it, which it casts."""
    kind = getattr(getattr(other, "dtype", None), "kind", "")
    if type(n) is not int or kind not in ("i", "u") or not -(2**63) <= n < 2**64:
        return n
    limits = numpy.iinfo(other.dtype)
    return n if limits.min <= n <= limits.max else numpy.asarray(n).astype(other.dtype)[()]


_ABSENT = getattr(numpy, "_NoValue", None)


def clip(a, a_min=_ABSENT, a_max=_ABSENT, out=None, *, min=_ABSENT, max=_ABSENT, **kwargs):
    """Bring values into an interval.

    Parameters
    ----------
    a : array_like
        The numbers.
    a_min, a_max : array_like, optional
        The least and the greatest value; None means no bound.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    min, max : array_like, optional
        Other names of a_min and a_max.
    **kwargs : any
        where, casting and dtype, as ufuncs take them.

    Returns
    -------
    ndarray
        Of the broadcast shape.

    Raises
    ------
    TypeError
        One bound alone is given without its name min or max.

    Examples
    --------
    >>> np.clip([1, 5, 9], 2, 6)
    array([2, 5, 6])
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
    """a limited to low and high, either of which may be None."""
    a, loop = asarray(a), {} if dtype is None else {"dtype": dtype, "casting": casting}
    if a.dtype.kind in "iu" and not loop:  # a bound outside of the dtype's range has no effect
        held = numpy.iinfo(a.dtype)
        low = None if type(low) is int and low <= held.min else low
        high = None if type(high) is int and high >= held.max else high
    if low is not None and high is not None and a.dtype.kind == "b":
        bounds = [x if numpy.isscalar(x) else asarray(x).dtype for x in (low, high)]
        a = a.astype(numpy.result_type(a.dtype, *bounds), copy=False)
    if low is not None:
        a = _maximum(a, low, **loop)
    if high is not None:
        a = _minimum(a, high, **loop)
    a = a if low is not None or high is not None else a.copy()
    return placed("clip", a, out, where, casting)


def round(a, decimals=0, out=None):
    """Round to decimals, halves to even.

    Parameters
    ----------
    a : array_like
        The numbers.
    decimals : int, default 0
        Places behind the point; negative ones stand before it.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Of a's shape and dtype.

    Examples
    --------
    >>> np.round([0.5, 1.5, 2.5])
    array([0., 2., 2.])
    """
    a, decimals = asarray(a), index(decimals)
    if kind_of(a) == "b":
        if decimals:
            raise TypeError("round: bools have no decimals")
        a = a.astype("float16")
    if kind_of(a) in "iu":
        if decimals >= 0:
            return placed("round", a.copy("K"), out)
        unit = 10**-decimals
        return placed("round", (_rint(a / unit) * unit).astype(a.dtype), out)
    if decimals == 0:
        return placed("round", _rint(a), out)
    if kind_of(a) == "c":  # part by part, since a product of complex numbers mixes the parts and rounds once more
        r = _core.empty(a.shape, dtype=a.dtype, device=a.device)
        r.real, r.imag = round(a.real, decimals), round(a.imag, decimals)
        return placed("round", r, out)
    unit = 10.0 ** abs(decimals)
    return placed("round", _rint(a * unit) / unit if decimals > 0 else _rint(a / unit) * unit, out)


around = round


def fix(x, out=None):
    """Round toward zero.

    Parameters
    ----------
    x : array_like
        Real numbers.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Of x's shape.

    Examples
    --------
    >>> np.fix([-1.7, 1.7])
    array([-1.,  1.])
    """
    return _UFUNC["trunc"](x, out=out)


@spelled(2, dtypes=("float64", "complex128"))
def float_power(x1, x2, /):
    """x1 to the power x2, in float64 or complex128."""
    x1, x2 = _core._beside("float_power", x1, x2)
    dtype = "complex128" if "c" in kind_of(x1) + kind_of(x2) else "float64"
    return _UFUNC["power"](x1.astype(dtype), x2.astype(dtype))


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Replace NaN and infinities by numbers.

    Parameters
    ----------
    x : array_like
        The numbers.
    copy : bool, default True
        False writes into x.
    nan : number, default 0.0
        In place of NaN.
    posinf, neginf : number, optional
        In place of the infinities; None means the dtype's greatest and least number.

    Returns
    -------
    ndarray
        Of x's shape and dtype.

    Examples
    --------
    >>> np.nan_to_num([1.0, np.nan])
    array([1., 0.])
    """
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    x = asarray(x)
    if kind_of(x) == "c":
        r = x.copy() if copy else x
        for part in (r.real, r.imag):
            part[...] = nan_to_num(part, True, nan, posinf, neginf)
        return r
    if kind_of(x) != "f":
        return x.copy()
    info = numpy.finfo(x.dtype) if x.dtype.kind == "f" else _BFLOAT16_RANGE
    r = _select(_isnan(x), nan, x)
    r = _select(isposinf(x), float(info.max) if posinf is None else posinf, r)
    r = _select(isneginf(x), float(info.min) if neginf is None else neginf, r)
    if r.dtype != x.dtype:
        allow("nan_to_num", r.dtype, x.dtype, "same_kind")
        r = r.astype(x.dtype)
    return r if copy else placed("nan_to_num", r, x)


def sinc(x):
    """sin(pi x) / (pi x), and 1 at 0.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of x's shape; floats or complex numbers.

    Examples
    --------
    >>> np.sinc([0.0, 0.5])
    array([1.        , 0.63661977])
    """
    y = numpy.pi * asarray(x)
    y = _select(y == 0, numpy.finfo(y.dtype).eps if y.dtype.kind == "f" else 1.0e-20, y)
    return _UFUNC["sin"](y) / y
