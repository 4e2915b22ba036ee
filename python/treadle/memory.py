"""The caching pool of a device's memory."""

from ._core import device as _device


def stats(device=None):
    """A dict of byte counts: used, cached, peak, free, total; and allocations so far."""
    return _device(device).memory_stats()


def trim(device=None):
    """Gives the memory that the pool keeps back to the system."""
    _device(device).memory_trim()
