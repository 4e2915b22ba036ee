"""NumPy's functions that are composed of operations of the core's table."""

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
    """The kind of a's dtype: b, i, u, f or c. NumPy gives bfloat16 the kind V, which counts as f here."""
    return "f" if a.dtype.kind == "V" else a.dtype.kind


class _BFLOAT16_RANGE:
    min, max = -3.3895313892515355e38, 3.3895313892515355e38


def _into(name, out, value):
    return value if out is None else into(name, out, value)


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
    return _select(condition, x, y)


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
        a = a.astype(numpy.result_type(a.dtype, *(getattr(x, "dtype", x) for x in (low, high))), copy=False)
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


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether abs(a - b) <= atol + rtol * abs(b), element by element; infinities equal themselves.

    Parameters
    ----------
    a, b : array_like
        They broadcast.
    rtol : float, default 1e-05
        Tolerance in units of abs(b).
    atol : float, default 1e-08
        Tolerance that is added.
    equal_nan : bool, default False
        NaN equals NaN.

    Returns
    -------
    ndarray of bool
        Of the broadcast shape.

    Raises
    ------
    ValueError
        The shapes do not broadcast.

    Examples
    --------
    >>> np.isclose([1.0, 2.0], [1.0, 2.1])
    array([ True, False])
    """
    a, b = _core._beside("isclose", a, b)
    b = b if _kind(b) in "fc" else b.astype("float64")
    near = (_abs(a - b) <= atol + rtol * _abs(b)) & _isfinite(b) | (a == b)
    return near | (_isnan(a) & _isnan(b)) if equal_nan else near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close, as isclose says.

    Parameters
    ----------
    a, b : array_like
        They broadcast.
    rtol : float, default 1e-05
        Tolerance in units of abs(b).
    atol : float, default 1e-08
        Tolerance that is added.
    equal_nan : bool, default False
        NaN equals NaN.

    Returns
    -------
    bool
        The value is computed at once.

    Raises
    ------
    ValueError
        The shapes do not broadcast.

    Examples
    --------
    >>> np.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9])
    True
    """
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1, a2, equal_nan=False):
    """Whether two arrays have the same shape and elements.

    Parameters
    ----------
    a1, a2 : array_like
        The arrays.
    equal_nan : bool, default False
        NaN equals NaN.

    Returns
    -------
    bool
        The value is computed at once.

    Examples
    --------
    >>> np.array_equal([1, 2], [1, 2])
    True
    """
    a, b = _core._beside("array_equal", a1, a2)
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan and _kind(a) in "fc" and _kind(b) in "fc":
        same = same | (_isnan(a) & _isnan(b))
    return bool(same.all())


def array_equiv(a1, a2):
    """Whether two arrays have the same elements after broadcasting.

    Parameters
    ----------
    a1, a2 : array_like
        The arrays.

    Returns
    -------
    bool
        False where they do not broadcast.

    Examples
    --------
    >>> np.array_equiv([1, 1], 1)
    True
    """
    a, b = _core._beside("array_equiv", a1, a2)
    try:
        return bool((a == b).all())
    except ValueError:
        return False


def ptp(a, axis=None, out=None, keepdims=False):
    """The range: the largest element minus the smallest.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.

    Returns
    -------
    ndarray
        Of a's shape without the axes, and of its dtype.

    Raises
    ------
    ValueError
        a is empty.

    Examples
    --------
    >>> np.ptp([3, 9, 4])
    array(6)
    """
    a = asarray(a)
    return _into("ptp", out, a.max(axis, keepdims=keepdims) - a.min(axis, keepdims=keepdims))


def _fitted(w, a, axis):
    """The weights broadcast against a. They have a's shape, or that of one axis."""
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
    """The mean along axes, weighted if weights are given.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    weights : array_like, of a's shape or of the extents along axis, optional
        How much each element counts.
    returned : bool, default False
        Return the sums of the weights too.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.

    Returns
    -------
    ndarray
        The means; with returned a pair of them and the sums of the weights.

    Raises
    ------
    ZeroDivisionError
        The weights sum to 0; they are evaluated for it.
    TypeError
        weights have another shape than a and no axis is given.

    Examples
    --------
    >>> np.average([1.0, 4.0], weights=[3, 1])
    array(1.75)
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
    """Whether an element is +inf.

    Parameters
    ----------
    x : array_like
        Real numbers.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray of bool
        Of x's shape.

    Raises
    ------
    TypeError
        x is complex.

    Examples
    --------
    >>> np.isposinf([np.inf, 1.0])
    array([ True, False])
    """
    return _into("isposinf", out, _ordered(x, "isposinf") == float("inf"))


def isneginf(x, out=None):
    """Whether an element is -inf.

    Parameters
    ----------
    x : array_like
        Real numbers.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray of bool
        Of x's shape.

    Raises
    ------
    TypeError
        x is complex.

    Examples
    --------
    >>> np.isneginf([-np.inf, 1.0])
    array([ True, False])
    """
    return _into("isneginf", out, _ordered(x, "isneginf") == float("-inf"))


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
    """The real part where all imaginary parts are small.

    Parameters
    ----------
    a : array_like
        The numbers.
    tol : float, default 100
        In units of the dtype's epsilon; 1 and less are a bound of their own.

    Returns
    -------
    ndarray
        Real, or a itself; the value decides and is computed at once.

    Examples
    --------
    >>> np.real_if_close([1 + 1e-15j])
    array([1.])
    """
    a = asarray(a)
    if _kind(a) != "c":
        return a
    bound = numpy.finfo(a.dtype).eps * tol if tol > 1 else tol
    return a.real if bool((_abs(a.imag) < bound).all()) else a


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
    y = _select(y == 0, 1.0e-20, y)
    return _UFUNC["sin"](y) / y


def real(val):
    """The real part: a view of a complex array, a real one itself.

    Parameters
    ----------
    val : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of val's shape; real.

    Examples
    --------
    >>> np.real([1 + 2j])
    array([1.])
    """
    return asarray(val).real


def imag(val):
    """The imaginary part: a view of a complex array, zeros for a real one.

    Parameters
    ----------
    val : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of val's shape; real.

    Examples
    --------
    >>> np.imag([1 + 2j])
    array([2.])
    """
    return asarray(val).imag


def angle(z, deg=False):
    """The argument of complex numbers.

    Parameters
    ----------
    z : array_like
        Real or complex numbers.
    deg : bool, default False
        In degrees, in place of radians.

    Returns
    -------
    ndarray
        Of z's shape, from -pi to pi; real floats.

    Examples
    --------
    >>> np.angle([1.0, 1j])
    array([0.        , 1.57079633])
    """
    z = asarray(z)
    r = _UFUNC["angle"](z.astype("int64") if _kind(z) == "b" else z)
    return _UFUNC["degrees"](r) if deg else r


def isreal(x):
    """Whether the imaginary part is zero, element by element.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray of bool
        Of x's shape.

    Examples
    --------
    >>> np.isreal([1 + 1j, 1])
    array([False,  True])
    """
    return imag(x) == 0


def iscomplex(x):
    """Whether the imaginary part is other than zero, element by element.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray of bool
        Of x's shape.

    Examples
    --------
    >>> np.iscomplex([1 + 1j, 1])
    array([ True, False])
    """
    return imag(x) != 0


def common_type(*arrays):
    """The float type that holds what the arrays hold.

    Parameters
    ----------
    *arrays : ndarray
        The arrays.

    Returns
    -------
    type
        A class of NumPy's: numpy.float64, numpy.complex64 and so on.

    Raises
    ------
    TypeError
        An array holds bools.

    Examples
    --------
    >>> np.common_type(np.ones(1, np.float32)).__name__
    'float32'
    """
    return numpy.common_type(*(numpy.empty(0, a.dtype) for a in arrays))


def isscalar(element):
    """Whether an object is a number, and not an array.

    Parameters
    ----------
    element : object
        Any object.

    Returns
    -------
    bool
        As numpy.isscalar; False for an array without axes.

    Examples
    --------
    >>> np.isscalar(3.0)
    True
    """
    return not isinstance(element, ndarray) and numpy.isscalar(element)


def iscomplexobj(x):
    """Whether the dtype is complex.

    Parameters
    ----------
    x : array_like
        The array.

    Returns
    -------
    bool
        No value is computed.

    Examples
    --------
    >>> np.iscomplexobj([1j])
    True
    """
    return _kind(asarray(x)) == "c"


def isrealobj(x):
    """Whether the dtype is not complex.

    Parameters
    ----------
    x : array_like
        The array.

    Returns
    -------
    bool
        No value is computed.

    Examples
    --------
    >>> np.isrealobj([1.0])
    True
    """
    return not iscomplexobj(x)


def ndim(a):
    """The number of axes.

    Parameters
    ----------
    a : array_like
        The array.

    Returns
    -------
    int
        No value is computed.

    Examples
    --------
    >>> np.ndim([[1, 2]])
    2
    """
    return asarray(a).ndim


def shape(a):
    """The extents.

    Parameters
    ----------
    a : array_like
        The array.

    Returns
    -------
    tuple of ints
        No value is computed.

    Examples
    --------
    >>> np.shape([[1, 2]])
    (1, 2)
    """
    return asarray(a).shape


def size(a, axis=None):
    """The number of elements, or the extent along axes.

    Parameters
    ----------
    a : array_like
        The array.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.

    Returns
    -------
    int
        No value is computed.

    Raises
    ------
    AxisError
        a has no such axis.

    Examples
    --------
    >>> np.size([[1, 2]], 1)
    2
    """
    a = asarray(a)
    if axis is None:
        return a.size
    from ._shape import _axes

    return math.prod(a.shape[k] for k in _axes(axis, a.ndim, "size"))
