"""What changes only the shape of sharded arrays, or puts them together."""

import math

import numpy

from .._numpy._shape import _axes, _axis
from ._array import gathered, rows_key, sharded
from ._calls import apply, leaves, one_mesh, rule
from ._mesh import even
from ._operands import as_sharded


@rule("transpose permute_dims")
def _transpose(name, fn, x, axes=None):
    axes = tuple(range(x.ndim))[::-1] if axes is None else tuple(_axes(axes, x.ndim, "axis"))
    if len(axes) != x.ndim:
        raise ValueError("axes don't match array")
    return sharded(x.mesh, axes.index(x.axis), x.cuts, [(*p[:3], p[3].transpose(axes)) for p in x.pieces])


@rule("swapaxes")
def _swapaxes(name, fn, x, axis1, axis2):
    order = list(range(x.ndim))
    a, b = _axis(axis1, x.ndim, "axis1"), _axis(axis2, x.ndim, "axis2")
    order[a], order[b] = order[b], order[a]
    return apply("transpose", x, tuple(order))


@rule("matrix_transpose")
def _matrix_transpose(name, fn, x):
    return apply("swapaxes", x, -1, -2)


@rule("moveaxis")
def _moveaxis(name, fn, x, source, destination):
    source, destination = (_axes(k, x.ndim, "axis") for k in (source, destination))
    order = [k for k in range(x.ndim) if k not in source]
    for to, k in sorted(zip(destination, source, strict=True)):
        order.insert(to, k)
    return apply("transpose", x, tuple(order))


@rule("expand_dims")
def _expand_dims(name, fn, x, axis):
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = set(_axes(axes, x.ndim + len(axes), "axis"))
    at = [k for k in range(x.ndim + len(axes)) if k not in axes][x.axis]
    return sharded(x.mesh, at, x.cuts, [(*p[:3], fn(p[3], axis)) for p in x.pieces])


@rule("squeeze")
def _squeeze(name, fn, x, axis=None):
    axes = [k for k, n in enumerate(x.shape) if n == 1] if axis is None else _axes(axis, x.ndim, "axis")
    if any(x.shape[k] != 1 for k in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    if x.axis in axes:
        return apply("squeeze", x.reshard(None), tuple(axes))
    at = x.axis - sum(k < x.axis for k in axes)
    return sharded(x.mesh, at, x.cuts, [(*p[:3], fn(p[3], tuple(axes))) for p in x.pieces])


@rule("reshape")
def _reshape(name, fn, x, shape=None, order="C", **kwargs):
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if shape.count(-1) == 1:
        known = math.prod(n for n in shape if n != -1)
        shape = tuple((x.size // known if known else 0) if n == -1 else n for n in shape)
    if math.prod(shape) != x.size or -1 in shape:
        raise ValueError(f"cannot reshape array of size {x.size} into shape {shape}")
    before, n = math.prod(x.shape[: x.axis]), x.shape[x.axis]
    at, outer = 0, 1
    while at < len(shape) and outer * shape[at] <= before and outer < before:
        outer *= shape[at]
        at += 1
    while at < len(shape) and shape[at] == 1 and n != 1:
        at += 1
    if order not in ("C", "K") or outer != before or at == len(shape):
        return NotImplemented
    inner, new = math.prod(x.shape[x.axis :]), shape[at]
    block = inner // new  # elements of one of the result's rows
    row = inner // n  # of one of x's
    if (before > 1 and new != n) or (row % block and block % row):
        return NotImplemented
    scaled = [c * row for c in x.cuts]
    if any(c % block for c in scaled):
        x = gathered(x.mesh, x.axis, tuple(c * block // row for c in even(new, len(x.mesh))), x.pieces, "reshape")
    pieces = x.pieces
    if any(p[0] * row % block or p[1] * row % block for p in pieces):
        pieces = [(x.cuts[i], x.cuts[i + 1], i, x.local(i)) for i in range(len(x.mesh)) if x.cuts[i] < x.cuts[i + 1]]
    made = []
    for lo, hi, i, a in pieces:
        first, last = lo * row // block, hi * row // block
        made.append((first, last, i, fn(a, (*shape[:at], last - first, *shape[at + 1 :]))))
    return sharded(x.mesh, at, tuple(c * row // block for c in x.cuts), made)


@rule("ravel")
def _ravel(name, fn, x, order="C"):
    return apply("reshape", x, (-1,), "C" if order in ("A", "K") else order)


@rule("broadcast_to")
def _broadcast_to(name, fn, x, shape, **kwargs):
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if numpy.broadcast_shapes(x.shape, shape) != shape:
        raise ValueError(f"cannot broadcast shape {x.shape} to shape {shape}")
    at = x.axis + len(shape) - x.ndim
    if shape[at] != x.shape[x.axis]:
        return NotImplemented
    made = [(lo, hi, i, fn(a, (*shape[:at], hi - lo, *shape[at + 1 :]))) for lo, hi, i, a in x.pieces]
    return sharded(x.mesh, at, x.cuts, made)


@rule("flip")
def _flip(name, fn, x, axis=None):
    axes = range(x.ndim) if axis is None else _axes(axis, x.ndim, "axis")
    return x[tuple(slice(None, None, -1 if k in axes else 1) for k in range(x.ndim))]


@rule("roll")
def _roll(name, fn, x, shift, axis=None):
    if axis is None or isinstance(axis, tuple) or not isinstance(shift, int):
        return NotImplemented if axis is not None or x.ndim > 1 else _roll(name, fn, x, shift, 0)
    at = _axis(axis, x.ndim, "axis")
    if at != x.axis:
        return sharded(x.mesh, x.axis, x.cuts, [(*p[:3], fn(p[3], shift, at)) for p in x.pieces])
    n = x.shape[at]
    shift %= n
    if not shift:
        return x.copy()
    pieces = [(lo, hi, i, a) for part in (x[rows_key(at, n - shift, n)], x[rows_key(at, 0, n - shift)])
              for lo, hi, i, a in _pieces(part, at)]  # fmt: skip
    return gathered(x.mesh, at, x.cuts, _in_order(pieces), "roll")


def _pieces(x, axis):
    """x's pieces along axis; a replicated array is one piece."""
    return x.pieces if x.axis is not None else [(0, x.shape[axis], *x._main)] if x.shape[axis] else []


def _in_order(pieces):
    found, at = [], 0
    for lo, hi, i, a in pieces:
        found.append((at, at + hi - lo, i, a))
        at += hi - lo
    return found


@rule("concatenate concat")
def _concatenate(name, fn, arrays, axis=0, **kwargs):
    if axis is None or kwargs:
        return NotImplemented
    mesh = one_mesh(leaves(arrays))
    arrays = [as_sharded(a, mesh) for a in arrays]
    at = _axis(axis, arrays[0].ndim, "axis")
    if len({a.ndim for a in arrays}) > 1:
        raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    dtype = numpy.result_type(*(a.dtype for a in arrays))
    lead = max((a for a in arrays if a.axis is not None), key=lambda a: a.size)
    if lead.axis != at:
        arrays = [a if a.axis == lead.axis and a.cuts == lead.cuts and len(a.pieces) == len(lead.pieces)
                  else a.reshard(None) for a in arrays]  # fmt: skip
        made = []
        for n, (lo, hi, i, _) in enumerate(lead.pieces):
            key = rows_key(lead.axis, lo, hi)
            made.append((lo, hi, i, fn([a.on(i)[key] if a.axis is None else a.pieces[n][3] for a in arrays], at)))
        return sharded(mesh, lead.axis, lead.cuts, made)
    arrays = [a if a.axis in (None, at) else a.reshard(at) for a in arrays]
    pieces = []
    for a in arrays:
        pieces += _pieces(a.astype(dtype, copy=False), at)
    pieces = _in_order(pieces)
    return gathered(mesh, at, even(pieces[-1][1], len(mesh)), pieces, "concatenate")


@rule("stack")
def _stack(name, fn, arrays, axis=0, **kwargs):
    if kwargs:
        return NotImplemented
    mesh = one_mesh(leaves(arrays))
    arrays = [apply("expand_dims", as_sharded(a, mesh), axis) for a in arrays]
    return apply("concatenate", arrays, _axis(axis, arrays[0].ndim, "axis"))


@rule("diff")
def _diff(name, fn, x, n=1, axis=-1, **kwargs):
    at = _axis(axis, x.ndim, "axis")
    if kwargs or x.dtype == bool:
        return NotImplemented
    if at != x.axis:
        return sharded(x.mesh, x.axis, x.cuts, [(*p[:3], fn(p[3], n, at)) for p in x.pieces])
    for _ in range(n):
        x = x[rows_key(at, 1, None)] - x[rows_key(at, None, -1)]
    return x


@rule("pad")
def _pad(name, fn, x, width, mode="constant", **kwargs):
    widths = numpy.broadcast_to(numpy.asarray(width), (x.ndim, 2))
    if mode != "constant" or widths[x.axis].any():
        return NotImplemented
    return sharded(x.mesh, x.axis, x.cuts, [(*p[:3], fn(p[3], width, mode, **kwargs)) for p in x.pieces])
