"""PyCUDA's tools."""

import os

from . import driver as cuda


def _wanted():
    """The device that CUDA_DEVICE or ~/.cuda_device names; None: neither is there. ValueError: it is no number."""
    text = os.environ.get("CUDA_DEVICE")
    if text is None:
        try:
            with open(os.path.expanduser("~/.cuda_device"), encoding="utf-8") as file:
                text = file.read()
        except OSError:
            return None
    return int(text.strip())


def get_default_device(default=0):
    """The Device that CUDA_DEVICE or ~/.cuda_device names, else that of the number."""
    number = _wanted()
    return cuda.Device(default if number is None else number)


def make_default_context(ctx_maker=None):
    """A context, pushed, on the device that CUDA_DEVICE or ~/.cuda_device names, else on the first where one can be made."""
    make = ctx_maker or (lambda device: device.make_context())
    number = _wanted()
    if number is not None:
        return make(cuda.Device(number))
    errors = []
    for n in range(cuda.Device.count()):
        try:
            return make(cuda.Device(n))
        except cuda.Error as error:
            errors.append(error)
    raise cuda.RuntimeError(f"no context could be made on any of {cuda.Device.count()} devices: {'; '.join(map(str, errors))}")
