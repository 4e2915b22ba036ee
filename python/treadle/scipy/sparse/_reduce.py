"""Sums, means and extremes of sparse matrices, and the places of extremes."""

import math

import numpy

import treadle as td

from ..._core import empty, zeros
from . import _kernels, _parts


def _sum_dtype(dtype):
    """The dtype of NumPy's sum over dtype."""
    return numpy.zeros(0, dtype).sum().dtype


class Sums:
    """Sums and means of any format."""

    def _axis(self, axis):
        """The axis as a non-negative number, None for all axes. Raises ValueError if there is none."""
        if axis is None:
            return None
        if isinstance(axis, tuple):
            if len(axis) == self.ndim:
                return None
            (axis,) = axis
        if not isinstance(axis, (int, numpy.integer)):
            raise TypeError(f"axis must be an integer, not {type(axis).__name__}")
        if not -self.ndim <= axis < self.ndim:
            raise ValueError("axis out of range")
        axis %= self.ndim
        return None if self.ndim == 1 else int(axis)

    def sum(self, axis=None, dtype=None, out=None):
        """The sum of all elements or along an axis. It is dense, with two axes for a matrix and one for an array."""
        axis, given = self._axis(axis), _sum_dtype(self.dtype)
        if axis is None:
            data = self.tocoo().data
            r = data.sum(dtype=dtype) if data.size else zeros((), dtype=dtype or given, device=self.device)
        else:
            a = self.T if axis == 0 else self
            r = a @ td.ones(self.shape[axis], dtype=given, device=self.device)
            r = r if dtype is None else r.astype(dtype)
            if not self._is_array:
                r = r.reshape((1, -1) if axis == 0 else (-1, 1))
        if out is None:
            return r
        if out.shape != r.shape:
            raise ValueError("out dimensions do not match shape")
        out[...] = r
        return out

    def mean(self, axis=None, dtype=None, out=None):
        """The mean, in the shape of sum's result. Integers are averaged in float64."""
        along = self._axis(axis)
        inner = numpy.dtype("float64") if self.dtype.kind in "biu" else self.dtype
        n = math.prod(self.shape) if along is None else self.shape[along]
        r = (self.astype(inner, copy=False)._scaled(numpy.float64(1.0) / n if n else math.nan)).sum(axis, inner, out)
        return r if dtype is None or out is not None else r.astype(dtype)


class Reductions(Sums):
    """Extremes, for the formats that hold a list of elements."""

    def count_nonzero(self, axis=None):
        """How many elements are not zero, in all or along an axis."""
        self.sum_duplicates()
        axis = self._axis(axis)
        if axis is None:
            return (self.data != 0).sum()
        a = self.tocoo()
        at = _parts.places(a.data != 0)
        return _parts.counts(_parts.gather(a.coords[1 - axis], at), self.shape[1 - axis])

    def _minmax(self, axis, out, least, explicit, skip=False):
        if out is not None:
            raise ValueError("Sparse min/max does not support an 'out' parameter.")
        axis = self._axis(axis)
        if 0 in (self.shape if axis is None else (self.shape[axis],)):
            raise ValueError("zero-size array to reduction operation")
        self.sum_duplicates()
        if axis is None:
            return self._minmax_all(least, explicit, skip)
        a = self.tocsc() if axis == 0 else self.tocsr()
        value, filled, lengths = _extremes(a, least, skip)
        if not explicit:
            implicit = filled & (lengths < a._lines[1])
            value = td.where(implicit, _pair(least, skip)(value, self.dtype.type(0)), value)
        at = _parts.places(filled & (value != 0))
        value, at = _parts.gather(value, at), at.astype(a._indices.dtype)
        coo, n = self._class("coo"), a._lines[0]
        if self._is_array:
            return coo._from(value, (at,), (n,))
        none = td.zeros_like(at)
        return coo._from(value, (none, at), (1, n)) if axis == 0 else coo._from(value, (at, none), (n, 1))

    def _minmax_all(self, least, explicit, skip):
        data, zero = self.data, self.dtype.type(0)
        if not data.size:
            return zeros((), dtype=self.dtype, device=self.device)
        if skip:
            r = td.nanmin(data) if least else td.nanmax(data)
        else:
            r = data.min() if least else data.max()
        return r if explicit or data.size == math.prod(self.shape) else _pair(least, skip)(r, zero)

    def max(self, axis=None, out=None, *, explicit=False):
        """The largest element: of all, or along an axis as a coo matrix. explicit: among the stored elements only."""
        return self._minmax(axis, out, False, explicit)

    def min(self, axis=None, out=None, *, explicit=False):
        """The smallest element: of all, or along an axis as a coo matrix. explicit: among the stored elements only."""
        return self._minmax(axis, out, True, explicit)

    def nanmax(self, axis=None, out=None, *, explicit=False):
        """max that ignores NaN."""
        return self._minmax(axis, out, False, explicit, True)

    def nanmin(self, axis=None, out=None, *, explicit=False):
        """min that ignores NaN."""
        return self._minmax(axis, out, True, explicit, True)

    def argmax(self, axis=None, out=None, *, explicit=False):
        """The index of the largest element, or of the first of several: in the flattened matrix, or along an axis."""
        return self._argminmax(axis, out, False, explicit)

    def argmin(self, axis=None, out=None, *, explicit=False):
        """The index of the smallest element, or of the first of several: in the flattened matrix, or along an axis."""
        return self._argminmax(axis, out, True, explicit)

    def _argminmax(self, axis, out, least, explicit):
        name = "argmin" if least else "argmax"
        if out is not None:
            raise ValueError(f"Sparse {name} does not support an 'out' parameter.")
        axis = self._axis(axis)
        if 0 in (self.shape if axis is None else (self.shape[axis],)):
            raise ValueError(
                f"Cannot apply {name} " + ("to an empty matrix." if axis is None else "along a zero-sized dimension.")
            )
        if axis is None:
            if explicit and not self.nnz:
                raise ValueError(f"Cannot apply {name} to zero matrix when explicit=True.")
            flat = self.reshape(1, math.prod(self.shape)).tocsr()
            return _arg(flat, least, explicit).reshape(())
        a = self.tocsc() if axis == 0 else self.tocsr()
        r = _arg(a, least, explicit)
        return r if self._is_array else r.reshape((1, -1) if axis == 0 else (-1, 1))


def _pair(least, skip):
    """The larger, or the smaller, of two arrays' elements."""
    if skip:
        return td.fmin if least else td.fmax
    return td.minimum if least else td.maximum


def _extremes(a, least, skip=False):
    """The extreme of each major line's elements, which lines have elements, and how many."""
    a.sum_duplicates()
    starts, data = a._indptr, a.data
    lengths = starts[1:] - starts[:-1]
    if skip and a.dtype.kind == "f":
        data = td.where(td.isnan(data), a.dtype.type(numpy.inf if least else -numpy.inf), data)
    value = zeros(lengths.size, dtype=a.dtype, device=a.device)
    (_kernels.segment_least if least else _kernels.segment_greatest)(starts, data, value)
    if skip and a.dtype.kind == "f":
        numbers = _parts.segment_sums(starts, (~td.isnan(a.data)).astype("int64"), lengths.size)
        value = td.where((numbers == 0) & (lengths > 0), a.dtype.type(numpy.nan), value)
    return value, lengths > 0, lengths


def _arg(a, least, explicit):
    """The minor index of each major line's extreme."""
    best, filled, lengths = _extremes(a, least)
    n, count = a._lines[1], lengths.size
    starts, minor, major = a._indptr, a._indices.astype("int64"), a._majors()
    own = _parts.gather(best, major)
    hit = (a.data == own) | (a.data != a.data)
    at = _least(starts, td.where(hit, minor, n), count)
    if explicit:
        return td.where(filled, at, 0)
    rank = td.arange(minor.size, dtype="int64", device=a.device) - _parts.gather(starts, major)
    missing = td.minimum(
        _least(starts, td.where(minor != rank, rank, n), count), lengths
    )  # the first place without an element
    missing = td.where(filled, missing, 0)
    beats = best < 0 if least else best > 0
    return td.where(beats | (lengths == n), at, td.where(filled & (best == 0), td.minimum(at, missing), missing))


def _least(starts, data, count):
    out = empty(count, dtype="int64", device=data.device)
    out[...] = 2**62
    if count:
        _kernels.segment_least(starts, data, out)
    return out
