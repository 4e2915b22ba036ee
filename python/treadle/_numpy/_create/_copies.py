"""Arrays made of other objects, with the memory that a program asks for."""

from ... import _core
from ..._core import asarray


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """As asarray: treadle has no subclasses of its array.

    Parameters
    ----------
    a : array_like
        The numbers.
    dtype : dtype, optional
        Dtype of the result; None keeps a's.
    order : {'C', 'F', 'A', 'K'}, optional
        Order of the elements in memory.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.
    copy : bool, optional
        True: always copy; False: never; None: where it is needed.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray
        a itself where nothing changes.

    Raises
    ------
    ValueError
        copy=False and a copy is needed.

    Examples
    --------
    >>> np.asanyarray([1, 2])
    array([1, 2])
    """
    return asarray(a, dtype, order, device=device, copy=copy)


def ascontiguousarray(a, dtype=None, *, like=None):
    """The array itself where its elements lie in C order, else a copy.

    Parameters
    ----------
    a : array_like
        The numbers.
    dtype : dtype, optional
        Dtype of the result; None keeps a's.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray
        Of one axis at least.

    Examples
    --------
    >>> np.ascontiguousarray(np.ones((2, 3)).T).flags.c_contiguous
    True
    """
    a = asarray(a, dtype)
    a = a.reshape(1) if a.ndim == 0 else a
    return a if a.flags.c_contiguous else a.copy()


def asfortranarray(a, dtype=None, *, like=None):
    """The array itself where its elements lie in Fortran's order, else a copy.

    Parameters
    ----------
    a : array_like
        The numbers.
    dtype : dtype, optional
        Dtype of the result; None keeps a's.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray
        Of one axis at least.

    Examples
    --------
    >>> np.asfortranarray([[1, 2], [3, 4]]).flags.f_contiguous
    True
    """
    a = asarray(a, dtype)
    return asarray(a.reshape(1) if a.ndim == 0 else a, order="F")


def isfortran(a):
    """Whether the elements lie in Fortran's order, and not in C's as well.

    Parameters
    ----------
    a : ndarray
        The array.

    Returns
    -------
    bool
        False for vectors, which lie in both orders.

    Examples
    --------
    >>> np.isfortran(np.ones((2, 3)).T)
    True
    """
    flags = asarray(a).flags
    return flags.f_contiguous and not flags.c_contiguous


def asarray_chkfinite(a, dtype=None, order=None):
    """As asarray, after a check that all elements are finite; they are evaluated for it.

    Parameters
    ----------
    a : array_like
        The numbers.
    dtype : dtype, optional
        Dtype of the result; None keeps a's.
    order : {'C', 'F', 'A', 'K'}, optional
        Order of the elements in memory.

    Returns
    -------
    ndarray
        a itself where nothing changes.

    Raises
    ------
    ValueError
        An element is NaN or infinite.

    Examples
    --------
    >>> np.asarray_chkfinite([1.0, 2.0])
    array([1., 2.])
    """
    a = asarray(a, dtype, order)
    if a.dtype.kind in "fcV" and not bool(_core.ufuncs()["isfinite"](a).all()):
        raise ValueError("array must not contain infs or NaNs")
    return a


def require(a, dtype=None, requirements=None, *, like=None):
    """An array with the dtype and flags that are asked for.

    Parameters
    ----------
    a : array_like
        The numbers.
    dtype : dtype, optional
        Dtype of the result; None keeps a's.
    requirements : str or list of str, optional
        "C", "F", "A", "W", "O" or "E", by numpy.require's names.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray
        a itself if it has them, else a copy.

    Raises
    ------
    ValueError
        "C" and "F" are both asked for.

    Examples
    --------
    >>> np.require([1, 2], dtype=float, requirements=["C"])
    array([1., 2.])
    """
    names = {"A": "aligned", "C": "c", "F": "f", "O": "owndata", "W": "writeable", "E": "e"}
    names |= {"C_CONTIGUOUS": "c", "F_CONTIGUOUS": "f", "CONTIGUOUS": "c", "FORTRAN": "f", "ENSUREARRAY": "e"}
    names |= {full: full.lower() for full in ("ALIGNED", "OWNDATA", "WRITEABLE")}
    wanted = {names[x.upper()] for x in requirements or ()}
    if wanted >= {"c", "f"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "F" if "f" in wanted else "C" if "c" in wanted else None
    a = asarray(a, dtype, order)
    missing = [x for x in wanted - {"c", "f", "e"} if not getattr(a.flags, x)]
    return a.copy(order or "K") if missing else a


def copy(a, order="K", subok=False):
    """A copy with memory of its own.

    Parameters
    ----------
    a : array_like
        The numbers.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    subok : bool, default False
        Accepted for NumPy's signature; treadle has no subclasses of its array.

    Returns
    -------
    ndarray
        Of a's shape and dtype.

    Examples
    --------
    >>> np.copy([1, 2])
    array([1, 2])
    """
    return _core.array(a, order=order)
