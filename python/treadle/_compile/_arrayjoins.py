"""NumPy's functions that join, repeat, turn and split arrays, for compiled code, written in Python like those of
_arrays.py."""

import numpy as np


def _kept(x, keep):
    """The elements of x where keep is not 0."""
    n = 0
    for k in range(x.size):
        n += keep[k] != 0
    out = np.empty(n, x.dtype)
    n = 0
    for k in range(x.size):
        if keep[k] != 0:
            out[n] = x[k]
            n += 1
    return out


def _trim_zeros(filt, trim="fb"):
    start, end = 0, len(filt)
    while "f" in trim.lower() and start < end and filt[start] == 0:
        start += 1
    while "b" in trim.lower() and end > start and filt[end - 1] == 0:
        end -= 1
    return filt[start:end]


def _concatenate(arrays, axis=0):
    first = arrays[0]
    n = 0
    for x in arrays:
        n += x.shape[axis]
    if first.ndim == 1:
        if axis != 0 and axis != -1:
            raise ValueError("axis is out of bounds for array of dimension 1")
        out = np.empty(n, _dtype_of(arrays))
        at = 0
        for x in arrays:
            out[at : at + x.size] = x
            at += x.size
        return out
    if axis == 0 or axis == -first.ndim:
        rows = np.empty((n,) + first.shape[1:], _dtype_of(arrays))
        at = 0
        for x in arrays:
            if x.shape[1:] != first.shape[1:]:
                raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
            rows[at : at + x.shape[0]] = x
            at += x.shape[0]
        return rows
    if first.ndim == 3:
        return _layers_joined(arrays, axis % 3, n)
    if first.ndim > 3:
        raise ValueError("concatenate: along another axis than the first, arrays have up to three axes here")
    columns = np.empty((first.shape[0], n), _dtype_of(arrays))
    at = 0
    for x in arrays:
        if x.shape[0] != first.shape[0]:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        columns[:, at : at + x.shape[1]] = x
        at += x.shape[1]
    return columns


def _layers_joined(arrays, axis, n):
    """Arrays of three axes along the second axis or the third."""
    (a, b, c), at = arrays[0].shape, 0
    out = np.empty((a, n, c) if axis == 1 else (a, b, n), _dtype_of(arrays))
    for x in arrays:
        if x.shape[0] != a or x.shape[3 - axis] != out.shape[3 - axis]:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        if axis == 1:
            out[:, at : at + x.shape[1]] = x
        else:
            out[:, :, at : at + x.shape[2]] = x
        at += x.shape[axis]
    return out


def _met(x, y):
    return np.where(np.zeros(1, np.bool_), np.zeros(1, x.dtype), np.zeros(1, y.dtype))


def _dtype_of(arrays):
    """The promoted dtype of the arrays. The first four tell it; further ones must not widen it."""
    if len(arrays) == 1:
        return arrays[0].dtype
    if len(arrays) == 2:
        return _met(arrays[0], arrays[1]).dtype
    if len(arrays) == 3:
        return _met(_met(arrays[0], arrays[1]), arrays[2]).dtype
    four = _met(_met(arrays[0], arrays[1]), _met(arrays[2], arrays[3]))
    for x in arrays:
        if _met(four, x).dtype != four.dtype:
            raise ValueError("of more than four arrays the widest dtype is among the first four here")
    return four.dtype


def _hstack(tup):
    return _concatenate(tup, 0 if tup[0].ndim == 1 else 1)


def _vstack(tup):
    if tup[0].ndim > 1:
        return _concatenate(tup, 0)
    out = np.empty((len(tup), tup[0].size), _dtype_of(tup))
    at = 0
    for x in tup:
        if x.size != tup[0].size:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        out[at] = x
        at += 1
    return out


def _column_stack(tup):
    return _vstack(tup).T.copy() if tup[0].ndim == 1 else _concatenate(tup, 1)


def _layers(arrays):
    """Matrices as one array of three axes, the first of which tells them apart."""
    first = arrays[0]
    out = np.empty((len(arrays), first.shape[0], first.shape[1]), _dtype_of(arrays))
    at = 0
    for x in arrays:
        if x.shape != first.shape:
            raise ValueError("all input arrays must have the same shape")
        out[at] = x
        at += 1
    return out


def _stack(arrays, axis=0):
    ndim = arrays[0].ndim
    if ndim > 2:
        raise ValueError("stack: arrays have one axis or two here")
    at = axis + ndim + 1 if axis < 0 else axis
    if at < 0 or at > ndim:
        raise ValueError("stack: axis is out of bounds")
    if ndim == 0:
        return np.array([x.item() for x in arrays])
    if ndim == 1:
        return _vstack(arrays) if at == 0 else _vstack(arrays).T.copy()
    layers = _layers(arrays)
    if at == 0:
        return layers
    return layers.transpose(1, 0, 2).copy() if at == 1 else layers.transpose(1, 2, 0).copy()


def _dstack(tup):
    if tup[0].ndim == 1:
        return _vstack(tup).T.copy().reshape((1, tup[0].size, len(tup)))
    return _stack(tup, 2)


def _append(arr, values, axis=None):
    if axis is not None:
        return _concatenate((np.asarray(arr), np.asarray(values)), axis)
    x = np.asarray(arr).flatten()
    if isinstance(values, (np.ndarray, list, tuple)):
        return _concatenate((x, np.asarray(values).flatten()))
    return _concatenate((x, np.full(1, values)))


def _repeat(a, repeats):
    x = np.asarray(a).flatten()
    if isinstance(repeats, (np.ndarray, list, tuple)):
        times = np.asarray(repeats)
        if times.size != x.size:
            raise ValueError("operands could not be broadcast together")
        if np.any(times < 0):
            raise ValueError("repeats may not contain negative values.")
        out = np.empty(times.sum(), x.dtype)
        at = 0
        for k in range(x.size):
            for _ in range(times[k]):
                out[at] = x[k]
                at += 1
        return out
    if repeats < 0:
        raise ValueError("repeats may not contain negative values.")
    same = np.empty((x.size, repeats), x.dtype)
    for k in range(x.size):
        for j in range(repeats):
            same[k, j] = x[k]
    return same.reshape(x.size * repeats)


def _roll(a, shift):
    x = np.asarray(a)
    flat = x.flatten()
    n = flat.size
    out = np.empty(n, x.dtype)
    for k in range(n):
        out[(k + shift) % n] = flat[k]
    return out.reshape(x.shape)


def _flip(m):
    x = np.asarray(m)
    if x.ndim > 3:
        raise ValueError("flip: arrays have up to three axes here")
    if x.ndim < 2:
        return x[::-1] if x.ndim == 1 else x
    return x[::-1, ::-1] if x.ndim == 2 else x[::-1, ::-1, ::-1]


def _flipud(m):
    return np.asarray(m)[::-1]


def _fliplr(m):
    return np.asarray(m)[:, ::-1]


def _delete(arr, obj):
    x = np.asarray(arr).flatten()
    keep = np.ones(x.size, np.bool_)
    if isinstance(obj, (np.ndarray, list, tuple)):
        for at in np.asarray(obj):
            if not -x.size <= at < x.size:
                raise IndexError("index is out of bounds for axis 0")
            keep[at] = False
    elif isinstance(obj, slice):
        keep[obj] = False
    else:
        if not -x.size <= obj < x.size:
            raise IndexError("index is out of bounds for axis 0")
        keep[obj] = False
    return _kept(x, keep)


def _insert(arr, obj, values):
    """Values before the places of obj in the elements of arr."""
    x = np.asarray(arr).flatten()
    new, at = np.asarray(values).flatten(), np.asarray(obj).flatten()
    if at.size != 1 and new.size != 1 and at.size != new.size:
        raise ValueError("shape mismatch: value array could not be broadcast to indexing result")
    n, places = max(at.size, new.size if at.size == 1 else 0), np.zeros(x.size + 1, np.int64)
    for k in range(n):
        i = int(at[k if at.size > 1 else 0])
        if not -x.size <= i <= x.size:
            raise IndexError("index is out of bounds for axis 0")
        places[i + x.size if i < 0 else i] += 1
    out, end = np.empty(x.size + n, x.dtype), 0
    for i in range(x.size + 1):
        for k in range(n if places[i] else 0):
            j = int(at[k if at.size > 1 else 0])
            if j == i or j + x.size == i and j < 0:
                out[end] = new[k if new.size > 1 else 0]
                end += 1
        if i < x.size:
            out[end] = x[i]
            end += 1
    return out


def _resize(a, new_shape):
    x, count = np.asarray(a).flatten(), 1
    if isinstance(new_shape, tuple):
        for n in new_shape:
            if n < 0:
                raise ValueError("all elements of `new_shape` must be non-negative")
            count *= n
    else:
        if new_shape < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
        count = new_shape
    out = np.zeros(count, x.dtype)
    for k in range(count if x.size else 0):
        out[k] = x[k % x.size]
    return out.reshape(new_shape)


def _take_along_axis(arr, indices, axis):
    if axis is None:
        return arr.flatten()[indices]
    if arr.ndim != indices.ndim or arr.ndim > 2:
        raise ValueError("take_along_axis: arrays have one axis or two here")
    if arr.ndim == 1:
        return arr[indices]
    out = np.empty(indices.shape, arr.dtype)
    for i, j in np.ndindex(indices.shape):
        k = int(indices[i, j])
        n = arr.shape[0] if axis == 0 or axis == -2 else arr.shape[1]
        if not -n <= k < n:
            raise IndexError("index is out of bounds for axis", axis)
        out[i, j] = arr[k, j] if axis == 0 or axis == -2 else arr[i, k]
    return out


def _atleast_1d(x):
    return np.asarray(x) if x.ndim else x.reshape(1)


def _atleast_2d(x):
    if x.ndim == 1:
        return x[np.newaxis, :]
    return x.reshape((1, x.size)) if x.ndim < 2 else np.asarray(x)


def _atleast_3d(x):
    if x.ndim > 2:
        return np.asarray(x)
    return x.reshape((1, x.size, 1)) if x.ndim < 2 else x[:, :, None]


def _array_split(ary, indices_or_sections, axis=0):
    if axis < -ary.ndim or axis >= ary.ndim or ary.ndim > 2:
        raise ValueError("split: arrays have one axis or two here, and axis is one of them")
    across = ary.ndim == 2 and (axis == 1 or axis == -1)
    n = ary.shape[axis]
    if isinstance(indices_or_sections, (np.ndarray, list, tuple)):
        inner = np.asarray(indices_or_sections)
        ends = np.empty(inner.size + 1, np.int64)
        ends[: inner.size] = inner
    else:
        if indices_or_sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        ends = np.empty(indices_or_sections, np.int64)
        for k in range(ends.size):
            ends[k] = (k + 1) * (n // ends.size) + min(k + 1, n % ends.size)
    ends[ends.size - 1] = n
    parts = []
    start = 0
    for end in ends:
        if ary.ndim == 1:
            parts.append(ary[start:end])
        elif across:
            parts.append(ary[:, start:end])
        else:
            parts.append(ary[start:end, :])
        start = end
    return parts


def _split(ary, indices_or_sections, axis=0):
    if not isinstance(indices_or_sections, (np.ndarray, list, tuple)) and ary.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return _array_split(ary, indices_or_sections, axis)


def _hsplit(ary, indices_or_sections):
    return _split(ary, indices_or_sections, 0 if ary.ndim == 1 else 1)


def _vsplit(ary, indices_or_sections):
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return _split(ary, indices_or_sections, 0)


def _tile(A, reps):
    x = np.asarray(A)
    if x.ndim > 2:
        raise ValueError("tile: arrays have one axis or two here")
    if isinstance(reps, tuple):
        if len(reps) > 2:
            raise ValueError("tile: reps are one or two numbers here")
        if len(reps) == 1:
            return _tile_by(x, reps[0])
        return _tiled(_atleast_2d(x), reps[0], reps[1])
    return _tile_by(x, reps)


def _tile_by(x, reps):
    if x.ndim == 2:
        return _tiled(x, 1, reps)
    out = np.empty((reps, x.size), x.dtype)
    for k in range(reps):
        out[k] = x
    return out.reshape(reps * x.size)


def _tiled(x, down, across):
    """The matrix x, repeated down its rows and across its columns."""
    rows, columns = x.shape
    out = np.empty((rows * down, columns * across), x.dtype)
    for i in range(down):
        for j in range(across):
            out[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns] = x
    return out


def _asfortranarray(a):
    return np.ascontiguousarray(a) if a.ndim == 1 else np.ascontiguousarray(a.T).T


def _in_order(a, order="C"):
    """The elements of a as a vector: rows first, or columns first under "F"."""
    if order == "F":
        return a.T.flatten()
    if order == "C":
        return a.flatten()
    raise ValueError("an order is 'C' or 'F' here")


def _rot90(m, k=1):
    if m.ndim < 2:
        raise ValueError("Axes=(0, 1) out of range for array of ndim=1.")
    turns = k % 4
    if turns == 0:
        return m[:]
    if turns == 2:
        return m[::-1, ::-1]
    turned = m.swapaxes(0, 1)
    return turned[::-1] if turns == 1 else turned[:, ::-1]


_NUMPYS = {
    "concatenate": _concatenate, "hstack": _hstack, "vstack": _vstack, "column_stack": _column_stack, "stack": _stack,
    "dstack": _dstack, "append": _append, "repeat": _repeat, "roll": _roll, "flip": _flip, "flipud": _flipud,
    "fliplr": _fliplr, "delete": _delete, "insert": _insert, "resize": _resize, "take_along_axis": _take_along_axis,
    "atleast_1d": _atleast_1d, "atleast_2d": _atleast_2d,
    "atleast_3d": _atleast_3d, "array_split": _array_split, "split": _split, "hsplit": _hsplit, "vsplit": _vsplit,
    "tile": _tile, "asfortranarray": _asfortranarray, "rot90": _rot90, "trim_zeros": _trim_zeros,
}  # fmt: skip

ARRAYS = {getattr(np, name): f for name, f in _NUMPYS.items()}

METHODS = {"ravel(order)": _in_order, "repeat": _repeat}
