"""Rules of vmap for shapes, subscripts, joining, splitting, and making arrays like others. See _rules.py."""

import numpy

from .._numpy._shape import _axes, _axis
from ._array import Unbatched, apply, find, function, rule
from ._table import places, row

# ---- one array ----


_reshaped = row("a:x shape:shape")


@rule("reshape")
def _reshape(c, a, shape, order="C", **kwargs):
    return _reshaped(c, a, shape, **kwargs) if order == "C" else NotImplemented


@rule("ravel")
def _ravel(c, a, order="C"):
    return c.front(a).reshape((c.n, a.size)) if order == "C" else NotImplemented


@rule("rollaxis")
def _rollaxis(c, a, axis, start=0):
    start = start + a.ndim if start < 0 else start
    return c.fn(c.front(a), _axis(axis, a.ndim, "rollaxis") + 1, start + 1)


@rule("squeeze")
def _squeeze(c, a, axis=None):
    gone = tuple(k for k, extent in enumerate(a.shape) if extent == 1) if axis is None else axis
    return function("squeeze")(c.front(a), places(gone, a.ndim))


@rule("broadcast_to")
def _broadcast_to(c, array, shape, subok=False):
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return c.fn(c.aligned(array, len(shape)), (c.n, *shape))


@rule("broadcast_arrays", boxed=False)
def _broadcast_arrays(c, *args, **kwargs):
    shape = numpy.broadcast_shapes(*(c.plain(a).shape for a in args))
    return tuple(apply("broadcast_to", a, shape) for a in args)


def _atleast(name, places):
    @rule(name, boxed=False)
    def atleast(c, *arrays):
        found = [apply("expand_dims", a, places[a.ndim]) if places[a.ndim : a.ndim + 1] else a
                 for a in map(c.plain, arrays)]  # fmt: skip
        return found[0] if len(found) == 1 else tuple(found)


_atleast("atleast_1d", [0])
_atleast("atleast_2d", [(0, 1), 0])
_atleast("atleast_3d", [(0, 1, 2), (0, 2), 2])


@rule("tile")
def _tile(c, A, reps):
    reps = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    n = max(A.ndim, len(reps))
    v = c.aligned(A, n)
    return c.fn(v, (1, *(1,) * (n - len(reps)), *reps))


@rule("pad")
def _pad(c, array, pad_width, mode="constant", **kwargs):
    if callable(mode) or c.has(kwargs) or isinstance(pad_width, dict) or any(numpy.ndim(v) for v in kwargs.values()):
        return NotImplemented
    widths = numpy.broadcast_to(numpy.asarray(pad_width), (array.ndim, 2)).tolist()
    return c.fn(c.front(array), [(0, 0), *map(tuple, widths)], mode, **kwargs)


@rule("diag", boxed=False)
def _diag(c, v, k=0):
    if v.ndim == 2:
        return apply("diagonal", v, k)
    n = v.shape[0] + abs(k)
    r = c.box(function("zeros")((c.n, n, n), v.dtype, device=v.device))
    at = numpy.arange(v.shape[0])
    r[at + max(-k, 0), at + max(k, 0)] = v
    return r


# ---- several arrays ----


@rule("concatenate concat")
def _concatenate(c, arrays, axis=0, **kwargs):
    arrays = [c.plain(a) for a in arrays]
    if axis is None:
        arrays, axis = [apply("ravel", a) for a in arrays], 0
    return c.fn([c.front(a) for a in arrays], _axis(axis, arrays[0].ndim, "concatenate") + 1, **kwargs)


def _joined(name, atleast, axis):
    @rule(name, boxed=False)
    def join(c, tup, **kwargs):
        arrays = [apply(atleast, a) for a in tup]
        along = axis if arrays[0].ndim > 1 else 0
        return apply("concatenate", arrays, along, **kwargs)


_joined("row_stack", "atleast_2d", 0)
_joined("hstack", "atleast_1d", 1)
_joined("dstack", "atleast_3d", 2)


@rule("column_stack", boxed=False)
def _column_stack(c, tup):
    arrays = [apply("reshape", a, (a.size, 1)) if a.ndim < 2 else a for a in map(c.plain, tup)]
    return apply("concatenate", arrays, 1)


@rule("hsplit vsplit dsplit", boxed=False)
def _splits(c, ary, indices_or_sections):
    axis = {"hsplit": 0 if ary.ndim == 1 else 1, "vsplit": 0, "dsplit": 2}[c.name]
    if ary.ndim <= {"hsplit": 0, "vsplit": 1, "dsplit": 2}[c.name]:
        raise ValueError(f"{c.name} of an array of {ary.ndim} axes")
    return apply("split", ary, indices_or_sections, axis)


@rule("meshgrid", boxed=False)
def _meshgrid(c, *xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing is 'xy' or 'ij'")
    arrays = [apply("ravel", c.plain(x)) for x in xi]
    n, places = len(arrays), list(range(len(arrays)))
    if indexing == "xy" and n > 1:
        places[:2] = 1, 0
    arrays = [apply("reshape", x, [-1 if k == p else 1 for k in range(n)]) for x, p in zip(arrays, places, strict=True)]
    return tuple(arrays if sparse else apply("broadcast_arrays", *arrays))


@rule("select", boxed=False)
def _select(c, condlist, choicelist, default=0):
    r = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        r = apply("where", condition, choice, r)
    return r


@rule("compress", boxed=False)
def _compress(c, condition, a, axis=None):
    if c.has(condition):
        raise Unbatched("compress with another mask for every item gives arrays of different lengths")
    places = numpy.flatnonzero(condition.get() if hasattr(condition, "get") else condition)
    return apply("take", a, places, axis)


# ---- subscripts ----


def _is_array(x):
    return isinstance(x, (list, tuple, numpy.ndarray)) or hasattr(x, "ndim")


def _consumed(item):
    """How many axes of the array one item of a subscript consumes."""
    if item is None:
        return 0
    d = getattr(item, "dtype", None)
    if d is None and isinstance(item, (bool, list, tuple)):
        item = numpy.asarray(item)
        d = item.dtype
    return item.ndim if d is not None and d.kind == "b" else 1


def _items(key, ndim):
    """The items of a subscript, with slices in place of Ellipsis and of omitted axes."""
    items = list(key) if isinstance(key, tuple) else [key]
    dots = [k for k, x in enumerate(items) if x is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    at = dots[0] if dots else len(items)
    left = ndim - sum(_consumed(x) for x in items if x is not Ellipsis)
    if left < 0:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional")
    return items[:at] + [slice(None)] * left + items[at + len(dots) :]


def _parts(key, items, advanced):
    """Whether an Ellipsis that stands for no axes separates index arrays. It counts as a separator even then."""
    at = next((k for k, x in enumerate(key if isinstance(key, tuple) else ()) if x is Ellipsis), None)
    return at is not None and len(items) == len(key) - 1 and advanced[0] < at <= advanced[-1]


class _Subscript:
    """The subscript of an item, translated to one of the values: `key`, and where the axes of the index arrays go."""

    def __init__(self, c, a, key):
        items = _items(key, a.ndim)
        if any(isinstance(x, slice) and c.has(x) for x in items):
            raise Unbatched("a slice with other bounds for every item")
        if any(c.has(x) and getattr(x, "dtype", None) is not None and x.dtype.kind == "b" for x in items):
            raise Unbatched("a mask that is another for every item gives arrays of different lengths")
        items = [c.plain(x) if isinstance(x, (list, tuple)) and c.has(x) else x for x in items]
        advanced = [k for k, x in enumerate(items) if _is_array(x)]
        self.move = None
        if not advanced:
            self.key = (slice(None), *items)
            return
        # beside index arrays, integers count as index arrays of one element
        advanced = [k for k, x in enumerate(items) if _is_array(x) or (x is not None and not isinstance(x, slice))]
        together = advanced[-1] - advanced[0] + 1 == len(advanced) and not _parts(key, items, advanced)
        before = sum(isinstance(x, slice) or x is None for x in items[: advanced[0]]) if together else 0
        shapes = [numpy.shape(items[k]) if not hasattr(items[k], "shape") else items[k].shape for k in advanced]
        masks = any(getattr(items[k], "dtype", None) is not None and items[k].dtype.kind == "b" for k in advanced)
        if c.has(items) or not together:
            if masks or any(isinstance(items[k], list) and numpy.asarray(items[k]).dtype == bool for k in advanced):
                raise Unbatched("a mask beside index arrays of every item")
            n = max(map(len, shapes))
            first = function("arange")(c.n, device=a.device).reshape((c.n, *(1,) * n))
            self.key = (first, *(c.aligned(x, n) for x in items))
            # NumPy puts the index arrays' axes first: the items' axis, n axes of indices, then the slices.
            self.move = (n, before)
            self.first = advanced[0] == 0 and together
        else:
            self.key = (slice(None), *items)

    @property
    def moves(self):
        """Whether the index arrays' axes must be moved behind slices, where an item's subscript has them."""
        return self.move is not None and not self.first and self.move[1] > 0

    def of(self, value):
        """value under the subscript, with its axes in the order of an item's."""
        r = value[self.key]
        if not self.moves:
            return r
        n, before = self.move  # (items, n axes of indices, slices...) -> (items, slices before, indices, slices)
        return function("moveaxis")(r, tuple(range(1, n + 1)), tuple(range(1 + before, 1 + before + n)))

    def arranged(self, value):
        """Undo the order of `of`, for a value to assign: its axes go where the values' subscript has them."""
        if not self.moves:
            return value
        n, before = self.move
        return function("moveaxis")(value, tuple(range(1 + before, 1 + before + n)), tuple(range(1, n + 1)))


@rule("getitem")
def _getitem(c, a, key):
    s = _Subscript(c, a, key)
    r = s.of(c.front(a))
    only = key if isinstance(key, tuple) else (key,)
    if r.ndim == 1 and all(type(k) is int for k in only):
        return r.copy()  # one element: NumPy gives a scalar there, not a view
    return r


@rule("setitem", boxed=False)
def _setitem(c, a, key, value):
    if not c.has(a):
        raise Unbatched("an array that all items share is written")
    v = a._value
    if a.ndim == 0 and key in (Ellipsis, ()):
        a._value = function("broadcast_to")(c.aligned(c.plain(value), 0), v.shape).astype(v.dtype)
        return None
    s = _Subscript(c, a, key)
    c.trace.keep(v)
    if not c.has(value):
        value = c.plain(value)
        if s.move is not None and value.ndim:
            value = c.box(c.front(value))
    if c.has(value):
        target = s.of(v).ndim - 1
        extra = max(value.ndim - target, 0)
        value = c.aligned(value, target)
        if extra:  # drop leading extents of 1, as NumPy's assignment does
            value = value.reshape((c.n, *value.shape[1 + extra :]))
        if s.move is not None:
            value = s.arranged(function("broadcast_to")(value, s.of(v).shape))
    v[s.key] = value
    return None


@rule("take", boxed=False)
def _take(c, a, indices, axis=None, mode="raise", **kwargs):
    if mode != "raise":
        return NotImplemented
    a = c.plain(a)
    if axis is None:
        a, axis = apply("ravel", a), 0
    axis = _axis(axis, a.ndim, "take")
    indices = indices if isinstance(indices, int) or hasattr(indices, "ndim") else c.plain(indices)
    return apply("getitem", a, (*(slice(None),) * axis, indices))


@rule("put_along_axis", boxed=False)
def _put_along_axis(c, arr, indices, values, axis):
    if axis is None or not c.has(arr):
        raise Unbatched("put_along_axis into an array that all items share, or by the order of elements")
    n = arr.ndim
    c.trace.keep(arr)
    c.fn(arr._value, c.front(c.plain(indices)), c.aligned(values, n), _axis(axis, n, "put_along_axis") + 1)


@rule("copyto", boxed=False)
def _copyto(c, dst, src, casting="same_kind", where=True):
    if not c.has(dst):
        raise Unbatched("an array that all items share is written")
    c.trace.keep(dst)
    c.fn(dst._value, c.aligned(src, dst.ndim), casting=casting, where=c.aligned(where, dst.ndim))


@rule("block", boxed=False)
def _block(c, arrays):
    def depth(x):
        return 1 + depth(x[0]) if isinstance(x, list) and x else 0

    def joined(x, axis):
        if not isinstance(x, list):
            return apply("expand_dims", x, tuple(range(n - x.ndim))) if x.ndim < n else x
        return apply("concatenate", [joined(part, axis + 1) for part in x], axis)

    levels = depth(arrays)
    leaves = [c.plain(x) for x in _flattened(arrays)]
    if isinstance(arrays, tuple) or not leaves:
        return NotImplemented
    n = max(levels, max(x.ndim for x in leaves))
    return joined(_plain_blocks(c, arrays), n - levels) if levels else leaves[0].copy()


def _flattened(x):
    return [leaf for part in x for leaf in _flattened(part)] if isinstance(x, list) else [x]


def _plain_blocks(c, x):
    return [_plain_blocks(c, part) for part in x] if isinstance(x, list) else c.plain(x)


# These run the whole function item by item: their results differ in length, they write several times in order, or they
# use files.
APART = (
    "fill_diagonal put place putmask nonzero flatnonzero argwhere extract unique unique_values unique_all "
    "unique_counts unique_inverse save savez savez_compressed savetxt from_dlpack require"
)


@rule(APART, boxed=False)
def _apart(c, *args, **kwargs):
    raise Unbatched(f"{c.name} gives arrays of other lengths for every item, or writes")


@rule("piecewise", boxed=False)
def _piecewise(c, x, condlist, funclist, *args, **kw):
    if any(map(callable, funclist)) or not isinstance(condlist, (list, tuple)):
        return NotImplemented
    values = list(funclist) if len(funclist) > len(condlist) else [*funclist, 0]
    if len(values) != len(condlist) + 1:
        return NotImplemented
    r = c.plain(values[-1]).astype(x.dtype)
    # where several conditions are true, the last one decides
    for condition, value in zip(condlist, values, strict=False):
        r = apply("where", condition, c.plain(value).astype(x.dtype), r)
    return apply("broadcast_to", r, x.shape)


# ---- questions, copies, arrays like others ----


@rule("shape ndim size iscomplexobj isrealobj", boxed=False)
def _questions(c, a, axis=None):
    a = c.plain(a)
    if c.name == "size" and axis is not None:
        return numpy.prod([a.shape[k] for k in _axes(axis, a.ndim, "size")], dtype=int).item()
    if c.name.startswith("is"):
        return (a.dtype.kind == "c") == (c.name == "iscomplexobj")
    return getattr(a, c.name)


@rule("result_type promote_types can_cast common_type", boxed=False)
def _types(c, *args, **kwargs):
    return c.fn(*(a.dtype if find(a) else a for a in args), **kwargs)


def _copied(copy):
    def convert(c, a, dtype=None, *args, **kwargs):
        if c.name == "copy":  # copy's second parameter is the order
            return a.copy()
        if isinstance(a, (list, tuple)):
            a = apply("stack", [convert(c, x) if isinstance(x, (list, tuple)) else x for x in a])
        kwargs = {k: v for k, v in kwargs.items() if v is not None and k not in ("order", "subok", "like", "ndmin")}
        kwargs.setdefault("copy", copy)
        a = a if dtype is None else a.astype(dtype)
        return a.copy() if kwargs["copy"] and dtype is None else a

    return convert


rule("array copy", boxed=False)(_copied(True))
rule("asarray asanyarray ascontiguousarray asfortranarray", boxed=False)(_copied(False))


@rule("zeros_like ones_like empty_like full_like")
def _like(c, a, *args, shape=None, **kwargs):
    if c.name == "full_like" and (c.has(args) or c.has(kwargs)):
        value, *args = args or (kwargs.pop("fill_value"),)
        r = c.fn(c.front(a), 0, *args, **kwargs)
        r[...] = c.aligned(value, a.ndim)
        return r
    if shape is not None:
        shape = (c.n, *(shape if isinstance(shape, (tuple, list)) else (shape,)))
        return c.fn(c.front(a), *args, shape=shape, **kwargs)
    return c.fn(c.front(a), *args, **kwargs)


@rule("full", boxed=False)
def _full(c, shape, fill_value, dtype=None, **kwargs):
    value = c.plain(fill_value)
    r = apply("broadcast_to", value, shape)
    return r.copy() if dtype is None else r.astype(dtype)


# Functions that are composed of others.
COMPOSED = {
    "flipud": lambda c, m: apply("flip", m, 0),
    "fliplr": lambda c, m: apply("flip", m, 1),
    "diagflat": lambda c, v, k=0: apply("diag", apply("ravel", v), k),
    "append": lambda c, arr, values, axis=None: apply("concatenate", [arr, values], axis),
    "vdot": lambda c, a, b: apply("matmul", apply("conjugate", apply("ravel", c.plain(a))), apply("ravel", c.plain(b))),
    "linalg.matmul": lambda c, *args, **kwargs: apply("matmul", *args, **kwargs),
    "vander vstack": lambda c, *args, **kwargs: function(c.name).__wrapped__(*args, **kwargs),
    "astype": lambda c, x, dtype, /, *, copy=True, device=None: x.astype(dtype, copy=copy),
    "evaluate": lambda c, *args: args[0] if len(args) == 1 else args,
}
for _names, _rule in COMPOSED.items():
    rule(_names, boxed=False)(_rule)
