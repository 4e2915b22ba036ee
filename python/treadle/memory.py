"""The caching pool of a device's memory, and the arrays that wait on the host while it is full."""

from . import _core
from ._core import device as _device
from ._public import dir_of as _dir_of
from ._words import refusing as _refusing

_KEEP = object()


def stats(device=None):
    """A dict of byte counts: used, cached, peak, limit (None: none), largest (free block), free, total; allocs and
    driver_allocs so far; and of arrays moved to the host: how many went (spilled) and came back (returned) so far,
    their bytes there now (away), and the host memory that is kept for the next ones (pinned)."""
    where = _device(device)
    return {**where.memory_stats(), **_core._spill_stats(where)}


def limit(nbytes=_KEEP, device=None):
    """Sets the most bytes that arrays and cached memory may take together; None: no limit. Without an argument
    nothing is set. Returns the limit that holds now.

    What is cached beyond it goes at once, and arrays go to the host where :func:`spill` allows it. Arrays that stay
    keep their memory, and pieces between them cannot go before they do; but nothing is given beside them until all
    of it fits the limit. A request that does not fit while other threads compute waits for them, at most 10 seconds,
    and not for threads that wait themselves: of several that hold a part of what they need one gets the error."""
    where = _device(device)
    if nbytes is not _KEEP:
        where.memory_limit(nbytes)
    return where.memory_stats()["limit"]


def spill(on=None, device=None):
    """Says whether the arrays used longest ago are moved to pinned host memory when the device's memory is out,
    and back when they are used: at first so on GPUs, not on the CPU. Arrays that other libraries can reach, that a
    recorded graph uses or that are smaller than 32 KiB stay. With False those on the host come back as they are
    used, and none goes. Without an argument nothing is set. Returns what holds now."""
    return _core._spill(_device(device), on)


def trim(device=None):
    """Gives the memory that the pool keeps, on the device and on the host, back to the system."""
    where = _device(device)
    _core._spill_trim(where)
    where.memory_trim()

__getattr__ = _refusing(__name__)
__dir__ = _dir_of(__name__)
