"""What an object is: its shape, its size, whether it is a number. Nothing is computed."""

import math

import numpy

from ..._core import asarray, ndarray


def common_type(*arrays):
    """The float type that holds what the arrays hold.

    Parameters
    ----------
    *arrays : ndarray
        The arrays.

    Returns
    -------
    type
        A class of NumPy's: numpy.float64, numpy.complex64 and so on.

    Raises
    ------
    TypeError
        An array holds bools.

    Examples
    --------
    >>> np.common_type(np.ones(1, np.float32)).__name__
    'float32'
    """
    return numpy.common_type(*(numpy.empty(0, a.dtype) for a in arrays))


def isscalar(element):
    """Whether an object is a number, and not an array.

    Parameters
    ----------
    element : object
        Any object.

    Returns
    -------
    bool
        As numpy.isscalar: True for an element and for a sum, which are arrays without axes here and scalars in NumPy;
        False for an array without axes that asarray, zeros, … have made.

    Examples
    --------
    >>> np.isscalar(3.0)
    True
    """
    return element._is_number() if isinstance(element, ndarray) else numpy.isscalar(element)


def described(a):
    """The array whose extents and dtype NumPy tells of a: ours, or NumPy's where a holds no numbers."""
    try:
        return asarray(a)
    except TypeError:
        return numpy.asarray(a)


def ndim(a):
    """The number of axes.

    Parameters
    ----------
    a : array_like
        The array.

    Returns
    -------
    int
        No value is computed.

    Examples
    --------
    >>> np.ndim([[1, 2]])
    2
    """
    return described(a).ndim


def shape(a):
    """The extents.

    Parameters
    ----------
    a : array_like
        The array.

    Returns
    -------
    tuple of ints
        No value is computed.

    Examples
    --------
    >>> np.shape([[1, 2]])
    (1, 2)
    """
    return described(a).shape


def size(a, axis=None):
    """The number of elements, or the extent along axes.

    Parameters
    ----------
    a : array_like
        The array.
    axis : int or tuple of ints, optional
        Axes to work along; None means all of them.

    Returns
    -------
    int
        No value is computed.

    Raises
    ------
    AxisError
        a has no such axis.

    Examples
    --------
    >>> np.size([[1, 2]], 1)
    2
    """
    a = described(a)
    if axis is None:
        return a.size
    from .._shape import _axes

    return math.prod(a.shape[k] for k in _axes(axis, a.ndim, "size"))
