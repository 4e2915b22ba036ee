# Written by tools/stubs/write.py from the package itself.
from treadle import DeviceError as CudaAPIError
from treadle import Event as Event
from treadle import Stream as Stream
from treadle.cuda import Context as Context
from treadle.cuda import Device as Device
from treadle.cuda import MemoryInfo as MemoryInfo
from treadle.cuda import MemoryPointer as MemoryPointer
from treadle.cuda.cudadrv.devicearray import is_cuda_ndarray as is_device_array
from typing import Any

def device_memory_size(obj: Any) -> Any: ...
def device_pointer(obj: Any) -> Any: ...
def get_version() -> Any: ...
def is_device_memory(obj: Any) -> Any: ...
