"""Subscripts that hold arrays.

Subscripts that give views (integers, slices, Ellipsis, None) never come here; the extension handles them. The rules
are NumPy's. Index arrays broadcast together, and their axes replace the first of them; if a slice separates them,
their axes come first.
"""

import operator
import warnings
from functools import cache
from math import prod

import numpy

from .. import _core, _old_numpy
from .._core import asarray, empty, ndarray
from .._exchange._host import check_out, few, library, store
from .._exchange._place import allow, castable
from .._numpy._join import stack
from ._pick import Pick
from ._sorting import argsort

FULL = slice(None)


def _is_true(a):
    return a if a.dtype.kind == "b" else a != 0


@few(numpy.flatnonzero)
def flatnonzero(a):
    """The places, in C order, of the elements that are not zero.

    Parameters
    ----------
    a : array_like
        The elements.

    Returns
    -------
    ndarray of int64, shape (N,)
        Evaluated at once, since N must be known.

    Examples
    --------
    >>> np.flatnonzero([0, 3, 0, 4])
    array([1, 3])
    """
    a = asarray(a)
    return _core._select(None, _is_true(a).ravel())


@few(numpy.nonzero)
def nonzero(a):
    """The indices of the elements that are not zero.

    Parameters
    ----------
    a : array_like
        The elements; one axis at least.

    Returns
    -------
    tuple of ndarrays of int64, shape (N,)
        One for each axis; evaluated at once, since N must be known.

    Raises
    ------
    ValueError
        a has no axes.

    Examples
    --------
    >>> np.nonzero([0, 3, 0, 4])
    (array([1, 3]),)
    """
    a = asarray(a)
    if a.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    if a.device.host and a.dtype.kind != "V":
        return library("numpy.nonzero", numpy.nonzero, (a,), {})
    at, axes = flatnonzero(a), []
    for n in reversed(a.shape[1:]):
        axes.append(at % n)
        at = at // n
    return (at, *reversed(axes))


@few(numpy.argwhere)
def argwhere(a):
    """The indices of the elements that are not zero, one element a row.

    Parameters
    ----------
    a : array_like
        The elements.

    Returns
    -------
    ndarray of int64, shape (N, a.ndim)
        Evaluated at once, since N must be known.

    Examples
    --------
    >>> np.argwhere([[0, 1], [2, 0]])
    array([[0, 1],
           [1, 0]])
    """
    a = asarray(a)
    if a.ndim == 0:
        return empty((int(bool(a)), 0), dtype="int64", device=a.device)
    return stack(nonzero(a)).T  # as NumPy lays it


@few(numpy.compress)
def compress(condition, a, axis=None, out=None):
    """The slices along an axis where a condition is true.

    Parameters
    ----------
    condition : array_like of bool, shape (K,)
        K may be less than the axis' extent.
    a : array_like
        The elements.
    axis : int, optional
        Axis to work along; None works on the flattened array.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Of a's dtype.

    Raises
    ------
    ValueError
        condition has other than one axis.

    Examples
    --------
    >>> np.compress([True, False, True], [1, 2, 3])
    array([1, 3])
    """
    a, condition = _core._beside("compress", a, condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    r = take(a, flatnonzero(condition), axis)
    return r if out is None else _store_safely("compress", out, r)


def compress_of(a, condition, axis=None, out=None):
    """The method compress of arrays."""
    return compress(condition, a, axis, out)


@few(numpy.extract)
def extract(condition, arr):
    """The elements where a condition is true.

    Parameters
    ----------
    condition : array_like of bool
        As many elements as arr has.
    arr : array_like
        The elements.

    Returns
    -------
    ndarray, shape (N,)
        Of arr's dtype.

    Examples
    --------
    >>> np.extract([True, False], [1, 2])
    array([1])
    """
    condition, arr = _core._beside("extract", condition, arr)
    return compress(condition.ravel(), arr.ravel())


@few(numpy.take)
def take(a, indices, axis=None, out=None, mode="raise"):
    """The elements at integer indices along an axis.

    Parameters
    ----------
    a : array_like
        The elements.
    indices : array_like of int
        The places; negative ones count from the end.
    axis : int, optional
        Axis to work along; None works on the flattened array.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    mode : {"raise", "wrap", "clip"}, default 'raise'
        What an index outside of the axis does.

    Returns
    -------
    ndarray
        a's shape with that of indices in the axis' place.

    Raises
    ------
    IndexError
        An index lies outside and the mode is "raise".
    TypeError
        indices is an array of floats; numbers of a list are cut to integers.

    Examples
    --------
    >>> np.take([10, 20, 30], [2, 0])
    array([30, 10])
    """
    given, mode = isinstance(indices, (ndarray, numpy.ndarray, numpy.generic)), index_mode(mode)
    a, indices = _core._beside("take", a, indices)
    if indices.dtype.kind not in "iub":
        if given:
            raise TypeError(f"Cannot cast array data from {indices.dtype} to int64 according to the rule 'same_kind'")
        indices = indices.astype("int64")  # list elements convert by int(), one by one
    if axis is None:
        a, axis = a.ravel(), 0
    a = a.reshape(1) if a.ndim == 0 else a
    if not -a.ndim <= axis < a.ndim:
        raise _old_numpy.exceptions.AxisError(axis, a.ndim, "take")
    n = a.shape[axis]
    if mode == "wrap":
        indices = indices % n
    elif mode == "clip":
        indices = _core.ufuncs()["minimum"](_core.ufuncs()["maximum"](indices, 0), n - 1)
    r = _core._take(a, indices, axis % a.ndim)
    return r if out is None else _store_safely("take", out, r)


_MODES = ("clip", "wrap", "raise")  # in the order of NumPy's numbers


def index_mode(mode):
    """"raise" (also for None), "wrap" or "clip", or NumPy's number of one. Raises ValueError for any other mode,
    TypeError for what is neither text nor a number."""
    if mode is None:
        return "raise"
    if not isinstance(mode, (str, bytes)):
        try:
            return dict(enumerate(_MODES))[operator.index(mode)]
        except TypeError:
            raise TypeError("clipmode not understood") from None
        except KeyError:
            raise ValueError("integer clipmode must be RAISE, WRAP, or CLIP from 'numpy._core.multiarray'") from None
    if mode not in _MODES:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    return mode


@cache
def _any_out():
    """Whether NumPy writes results into an out= of any dtype. Up to 2.4 out's dtype had to be safely castable to the
    result's."""
    try:
        numpy.take(numpy.ones(1, "float32"), [0], out=numpy.zeros(1))
    except TypeError:
        return False
    return True


def _store_safely(name, out, value):
    check_out(name, out)
    if not _any_out():
        allow(name, out.dtype, value.dtype, "safe")
    elif not castable(value.dtype, out.dtype, "same_kind"):
        text = "Implicit casting of output to a different kind is deprecated"
        warnings.warn(f"{name}: {text}: {value.dtype} to {out.dtype}", DeprecationWarning, stacklevel=3)
    return store(name, out, value)


# ---- parsing ----


def _index_array(x, item):
    """One item of a subscript of x as an array on x's device."""
    try:
        a = _core._beside("indices", x, item)[1]
    except (TypeError, OverflowError) as error:  # text or objects
        raise IndexError("arrays used as indices must be of integer (or boolean) type") from error
    if a.size == 0 and a.dtype.kind == "f" and not hasattr(item, "dtype"):  # an empty sequence
        a = a.astype("int64")
    if a.dtype.kind not in "biu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return a


def _index_item(x, item):
    a = _index_array(x, item)
    return int(a) if a.ndim == 0 and a.dtype.kind != "b" else a


def _mask_axes(a, mask, axis):
    for k, n in enumerate(mask.shape):
        if n not in (0, a.shape[axis + k]):  # NumPy accepts an empty mask for an axis of any length
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + k}; size of axis is "
                f"{a.shape[axis + k]} but size of corresponding boolean axis is {n}"
            )


def _is_plain(item):
    return item is None or item is Ellipsis or isinstance(item, slice) or (type(item) is int)


def _items(a, key):
    """The items of a subscript: one for each axis of a, None and Ellipsis.

    Full slices for the axes that the subscript omits follow the Ellipsis. Arrays are converted.
    """
    items = [i if _is_plain(i) else _index_item(a, i) for i in (key if type(key) is tuple else (key,))]
    used = sum(_width(i) for i in items)
    if used > a.ndim:
        raise IndexError(f"too many indices for array: array is {a.ndim}-dimensional, but {used} were indexed")
    rest = [FULL] * (a.ndim - used)
    dots = [k for k, i in enumerate(items) if i is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    at = dots[0] if dots else len(items)
    return items[: at + 1] + rest + items[at + 1 :]


def _width(item):
    """How many axes of the array an item consumes."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, ndarray) and item.dtype.kind == "b" else 1


def parse(a, key):
    """The Pick for a subscript.

    Adjacent index arrays put their axes in their own place, separated ones in front. Integers count as index arrays.
    """
    p, basic, spots, dots, masks, arrays, axis, kept = Pick(place=None), [], [], 0, 0, 0, 0, 0
    for item in _items(a, key):
        if item is Ellipsis:  # an Ellipsis separates index arrays even if it stands for no axis
            dots = len(basic)
            continue
        array = isinstance(item, ndarray)
        if (array or isinstance(item, int)) and p.place is None:
            p.place = kept
        if not array:
            if isinstance(item, int):
                spots.append(len(basic))
            kept += not isinstance(item, int)
            axis += item is not None
            basic.append(item)
            continue
        if item.dtype.kind != "b":
            found, cut = (item,), FULL
        elif item.ndim == 0:  # a bool is a new axis that is kept or dropped
            found, cut = (numpy.zeros(int(bool(item)), dtype=numpy.int64),), None
        else:
            _mask_axes(a, item, axis)
            found, cut = nonzero(item), FULL
        arrays += 1
        masks += item.dtype.kind == "b"
        for index in found:
            spots.append(len(basic))
            p.add(kept, axis, index)
            basic.append(cut)
            kept, axis = kept + 1, axis + (cut is FULL)
    p.view = a[tuple(basic)]
    p.shape()
    if spots[-1] - spots[0] + 1 != len(spots) or spots[0] < dots <= spots[-1]:
        p.place = 0
    if masks and masks == arrays:
        p.flags = Pick.TRUSTED | (Pick.DISTINCT if masks == 1 else 0)
    return p


# ---- reading and writing ----


def owner_of(key):
    """The part of a key whose class defines what such a subscript means (a Batched of vmap), or None."""
    for x in key if type(key) is tuple else (key,):
        if hasattr(type(x), "_subscript"):
            return x
    return None


def getitem(a, key):
    """a[key] for a key that holds arrays."""
    owner = owner_of(key)
    if owner is not None:
        return owner._subscript("getitem", a, key)
    mask = _whole_mask(a, key)
    if mask is not None:
        return _core._select(a, mask)
    p = parse(a, key)
    return _core._pick(p.view, *p.rest) if p.arrays else p.view.copy()


def _whole_mask(a, key):
    """key as a boolean array of a's shape, or None where it is not one."""
    if isinstance(key, (tuple, int)) or key is None or key is Ellipsis:
        return None
    mask = _index_array(a, key)
    if mask.dtype.kind != "b" or mask.shape != a.shape or a.ndim == 0:
        return None
    return asarray(mask, device=a.device)


def _assign_mask(a, mask, value):
    """a[mask] = value. Returns False, and does nothing, if value has a different number for each selected element."""
    tail = a.ndim - mask.ndim
    if not numpy.isscalar(value):
        value = _core._beside("assignment", a, value)[1]
        if value.ndim > tail:
            return False
    mask = asarray(mask, device=a.device)
    if tail:
        mask = _core._broadcast_to(mask.reshape(mask.shape + (1,) * tail), a.shape)
    _core._assign_where(a, mask, value)
    return True


def _assign_chosen(a, mask, value):
    """a[mask] = value for a mask of a's shape and a value for each selected element. Returns False where it is not
    that."""
    if mask.shape != a.shape or not a.flags.c_contiguous:
        return False
    flat = a.reshape(-1)
    write(Pick(flat, [0], [_core._select(None, mask)], 0, Pick.DISTINCT | Pick.TRUSTED), value)
    return True


def setitem(a, key, value):
    """a[key] = value for a key that holds arrays."""
    owner = owner_of(key)
    if owner is not None:
        return owner._subscript("setitem", a, key, value)
    if isinstance(value, (list, tuple)):
        value = asarray(value, a.dtype, device=a.device)  # raises where a number does not fit the dtype
    if not isinstance(key, (tuple, int)) and key is not None and key is not Ellipsis:
        mask = _index_array(a, key)
        if mask.dtype.kind == "b" and 0 < mask.ndim <= a.ndim:
            _mask_axes(a, mask, 0)
            if mask.ndim == a.ndim and getattr(value, "ndim", 0) > 1:
                raise TypeError(
                    "boolean array indexing assignment requires a 0 or 1-dimensional input, input has "
                    f"{value.ndim} dimensions"
                )
            if mask.size and (_assign_mask(a, mask, value) or _assign_chosen(a, mask, value)):
                return None
    p = parse(a, key)
    if not p.arrays:
        p.view[...] = value
    else:
        write(p, value)
    return None


MAP_MIN, MAP_PER_INDEX = 1 << 24, 64


def write(p, value):
    """Write value to the places of a Pick. If a place occurs several times, the last value stays."""
    n = prod(p.shape())
    if not p.view.device.host and not p.flags & Pick.DISTINCT and p.places() > max(MAP_MIN, MAP_PER_INDEX * n):
        p, value = _only_last(p, value)
    _core._put(p.view, *p.rest, value)


def _steps(p):
    """Strides that number the places in C order."""
    steps, n = [], 1
    for k in reversed(p.axes):
        steps.insert(0, n)
        n *= p.view.shape[k]
    return steps


def _only_last(p, value):
    """p and value without entries that a later index overwrites. Sorting finds them; used for few indices into many
    places."""
    _core._check(p.view, *p.rest)
    shape, dev = p.shape(), p.view.device
    numbers = p.numbers(_steps(p))
    order = argsort(numbers, kind="stable")
    ranked = numbers[order]
    last = _core._broadcast_to(asarray(True, device=dev), ranked.shape).copy()
    last[:-1] = ranked[1:] != ranked[:-1]
    keep = order[last]
    arrays = [_core._broadcast_to(asarray(i, device=dev), shape).ravel()[keep] for i in p.arrays]
    if not numpy.isscalar(value):
        value = asarray(value, device=dev)
        rest = [n for k, n in enumerate(p.view.shape) if k not in p.axes]
        rank, full = len(shape), (*rest[: p.place], *shape, *rest[p.place :])
        while value.ndim > len(full) and value.shape[0] == 1:
            value = value.reshape(value.shape[1:])
        if value.ndim > len(full) - p.place - rank:
            value = _core._broadcast_to(value, full)
            value = value.reshape((*full[: p.place], prod(shape), *full[p.place + rank :]))
            value = _core._take(value, keep, p.place)
    q = Pick(p.view, p.axes, arrays, p.place, Pick.DISTINCT | Pick.TRUSTED)
    return q, value
