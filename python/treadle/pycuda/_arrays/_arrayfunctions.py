"""Functions of GPUArrays: take, put, conditions, reductions, joining."""

import builtins

import numpy

from ... import _core, concat
from ... import stack as _stack
from ... import where as _where
from .._driver import _layout
from .._driver._pointer import ordered
from ._gpuarray import _UFUNC, GPUArray, _delivered, _number, _operand


def _flat(a):
    """a's elements in memory order, as an array of one axis."""
    straight, _ = _layout.in_memory_order(a._plain())
    return straight.reshape(-1)


def _checked(what, a, *others):
    for other in others:
        if a.shape != other.shape:
            raise ValueError(f"{what}: shapes do not match: {a.shape} and {other.shape}")


# ---- elements by their places ----


def _out(what, out, count, shape, dtype, allocator):
    if out is None:
        return [GPUArray(shape, dtype, allocator) for _ in range(count)]
    if len(out) != count:
        raise ValueError(f"{what}: {len(out)} arrays in out for {count} arrays")
    if builtins.any(o.dtype != dtype for o in out):
        raise TypeError(f"{what}: arrays and out must have the same dtype")
    return out


def _one_dtype(what, arrays):
    found = {a.dtype for a in arrays}
    if len(found) != 1:
        raise TypeError(f"{what}: the arrays have several dtypes: {sorted(map(str, found))}")
    return found.pop()


def _places(what, indices):
    if indices.ndim != 1:
        raise ValueError(f"{what}: indices have one axis, not {indices.ndim}")
    if indices.dtype.kind not in "iu":
        raise TypeError(f"{what}: indices are integers, not {indices.dtype}")
    return indices._plain()


def take(a, indices, out=None, stream=None):
    """The elements of a, counted as they lie in memory, at integer indices. IndexError: one is out of range."""
    return multi_take([a], indices, None if out is None else [out], stream)[0]


def multi_take(arrays, indices, out=None, stream=None):
    """take of several arrays of one dtype: a list."""
    if not len(arrays):
        return []
    dtype, places = _one_dtype("take", arrays), _places("take", indices)
    out = _out("take", out, len(arrays), indices.shape, dtype, arrays[0]._allocator)
    with ordered(stream, indices.device):
        for a, o in zip(arrays, out, strict=True):
            o._plain()[...] = _flat(a)[places]
    return out


def multi_take_put(arrays, dest_indices, src_indices, dest_shape=None, out=None, stream=None, src_offsets=None):
    """out[k][dest_indices] = arrays[k][src_indices + src_offsets[k]] for each k: a list of arrays of dest_shape."""
    if not len(arrays):
        return []
    dtype = _one_dtype("multi_take_put", arrays)
    if src_indices.dtype != dest_indices.dtype:
        raise TypeError("multi_take_put: src_indices and dest_indices must have the same dtype")
    _checked("multi_take_put", src_indices, dest_indices)
    if src_offsets is not None and len(src_offsets) != len(arrays):
        raise ValueError(f"multi_take_put: {len(src_offsets)} offsets for {len(arrays)} arrays")
    source, dest = _places("multi_take_put", src_indices), _places("multi_take_put", dest_indices)
    out = _out("multi_take_put", out, len(arrays), dest_shape, dtype, arrays[0]._allocator)
    with ordered(stream, dest_indices.device):
        for k, (a, o) in enumerate(zip(arrays, out, strict=True)):
            _flat(o)[dest] = _flat(a)[source + int(src_offsets[k]) if src_offsets is not None else source]
    return out


def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None):
    """out[k][dest_indices] = arrays[k] for each k: a list of arrays of dest_shape."""
    if not len(arrays):
        return []
    dtype, dest = _one_dtype("multi_put", arrays), _places("multi_put", dest_indices)
    out = _out("multi_put", out, len(arrays), dest_shape, dtype, arrays[0]._allocator)
    with ordered(stream, dest_indices.device):
        for a, o in zip(arrays, out, strict=True):
            _flat(o)[dest] = _flat(a)[: dest_indices.size]
    return out


# ---- shapes ----


def _together(arrays, join, allocator):
    arrays = list(arrays)
    if not arrays:
        raise ValueError("need at least one array")
    value = join([a._plain() for a in arrays]).astype(numpy.result_type(*(a.dtype for a in arrays)))
    return _delivered(value, None, allocator or arrays[0]._allocator)


def concatenate(arrays, axis=0, allocator=None):
    """The arrays one behind the other along an axis."""
    return _together(arrays, lambda parts: concat(parts, axis=axis), allocator)


def stack(arrays, axis=0, allocator=None):
    """The arrays along a new axis."""
    return _together(arrays, lambda parts: _stack(parts, axis=axis), allocator)


def transpose(a, axes=None):
    """a with its axes permuted (None: reversed), the same memory."""
    return a.transpose(axes)


def reshape(a, *shape, **kwargs):
    """a.reshape(...)."""
    return a.reshape(*shape, **kwargs)


# ---- conditions ----


def _chosen(what, condition, then_, else_, out, stream):
    _checked(what, condition, then_, else_)
    if then_.dtype != else_.dtype:
        raise ValueError(f"{what}: dtypes do not match: {then_.dtype} and {else_.dtype}")
    with ordered(stream, condition.device):
        truth = condition._plain() > 0 if what == "if_positive" else condition._plain() != 0
        return _delivered(_where(truth, then_._plain(), else_._plain()), out, then_._allocator)


def if_positive(criterion, then_, else_, out=None, stream=None):
    """then_ where criterion is greater than 0, else_ elsewhere."""
    return _chosen("if_positive", criterion, then_, else_, out, stream)


def where(criterion, then_, else_, out=None, stream=None):
    """then_ where criterion is not 0, else_ elsewhere."""
    return _chosen("where", criterion, then_, else_, out, stream)


def _extremum(name):
    def choose(a, b, out=None, stream=None):
        one = a if isinstance(a, GPUArray) else b
        x, y = _operand(a), _operand(b)
        if not isinstance(one, GPUArray) or x is None or y is None:
            raise TypeError(f"{name}imum: GPUArrays or one and a number, not {type(a).__name__}, {type(b).__name__}")
        with ordered(stream, one.device):
            value = _UFUNC["f" + name](x, y)
            return _delivered(value, out, one._allocator)

    choose.__name__ = choose.__qualname__ = name + "imum"
    choose.__doc__ = f"{name}imum(a, b, out=None, stream=None): of each pair; of a NaN and a number the number."
    return choose


minimum = _extremum("min")
maximum = _extremum("max")


# ---- reductions: GPUArrays without axes ----


def _reduced(value, allocator, a):
    return _delivered(value, None, allocator or a._allocator)


def sum(a, dtype=None, stream=None, allocator=None):
    """The sum of all elements, computed in dtype (None: a's)."""
    with ordered(stream, a.device):
        return _reduced(a._plain().sum(dtype=dtype or a.dtype), allocator, a)


def any(a, stream=None, allocator=None):
    """Is any element not 0?"""
    return a.any(stream, allocator)


def all(a, stream=None, allocator=None):
    """Is no element 0?"""
    return a.all(stream, allocator)


def dot(a, b, dtype=None, stream=None, allocator=None):
    """The sum of the products of elements, without conjugation, in dtype (None: the common one)."""
    if a.size != b.size:
        raise ValueError(f"dot: {a.size} elements and {b.size}")
    dtype = dtype or numpy.result_type(a.dtype, b.dtype)
    x, y = (a._plain(), b._plain()) if a.shape == b.shape else (_flat(a), _flat(b))
    with ordered(stream, a.device):
        return _reduced((x * y).sum(dtype=dtype), allocator, a)


def subset_sum(subset, a, dtype=None, stream=None, allocator=None):
    """The sum of a's elements at the indices in subset."""
    with ordered(stream, a.device):
        return _reduced(_flat(a)[_places("subset_sum", subset)].sum(dtype=dtype or a.dtype), allocator, a)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    """The sum of the products of a's and b's elements at the indices in subset."""
    places = _places("subset_dot", subset)
    with ordered(stream, a.device):
        return _reduced((_flat(a)[places] * _flat(b)[places]).sum(dtype=dtype or a.dtype), allocator, a)


def _least(x, name):
    """The extremum of the core's array. NaN does not count."""
    if x.dtype.kind == "c":
        raise TypeError(f"{name}: complex numbers have no order")
    if not x.size:
        raise ValueError(f"{name}: the array has no elements")
    if x.dtype.kind == "f":
        nothing = numpy.inf if name == "min" else -numpy.inf
        x = _where(_UFUNC["isnan"](x), numpy.asarray(nothing, x.dtype)[()], x)
    return getattr(x, name)()


def _extreme(name):
    def find(a, stream=None):
        with ordered(stream, a.device):
            return _reduced(_least(a._plain(), name), None, a)

    def find_subset(subset, a, stream=None):
        with ordered(stream, a.device):
            return _reduced(_least(_flat(a)[_places("subset_" + name, subset)], name), None, a)

    find.__name__ = find.__qualname__ = name
    find.__doc__ = f"{name}(a, stream=None): the {name}imum of all elements that are numbers."
    find_subset.__name__ = find_subset.__qualname__ = "subset_" + name
    find_subset.__doc__ = f"subset_{name}(subset, a, stream=None): {name} of a's elements at the indices in subset."
    return find, find_subset


min, subset_min = _extreme("min")
max, subset_max = _extreme("max")


# ---- truth ----


def _logical(name, operands, out, allocator):
    values = [_operand(x) for x in operands]
    for x, value in zip(operands, values, strict=True):
        if value is None:
            raise ValueError(f"{name} takes numbers and GPUArrays, not {type(x).__name__}")
    arrays = [x for x in operands if not _number(x)]
    if len(arrays) == 2:
        _checked(name, *arrays)
    if not arrays:
        values[0] = _core.asarray(numpy.asarray(values[0]))
    return _delivered(_UFUNC[name](*values), out, allocator or (arrays[0]._allocator if arrays else None))


def logical_and(x1, x2, /, out=None, *, allocator=None):
    """Are both not 0? Booleans."""
    return _logical("logical_and", (x1, x2), out, allocator)


def logical_or(x1, x2, /, out=None, *, allocator=None):
    """Is one of them not 0? Booleans."""
    return _logical("logical_or", (x1, x2), out, allocator)


def logical_not(x, /, out=None, *, allocator=None):
    """Is it 0? Booleans."""
    return _logical("logical_not", (x,), out, allocator)
