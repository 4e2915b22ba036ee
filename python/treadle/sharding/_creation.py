"""Functions of creation that take a mesh as their device, and questions about sharded arrays."""

import os

import numpy

from .._core import ndarray
from ._array import ShardedArray, replicated, rows_key
from ._calls import apply, rule
from ._make import parts_of, shard
from ._mesh import even


def _shape(shape):
    return tuple(int(n) for n in shape) if isinstance(shape, (tuple, list)) else (int(shape),)


@rule("zeros ones empty full")
def _filled(name, fn, shape, *args, device=None, **kwargs):
    shape = _shape(shape)
    if not shape or not shape[0]:
        return replicated(device, 0, fn(shape, *args, device=device[0], **kwargs))
    cuts = even(shape[0], len(device))
    return parts_of(device, 0, cuts, lambda lo, hi, d: fn((hi - lo, *shape[1:]), *args, device=d, **kwargs))


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
    if all(isinstance(k, int) for k in (start, stop, step)):
        n = len(range(start, stop, step)) if step else 0
        if n:
            return parts_of(
                device, 0, even(n, len(device)),
                lambda lo, hi, d: fn(start + lo * step, start + hi * step, step, dtype=dtype, device=d),
            )  # fmt: skip
    return shard(fn(*args, dtype=dtype, device=device[0], **kwargs), 0, device)


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


@rule("save")
def _save(name, fn, file, arr, *args, **kwargs):
    """Each device's elements go to their place in the file: the array need not fit anywhere else."""
    if type(arr) is not ShardedArray or arr.axis is None or not isinstance(file, (str, os.PathLike)):
        return NotImplemented
    if arr.dtype.kind == "V":
        return NotImplemented
    path = os.fspath(file)
    path = path if path.endswith(".npy") else f"{path}.npy"
    arr.evaluate()
    out = numpy.lib.format.open_memmap(path, mode="w+", dtype=arr.dtype, shape=arr.shape)
    for lo, hi, _, a in arr.pieces:
        out[rows_key(arr.axis, lo, hi)] = a.get()
    out.flush()
    return None
