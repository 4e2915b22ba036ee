"""Host memory that a device reaches, as NumPy arrays: page-locked, managed, registered, aligned.

An array's ``base`` is an object of the classes here. Its memory lives as long as an array on it, also after free().
"""

import math
import operator

import numpy

from ... import _core
from ._enums import host_alloc_flags, mem_attach_flags
from ._errors import LogicError, refusal


def shape_of(shape):
    try:
        return (operator.index(shape),)
    except TypeError:
        return tuple(operator.index(n) for n in shape)


class HostPointer:
    """Host memory with an address on the device."""

    def __init__(self, memory):
        self._memory = memory
        self._freed = False

    @property
    def __array_interface__(self):
        return self._layout.interface

    @property
    def ptr(self):
        """The address on the host."""
        return self._memory.ptr

    def _check(self, what):
        if self._freed:
            raise refusal(f"{what}", "the memory was freed")

    def get_device_pointer(self):
        """Where kernels find the memory: an int."""
        self._check("cuMemHostGetDevicePointer")
        return self._memory.device_ptr

    def _free(self, what):
        """Drop the memory. It is freed once no array uses it."""
        self._check(what)
        self._freed = True


class HostAllocation(HostPointer):
    """Host memory that was made for a device."""


class PagelockedHostAllocation(HostAllocation):
    """Page-locked memory: pagelocked_empty(…).base."""

    def __init__(self, memory, flags):
        super().__init__(memory)
        self._flags = flags

    def get_flags(self):
        """The host_alloc_flags that it was made with."""
        return self._flags

    def free(self):
        """Lets go of the memory; it goes when no array shows it. LogicError: it was freed before."""
        self._free("cuMemFreeHost")


class ManagedAllocation(HostPointer):
    """Memory that host and device share: managed_empty(…).base."""

    _managed = True  # arrays over it can be arguments of kernels

    def free(self):
        """Lets go of the memory; it goes when no array shows it. LogicError: it was freed before."""
        self._free("cuMemFree")

    def attach(self, flags, stream=None):
        """Who may use it, as mem_attach_flags; counts from the stream's work so far on."""
        self._check("cuStreamAttachMemAsync")
        _core._raw_attach(self._memory.device_ptr, int(flags), stream)


class RegisteredHostMemory(HostPointer):
    """An array's own memory, page-locked: register_host_memory(ary).base. base: that array."""

    def __init__(self, memory, base):
        super().__init__(memory)
        self.base = base

    def unregister(self):
        """The memory is ordinary again, after the device's work. LogicError: it was before."""
        self._free("cuMemHostUnregister")
        self._memory.release()


class AlignedHostAllocation(HostPointer):
    """Ordinary memory that begins at a multiple of a number: aligned_empty(…).base."""

    def __init__(self, nbytes, alignment):
        if alignment < 1 or alignment & (alignment - 1):
            raise ValueError(f"aligned_empty: alignment {alignment} is no power of two")
        self._room = numpy.empty(nbytes + alignment, numpy.uint8)
        self._offset = -self._room.ctypes.data % alignment
        self._freed = False

    ptr = property(lambda self: self._room.ctypes.data + self._offset, doc="The address.")

    def get_device_pointer(self):
        raise refusal("cuMemHostGetDevicePointer", "the memory is ordinary: register_host_memory it")

    def free(self):
        """Lets go of the memory; it goes when no array shows it."""
        self._free("free")


class _Layout:
    """The layout of memory as an array. numpy.asarray reads it, so that the array's base becomes the memory's owner
    itself."""

    def __init__(self, ptr, shape, dtype, order):
        strides = tuple(dtype.itemsize * math.prod(shape[:axis]) for axis in range(len(shape)))
        self.interface = {
            "shape": shape,
            "typestr": dtype.str,
            "descr": dtype.descr,
            "strides": strides if order == "F" and math.prod(shape) else None,
            "data": (ptr, False),
            "version": 3,
        }


def as_array(owner, ptr, shape, dtype, order):
    """An array of owner's memory, whose base is owner."""
    owner._layout = _Layout(ptr, shape, dtype, order)
    made = numpy.asarray(owner)
    return made if made.dtype == dtype else made.view(dtype)  # dtypes of other packages, such as bfloat16


def made(make, shape, dtype, order):
    """An array over memory that make(bytes) allocates."""
    shape, dtype = shape_of(shape), numpy.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"memory for a device holds no Python objects: {dtype}")
    if any(n < 0 for n in shape):
        raise ValueError(f"negative dimensions are not allowed: {shape}")
    if order not in ("C", "F"):
        raise LogicError(f"order is 'C' or 'F', not {order!r}")
    owner = make(math.prod(shape) * dtype.itemsize)
    return as_array(owner, owner.ptr, shape, dtype, order)


def _order_of(ary):
    return "F" if ary.flags.f_contiguous and not ary.flags.c_contiguous else "C"


def pagelocked_empty(shape, dtype, order="C", mem_flags=0):
    """A NumPy array in page-locked memory, contents undefined. mem_flags: host_alloc_flags; kernels reach the memory at
    base.get_device_pointer() with any."""
    flags = host_alloc_flags(int(mem_flags))
    combined = bool(flags & host_alloc_flags.WRITECOMBINED)

    def make(nbytes):
        return PagelockedHostAllocation(_core.HostMemory(_core._raw_current(), "mapped", nbytes, combined), flags)

    return made(make, shape, dtype, order)


def managed_empty(shape, dtype, order="C", mem_flags=0):
    """A NumPy array in memory that host and device share, contents undefined: kernels take it as it is. mem_flags:
    mem_attach_flags. Synchronise before the host looks at what a kernel wrote."""
    flags = int(mem_flags)
    if flags not in (0, *map(int, mem_attach_flags)):
        raise refusal(f"cuMemAllocManaged({flags})", "flags is one of mem_attach_flags")

    def make(nbytes):
        return ManagedAllocation(_core.HostMemory(_core._raw_current(), "managed", nbytes))

    return made(make, shape, dtype, order)


def aligned_empty(shape, dtype, order="C", alignment=4096):
    """A NumPy array in ordinary memory that begins at a multiple of alignment."""
    return made(lambda nbytes: AlignedHostAllocation(nbytes, alignment), shape, dtype, order)


def _family(empty):
    """Make zeros, empty_like and zeros_like from a function like empty."""
    name = empty.__name__.removesuffix("_empty")

    def zeros(shape, dtype, order="C", **options):
        found = empty(shape, dtype, order, **options)
        found.fill(0)
        return found

    def empty_like(ary, **options):
        return empty(ary.shape, ary.dtype, _order_of(ary), **options)

    def zeros_like(ary, **options):
        return zeros(ary.shape, ary.dtype, _order_of(ary), **options)

    for fn, kind in ((zeros, "zeros"), (empty_like, "empty_like"), (zeros_like, "zeros_like")):
        fn.__name__ = fn.__qualname__ = f"{name}_{kind}"
        like = ", in the shape, dtype and order of ary" if "like" in kind else ""
        fn.__doc__ = f"As {name}_empty, {'filled with zeros' if 'zeros' in kind else 'contents undefined'}{like}."
    return zeros, empty_like, zeros_like


pagelocked_zeros, pagelocked_empty_like, pagelocked_zeros_like = _family(pagelocked_empty)
managed_zeros, managed_empty_like, managed_zeros_like = _family(managed_empty)
aligned_zeros, aligned_empty_like, aligned_zeros_like = _family(aligned_empty)


def register_host_memory(ary, flags=0):
    """An array on ary's memory, which is page-locked as long as that array, or until base.unregister()."""
    del flags  # memory is always mapped, and for all contexts
    if not (ary.flags.c_contiguous or ary.flags.f_contiguous):
        raise ValueError("register_host_memory: the array is not contiguous")
    owner = RegisteredHostMemory(_core.HostMemory(_core._raw_current(), "registered", ary), ary)
    return as_array(owner, owner.ptr, ary.shape, ary.dtype, _order_of(ary))


mem_host_register = register_host_memory
