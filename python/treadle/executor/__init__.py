"""Functions mapped over devices: an executor of ``concurrent.futures`` that compiles what it is given.

    with treadle.executor.DeviceExecutor() as ex:
        squares = list(ex.map(lambda x: x * x, range(1_000_000)))
"""

from .._public import dir_of as _dir_of
from .._words import refusing as _refusing
from ._executor import DeviceExecutor

__all__ = ["DeviceExecutor"]

__getattr__ = _refusing(__name__)
__dir__ = _dir_of(__name__)
