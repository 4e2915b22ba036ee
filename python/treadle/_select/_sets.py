"""Distinct elements and operations on sets, by sorting, comparing neighbours and searching on the arrays' device."""

import operator
from typing import NamedTuple

import numpy

from .. import _core
from .._core import asarray, empty, ndarray, zeros
from .._exchange._host import few
from .._numpy._join import concatenate
from .._numpy._shape import _axis, moveaxis
from ._pick import gather, scatter
from ._searching import searchsorted
from ._sorting import (
    _along_last,
    _by_keys,
    _complex_keys,
    _host_sorted,
    _is_half,
    _library,
    _narrow,
    _on_device,
    _own,
    _wide,
    argsort,
    sort,
)

_UFUNC = _core.ufuncs()


# ---- distinct elements ----


@few(numpy.unique, 1)
def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    """The sorted distinct elements.

    What is asked for comes in the order of the parameters. N must be known, so the array is evaluated at once.

    Parameters
    ----------
    ar : array_like
        The elements; with an axis its slices.
    return_index : bool, default False
        Return their first places in the flattened array, or along the axis.
    return_inverse : bool, default False
        Return ar's elements as places in the result, of ar's shape, or with an axis as a vector.
    return_counts : bool, default False
        Return how often each occurs.
    axis : int, optional
        Axis to work along; None works on the flattened array.
    equal_nan : bool, default True
        Every NaN counts as one element.
    sorted : bool, default True
        Accepted; the result is sorted always.

    Returns
    -------
    ndarray, shape (N,), or tuple
        The elements, and as asked ndarrays of int64.

    Raises
    ------
    AxisError
        ar has no such axis.

    Examples
    --------
    >>> np.unique([3, 1, 3], return_counts=True)
    (array([1, 3]), array([1, 2]))
    """
    a = _own(ar)
    asked = (return_index, return_inverse, return_counts)
    if axis is not None:
        axis = _axis(operator.index(axis), a.ndim, "unique")
    if axis is None or a.ndim == 1:
        done = _flat(a, asked, equal_nan) if a.size else None
    else:
        done = _slices(a, asked, axis) if a.size and not a.device.host else None
    if done is None:
        r = _library("unique", _wide(a), *asked, axis, equal_nan=equal_nan)
        return (_narrow(r[0], a), *r[1:]) if type(r) is tuple else _narrow(r, a)
    return done if any(asked) else done[0]


def _flat(a, asked, equal_nan):
    """unique() of the flat array: sort, and keep the first element of each run of equal ones. None where NumPy must do
    it."""
    shape, a, ordered = a.shape, a.ravel(), asked[0] or asked[1]
    done = _on_device(a, 0, True, ordered)
    if done is None and a.device.host and (a.dtype.kind in "biuf" or _is_half(a)):
        # NumPy's sort with kernels of ours is several times faster than its unique.
        at = argsort(a, stable=asked[0]) if ordered else None
        done = (_host_sorted(a, 0, None) if at is None else gather(a, at)), at
    if done is None:
        return None
    values, at = done
    new = values[1:] != values[:-1]
    if equal_nan and a.dtype.kind in "fcV":
        lost = _UFUNC["isnan"](values)
        new = new & ~(lost[1:] & lost[:-1])
    first = _first(new, values)
    return (_core._select(values, first), *_more(shape, at, first, asked))


def _first(new, a):
    first = empty(a.shape[:1], dtype="bool", device=a.device)
    first[:1] = True
    first[1:] = new
    return first


def _slices(a, asked, axis):
    """unique() of slices along an axis: sort the rows by their columns, the last column first, stably. None as above.
    """
    rows = moveaxis(a, axis, 0)
    shape = rows.shape
    flat = rows.reshape((shape[0], -1))
    columns = [flat[:, k] for k in reversed(range(flat.shape[1]))]
    at = _by_keys([key for c in columns for key in (_complex_keys(c) if a.dtype.kind == "c" else [c])])
    if at is None:
        return None
    ranked = gather(flat, at)
    first = _first((ranked[1:] != ranked[:-1]).any(1), flat)
    chosen = gather(ranked, _core._select(None, first))
    return (moveaxis(chosen.reshape((-1, *shape[1:])), 0, axis), *_more(shape[:1], at, first, asked))


def _more(shape, at, first, asked):
    """The further results of unique. at has the original indices of the sorted elements, first marks the start of each
    run."""
    want_index, want_inverse, want_counts = asked
    starts = _core._select(None, first) if want_index or want_counts else None
    if want_index:
        yield gather(at, starts)
    if want_inverse:
        inverse = empty(at.shape, dtype="int64", device=at.device)
        scatter(inverse, at, _core._cumsum(first, 0, None) - 1)
        yield inverse.reshape(shape)
    if want_counts:
        ends = empty(starts.shape, dtype="int64", device=first.device)
        ends[:-1] = starts[1:]
        ends[-1:] = first.shape[0]
        yield ends - starts


class UniqueAllResult(NamedTuple):
    """The result of unique_all."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    """The result of unique_counts."""

    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    """The result of unique_inverse."""

    values: ndarray
    inverse_indices: ndarray


def unique_all(x):
    """The distinct elements, their first places, the elements as places, and counts.

    Parameters
    ----------
    x : array_like
        The elements; every NaN is distinct.

    Returns
    -------
    namedtuple of ndarrays: values, indices, inverse_indices, counts
        values are sorted; the others are int64.

    Examples
    --------
    >>> np.unique_all([3, 1, 3]).inverse_indices
    array([1, 0, 1])
    """
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x):
    """The distinct elements and how often each occurs.

    Parameters
    ----------
    x : array_like
        The elements; every NaN is distinct.

    Returns
    -------
    namedtuple of ndarrays: values, counts
        values are sorted; counts are int64.

    Examples
    --------
    >>> np.unique_counts([3, 1, 3]).counts
    array([1, 2])
    """
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x):
    """The distinct elements, and the elements as places among them.

    Parameters
    ----------
    x : array_like
        The elements; every NaN is distinct.

    Returns
    -------
    namedtuple of ndarrays: values, inverse_indices
        values are sorted; the places have x's shape.

    Examples
    --------
    >>> np.unique_inverse([3, 1, 3]).inverse_indices
    array([1, 0, 1])
    """
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x):
    """The distinct elements.

    Parameters
    ----------
    x : array_like
        The elements; every NaN is distinct.

    Returns
    -------
    ndarray, shape (N,)
        Sorted.

    Examples
    --------
    >>> np.unique_values([3, 1, 3])
    array([1, 3])
    """
    return unique(x, equal_nan=False)


# ---- two sets ----


def _two(name, ar1, ar2):
    return (a.ravel() for a in _core._beside(name, ar1, ar2))


@few(numpy.intersect1d, 1)
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The sorted distinct elements that are in both arrays.

    Parameters
    ----------
    ar1, ar2 : array_like
        They are flattened.
    assume_unique : bool, default False
        Neither array holds an element twice, which is quicker.
    return_indices : bool, default False
        Return their first places in each array too.

    Returns
    -------
    ndarray, shape (N,), or tuple of three
        The elements, and as asked the places in ar1 and ar2.

    Examples
    --------
    >>> np.intersect1d([1, 2, 3], [3, 1, 4])
    array([1, 3])
    """
    a, b = _two("intersect1d", ar1, ar2)
    at = [None, None]
    if not assume_unique and return_indices:
        (a, at[0]), (b, at[1]) = (unique(x, return_index=True) for x in (a, b))
    elif not assume_unique:
        a, b = unique(a), unique(b)
    both = concatenate((a, b))
    order = argsort(both, kind="stable") if return_indices else None
    both = sort(both) if order is None else _along_last(both, order)
    twice = both[1:] == both[:-1]
    values = _core._select(both[:-1], twice)
    if order is None:
        return values
    places = _core._select(order[:-1], twice), _core._select(order[1:], twice) - a.size
    return (values, *(p if i is None else gather(i, p) for i, p in zip(at, places, strict=True)))


@few(numpy.union1d, 1)
def union1d(ar1, ar2):
    """The sorted distinct elements of two arrays.

    Parameters
    ----------
    ar1, ar2 : array_like
        They are flattened.

    Returns
    -------
    ndarray, shape (N,)
        Of the dtype that they promote to.

    Examples
    --------
    >>> np.union1d([1, 2], [2, 3])
    array([1, 2, 3])
    """
    return unique(concatenate(list(_two("union1d", ar1, ar2))))


@few(numpy.setdiff1d, 1)
def setdiff1d(ar1, ar2, assume_unique=False):
    """The elements of one array that are not in another.

    Parameters
    ----------
    ar1, ar2 : array_like
        They are flattened.
    assume_unique : bool, default False
        Leave ar1's elements as they stand, neither sorted nor distinct.

    Returns
    -------
    ndarray, shape (N,)
        Sorted and distinct.

    Examples
    --------
    >>> np.setdiff1d([1, 2, 3], [2])
    array([1, 3])
    """
    a, b = _two("setdiff1d", ar1, ar2)
    a = a if assume_unique else unique(a)
    return _core._select(a, isin(a, b, invert=True))


@few(numpy.setxor1d, 1)
def setxor1d(ar1, ar2, assume_unique=False):
    """The sorted distinct elements that are in one of two arrays only.

    Parameters
    ----------
    ar1, ar2 : array_like
        They are flattened.
    assume_unique : bool, default False
        Neither array holds an element twice, which is quicker.

    Returns
    -------
    ndarray, shape (N,)
        Of the dtype that they promote to.

    Examples
    --------
    >>> np.setxor1d([1, 2], [2, 3])
    array([1, 3])
    """
    a, b = _two("setxor1d", ar1, ar2)
    both = concatenate((a, b) if assume_unique else (unique(a), unique(b)))
    if both.size == 0:
        return both
    both = sort(both)
    new = both[1:] != both[:-1]
    last = empty(both.shape, dtype="bool", device=both.device)
    last[-1:] = True
    last[:-1] = new
    return _core._select(both, _first(new, both) & last)


FEW = 16  # elements up to which comparing each is faster than sorting


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Whether each element is among others.

    Parameters
    ----------
    element : array_like
        The elements.
    test_elements : array_like
        The others.
    assume_unique : bool, default False
        Accepted for NumPy's signature; the result is the same.
    invert : bool, default False
        Whether it is not among them.
    kind : {None, "sort", "table"}, optional
        "sort" and None search in the sorted others; "table", for integers, marks them in a table over their range,
        which is quicker where the range is small.

    Returns
    -------
    ndarray of bool
        Of element's shape.

    Raises
    ------
    ValueError
        kind is another word, or "table" and an array holds no integers.

    Examples
    --------
    >>> np.isin([1, 2, 3], [3, 1])
    array([ True, False,  True])
    """
    a, tests = _core._beside("isin", element, test_elements)
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    tests = tests.ravel()
    if kind == "table" and (a.dtype.kind not in "biu" or tests.dtype.kind not in "biu"):
        raise ValueError(
            "The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind."
        )
    found = None
    if kind == "table" or kind is None and tests.size > FEW and a.dtype.kind in "biu" and tests.dtype.kind in "biu":
        found = _in_table(a, tests, kind == "table")
    if found is not None:
        pass
    elif tests.size <= FEW:
        found = (a.reshape((*a.shape, 1)) == tests).any(-1)
    else:
        dt = numpy.result_type(a.dtype, tests.dtype)
        ranked, values = sort(tests.astype(dt)), a.astype(dt)
        at = _UFUNC["minimum"](searchsorted(ranked, values), tests.size - 1)
        found = gather(ranked, at) == values
    return ~found if invert else found


TABLE = 6  # table entries per element up to which kind=None uses a table


def _in_table(a, tests, asked):
    """isin() by a table of marks for all numbers from the least to the greatest of tests. None where it would be too
    large."""
    if tests.size == 0:
        return asarray(False, device=a.device) & (a == a)
    a, tests = (x.astype("uint8") if x.dtype.kind == "b" else x for x in (a, tests))
    low, high = int(tests.min()), int(tests.max())
    if high - low > (numpy.iinfo(tests.dtype).max if asked else min(TABLE * (a.size + tests.size), 2**62)):
        if asked:
            raise RuntimeError(
                "You have specified kind='table', but the range of values in `ar2` or `ar1` exceed the maximum integer "
                "of the datatype. Please set `kind` to None or 'sort'."
            )
        return None
    table = zeros(high - low + 1, dtype="bool", device=a.device)
    table[_above(tests, low)] = True
    inside = (a >= low) & (a <= high)
    return inside & gather(table, _UFUNC["select"](inside, _above(a, low), 0))


def _above(a, low):
    """a - low as int64, correct for elements that are not below low and at most 2**63 above."""
    return a.astype("int64") - (low if low < 2**63 else low - 2**64)
