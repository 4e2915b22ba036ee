"""New GPUArrays: from NumPy's, filled, of another's shape."""

import copyreg
import math

import numpy

from ... import _core
from .._driver import _layout
from .._driver._pointer import ordered
from ._gpuarray import GPUArray, _is_default


def to_gpu(ary, allocator=None):
    """A NumPy array's elements as a GPUArray, in the same order of axes."""
    if isinstance(ary, GPUArray):
        return ary.copy()
    if _layout.is_core(ary):
        return GPUArray._of(ary.copy())
    ary = numpy.asarray(ary)
    nd = _layout.sent(ary)
    if _is_default(allocator) or not ary.size:
        return GPUArray._of(nd, ary.dtype, allocator)
    result = GPUArray(ary.shape, ary.dtype, allocator, strides=nd.strides[: ary.ndim])
    result._nd[...] = nd
    return result


def to_gpu_async(ary, allocator=None, stream=None):
    """to_gpu that returns at once where ary's memory is pinned."""
    axes = _layout.axes_of(ary.shape, ary.strides)
    straight = _layout.packed([ary.shape[k] for k in axes], ary.dtype.itemsize)
    result = GPUArray(ary.shape, ary.dtype, allocator, strides=[straight[k] for k in _layout.inverse(axes)])
    result.set_async(ary, stream)
    return result


empty = GPUArray


def _filled(shape, dtype, allocator, order, value):
    result = GPUArray(shape, dtype, allocator, order=order)
    return result.fill(value) if result.size else result


def zeros(shape, dtype=numpy.float64, allocator=None, order="C"):
    """An array of zeros."""
    return _filled(shape, dtype, allocator, order, numpy.zeros((), dtype))


def ones(shape, dtype=numpy.float64, allocator=None, order="C"):
    """An array of ones."""
    return _filled(shape, dtype, allocator, order, numpy.ones((), dtype))


def full(shape, fill_value, dtype=None, allocator=None, order="C"):
    """An array whose elements are fill_value; dtype None: fill_value's."""
    return _filled(shape, numpy.asarray(fill_value).dtype if dtype is None else dtype, allocator, order, fill_value)


def empty_like(other_ary, dtype=None, order="K"):
    """An uninitialised array of another's shape; order: 'K' as other_ary lies, 'A' Fortran's if it is, 'C', 'F'."""
    dtype = numpy.dtype(other_ary.dtype if dtype is None else dtype)
    if order not in ("A", "C", "F", "K"):
        raise ValueError(f"Unsupported order: {order!r}")
    shape, flags = other_ary.shape, other_ary.flags
    if order == "A":
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    strides = None
    if order == "K":
        axes = _layout.axes_of(shape, other_ary.strides)
        strides = [_layout.packed([shape[k] for k in axes], dtype.itemsize)[k] for k in _layout.inverse(axes)]
    allocator = getattr(other_ary, "_allocator", None)
    return GPUArray(shape, dtype, allocator, strides=strides, order="C" if order == "K" else order)


def zeros_like(other_ary, dtype=None, order="K"):
    """Zeros of another array's shape."""
    result = empty_like(other_ary, dtype, order)
    return result.fill(numpy.zeros((), result.dtype)) if result.size else result


def ones_like(other_ary, dtype=None, order="K"):
    """Ones of another array's shape."""
    result = empty_like(other_ary, dtype, order)
    return result.fill(numpy.ones((), result.dtype)) if result.size else result


def full_like(other_ary, fill_value, dtype=None, order="K"):
    """An array of another's shape whose elements are fill_value."""
    result = empty_like(other_ary, dtype, order)
    return result.fill(fill_value) if result.size else result


def arange(*args, start=None, stop=None, step=None, dtype=None, stream=None):
    """arange([start,] stop[, step], dtype=None): numbers at equal steps, ceil((stop - start) / step) of them."""
    if args and isinstance(args[-1], numpy.dtype):
        *args, dtype = args
    names = ("stop",) if len(args) == 1 else ("start", "stop", "step")
    if len(args) > 3:
        raise ValueError("arange: too many arguments")
    given = {"start": start, "stop": stop, "step": step}
    for name, value in zip(names, args, strict=False):
        if given[name] is not None:
            raise ValueError(f"arange: '{name}' is given by position and by keyword")
        given[name] = value
    if given["stop"] is None:
        raise ValueError("arange: stop argument required")
    given = [given["start"] or 0, given["stop"], 1 if given["step"] is None else given["step"]]
    dtype = numpy.array(given).dtype if dtype is None else numpy.dtype(dtype)
    first, last, width = (numpy.array(x).astype(dtype)[()] for x in given)
    size = max(0, math.ceil((last.item() - first.item()) / width.item()))
    with ordered(stream, _core.device()):
        return GPUArray._of((_core.arange(size) * width.item() + first.item()).astype(dtype))


copyreg.pickle(GPUArray, lambda data: (to_gpu, (data.get(),)), to_gpu)
