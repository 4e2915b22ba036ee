"""numba.cuda.cudadrv's names that programs use: devices, driver, devicearray."""

from . import devicearray, devices, driver
