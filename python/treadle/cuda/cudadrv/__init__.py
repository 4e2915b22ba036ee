"""numba.cuda.cudadrv's names that programs use: devices, driver, devicearray."""

from ..._public import dir_of as _dir_of
from . import devicearray, devices, driver

__dir__ = _dir_of(__name__)
