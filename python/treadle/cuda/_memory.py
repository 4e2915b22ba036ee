"""numba.cuda's functions that make arrays on devices, and in host memory that devices reach."""

import contextlib
import ctypes
import math
import operator

import numpy

from .. import _core
from ..lib.stride_tricks import as_strided
from ..types import Type
from ._devices import Device
from ._records import DeviceRecords
from ._streams import given


class MemoryPointer:
    """MemoryPointer(mem, offset=0): an address in a device's memory; mem: an array, or memory of treadle.cuda's
    (Memory …).

    By Numba's names: device_pointer (the address, an int), size (bytes from there on), owner. By CuPy's: ptr, mem,
    device, device_id; ``p + n`` is n bytes further on. Memory lives as long as something points to it."""

    def __init__(self, mem, offset=0):
        self.owner = self.mem = mem
        self._offset = int(offset)

    _array = property(lambda self: getattr(self.mem, "_array", self.mem))
    device_pointer = property(lambda self: (self._array._address() if self._array.nbytes else 0) + self._offset)
    device_pointer_value = ptr = device_pointer
    device_ctypes_pointer = property(lambda self: ctypes.c_void_p(self.device_pointer))
    size = property(lambda self: self._array.nbytes - self._offset)
    device_id = property(lambda self: self._array.device.index)

    @property
    def device(self):
        return Device(self._array.device)

    def __int__(self):
        return self.device_pointer

    __index__ = __int__

    def __add__(self, nbytes):
        return MemoryPointer(self.mem, self._offset + nbytes) if isinstance(nbytes, int) else NotImplemented

    __radd__ = __add__

    def __sub__(self, nbytes):
        return MemoryPointer(self.mem, self._offset - nbytes) if isinstance(nbytes, int) else NotImplemented

    def _bytes(self, count=None):
        """The next count bytes as an array. Raises ValueError where there are fewer."""
        flat = self._array.reshape(-1, copy=False)
        flat = flat if flat.dtype == numpy.uint8 else flat.view("uint8")
        if count is not None and not 0 <= count <= flat.size - self._offset:
            raise ValueError(f"{count} bytes from {self!r} on: there are {self.size}")
        return flat[self._offset : None if count is None else self._offset + count]

    def _laid(self, shape, dtype, strides=None, order=None):
        """The array of a shape and dtype whose first element lies here: cupy.ndarray(shape, dtype, memptr)."""
        shape, dtype = tuple(shape) if numpy.iterable(shape) else (shape,), numpy.dtype(dtype or float)
        if strides is not None:
            whole = self._bytes(self.size // dtype.itemsize * dtype.itemsize)
            return as_strided(whole.view(dtype), shape, strides)
        elements = self._bytes(math.prod(shape) * dtype.itemsize).view(dtype)
        return elements.reshape(shape[::-1]).T if order in ("F", "f") else elements.reshape(shape)

    def view(self, start, stop=None):
        """The MemoryPointer of the bytes from start to below stop."""
        return MemoryPointer(self._bytes()[start:stop])

    def memset(self, byte, count=None, stream=0):
        """The first count bytes (None: all) become byte."""
        self._bytes(count)[...] = byte

    memset_async = memset

    def copy_from_device(self, src, size):
        """Takes size bytes from src, a MemoryPointer. ValueError: one of them has fewer."""
        self._bytes(size)[...] = src._bytes(size)

    def copy_from_host(self, mem, size):
        """Takes size bytes of the host's memory; mem: their address, an int or a ctypes.c_void_p."""
        self.copy_from_host_async(mem, size)
        _core.synchronize(self._array.device)

    def copy_from_host_async(self, mem, size, stream=None):
        _core._copy_on(self._bytes(size), _host(mem, size), stream)

    def copy_to_host(self, mem, size):
        """Gives size bytes to the host's memory; mem: as in copy_from_host."""
        self.copy_to_host_async(mem, size)
        _core.synchronize(self._array.device)

    def copy_to_host_async(self, mem, size, stream=None):
        _core._copy_on(_host(mem, size), self._bytes(size), stream)

    def copy_from_device_async(self, src, size, stream=None):
        _core._copy_on(self._bytes(size), src._bytes(size), stream)

    def copy_from(self, mem, size):
        """copy_from_device of a MemoryPointer, else copy_from_host."""
        (self.copy_from_device if isinstance(mem, MemoryPointer) else self.copy_from_host)(mem, size)

    def copy_from_async(self, mem, size, stream=None):
        device = isinstance(mem, MemoryPointer)
        (self.copy_from_device_async if device else self.copy_from_host_async)(mem, size, stream)

    def own(self):
        return self

    def __repr__(self):
        return f"<MemoryPointer {self.device_pointer:#x}, {self.size} bytes on {self._array.device}>"


def _host(mem, size):
    """Host memory at an address, as an array of bytes."""
    at = mem.value if isinstance(mem, ctypes.c_void_p) else int(getattr(mem, "ptr", mem))
    return (ctypes.c_ubyte * size).from_address(at or 0)


# ---- shapes and layouts ----


def _shape(shape):
    try:
        return tuple(operator.index(n) for n in (shape if hasattr(shape, "__iter__") else (shape,)))
    except TypeError:
        raise TypeError(f"a shape is an integer or a tuple of integers, not {shape!r}") from None


def _order(shape, dtype, strides, order):
    """The order "C" or "F" that the arguments ask for. Raises ValueError for other strides."""
    if order not in ("C", "F"):
        raise ValueError(f"order is 'C' or 'F', not {order!r}")
    if strides is None:
        return order
    strides = (strides,) if isinstance(strides, int) else tuple(strides)
    for known in ("C", "F"):
        if numpy.ndarray(shape, dtype, numpy.empty(0, dtype) if 0 in shape else None, order=known).strides == strides:
            return known
    raise ValueError(f"strides {strides} of shape {shape}: new arrays are contiguous, in order 'C' or 'F'")


def _order_of(array):
    """The order for a new array like this one."""
    if isinstance(array, _core.ndarray):
        return "F" if array.is_f_contiguous() and not array.is_c_contiguous() else "C"
    flags = array.flags
    return "F" if flags.f_contiguous and not flags.c_contiguous else "C"


def _is_packed(array):
    """Whether the array is contiguous in C or Fortran order, or has one axis."""
    if is_device_array(array):
        return array.ndim < 2 or array.is_c_contiguous() or array.is_f_contiguous()
    return array.ndim < 2 or array.flags.c_contiguous or array.flags.f_contiguous


def _is_record(dtype):
    return dtype.names is not None or dtype.subdtype is not None


def is_device_array(obj):
    """Is obj an array of ours on a device: an ndarray, or an array of records?"""
    return isinstance(obj, (_core.ndarray, DeviceRecords))


# ---- on the device ----


def device_array(shape, dtype=numpy.float64, strides=None, order="C", stream=0):
    """A new array on the current device, uninitialised. shape: an int or a tuple. dtype: NumPy's, also structured
    ones, or a type of treadle.types. order: "C" or "F"; strides: of either. ValueError, OutOfMemoryError."""
    dtype = _dtype(dtype)
    shape = _shape(shape)
    if isinstance(dtype, numpy.dtype) and _is_record(dtype):
        return DeviceRecords(shape, dtype, order=_order(shape, dtype, strides, order))
    if _order(shape, dtype, strides, order) == "F":
        return _core.empty(shape[::-1], dtype).T._with_scalars()
    return _core.empty(shape, dtype)._with_scalars()


def _dtype(dtype):
    dtype = dtype.dtype if isinstance(dtype, Type) else dtype
    return dtype if getattr(dtype, "name", None) == "bfloat16" else numpy.dtype(dtype)


def device_array_like(ary, stream=0):
    """A new array on the current device with ary's shape and dtype, its axes in memory in the order of ary's,
    uninitialised."""
    if _is_packed(ary) or _is_record(ary.dtype):
        return device_array(ary.shape, ary.dtype, order=_order_of(ary), stream=stream)
    axes = sorted(range(ary.ndim), key=lambda k: -abs(ary.strides[k]))
    made = device_array([ary.shape[k] for k in axes], ary.dtype, stream=stream)
    return made.transpose(*sorted(range(ary.ndim), key=axes.__getitem__))


def to_device(obj, stream=0, copy=True, to=None):
    """obj on the current device: an array of the device as it is, else a copy of what NumPy makes an array of.

    copy=False: only the memory, uninitialised. to: a device array that takes the copy, and is returned. On a stream
    with pinned memory the copy runs while the program goes on. TypeError: elements without a dtype of ours."""
    if to is not None:
        to.copy_to_device(obj, stream=stream)
        return to
    if is_device_array(obj):
        return obj if obj.device == _core.device() else obj.to_device(_core.device())._with_scalars()
    if is_cuda_array(obj) and not isinstance(obj, HostArray):
        return as_cuda_array(obj)
    host = obj if isinstance(obj, numpy.ndarray) else numpy.asarray(obj)
    if not copy:
        return device_array_like(host, stream=stream)
    if given(stream, _core.device()) is not None or _is_record(host.dtype):
        made = device_array_like(host, stream=stream)
        made.copy_to_device(host, stream=stream)
        return made
    plain = host.view(numpy.ndarray)
    made = _core.array(plain.T).T if _order_of(host) == "F" else _core.array(plain)
    return made._with_scalars()


def is_cuda_array(obj):
    """Does obj live on a device: an array of ours, or one with __cuda_array_interface__?"""
    return is_device_array(obj) or hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj, sync=True):
    """obj's memory as an array, without a copy: of an object with __cuda_array_interface__, whose stream the work on
    the array waits for (sync=False is taken as True). TypeError: it has none."""
    if is_device_array(obj):
        return obj
    if isinstance(obj, HostArray):
        return obj._td_array
    if not hasattr(obj, "__cuda_array_interface__"):
        raise TypeError(f"as_cuda_array: a {type(obj).__name__} has no __cuda_array_interface__; to_device copies")
    return _core.asarray(obj, copy=False)._with_scalars()


class _Interface:
    def __init__(self, desc, owner):
        self.__cuda_array_interface__, self._owner = dict(desc), owner


def from_cuda_array_interface(desc, owner=None, sync=True):
    """An array over the memory that a dict of the CUDA array interface describes; owner is kept as long as it lives."""
    return _core.asarray(_Interface(desc, owner), copy=False)._with_scalars()


# ---- on the host ----


class HostArray(numpy.ndarray):
    """A NumPy array in memory that the device reaches. As a kernel's argument it is not copied where kernels see the
    memory (mapped, managed)."""

    _memory = None

    def __array_finalize__(self, base):
        self._memory = getattr(base, "_memory", None)

    def __array_wrap__(self, arr, context=None, return_scalar=False):
        """Results are plain NumPy arrays, unless they were written into this array."""
        if arr is self:
            return arr
        plain = numpy.asarray(arr)
        return plain[()] if return_scalar or (plain.ndim == 0 and self.ndim) else plain

    @property
    def _td_array(self):
        """treadle's array over the same memory. Raises AttributeError where there is none: for copies, and for memory
        that is only pinned."""
        memory, at = self._memory, self.__array_interface__["data"][0]
        seen = memory is not None and memory.device_ptr
        inside = seen and memory.ptr <= at <= memory.ptr + memory.nbytes - self.nbytes
        order = "C" if self.flags.c_contiguous else "F" if self.flags.f_contiguous else None
        if not inside or order is None:
            raise AttributeError("this array has no contiguous memory that kernels see; to_device copies it")
        flat = memory.array()[at - memory.ptr : at - memory.ptr + self.nbytes]
        if _is_record(self.dtype):
            return DeviceRecords(self.shape, self.dtype, flat, order)
        flat = flat.view(self.dtype)
        return flat.reshape(self.shape) if order == "C" else flat.reshape(self.shape[::-1]).T

    @property
    def __cuda_array_interface__(self):
        return self._td_array.__cuda_array_interface__

    @property
    def device_ctypes_pointer(self):
        return self._td_array.device_ctypes_pointer

    @property
    def gpu_data(self):
        return self._td_array.gpu_data

    def copy_to_host(self, ary=None, stream=0):
        """The values as a NumPy array of their own, or in ary, once the device is done with them."""
        _core.synchronize(self._memory.device if self._memory is not None else None)
        if ary is None:
            return numpy.array(self, copy=True, subok=False)
        numpy.copyto(ary, self)
        return ary

    def copy_to_device(self, ary, stream=0):
        """self[...] = ary."""
        value = ary.copy_to_host() if is_device_array(ary) else ary
        _core.synchronize(self._memory.device if self._memory is not None else None)
        numpy.copyto(self, value)


def _host_array(kind, shape, dtype, strides, order, combined=False):
    shape, dtype = _shape(shape), numpy.dtype(_dtype(dtype))
    order = _order(shape, dtype, strides, order)
    memory = _core.HostMemory(_core.device(), kind, math.prod(shape) * dtype.itemsize, combined=combined)
    made = HostArray(shape, dtype, memory, order=order)
    made._memory = memory
    return made


def pinned_array(shape, dtype=numpy.float64, strides=None, order="C"):
    """A new NumPy array in pinned memory, uninitialised: copies on a stream run while the program goes on."""
    return _host_array("pinned", shape, dtype, strides, order)


def pinned_array_like(ary):
    """A new pinned_array with ary's shape, dtype and order."""
    return pinned_array(ary.shape, ary.dtype, order=_order_of(ary))


def mapped_array(shape, dtype=numpy.float64, strides=None, order="C", stream=0, portable=False, wc=False):
    """A new NumPy array, uninitialised, in pinned memory that kernels read and write over the bus: before the host
    looks at what they wrote, it has to wait for them. wc: past the host's caches, for what the host only writes."""
    return _host_array("mapped", shape, dtype, strides, order, wc)


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    """A new mapped_array with ary's shape, dtype and order."""
    return mapped_array(ary.shape, ary.dtype, order=_order_of(ary), wc=wc)


def managed_array(shape, dtype=numpy.float64, strides=None, order="C", stream=0, attach_global=True):
    """A new NumPy array, uninitialised, whose pages move to where they are used, host or device. Before the host looks
    at what kernels wrote, it has to wait for them."""
    if not attach_global:
        raise ValueError("managed_array: attach_global=False is not supported")
    return _host_array("managed", shape, dtype, strides, order)


@contextlib.contextmanager
def _registered(arrays):
    with contextlib.ExitStack() as stack:
        held = []
        for a in arrays:
            memory = _core.HostMemory(_core.device(), "registered", a)
            stack.callback(memory.release)
            held.append(memory)
        yield held


@contextlib.contextmanager
def pinned(*arylist):
    """Pins the memory of NumPy arrays for a block: copies on streams run while the program goes on. Contiguous
    arrays."""
    with _registered(arylist):
        yield


@contextlib.contextmanager
def mapped(*arylist, stream=0, portable=False):
    """For a block, arrays over the memory of NumPy arrays that kernels read and write over the bus: a list of them, or
    the array itself of one. Not to be used after the block. Contiguous arrays."""
    with _registered(arylist) as held:
        made = [_over(memory, a) for memory, a in zip(held, arylist)]
        yield made[0] if len(made) == 1 else made


def _over(memory, a):
    flat = memory.array()
    if _is_record(a.dtype):
        return DeviceRecords(a.shape, a.dtype, flat, _order_of(a))
    flat = flat.view(a.dtype)
    return flat.reshape(a.shape[::-1]).T if _order_of(a) == "F" else flat.reshape(a.shape)


# ---- other processes ----


class IpcArrayHandle:
    """What another process opens an array's memory by; it travels by pickle. Not opened in the process that made it."""

    def __init__(self, sent, shape, dtype, order):
        self._sent, self.shape, self.dtype, self._order = sent, shape, dtype, order
        self._array = None

    def __reduce__(self):
        return IpcArrayHandle, (self._sent, self.shape, self.dtype, self._order)

    def open(self):
        """The array, of the same memory: who writes on one side is seen on the other."""
        if self._array is None:
            self._array = _core._receive(*self._sent)._with_scalars()
        return self._array

    def open_array(self, context, shape, dtype, strides=None):
        """The memory as an array of that shape and dtype."""
        return _part(self.open(), shape, dtype, strides, 0)

    def close(self):
        """Lets go of the memory; arrays that were opened keep it."""
        self._array = None

    def __enter__(self):
        return self.open()

    def __exit__(self, *exc):
        self.close()


@contextlib.contextmanager
def open_ipc_array(handle, shape, dtype, strides=None, offset=0):
    """For a block, the memory of a handle of get_ipc_handle() as an array; offset: bytes before it."""
    try:
        yield _part(handle.open(), shape, dtype, strides, offset)
    finally:
        handle.close()


def _part(array, shape, dtype, strides, offset):
    """The memory of a contiguous array from a byte offset on, as an array of that shape and dtype."""
    shape, dtype = _shape(shape), _dtype(dtype)
    flat = array.reshape(-1, copy=False).view("uint8")[offset:]
    flat = flat[: math.prod(shape) * dtype.itemsize].view(dtype)
    return flat.reshape(shape) if _order(shape, dtype, strides, "C") == "C" else flat.reshape(shape[::-1]).T
