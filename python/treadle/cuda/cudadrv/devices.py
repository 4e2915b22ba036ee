"""Devices and contexts by numba.cuda.cudadrv.devices' names."""

from ..._public import dir_of as _dir_of
from .._devices import current_context as get_context
from .._devices import gpus, require_context


def reset():
    """Waits for all devices and gives memory back that no array has."""
    for d in gpus:
        d.reset()


__dir__ = _dir_of(__name__)
