"""Writing at indices that arrays give: ufunc.at, put and similar functions."""

import numpy

from .. import _core, _old_numpy
from .._core import arange, asarray, empty, ndarray
from .._exchange._host import few, library
from .._exchange._place import elements, on
from .._numpy._folds import fold_runs
from .._numpy._join import concatenate
from ._indexing import _items, flatnonzero, index_mode, parse, write
from ._pick import Pick, gather, scatter
from ._positions import unravel_index
from ._sorting import argsort

_UFUNC = _core.ufuncs()


def _writable(a, what):
    if not isinstance(a, ndarray):
        kind = _core.NoNumbersError if isinstance(a, numpy.ndarray) else TypeError  # NumPy writes into its own arrays
        raise kind(f"{what}: expected a treadle array, not {type(a).__name__}")
    if not a.flags.writeable:
        raise ValueError(f"{what}: the array is read-only")
    return a


# ---- ufunc.at ----


def _plain_part(a, key):
    """The view of a that key selects, an array even for a single element. None where the key has arrays."""
    items = _items(a, key)
    if any(isinstance(i, ndarray) for i in items):
        return None
    return a[(*items,) if Ellipsis in items else (*items, ...)]


# For these the low bits of the result depend only on the operands' low bits. So values may be truncated to the array's
# width before an atomic operation.
_LOW_BITS = {"add", "subtract", "bitwise_and", "bitwise_or", "bitwise_xor"}


def at(name, a, indices, values=None):
    """ufunc.at: a[indices] = name(a[indices], values), applied once for each occurrence of an index, in order."""
    _writable(a, name + ".at")
    unary = values is None
    part = _plain_part(a, indices)
    if part is not None:
        part[...] = (_UFUNC[name](part) if unary else _UFUNC[name](part, values)).astype(a.dtype)
        return
    if unary:
        values = 0  # a placeholder that is not read
    elif not numpy.isscalar(values):
        values = on(a.device, values)
    given = values.dtype if isinstance(values, ndarray) else numpy.result_type(values)
    if not unary and "c" in (a.dtype.kind, given.kind):
        _complex_at(name, a, indices, values)
        return
    p = parse(a, indices)
    if name in _LOW_BITS and a.dtype.kind in "iu" and not a.device.host and type(values) is not float:
        values = on(a.device, values, a.dtype if type(values) is int else None)
        if numpy.result_type(a.dtype, values.dtype).kind in "iu":
            values = values.astype(a.dtype, copy=False)
            name, values = ("add", 0 - values) if name == "subtract" else (name, values)
    if name == "subtract" and a.dtype.kind == given.kind == "f" and not a.device.host:
        name, values = "add", -values  # the same sums, for which there is an atomic operation
    if not _core._put_op(p.view, *p.rest, name, values):
        _by_runs(name, p, values)


def _by_runs(name, p, values):
    """ufunc.at without atomic operations: sort the indices stably, and let one thread handle all occurrences of a
    place."""
    _core._check(p.view, *p.rest)
    dev, shape = p.view.device, p.shape()
    item = p.view.dtype.itemsize
    places = p.numbers([p.view.strides[k] // item for k in p.axes])
    order = argsort(places, kind="stable")
    rest = [k for k in range(p.view.ndim) if k not in p.axes]
    extents = [p.view.shape[k] for k in rest]
    inner = asarray(0, dtype="int64", device=dev)
    for j, k in enumerate(rest):
        inner = inner + (arange(p.view.shape[k], device=dev) * (p.view.strides[k] // item)).reshape(
            [-1 if i == j else 1 for i in range(len(rest))]
        )
    values = on(dev, values) if not numpy.isscalar(values) else _scalar(values, p.view)
    full = (*extents[: p.place], *shape, *extents[p.place :])
    values = _core._broadcast_to(values, full)
    n = len(shape)
    front = [*range(p.place, p.place + n), *range(p.place), *range(p.place + n, len(full))]
    values = values.transpose(front).reshape((places.size, -1 if places.size else 0))
    inner = _core._broadcast_to(inner, tuple(extents)).ravel()
    _core._put_runs(p.view, name, gather(places, order), order, inner, values)


def add_at(a, index, values):
    """a[index] += values, added once for each occurrence of an index. The indices are known to be in range."""
    if a.dtype.kind == "c":
        for part in ("real", "imag"):
            add_at(getattr(a, part), index, _UFUNC[part](values))
        return
    p = Pick(a, [0], [index], 0, Pick.TRUSTED)
    if not _core._put_op(p.view, *p.rest, "add", values):
        _by_runs("add", p, values)


_COMPLEX_FOLDS = {"add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin"}


def _complex_at(name, a, indices, values):
    """ufunc.at for complex numbers.

    Sums add the real and imaginary parts separately. Products and extremes fold the values of each place in a loop.
    NumPy does the rest: writing into a real array casts after each step, comparisons change the dtype, and a division
    by 0 in a kernel would raise.
    """
    given, values = values, on(a.device, values)
    dt = _UFUNC[name](empty(0, a.dtype, device=a.device), values.ravel()[:0]).dtype
    if a.dtype.kind != "c" or dt.kind != "c" or name not in _COMPLEX_FOLDS:
        library(f"numpy.{name}.at", _numpy_at, (name, indices, given), {"out": a})
        return
    if name in ("add", "subtract"):
        for part in ("real", "imag"):
            one = _UFUNC[part](values) if values.dtype.kind == "c" else values if part == "real" else None
            if one is not None:
                at(name, getattr(a, part), indices, one)
        return
    places = arange(a.size, device=a.device).reshape(a.shape)[indices]
    if not places.size:
        return
    values = _core._broadcast_to(values.astype(dt, copy=False), places.shape).ravel()
    order = argsort(places.ravel(), kind="stable")
    ranked, flat = gather(places.ravel(), order), a.ravel().astype(dt)
    first = empty(ranked.shape, dtype="bool", device=a.device)
    first[:1] = True
    first[1:] = ranked[1:] != ranked[:-1]
    start = flatnonzero(first)
    stop = concatenate((start[1:], asarray([ranked.shape[0]], device=a.device)))
    named = gather(ranked, start)
    scatter(flat, named, fold_runs(name, gather(values, order), start, stop, gather(flat, named)))
    a[...] = flat.reshape(a.shape)


def _numpy_at(name, indices, values, out):
    getattr(numpy, name).at(out, indices, values)


def _scalar(value, beside):
    """A Python number in the dtype that it has beside an array."""
    dt = numpy.result_type(beside.dtype, value if type(value) in (bool, int, float) else numpy.asarray(value).dtype)
    return on(beside.device, value, dt)


# ---- put and its like ----


def _flat_pick(a, index, flags=0):
    """A Pick of a's elements in C order: of the flat view where a is contiguous, else of all axes."""
    if a.flags.c_contiguous:
        return Pick(a.reshape(-1), [0], [index], 0, flags)
    _core._check(_core._broadcast_to(asarray(0, device=a.device), (a.size,)), (0,), (0,), (index,), 0, flags)
    index = index % a.size
    return Pick(a, range(a.ndim), unravel_index(index, a.shape), 0, flags | Pick.TRUSTED)


def _index(ind, n, mode, device):
    listed = not isinstance(ind, (ndarray, numpy.ndarray, numpy.generic))
    ind, mode = on(device, ind), index_mode(mode)
    ind = ind.astype("int64") if listed else ind  # list elements convert by int(), one by one
    if ind.dtype.kind not in "iub":
        raise TypeError(f"indices: expected integers, not {ind.dtype}")
    ind = ind.ravel().astype("int64")
    if mode == "wrap":
        return ind % n
    if mode == "clip":
        return _UFUNC["minimum"](_UFUNC["maximum"](ind, 0), n - 1)
    return ind


def _repeated(values, n, device):
    """values, flattened and repeated to n elements."""
    values = on(device, values).ravel()
    if values.size in (1, n):
        return values
    return gather(values, arange(n, device=device) % values.size)


def put(a, ind, v, mode="raise"):
    """Write values at places of the flattened array, in place.

    Parameters
    ----------
    a : ndarray
        Takes the values.
    ind : array_like of int
        The places.
    v : array_like
        The values, repeated as needed; of a place that is named twice the last one stays.
    mode : {"raise", "wrap", "clip"}, default 'raise'
        What an index outside does.

    Raises
    ------
    IndexError
        An index lies outside and the mode is "raise".

    Examples
    --------
    >>> a = np.zeros(3)
    >>> np.put(a, [0, 2], [1, 2])
    >>> a
    array([1., 0., 2.])
    """
    _writable(a, "put")
    ind = _index(ind, a.size, mode, a.device)
    v = elements("put", v, a.dtype, a.device)
    if ind.size and v.size:
        write(_flat_pick(a, ind), _repeated(v, ind.size, a.device))


def putmask(a, /, mask, values):
    """Write where a mask is true, in place: the element of values at the same place.

    Parameters
    ----------
    a : ndarray
        Takes the values.
    mask : array_like of bool
        As many elements as a has.
    values : array_like
        The values, flattened and repeated to a's size.

    Raises
    ------
    ValueError
        The mask has another number of elements.

    Examples
    --------
    >>> a = np.zeros(3)
    >>> np.putmask(a, [False, True, True], [1, 2, 3])
    >>> a
    array([0., 2., 3.])
    """
    _writable(a, "putmask")
    mask = on(a.device, mask).astype("bool")
    if mask.shape != a.shape:
        raise ValueError("putmask: mask and data must be the same size")
    values = elements("putmask", values, a.dtype, a.device, "safe")
    if values.size == 0:
        return
    if values.shape != a.shape:
        values = _repeated(values, a.size, a.device)
        values = values.reshape(a.shape) if values.size == a.size else values.reshape(())
    _core._assign_where(a, mask, values)


def place(arr, mask, vals):
    """Write values one after another where a mask is true, in place.

    Parameters
    ----------
    arr : ndarray
        Takes the values.
    mask : array_like of bool
        As many elements as arr has.
    vals : array_like
        The values, repeated as needed.

    Raises
    ------
    ValueError
        vals is empty and a place is true.

    Examples
    --------
    >>> a = np.arange(4)
    >>> np.place(a, [True, False, True, True], [7, 8])
    >>> a
    array([7, 1, 8, 7])
    """
    _writable(arr, "place")
    mask, vals = on(arr.device, mask).astype("bool"), elements("place", vals, arr.dtype, arr.device, "safe").ravel()
    if mask.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    mask = mask.reshape(arr.shape)
    if vals.size == 0:
        if bool(mask.any()):
            raise ValueError("Cannot insert from an empty array!")
        return
    if vals.size == 1:
        return _core._assign_where(arr, mask, vals.reshape(()))
    rank = _core._cumsum(mask.ravel(), 0, "int64") - 1
    chosen = gather(vals, _UFUNC["maximum"](rank, 0) % vals.size)
    _core._assign_where(arr, mask, chosen.reshape(arr.shape))
    return None


def _along(arr, indices, axis):
    """A Pick of arr's elements at indices along axis. The other axes keep their index."""
    indices = on(arr.device, indices)
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = arr.reshape(-1), 0
    if not -arr.ndim <= axis < arr.ndim:
        raise _old_numpy.exceptions.AxisError(axis, arr.ndim)
    axis %= arr.ndim
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if indices.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    indices = indices.astype("int64")
    arrays = [
        indices if k == axis else arange(n, device=arr.device).reshape([-1 if j == k else 1 for j in range(arr.ndim)])
        for k, n in enumerate(arr.shape)
    ]
    _core._check(arr, (axis,), (axis,), (indices,), 0, 0)
    return Pick(arr, range(arr.ndim), arrays, 0, Pick.TRUSTED)


@few(numpy.take_along_axis)
def take_along_axis(arr, indices, axis=-1):
    """The elements at indices along an axis, slice by slice: what argsort and argmax give, applied.

    Parameters
    ----------
    arr : array_like
        The elements.
    indices : array_like of int
        Of as many axes as arr, or with axis=None of one; the other extents broadcast.
    axis : int or None, default -1
        Axis to work along; None works on the flattened array.

    Returns
    -------
    ndarray
        Of arr's dtype.

    Raises
    ------
    ValueError
        indices and arr have different numbers of axes.
    IndexError
        The indices are no integers, or lie outside.

    Examples
    --------
    >>> a = np.asarray([[3, 1], [2, 4]])
    >>> np.take_along_axis(a, np.argsort(a), -1)
    array([[1, 3],
           [2, 4]])
    """
    p = _along(asarray(arr), indices, axis)
    p.shape()
    return _core._pick(p.view, *p.rest)


def put_along_axis(arr, indices, values, axis):
    """Write values at indices along an axis, slice by slice and in place.

    Parameters
    ----------
    arr : ndarray
        Takes the values.
    indices : array_like of int
        Of as many axes as arr, or with axis=None of one.
    values : array_like
        They broadcast to the indices' shape.
    axis : int or None
        Axis to work along; None works on the flattened array.

    Raises
    ------
    ValueError
        indices and arr have different numbers of axes.

    Examples
    --------
    >>> a = np.zeros((2, 2))
    >>> np.put_along_axis(a, np.asarray([[0], [1]]), 5, 1)
    >>> a
    array([[5., 0.],
           [0., 5.]])
    """
    _writable(arr, "put_along_axis")
    if axis is None and not arr.flags.c_contiguous:
        p = _flat_pick(arr, on(arr.device, indices).astype("int64"))
    else:
        p = _along(arr, indices, axis)
    write(p, values if numpy.isscalar(values) else elements("put_along_axis", values, arr.dtype, arr.device))


def fill_diagonal(a, val, wrap=False):
    """Write values on the main diagonal, in place.

    Parameters
    ----------
    a : ndarray
        Two axes at least; more than two of one extent.
    val : array_like
        The values, flattened and repeated.
    wrap : bool, default False
        Go on below the square of a tall matrix.

    Raises
    ------
    ValueError
        a has one axis, or more than two of different extents.

    Examples
    --------
    >>> a = np.zeros((2, 2))
    >>> np.fill_diagonal(a, [1, 2])
    >>> a
    array([[1., 0.],
           [0., 2.]])
    """
    _writable(a, "fill_diagonal")
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    rows, columns = a.shape[0], a.shape[1]
    if a.ndim == 2:
        step, end = columns + 1, a.size if wrap else min(a.size, columns * columns)
    else:
        step, end = 1 + sum(rows**k for k in range(1, a.ndim)), a.size
    ind = arange(0, end, step, device=a.device)
    values = elements("fill_diagonal", val, a.dtype, a.device)
    if ind.size and values.size:
        p = _flat_pick(a, ind, Pick.DISTINCT | Pick.TRUSTED)
        write(p, _repeated(values, ind.size, a.device)[: ind.size])
