"""Meshes of devices, placements of an array's elements over them, and a count of what has moved between them."""

import threading

from .. import _core
from .._callers import site

_lock = threading.Lock()  # guards _sites
_sites = {}  # (what, file, line): [calls, bytes]


class Mesh:
    """Devices over which arrays are sharded, in one order. `mesh` makes them.

    Attributes
    ----------
    devices : tuple of device
        The devices, in the order of the shards.

    Raises
    ------
    ValueError
        There is no device in it.

    Examples
    --------
    >>> len(np.mesh("cpu", "cpu"))
    2
    """

    __slots__ = ("devices",)

    def __init__(self, devices):
        self.devices = tuple(d if isinstance(d, _core.device) else _core.device(d) for d in devices)
        if not self.devices:
            raise ValueError("a mesh needs at least one device")

    def __len__(self):
        return len(self.devices)

    def __iter__(self):
        return iter(self.devices)

    def __getitem__(self, i):
        return self.devices[i]

    def __eq__(self, other):
        return isinstance(other, Mesh) and self.devices == other.devices

    def __hash__(self):
        return hash(self.devices)

    def __repr__(self):
        return f"mesh({', '.join(repr(d.name) for d in self.devices)})"

    name = property(lambda self: " | ".join(d.name for d in self.devices))


class Shard:
    """The placement of an array whose elements lie on the devices part by part along an axis.

    Parameters
    ----------
    axis : int
        The axis that is divided.

    Examples
    --------
    >>> np.sharding.Shard(1)
    Shard(1)
    """

    __slots__ = ("axis",)

    def __init__(self, axis):
        self.axis = axis

    def __eq__(self, other):
        return isinstance(other, Shard) and self.axis == other.axis

    def __hash__(self):
        return hash((Shard, self.axis))

    def __repr__(self):
        return f"Shard({self.axis})"


class Replicate:
    """The placement of an array that each device has as a whole, or gets when it needs it.

    Examples
    --------
    >>> np.sharding.Replicate()
    Replicate()
    """

    __slots__ = ()

    def __eq__(self, other):
        return isinstance(other, Replicate)

    def __hash__(self):
        return hash(Replicate)

    def __repr__(self):
        return "Replicate()"


def even(n, parts):
    """Where n rows are divided into parts whose sizes differ by one at most: parts + 1 places."""
    return tuple(n * i // parts for i in range(parts + 1))


def moved(array, device, what):
    """The array on a device. What has to move is counted under the name `what`, at the program's line."""
    if array.device == device:
        return array
    note(what, array.nbytes)
    return array.to_device(device)


def note(what, nbytes):
    """Count a move of nbytes bytes between devices for the operation called `what`."""
    with _lock:
        entry = _sites.setdefault((what, *site()), [0, 0])
        entry[0] += 1
        entry[1] += nbytes


def moves(clear=False):
    """What operations on sharded arrays have moved between devices.

    Parameters
    ----------
    clear : bool, default False
        Start counting anew.

    Returns
    -------
    list of tuples: name, "file:line", copies, bytes
        Most bytes first.

    Examples
    --------
    >>> np.sharding.moves(clear=True) is not None
    True
    """
    with _lock:
        rows = [(what, f"{file}:{line}", *entry) for (what, file, line), entry in _sites.items()]
        if clear:
            _sites.clear()
    return sorted(rows, key=lambda row: (-row[3], -row[2], row[0]))
