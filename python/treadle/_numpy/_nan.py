"""Reductions and cumulative operations that ignore NaN.

They are composed of the plain ones and fuse with their operands. They give NumPy's values without its RuntimeWarning,
since a warning would require computing at once.
"""

import numpy

from .. import _core
from .._core import asarray
from .._exchange._host import check_out, store
from .._exchange._place import on
from .._exchange._place import own as _own
from .._select._sorting import cumprod, cumsum

_UFUNC = _core.ufuncs()
_select, _isnan, _sqrt = _UFUNC["select"], _UFUNC["isnan"], _UFUNC["sqrt"]


def _has_nan(a):
    return a.dtype.kind in "fcV"


def _into(name, out, value):
    if out is None:
        return value
    check_out(name, out)
    if out.shape != value.shape:
        raise ValueError(f"out has shape {out.shape}, the result {value.shape}")
    return store(name, out, value)


def _filled(a, instead):
    a = _own(a)
    return _select(_isnan(a), asarray(instead, a.dtype, device=a.device), a) if _has_nan(a) else a


def _more(initial, where):
    """The keywords among these that were given."""
    more = {} if initial is None else {"initial": initial}
    return more if where is True else {**more, "where": where}


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The sum of the elements that are not NaN; 0 where there is none.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    dtype : dtype, optional
        Dtype of the result.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.
    initial : number, optional
        Joined to each result; an empty array then has one.
    where : array_like of bool, default True
        Elements to take; it broadcasts to a's shape.

    Returns
    -------
    ndarray
        Of a's shape without the axes.

    Examples
    --------
    >>> np.nansum([1.0, np.nan, 3.0])
    np.float64(4.0)
    """
    return _filled(a, 0).sum(axis, dtype, out, keepdims, **_more(initial, where))


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The product of the elements that are not NaN; 1 where there is none.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    dtype : dtype, optional
        Dtype of the result.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.
    initial : number, optional
        Joined to each result; an empty array then has one.
    where : array_like of bool, default True
        Elements to take; it broadcasts to a's shape.

    Returns
    -------
    ndarray
        Of a's shape without the axes.

    Examples
    --------
    >>> np.nanprod([2.0, np.nan, 3.0])
    np.float64(6.0)
    """
    return _filled(a, 1).prod(axis, dtype, out, keepdims, **_more(initial, where))


def nancumsum(a, axis=None, dtype=None, out=None):
    """Sums of the elements up to each; NaN counts as 0.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int, optional
        Axis to work along; None works on the flattened array.
    dtype : dtype, optional
        Dtype of the result.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Of a's shape.

    Examples
    --------
    >>> np.nancumsum([2.0, np.nan, 3.0])
    array([2., 2., 5.])
    """
    return cumsum(_filled(a, 0), axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """Products of the elements up to each; NaN counts as 1.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int, optional
        Axis to work along; None works on the flattened array.
    dtype : dtype, optional
        Dtype of the result.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Of a's shape.

    Examples
    --------
    >>> np.nancumprod([2.0, np.nan, 3.0])
    array([2., 2., 6.])
    """
    return cumprod(_filled(a, 1), axis, dtype, out)


# ---- extremes ----


def _counted(a, where):
    """A mask of the elements that count: not NaN, and where is true."""
    there = ~_isnan(a)
    if where is True:
        return there
    where = False if where is None else where
    return there & _core._broadcast_to(on(a.device, where).astype("bool", copy=False), a.shape)


def _worst(a, value):
    return complex(value, value) if a.dtype.kind == "c" else value


def _extreme(a, method, instead, axis, out, keepdims, initial, where):
    a = _own(a)
    passed = initial is not None and a.dtype.kind in "fc" and initial != initial  # an initial NaN counts as none
    if not passed and not _has_nan(a):
        return getattr(a, method)(axis, out, keepdims, **_more(initial, where))
    more = _more(_worst(a, instead) if passed else initial, where)
    if where is not True and initial is None:
        return getattr(a, method)(axis, out, keepdims, **more)  # raises the error of the plain reduction
    there = _counted(a, where)
    more.pop("where", None)
    worst = asarray(_worst(a, instead), a.dtype, device=a.device)
    r = getattr(_select(there, a, worst), method)(axis, keepdims=keepdims, **more)
    if initial is None or passed:
        r = _select(there.any(axis, keepdims=keepdims), r, asarray(float("nan"), a.dtype, device=a.device))
    return _into(f"nan{method}", out, r)


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """The largest element that is not NaN; NaN where there is none.

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
    initial : number, optional
        Joined to each result; an empty array then has one.
    where : array_like of bool, default True
        Elements to take; it broadcasts to a's shape.

    Returns
    -------
    ndarray
        Of a's shape without the axes.

    Raises
    ------
    ValueError
        a is empty and initial is not given.

    Examples
    --------
    >>> np.nanmax([1.0, np.nan, 3.0])
    np.float64(3.0)
    """
    return _extreme(a, "max", float("-inf"), axis, out, keepdims, initial, where)


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """The smallest element that is not NaN; NaN where there is none.

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
    initial : number, optional
        Joined to each result; an empty array then has one.
    where : array_like of bool, default True
        Elements to take; it broadcasts to a's shape.

    Returns
    -------
    ndarray
        Of a's shape without the axes.

    Raises
    ------
    ValueError
        a is empty and initial is not given.

    Examples
    --------
    >>> np.nanmin([1.0, np.nan, 3.0])
    np.float64(1.0)
    """
    return _extreme(a, "min", float("inf"), axis, out, keepdims, initial, where)


def _place(a, method, instead, axis, out, keepdims):
    a = _own(a)
    if _has_nan(a) and bool(_isnan(a).all(axis).any()):
        raise ValueError("All-NaN slice encountered")
    r = getattr(_filled(a, instead), method)(axis, keepdims=keepdims)
    return _into(f"nan{method}", out, r)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """Where the largest element that is not NaN stands first.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int, optional
        Axis to work along; None works on the flattened array.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.

    Returns
    -------
    ndarray of int64
        Places along the axis.

    Raises
    ------
    ValueError
        A slice holds nothing but NaN; the values are computed for it.

    Examples
    --------
    >>> np.nanargmax([1.0, np.nan, 3.0])
    np.int64(2)
    """
    return _place(a, "argmax", float("-inf"), axis, out, keepdims)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """Where the smallest element that is not NaN stands first.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int, optional
        Axis to work along; None works on the flattened array.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.

    Returns
    -------
    ndarray of int64
        Places along the axis.

    Raises
    ------
    ValueError
        A slice holds nothing but NaN; the values are computed for it.

    Examples
    --------
    >>> np.nanargmin([1.0, np.nan, 3.0])
    np.int64(0)
    """
    return _place(a, "argmin", float("inf"), axis, out, keepdims)


# ---- moments ----


def _wide(a):
    """The dtype in which sums are kept until they are divided and rounded."""
    return "complex128" if a.dtype.kind == "c" else "float64"


def _mean(a, there, axis, keepdims):
    total = _select(there, a, asarray(0, a.dtype, device=a.device)).sum(axis, _wide(a), None, keepdims)
    return total / there.sum(axis, keepdims=keepdims).astype("float64")


def _need_inexact(a, dtype, out):
    if out is not None and a.dtype.kind in "fc" and out.dtype.kind not in "fcV":
        raise TypeError(f"If a is inexact, then out must be inexact: {a.dtype} and {out.dtype}")
    if dtype is not None and a.dtype.kind in "fc" and numpy.dtype(dtype).kind not in "fcV":
        raise TypeError(f"If a is inexact, then dtype must be inexact: {a.dtype} and {numpy.dtype(dtype)}")


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """The mean of the elements that are not NaN; NaN where there is none.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    dtype : dtype, optional
        Dtype of the result.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.
    where : array_like of bool, default True
        Elements to take; it broadcasts to a's shape.

    Returns
    -------
    ndarray
        Of a's shape without the axes.

    Examples
    --------
    >>> np.nanmean([1.0, np.nan, 3.0])
    np.float64(2.0)
    """
    a = _own(a)
    _need_inexact(a, dtype, out)
    if not _has_nan(a):
        return a.mean(axis, dtype, out, keepdims, **_more(None, where))
    return _into("nanmean", out, _mean(a, _counted(a, where), axis, keepdims).astype(dtype or a.dtype))


def _variance(a, axis, ddof, keepdims, where, mean):
    """The variance in the wide dtype. NaN where no more than ddof elements count."""
    there = _counted(a, where)
    mean = _mean(a, there, axis, True) if mean is None else on(a.device, mean)
    away = _select(there, a - mean, 0.0)
    square = away * away if a.dtype.kind != "c" else _UFUNC["square"](_UFUNC["absolute"](away))
    left = there.sum(axis, keepdims=keepdims).astype("float64") - ddof
    total = square.sum(axis, "float64", None, keepdims)
    return _select(left > 0, total / left, float("nan"))


def _real(dtype):
    return numpy.empty(0, dtype).real.dtype


def _spread(name, a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    a = _own(a)
    _need_inexact(a, dtype, out)
    if correction is not None:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    if not _has_nan(a):
        more = _more(None, where) | ({} if mean is None else {"mean": mean})
        return getattr(a, name)(axis, dtype, out, ddof, keepdims, **more)
    r = _variance(a, axis, ddof, keepdims, where, mean)
    return _into(f"nan{name}", out, (_sqrt(r) if name == "std" else r).astype(dtype or _real(a.dtype)))


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """The variance of the elements that are not NaN; NaN where there are no more than ddof.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    dtype : dtype, optional
        Dtype of the result.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    ddof : float, default 0
        The sum is divided by the number of elements less ddof.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.
    where : array_like of bool, default True
        Elements to take; it broadcasts to a's shape.
    mean : array_like, optional
        The mean, if it is known already, with the reduced axes kept.
    correction : float, optional
        The array API's name of ddof.

    Returns
    -------
    ndarray
        Of a's shape without the axes.

    Examples
    --------
    >>> np.nanvar([1.0, np.nan, 3.0])
    np.float64(1.0)
    """
    return _spread("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """The standard deviation of the elements that are not NaN; NaN where there are no more than ddof.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.
    dtype : dtype, optional
        Dtype of the result.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    ddof : float, default 0
        The sum is divided by the number of elements less ddof.
    keepdims : bool, default False
        Keep the reduced axes, with extent 1.
    where : array_like of bool, default True
        Elements to take; it broadcasts to a's shape.
    mean : array_like, optional
        The mean, if it is known already, with the reduced axes kept.
    correction : float, optional
        The array API's name of ddof.

    Returns
    -------
    ndarray
        Of a's shape without the axes.

    Examples
    --------
    >>> np.nanstd([1.0, np.nan, 3.0])
    np.float64(1.0)
    """
    return _spread("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)
