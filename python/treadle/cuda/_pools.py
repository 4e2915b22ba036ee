"""CuPy's names for memory: pools, allocators, pinned and managed memory.

Arrays get their memory from treadle's own pool of the device (treadle.memory), which `get_default_memory_pool()`
shows. An allocator that the program sets serves `alloc` only, not arrays.
"""

import contextlib
import threading
import warnings

from .. import _core
from ._devices import Device, number
from ._memory import MemoryPointer

OutOfMemoryError = _core.OutOfMemoryError
_local = threading.local()
_chosen = None  # the allocator that set_allocator() was given


class BaseMemory:
    """Memory of a device. ptr: its address, an int; size: bytes; device_id, device."""

    ptr = property(lambda self: self._array._address() if self.size else 0)
    device = property(lambda self: Device(self._array.device))
    device_id = property(lambda self: self._array.device.index)

    def __int__(self):
        return self.ptr

    def __repr__(self):
        return f"<{type(self).__name__} {self.ptr:#x}, {self.size} bytes on {self._array.device}>"


class Memory(BaseMemory):
    """Memory(size): size bytes of the current device, from treadle's pool. OutOfMemoryError."""

    def __init__(self, size):
        self.size, self._array = int(size), _core.empty(int(size), "uint8")


MemoryAsync = Memory


class ManagedMemory(BaseMemory):
    """ManagedMemory(size): bytes that host and device both reach."""

    def __init__(self, size):
        self.size = int(size)
        self._array = _core.HostMemory(_core.device(), "managed", self.size).array()

    def prefetch(self, stream, *, device_id=None):
        """Does nothing: pages move when they are used."""

    def advise(self, advise, device):
        """Does nothing: the driver decides."""


class UnownedMemory(BaseMemory):
    """UnownedMemory(ptr, size, owner, device_id=-1): memory of another's; owner is kept as long as this lives."""

    def __init__(self, ptr, size, owner, device_id=-1):
        self.size = int(size)
        device = _core.device() if device_id < 0 else number(device_id)
        self._array = _core._bytes_at(device, int(ptr), self.size, owner)


# ---- pools ----


class MemoryPool:
    """MemoryPool(allocator=None): a source of memory for `malloc`, with counts of its own. allocator(size) gives a
    MemoryPointer or memory; None: treadle's pool, which keeps what is given back for later requests.

    get_default_memory_pool() has the counts of treadle's pool itself, arrays included, of the current device."""

    def __init__(self, allocator=None):
        self._allocator = allocator
        self._live, self._lock = {}, threading.Lock()

    def malloc(self, size):
        """MemoryPointer of size bytes, uninitialised. OutOfMemoryError."""
        import weakref

        got = Memory(size) if self._allocator is None else self._allocator(size)
        pointer = got if isinstance(got, MemoryPointer) else MemoryPointer(got, 0)
        with self._lock:
            self._live[id(pointer.mem)] = int(size)
        weakref.finalize(pointer.mem, self._live.pop, id(pointer.mem), None)
        return pointer

    def used_bytes(self):
        with self._lock:
            return sum(self._live.values())

    total_bytes = used_bytes

    def free_bytes(self):
        return 0

    def n_free_blocks(self):
        return 0

    def free_all_blocks(self, stream=None):
        """Gives the memory that no array has back to the system."""
        _core.device().memory_trim()

    def free_all_free(self):
        self.free_all_blocks()

    def set_limit(self, size=None, fraction=None):
        raise ValueError("set_limit: only the default pool, get_default_memory_pool(), has a limit")

    def get_limit(self):
        """0: there is none."""
        return 0


MemoryAsyncPool = MemoryPool


class _DefaultPool(MemoryPool):
    """treadle's pool of the current device, by CuPy's names; treadle.memory has more."""

    def used_bytes(self):
        """Bytes that arrays hold."""
        return _core.device().memory_stats()["used"]

    def free_bytes(self):
        """Bytes that the pool keeps for later requests."""
        return _core.device().memory_stats()["cached"]

    def total_bytes(self):
        return self.used_bytes() + self.free_bytes()

    def n_free_blocks(self):
        """1 where the pool keeps memory, else 0: its free blocks are merged and not counted."""
        return int(self.free_bytes() > 0)

    def set_limit(self, size=None, fraction=None):
        """The most bytes, or the most of the device's memory (0 to 1), that arrays and kept memory take together;
        0 or neither: no limit."""
        if size is not None and fraction is not None:
            raise ValueError("set_limit: size or fraction, not both")
        device = _core.device()
        if fraction is not None:
            if not 0 <= fraction <= 1:
                raise ValueError(f"set_limit: fraction {fraction} is not in 0 … 1")
            size = int(fraction * device.memory)
        if size is not None and size < 0:
            raise ValueError(f"set_limit: {size} bytes")
        device.memory_limit(size or None)

    def get_limit(self):
        """Bytes; 0: no limit."""
        return _core.device().memory_stats()["limit"] or 0


_default_pool = _DefaultPool()


def get_default_memory_pool():
    """treadle's pool of the current device, with CuPy's methods: used_bytes, free_bytes, total_bytes, n_free_blocks,
    free_all_blocks, set_limit, get_limit, malloc."""
    return _default_pool


# ---- allocators ----


def alloc(size):
    """MemoryPointer of size bytes by the current allocator. OutOfMemoryError."""
    return get_allocator()(size)


def malloc_managed(size):
    """MemoryPointer of size bytes that host and device both reach."""
    return MemoryPointer(ManagedMemory(size), 0)


def malloc_async(size):
    """MemoryPointer of size bytes."""
    return MemoryPointer(Memory(size), 0)


def get_allocator():
    """What `alloc` calls."""
    return getattr(_local, "allocator", None) or _chosen or _default_pool.malloc


def _told(allocator):
    """Warn that arrays do not use an allocator other than treadle's pool."""
    own = getattr(allocator, "__self__", None)
    if allocator is None or (isinstance(own, MemoryPool) and own._allocator is None):
        return
    warnings.warn(
        f"set_allocator: {allocator!r} serves treadle.cuda.alloc; arrays have their memory from treadle's pool",
        RuntimeWarning, stacklevel=3,
    )  # fmt: skip


def set_allocator(allocator=None):
    """allocator(size) serves `alloc` from now on; None: the default pool's malloc. Arrays have their memory from
    treadle's pool in any case: RuntimeWarning where allocator is not a plain pool's."""
    global _chosen
    if getattr(_local, "allocator", None) is not None:
        raise ValueError("set_allocator: not inside of using_allocator")
    _told(allocator)
    _chosen = allocator


@contextlib.contextmanager
def using_allocator(allocator=None):
    """set_allocator for a block, in this thread."""
    outer = getattr(_local, "allocator", None)
    _told(allocator)
    _local.allocator = allocator or _default_pool.malloc
    try:
        yield
    finally:
        _local.allocator = outer


# ---- pinned memory ----


class PinnedMemory:
    """PinnedMemory(size, flags=0): size bytes of pinned host memory. ptr: the address; size."""

    def __init__(self, size, flags=0):
        self.size = int(size)
        self._memory = _core.HostMemory(_core.device(), "pinned", max(self.size, 1), combined=bool(flags & 4))

    ptr = property(lambda self: self._memory.ptr)

    def __int__(self):
        return self.ptr


class PinnedMemoryPointer:
    """PinnedMemoryPointer(mem, offset=0): the bytes of a PinnedMemory, with the buffer protocol, ptr and size():
    numpy.frombuffer(p, dtype, count) is an array over them, which keeps them."""

    def __new__(cls, mem, offset=0):
        if offset:
            raise ValueError("PinnedMemoryPointer: offset is 0; numpy.frombuffer(p, dtype, count, offset) has one")
        return mem._memory


class PinnedMemoryPool:
    """PinnedMemoryPool(allocator=None): a source of pinned memory for `malloc`; the driver is asked each time."""

    def __init__(self, allocator=None):
        self._allocator = allocator

    def malloc(self, size):
        """What PinnedMemoryPointer gives, of size bytes."""
        if self._allocator is not None:
            return self._allocator(size)
        return PinnedMemoryPointer(PinnedMemory(size))

    def free_all_blocks(self):
        """Nothing is kept."""

    def n_free_blocks(self):
        return 0


_default_pinned = PinnedMemoryPool()
_pinned = _default_pinned.malloc


def get_default_pinned_memory_pool():
    """The PinnedMemoryPool that page-locked memory of the host comes from."""
    return _default_pinned


def alloc_pinned_memory(size):
    """size bytes of pinned host memory: an object with the buffer protocol, ptr and size()."""
    return _pinned(size)


def set_pinned_memory_allocator(allocator=None):
    """allocator(size) serves alloc_pinned_memory from now on; None: the default pool's malloc."""
    global _pinned
    _pinned = allocator or _default_pinned.malloc
