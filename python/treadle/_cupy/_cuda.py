"""Names of cupy.cuda that numba.cuda does not have: the toolkit's location, and CuPy's modules for classes."""

import os
import shutil
import types

from .. import _core


def get_device_id():
    """The number of the current device, as treadle.cuda.runtime.getDevice() gives it."""
    return _core.device().index


def get_cuda_path():
    """The folder of a CUDA toolkit: CUDA_PATH, that of nvcc, or /usr/local/cuda. None where there is none. treadle
    needs only nvcc from it, and that only without NVRTC."""
    nvcc = shutil.which("nvcc")
    beside = nvcc and os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    found = (os.environ.get("CUDA_PATH"), beside, "/usr/local/cuda")
    return next((path for path in found if path and os.path.isdir(path)), None)


def get_nvcc_path():
    """The compiler nvcc, from NVCC, the toolkit or PATH. None where there is none."""
    path = get_cuda_path()
    found = (os.environ.get("NVCC"), path and os.path.join(path, "bin", "nvcc"), shutil.which("nvcc"))
    return next((p for p in found if p and os.path.isfile(p)), None)


def get_rocm_path():
    """None, since treadle supports CPUs and NVIDIA's GPUs only."""
    return None


def get_hipcc_path():
    """None, as get_rocm_path."""
    return None


# CuPy's modules in cupy.cuda, and the names that each takes from treadle.cuda.
ROOMS = {
    "device": "Device get_device_id",
    "memory": "BaseMemory ManagedMemory Memory MemoryAsync MemoryAsyncPool MemoryPointer MemoryPool OutOfMemoryError "
    "UnownedMemory alloc get_allocator malloc_async malloc_managed set_allocator using_allocator",
    "memory_hook": "MemoryHook",
    "pinned_memory": "PinnedMemory PinnedMemoryPointer PinnedMemoryPool alloc_pinned_memory "
    "set_pinned_memory_allocator",
    "graph": "Graph",
}


def room(name, cuda):
    """The module for an entry of ROOMS. cuda: treadle.cuda, which has the module's names."""
    made = types.ModuleType(f"treadle.cuda.{name}", f"cupy.cuda.{name}'s names, which treadle.cuda has.")
    made.__dict__.update((part, getattr(cuda, part)) for part in ROOMS[name].split())
    return made
