"""Device memory and what is copied into it and out of it, by PyCUDA's names."""

import math

import numpy

from ... import _core
from ..._core import DeviceAllocation
from ._errors import refusal

_copy_host = _core._raw_copy_host
_copy = _core._raw_copy
_fill = _core._raw_fill

mem_alloc = DeviceAllocation
ALIGNMENT = 512  # bytes; the alignment of rows in mem_alloc_pitch, which texture units need


class PointerHolderBase:
    """What has device memory in a way of its own: a class derived from it with get_pointer(), which returns the
    address, stands for a DeviceAllocation in all calls."""

    def get_pointer(self):
        raise NotImplementedError(f"{type(self).__name__} has no get_pointer()")

    def as_buffer(self, size, offset=0):
        """A memoryview, where the host reaches the memory."""
        return _core._raw_view(self.get_pointer() + offset, size)

    def __int__(self):
        return int(self.get_pointer())

    __index__ = __int__


def mem_alloc_like(ary):
    """Memory for as many bytes as ary has."""
    return DeviceAllocation(ary.nbytes)


def mem_alloc_pitch(width, height, access_size):
    """Memory for height rows of width bytes, and the bytes from row to row: (DeviceAllocation, pitch)."""
    if access_size not in (4, 8, 16):
        raise refusal(f"cuMemAllocPitch({width}, {height}, {access_size})", "elements have 4, 8 or 16 bytes")
    pitch = -(-width // ALIGNMENT) * ALIGNMENT
    return DeviceAllocation(pitch * height), pitch


def mem_get_info():
    """(free, total) bytes of the current device."""
    stats = _core._raw_current().memory_stats()
    return stats["free"] + stats["cached"], stats["total"]


# ---- between the host and the device ----


def memcpy_htod(dest, src):
    """Copies the buffer src to the device memory dest."""
    _copy_host(False, dest, src, None, True)


def memcpy_htod_async(dest, src, stream=None):
    """As memcpy_htod, on a stream. Pinned memory has to stay as it is until the stream has passed; other memory has
    been read on return."""
    _copy_host(False, dest, src, stream, False)


def memcpy_dtoh(dest, src):
    """Fills the buffer dest from the device memory src."""
    _copy_host(True, src, dest, None, True)


def memcpy_dtoh_async(dest, src, stream=None):
    """As memcpy_dtoh, on a stream. Pinned memory is filled when the stream has passed, other memory on return."""
    _copy_host(True, src, dest, stream, False)


def memcpy_dtod(dest, src, size):
    """Copies size bytes from src to dest, both on the device."""
    _copy(dest, src, size, None, False)


def memcpy_dtod_async(dest, src, size, stream=None):
    """Copies size bytes within the device, in the order of the stream; returns at once."""
    _copy(dest, src, size, stream, False)


def memcpy_peer(dest, src, size, dest_context=None, src_context=None):
    """Copies size bytes between devices, whose contexts are named where addresses are ints."""
    _core._raw_peer(dest, src, size, _device_of(dest_context), _device_of(src_context), None, True)


def memcpy_peer_async(dest, src, size, dest_context=None, src_context=None, stream=None):
    """Copies size bytes from one device to another, in the order of the stream; returns at once."""
    _core._raw_peer(dest, src, size, _device_of(dest_context), _device_of(src_context), stream, False)


def _device_of(context):
    return None if context is None else context._device


def to_device(bf_obj):
    """New device memory with the contents of a buffer."""
    made = DeviceAllocation(memoryview(bf_obj).nbytes if not isinstance(bf_obj, numpy.ndarray) else bf_obj.nbytes)
    memcpy_htod(made, bf_obj)
    return made


def from_device(devptr, shape, dtype, order="C"):
    """A NumPy array of that shape and dtype filled from device memory."""
    dtype = numpy.dtype(dtype)
    shape = (shape,) if isinstance(shape, (int, numpy.integer)) else tuple(shape)
    made = numpy.ndarray(shape, dtype, _core._host_bytes(math.prod(shape) * dtype.itemsize), order=order)
    memcpy_dtoh(made, devptr)
    return made


def from_device_like(devptr, other_ary):
    """A NumPy array like other_ary filled from device memory."""
    made = numpy.empty_like(other_ary)
    memcpy_dtoh(made, devptr)
    return made


# ---- fills ----


def _word(size, data):
    data = int(data)
    if not -(1 << (8 * size - 1)) <= data < 1 << 8 * size:
        raise OverflowError(f"memset_d{8 * size}: {data} does not fit into {8 * size} bits")
    return data & ((1 << 8 * size) - 1)


def _memset(size, doc):
    def plain(dest, data, count):
        _fill(dest, 0, size, _word(size, data), count, 1, None, False)

    def later(dest, data, count, stream=None):
        _fill(dest, 0, size, _word(size, data), count, 1, stream, False)

    def block(dest, pitch, data, width, height):
        _fill(dest, pitch, size, _word(size, data), width, height, None, False)

    def block_later(dest, pitch, data, width, height, stream=None):
        _fill(dest, pitch, size, _word(size, data), width, height, stream, False)

    for fn, name in (
        (plain, "memset_d{}"),
        (later, "memset_d{}_async"),
        (block, "memset_d2d{}"),
        (block_later, "memset_d2d{}_async"),
    ):
        fn.__name__ = fn.__qualname__ = name.format(8 * size)
        fn.__doc__ = f"{doc}; count and width count elements, pitch is the bytes from row to row."
    return plain, later, block, block_later


memset_d8, memset_d8_async, memset_d2d8, memset_d2d8_async = _memset(1, "Sets bytes")
memset_d16, memset_d16_async, memset_d2d16, memset_d2d16_async = _memset(2, "Sets 16-bit words")
memset_d32, memset_d32_async, memset_d2d32, memset_d2d32_async = _memset(4, "Sets 32-bit words")


# ---- arguments of kernels ----


class ArgumentHandler:
    """An array of the host's as a kernel's argument: pre_call and post_call copy it round the launch."""

    def __init__(self, ary):
        self.array = ary
        self.dev_alloc = None

    def get_device_alloc(self):
        """The device memory that stands for the array during the launch."""
        if self.dev_alloc is None:
            try:
                self.dev_alloc = mem_alloc_like(self.array)
            except AttributeError:
                raise TypeError(f"In, Out and InOut take arrays, not {type(self.array).__name__}") from None
        return self.dev_alloc

    def pre_call(self, stream):
        pass

    def post_call(self, stream):
        pass

    def _in(self, stream):
        memory = self.get_device_alloc()
        memcpy_htod(memory, self.array) if stream is None else memcpy_htod_async(memory, self.array, stream)

    def _out(self, stream):
        memory = self.get_device_alloc()
        memcpy_dtoh(self.array, memory) if stream is None else memcpy_dtoh_async(self.array, memory, stream)


class In(ArgumentHandler):
    """In(array): copied to the device before the launch."""

    def pre_call(self, stream):
        self._in(stream)


class Out(ArgumentHandler):
    """Out(array): filled from the device after the launch."""

    def post_call(self, stream):
        self._out(stream)


class InOut(In, Out):
    """InOut(array): copied to the device before the launch, filled from it after."""
