"""Kernels written in Python, by numba.cuda's names, and the device by cupy.cuda's: ``from treadle import cuda``.

Arrays of devices are treadle's own (``treadle.ndarray``), streams and events ``treadle.Stream`` and ``treadle.Event``.
Kernels run on the current device: a GPU, or the CPU. docs/numba.md and docs/cupy.md tell which names there are.
"""

from .. import _core, _public, types
from .._core import Event, OutOfMemoryError, Stream
from .._cupy import _cuda, _names
from .._words import near_in as _near_in
from ..types import (
    VECTORS,
    bfloat16,
    boolean,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    from_dtype,
    int8,
    int16,
    int32,
    int64,
    intc,
    intp,
    none,
    typeof,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    void,
)
from . import _stubs
from ._devices import (
    Context,
    Device,
    MemoryInfo,
    close,
    cuda_error,
    current_context,
    current_device_kind,
    defer_cleanup,
    detect,
    get_current_device,
    gpus,
    is_available,
    is_bfloat16_supported,
    is_float16_supported,
    is_supported_version,
    list_devices,
    profile_start,
    profile_stop,
    profiling,
    require_context,
    select_device,
    synchronize,
)
from ._kernel import (
    compile,
    compile_all,
    compile_for_current_device,
    compile_ptx,
    compile_ptx_for_current_device,
    declare_device,
    jit,
)
from ._memory import (
    IpcArrayHandle,
    MemoryPointer,
    as_cuda_array,
    device_array,
    device_array_like,
    from_cuda_array_interface,
    is_cuda_array,
    managed_array,
    mapped,
    mapped_array,
    mapped_array_like,
    open_ipc_array,
    pinned,
    pinned_array,
    pinned_array_like,
    to_device,
)
from ._streams import (
    ExternalStream,
    default_stream,
    event,
    event_elapsed_time,
    external_stream,
    get_current_stream,
    get_elapsed_time,
    legacy_default_stream,
    per_thread_default_stream,
    stream,
)
from .args import In, InOut, Out

get_device_id, get_cuda_path, get_nvcc_path = _cuda.get_device_id, _cuda.get_cuda_path, _cuda.get_nvcc_path
get_rocm_path, get_hipcc_path = _cuda.get_rocm_path, _cuda.get_hipcc_path
profile = profiling  # CuPy's name for it

# Numba's function stream() is a module in CuPy, so it also gets that module's names.
stream.Stream, stream.Event, stream.ExternalStream = Stream, Event, ExternalStream
stream.get_current_stream, stream.get_elapsed_time = get_current_stream, get_elapsed_time

globals().update(_stubs.build(_stubs.CORE + "\n".join(_core.instructions()), "cuda"))
globals().update(VECTORS)

# Modules that are imported at the first access.
_LATER = {
    "reduce": "_reduce",
    "Reduce": "_reduce",
    "vectorize": "_ufuncs",
    "guvectorize": "_ufuncs",
    "Graph": "_graphs",
}
_LATER |= dict.fromkeys(
    "BaseMemory ManagedMemory Memory MemoryAsync MemoryAsyncPool MemoryPool PinnedMemory PinnedMemoryPointer "
    "PinnedMemoryPool UnownedMemory alloc alloc_pinned_memory get_allocator get_default_memory_pool "
    "get_default_pinned_memory_pool malloc_async malloc_managed set_allocator set_pinned_memory_allocator "
    "using_allocator".split(),
    "_pools",
)
_LATER |= {"MemoryHook": "memory_hooks", "get_local_runtime_version": "runtime"}
_MODULES = {
    "bf16",
    "cg",
    "cudadrv",
    "fp16",
    "libdevice",
    "memory_hooks",
    "nvtx",
    "profiler",
    "random",
    "runtime",
    "texture",
}

def __getattr__(name):
    from importlib import import_module

    if name in _MODULES:
        return import_module("treadle.cuda." + name)
    if name in _LATER:
        return getattr(import_module("treadle.cuda." + _LATER[name]), name)
    if name in _cuda.ROOMS:
        globals()[name] = _cuda.room(name, import_module("treadle.cuda"))
        return globals()[name]
    if _names.reason("cupy.cuda", name):
        raise AttributeError(_names.refusal("cupy.cuda", name), name=name)
    raise AttributeError(
        f"module 'treadle.cuda' has no attribute '{name}'; docs/numba.md and docs/cupy.md tell what is there"
        f"{_near_in('treadle.cuda', name)}",
        name=name,
    )


def __dir__():
    return _public.names(__name__, {"types", *_MODULES, *_LATER, *_cuda.ROOMS})
