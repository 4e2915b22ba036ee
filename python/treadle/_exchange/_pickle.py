"""Pickles arrays by value, and as handles for other processes of this machine.

``pickle`` copies the values and notes the device. For its queues, pipes, pools and processes ``multiprocessing``
pickles a handle instead, and the receiver opens the same memory.
"""

import warnings

import numpy

import treadle
from treadle import _core


def reduce(array, protocol):
    """The value of __reduce_ex__: NumPy's pickle of the values (out of band from protocol 5 on), the device and the
    dtype."""
    device = array.device.name
    if array.dtype.kind == "V":  # NumPy lacks bfloat16, so its bits are pickled
        return restore, (array.view("uint16").get(), device, "bfloat16")
    host = _core._host_view(array) if device == "cpu" else array.get()
    return restore, (host[()] if array._is_number() else host, device)


def _device(name):
    """The device of that name. The default device where this machine lacks it."""
    try:
        return _core.device(name)
    except treadle.DeviceError as error:
        device = _core.device()
        warnings.warn(f"an array that was pickled on {name} is restored on {device}: {error}", stacklevel=3)
        return device


def restore(host, device, dtype=None):
    """The array on its device, or on the default one where that is missing."""
    with _device(device):
        array = treadle.array(host)
        array = array.view(dtype) if dtype else array
        return array[()] if isinstance(host, numpy.generic) else array


def share(array):
    """The value of __reduce__ for multiprocessing: a handle of the array's memory."""
    if array.size == 0:
        return reduce(array, 5)
    return _core._receive, _core._send(array)
