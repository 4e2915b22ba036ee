"""Functions whose result is complex where a real argument has no real one: sqrt(-1) is 1j. As numpy.emath."""

from . import _core
from ._core import asarray, ndarray
from ._numpy._spelled import kind_of
from ._public import dir_of as _dir_of

_UFUNC = _core.ufuncs()
_SINGLE = ("float16", "float32", "int8", "uint8", "int16", "uint16")

__all__ = ["arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt"]


def _where(x, outside):
    """x as the function takes it: complex where any element lies outside of its real domain. That looks at values."""
    x = x if isinstance(x, ndarray) else asarray(x)
    if kind_of(x) == "c" or not bool(outside(x).any()):
        return x
    return x.astype("complex64" if x.dtype in _SINGLE else "complex128")


def _negative(x):
    return x < 0


def _beyond_one(x):
    return _UFUNC["absolute"](x) > 1


def sqrt(x):
    """The square root, imaginary where x is negative.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of x's shape; the values decide whether it is complex, and are computed at once.

    Examples
    --------
    >>> np.emath.sqrt([-4.0])
    array([0.+2.j])
    """
    return _UFUNC["sqrt"](_where(x, _negative))


def log(x):
    """The natural logarithm, complex where x is negative.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of x's shape; the values decide whether it is complex, and are computed at once.

    Examples
    --------
    >>> np.emath.log([-1.0])
    array([0.+3.14159265j])
    """
    return _UFUNC["log"](_where(x, _negative))


def log10(x):
    """The logarithm to base 10, complex where x is negative.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of x's shape; the values decide whether it is complex, and are computed at once.

    Examples
    --------
    >>> np.emath.log10([100.0])
    array([2.])
    """
    return _UFUNC["log10"](_where(x, _negative))


def log2(x):
    """The logarithm to base 2, complex where x is negative.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of x's shape; the values decide whether it is complex, and are computed at once.

    Examples
    --------
    >>> np.emath.log2([8.0])
    array([3.])
    """
    return _UFUNC["log2"](_where(x, _negative))


def logn(n, x):
    """The logarithm to base n, complex where x is negative.

    Parameters
    ----------
    n : array_like
        The bases.
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of the broadcast shape; the values decide whether it is complex, and are computed at once.

    Examples
    --------
    >>> np.emath.logn(2.0, [8.0])
    array([3.])
    """
    return log(x) / log(n)


def power(x, p):
    """x to the power p: floats for negative integers p, complex numbers for negative x.

    Parameters
    ----------
    x : array_like
        The bases.
    p : array_like
        The exponents.

    Returns
    -------
    ndarray
        Of the broadcast shape; the values decide its dtype, and are computed at once.

    Examples
    --------
    >>> np.emath.power([2, 4], -1)
    array([0.5 , 0.25])
    """
    x, p = _where(x, _negative), p if isinstance(p, ndarray) else asarray(p)
    if kind_of(p) in "iu" and bool((p < 0).any()):
        p = p * 1.0
    return _UFUNC["power"](x, p)


def arccos(x):
    """The inverse cosine, complex where x lies outside of -1 to 1.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of x's shape; the values decide whether it is complex, and are computed at once.

    Examples
    --------
    >>> np.emath.arccos([1.0])
    array([0.])
    """
    return _UFUNC["arccos"](_where(x, _beyond_one))


def arcsin(x):
    """The inverse sine, complex where x lies outside of -1 to 1.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of x's shape; the values decide whether it is complex, and are computed at once.

    Examples
    --------
    >>> np.emath.arcsin([0.0])
    array([0.])
    """
    return _UFUNC["arcsin"](_where(x, _beyond_one))


def arctanh(x):
    """The inverse hyperbolic tangent, complex where x lies outside of -1 to 1.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        Of x's shape; the values decide whether it is complex, and are computed at once.

    Examples
    --------
    >>> np.emath.arctanh([0.0])
    array([0.])
    """
    return _UFUNC["arctanh"](_where(x, _beyond_one))


__dir__ = _dir_of(__name__)
