"""Grids and blocks for kernels that iterate over an array."""

import functools

from ... import _core

_CPU_RUN = 16384  # elements for which waking a thread of the CPU pays
_BLOCKS = 16  # blocks for each multiprocessor: 2048 threads, as many as fit
_BLOCK = 128


@functools.lru_cache(maxsize=64)
def _units(device):
    """The number of multiprocessors, or of the CPU's threads."""
    return device.units


def runs_on_host(device):
    """Whether CUDA C++ text runs as CPU code on this device."""
    return device.kind != "cuda"


def splay(n, dev=None):
    """(grid, block) for a kernel that iterates over n elements with a stride of the whole grid.

    It uses as many threads as pay. On the CPU a block has one thread. dev is a device of treadle or of driver; None
    means the current one."""
    device = dev if isinstance(dev, type(_core.device())) else getattr(dev, "_device", None) or _core.device()
    if runs_on_host(device):
        return (min(max(1, n // _CPU_RUN), 4 * _units(device)), 1), (1, 1, 1)
    return (min(max(1, -(-n // _BLOCK)), _BLOCKS * _units(device)), 1), (_BLOCK, 1, 1)
