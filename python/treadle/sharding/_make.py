"""Meshes and sharded arrays are made here: `mesh`, `shard`, and the functions of creation that take a mesh as their
device."""

import numpy

from .. import _core
from .._core import ndarray
from .._vmap import _dispatch
from .._vmap._array import function
from . import _index, _rules  # noqa: F401  (the table of rules)
from ._array import ShardedArray, _rows, apply, asked, call, replicated, resharded, rule, sharded
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
    >>> m = np.mesh("cpu", "cpu")
    >>> np.ones(5, device=m).sharding_of if False else len(m)
    2
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
        at = m.devices.index(x.device) if x.device in m.devices else None
        return resharded(replicated(m, at, x) if at is not None else replicated(m, 0, x.to_device(m[0])), axis)
    cuts = even(x.shape[axis], len(m))
    return _parts(m, axis, cuts, lambda lo, hi, d: function("array")(x[_rows(axis, lo, hi)], device=d))


def _parts(m, axis, cuts, make):
    """A sharded array of make(lo, hi, device) for each device's rows."""
    ranges = [(cuts[i], cuts[i + 1], i) for i in range(len(m)) if cuts[i] < cuts[i + 1]]
    return sharded(m, axis, cuts, [(lo, hi, i, make(lo, hi, m[i])) for lo, hi, i in ranges])


def _shape(shape):
    return tuple(int(n) for n in shape) if isinstance(shape, (tuple, list)) else (int(shape),)


@rule("zeros ones empty full")
def _filled(name, fn, shape, *args, device=None, **kwargs):
    shape = _shape(shape)
    if not shape or not shape[0]:
        return replicated(device, 0, fn(shape, *args, device=device[0], **kwargs))
    cuts = even(shape[0], len(device))
    return _parts(device, 0, cuts, lambda lo, hi, d: fn((hi - lo, *shape[1:]), *args, device=d, **kwargs))


@rule("zeros_like ones_like empty_like full_like")
def _alike(name, fn, a, *args, shape=None, device=None, **kwargs):
    if type(a) is not ShardedArray or shape is not None or device is not None:
        return NotImplemented
    return a._each(lambda part: fn(part, *args, **kwargs))


@rule("asarray array asanyarray ascontiguousarray")
def _asarray(name, fn, x, dtype=None, *args, device=None, copy=None, **kwargs):
    copies = copy is True or (copy is None and name == "array")
    if type(x) is not ShardedArray:
        if isinstance(x, ndarray):
            x = x if dtype is None else x.astype(dtype, copy=False)
        elif dtype is not None or not isinstance(x, numpy.ndarray):
            x = numpy.asarray(x, dtype)
        return shard(x, 0, device)
    r = x if dtype is None else x.astype(dtype, copy=False)
    r = r if device is None else r.to_device(device)
    return r.copy() if copies and r is x else r


@rule("arange")
def _arange(name, fn, *args, device=None, dtype=None, **kwargs):
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    whole = numpy.arange(0)
    if all(isinstance(k, int) for k in (start, stop, step)):
        n = len(range(start, stop, step)) if step else 0
        if n:
            return _parts(
                device, 0, even(n, len(device)),
                lambda lo, hi, d: fn(start + lo * step, start + hi * step, step, dtype=dtype, device=d),
            )  # fmt: skip
    return shard(fn(*args, dtype=dtype, device=device[0], **kwargs), 0, device) if whole.size == 0 else NotImplemented


@rule("linspace logspace geomspace eye identity tri")
def _computed(name, fn, *args, device=None, **kwargs):
    return shard(fn(*args, device=device[0], **kwargs), 0, device)


@rule("copy")
def _copy(name, fn, x, *args, **kwargs):
    return x.copy()


@rule("asnumpy")
def _asnumpy(name, fn, x, **kwargs):
    return x.get()


@rule("evaluate")
def _evaluate(name, fn, *arrays):
    for a in arrays:
        a.evaluate() if type(a) is ShardedArray else fn(a)


@rule("shape ndim size")
def _asks(name, fn, x, *axis):
    return getattr(x, name) if not axis else x.shape[axis[0]]


@rule("array_equal allclose array_equiv")
def _alike_all(name, fn, a, b, **kwargs):
    if kwargs.get("equal_nan") and name != "allclose":
        return NotImplemented
    shapes = [x.shape if hasattr(x, "shape") else numpy.shape(x) for x in (a, b)]
    if name == "array_equal" and shapes[0] != shapes[1]:
        return False
    return bool(apply("isclose", a, b, **kwargs).all() if name == "allclose" else apply("equal", a, b).all())
