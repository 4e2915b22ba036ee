"""PyCUDA's tools: contexts for programs and tests, names of types, memory pools, devices in numbers."""

import functools
import gc
import operator
import os
import re
import struct

import numpy

from .._public import dir_of as _dir_of
from . import driver as cuda
from ._arrays._vec import NAMES, vec
from ._driver._pools import (
    DeviceMemoryPool,
    PageLockedAllocator,
    PageLockedMemoryPool,
    PooledDeviceAllocation,
    PooledHostAllocation,
)


def _wanted():
    """The device number that CUDA_DEVICE or ~/.cuda_device gives. None where neither exists. Raises ValueError where
    it is no number."""
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
    why = "; ".join(map(str, errors))
    raise cuda.RuntimeError(f"no context could be made on any of {cuda.Device.count()} devices: {why}")


# ---- what belongs to a context ----

_caches = []


def clear_context_caches():
    """Forgets what context_dependent_memoize has kept."""
    for cache in _caches:
        cache.clear()


def context_dependent_memoize(func):
    """func's results are kept for its arguments and the current device."""
    cache = {}
    _caches.append(cache)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        key = (cuda.Context.get_device(), args, tuple(sorted(kwargs.items())))
        try:
            return cache[key]
        except KeyError:
            cache[key] = result = func(*args, **kwargs)
            return result

    wrapper.cache = cache
    return wrapper


def context_dependent_memoize_with_key(key):
    """As context_dependent_memoize, the results kept for key(*args) in place of the arguments."""

    def decorate(func):
        found = context_dependent_memoize(lambda _key, call: call())

        @functools.wraps(func)
        def wrapper(*args):
            return found(key(*args), _Call(func, args))

        return wrapper

    return decorate


class _Call:
    """A call that equals every other one, so that it takes no part in the key."""

    def __init__(self, func, args):
        self.func, self.args = func, args

    def __call__(self):
        return self.func(*self.args)

    def __eq__(self, other):
        return isinstance(other, _Call)

    def __hash__(self):
        return 0


# ---- numbers and types ----


def bitlog2(n):
    """How often n can be halved before it is 0, less one: the place of its highest bit. ValueError: n < 1."""
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"bitlog2({n}): a number above 0 has a logarithm")
    return n.bit_length() - 1


_CTYPES = {}  # numpy.dtype: name in C
_DTYPES = {}  # name in C: numpy.dtype


def register_dtype(dtype, name):
    """Types of that name, or of each of a list of names, are this dtype from now on. RuntimeError: one of them is
    another dtype already."""
    dtype = numpy.dtype(dtype)
    names = [name] if isinstance(name, str) else list(name)
    for n in names:
        if _DTYPES.get(n, dtype) != dtype:
            raise cuda.RuntimeError(f"register_dtype: '{n}' is {_DTYPES[n]} already, not {dtype}")
    for n in names:
        _DTYPES[n] = dtype
    _CTYPES.setdefault(dtype, names[0])


def get_or_register_dtype(c_names, dtype=None):
    """The dtype of the name, or of a list of names; with dtype it is registered where it was not."""
    names = [c_names] if isinstance(c_names, str) else list(c_names)
    if dtype is not None:
        register_dtype(dtype, names)
        return numpy.dtype(dtype)
    for n in names:
        if n in _DTYPES:
            return _DTYPES[n]
    raise TypeError(f"no dtype is known for the type '{names[0]}': register_dtype(dtype, name) tells it")


for _dtype, _names in (
    (numpy.bool_, ["bool"]),
    (numpy.int8, ["signed char"]),
    (numpy.uint8, ["unsigned char"]),
    (numpy.int16, ["short", "signed short", "signed short int", "short signed int", "short int", "int16_t"]),
    (numpy.uint16, ["unsigned short", "unsigned short int", "short unsigned int", "uint16_t"]),
    (numpy.int32, ["int", "signed int", "signed", "int32_t"]),
    (numpy.uint32, ["unsigned", "unsigned int", "unsigned int32", "uint32_t"]),
    (
        numpy.int64,
        ["long", "long int", "signed long", "long long", "long long int", "signed long long", "int64_t", "ptrdiff_t"],
    ),
    (
        numpy.uint64,
        [
            "unsigned long",
            "unsigned long int",
            "long unsigned int",
            "unsigned long long",
            "unsigned long long int",
            "uint64_t",
            "size_t",
        ],
    ),
    (numpy.float16, ["half", "__half"]),
    (numpy.float32, ["float"]),
    (numpy.float64, ["double"]),
    (numpy.complex64, ["pycuda::complex<float>"]),
    (numpy.complex128, ["pycuda::complex<double>"]),
):
    register_dtype(_dtype, _names)
_DTYPES["char"] = numpy.dtype(numpy.int8)
for _dtype, _name in NAMES.items():
    register_dtype(_dtype, _name)
_DTYPES.update({name: getattr(vec, name) for name in vars(vec) if isinstance(getattr(vec, name), numpy.dtype)})
del _dtype, _names, _name


def dtype_to_ctype(dtype, with_fp_tex_hack=False):
    """The name of a dtype in CUDA C++. with_fp_tex_hack: numbers that texture units lack as types of
    pycuda-helpers.hpp. ValueError: it has none, register_dtype gives one."""
    if dtype is None:
        raise ValueError("dtype may not be None")
    dtype = numpy.dtype(dtype)
    if with_fp_tex_hack:
        hacked = {numpy.float64: "fp_tex_double", numpy.complex64: "fp_tex_cfloat", numpy.complex128: "fp_tex_cdouble"}
        for kind, name in hacked.items():
            if dtype == numpy.dtype(kind):
                return name
    try:
        return _CTYPES[dtype]
    except KeyError:
        raise ValueError(f"no C type is known for {dtype}: register_dtype(dtype, name) tells it") from None


def platform_bits():
    """64."""
    return struct.calcsize("P") * 8


def parse_c_arg(c_arg, scalar_factory=None, vec_factory=None):
    """An argument's declaration, "float *x" or "int n", as a VectorArg or ScalarArg."""
    text = re.sub(r"\b(const|volatile|__restrict__|__restrict)\b", " ", c_arg).strip()
    found = re.fullmatch(r"(.*?)([*\s]+)([A-Za-z_]\w*)", text, re.DOTALL)
    if not found or not found[1].strip():
        raise ValueError(f"'{c_arg}' declares no argument: a type and a name do")
    stars, type_name = found[2].count("*"), " ".join(found[1].split())
    if stars > 1:
        raise ValueError(f"'{c_arg}': pointers to pointers cannot be arguments")
    dtype = get_or_register_dtype(re.sub(r"\s*([<>:]+)\s*", r"\1", type_name))
    if not stars:
        return (scalar_factory or ScalarArg)(dtype, found[3])
    arg = (vec_factory or VectorArg)(dtype, found[3])
    arg.const = bool(re.search(r"\bconst\b[^*]*\*", c_arg))
    return arg


def parse_c_args(text):
    """The arguments of declarations between commas, in order."""
    return [parse_c_arg(part) for part in re.split(r",(?![^<]*>)", text)]


def get_arg_type(c_arg):
    """The letter, in the format of Function.prepare, of a declaration."""
    return parse_c_arg(c_arg).struct_char


class Argument:
    """A kernel's argument: dtype and name."""

    def __init__(self, dtype, name):
        self.dtype = numpy.dtype(dtype)
        self.name = name

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"


class VectorArg(Argument):
    """VectorArg(dtype, name, with_offset=False): an array, as a pointer; with_offset: element 0 is so many elements
    behind; const: the kernel only reads it."""

    struct_char = "P"

    def __init__(self, dtype, name, with_offset=False, const=False):
        super().__init__(dtype, name)
        self.with_offset, self.const = with_offset, const

    def declarator(self):
        """As it stands in a kernel's parameters."""
        if self.with_offset:
            return f"{dtype_to_ctype(self.dtype)} *{self.name}__base, size_t {self.name}__offset"
        return f"{'const ' * self.const}{dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """ScalarArg(dtype, name): a number."""

    @property
    def struct_char(self):
        return f"{self.dtype.itemsize}s" if self.dtype.kind == "V" else self.dtype.char

    def declarator(self):
        """As it stands in a kernel's parameters."""
        return f"{dtype_to_ctype(self.dtype)} {self.name}"


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


__dir__ = _dir_of(__name__)
