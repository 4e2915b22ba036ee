"""Cumulative operations and sorting.

Cumulative operations run as kernels of treadle's on every device. On a GPU CUB sorts, and what follows from the sorted
array stays there. On a CPU NumPy sorts the memory itself. If a build has no code for sorting on a device, the arrays
go by way of the host, which counts as a fallback.
"""

import numpy

from .. import _core, _old_numpy
from .._core import arange, asarray, asnumpy, empty
from .._exchange import _host
from .._exchange._host import few
from .._exchange._interrupt import interruptible
from .._exchange._place import on
from .._exchange._place import own as _own
from .._exchange._rows import by_rows
from ._pick import Pick, scatter

_UFUNC = _core.ufuncs()
_select = _UFUNC["select"]


def _along(call, a, axis, dtype, out):
    a = _own(a)
    if a.ndim == 0:
        a = a.reshape(1)
    a, axis = _axis(call.__name__[1:], a, axis)
    r = call(a, axis, dtype)
    return r if out is None else _host.store(call.__name__[1:], out, r)


def cumsum(a, axis=None, dtype=None, out=None):
    """Sums of the elements up to each; floats are added in float64.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int, optional
        Axis to work along; None works on the flattened array.
    dtype : dtype, optional
        Dtype of the result; None widens small integers to int64.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Of a's shape.

    Raises
    ------
    AxisError
        a has no such axis.

    Examples
    --------
    >>> np.cumsum([1, 2, 3])
    array([1, 3, 6])
    """
    return _along(_core._cumsum, a, axis, dtype, out)


def cumprod(a, axis=None, dtype=None, out=None):
    """Products of the elements up to each.

    Parameters
    ----------
    a : array_like
        The numbers.
    axis : int, optional
        Axis to work along; None works on the flattened array.
    dtype : dtype, optional
        Dtype of the result; None widens small integers to int64.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Of a's shape.

    Raises
    ------
    AxisError
        a has no such axis.

    Examples
    --------
    >>> np.cumprod([1, 2, 3])
    array([1, 2, 6])
    """
    return _along(_core._cumprod, a, axis, dtype, out)


# ---- arguments ----


_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def _kind(name, kind, order, stable, descending=False):
    """NumPy's kind, from the arguments kind, order, stable and descending."""
    if order is not None:
        raise ValueError(f"{name}: order names fields, and there are none")
    if kind not in _KINDS:
        raise ValueError(f"{name}: kind is {kind!r}; it can be quicksort, mergesort, heapsort or stable")
    for word, given in (("stable", stable is not None), ("descending", descending)):
        if kind is not None and given:
            raise ValueError(f"{name}: kind and {word} cannot both be given")
    return "stable" if stable else kind


def _axis(name, a, axis):
    """(a, non-negative axis to sort along). With axis None it is the flat array and axis 0."""
    if axis is None:
        return a.ravel(), 0
    if not -a.ndim <= axis < a.ndim:
        raise _old_numpy.exceptions.AxisError(axis, a.ndim, name)
    return a, axis % a.ndim


def _to_last(a, axis):
    return a if axis == a.ndim - 1 else a.swapaxes(axis, -1)


def _is_half(a):
    return a.dtype.kind == "V" or a.dtype == numpy.float16


def _wide(a):
    """a in a dtype that NumPy sorts correctly: half types become float32.

    NumPy lacks bfloat16, and NumPy 2.4 misplaces float16 beside inf and NaN."""
    return a.astype("float32") if _is_half(a) else a


def _narrow(r, a):
    """A result for _wide(a), in a's dtype again."""
    return r.astype("bfloat16" if a.dtype.kind == "V" else a.dtype) if _is_half(r) or _is_half(a) else r


# ---- the device's sort ----

LIMIT = (1 << 32) - 1  # elements of one sort, whose indices have 32 bits


def _on_device(a, axis, values, index):
    """(a sorted along axis, the original indices), each if asked for. None where NumPy must sort."""
    if a.device.host:
        return None
    return _sorted(a, axis, values, index)


def _sorted(a, axis, values, index):
    r = _rows(_to_last(a, axis), values, index)
    return r and tuple(x if x is None else _to_last(x, axis) for x in r)


def _rows(a, values, index):
    """_on_device along the last axis."""
    here = a.device.host
    if a.dtype.kind == "c":
        return None if here else _complex(a, values, index)
    # the core sorts elements that are on the host in runs and merges these
    if here or a.size <= LIMIT or _core._on_host(a):
        call = interruptible(_core._sort, a.nbytes if here else 0)  # a GPU is waited for with an ear for signals
        return call(a, values, index)
    return _large(a, values, index)


def _library(name, a, *args, by=None, **kw):
    """Call NumPy's function of that name, or `by`.

    For arrays on a GPU it counts as a fallback, with the reason why the device cannot sort, unless there are no
    elements."""
    if a.size == 0 and not a.device.host:
        r = (by or getattr(numpy, name))(numpy.empty(a.shape, a.dtype), *args, **kw)
        return type(r)(on(a.device, x) for x in r) if type(r) is tuple else on(a.device, r)
    why = None if a.device.host else _core._sort_info(a.device)[1] or None
    f = interruptible(by or getattr(numpy, name), a.nbytes)
    return _host.library("numpy." + name, f, (a, *args), kw, why)


def _along_last(a, at):
    """a's elements along the last axis at indices that are known to be in range."""
    rows = [arange(n, device=a.device).reshape([n] + [1] * (a.ndim - 1 - k)) for k, n in enumerate(a.shape[:-1])]
    p = Pick(a, range(a.ndim), [*rows, at], 0, Pick.TRUSTED)
    return _core._pick(p.view, *p.rest)


def _by_keys(keys):
    """The indices that sort by several keys along the last axis, the most significant key last: a stable sort for
    each."""
    at = None
    for key in keys:
        done = _rows(key if at is None else _along_last(key, at), False, True)
        if done is None:
            return None
        at = done[1] if at is None else _along_last(at, done[1])
    return at


def _code(x):
    """float32 without NaN as integers of the same order. -0 becomes 0."""
    bits = _select(x == 0, numpy.float32(0), x).view("int32")
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).astype("int64")


def _complex_keys(a):
    """The sort keys of complex numbers, the most significant last: imaginary part, real part, and whether there are
    NaNs.

    NumPy puts a NaN in the imaginary part after all numbers, and a NaN in the real part after those."""
    re, im = _UFUNC["real"](a), _UFUNC["imag"](a)
    if not bool(_UFUNC["isnan"](a).any()):
        return [(_code(re) << 32) + _code(im)] if a.dtype == numpy.complex64 else [im, re]
    lost = _UFUNC["isnan"](im).astype("uint8") + _UFUNC["isnan"](re).astype("uint8") * 2
    return [im, re, lost]


def _complex(a, values, index):
    at = _by_keys(_complex_keys(a)) if a.size else arange(0, device=a.device).reshape(a.shape)
    if at is None:
        return None
    return _along_last(a, at) if values else None, at if index else None


def _large(a, values, index):
    """Sort more elements than one sort takes: rows in groups, and a row that is too long by merging its sorted halves.
    """
    n = a.shape[-1]
    flat = a.reshape((-1, n))
    out = [empty(flat.shape, d, device=a.device) if w else None for d, w in ((a.dtype, values), ("int64", index))]
    many = max(LIMIT // n, 1)
    for k in range(0, flat.shape[0], many):
        part = flat[k : k + many]
        done = _merged(part[0], index) if n > LIMIT else _core._sort(part, values, index)
        if done is None:
            return None
        for to, x in zip(out, done, strict=True):
            if to is not None:
                to[k : k + many] = x
    return tuple(x if x is None else x.reshape(a.shape) for x in out)


def _merged(a, index):
    """Merge the sorted halves of a vector.

    Each element's final index is its own index plus the number of elements of the other half that come before it."""
    cut = a.shape[0] // 2
    halves = [_rows(x, True, index) for x in (a[:cut], a[cut:])]
    if None in halves:
        return None
    (x, i), (y, j) = halves
    at = [arange(len(one), device=a.device) + _core._search(other, one, right)
          for one, other, right in ((x, y, False), (y, x, True))]  # fmt: skip
    pairs = [(a.dtype, x, y)] + ([("int64", i, j + cut)] if index else [])
    out = [empty(a.shape, dtype, device=a.device) for dtype, _, _ in pairs]
    for r, (_, one, other) in zip(out, pairs, strict=True):
        for places, v in zip(at, (one, other), strict=True):
            scatter(r, places, v)
    return (*out, None)[:2]


# ---- sorting ----


def _host_sorted(a, axis, kind):
    """A copy sorted by NumPy."""
    return _host_ordered("sort", a, axis, kind)


def _host_ordered(name, a, *args):
    """A copy that NumPy's method of that name has ordered in place, in the memory of the result."""
    if _is_half(a):
        return _narrow(_host_ordered(name, _wide(a), *args), a)
    if not a.device.host:
        return _library(name, a, *(args if name == "sort" else args[::-1]))
    given = _core._host_view(a)
    hosted = _core._on_host(a)  # then the result stays on the host too
    r = None if hosted else empty(a.shape, dtype=a.dtype, device=a.device)
    host = None if hosted else _core._host_view(r)

    def ordered():
        out = given.copy() if hosted else host
        if not hosted:
            numpy.copyto(out, given)
        getattr(out, name)(*(args if name == "sort" else args[::-1]))
        return out

    out = interruptible(ordered, a.nbytes)()
    return _core._from_host(out, a.device) if hosted else r


@few(numpy.sort, 4)
def sort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """A copy sorted along an axis.

    NaN stands at the end in both orders, and complex numbers are sorted by their real parts first.

    Parameters
    ----------
    a : array_like
        The elements.
    axis : int, default -1
        Axis to work along; None works on the flattened array.
    kind : {None, "quicksort", "mergesort", "heapsort", "stable"}, optional
        Which algorithm NumPy takes on a CPU; equal elements cannot be told apart.
    order : None, optional
        Accepted for NumPy's signature; treadle's arrays have no fields.
    stable : bool, optional
        Accepted; equal elements cannot be told apart.
    descending : bool, default False
        The largest first, and NaN last, as in NumPy 2.5.

    Returns
    -------
    ndarray
        Of a's shape and dtype.

    Raises
    ------
    ValueError
        kind is another word.
    AxisError
        a has no such axis.

    Examples
    --------
    >>> np.sort([3, 1, 2])
    array([1, 2, 3])
    """
    a = _own(a)  # before order is looked at, which is about the fields of records
    kind = _kind("sort", kind, order, stable, descending)
    a, axis = _axis("sort", a, axis)
    r = by_rows(lambda x: sort(x, axis, kind, descending=descending), a, (axis,))
    if r is not None:
        return r
    if descending:
        return _turned(sort(_turned(a), axis))
    done = _on_device(a, axis, True, False)
    return _host_sorted(a, axis, kind) if done is None else done[0]


@few(numpy.argsort, 4)
def argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """The indices that sort an array along an axis.

    -0.0 equals 0.0, every NaN equals all others and stands at the end, and complex numbers are sorted by their real
    parts first.

    Parameters
    ----------
    a : array_like
        The elements.
    axis : int, default -1
        Axis to work along; None works on the flattened array.
    kind : {None, "quicksort", "mergesort", "heapsort", "stable"}, optional
        None and "stable" keep equal elements in their order; the others allow a CPU not to.
    order : None, optional
        Accepted for NumPy's signature; treadle's arrays have no fields.
    stable : bool, optional
        False allows a CPU not to keep equal elements in their order.
    descending : bool, default False
        The largest first, and NaN last, as in NumPy 2.5.

    Returns
    -------
    ndarray of int64
        Of a's shape.

    Raises
    ------
    ValueError
        kind is another word.
    AxisError
        a has no such axis.

    Examples
    --------
    >>> np.argsort([3, 1, 2])
    array([1, 2, 0])
    """
    a = _own(a)
    kind = _kind("argsort", kind, order, stable, descending) or ("stable" if stable is None else None)
    a = _turned(a) if descending else a
    if a.ndim == 0:
        a = a.reshape(1)
    a, axis = _axis("argsort", a, axis)
    r = by_rows(lambda x: argsort(x, axis, kind), a, (axis,))
    if r is not None:
        return r
    done = _sorted(a, axis, False, True)
    return _library("argsort", _wide(a), axis, kind) if done is None else done[1]


def _turned(a):
    """Numbers in reversed order.

    Equal numbers stay equal and NaN stays NaN. So an ascending sort of the result keeps the order of equal elements,
    and puts NaN at the end."""
    return ~a if a.dtype.kind in "biu" else -a


def sort_in_place(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """The array itself, sorted along axis."""
    kind = _kind("sort", kind, order, stable, descending)
    if not a.flags.writeable:
        raise ValueError("sort: the array is read-only")
    if a.device.host and not _is_half(a) and not descending and _core._is_exclusive(a):
        _core._host_view(a).sort(_axis("sort", a, axis)[1], kind)
    else:
        a[...] = sort(a, axis, kind, descending=descending)


@few(numpy.sort_complex)
def sort_complex(a):
    """The flattened elements as complex numbers, sorted by their real parts first.

    Parameters
    ----------
    a : array_like
        The numbers.

    Returns
    -------
    ndarray, shape (N,)
        complex64 or complex128.

    Examples
    --------
    >>> np.sort_complex([2, 1 + 1j, 1])
    array([1.+0.j, 1.+1.j, 2.+0.j])
    """
    a = _own(a)
    small = a.dtype.kind in "iu" and a.dtype.itemsize <= 2
    return sort(a if a.dtype.kind == "c" else a.astype("complex64" if small else "complex128"))


# ---- the first of many ----


def _places(name, kth, n):
    """NumPy's kth argument of partition, checked."""
    places = numpy.atleast_1d(numpy.asarray(asnumpy(kth)))
    if places.dtype.kind not in "iu":
        raise TypeError(f"{name}: kth must be an integer, not {places.dtype}")
    if n and ((places < -n) | (places >= n)).any():
        raise ValueError(f"{name}: kth {asnumpy(kth)} is out of bounds for an axis of {n} elements")
    return places


def _partitioned(name, a, kth, axis, kind, order):
    """What partition and argpartition share: (a, its axis, the kth indices, the device's sort: values or indices)."""
    a = _own(a)
    if order is not None:
        raise ValueError(f"{name}: order names fields, and there are none")
    if kind != "introselect":
        raise ValueError(f"{name}: select kind must be one of 'introselect' (got {kind!r})")
    a, axis = _axis(name, a.reshape(1) if a.ndim == 0 and name == "argpartition" else a, axis)
    places = _places(name, kth, a.shape[axis])
    f = partition if name == "partition" else argpartition
    r = by_rows(lambda x: f(x, places, axis), a, (axis,))
    if r is not None:
        return a, axis, places, (r, r)
    return a, axis, places, _on_device(a, axis, name == "partition", name == "argpartition")


@few(numpy.partition, 4)
def partition(a, kth, axis=-1, kind="introselect", order=None):
    """A copy with element kth where sorting would put it, and smaller ones before it.

    Parameters
    ----------
    a : array_like
        The elements.
    kth : int or sequence of ints
        The places.
    axis : int, default -1
        Axis to work along; None works on the flattened array.
    kind : {"introselect"}, default 'introselect'
        Accepted for NumPy's signature; a GPU sorts.
    order : None, optional
        Accepted for NumPy's signature; treadle's arrays have no fields.

    Returns
    -------
    ndarray
        Of a's shape and dtype.

    Raises
    ------
    ValueError
        kth lies outside of the axis.

    Examples
    --------
    >>> int(np.partition([3, 1, 2], 1)[1])
    2
    """
    a, axis, places, done = _partitioned("partition", a, kth, axis, kind, order)
    return _host_ordered("partition", a, axis, places) if done is None else done[0]


@few(numpy.argpartition, 4)
def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """The indices that partition an array.

    Parameters
    ----------
    a : array_like
        The elements.
    kth : int or sequence of ints
        The places that hold what sorting would put there.
    axis : int, default -1
        Axis to work along; None works on the flattened array.
    kind : {"introselect"}, default 'introselect'
        Accepted for NumPy's signature.
    order : None, optional
        Accepted for NumPy's signature; treadle's arrays have no fields.

    Returns
    -------
    ndarray of int64
        Of a's shape.

    Raises
    ------
    ValueError
        kth lies outside of the axis.

    Examples
    --------
    >>> int(np.argpartition([3, 1, 2], 0)[0])
    1
    """
    a, axis, places, done = _partitioned("argpartition", a, kth, axis, kind, order)
    return _library("argpartition", _wide(a), places, axis) if done is None else done[1]


def partition_in_place(a, kth, axis=-1, kind="introselect", order=None):
    """The array itself, partitioned along axis."""
    a[...] = partition(a, kth, axis, kind, order)


# ---- several keys ----


@few(numpy.lexsort, 4)
def lexsort(keys, axis=-1):
    """The indices that sort by several keys, of which the last counts first.

    Parameters
    ----------
    keys : sequence of array_like, or array_like whose rows are the keys
        The keys; they broadcast together.
    axis : int, default -1
        Axis to work along; negative numbers count from the last.

    Returns
    -------
    ndarray of int64
        Of a key's shape; equal elements keep their order.

    Raises
    ------
    TypeError
        There are no keys.

    Examples
    --------
    >>> np.lexsort([[2, 1, 3], [0, 0, -1]])
    array([2, 1, 0])
    """
    if not isinstance(keys, (tuple, list)):
        keys = _own(keys)
        keys = [keys[k] for k in range(keys.shape[0])] if keys.ndim else []
    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    keys = list(_core._beside("lexsort", *keys)) if len(keys) > 1 else [_own(keys[0])]
    shape = numpy.broadcast_shapes(*(k.shape for k in keys))
    if not shape:
        return asarray(0, dtype="int64", device=keys[0].device)
    if any(k.shape != shape for k in keys):
        raise ValueError("all keys need to be the same shape")
    if not -len(shape) <= axis < len(shape):
        raise _old_numpy.exceptions.AxisError(axis, len(shape))
    axis %= len(shape)
    if not keys[0].device.host:
        split = [
            _to_last(part, axis) for key in keys for part in (_complex_keys(key) if key.dtype.kind == "c" else [key])
        ]
        at = _by_keys(split)
        if at is not None:
            return _to_last(at, axis)
    why = None if keys[0].device.host else _core._sort_info(keys[0].device)[1] or None
    return on(keys[0].device, _host.library("numpy.lexsort", numpy.lexsort, ([_wide(k) for k in keys], axis), {}, why))
