"""Elements of one array moved, repeated or copied: roll, tile, repeat, resize, copyto."""

from math import prod

import numpy

from .. import _core
from .._core import asarray, full, ndarray
from .._exchange._host import few
from .._exchange._place import castable
from .._exchange._rows import by_rows
from ._join import concatenate
from ._shape import _axes, _axis, _cut, broadcast_to


def _pairs(shift, axis, ndim):
    """Each axis with its shift."""
    axes = _axes(axis, ndim, "roll", True)
    try:
        pairs = numpy.broadcast(shift.get() if isinstance(shift, ndarray) else shift, axes)
    except ValueError as error:
        raise ValueError(f"roll: shift {shift} and axis {axis} do not broadcast") from error
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    return pairs


@few(numpy.roll)
def roll(a, shift, axis=None):
    """The elements moved along axes; what leaves at the end comes in at the start.

    Parameters
    ----------
    a : array_like
        The array.
    shift : int or tuple of ints
        By how many places; broadcasts with axis.
    axis : int or tuple of ints, optional
        Axes to move along; None works on the flattened array.

    Returns
    -------
    ndarray
        Of a's shape and dtype.

    Raises
    ------
    AxisError
        a has no such axis.

    Examples
    --------
    >>> np.roll([1, 2, 3, 4], 1)
    array([4, 1, 2, 3])
    """
    a = asarray(a)
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    shifts = {}
    for by, k in [(shift, axis)] if type(shift) is type(axis) is int else _pairs(shift, axis, a.ndim):
        k = _axis(int(k), a.ndim, "roll")
        shifts[k] = shifts.get(k, 0) + int(by)
    shifts = {k: by % a.shape[k] for k, by in shifts.items() if a.shape[k] and by % a.shape[k]}
    r = by_rows(lambda x: roll(x, tuple(shifts.values()), tuple(shifts)), a, tuple(shifts)) if shifts else None
    if r is not None:
        return r
    if shifts and a.size and not a.device.host and not _core._on_host(a):
        return _core._roll(a, tuple(shifts.get(k, 0) for k in range(a.ndim)))
    for k, by in shifts.items():
        n = a.shape[k]
        a = concatenate((a[_cut(a.ndim, k, slice(n - by, None))], a[_cut(a.ndim, k, slice(n - by))]), k)
    return a if shifts else a.copy()


@few(numpy.tile)
def tile(A, reps):
    """The array repeated as a whole along axes.

    Parameters
    ----------
    A : array_like
        The array.
    reps : int or tuple of ints
        How often along each axis; the shorter of reps and A's shape gets ones before it.

    Returns
    -------
    ndarray
        Of A's dtype.

    Examples
    --------
    >>> np.tile([1, 2], (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    a = asarray(A)
    reps = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    ndim = max(a.ndim, len(reps))
    shape, reps = (1,) * (ndim - a.ndim) + a.shape, (1,) * (ndim - len(reps)) + reps
    spread = broadcast_to(
        a.reshape([x for n in shape for x in (1, n)]), [x for r, n in zip(reps, shape, strict=True) for x in (r, n)]
    )
    return spread.reshape([r * n for r, n in zip(reps, shape, strict=True)]).copy()


@few(numpy.repeat)
def repeat(a, repeats, axis=None):
    """Each element repeated along an axis.

    Parameters
    ----------
    a : array_like
        The elements.
    repeats : int or array_like of int, shape (N,)
        How often: all of them, or each place along the axis.
    axis : int, optional
        Axis to work along; None works on the flattened array.

    Returns
    -------
    ndarray
        Of a's dtype.

    Raises
    ------
    ValueError
        A number is negative, or there are not as many as places.

    Examples
    --------
    >>> np.repeat([1, 2], [2, 1])
    array([1, 1, 2])
    """
    a = asarray(a)
    if axis is None:
        a, axis = a.ravel(), 0
    a = a.reshape(1) if a.ndim == 0 else a
    axis = _axis(axis, a.ndim, "repeat")
    n = a.shape[axis]
    if isinstance(repeats, ndarray) and repeats._is_number():
        repeats = repeats.item()
    if isinstance(repeats, (int, numpy.integer)) and not isinstance(repeats, bool) and repeats >= 0:
        before, after = a.shape[: axis + 1], a.shape[axis + 1 :]
        wide = broadcast_to(a.reshape((*before, 1, *after)), (*before, int(repeats), *after))
        return wide.copy().reshape((*before[:-1], n * int(repeats), *after))
    if isinstance(repeats, ndarray):
        index = _repeated(_core._beside("repeat", a, repeats)[1], n)
    else:
        index = asarray(numpy.repeat(numpy.arange(n), repeats), device=a.device)
    return _core._take(a, index, axis)


def _repeated(repeats, n):
    """0, 1, … n - 1, each as often as repeats says."""
    if not castable(repeats.dtype, numpy.dtype("int64"), "safe"):
        raise TypeError(f"Cannot cast array data from {repeats.dtype} to int64 according to the rule 'safe'")
    if repeats.ndim > 1:
        raise ValueError("object too deep for desired array")
    if repeats.size != 1 and repeats.size != n:
        raise ValueError(f"operands could not be broadcast together with shape ({n},) ({repeats.size},)")
    if repeats.size and bool((repeats < 0).any()):
        raise ValueError("repeats may not contain negative values.")
    device = repeats.device
    if repeats.size == 1:
        each = int(repeats.reshape(-1)[0])
        return broadcast_to(_core.arange(n, device=device)[:, None], (n, each)).reshape(n * each)
    ends = _core._cumsum(repeats.astype("int64"), 0, None) if n else repeats.astype("int64")
    return _core._search(ends, _core.arange(int(ends[-1]) if n else 0, device=device), True)


def resize(a, new_shape):
    """The elements in C order, repeated or cut to fill a new shape.

    Parameters
    ----------
    a : array_like
        The elements.
    new_shape : int or tuple of ints
        Shape of the result.

    Returns
    -------
    ndarray, shape new_shape
        Of a's dtype.

    Raises
    ------
    ValueError
        An extent is negative.

    Examples
    --------
    >>> np.resize([1, 2, 3], (2, 2))
    array([[1, 2],
           [3, 1]])
    """
    a = asarray(a).ravel()
    shape = new_shape if isinstance(new_shape, (tuple, list)) else (new_shape,)
    if any(n < 0 for n in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    n = prod(shape)
    if n == 0 or a.size == 0:
        return full(shape, 0, a.dtype, device=a.device)
    return tile(a, -(-n // a.size))[:n].reshape(shape)


_WEAK = {int: "iufcV", float: "fcV", complex: "c"}  # kinds of dtypes that a Python number adapts to


def copyto(dst, src, casting="same_kind", where=True, stream=None):
    """Copy src into dst, from another device too, where `where` is true.

    On a stream the copy is handed to that stream as it is, for contiguous arrays of one shape and dtype. Between arrays
    of the device, and with pinned host memory, the call returns at once and the memory is kept until the stream is done
    with it. With other host memory it returns when that memory may be used again.

    Parameters
    ----------
    dst : ndarray
        Takes the values.
    src : array_like
        The values; broadcasts to dst's shape.
    casting : str, default 'same_kind'
        Which casts are allowed, by numpy.can_cast's names.
    where : array_like of bool, default True
        The places to write; broadcasts to dst's shape.
    stream : Stream, optional
        The stream that copies; None means the default one.

    Raises
    ------
    ValueError
        src does not broadcast to dst, or dst cannot be written.
    TypeError
        The rule does not allow the cast, or `where` is not of bools.

    Examples
    --------
    >>> a = np.zeros(3)
    >>> np.copyto(a, [1, 2, 3], where=[True, False, True])
    >>> a
    array([1., 0., 3.])
    """
    if stream is not None:
        if where is not True:
            raise ValueError("copyto: on a stream there is no where=")
        from .._exchange._transfer import copy_on

        return copy_on(dst, src, stream)
    if not isinstance(dst, ndarray):
        return numpy.copyto(dst, _core.asnumpy(src), casting=casting, where=_core.asnumpy(where))
    if not dst.flags.writeable:
        raise ValueError("assignment destination is read-only")
    kinds = _WEAK.get(type(src))
    if kinds is None and not hasattr(src, "dtype"):
        src = asarray(src, device=dst.device)
    allowed = kinds is not None or castable(src.dtype, dst.dtype, casting)
    if not (allowed if kinds is None else dst.dtype.kind in kinds or casting == "unsafe"):
        raise TypeError(f"Cannot cast to {dst.dtype} according to the rule '{casting}'")
    if isinstance(src, ndarray):
        src = src.to_device(dst.device)
    if type(src) in (float, complex):
        src = numpy.asarray(src)  # an array is cast, whether or not its values fit
    if where is True:
        _core._fill_cast(dst, src)
    else:
        mask = _core._beside("copyto", dst, where)[1]
        if mask.dtype.kind != "b":
            raise TypeError(f"copyto: where must be bool, not {mask.dtype}")
        _core._assign_where(dst, broadcast_to(mask, dst.shape), src)
