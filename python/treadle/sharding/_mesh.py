"""Meshes of devices, and placements of an array's elements over them."""

from .. import _core
from .._exchange._moves import note


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
    __treadle_mesh__ = True  # so that C and `random` know it without this module

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


_TOGETHER = 64  # arrays that the core sends at a time


def moved_all(arrays, devices, what):
    """Each array on its device. Those that have to move do so at the same time."""
    found = list(arrays)
    moving = [k for k, (a, d) in enumerate(zip(arrays, devices, strict=True)) if a.device != d]
    for some in (moving[k : k + _TOGETHER] for k in range(0, len(moving), _TOGETHER)):
        sent = _core._to_devices([arrays[k] for k in some], [devices[k] for k in some])
        for n, k in enumerate(some):
            note(what, arrays[k].nbytes)
            found[k] = arrays[k].to_device(devices[k]) if sent is None else sent[n]
    return found
