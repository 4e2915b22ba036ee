"""The driver's names that programs use: contexts' memory, host memory's addresses, errors."""

from ... import _core
from ..._core import DeviceError as CudaAPIError
from ..._core import Event, Stream
from ..._public import dir_of as _dir_of
from .._devices import Context, Device, MemoryInfo
from .._memory import MemoryPointer, is_device_array


def device_pointer(obj):
    """The address of an array or of a MemoryPointer on its device, an int."""
    return int(obj) if isinstance(obj, MemoryPointer) else obj.device_ctypes_pointer.value or 0


def device_memory_size(obj):
    """Bytes of an array or of a MemoryPointer."""
    return obj.size if isinstance(obj, MemoryPointer) else obj.alloc_size


def is_device_memory(obj):
    """Is it an array on a device, or a MemoryPointer?"""
    return isinstance(obj, MemoryPointer) or is_device_array(obj)


def get_version():
    """(major, minor) of CUDA that the driver has; (0, 0) without one."""
    found = next((d.driver for d in _core.devices() if d.kind == "cuda"), 0)
    return found // 1000, found % 1000 // 10


__dir__ = _dir_of(__name__)
