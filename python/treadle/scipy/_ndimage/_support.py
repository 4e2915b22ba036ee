"""What the functions of scipy.ndimage share: arguments with one value or one for each axis, and outputs."""

import numpy

import treadle

from ... import _core
from .._arguments import host
from ._kernels import FILTER_MODES


def real_array(x):
    """x as an array. Raises TypeError for complex elements."""
    x = _core.asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    return x


def axes_of(axes, ndim):
    """The axes that a function works on: all of them, or those in axes, one or several."""
    if axes is None:
        return tuple(range(ndim))
    axes = (axes,) if numpy.isscalar(axes) else tuple(axes)
    if any(not -ndim <= a < ndim for a in axes):
        raise ValueError(f"specified axis: {axes} is out of range for {ndim} dims")
    axes = tuple(a % ndim for a in axes)
    if len(set(axes)) != len(axes):
        raise ValueError("axes must be unique")
    return axes


def each(value, n):
    """value for each of n axes, or its n values."""
    if not isinstance(value, str) and numpy.iterable(value):
        values = list(value)
        if len(values) != n:
            raise RuntimeError("sequence argument must have length equal to input rank")
        return values
    return [value] * n


def filter_mode(mode):
    if mode not in FILTER_MODES:
        raise RuntimeError("boundary mode not supported")
    return FILTER_MODES[mode]


def check_origin(size, origin):
    if not 0 <= size // 2 + origin < size:
        raise ValueError(f"Invalid origin; {origin} must satisfy -(size // 2) <= origin <= (size - 1) // 2")


def output_dtype(output, x, to_complex=False):
    """The dtype of the result for x and output, which is None, a dtype or an array."""
    if output is None:
        d = numpy.dtype(x.dtype)
    elif isinstance(output, (_core.ndarray, numpy.ndarray)):
        d = numpy.dtype(output.dtype)
    else:
        d = numpy.dtype(output)
    if to_complex and d.kind != "c":
        if isinstance(output, (_core.ndarray, numpy.ndarray, str)):
            raise RuntimeError("output must have complex dtype")
        d = numpy.promote_types(d, numpy.complex64)
    return d


def deliver(result, output):
    """Return result, copied into output where that is an array."""
    if not isinstance(output, (_core.ndarray, numpy.ndarray)):
        return result
    if output.shape != result.shape:
        raise RuntimeError(f"output shape not correct: {output.shape}, not {result.shape}")
    output[...] = result if isinstance(output, _core.ndarray) else result.get()
    return output


def to_dtype(x, dtype):
    """Cast as C does: floats are truncated, not rounded."""
    return x if x.dtype == dtype else x.astype(dtype)


def places(x, sparse=False):
    """The indices of x's elements, on its device, as numpy.indices gives them."""
    with treadle.device(x.device):
        return treadle.indices(x.shape, sparse=sparse, dtype="int64")


def spread(values, axes, ndim, fill):
    """A value for each of ndim axes: values for axes, fill for the others."""
    full = [fill] * ndim
    for axis, value in zip(axes, values, strict=True):
        full[axis] = value
    return full


def footprint_of(size, footprint, ndim, axes, none="no footprint provided"):
    """The footprint, NumPy's array of bools with ndim axes, that size or footprint means over axes."""
    if footprint is None:
        if size is None:
            raise RuntimeError(none)
        footprint = numpy.ones([int(s) for s in each(size, len(axes))], bool)
    footprint = host(footprint).astype(bool)
    if footprint.ndim != len(axes):
        raise RuntimeError(f"footprint.ndim ({footprint.ndim}) must match len(axes) ({len(axes)})")
    if not footprint.any():
        raise ValueError("All-zero footprint is not supported.")
    return expand(footprint, axes, ndim)


def expand(a, axes, ndim):
    """a, whose axes are `axes` in ascending order, with axes of length 1 inserted for the others."""
    return a.reshape([a.shape[sorted(axes).index(d)] if d in axes else 1 for d in range(ndim)])


def offsets_of(footprint, origins):
    """The offsets of a footprint's elements from its centre, of shape (count, ndim), in C order."""
    for size, origin in zip(footprint.shape, origins, strict=True):
        if not 0 <= size // 2 + origin < size:
            raise ValueError("invalid origin")
    centre = numpy.array([s // 2 for s in footprint.shape]) + numpy.array(origins, numpy.int64)
    return numpy.argwhere(footprint) - centre
