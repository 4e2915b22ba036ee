"""The same elements under another shape, and arrays put together and taken apart."""

from math import prod

import numpy

from .. import _core, _old_numpy
from .._core import asarray, empty, full, ndarray
from .._exchange._host import check_out, store
from .._exchange._place import castable


def _axis(axis, ndim, what):
    if not -ndim <= axis < ndim:
        raise _old_numpy.exceptions.AxisError(axis, ndim, what)
    return axis % ndim


def _axes(axis, ndim, what, repeated=False):
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [_axis(k, ndim, what) for k in axes]
    if not repeated and len(set(axes)) < len(axes):
        raise ValueError(f"{what}: repeated axis")
    return axes


def _cut(ndim, axis, piece):
    return (slice(None),) * axis + (piece,) + (slice(None),) * (ndim - axis - 1)


# ---- one array ----


def reshape(a, /, shape, order="C", *, copy=None):
    """a with another shape: a view where its layout allows, else a copy. One extent may be -1."""
    return asarray(a).reshape(shape, order=order, copy=copy)


def ravel(a, order="C"):
    """a with one axis, a view where possible."""
    return asarray(a).ravel(order)


def transpose(a, axes=None):
    """a with its axes permuted (None: reversed), a view."""
    return asarray(a).transpose(axes) if axes is not None else asarray(a).transpose()


permute_dims = transpose


def matrix_transpose(x, /):
    """x with its last two axes exchanged."""
    x = asarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return x.swapaxes(-1, -2)


def swapaxes(a, axis1, axis2):
    """a with two axes exchanged, a view."""
    return asarray(a).swapaxes(axis1, axis2)


def moveaxis(a, source, destination):
    """a with axes moved to other places, a view."""
    a = asarray(a)
    source, destination = _axes(source, a.ndim, "moveaxis"), _axes(destination, a.ndim, "moveaxis")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [k for k in range(a.ndim) if k not in source]
    for to, k in sorted(zip(destination, source, strict=True)):
        order.insert(to, k)
    return a.transpose(order)


def rollaxis(a, axis, start=0):
    """a with one axis moved before another, a view."""
    a = asarray(a)
    axis = _axis(axis, a.ndim, "rollaxis")
    start = start + a.ndim if start < 0 else start
    return moveaxis(a, axis, start - (axis < start))


def squeeze(a, axis=None):
    """a without axes of extent 1, a view."""
    return asarray(a).squeeze(axis)


def expand_dims(a, axis):
    """a with axes of extent 1 added, a view."""
    a = asarray(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    places = _axes(axes, a.ndim + len(axes), "expand_dims")
    extents = iter(a.shape)
    return a.reshape([1 if k in places else next(extents) for k in range(a.ndim + len(places))])


def broadcast_to(array, shape, subok=False):
    """A read-only view of array with that shape."""
    return _core._broadcast_to(asarray(array), shape)


def broadcast_shapes(*shapes):
    """The shape that arrays of those shapes broadcast to."""
    return numpy.broadcast_shapes(*shapes)


def broadcast_arrays(*args, subok=False):
    """The arrays, broadcast against one another."""
    arrays = [asarray(a) for a in args]
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return tuple(broadcast_to(a, shape) for a in arrays)


def flip(m, axis=None):
    """m with the order along axes reversed, a view."""
    m = asarray(m)
    axes = range(m.ndim) if axis is None else _axes(axis, m.ndim, "flip")
    return m[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(m.ndim))]


def flipud(m):
    """m with its rows in reverse order, a view."""
    return flip(m, 0)


def fliplr(m):
    """m with its columns in reverse order, a view."""
    return flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    """m turned by k right angles in the plane of two axes, a view."""
    m = asarray(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    one, two = _axes(axes, m.ndim, "rot90")
    k %= 4
    if k == 0:
        return m[...]
    if k == 2:
        return flip(m, (one, two))
    return swapaxes(flip(m, two), one, two) if k == 1 else flip(swapaxes(m, one, two), two)


def roll(a, shift, axis=None):
    """a with its elements moved on by shift places along axes (None: of the flat array), round the end; shift and axis
    are numbers or sequences that broadcast together."""
    a = asarray(a)
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    if isinstance(axis, (tuple, list)):
        _axes(axis, a.ndim, "roll", True)
    try:
        pairs = numpy.broadcast(*(x.get() if isinstance(x, ndarray) else x for x in (shift, axis)))
    except ValueError as error:
        raise ValueError(f"roll: shift {shift} and axis {axis} do not broadcast") from error
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    shifts = {}
    for by, k in pairs:
        k = _axis(int(k), a.ndim, "roll")
        shifts[k] = shifts.get(k, 0) + int(by)
    for k, by in shifts.items():
        n = a.shape[k]
        by = by % n if n else 0
        a = concatenate((a[_cut(a.ndim, k, slice(n - by, None))], a[_cut(a.ndim, k, slice(n - by))]), k)
    return a if shifts else a.copy()


def tile(A, reps):
    """A repeated along axes."""
    a = asarray(A)
    reps = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    ndim = max(a.ndim, len(reps))
    shape, reps = (1,) * (ndim - a.ndim) + a.shape, (1,) * (ndim - len(reps)) + reps
    spread = broadcast_to(
        a.reshape([x for n in shape for x in (1, n)]), [x for r, n in zip(reps, shape, strict=True) for x in (r, n)]
    )
    return spread.reshape([r * n for r, n in zip(reps, shape, strict=True)]).copy()


def repeat(a, repeats, axis=None):
    """Each element of a repeated along axis (None: of the flat array)."""
    a = asarray(a)
    if axis is None:
        a, axis = a.ravel(), 0
    a = a.reshape(1) if a.ndim == 0 else a
    axis = _axis(axis, a.ndim, "repeat")
    n = a.shape[axis]
    if isinstance(repeats, ndarray):
        index = _repeated(_core._beside("repeat", a, repeats)[1], n)
    else:
        index = asarray(numpy.repeat(numpy.arange(n), repeats), device=a.device)
    return _core._take(a, index, axis)


def _repeated(repeats, n):
    """0, 1, ... n - 1 as often as repeats says."""
    if not castable(repeats.dtype, numpy.dtype("int64"), "safe"):
        raise TypeError(f"Cannot cast array data from {repeats.dtype} to int64 according to the rule 'safe'")
    if repeats.ndim > 1:
        raise ValueError("object too deep for desired array")
    if repeats.size != 1 and repeats.size != n:
        raise ValueError(f"operands could not be broadcast together with shape ({n},) ({repeats.size},)")
    if repeats.size and bool((repeats < 0).any()):
        raise ValueError("repeats may not contain negative values.")
    device = repeats.device
    if repeats.size == 1:
        each = int(repeats.reshape(-1)[0])
        return broadcast_to(_core.arange(n, device=device)[:, None], (n, each)).reshape(n * each)
    ends = _core._cumsum(repeats.astype("int64"), 0, None) if n else repeats.astype("int64")
    return _core._search(ends, _core.arange(int(ends[-1]) if n else 0, device=device), True)


def resize(a, new_shape):
    """a's elements in C order, repeated or cut to fill a new shape."""
    a = asarray(a).ravel()
    shape = new_shape if isinstance(new_shape, (tuple, list)) else (new_shape,)
    if any(n < 0 for n in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    n = prod(shape)
    if n == 0 or a.size == 0:
        return full(shape, 0, a.dtype, device=a.device)
    return tile(a, -(-n // a.size))[:n].reshape(shape)


_WEAK = {int: "iufcV", float: "fcV", complex: "c"}  # kinds of dtypes that a Python number goes into


def copyto(dst, src, casting="same_kind", where=True, stream=None):
    """Copies src into dst, from another device too, where `where` is true. On a stream the copy is given to it as it
    is: contiguous arrays of one shape and dtype; between arrays of the device and with pinned host memory it returns
    at once (the memory is kept until the stream is done with it), with other host memory when that may be used.
    """
    if stream is not None:
        if where is not True:
            raise ValueError("copyto: on a stream there is no where=")
        from .._exchange._transfer import copy_on

        return copy_on(dst, src, stream)
    if not isinstance(dst, ndarray):
        return numpy.copyto(dst, _core.asnumpy(src), casting=casting, where=_core.asnumpy(where))
    if not dst.flags.writeable:
        raise ValueError("assignment destination is read-only")
    kinds = _WEAK.get(type(src))
    if kinds is None and not hasattr(src, "dtype"):
        src = asarray(src, device=dst.device)
    allowed = kinds is not None or castable(src.dtype, dst.dtype, casting)
    if not (allowed if kinds is None else dst.dtype.kind in kinds or casting == "unsafe"):
        raise TypeError(f"Cannot cast to {dst.dtype} according to the rule '{casting}'")
    if isinstance(src, ndarray):
        src = src.to_device(dst.device)
    if type(src) in (float, complex):
        src = numpy.asarray(src)  # cast, whether it fits or not
    if where is True:
        dst[...] = src
    else:
        _core._assign_where(dst, broadcast_to(_core._beside("copyto", dst, where)[1], dst.shape), src)


# ---- several arrays ----


def _arrays(arrays):
    return list(arrays if isinstance(arrays, ndarray) else _core._beside("concatenate", *arrays))


def _steps_order(arrays):
    """The axes from the longest steps to the shortest as far as all arrays agree, else in their order, as by NumPy."""
    known = [[abs(s) if n > 1 else None for s, n in zip(a.strides, a.shape, strict=True)] for a in arrays]
    order = []
    for i in range(arrays[0].ndim):
        at = i
        for k in range(i - 1, -1, -1):
            told = [(s[i], s[order[k]]) for s in known if None not in (s[i], s[order[k]])]
            if told and all(mine > other for mine, other in told):
                at = k
            elif told:
                break
        order.insert(at, i)
    return order


def _joined(arrays, shape, dtype):
    """Room for what is made of the arrays, which lies as they do."""
    device = arrays[0].device
    if any(a.flags.c_contiguous for a in arrays):
        return empty(shape, dtype, device=device)
    order = _steps_order(arrays)
    back = sorted(range(len(order)), key=order.__getitem__)
    return empty([shape[i] for i in order], dtype, device=device).transpose(back)


def concatenate(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """The arrays one after another along axis (None: flattened)."""
    arrays = _arrays(arrays)
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        arrays, axis = [a.ravel() for a in arrays], 0
    first = arrays[0]
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = _axis(axis, first.ndim, "concatenate")
    for k, a in enumerate(arrays):
        if a.ndim != first.ndim or any(a.shape[j] != first.shape[j] for j in range(first.ndim) if j != axis):
            raise ValueError(
                f"concatenate: arrays 0 and {k} of shapes {first.shape} and {a.shape} differ beside axis {axis}"
            )
    shape = [*first.shape[:axis], sum(a.shape[axis] for a in arrays), *first.shape[axis + 1 :]]
    if out is None:
        out = _joined(arrays, shape, dtype or numpy.result_type(*(a.dtype for a in arrays)))
    elif dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    check_out("concatenate", out)
    for a in arrays:
        if not castable(a.dtype, out.dtype, casting):
            raise TypeError(f"Cannot cast array data from {a.dtype} to {out.dtype} according to the rule '{casting}'")
    if list(out.shape) != shape:
        raise ValueError(f"concatenate: out has shape {out.shape}, the result {tuple(shape)}")
    if not isinstance(out, ndarray):
        return store("concatenate", out, concatenate(arrays, axis), casting=casting)
    at = 0
    for a in arrays:
        n = a.shape[axis]
        if n:
            out[_cut(first.ndim, axis, slice(at, at + n))] = a
        at += n
    return out


concat = concatenate


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """The arrays, of one shape, along a new axis."""
    arrays = _arrays(arrays)
    if not arrays:
        raise ValueError("need at least one array to stack")
    if any(a.shape != arrays[0].shape for a in arrays):
        raise ValueError(f"stack: all input arrays must have the same shape: {[a.shape for a in arrays]}")
    axis = _axis(axis, arrays[0].ndim + 1, "stack")
    return concatenate([expand_dims(a, axis) for a in arrays], axis, out, dtype=dtype, casting=casting)


def unstack(x, /, *, axis=0):
    """x cut along axis into arrays without it."""
    return tuple(moveaxis(x, axis, 0))


def append(arr, values, axis=None):
    """arr with values after it along axis (None: flattened)."""
    return concatenate((arr, values), axis)


def atleast_1d(*arys):
    """The arrays with one axis at least."""
    r = tuple(a.reshape(1) if a.ndim == 0 else a for a in map(asarray, arys))
    return r[0] if len(r) == 1 else r


def atleast_2d(*arys):
    """The arrays with two axes at least."""
    r = tuple(a.reshape((1,) * (2 - a.ndim) + a.shape) if a.ndim < 2 else a for a in map(asarray, arys))
    return r[0] if len(r) == 1 else r


def atleast_3d(*arys):
    """The arrays with three axes at least, placed as NumPy does."""
    shapes = {0: lambda s: (1, 1, 1), 1: lambda s: (1, *s, 1), 2: lambda s: (*s, 1)}
    r = tuple(a.reshape(shapes[a.ndim](a.shape)) if a.ndim < 3 else a for a in map(asarray, arys))
    return r[0] if len(r) == 1 else r


def _list_of(f, arrays):
    return [f(a) for a in _arrays(arrays)]


def vstack(tup, *, dtype=None, casting="same_kind"):
    """The arrays one below the other."""
    return concatenate(_list_of(atleast_2d, tup), 0, dtype=dtype, casting=casting)


row_stack = vstack


def hstack(tup, *, dtype=None, casting="same_kind"):
    """The arrays side by side."""
    arrays = _list_of(atleast_1d, tup)
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup):
    """The arrays one behind the other."""
    return concatenate(_list_of(atleast_3d, tup), 2)


def column_stack(tup):
    """Vectors as the columns of a matrix."""
    return concatenate([a if a.ndim >= 2 else a.reshape((a.size, 1)) for a in _arrays(tup)], 1)


def _block_depth(arrays, path=()):
    """How deep the lists are nested, alike everywhere, and the most axes of an array in them."""
    where = "arrays" + "".join(f"[{k}]" for k in path)
    if isinstance(arrays, tuple):
        raise TypeError(f"{where} is a tuple. Only lists can be used to arrange blocks.")
    if not isinstance(arrays, list):
        return len(path), numpy.ndim(arrays) if not isinstance(arrays, ndarray) else arrays.ndim
    if not arrays:
        raise ValueError(f"List at {where} cannot be empty")
    found = [_block_depth(a, (*path, k)) for k, a in enumerate(arrays)]
    if len({depth for depth, _ in found}) > 1:
        raise ValueError(f"List depths are mismatched below {where}: {[depth for depth, _ in found]}")
    return found[0][0], max(ndim for _, ndim in found)


def block(arrays):
    """An array put together from nested lists of blocks: the innermost lists along the last axis."""
    depth, ndim = _block_depth(arrays)
    ndim = max(depth, ndim)

    def join(x, level):
        if level < depth:
            return concatenate([join(each, level + 1) for each in x], ndim - depth + level)
        a = asarray(x)
        return a.reshape((1,) * (ndim - a.ndim) + a.shape)

    return join(arrays, 0) if depth else join(arrays, 0).copy()


def array_split(ary, indices_or_sections, axis=0):
    """Views of ary cut along axis, into parts that may differ by one."""
    a = asarray(ary)
    axis = _axis(axis, a.ndim, "array_split")
    n = a.shape[axis]
    if isinstance(indices_or_sections, int):
        if indices_or_sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, more = divmod(n, indices_or_sections)
        ends = [each * (k + 1) + min(k + 1, more) for k in range(indices_or_sections - 1)]
    else:
        ends = [int(k) for k in indices_or_sections]
    return [a[_cut(a.ndim, axis, slice(lo, hi))] for lo, hi in zip([0, *ends], [*ends, n], strict=True)]


def split(ary, indices_or_sections, axis=0):
    """Views of ary cut along axis, into equal parts or at the given places."""
    a = asarray(ary)
    if isinstance(indices_or_sections, int) and a.shape[_axis(axis, a.ndim, "split")] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(a, indices_or_sections, axis)


def _at_least(a, n, name):
    a = asarray(a)
    if a.ndim < n:
        raise ValueError(f"{name} only works on arrays of {n} or more dimensions")
    return a


def hsplit(ary, indices_or_sections):
    """Views of ary cut along its columns."""
    ary = _at_least(ary, 1, "hsplit")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    """Views of ary cut along its rows."""
    return split(_at_least(ary, 2, "vsplit"), indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Views of ary cut along its third axis."""
    return split(_at_least(ary, 3, "dsplit"), indices_or_sections, 2)
