"""Diagonals of matrices, matrices of a diagonal, and traces."""

import numpy

from .._core import asarray, zeros
from .._exchange._host import few
from .._numpy._shape import _axis


def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonal of two axes, as the last axis: a view.

    Parameters
    ----------
    a : array_like
        The array; two axes at least.
    offset : int, default 0
        Above the main diagonal where positive.
    axis1, axis2 : int, default 0
        The axes.

    Returns
    -------
    ndarray
        Without the two axes, and with one more.

    Raises
    ------
    ValueError
        a has one axis, or both axes are the same.

    Examples
    --------
    >>> np.diagonal([[1, 2], [3, 4]])
    array([1, 4])
    """
    a = asarray(a)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    one, two = _axis(axis1, a.ndim, "axis1"), _axis(axis2, a.ndim, "axis2")
    if one == two:
        raise ValueError("axis1 and axis2 cannot be the same")
    rest = [k for k in range(a.ndim) if k not in (one, two)]
    a = a.transpose([*rest, one, two])
    m, n = a.shape[-2:]
    count = max(0, min(m, n - offset) if offset >= 0 else min(m + offset, n))
    start = offset if offset >= 0 else -offset * n
    flat = a.reshape((*a.shape[:-2], m * n))
    return flat[..., start : start + count * (n + 1) : n + 1][..., :count]


def diag(v, k=0):
    """The diagonal of a matrix, or the matrix that has a vector there.

    Parameters
    ----------
    v : array_like, shape (M, N) or (N,)
        The matrix or the vector.
    k : int, default 0
        Above the main diagonal where positive.

    Returns
    -------
    ndarray, shape (min(M, N),) or (N, N) for k = 0
        Of v's dtype.

    Raises
    ------
    ValueError
        v has neither one axis nor two.

    Examples
    --------
    >>> np.diag([1, 2])
    array([[1, 0],
           [0, 2]])
    """
    v = asarray(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.shape[0] + abs(k)
    r = zeros((n, n), v.dtype, device=v.device)
    first = k if k >= 0 else -k * n
    r.reshape(-1)[first : first + v.shape[0] * (n + 1) : n + 1][: v.shape[0]] = v
    return r


def diagflat(v, k=0):
    """The matrix that has the flattened elements as a diagonal.

    Parameters
    ----------
    v : array_like, N elements
        The elements.
    k : int, default 0
        Above the main diagonal where positive.

    Returns
    -------
    ndarray, shape (N + abs(k), N + abs(k))
        Of v's dtype.

    Examples
    --------
    >>> np.diagflat([[1, 2]], 1)
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    """
    return diag(asarray(v).ravel(), k)


@few(numpy.trace)
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """The sum along a diagonal.

    Parameters
    ----------
    a : array_like
        The array; two axes at least.
    offset : int, default 0
        Above the main diagonal where positive.
    axis1, axis2 : int, default 0
        The axes.
    dtype : dtype, optional
        Dtype of the result.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Without the two axes.

    Raises
    ------
    ValueError
        a has one axis.

    Examples
    --------
    >>> np.trace([[1, 2], [3, 4]])
    np.int64(5)
    """
    return diagonal(a, offset, axis1, axis2).sum(-1, dtype=dtype, out=out)
