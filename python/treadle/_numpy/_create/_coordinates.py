"""Coordinates of the elements of a grid, and arrays of functions of them."""

import numpy

from ... import _core
from ..._core import arange, asarray
from .._join import stack


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of a grid over axes.

    Parameters
    ----------
    *xi : array_like, shape (Nk,)
        Coordinates along each axis.
    copy : bool, default True
        False: read-only views in place of copies.
    sparse : bool, default False
        Leave extents of 1, which broadcast.
    indexing : {"xy", "ij"}, default 'xy'
        "xy" exchanges the first two axes.

    Returns
    -------
    tuple of ndarrays
        One for each of xi.

    Raises
    ------
    ValueError
        indexing is neither of both.

    Examples
    --------
    >>> np.meshgrid([1, 2], [3, 4])
    (array([[1, 2],
           [1, 2]]), array([[3, 3],
           [4, 4]]))
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    grids = [asarray(x).reshape([-1 if j == k else 1 for j in range(n)]) for k, x in enumerate(xi)]
    if indexing == "xy" and n > 1:
        grids = [g.swapaxes(0, 1) for g in grids]
    if not sparse:
        shape = numpy.broadcast_shapes(*(g.shape for g in grids))
        grids = [_core._broadcast_to(g, shape) for g in grids]
    return tuple(g.copy() for g in grids) if copy else tuple(grids)


def indices(dimensions, dtype=int, sparse=False, *, device=None):
    """The index of every element along each axis.

    Parameters
    ----------
    dimensions : sequence of ints
        Extents of a grid.
    dtype : dtype, default int
        Dtype of the result.
    sparse : bool, default False
        Return one array for each axis, with extent 1 along the others.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.

    Returns
    -------
    ndarray, shape (len(dimensions), *dimensions), or tuple of ndarrays
        The indices.

    Examples
    --------
    >>> np.indices((2, 2))
    array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]])
    """
    dimensions, dtype = tuple(dimensions), float if dtype is None else dtype
    n = len(dimensions)
    parts = tuple(
        arange(d, dtype=dtype, device=device).reshape([-1 if j == k else 1 for j in range(n)])
        for k, d in enumerate(dimensions)
    )
    if sparse:
        return parts
    if not n:
        return _core.empty(0, dtype, device=device)
    return stack([_core._broadcast_to(p, dimensions) for p in parts])


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """What a function gives for the index arrays of all axes.

    Parameters
    ----------
    function : callable
        Called once, with one array of shape shape for each axis.
    shape : tuple of ints
        Shape of the index arrays.
    dtype : dtype, default float
        Dtype of the index arrays.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.
    **kwargs : any
        Passed on to the function.

    Returns
    -------
    any
        What the function returns.

    Examples
    --------
    >>> np.fromfunction(lambda i, j: i + j, (2, 2), dtype=int)
    array([[0, 1],
           [1, 2]])
    """
    return function(*indices(shape, dtype), **kwargs)
