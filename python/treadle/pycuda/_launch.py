"""How many threads go over an array: the grid and the block of kernels that are made here."""

import functools
import os

from .. import _core

_CPU_RUN = 16384  # elements that pay for waking a thread of the CPU
_BLOCKS = 8  # of the largest block for each multiprocessor: enough for it to have work while memory answers
_BLOCK = 128


@functools.lru_cache(maxsize=64)
def _places(name):
    """Of a device: does it work as a CPU, in blocks of one thread? How many blocks fill it?"""
    device = _core.device(name)
    if device.kind == "cpu":
        return True, 4 * len(os.sched_getaffinity(0))
    count = device.kind == "cuda" and _core._device_attribute(name, 16)  # MULTIPROCESSOR_COUNT
    return False, _BLOCKS * (count or 16)


def runs_on_host(device):
    """Does this device run CUDA text as code of the CPU?"""
    return device.kind != "cuda"


def splay(n, dev=None):
    """(grid, block) for a kernel that goes over n elements in steps of the grid, as many threads as pay.

    On the CPU a block has one thread. dev: a device; None: the current one."""
    device = dev if isinstance(dev, type(_core.device())) else _core.device()
    one_thread, most = _places(device.name)
    if one_thread or runs_on_host(device):
        return (min(max(1, -(-n // _CPU_RUN)), most), 1), (1, 1, 1)
    return (min(max(1, -(-n // _BLOCK)), most), 1), (_BLOCK, 1, 1)
