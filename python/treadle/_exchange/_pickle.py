"""Arrays as bytes, and as handles for other processes of this machine.

``pickle`` copies the values and notes the device. What ``multiprocessing`` pickles for its queues, pipes, pools
and processes is a handle: the receiver opens the same memory.
"""

import warnings

import treadle
from treadle import _core


def reduce(array, protocol):
    """What __reduce_ex__ returns: the values, which NumPy pickles (out of band from protocol 5 on), and where."""
    device = array.device.name
    if array.dtype.kind == "V":  # NumPy has no bfloat16
        return restore, (array.view("uint16").get(), device, "bfloat16")
    host = _core._host_view(array) if device == "cpu" else array.get()
    return restore, (host, device)


def _device(name):
    """The device of that name, or, where it is not there, the default one."""
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
        return array.view(dtype) if dtype else array


def share(array):
    """What multiprocessing pickles instead: a handle of the array's memory."""
    if array.size == 0:
        return reduce(array, 5)
    return _core._receive, _core._send(array)
