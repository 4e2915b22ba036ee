"""The caching pool of a device's memory."""

from ._core import device as _device

_KEEP = object()


def stats(device=None):
    """A dict of byte counts: used, cached, peak, limit (None: none), largest (free block), free, total; and
    allocations so far."""
    return _device(device).memory_stats()


def limit(nbytes=_KEEP, device=None):
    """Sets the most bytes that arrays and cached memory may take together; None: no limit. Without an argument
    nothing is set. Returns the limit that holds now."""
    where = _device(device)
    if nbytes is not _KEEP:
        where.memory_limit(nbytes)
    return where.memory_stats()["limit"]


def trim(device=None):
    """Gives the memory that the pool keeps back to the system."""
    _device(device).memory_trim()
