"""Views of parts of an array, one after another along an axis."""

from .._core import asarray
from ._shape import _axis, _cut


def _is_count(indices_or_sections):
    """Whether a number of parts is meant, and not their places: what has no length, as for NumPy."""
    try:
        len(indices_or_sections)
    except TypeError:
        return True
    return False


def array_split(ary, indices_or_sections, axis=0):
    """Views of an array cut along an axis, into parts whose extents may differ by one.

    Parameters
    ----------
    ary : ndarray
        The array.
    indices_or_sections : int or sequence of ints
        How many parts, or where each part but the first begins.
    axis : int, default 0
        The axis to cut along.

    Returns
    -------
    list of ndarrays
        Views.

    Raises
    ------
    ValueError
        The number of parts is not positive.

    Examples
    --------
    >>> np.array_split(np.arange(3), 2)
    [array([0, 1]), array([2])]
    """
    a = asarray(ary)
    axis = _axis(axis, a.ndim, "array_split")
    n = a.shape[axis]
    if _is_count(indices_or_sections):
        count = int(indices_or_sections)
        if count <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, more = divmod(n, count)
        ends = [each * (k + 1) + min(k + 1, more) for k in range(count - 1)]
    else:
        ends = list(indices_or_sections)
    return [a[_cut(a.ndim, axis, slice(lo, hi))] for lo, hi in zip([0, *ends], [*ends, n], strict=True)]


def split(ary, indices_or_sections, axis=0):
    """Views of an array cut along an axis: into equal parts, or at given places.

    Parameters
    ----------
    ary : ndarray
        The array.
    indices_or_sections : int or sequence of ints
        How many parts, or where each part but the first begins.
    axis : int, default 0
        The axis to cut along.

    Returns
    -------
    list of ndarrays
        Views.

    Raises
    ------
    ValueError
        The axis cannot be cut into that many equal parts.

    Examples
    --------
    >>> np.split(np.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    """
    a = asarray(ary)
    if _is_count(indices_or_sections) and a.shape[_axis(axis, a.ndim, "split")] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(a, indices_or_sections, axis)


def _at_least(a, n, name):
    a = asarray(a)
    if a.ndim < n:
        raise ValueError(f"{name} only works on arrays of {n} or more dimensions")
    return a


def hsplit(ary, indices_or_sections):
    """Views of an array cut along its columns; of a vector along its only axis.

    Parameters
    ----------
    ary : ndarray
        The array.
    indices_or_sections : int or sequence of ints
        As for split.

    Returns
    -------
    list of ndarrays
        Views.

    Examples
    --------
    >>> np.hsplit(np.arange(4).reshape(2, 2), 2)[0]
    array([[0],
           [2]])
    """
    ary = _at_least(ary, 1, "hsplit")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    """Views of an array cut along its rows.

    Parameters
    ----------
    ary : ndarray
        The array; two axes at least.
    indices_or_sections : int or sequence of ints
        As for split.

    Returns
    -------
    list of ndarrays
        Views.

    Raises
    ------
    ValueError
        ary has fewer than two axes.

    Examples
    --------
    >>> np.vsplit(np.arange(4).reshape(2, 2), 2)[0]
    array([[0, 1]])
    """
    return split(_at_least(ary, 2, "vsplit"), indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Views of an array cut along its third axis.

    Parameters
    ----------
    ary : ndarray
        The array; three axes at least.
    indices_or_sections : int or sequence of ints
        As for split.

    Returns
    -------
    list of ndarrays
        Views.

    Raises
    ------
    ValueError
        ary has fewer than three axes.

    Examples
    --------
    >>> np.dsplit(np.zeros((1, 1, 4)), 2)[0].shape
    (1, 1, 2)
    """
    return split(_at_least(ary, 3, "dsplit"), indices_or_sections, 2)
