"""The caching pool of a device's memory, and the arrays that wait on the host while it is full."""

from . import _core
from ._core import device as _device
from ._public import dir_of as _dir_of
from ._words import refusing as _refusing

_KEEP = object()


def stats(device=None):
    """Counts of bytes and allocations.

    Parameters
    ----------
    device : device or str, optional
        The device; None means the current one.

    Returns
    -------
    dict
        Bytes: used, cached, peak, limit (None: no limit), largest (free block), free, total. So far: allocs,
        driver_allocs, spilled and returned (arrays that went to the host and came back). Bytes on the host: away
        (arrays there now), pinned (memory kept for them).

    Examples
    --------
    >>> np.memory.stats("cpu")["used"] >= 0
    True
    """
    where = _device(device)
    return {**where.memory_stats(), **_core._spill_stats(where)}


def limit(nbytes=_KEEP, device=None):
    """Set or ask for the most bytes that arrays and cached memory may take together.

    What is cached beyond the limit goes at once, and arrays go to the host where spill() allows it. Arrays that stay
    keep their memory until all fits. A request that does not fit while other threads compute waits for them, at most 10
    seconds; of threads that all wait for one another one gets the error.

    Parameters
    ----------
    nbytes : int or None, optional
        The limit in bytes; None means no limit. Without the argument nothing is set.
    device : device or str, optional
        The device; None means the current one.

    Returns
    -------
    int or None
        The limit that holds now.

    Raises
    ------
    ValueError
        nbytes is negative.

    Examples
    --------
    >>> np.memory.limit(device="cpu") is None
    True
    """
    where = _device(device)
    if nbytes is not _KEEP:
        where.memory_limit(nbytes)
    return where.memory_stats()["limit"]


def spill(on=None, device=None):
    """Say or ask whether arrays go to the host when the device's memory is out.

    Those that were used longest ago go to pinned memory, and come back when they are used. At first it is on for GPUs
    and off for the CPU. Arrays that other libraries can reach, that a recorded graph uses, or that are smaller than 32
    KiB stay.

    Parameters
    ----------
    on : bool, optional
        False: none goes, and those on the host come back as they are used. None sets nothing.
    device : device or str, optional
        The device; None means the current one.

    Returns
    -------
    bool
        What holds now.

    Examples
    --------
    >>> np.memory.spill(device="cpu")
    False
    """
    return _core._spill(_device(device), on)


def trim(device=None):
    """Give the memory that the pool keeps, on the device and on the host, back to the system.

    Parameters
    ----------
    device : device or str, optional
        The device; None means the current one.

    Examples
    --------
    >>> np.memory.trim("cpu")
    """
    where = _device(device)
    _core._spill_trim(where)
    where.memory_trim()

__getattr__ = _refusing(__name__)
__dir__ = _dir_of(__name__)
