"""Several arrays joined to one, and one array taken apart along an axis."""

import numpy

from .. import _core
from .._core import asarray, empty, ndarray
from .._exchange._host import check_out, few, store
from .._exchange._place import castable
from ._shape import _axis, expand_dims, moveaxis


def _arrays(arrays):
    return list(arrays if isinstance(arrays, ndarray) else _core._beside("concatenate", *arrays))


def _steps_order(arrays):
    """The axes by decreasing stride, as far as all arrays agree, else in their own order. NumPy lays results out so."""
    known = [[abs(s) if n > 1 else None for s, n in zip(a.strides, a.shape, strict=True)] for a in arrays]
    order = []
    for i in range(arrays[0].ndim):
        at = i
        for k in range(i - 1, -1, -1):
            told = [(s[i], s[order[k]]) for s in known if None not in (s[i], s[order[k]])]
            if told and all(mine > other for mine, other in told):
                at = k
            elif told:
                break
        order.insert(at, i)
    return order


def _joined(arrays, shape, dtype):
    """An uninitialised array for joining the arrays, laid out as they are."""
    device = arrays[0].device
    if any(a.flags.c_contiguous for a in arrays):
        return empty(shape, dtype, device=device)
    order = _steps_order(arrays)
    back = sorted(range(len(order)), key=order.__getitem__)
    return empty([shape[i] for i in order], dtype, device=device).transpose(back)


def _interleaves(arrays, axis):
    """Do the arrays alternate element by element in a result?  Written one by one, each would touch all of the result's
    memory. Small ones on a CPU are copied at once."""
    last = arrays[0].ndim - 1
    return (
        0 < axis == last
        and 2 <= len(arrays) <= 8
        and not (arrays[0].device.host and arrays[0].size < 4096)
        and all(a.shape[axis] == 1 and not _core._on_host(a) and a.flags.c_contiguous for a in arrays)
    )


def _interleaved(arrays):
    """The arrays' elements in turn along the last axis, as one expression."""
    dtype = numpy.result_type(*(a.dtype for a in arrays))
    turn = _core.arange(len(arrays), dtype="int32", device=arrays[0].device)
    *others, r = (a.astype(dtype, copy=False) for a in arrays)
    for k in range(len(others) - 1, -1, -1):
        r = _core.ufuncs()["select"](turn == k, others[k], r)
    return r


def _check_beside(arrays, axis):
    first = arrays[0]
    for k, a in enumerate(arrays):
        if a.ndim != first.ndim or any(a.shape[j] != first.shape[j] for j in range(first.ndim) if j != axis):
            raise ValueError(
                f"concatenate: arrays 0 and {k} of shapes {first.shape} and {a.shape} differ beside axis {axis}"
            )


def _write(out, arrays, axis, casting):
    """Writes the arrays into out, one after another along the axis; a lacking axis has extent 1."""
    for dtype in {a.dtype for a in arrays}:
        if not castable(dtype, out.dtype, casting):
            raise TypeError(f"Cannot cast array data from {dtype} to {out.dtype} according to the rule '{casting}'")
    if not isinstance(out, ndarray):
        return store("concatenate", out, concatenate(arrays, axis), casting=casting)
    _core._join(out, arrays, axis)
    return out


@few(numpy.concatenate)
def concatenate(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """The arrays one after another along an axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Arrays whose extents are equal, but for the axis.
    axis : int, default 0
        The axis; None flattens the arrays first.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    dtype : dtype, optional
        Dtype of the result; None means what the arrays promote to.
    casting : str, default 'same_kind'
        Which casts are allowed, by numpy.can_cast's names.

    Returns
    -------
    ndarray
        The extents along the axis are added.

    Raises
    ------
    ValueError
        There is no array, or other extents differ.

    Examples
    --------
    >>> np.concatenate([[1, 2], [3]])
    array([1, 2, 3])
    """
    arrays = _arrays(arrays)
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        arrays, axis = [a.ravel() for a in arrays], 0
    first = arrays[0]
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = _axis(axis, first.ndim, "concatenate")
    if len({a.shape for a in arrays}) > 1:
        _check_beside(arrays, axis)
    if out is None and dtype is None and _interleaves(arrays, axis):
        return _interleaved(arrays)
    shape = [*first.shape[:axis], sum(a.shape[axis] for a in arrays), *first.shape[axis + 1 :]]
    if out is None:
        out = _joined(arrays, shape, dtype or numpy.result_type(*{a.dtype for a in arrays}))
    elif dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    check_out("concatenate", out)
    if list(out.shape) != shape:
        raise ValueError(f"concatenate: out has shape {out.shape}, the result {tuple(shape)}")
    return _write(out, arrays, axis, casting)


concat = concatenate


@few(numpy.stack)
def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Arrays of one shape.
    axis : int, default 0
        Where the new axis stands in the result.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    dtype : dtype, optional
        Dtype of the result; None means what the arrays promote to.
    casting : str, default 'same_kind'
        Which casts are allowed, by numpy.can_cast's names.

    Returns
    -------
    ndarray
        Of one axis more than the arrays.

    Raises
    ------
    ValueError
        There is no array, or the shapes differ.

    Examples
    --------
    >>> np.stack([[1, 2], [3, 4]], axis=1)
    array([[1, 3],
           [2, 4]])
    """
    arrays = _arrays(arrays)
    if not arrays:
        raise ValueError("need at least one array to stack")
    if any(a.shape != arrays[0].shape for a in arrays):
        raise ValueError(f"stack: all input arrays must have the same shape: {[a.shape for a in arrays]}")
    axis = _axis(axis, arrays[0].ndim + 1, "stack")
    if out is None and len(arrays) > 8 and arrays[0].flags.c_contiguous:
        shape = (*arrays[0].shape[:axis], len(arrays), *arrays[0].shape[axis:])
        dtype = dtype or numpy.result_type(*{a.dtype for a in arrays})
        return _write(empty(shape, dtype, device=arrays[0].device), arrays, axis, casting)
    return concatenate([expand_dims(a, axis) for a in arrays], axis, out, dtype=dtype, casting=casting)


def unstack(x, /, *, axis=0):
    """The array cut along an axis into arrays without that axis.

    Parameters
    ----------
    x : array_like, shape (..., N, ...)
        The array.
    axis : int, default 0
        The axis.

    Returns
    -------
    tuple of N ndarrays
        Views.

    Raises
    ------
    ValueError
        x has no axes.

    Examples
    --------
    >>> np.unstack(np.asarray([[1, 2], [3, 4]]))
    (array([1, 2]), array([3, 4]))
    """
    return tuple(moveaxis(x, axis, 0))


@few(numpy.append)
def append(arr, values, axis=None):
    """An array with values after its own.

    Parameters
    ----------
    arr : array_like
        The array.
    values : array_like
        The values; with an axis of arr's shape but for the axis.
    axis : int, optional
        Axis to work along; None works on the flattened array.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> np.append([1, 2], [3, 4])
    array([1, 2, 3, 4])
    """
    return concatenate((arr, values), axis)


def atleast_1d(*arys):
    """The arrays with one axis at least.

    Parameters
    ----------
    *arys : array_like
        The arrays.

    Returns
    -------
    ndarray or tuple of ndarrays
        A single one stands alone.

    Examples
    --------
    >>> np.atleast_1d(3)
    array([3])
    """
    r = tuple(a.reshape(1) if a.ndim == 0 else a for a in map(asarray, arys))
    return r[0] if len(r) == 1 else r


def atleast_2d(*arys):
    """The arrays with two axes at least; a vector becomes a row.

    Parameters
    ----------
    *arys : array_like
        The arrays.

    Returns
    -------
    ndarray or tuple of ndarrays
        A single one stands alone.

    Examples
    --------
    >>> np.atleast_2d([1, 2])
    array([[1, 2]])
    """
    r = tuple(a.reshape((1,) * (2 - a.ndim) + a.shape) if a.ndim < 2 else a for a in map(asarray, arys))
    return r[0] if len(r) == 1 else r


def atleast_3d(*arys):
    """The arrays with three axes at least; (N,) becomes (1, N, 1) and (M, N) becomes (M, N, 1).

    Parameters
    ----------
    *arys : array_like
        The arrays.

    Returns
    -------
    ndarray or tuple of ndarrays
        A single one stands alone.

    Examples
    --------
    >>> np.atleast_3d([1, 2]).shape
    (1, 2, 1)
    """
    shapes = {0: lambda s: (1, 1, 1), 1: lambda s: (1, *s, 1), 2: lambda s: (*s, 1)}
    r = tuple(a.reshape(shapes[a.ndim](a.shape)) if a.ndim < 3 else a for a in map(asarray, arys))
    return r[0] if len(r) == 1 else r


def _list_of(f, arrays):
    return [f(a) for a in _arrays(arrays)]


@few(numpy.vstack)
def vstack(tup, *, dtype=None, casting="same_kind"):
    """The arrays one below the other; vectors are rows.

    Parameters
    ----------
    tup : sequence of array_like
        The arrays.
    dtype : dtype, optional
        Dtype of the result; None means what the arrays promote to.
    casting : str, default 'same_kind'
        Which casts are allowed, by numpy.can_cast's names.

    Returns
    -------
    ndarray
        Of two axes at least.

    Raises
    ------
    ValueError
        Other extents differ.

    Examples
    --------
    >>> np.vstack([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    """
    return concatenate(_list_of(atleast_2d, tup), 0, dtype=dtype, casting=casting)


row_stack = vstack


@few(numpy.hstack)
def hstack(tup, *, dtype=None, casting="same_kind"):
    """The arrays side by side: along the second axis, vectors along their only one.

    Parameters
    ----------
    tup : sequence of array_like
        The arrays.
    dtype : dtype, optional
        Dtype of the result; None means what the arrays promote to.
    casting : str, default 'same_kind'
        Which casts are allowed, by numpy.can_cast's names.

    Returns
    -------
    ndarray
        The extents along the axis are added.

    Raises
    ------
    ValueError
        Other extents differ.

    Examples
    --------
    >>> np.hstack([[1, 2], [3]])
    array([1, 2, 3])
    """
    arrays = _list_of(atleast_1d, tup)
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@few(numpy.dstack)
def dstack(tup):
    """The arrays one behind the other, along the third axis.

    Parameters
    ----------
    tup : sequence of array_like
        The arrays.

    Returns
    -------
    ndarray
        Of three axes at least.

    Examples
    --------
    >>> np.dstack([[1, 2], [3, 4]])
    array([[[1, 3],
            [2, 4]]])
    """
    return concatenate(_list_of(atleast_3d, tup), 2)


@few(numpy.column_stack)
def column_stack(tup):
    """Vectors as the columns of a matrix.

    Parameters
    ----------
    tup : sequence of array_like, shape (M,) or (M, K)
        Vectors, and matrices whose columns are taken.

    Returns
    -------
    ndarray, shape (M, N)
        Of the dtype that they promote to.

    Examples
    --------
    >>> np.column_stack([[1, 2], [3, 4]])
    array([[1, 3],
           [2, 4]])
    """
    return concatenate([a if a.ndim >= 2 else a.reshape((a.size, 1)) for a in _arrays(tup)], 1)


def _block_depth(arrays, path=()):
    """(depth of the nested lists, which must be the same everywhere; the most axes of an array in them)."""
    where = "arrays" + "".join(f"[{k}]" for k in path)
    if isinstance(arrays, tuple):
        raise TypeError(f"{where} is a tuple. Only lists can be used to arrange blocks.")
    if not isinstance(arrays, list):
        return len(path), numpy.ndim(arrays) if not isinstance(arrays, ndarray) else arrays.ndim
    if not arrays:
        raise ValueError(f"List at {where} cannot be empty")
    found = [_block_depth(a, (*path, k)) for k, a in enumerate(arrays)]
    if len({depth for depth, _ in found}) > 1:
        raise ValueError(f"List depths are mismatched below {where}: {[depth for depth, _ in found]}")
    return found[0][0], max(ndim for _, ndim in found)


@few(numpy.block)
def block(arrays):
    """An array put together from nested lists of blocks: the innermost lists lie along the last axis.

    Parameters
    ----------
    arrays : nested list of array_like
        The blocks, as deeply nested everywhere.

    Returns
    -------
    ndarray
        Of the dtype that the blocks promote to.

    Raises
    ------
    ValueError
        The lists are not equally deep, or extents differ.

    Examples
    --------
    >>> np.block([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    """
    depth, ndim = _block_depth(arrays)
    ndim = max(depth, ndim)

    def join(x, level):
        if level < depth:
            return concatenate([join(each, level + 1) for each in x], ndim - depth + level)
        a = asarray(x)
        return a.reshape((1,) * (ndim - a.ndim) + a.shape)

    return join(arrays, 0) if depth else join(arrays, 0).copy()
