"""Arrays in the shape of others: empty_like, zeros_like, ones_like, full_like."""

from ... import _core
from ..._core import asarray, ndarray


def _like(a, dtype, order, shape, device, value=None):
    a = a if isinstance(a, ndarray) else asarray(a, device=device)
    return _core._like(a, dtype, order, shape, device, value)


def empty_like(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An array of another one's shape and dtype, whose values are not set.

    Parameters
    ----------
    prototype : array_like
        Gives shape, dtype and device.
    dtype : dtype, optional
        Another dtype.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    subok : bool, default True
        Accepted for NumPy's signature; treadle has no subclasses of its array.
    shape : int or tuple of ints, optional
        Another shape.
    device : device or str, optional
        Where the array lies; None means prototype's device.

    Returns
    -------
    ndarray
        The values are what the memory held.

    Examples
    --------
    >>> np.empty_like([1, 2]).shape
    (2,)
    """
    return _like(prototype, dtype, order, shape, device)


def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Zeros in another array's shape and dtype.

    Parameters
    ----------
    a : array_like
        Gives shape, dtype and device.
    dtype : dtype, optional
        Another dtype.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    subok : bool, default True
        Accepted for NumPy's signature; treadle has no subclasses of its array.
    shape : int or tuple of ints, optional
        Another shape.
    device : device or str, optional
        Where the array lies; None means a's device.

    Returns
    -------
    ndarray
        All elements are 0.

    Examples
    --------
    >>> np.zeros_like([1, 2])
    array([0, 0])
    """
    return _like(a, dtype, order, shape, device, 0)


def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Ones in another array's shape and dtype.

    Parameters
    ----------
    a : array_like
        Gives shape, dtype and device.
    dtype : dtype, optional
        Another dtype.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    subok : bool, default True
        Accepted for NumPy's signature; treadle has no subclasses of its array.
    shape : int or tuple of ints, optional
        Another shape.
    device : device or str, optional
        Where the array lies; None means a's device.

    Returns
    -------
    ndarray
        All elements are 1.

    Examples
    --------
    >>> np.ones_like([1, 2])
    array([1, 1])
    """
    return _like(a, dtype, order, shape, device, 1)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """One value in another array's shape and dtype.

    Parameters
    ----------
    a : array_like
        Gives shape, dtype and device.
    fill_value : array_like
        The value; an array broadcasts to the shape.
    dtype : dtype, optional
        Another dtype.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    subok : bool, default True
        Accepted for NumPy's signature; treadle has no subclasses of its array.
    shape : int or tuple of ints, optional
        Another shape.
    device : device or str, optional
        Where the array lies; None means a's device.

    Returns
    -------
    ndarray
        fill_value, cast to the dtype.

    Examples
    --------
    >>> np.full_like([1, 2], 7)
    array([7, 7])
    """
    r = _like(a, dtype, order, shape, device)
    _core._fill_cast(r, fill_value)
    return r
