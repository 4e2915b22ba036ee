"""Functions of the arrays of a sparse matrix, for all formats: sorting, finding runs, summing, expanding.

The *major* axis of a matrix is the one along which a format is compressed; the other is the *minor* axis. This module
knows no classes. Everything stays on the device of the arrays.
"""

import numpy

import treadle as td

from ... import _core
from ..._core import arange, asarray, empty, ndarray, zeros
from ..._select._pick import Pick
from . import _kernels

INT32_MAX = 2**31 - 1
PIECE = 8192  # elements: tens of microseconds of work, so that threads end together


def index_dtype(*sizes):
    """int32 if it holds every index and count up to sizes, else int64."""
    return numpy.dtype("int32" if all(n <= INT32_MAX for n in sizes) else "int64")


def own(x, device=None, dtype=None):
    """x as an array, on device if that is given."""
    if isinstance(x, ndarray) and device is None:
        return x if dtype is None else x.astype(dtype, copy=False)
    return asarray(x, dtype, device=device)


def gather(a, at):
    """a[at]. The indices are known to be in range."""
    return _core._pick(a, (0,), (0,), (at,), 0, Pick.TRUSTED)


def join(*arrays):
    return td.concatenate(arrays)


def places(mask):
    """The indices at which mask is true."""
    return _core._select(None, mask)


def zero_of(dtype):
    return numpy.zeros((), dtype)[()]


def order_of(keys, n):
    """The stable order of integers from 0 to n - 1."""
    if not keys.device.host or n > 4 * keys.size + (1 << 16):
        return td.argsort(keys, kind="stable")
    dtype = index_dtype(keys.size)
    order = empty(keys.shape, dtype=dtype, device=keys.device)
    _kernels.counting_order(keys, zeros(n + 1, dtype=dtype, device=keys.device), order)
    return order


def order_of_pairs(major, minor, shape):
    """The stable order by major index, and by minor index among equal ones."""
    rows, columns = shape
    if not major.device.host and rows * columns < 1 << 63:
        key = major.astype("int64") * columns + minor
        return td.argsort(key.astype("int32") if rows * columns <= INT32_MAX else key, kind="stable")
    first = order_of(minor, columns)
    return gather(first, order_of(gather(major, first), rows))


def counts(keys, n):
    """How often each of 0, 1, … n - 1 occurs."""
    return _core._count(keys, n) if keys.size else zeros(n, dtype="int64", device=keys.device)


def running(numbers, dtype):
    """0 and the running sums of lengths: where parts of these lengths begin, and where the last one ends."""
    out = zeros(numbers.size + 1, dtype=dtype, device=numbers.device)
    out[1:] = _core._cumsum(numbers, 0, numpy.dtype(dtype))
    return out


def pointers(major, n, dtype):
    """The array indptr of elements with sorted major indices."""
    return running(counts(major, n), dtype)


def expanded(indptr, nnz, dtype):
    """The major index of each element."""
    rows = empty(nnz, dtype=dtype, device=indptr.device)
    if nnz:
        _kernels.expand(indptr, rows)
    return rows


def starts_run(major, minor):
    """Which of sorted pairs differ from their predecessor."""
    first = empty(major.shape, dtype="bool", device=major.device)
    first[:1] = True
    first[1:] = (major[1:] != major[:-1]) | (minor[1:] != minor[:-1])
    return first


def pieces(data, rows):
    """The array that tells a CPU's kernel into how many pieces to divide the rows: one zero for each piece."""
    return zeros((max(min(data.size // PIECE, rows, 1024), 1), 1), dtype=data.dtype, device=data.device)


def segment_sums(starts, data, n):
    """The sums of n segments of data, in data's dtype. Bools are combined by or."""
    out = empty(n, dtype=data.dtype, device=data.device)
    if n and data.device.host:
        _kernels.segment_sums_cpu(starts, data, out, pieces(data, n))
    elif n:
        _kernels.segment_sums(starts, data, out, zero_of(data.dtype))
    return out


def summed(major, minor, data):
    """Sorted elements, with those at the same place added up in their order."""
    at = places(starts_run(major, minor))
    n = at.size
    if n == major.size:
        return major, minor, data
    starts = join(at, asarray([major.size], dtype=at.dtype, device=at.device))
    return gather(major, at), gather(minor, at), segment_sums(starts, data, n)


def sorted_summed(major, minor, data, shape):
    """Elements in any order, sorted, with those at the same place added up."""
    if not data.size:
        return major, minor, data
    order = order_of_pairs(major, minor, shape)
    return summed(gather(major, order), gather(minor, order), gather(data, order))


def ranges(starts, lengths):
    """For each run i the lengths[i] numbers starts[i], starts[i] + 1, …, one run after another; and the run of each
    number."""
    ends = running(lengths, "int64")
    total = int(ends[-1])
    run = expanded(ends, total, "int64")
    at = arange(total, dtype="int64", device=starts.device) - gather(ends, run) + gather(starts.astype("int64"), run)
    return at, run


def same_device(a, b):
    """Raise ValueError if a and b lie on different devices."""
    _core._beside("sparse", a, b)


def scattered(places, data, n):
    """n elements: data at places, none of which occurs twice, and zeros elsewhere."""
    out = zeros(n, dtype=data.dtype, device=data.device)
    if data.size:
        _kernels.scatter(places, data, out)
    return out
