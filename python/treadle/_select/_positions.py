"""Index arithmetic: indices of diagonals, triangles and grids, and indices into flattened arrays."""

import numpy

from .. import _core
from .._core import arange, asarray, ones
from .._numpy._create._matrices import tri
from ._indexing import flatnonzero, index_mode, nonzero

_UFUNC = _core.ufuncs()


def _is_c(order):
    """Whether the order is C's; False means Fortran's. Raises ValueError or TypeError for anything else."""
    if order is None:
        return True
    if not isinstance(order, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if order.upper() not in ("C", "F"):
        if order.upper() in ("A", "K"):
            raise ValueError("only 'C' or 'F' order is permitted")
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    return order.upper() == "C"


def unravel_index(indices, shape, order="C"):
    """The indices along each axis of numbered places.

    Parameters
    ----------
    indices : array_like of int
        The numbers.
    shape : tuple of ints
        Shape of the array.
    order : {"C", "F"}, default 'C'
        Which axis is counted fastest: the last or the first.

    Returns
    -------
    tuple of ndarrays of int64
        One for each axis, of indices' shape.

    Raises
    ------
    ValueError
        A number lies outside.

    Examples
    --------
    >>> np.unravel_index([1, 3], (2, 2))
    (array([0, 1]), array([1, 1]))
    """
    c = _is_c(order)
    at = asarray(indices)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if at.dtype.kind not in "iu":
        raise TypeError("only int indices permitted")
    total = int(numpy.prod(shape, dtype=object)) if shape else 1
    if at.size and (int(at.min()) < 0 or int(at.max()) >= total):
        bad = int(at.min()) if int(at.min()) < 0 else int(at.max())
        raise ValueError(f"index {bad} is out of bounds for array with size {total}")
    at, axes = at.astype("int64"), []
    for n in reversed(shape) if c else shape:
        axes.append(at % n)
        at = at // n
    return tuple(reversed(axes) if c else axes)


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """The number of each place, counted through an array.

    Parameters
    ----------
    multi_index : tuple of array_like of int
        Indices, one array for each axis.
    dims : tuple of ints
        Shape of the array.
    mode : {"raise", "wrap", "clip"} or tuple of them, default 'raise'
        What an index outside of its axis does.
    order : {"C", "F"}, default 'C'
        Which axis is counted fastest: the last or the first.

    Returns
    -------
    ndarray of int64
        Of the indices' broadcast shape.

    Raises
    ------
    ValueError
        An index lies outside and the mode is "raise".

    Examples
    --------
    >>> np.ravel_multi_index(([0, 1], [1, 1]), (2, 2))
    array([1, 3])
    """
    c = _is_c(order)
    arrays = [asarray(i) for i in multi_index]
    if len(arrays) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    if 0 in dims and any(i.size for i in arrays):
        raise ValueError(f"ravel_multi_index: there are no places in an array of shape {tuple(dims)}")
    modes = [index_mode(m) for m in (mode if isinstance(mode, (tuple, list)) else (mode,) * len(dims))]
    if len(modes) != len(dims):
        raise ValueError(f"list of clipmodes has wrong length ({len(modes)} instead of {len(dims)})")
    total, step = 0, 1
    pairs = list(zip(arrays, dims, modes, strict=True))
    for i, n, how in reversed(pairs) if c else pairs:
        if i.dtype.kind not in "iu":
            raise TypeError("only int indices permitted")
        i = i.astype("int64")
        if how == "wrap":
            i = i % n
        elif how == "clip":
            i = _UFUNC["minimum"](_UFUNC["maximum"](i, 0), n - 1)
        elif i.size and (int(i.min()) < 0 or int(i.max()) >= n):
            raise ValueError("invalid entry in coordinates array")
        total = total + i * step
        step *= n
    return total


def diag_indices(n, ndim=2):
    """The indices of the main diagonal.

    Parameters
    ----------
    n : int
        Extent of every axis.
    ndim : int, default 2
        Number of axes.

    Returns
    -------
    tuple of ndarrays of int64, shape (n,)
        One for each axis.

    Examples
    --------
    >>> np.diag_indices(2)
    (array([0, 1]), array([0, 1]))
    """
    return (arange(n),) * ndim


def tril_indices(n, k=0, m=None):
    """The indices on and below a diagonal.

    Parameters
    ----------
    n : int
        Rows.
    k : int, default 0
        The diagonal: above the main one where positive.
    m : int, optional
        Columns; None means n.

    Returns
    -------
    tuple of two ndarrays of int64
        Rows and columns.

    Examples
    --------
    >>> np.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    return nonzero(tri(n, m, k, bool))


def triu_indices(n, k=0, m=None):
    """The indices on and above a diagonal.

    Parameters
    ----------
    n : int
        Rows.
    k : int, default 0
        The diagonal: above the main one where positive.
    m : int, optional
        Columns; None means n.

    Returns
    -------
    tuple of two ndarrays of int64
        Rows and columns.

    Examples
    --------
    >>> np.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return nonzero(~tri(n, m, k - 1, bool))


def _square(a, name):
    a = asarray(a)
    if a.ndim != 2:
        raise ValueError(f"{name}: the array has {a.ndim} dimensions, not 2")
    return a


def tril_indices_from(arr, k=0):
    """The indices on and below a diagonal of a matrix.

    Parameters
    ----------
    arr : array_like, shape (M, N)
        The matrix.
    k : int, default 0
        The diagonal: above the main one where positive.

    Returns
    -------
    tuple of two ndarrays of int64
        Rows and columns.

    Raises
    ------
    ValueError
        arr has other than two axes.

    Examples
    --------
    >>> np.tril_indices_from(np.ones((2, 2)))
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    rows, columns = _square(arr, "tril_indices_from").shape
    return tril_indices(rows, k, columns)


def triu_indices_from(arr, k=0):
    """The indices on and above a diagonal of a matrix.

    Parameters
    ----------
    arr : array_like, shape (M, N)
        The matrix.
    k : int, default 0
        The diagonal: above the main one where positive.

    Returns
    -------
    tuple of two ndarrays of int64
        Rows and columns.

    Raises
    ------
    ValueError
        arr has other than two axes.

    Examples
    --------
    >>> np.triu_indices_from(np.ones((2, 2)))
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    rows, columns = _square(arr, "triu_indices_from").shape
    return triu_indices(rows, k, columns)


def diag_indices_from(arr):
    """The indices of the main diagonal of an array.

    Parameters
    ----------
    arr : array_like
        Two axes at least, all of one extent.

    Returns
    -------
    tuple of ndarrays of int64, shape (N,)
        One for each axis.

    Raises
    ------
    ValueError
        The extents differ, or there is one axis only.

    Examples
    --------
    >>> np.diag_indices_from(np.ones((2, 2)))
    (array([0, 1]), array([0, 1]))
    """
    arr = asarray(arr)
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) > 1:
        raise ValueError(f"All dimensions of input must be of equal length, not {arr.shape}")
    return diag_indices(arr.shape[0], arr.ndim)


def ix_(*args):
    """Index arrays that pick every combination of the given indices.

    Parameters
    ----------
    *args : array_like, shape (Nk,)
        Integers, or bools that stand for the places that are true.

    Returns
    -------
    tuple of ndarrays
        They broadcast to shape (N0, N1, ...).

    Raises
    ------
    ValueError
        An argument has other than one axis.

    Examples
    --------
    >>> np.arange(9).reshape(3, 3)[np.ix_([0, 2], [1, 2])]
    array([[1, 2],
           [7, 8]])
    """
    out = []
    for k, seq in enumerate(args):
        a = asarray(seq)
        if a.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if a.size == 0:
            a = a.astype("int64")
        if a.dtype.kind == "b":
            a = flatnonzero(a)
        out.append(a.reshape([-1 if j == k else 1 for j in range(len(args))]))
    return tuple(out)


def mask_indices(n, mask_func, k=0):
    """The indices of what a function of matrices leaves.

    Parameters
    ----------
    n : int
        Extent of the matrix.
    mask_func : callable
        Called with a matrix of ones and k, as np.triu.
    k : int, default 0
        Passed on to mask_func.

    Returns
    -------
    tuple of two ndarrays of int64
        The places that are not zero.

    Examples
    --------
    >>> np.mask_indices(2, np.triu)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return nonzero(asarray(mask_func(ones((n, n), dtype="int64"), k)) != 0)
