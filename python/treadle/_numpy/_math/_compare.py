"""Comparisons of arrays as wholes or within a tolerance, and with infinity."""

import numpy

from ... import _core
from ..._core import asarray, ndarray
from .._spelled import kind_of, placed

_UFUNC = _core.ufuncs()
_abs, _isnan, _isfinite = (_UFUNC[k] for k in ("absolute", "isnan", "isfinite"))


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
    b = b if kind_of(b) in "fc" else b.astype("float64")
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


def _compared_by_numpy(compare, a, b, *more):
    """What NumPy says of two objects that are not both arrays of treadle's."""
    if isinstance(a, ndarray) and isinstance(b, ndarray):
        raise
    return compare(*(x.get() if isinstance(x, ndarray) else x for x in (a, b)), *more)


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
    try:
        a, b = _core._beside("array_equal", a1, a2)
    except (TypeError, ValueError):  # no array of numbers
        return _compared_by_numpy(numpy.array_equal, a1, a2, equal_nan)
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan and kind_of(a) in "fc" and kind_of(b) in "fc":
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
    try:
        a, b = _core._beside("array_equiv", a1, a2)
    except (TypeError, ValueError):  # no array of numbers
        return _compared_by_numpy(numpy.array_equiv, a1, a2)
    try:
        return bool((a == b).all())
    except ValueError:
        return False


def _ordered(x, name):
    x = asarray(x)
    if kind_of(x) == "c":
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
    return placed("isposinf", _ordered(x, "isposinf") == float("inf"), out)


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
    return placed("isneginf", _ordered(x, "isneginf") == float("-inf"), out)
