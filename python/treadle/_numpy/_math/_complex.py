"""The parts of complex numbers, and whether there is an imaginary part."""

import numpy

from ... import _core
from ..._core import asarray
from .._spelled import kind_of
from ._questions import described

_UFUNC = _core.ufuncs()
_abs = _UFUNC["absolute"]


def real_if_close(a, tol=100):
    """The real part where all imaginary parts are small.

    Parameters
    ----------
    a : array_like
        The numbers.
    tol : float, default 100
        In units of the dtype's epsilon; 1 and less are a bound of their own.

    Returns
    -------
    ndarray
        Real, or a itself; the value decides and is computed at once.

    Examples
    --------
    >>> np.real_if_close([1 + 1e-15j])
    array([1.])
    """
    a = asarray(a)
    if kind_of(a) != "c":
        return a
    bound = numpy.finfo(a.dtype).eps * tol if tol > 1 else tol
    return a.real if bool((_abs(a.imag) < bound).all()) else a


def real(val):
    """The real part: a view of a complex array, a real one itself.

    Parameters
    ----------
    val : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of val's shape; real.

    Examples
    --------
    >>> np.real([1 + 2j])
    array([1.])
    """
    return asarray(val).real


def imag(val):
    """The imaginary part: a view of a complex array, zeros for a real one.

    Parameters
    ----------
    val : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of val's shape; real.

    Examples
    --------
    >>> np.imag([1 + 2j])
    array([2.])
    """
    return asarray(val).imag


def angle(z, deg=False):
    """The argument of complex numbers.

    Parameters
    ----------
    z : array_like
        Real or complex numbers.
    deg : bool, default False
        In degrees, in place of radians.

    Returns
    -------
    ndarray
        Of z's shape, from -pi to pi; real floats.

    Examples
    --------
    >>> np.angle([1.0, 1j])
    array([0.        , 1.57079633])
    """
    z = asarray(z)
    r = _UFUNC["angle"](z.astype("int64") if kind_of(z) == "b" else z)
    return _UFUNC["degrees"](r) if deg else r


def isreal(x):
    """Whether the imaginary part is zero, element by element.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray of bool
        Of x's shape.

    Examples
    --------
    >>> np.isreal([1 + 1j, 1])
    array([False,  True])
    """
    return imag(x) == 0


def iscomplex(x):
    """Whether the imaginary part is other than zero, element by element.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray of bool
        Of x's shape.

    Examples
    --------
    >>> np.iscomplex([1 + 1j, 1])
    array([ True, False])
    """
    return imag(x) != 0


def iscomplexobj(x):
    """Whether the dtype is complex.

    Parameters
    ----------
    x : array_like
        The array.

    Returns
    -------
    bool
        No value is computed.

    Examples
    --------
    >>> np.iscomplexobj([1j])
    True
    """
    return described(x).dtype.kind == "c"


def isrealobj(x):
    """Whether the dtype is not complex.

    Parameters
    ----------
    x : array_like
        The array.

    Returns
    -------
    bool
        No value is computed.

    Examples
    --------
    >>> np.isrealobj([1.0])
    True
    """
    return not iscomplexobj(x)
