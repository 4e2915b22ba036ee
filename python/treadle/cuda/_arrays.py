"""The methods of ndarray that numba.cuda's device arrays have and NumPy's lack.

src/python/ndarray/numba.c calls them."""

import ctypes

import numpy

from .. import _core
from ._memory import IpcArrayHandle, MemoryPointer
from ._streams import given


def _check(dst, src, what):
    if dst.shape != src.shape:
        raise ValueError(f"{what}: shapes differ: {dst.shape} takes no {src.shape}")
    if dst.dtype != src.dtype:
        raise TypeError(f"{what}: dtypes differ: {dst.dtype} takes no {src.dtype}")


def _layout(a):
    """(whether a is contiguous in C order, whether in Fortran's)."""
    if isinstance(a, _core.ndarray):
        return a.is_c_contiguous(), a.is_f_contiguous()
    return a.flags.c_contiguous, a.flags.f_contiguous


def _together(x, y):
    """Both arrays as C-contiguous ones, transposed if they are in Fortran order. None where they differ in order or
    have gaps."""
    (xc, xf), (yc, yf) = _layout(x), _layout(y)
    return (x, y) if xc and yc else (x.T, y.T) if xf and yf else None


def copy_to_host(self, ary=None, stream=0):
    if ary is None:
        if given(stream, self.device) is None:
            return self.T.get().T if _layout(self) == (False, True) else self.get()
        ary = numpy.empty(self.shape, self.dtype, order="F" if _layout(self) == (False, True) else "C")
    elif is_host(ary):
        _check(ary, self, "copy_to_host")
    else:
        raise TypeError(f"copy_to_host: ary is a NumPy array, not {type(ary).__name__}")
    pair = _together(ary, self)
    if pair is None or not self.size:
        numpy.copyto(ary, self.get())
        return ary
    queue = _core._stream_of(self.device, stream)
    _core._copy_on(pair[0].view(numpy.ndarray), pair[1], queue)
    if not queue.ptr:  # without a stream even pinned memory is filled on return
        queue.synchronize()
    return ary


def is_host(ary):
    return isinstance(ary, numpy.ndarray)


def copy_to_device(self, ary, stream=0):
    src = ary if isinstance(ary, (_core.ndarray, numpy.ndarray)) else _core.asarray(ary)
    if self.size == src.size == 1 and not isinstance(src, _core.ndarray):
        src = src.reshape(self.shape)
    _check(self, src, "copy_to_device")
    pair = _together(self, src)
    queue = given(stream, self.device)
    elsewhere = isinstance(src, _core.ndarray) and src.device != self.device
    if queue is None or pair is None or elsewhere or not self.size:
        self[...] = src.to_device(self.device) if elsewhere else src
    else:
        src = pair[1] if isinstance(src, _core.ndarray) else pair[1].view(numpy.ndarray)
        _core._copy_on(pair[0], src, queue)


def split(self, section, stream=0):
    if self.ndim != 1:
        raise ValueError(f"split: the array has {self.ndim} axes, not one")
    if section < 1:
        raise ValueError(f"split: sections of {section} elements")
    return (self[i : i + section] for i in range(0, self.size, section))


def getitem(self, item, stream=0):
    found = self[item]
    return copy_to_host(found, stream=stream)[()] if isinstance(found, _core.ndarray) and not found.ndim else found


def setitem(self, key, value, stream=0):
    self[key] = value


def bind(self, stream=0):
    return self


def get_ipc_handle(self):
    return IpcArrayHandle(_core._send(self), self.shape, self.dtype, "C" if self.is_c_contiguous() else "F")


# ---- attributes ----


def gpu_data(self):
    return MemoryPointer(self)


def device_ctypes_pointer(self):
    return ctypes.c_void_p(self._address())


def alloc_size(self):
    if not self.size:
        return 0
    return sum((n - 1) * abs(step) for n, step in zip(self.shape, self.strides)) + self.dtype.itemsize
