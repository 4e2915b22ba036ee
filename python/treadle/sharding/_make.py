"""Meshes and sharded arrays are made here."""

import numpy

from .. import _core
from .._core import ndarray
from .._vmap import _dispatch
from .._vmap._array import function
from ._array import ShardedArray, over, replicated, rows_key, sharded
from ._calls import asked, call
from ._mesh import Mesh, even


def mesh(*devices):
    """Devices over which arrays are sharded.

    Parameters
    ----------
    *devices : device or str, or one sequence of them
        In the order of the shards; none: all GPUs, or the current device where there is no GPU. A device may stand
        there several times.

    Returns
    -------
    sharding.Mesh
        It can be given as ``device=`` where arrays are made.

    Raises
    ------
    DeviceError
        There is no such device.

    Examples
    --------
    >>> np.ones(5, device=np.mesh("cpu", "cpu")).placement
    Shard(0)
    """
    if len(devices) == 1 and not isinstance(devices[0], (str, _core.device)):
        devices = tuple(devices[0])
    if not devices:
        devices = [d for d in _core.devices() if not d.host] or [_core.device()]
    _dispatch.ask(asked, call)
    return Mesh(devices)


def shard(x, axis=0, devices=None):
    """An array whose elements lie on several devices.

    Parameters
    ----------
    x : array_like
        The elements. From NumPy's memory each device gets its own part only.
    axis : int or None, default 0
        The axis that is divided, into parts whose sizes differ by one at most; None: every device has the whole.
    devices : Mesh or sequence of devices, optional
        Where it lies; None means all GPUs.

    Returns
    -------
    sharding.ShardedArray
        A new array.

    Raises
    ------
    ValueError
        x has no such axis.

    Examples
    --------
    >>> x = np.shard(np.arange(12).reshape(3, 4), axis=1, devices=["cpu", "cpu"])
    >>> x.placement, (x @ x.T).shape
    (Shard(1), (3, 3))
    """
    m = devices if isinstance(devices, Mesh) else mesh(*([] if devices is None else [devices]))
    if type(x) is ShardedArray:
        return x.to_device(m).reshard(axis) if axis is None or x.ndim else x
    if not isinstance(x, ndarray):
        x = numpy.asarray(x)
    if axis is not None and x.ndim:
        if not -x.ndim <= axis < x.ndim:
            raise ValueError(f"axis {axis} is out of bounds for array of dimension {x.ndim}")
        axis %= x.ndim
    if axis is None or not x.ndim or not x.shape[axis]:
        return replicated(m, 0, function("array")(x, device=m[0]))
    if isinstance(x, ndarray):
        return over(m, x, axis)
    cuts = even(x.shape[axis], len(m))
    return parts_of(m, axis, cuts, lambda lo, hi, d: function("array")(x[rows_key(axis, lo, hi)], device=d))


def parts_of(m, axis, cuts, make):
    """A sharded array of make(lo, hi, device) for each device's rows."""
    ranges = [(cuts[i], cuts[i + 1], i) for i in range(len(m)) if cuts[i] < cuts[i + 1]]
    return sharded(m, axis, cuts, [(lo, hi, i, make(lo, hi, m[i])) for lo, hi, i in ranges])
