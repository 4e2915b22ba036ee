"""PyCUDA's tools: contexts for programs and tests, names of types, memory pools, devices in numbers."""

import functools
import gc
import operator
import os
import struct

from . import driver as cuda
from ._carguments import (
    Argument,
    ScalarArg,
    VectorArg,
    clear_context_caches,
    context_dependent_memoize,
    dtype_to_ctype,
    get_arg_type,
    get_or_register_dtype,
    parse_c_arg,
    register_dtype,
)
from ._pools import (
    DeviceMemoryPool,
    PageLockedAllocator,
    PageLockedMemoryPool,
    PooledDeviceAllocation,
    PooledHostAllocation,
)


def _wanted():
    """The device that CUDA_DEVICE or ~/.cuda_device names; None: neither is there. ValueError: it is no number."""
    text = os.environ.get("CUDA_DEVICE")
    if text is None:
        try:
            with open(os.path.expanduser("~/.cuda_device"), encoding="utf-8") as file:
                text = file.read()
        except OSError:
            return None
    return int(text.strip())


def get_default_device(default=0):
    """The Device that CUDA_DEVICE or ~/.cuda_device names, else that of the number."""
    number = _wanted()
    return cuda.Device(default if number is None else number)


def make_default_context(ctx_maker=None):
    """A context, pushed, on the device that CUDA_DEVICE or ~/.cuda_device names, else on the first that can."""
    make = ctx_maker or (lambda device: device.make_context())
    number = _wanted()
    if number is not None:
        return make(cuda.Device(number))
    errors = []
    for n in range(cuda.Device.count()):
        try:
            return make(cuda.Device(n))
        except cuda.Error as error:
            errors.append(error)
    raise cuda.RuntimeError(
        f"no context could be made on any of {cuda.Device.count()} devices: {'; '.join(map(str, errors))}"
    )


# ---- numbers ----


def bitlog2(n):
    """How often n can be halved before it is 0, less one: the place of its highest bit. ValueError: n < 1."""
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"bitlog2({n}): a number above 0 has a logarithm")
    return n.bit_length() - 1


def platform_bits():
    """64."""
    return struct.calcsize("P") * 8


# ---- devices in numbers ----


class DeviceData:
    """What a device's multiprocessors have: max_threads of a block, warp_size, registers, shared_memory of a block,
    thread_blocks_per_mp, warps_per_mp, and how they are dealt out."""

    def __init__(self, dev=None):
        dev = cuda.Context.get_device() if dev is None else dev
        self.max_threads = dev.get_attribute(cuda.device_attribute.MAX_THREADS_PER_BLOCK)
        self.warp_size = dev.get_attribute(cuda.device_attribute.WARP_SIZE)
        threads = dev.get_attribute(cuda.device_attribute.MAX_THREADS_PER_MULTIPROCESSOR)
        self.warps_per_mp = threads // self.warp_size
        self.thread_blocks_per_mp = 16
        self.registers = dev.get_attribute(cuda.device_attribute.MAX_REGISTERS_PER_BLOCK)
        self.shared_memory = dev.get_attribute(cuda.device_attribute.MAX_SHARED_MEMORY_PER_BLOCK)
        self.smem_alloc_granularity = 256
        self.smem_granularity = 32

    def align(self, bytes, word_size=4):
        """bytes, rounded up to what the fewest transactions carry."""
        return -(-bytes // self.align_bytes(word_size)) * self.align_bytes(word_size)

    def align_dtype(self, elements, dtype_size):
        """A count of elements of that size, rounded up likewise."""
        return -(-self.align(elements * dtype_size, dtype_size) // dtype_size)

    def align_words(self, word_size):
        """align_bytes in words of that size."""
        return self.align_bytes(word_size) // word_size

    @staticmethod
    def align_bytes(word_size=4):
        """Bytes that accesses of a half warp to words of that size cover. ValueError: no such words."""
        if word_size not in (4, 8, 16):
            raise ValueError(f"no alignment is known for words of {word_size} bytes: they have 4, 8 or 16")
        return {4: 64, 8: 128, 16: 128}[word_size]

    @staticmethod
    def make_valid_tex_channel_count(size):
        """The least count of channels that texture units have and that is not smaller."""
        for valid in (1, 2, 4):
            if size <= valid:
                return valid
        raise ValueError(f"textures have at most 4 channels, not {size}")


class OccupancyRecord:
    """How many blocks of so many threads and so much shared memory a multiprocessor holds: tb_per_mp; why no more:
    limited_by ("device", "warps", "regs" or "smem"); warps_per_mp; occupancy, of 1."""

    def __init__(self, devdata, threads, shared_mem=0, registers=0):
        if threads > devdata.max_threads:
            raise ValueError(f"{threads} threads are more than a block's {devdata.max_threads}")
        bounds = [(devdata.thread_blocks_per_mp, "device")]
        warps = -(-threads // devdata.warp_size)
        bounds.append((devdata.warps_per_mp // warps, "warps"))
        if registers:
            bounds.append((devdata.registers // (-(-registers * devdata.warp_size // 512) * 512 * warps), "regs"))
        if shared_mem:
            taken = -(-shared_mem // devdata.smem_alloc_granularity) * devdata.smem_alloc_granularity
            bounds.append((devdata.shared_memory // taken, "smem"))
        self.tb_per_mp, self.limited_by = min(bounds)
        self.warps_per_mp = self.tb_per_mp * warps
        self.occupancy = self.warps_per_mp / devdata.warps_per_mp


# ---- tests ----


def init_cuda_context_fixture():
    """For pytest: a context round a test, and nothing of it left behind."""
    context = make_default_context()
    try:
        yield context
    finally:
        clear_context_caches()
        gc.collect()
        context.pop()


def mark_cuda_test(inner_f):
    """inner_f, a test, is called in a context of its own."""

    @functools.wraps(inner_f)
    def f(*args, **kwargs):
        context = make_default_context()
        try:
            return inner_f(*args, **kwargs)
        finally:
            clear_context_caches()
            gc.collect()
            context.pop()

    return f
