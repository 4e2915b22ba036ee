"""Views of the same elements in another shape or order of axes."""

from operator import index

import numpy

from .. import _core, _old_numpy
from .._core import asarray


def _axis(axis, ndim, what):
    axis = index(axis)
    if not -ndim <= axis < ndim:
        raise _old_numpy.exceptions.AxisError(axis, ndim, what)
    return axis % ndim


def _listed(axis):
    """One axis or several, as NumPy reads them: what is no integer is gone through."""
    if isinstance(axis, (tuple, list)):
        return axis
    try:
        return (index(axis),)
    except TypeError:
        return tuple(axis)


def _axes(axis, ndim, what, repeated=False):
    axes = [_axis(k, ndim, what) for k in _listed(axis)]
    if not repeated and len(set(axes)) < len(axes):
        raise ValueError(f"{what}: repeated axis")
    return axes


def _cut(ndim, axis, piece):
    return (slice(None),) * axis + (piece,) + (slice(None),) * (ndim - axis - 1)


# ---- one array ----


def reshape(a, /, shape, order="C", *, copy=None):
    """The same elements in another shape: a view where the layout allows it, else a copy.

    Parameters
    ----------
    a : array_like
        The elements.
    shape : int or tuple of ints
        The new extents; one of them may be -1 and is computed.
    order : {"C", "F", "A"}, default 'C'
        The order in which elements are read and placed.
    copy : bool, optional
        True: always copy; False: never; None: where a view is impossible.

    Returns
    -------
    ndarray, shape shape
        Of a's dtype.

    Raises
    ------
    ValueError
        The shape has another number of elements, or copy=False and a view is impossible.

    Examples
    --------
    >>> np.reshape([1, 2, 3, 4], (2, -1))
    array([[1, 2],
           [3, 4]])
    """
    return asarray(a).reshape(shape, order=order, copy=copy)


def ravel(a, order="C"):
    """The elements along one axis, a view where possible.

    Parameters
    ----------
    a : array_like
        The elements.
    order : {"C", "F", "A", "K"}, default 'C'
        The order in which elements are read.

    Returns
    -------
    ndarray, shape (N,)
        Of a's dtype.

    Examples
    --------
    >>> np.ravel([[1, 2], [3, 4]], order="F")
    array([1, 3, 2, 4])
    """
    return asarray(a).ravel(order)


def transpose(a, axes=None):
    """A view with the axes permuted.

    Parameters
    ----------
    a : array_like, shape (N0, N1, ...)
        The array.
    axes : tuple of ints, optional
        For each axis of the result the axis of a; None reverses them.

    Returns
    -------
    ndarray, shape (N[axes[0]], N[axes[1]], ...)
        Of a's dtype.

    Raises
    ------
    ValueError
        axes names an axis twice or leaves one out.

    Examples
    --------
    >>> np.transpose([[1, 2], [3, 4]])
    array([[1, 3],
           [2, 4]])
    """
    return asarray(a).transpose(axes) if axes is not None else asarray(a).transpose()


permute_dims = transpose


def matrix_transpose(x, /):
    """A view with the last two axes exchanged.

    Parameters
    ----------
    x : array_like, shape (..., M, N)
        One matrix or several.

    Returns
    -------
    ndarray, shape (..., N, M)
        Of x's dtype.

    Raises
    ------
    ValueError
        x has fewer than two axes.

    Examples
    --------
    >>> np.matrix_transpose([[1, 2], [3, 4]])
    array([[1, 3],
           [2, 4]])
    """
    x = asarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return x.swapaxes(-1, -2)


def swapaxes(a, axis1, axis2):
    """A view with two axes exchanged.

    Parameters
    ----------
    a : array_like
        The array.
    axis1, axis2 : int
        The axes.

    Returns
    -------
    ndarray
        Of a's dtype.

    Raises
    ------
    AxisError
        a has no such axis.

    Examples
    --------
    >>> np.swapaxes([[1, 2, 3]], 0, 1).shape
    (3, 1)
    """
    return asarray(a).swapaxes(axis1, axis2)


def moveaxis(a, source, destination):
    """A view with axes moved to other places; the others keep their order.

    Parameters
    ----------
    a : array_like
        The array.
    source : int or sequence of ints
        The axes to move.
    destination : int or sequence of ints
        Where each of them goes.

    Returns
    -------
    ndarray
        Of a's dtype.

    Raises
    ------
    ValueError
        source and destination differ in length.
    AxisError
        a has no such axis.

    Examples
    --------
    >>> np.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    a = asarray(a)
    source, destination = _axes(source, a.ndim, "moveaxis"), _axes(destination, a.ndim, "moveaxis")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [k for k in range(a.ndim) if k not in source]
    for to, k in sorted(zip(destination, source, strict=True)):
        order.insert(to, k)
    return a.transpose(order)


def rollaxis(a, axis, start=0):
    """A view with one axis moved before another; moveaxis says the same more plainly.

    Parameters
    ----------
    a : array_like
        The array.
    axis : int
        The axis to move.
    start : int, default 0
        The axis that it will stand before.

    Returns
    -------
    ndarray
        Of a's dtype.

    Raises
    ------
    AxisError
        a has no such axis.

    Examples
    --------
    >>> np.rollaxis(np.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    a = asarray(a)
    axis = _axis(axis, a.ndim, "rollaxis")
    start = start + a.ndim if start < 0 else start
    return moveaxis(a, axis, start - (axis < start))


def squeeze(a, axis=None):
    """A view without axes of extent 1.

    Parameters
    ----------
    a : array_like
        The array.
    axis : int or tuple of ints, optional
        The axes to remove; None removes all of extent 1.

    Returns
    -------
    ndarray
        Of a's dtype.

    Raises
    ------
    ValueError
        An axis that is named has another extent.

    Examples
    --------
    >>> np.squeeze([[[1, 2]]]).shape
    (2,)
    """
    return asarray(a).squeeze(axis)


def expand_dims(a, axis):
    """A view with more axes of extent 1.

    Parameters
    ----------
    a : array_like
        The array.
    axis : int or tuple of ints
        Where the new axes stand in the result.

    Returns
    -------
    ndarray
        Of a's dtype.

    Raises
    ------
    AxisError
        The result has no such axis.

    Examples
    --------
    >>> np.expand_dims([1, 2], 0).shape
    (1, 2)
    """
    a = asarray(a)
    axes = _listed(axis)
    places = _axes(axes, a.ndim + len(axes), "expand_dims")
    extents = iter(a.shape)
    return a.reshape([1 if k in places else next(extents) for k in range(a.ndim + len(places))])


def broadcast_to(array, shape, subok=False):
    """A read-only view in which extents of 1 are repeated.

    Parameters
    ----------
    array : array_like
        The array.
    shape : int or tuple of ints
        Shape of the result.
    subok : bool, default False
        Accepted for NumPy's signature; treadle has no subclasses of its array.

    Returns
    -------
    ndarray, shape shape
        Of array's dtype; writing raises ValueError.

    Raises
    ------
    ValueError
        array does not broadcast to the shape.

    Examples
    --------
    >>> np.broadcast_to([1, 2], (2, 2))
    array([[1, 2],
           [1, 2]])
    """
    return _core._broadcast_to(asarray(array), shape)


def broadcast_shapes(*shapes):
    """The shape that arrays of the given shapes broadcast to.

    Parameters
    ----------
    *shapes : int or tuple of ints
        The shapes.

    Returns
    -------
    tuple of ints
        The common shape.

    Raises
    ------
    ValueError
        The shapes do not broadcast.

    Examples
    --------
    >>> np.broadcast_shapes((3, 1), (1, 4))
    (3, 4)
    """
    return numpy.broadcast_shapes(*shapes)


def broadcast_arrays(*args, subok=False):
    """The arrays, broadcast against one another.

    Parameters
    ----------
    *args : array_like
        The arrays.
    subok : bool, default False
        Accepted for NumPy's signature; treadle has no subclasses of its array.

    Returns
    -------
    tuple of ndarrays
        Read-only views of one shape.

    Raises
    ------
    ValueError
        The shapes do not broadcast.

    Examples
    --------
    >>> np.broadcast_arrays([1, 2], [[3], [4]])[0]
    array([[1, 2],
           [1, 2]])
    """
    arrays = [asarray(a) for a in args]
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return tuple(broadcast_to(a, shape) for a in arrays)


def flip(m, axis=None):
    """A view with the order along axes reversed.

    Parameters
    ----------
    m : array_like
        The array.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.

    Returns
    -------
    ndarray
        Of m's shape and dtype.

    Raises
    ------
    AxisError
        m has no such axis.

    Examples
    --------
    >>> np.flip([1, 2, 3])
    array([3, 2, 1])
    """
    m = asarray(m)
    axes = range(m.ndim) if axis is None else _axes(axis, m.ndim, "flip")
    return m[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(m.ndim))]


def flipud(m):
    """A view with the rows in reverse order.

    Parameters
    ----------
    m : array_like, shape (M, ...)
        The array; one axis at least.

    Returns
    -------
    ndarray
        Of m's shape and dtype.

    Examples
    --------
    >>> np.flipud([[1, 2], [3, 4]])
    array([[3, 4],
           [1, 2]])
    """
    return flip(m, 0)


def fliplr(m):
    """A view with the columns in reverse order.

    Parameters
    ----------
    m : array_like, shape (M, N, ...)
        The array; two axes at least.

    Returns
    -------
    ndarray
        Of m's shape and dtype.

    Examples
    --------
    >>> np.fliplr([[1, 2], [3, 4]])
    array([[2, 1],
           [4, 3]])
    """
    return flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    """A view turned by right angles in the plane of two axes.

    Parameters
    ----------
    m : array_like
        The array.
    k : int, default 1
        How many right angles, from the first axis to the second.
    axes : tuple of two ints, default (0, 1)
        The plane.

    Returns
    -------
    ndarray
        Of m's dtype.

    Raises
    ------
    ValueError
        axes are not two different ones.

    Examples
    --------
    >>> np.rot90([[1, 2], [3, 4]])
    array([[2, 4],
           [1, 3]])
    """
    m = asarray(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    one, two = _axes(axes, m.ndim, "rot90")
    k %= 4
    if k == 0:
        return m[...]
    if k == 2:
        return flip(m, (one, two))
    return swapaxes(flip(m, two), one, two) if k == 1 else flip(swapaxes(m, one, two), two)
