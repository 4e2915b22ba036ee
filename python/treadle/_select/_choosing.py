"""Choosing between arrays element by element, and inserting or deleting elements."""

import numpy

from .. import _core
from .._core import arange, asarray, empty, ndarray, ones
from .._exchange._host import few, store
from .._exchange._place import elements, on, own
from .._numpy._join import concatenate
from .._numpy._shape import _axes, _axis, _cut
from ._indexing import flatnonzero, index_mode
from ._pick import gather, scatter
from ._sorting import argsort

_UFUNC = _core.ufuncs()


# ---- choosing ----


@few(numpy.choose)
def choose(a, choices, out=None, mode="raise"):
    """Choose element by element from several arrays, by number.

    Parameters
    ----------
    a : array_like of int
        The number of the choice at each place.
    choices : sequence of array_like
        The choices; they broadcast with a.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    mode : {"raise", "wrap", "clip"}, default 'raise'
        What a number outside does.

    Returns
    -------
    ndarray
        Of the broadcast shape.

    Raises
    ------
    ValueError
        A number lies outside and the mode is "raise".

    Examples
    --------
    >>> np.choose([0, 1, 0], [[1, 2, 3], [10, 20, 30]])
    array([ 1, 20,  3])
    """
    a = asarray(a)
    if a.dtype.kind not in "biu" or a.dtype == "uint64":
        raise TypeError(f"Cannot cast array data from {a.dtype} to int64 according to the rule 'safe'")
    choices = list(choices if isinstance(choices, (list, tuple)) else own(choices, a))
    n, mode = len(choices), index_mode(mode)
    if mode == "raise" and a.size and (int(a.min()) < 0 or int(a.max()) >= n):
        raise ValueError("invalid entry in choice array")
    if mode == "wrap":
        a = a % n
    weak = [c if type(c) in (bool, int, float, complex) else own(c, a) for c in choices]
    dt = numpy.result_type(*(c.dtype if isinstance(c, ndarray) else c for c in weak))
    choices = [on(a.device, c, dt) for c in weak]
    shape = numpy.broadcast_shapes(a.shape, *(c.shape for c in choices))
    r = _core._broadcast_to(choices[-1], shape)
    for k in range(n - 2, -1, -1):
        r = _UFUNC["select"](a <= k, choices[k], r)
    r = r.copy() if n == 1 else r
    return r if out is None else store("choose", out, r)


def select(condlist, choicelist, default=0):
    """The choice of the first condition that is true, element by element.

    Parameters
    ----------
    condlist : sequence of array_like of bool
        The conditions.
    choicelist : sequence of array_like
        As many choices; all broadcast together.
    default : array_like, default 0
        Where no condition is true.

    Returns
    -------
    ndarray
        Of the broadcast shape.

    Raises
    ------
    ValueError
        The lists differ in length, or are empty.
    TypeError
        A condition holds other than bools.

    Examples
    --------
    >>> np.select([[True, False], [True, True]], [1, 2])
    array([1, 2])
    """
    condlist, choicelist = list(condlist), list(choicelist)
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    conditions = [own(c, *condlist, *choicelist) for c in condlist]
    for k, c in enumerate(conditions):
        if c.dtype.kind != "b":
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    weak = [c if type(c) in (int, float, complex) else own(c, *conditions) for c in (*choicelist, default)]
    dt = numpy.result_type(*(c.dtype if isinstance(c, ndarray) else c for c in weak))
    r = on(conditions[0].device, weak[-1], dt)
    for c, v in zip(reversed(conditions), reversed(weak[:-1]), strict=True):
        r = _UFUNC["select"](c, on(c.device, v, dt), r)
    return r


def piecewise(x, condlist, funclist, *args, **kw):
    """Functions, or numbers, where their conditions hold.

    Parameters
    ----------
    x : array_like
        What the functions are of.
    condlist : sequence of array_like of bool
        Conditions of x's shape.
    funclist : sequence of callables or numbers
        One for each condition; one more is for the rest.
    *args : any
        Passed on to the functions.
    **kw : any
        Passed on to the functions.

    Returns
    -------
    ndarray
        Of x's shape and dtype; 0 where no condition holds.

    Raises
    ------
    ValueError
        funclist has neither as many entries as condlist nor one more.

    Examples
    --------
    >>> np.piecewise([-1.0, 2.0], [np.asarray([True, False])], [0, lambda x: x * x])
    array([0., 4.])
    """
    x = asarray(x)
    one = not isinstance(condlist, (list, tuple))
    if one or (x.ndim and not isinstance(condlist[0], (list, tuple, ndarray, numpy.ndarray))):
        condlist = [condlist]
    conditions = [on(x.device, c).astype("bool") for c in condlist]
    funclist = list(funclist)
    if len(funclist) == len(conditions) + 1:
        rest = conditions[0]
        for c in conditions[1:]:
            rest = rest | c
        conditions.append(~rest)
    elif len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions "
            "are expected"
        )
    y = _core._broadcast_to(asarray(0, dtype=x.dtype, device=x.device), x.shape).copy()
    for c, f in zip(conditions, funclist, strict=True):
        if not callable(f):
            y[c] = f
        elif (part := x[c]).size:
            y[c] = f(part, *args, **kw)
    return y


# ---- arrays with elements less and more ----


def _along(arr, axis, what):
    """(arr as an array, the axis). With axis None it is the flat array and axis 0."""
    a = asarray(arr)
    return (a.ravel(), 0) if axis is None else (a, _axis(axis, a.ndim, what))


def _single(obj):
    """The single index that obj means, an integer or an array of one. None where it is something else."""
    if isinstance(obj, (int, numpy.integer)) and not isinstance(obj, bool):
        return int(obj)
    if isinstance(obj, slice):
        return None
    at = obj if isinstance(obj, ndarray) else numpy.asarray(obj)
    return int(at.reshape(())) if at.size == 1 and at.dtype.kind in "iu" else None


def _index_array(obj, device):
    """obj as an index array. An empty list selects nothing."""
    at = on(device, obj)
    return at.astype("int64") if at.size == 0 and not isinstance(obj, (ndarray, numpy.ndarray)) else at


@few(numpy.delete)
def delete(arr, obj, axis=None):
    """The array without some elements.

    Parameters
    ----------
    arr : array_like
        The array.
    obj : int, slice or array_like of int or bool
        The places along the axis.
    axis : int, optional
        Axis to work along; None works on the flattened array.

    Returns
    -------
    ndarray
        A new array of arr's dtype.

    Raises
    ------
    IndexError
        obj names a place outside.
    ValueError
        A mask is not as long as the axis.

    Examples
    --------
    >>> np.delete([1, 2, 3], 1)
    array([1, 3])
    """
    a, axis = _along(arr, axis, "delete")
    n, one = a.shape[axis], _single(obj)
    if one is not None:
        if not -n <= one < n:
            raise IndexError(f"index {one} is out of bounds for axis {axis} with size {n}")
        parts = slice(None, one % n), slice(one % n + 1, None)
        return concatenate([a[_cut(a.ndim, axis, part)] for part in parts], axis)
    keep = ones(n, dtype="bool", device=a.device)
    if isinstance(obj, slice):
        keep[obj] = False
    else:
        at = _index_array(obj, a.device)
        if at.dtype.kind == "b" and at.shape != (n,):
            raise ValueError(
                f"boolean array argument obj to delete must be one dimensional and match the axis length of {n}"
            )
        keep[at] = False
    return _core._select(a, keep) if a.ndim == 1 else gather(a, flatnonzero(keep), axis)


@few(numpy.insert)
def insert(arr, obj, values, axis=None):
    """The array with values before some places.

    Parameters
    ----------
    arr : array_like
        The array.
    obj : int, slice or array_like of int
        The places along the axis.
    values : array_like
        The values; they broadcast to what is inserted.
    axis : int, optional
        Axis to work along; None works on the flattened array.

    Returns
    -------
    ndarray
        A new array of arr's dtype.

    Raises
    ------
    IndexError
        obj names a place outside, or holds no integers.

    Examples
    --------
    >>> np.insert([1, 2, 3], 1, 9)
    array([1, 9, 2, 3])
    """
    a, axis = _along(arr, axis, "insert")
    n, one = a.shape[axis], _single(obj)
    values = elements("insert", values, a.dtype, a.device)
    if one is not None:
        if not -n <= one <= n:
            raise IndexError(f"index {one} is out of bounds for axis {axis} with size {n}")
        values = values.reshape((1,) * (a.ndim - values.ndim) + values.shape)
        if (obj.ndim if isinstance(obj, ndarray) else numpy.ndim(obj)) == 0:
            values = values.transpose([*range(1, axis + 1), 0, *range(axis + 1, a.ndim)])
        one = one + n if one < 0 else one
        shape = [values.shape[axis] if k == axis else m for k, m in enumerate(a.shape)]
        parts = [a[_cut(a.ndim, axis, slice(None, one))], _core._broadcast_to(values, shape)]
        return concatenate([*parts, a[_cut(a.ndim, axis, slice(one, None))]], axis)
    if isinstance(obj, slice):
        at = arange(*obj.indices(n), device=a.device)
    else:
        at = _index_array(obj, a.device)
        if at.ndim > 1:
            raise ValueError("index array argument obj to insert must be one dimensional or scalar")
        if at.dtype.kind not in "biu" and at.size:
            raise IndexError(f"insert: the places are integers or a mask, not {at.dtype}")
        at = flatnonzero(at) if at.dtype.kind == "b" else at.astype("int64")
    if bool(((at < -n) | (at > n)).any()):
        raise IndexError(f"insert: an index is out of bounds for axis {axis} with size {n}")
    return _spliced(a, _UFUNC["select"](at < 0, at + n, at), values, axis)


def _spliced(a, at, values, axis):
    """Insert values at several indices. Each index shifts by the number of values that are inserted before it."""
    many, n, device = at.shape[0], a.shape[axis], a.device
    order = argsort(at, kind="stable")
    places = empty(many, dtype="int64", device=device)
    scatter(places, order, gather(at, order) + arange(many, device=device))
    rest = ones(n + many, dtype="bool", device=device)
    scatter(rest, places, False)
    r = empty((*a.shape[:axis], n + many, *a.shape[axis + 1 :]), a.dtype, device=device)
    for index, value in ((flatnonzero(rest), a), (places, values)):
        scatter(r, index, value, axis)
    return r


def trim_zeros(filt, trim="fb", axis=None):
    """The array without the zeros at its ends.

    Parameters
    ----------
    filt : array_like
        The array; a list or tuple stays one.
    trim : {"f", "b", "fb"}, default 'fb'
        At the front, at the back or at both.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.

    Returns
    -------
    ndarray, list or tuple
        A view, evaluated at once.

    Raises
    ------
    ValueError
        trim has other letters.

    Examples
    --------
    >>> np.trim_zeros([0, 1, 0, 2, 0])
    [1, 0, 2]
    """
    a = asarray(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = range(a.ndim) if axis is None else _axes(axis, a.ndim, "trim_zeros")
    there, cut = a != 0, []
    for k in range(a.ndim):
        lines = there.any(tuple(j for j in range(a.ndim) if j != k)) if a.ndim > 1 else there
        found = flatnonzero(lines) if k in axes else None
        if found is None:
            cut.append(slice(None))
        elif found.shape[0] == 0:
            cut.append(slice(0, 0))
        else:
            cut.append(slice(int(found[0]) if "f" in trim else None, int(found[-1]) + 1 if "b" in trim else None))
    if not cut:
        return filt
    return (filt if isinstance(filt, (list, tuple)) and a.ndim == 1 else a)[cut[0] if len(cut) == 1 else tuple(cut)]
