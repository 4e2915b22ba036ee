"""Arrays on devices by numba.cuda.cudadrv.devicearray's names."""

from ..._core import ndarray_of_programs as DeviceNDArray
from ..._public import dir_of as _dir_of
from .._arrays import _check
from .._memory import HostArray as MappedNDArray
from .._memory import device_array_like as from_array_like
from .._memory import is_cuda_array, to_device
from .._memory import is_device_array as is_cuda_ndarray


def auto_device(obj, stream=0, copy=True):
    """(array on the device, was it made for that?) of obj."""
    made = to_device(obj, stream=stream, copy=copy)
    return made, not is_cuda_array(obj)


def check_array_compatibility(ary1, ary2):
    """ValueError or TypeError unless both have one shape and dtype."""
    _check(ary1, ary2, "arrays")


__dir__ = _dir_of(__name__)
