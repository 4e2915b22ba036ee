"""How many threads go over an array: the grid and the block of kernels that are made here."""

import functools

from ... import _core

_CPU_RUN = 16384  # elements that pay for waking a thread of the CPU
_BLOCKS = 16  # for each multiprocessor: 2048 threads, as many as it holds
_BLOCK = 128


@functools.lru_cache(maxsize=64)
def _units(device):
    """Multiprocessors, or threads of the CPU."""
    return device.units


def runs_on_host(device):
    """Does this device run CUDA text as code of the CPU?"""
    return device.kind != "cuda"


def splay(n, dev=None):
    """(grid, block) for a kernel that goes over n elements in steps of the grid, as many threads as pay.

    On the CPU a block has one thread. dev: a device, of treadle or of driver; None: the current one."""
    device = dev if isinstance(dev, type(_core.device())) else getattr(dev, "_device", None) or _core.device()
    if runs_on_host(device):
        return (min(max(1, n // _CPU_RUN), 4 * _units(device)), 1), (1, 1, 1)
    return (min(max(1, -(-n // _BLOCK)), _BLOCKS * _units(device)), 1), (_BLOCK, 1, 1)
