"""Cumulative operations, sorting, searching and counting.

Cumulative operations are the machine's own kernels on every device. Sorting is CUB's on a GPU, and what
is found from a sorted array (distinct elements, partitions, orders by several keys) stays there; on the CPU
it is NumPy's, on the memory itself. Complex numbers, 2**32 elements and more, and devices for which the
build has no code go through the host.
"""

import warnings

import numpy

from . import _core
from ._core import asarray, asnumpy, empty, ndarray
from ._indexing import _host, _store


def _own(a):
    return a if isinstance(a, ndarray) else asarray(a)


def _along(call, a, axis, dtype, out):
    a = _own(a)
    if axis is None or a.ndim == 0:
        a, axis = a.ravel(), 0
    r = call(a, axis, dtype)
    return r if out is None else _store(out, r)


def cumsum(a, axis=None, dtype=None, out=None):
    """Sums of the elements up to each, along axis (None: of the flat array); floats are added in float64."""
    return _along(_core._cumsum, a, axis, dtype, out)


def cumprod(a, axis=None, dtype=None, out=None):
    """Products of the elements up to each, along axis (None: of the flat array)."""
    return _along(_core._cumprod, a, axis, dtype, out)


def _on_host(f, a, *args, **kw):
    """f of a's values by NumPy, its arrays put on a's device."""
    r = f(_host(a), *args, **kw)
    return type(r)(asarray(x, device=a.device) for x in r) if type(r) is tuple else asarray(r, device=a.device)


def _number(a, v):
    """An operand for NumPy beside a: our arrays on the host, anything else as it is."""
    return _host(_core._beside("search", a, v)[1]) if isinstance(v, ndarray) else v


_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")
_warned = set()


def _kind(name, kind, order, stable):
    """NumPy's kind, from arguments as NumPy takes them."""
    if order is not None:
        raise ValueError(f"{name}: order names fields, and there are none")
    if kind not in _KINDS:
        raise ValueError(f"{name}: kind is {kind!r}; it can be quicksort, mergesort, heapsort or stable")
    if kind is not None and stable is not None:
        raise ValueError(f"{name}: kind and stable cannot both be given")
    return "stable" if stable else kind


def _axis(name, a, axis):
    """a and the axis to sort along, from 0 on; None: the flat array."""
    if axis is None:
        return a.ravel(), 0
    if not -a.ndim <= axis < a.ndim:
        raise getattr(numpy, "exceptions", numpy).AxisError(axis, a.ndim, name)
    return a, axis % a.ndim


def _to_last(a, axis):
    return a if axis == a.ndim - 1 else a.swapaxes(axis, -1)


def _on_device(a, axis, values, index):
    """a sorted along axis, and where its elements were, as asked for; None: the host's turn."""
    r = _core._sort(_to_last(a, axis), values, index)
    if r is not None:
        return tuple(x if x is None else _to_last(x, axis) for x in r)
    if a.device.kind != "cpu":
        why = _core._sort_info(a.device)[1]
        if why and why not in _warned:
            _warned.add(why)
            warnings.warn(f"{a.device.name}: arrays are sorted on the host: {why}", RuntimeWarning, stacklevel=4)
    return None


def _host_sorted(a, axis, kind):
    """A sorted copy by NumPy, on a CPU in the memory of the result."""
    if _is_half(a):
        return _narrow(_host_sorted(_wide(a), axis, kind), a)
    if a.device.kind != "cpu":
        return _on_host(numpy.sort, a, axis, kind)
    r = empty(a.shape, dtype=a.dtype, device=a.device)
    host = _host(r)
    numpy.copyto(host, _host(a))
    host.sort(axis, kind)
    return r


def _is_half(a):
    return a.dtype.kind == "V" or a.dtype == numpy.float16


def _wide(a):
    """For NumPy's sorts, half types in float32: it has no bfloat16, and 2.4 misplaces float16 beside inf and NaN."""
    return a.astype("float32") if _is_half(a) else a


def _narrow(r, a):
    """A result of _wide(a) in a's dtype."""
    return r.astype("bfloat16" if a.dtype.kind == "V" else a.dtype) if _is_half(a) else r


def sort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """A sorted copy along axis (None: of the flat array); NaN at the end, complex numbers by their real parts first.

    Equal elements cannot be told apart, so kind and stable change nothing on a GPU. ValueError: an unknown
    kind; AxisError: an axis that a does not have.
    """
    if descending:
        return _reversed(sort(a, axis, kind, order, stable=stable), axis)
    kind = _kind("sort", kind, order, stable)
    a, axis = _axis("sort", _own(a), axis)
    done = _on_device(a, axis, True, False)
    return _host_sorted(a, axis, kind) if done is None else done[0]


def argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """The indices, int64, that would sort a along axis (None: of the flat array).

    kind="stable" or stable=True keeps the order of equal elements, and so does a GPU always; there -0.0 equals
    0.0 and every NaN all others.
    """
    if descending:
        return _argsort_descending(a, axis, kind, order, stable)
    kind = _kind("argsort", kind, order, stable)
    a, axis = _axis("argsort", _own(a), axis)
    done = _on_device(a, axis, False, True)
    return _on_host(numpy.argsort, _wide(a), axis, kind) if done is None else done[1]


def _reversed(a, axis):
    """A view from the end of axis on (None: of a flat array)."""
    return a[(slice(None),) * ((axis or 0) % a.ndim) + (slice(None, None, -1),)]


def _argsort_descending(a, axis, kind, order, stable):
    """Sorted from the end on and read from the end on, so that equal elements keep their order where asked."""
    a, axis = _axis("argsort", _own(a), axis)
    return a.shape[axis] - 1 - _reversed(argsort(_reversed(a, axis), axis, kind, order, stable=stable), axis)


def sort_in_place(a, axis=-1, kind=None, order=None, *, stable=None):
    """The array itself, sorted along axis."""
    kind = _kind("sort", kind, order, stable)
    if not a.flags.writeable:
        raise ValueError("sort: the array is read-only")
    if a.device.kind == "cpu" and not _is_half(a) and _core._is_exclusive(a):
        _host(a).sort(_axis("sort", a, axis)[1], kind)
    else:
        a[...] = sort(a, axis, kind)


def _places(name, kth, n):
    """kth as NumPy's partition takes it, checked."""
    places = numpy.atleast_1d(numpy.asarray(asnumpy(kth)))
    if places.dtype.kind not in "iu":
        raise TypeError(f"{name}: kth must be an integer, not {places.dtype}")
    if ((places < -n) | (places >= n)).any():
        raise ValueError(f"{name}: kth {asnumpy(kth)} is out of bounds for an axis of {n} elements")


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """A copy along axis with element kth (or several) where sorting would put it, smaller ones before it.

    A GPU sorts. ValueError: kth lies outside of the axis.
    """
    a, axis = _axis("partition", _own(a), axis)
    _places("partition", kth, a.shape[axis])
    done = _on_device(a, axis, True, False)
    if done is None:
        return _narrow(_on_host(numpy.partition, _wide(a), asnumpy(kth), axis), a)
    return done[0]


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """The indices, int64, of partition."""
    a, axis = _axis("argpartition", _own(a), axis)
    _places("argpartition", kth, a.shape[axis])
    done = _on_device(a, axis, False, True)
    return _on_host(numpy.argpartition, _wide(a), asnumpy(kth), axis) if done is None else done[1]


def partition_in_place(a, kth, axis=-1, kind="introselect", order=None):
    """The array itself, partitioned along axis."""
    a[...] = partition(a, kth, axis)


def sort_complex(a):
    """A flat sort of a's values, real parts first, as complex numbers."""
    return _on_host(numpy.sort_complex, _wide(_own(a)))


def lexsort(keys, axis=-1):
    """The indices, int64, that sort by several keys, the last one first; equal elements keep their order.

    keys: a sequence of arrays of one shape, or an array whose rows are the keys.
    """
    if not isinstance(keys, (tuple, list)):
        keys = _own(keys)
        keys = [keys[k] for k in range(keys.shape[0])] if keys.ndim else [keys]
    if not keys:
        raise TypeError("lexsort: no keys")
    keys = list(_core._beside("lexsort", *keys))
    at = _lexsort_on_device(keys) if all(k.ndim == 1 and k.shape == keys[0].shape for k in keys) else None
    if at is None:
        at = asarray(numpy.lexsort([_host(_wide(k)) for k in keys], axis), device=keys[0].device)
    return at


def _lexsort_on_device(keys):
    """One stable sort a key, from the least important one on."""
    at = None
    for key in keys:
        done = _on_device(key if at is None else _core._take(key, at, 0), 0, False, True)
        if done is None:
            return None
        at = done[1] if at is None else _core._take(at, done[1], 0)
    return at


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True):
    """The sorted distinct elements of ar (with axis: slices along it), and as asked, in this order:

    their first places in the flat array, ar's elements as places in the result (of ar's shape), how often each
    occurs; int64. equal_nan=False: every NaN is distinct.
    """
    a = _own(ar)
    asked = (return_index, return_inverse, return_counts)
    done = _unique_on_device(a, asked, equal_nan) if axis is None and a.size else None
    if done is None:
        r = _on_host(numpy.unique, _wide(a), *asked, axis, equal_nan=equal_nan)
        return (_narrow(r[0], a), *r[1:]) if type(r) is tuple else _narrow(r, a)
    return done if any(asked) else done[0]


def _unique_on_device(a, asked, equal_nan):
    """Sorted, then the last elements of the runs of equal ones."""
    want_index, want_inverse, want_counts = asked
    done = _on_device(a.ravel(), 0, True, want_index or want_inverse)
    if done is None and a.device.kind == "cpu" and a.dtype.kind in "biuf" and not (want_index or want_inverse):
        done = _host_sorted(a.ravel(), 0, None), None  # several times quicker than NumPy's unique
    if done is None:
        return None
    values, at = done
    last = empty(values.shape, dtype="bool", device=a.device)
    ends = values[:-1] != values[1:]
    if equal_nan and a.dtype.kind in "fV":
        ends = ends & (values[:-1] == values[:-1])
    last[:-1] = ends
    last[-1:] = True
    out = [_core._select(values, last)]
    if any(asked):
        out += _unique_more(a, at, last, asked)
    return tuple(out)


def _unique_more(a, at, last, asked):
    """at: where the sorted elements were; last: marks the last of each run."""
    want_index, want_inverse, want_counts = asked
    ends = _core._select(None, last)
    starts = empty(ends.shape, dtype="int64", device=a.device)
    starts[:1] = 0
    starts[1:] = ends[:-1] + 1
    if want_index:
        yield _core._take(at, starts, 0)
    if want_inverse:
        inverse = empty(at.shape, dtype="int64", device=a.device)
        inverse[at] = _core._cumsum(last, 0, None) - last
        yield inverse.reshape(a.shape)
    if want_counts:
        yield ends - starts + 1


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle element along axis, or the mean of the two middle ones."""
    r = _on_host(numpy.median, _own(a), axis, keepdims=keepdims)
    return r if out is None else _store(out, r)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """The q-th percentiles along axis."""
    r = _on_host(numpy.percentile, _own(a), asnumpy(q), axis, method=method, keepdims=keepdims)
    return r if out is None else _store(out, r)


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """The q-th quantiles along axis."""
    r = _on_host(numpy.quantile, _own(a), asnumpy(q), axis, method=method, keepdims=keepdims)
    return r if out is None else _store(out, r)
