"""Unit matrices and triangles."""

from operator import index

from ..._core import arange, asarray
from .._math._values import where


def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    """A matrix with ones on a diagonal and zeros beside it.

    Parameters
    ----------
    N : int
        Rows.
    M : int, optional
        Columns; None means N.
    k : int, default 0
        The diagonal: above the main one where positive.
    dtype : dtype, default float
        Dtype of the result.
    order : {'C', 'F', 'A', 'K'}, default 'C'
        Order of the elements in memory.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray, shape (N, M)
        A new array.

    Examples
    --------
    >>> np.eye(2, dtype=int)
    array([[1, 0],
           [0, 1]])
    """
    rows, k = index(N), index(k)
    columns = rows if M is None else index(M)
    if rows < 0 or columns < 0:
        raise ValueError("negative dimensions are not allowed")
    i, j = arange(rows, device=device), arange(columns, device=device)
    return (j[None, :] - i[:, None] == k).astype(dtype, order)


def identity(n, dtype=float, *, device=None, like=None):
    """The unit matrix.

    Parameters
    ----------
    n : int
        Rows and columns.
    dtype : dtype, default float
        Dtype of the result.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray, shape (n, n)
        A new array.

    Examples
    --------
    >>> np.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=dtype, device=device)


def tri(N, M=None, k=0, dtype=float, *, device=None, like=None):
    """Ones on and below a diagonal, zeros above it.

    Parameters
    ----------
    N : int
        Rows.
    M : int, optional
        Columns; None means N.
    k : int, default 0
        The diagonal: above the main one where positive.
    dtype : dtype, default float
        Dtype of the result.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray, shape (N, M)
        A new array.

    Examples
    --------
    >>> np.tri(2, 3, dtype=int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    return _below(N, N if M is None else M, k, device).astype(dtype)


def _below(rows, columns, k, device):
    """Which elements of a matrix lie on or below a diagonal. Numbers with a fraction count as in NumPy's tri."""
    i, j = arange(rows, dtype="int64", device=device), arange(-k, columns - k, dtype="int64", device=device)
    return j[None, :] <= i[:, None]


def _triangle(m, k, upper):
    m = asarray(m)
    if m.ndim == 0:
        raise TypeError("tril, triu: an array of no axes has no triangle")
    below = _below(m.shape[-2 if m.ndim > 1 else -1], m.shape[-1], k - 1 if upper else k, m.device)
    zero = asarray(0, m.dtype, device=m.device)
    return where(below, zero, m) if upper else where(below, m, zero)


def tril(m, k=0):
    """Zeros above a diagonal.

    Parameters
    ----------
    m : array_like, shape (..., M, N)
        One matrix or several.
    k : int, default 0
        The last diagonal that is kept.

    Returns
    -------
    ndarray
        Of m's shape and dtype.

    Examples
    --------
    >>> np.tril([[1, 2], [3, 4]])
    array([[1, 0],
           [3, 4]])
    """
    return _triangle(m, k, False)


def triu(m, k=0):
    """Zeros below a diagonal.

    Parameters
    ----------
    m : array_like, shape (..., M, N)
        One matrix or several.
    k : int, default 0
        The first diagonal that is kept.

    Returns
    -------
    ndarray
        Of m's shape and dtype.

    Examples
    --------
    >>> np.triu([[1, 2], [3, 4]])
    array([[1, 2],
           [0, 4]])
    """
    return _triangle(m, k, True)
