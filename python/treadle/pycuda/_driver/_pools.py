"""PyCUDA's memory pools: freed blocks are kept in bins and reused immediately.

treadle's own pool, from which they allocate, waits for the device's work before it reuses memory. These pools do not,
like PyCUDA's: a program that uses several streams must order them itself.
"""

import operator
import threading
import weakref

import numpy

from .. import driver as cuda
from . import _host
from ._errors import refusal

_MANTISSA = 2  # mantissa bits of a bin number: sizes within a bin differ by a quarter at most


def bin_number(size):
    """The bin that serves a request of so many bytes."""
    size = max(operator.index(size), 1)
    exponent = max(size.bit_length() - 1 - _MANTISSA, 0)
    return (exponent << _MANTISSA) + (-(-size >> exponent))


def alloc_size(bin_nr):
    """The size of a bin's blocks in bytes, that of its largest request."""
    step = 1 << _MANTISSA
    exponent = max((bin_nr - step) >> _MANTISSA, 0)
    return (bin_nr - (exponent << _MANTISSA)) << exponent


class _Pool:
    """A pool with bins. _get allocates a block. Any thread may call it."""

    def __init__(self):
        self._bins = {}
        self._lock = threading.RLock()  # reentrant, since a finalizer may run anywhere
        self._holding = True
        self.held_blocks = self.active_blocks = 0
        self.managed_bytes = self.active_bytes = 0

    def _take(self, size):
        """Take a block for size bytes: (memory, bytes of the block)."""
        size = operator.index(size)
        if size < 0:
            raise refusal(f"allocate({size})", "a negative size")
        nbytes = alloc_size(bin_number(size))
        with self._lock:
            held = self._bins.get(nbytes)
            memory = held.pop() if held else None
            if memory is not None:
                self.held_blocks -= 1
        if memory is None:
            memory = self._new(nbytes)
        with self._lock:
            self.active_blocks += 1
            self.active_bytes += size
        return memory, nbytes

    def _new(self, nbytes):
        try:
            memory = self._get(nbytes)
        except MemoryError:
            self.free_held()
            memory = self._get(nbytes)
        with self._lock:
            self.managed_bytes += nbytes
        return memory

    def _return(self, memory, nbytes, size):
        """A block is no longer used. Keep it, or free it if the pool has stopped holding."""
        with self._lock:
            self.active_blocks -= 1
            self.active_bytes -= size
            if self._holding:
                self._bins.setdefault(nbytes, []).append(memory)
                self.held_blocks += 1
            else:
                self.managed_bytes -= nbytes

    def free_held(self):
        """Gives back what is kept."""
        with self._lock:
            bins, self._bins = self._bins, {}
            self.managed_bytes -= sum(nbytes * len(held) for nbytes, held in bins.items())
            self.held_blocks = 0

    def stop_holding(self):
        """Gives back what is kept, and keeps nothing from now on."""
        with self._lock:
            self._holding = False
        self.free_held()

    bin_number = staticmethod(bin_number)
    alloc_size = staticmethod(alloc_size)


class _Pooled:
    """A block of a pool. free(), or the end of the object, returns it."""

    def __init__(self, pool, size):
        memory, nbytes = pool._take(size)
        self._memory = memory
        self._end = weakref.finalize(self, pool._return, memory, nbytes, operator.index(size))
        self._end.atexit = False
        self._size = size

    def free(self):
        """Back to the pool. LogicError: it was freed before."""
        self._check("free")
        self._memory = None
        self._end()

    def _check(self, what):
        if self._memory is None:
            raise refusal(f"{what}", "the memory was freed")


class PooledDeviceAllocation(_Pooled, cuda.PointerHolderBase):
    """Device memory of a pool; int() of it is the address."""

    nbytes = property(lambda self: self._size)
    device = property(lambda self: self._memory.device)

    def get_pointer(self):
        self._check("address of a PooledDeviceAllocation")
        return int(self._memory)

    def __len__(self):
        return self._size


class PooledHostAllocation(_Pooled):
    """Page-locked memory of a pool: the base of an array that PageLockedMemoryPool.allocate made. It goes back when no
    array shows it."""

    @property
    def __array_interface__(self):
        self._check("memory of a PooledHostAllocation")
        return self._layout.interface

    ptr = property(lambda self: self._memory.ctypes.data, doc="The address on the host.")

    def get_device_pointer(self):
        """Where kernels find the memory: an int."""
        self._check("cuMemHostGetDevicePointer")
        return self._memory.base.get_device_pointer()

    def free(self):
        """Lets go of the memory; it goes back to the pool when no array shows it. LogicError: it was freed before."""
        self._check("free")
        self._memory = None


class DeviceMemoryPool(_Pool):
    """Device memory in bins: allocate(nbytes). held_blocks, active_blocks, managed_bytes and active_bytes count it."""

    def _get(self, nbytes):
        return cuda.mem_alloc(nbytes)

    def allocate(self, size):
        """A PooledDeviceAllocation of so many bytes."""
        return PooledDeviceAllocation(self, size)

    __call__ = allocate


class PageLockedMemoryPool(_Pool):
    """Page-locked host memory in bins: allocate(shape, dtype)."""

    def __init__(self, allocator=None):
        super().__init__()
        self._flags = getattr(allocator, "flags", 0)

    def _get(self, nbytes):
        return cuda.pagelocked_empty(nbytes, numpy.uint8, mem_flags=self._flags)

    def allocate(self, shape, dtype, order="C"):
        """A NumPy array, contents undefined."""
        return _host.made(lambda nbytes: PooledHostAllocation(self, nbytes), shape, dtype, order)


class PageLockedAllocator:
    """How PageLockedMemoryPool makes memory: with these host_alloc_flags."""

    def __init__(self, flags=0):
        self.flags = int(flags)
