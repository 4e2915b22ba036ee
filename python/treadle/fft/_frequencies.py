"""The frequencies of a transform's numbers, and the order of them in which 0 stands in the middle."""

import numpy

from .._core import arange, asarray
from .._numpy._join import concatenate
from .._numpy._repeat import roll
from ._arguments import _whole


def fftfreq(n, d=1.0, dtype=None, device=None):
    """The frequencies of fft's results: from 0 up, then the negative ones.

    Parameters
    ----------
    n : int
        How many results.
    d : float, default 1.0
        The distance of samples.
    dtype : dtype, optional
        Dtype of the result; None means float64.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.

    Returns
    -------
    ndarray, shape (n,)
        In cycles per unit of d.

    Examples
    --------
    >>> np.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    n = _whole(n)
    if n < 0:
        raise ValueError("negative dimensions are not allowed")
    k = concatenate([arange((n - 1) // 2 + 1, device=device), arange(-(n // 2), 0, device=device)])
    return _scaled(k, n * d, dtype)


def _scaled(k, width, dtype):
    r = k * (1.0 / width)
    return r if dtype is None else r.astype(dtype, copy=False)


def rfftfreq(n, d=1.0, dtype=None, device=None):
    """The frequencies of rfft's results.

    Parameters
    ----------
    n : int
        How many samples.
    d : float, default 1.0
        The distance of samples.
    dtype : dtype, optional
        Dtype of the result; None means float64.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.

    Returns
    -------
    ndarray, shape (n // 2 + 1,)
        In cycles per unit of d.

    Examples
    --------
    >>> np.fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ])
    """
    n = _whole(n)
    return _scaled(arange(n // 2 + 1, device=device), n * d, dtype)


def _shift(x, axes, places):
    x = asarray(x)
    if axes is None:
        axes = tuple(range(x.ndim))
    elif isinstance(axes, (int, numpy.integer)):
        return roll(x, places(x.shape[axes]), int(axes))
    return roll(x, tuple(places(x.shape[k]) for k in axes), tuple(axes))


def fftshift(x, axes=None):
    """Move the frequency 0 into the middle of each axis.

    Parameters
    ----------
    x : array_like
        A transform.
    axes : int or tuple of ints, optional
        The axes; None means all.

    Returns
    -------
    ndarray
        Of x's shape and dtype.

    Examples
    --------
    >>> np.fft.fftshift([0, 1, -2, -1])
    array([-2, -1,  0,  1])
    """
    return _shift(x, axes, lambda n: n // 2)


def ifftshift(x, axes=None):
    """The inverse of fftshift.

    Parameters
    ----------
    x : array_like
        What fftshift gave.
    axes : int or tuple of ints, optional
        The axes; None means all.

    Returns
    -------
    ndarray
        Of x's shape and dtype.

    Examples
    --------
    >>> np.fft.ifftshift([-2, -1, 0, 1])
    array([ 0,  1, -2, -1])
    """
    return _shift(x, axes, lambda n: -(n // 2))
