"""How functions work on sharded arrays: a rule for each kind of function.

What works on elements is computed piece by piece. A reduction over the divided axis computes a part on each device, and
the first device combines the parts in the devices' order. A function along other axes than the divided one is called
for each device's rows; one along the divided axis has the array divided along another axis first. A product is divided
along the label of its axes that moves the fewest bytes.
"""

import math

import numpy

from .. import _core
from .._numpy._shape import _axes
from .._vmap import _table
from .._vmap._array import function
from ._array import ShardedArray, joined, replicated, sharded
from ._calls import apply, leaves, one_mesh, rule
from ._mesh import moved
from ._operands import Spread, as_sharded
from ._sort import sort

# ---- elements ----


def elements(name, fn, *args, **kwargs):
    """The rule of functions of elements: their operands broadcast."""
    if kwargs.get("where", True) is not True or any(type(x) in (tuple, list) and leaves(x) for x in args):
        return NotImplemented
    named = [k for k in kwargs if leaves(kwargs[k])]
    given = [*args, *(kwargs[k] for k in named)]
    x = Spread(given, one_mesh(leaves(given)), f"{name}: halo")
    if x.ranges is None:
        return NotImplemented
    rest = {k: v for k, v in kwargs.items() if k not in named}
    made = []
    for lo, hi, i, parts in x.ranges:
        r = fn(*parts[: len(args)], **dict(zip(named, parts[len(args) :], strict=True)), **rest)
        made.append((lo, hi, i, r))
    if type(made[0][3]) in (tuple, list):
        kind = type(made[0][3])
        columns = zip(*(p[3] for p in made), strict=True)
        return kind(_of(x, [(*p[:3], r) for p, r in zip(made, column, strict=True)]) for column in columns)
    return _of(x, made)


def _of(x, made):
    return sharded(x.mesh, x.axis, x.cuts, made)


@rule("where")
def _where(name, fn, condition, *rest, **kwargs):
    return elements(name, fn, condition, *rest, **kwargs) if len(rest) + len(kwargs) == 2 else NotImplemented


rule(" ".join([*_core.ufuncs(), *(n for n in _table.ELEMENTS.split() if n != "where")]))(elements)

# ---- reductions ----

# name: (what a device computes of its rows, how two devices' results are combined)
COMBINED = {
    "sum": ("sum", "add"), "prod": ("prod", "multiply"), "max": ("max", "maximum"), "min": ("min", "minimum"),
    "amax": ("max", "maximum"), "amin": ("min", "minimum"), "any": ("any", "logical_or"),
    "all": ("all", "logical_and"), "count_nonzero": ("count_nonzero", "add"), "nansum": ("nansum", "add"),
    "nanprod": ("nanprod", "multiply"), "nanmax": ("nanmax", "fmax"), "nanmin": ("nanmin", "fmin"),
    "ufunc.reduce": (None, None),
}  # fmt: skip
_WIDE = {"sum", "prod", "nansum", "nanprod"}  # of half types these are combined in float32


def _reduced(x, axis):
    """The axes that are reduced, and whether the divided one is among them."""
    axes = tuple(range(x.ndim)) if axis is None else tuple(_axes(axis, x.ndim, "axis"))
    return axes, x.axis in axes


def _kept(x, axes, keepdims):
    """Where the divided axis is in what remains when axes are reduced."""
    return x.axis if keepdims else x.axis - sum(k < x.axis for k in axes)


def combine(mesh, parts, f, what):
    """The parts, (device's number, array), combined in order by f on the first part's device; replicated from there."""
    _core.evaluate(*(part for _, part in parts))  # so that the devices work at the same time
    at, r = parts[0]
    for _, part in parts[1:]:
        r = f(r, moved(part, mesh[at], what))
    return at, r


@rule(" ".join(COMBINED))
def reduction(name, fn, x, axis=None, *more, **kwargs):
    if more or kwargs.get("where", True) is not True or (name == "ufunc.reduce" and axis is None and "axis" in kwargs):
        return NotImplemented
    if name == "ufunc.reduce":
        ufunc = fn.__self__
        axis, of, by = kwargs.pop("axis", 0 if axis is None else axis), fn, ufunc
        if getattr(ufunc, "identity", None) is None and ufunc.__name__ not in ("maximum", "minimum", "fmax", "fmin"):
            return NotImplemented
    else:
        of, by = (function(n) for n in COMBINED[name])
    axes, crosses = _reduced(x, axis)
    if not crosses:
        made = [(lo, hi, i, of(a, axes, **kwargs)) for lo, hi, i, a in x.pieces]
        return sharded(x.mesh, _kept(x, axes, kwargs.get("keepdims", False)), x.cuts, made)
    initial = kwargs.pop("initial", None)
    half = name in _WIDE and x.dtype.itemsize == 2 and x.dtype.kind in "fV" and kwargs.get("dtype") is None
    if half:
        kwargs["dtype"] = "float32"
    parts = [(i, of(a, axes, **kwargs)) for _, _, i, a in x.pieces]
    at, r = combine(x.mesh, parts, by, name)
    r = r if initial is None else by(initial, r)
    return replicated(x.mesh, at, r.astype(x.dtype) if half else r)


def _rows_of(x, axes):
    return math.prod(x.shape[k] for k in axes)


@rule("mean nanmean")
def _mean(name, fn, x, axis=None, dtype=None, keepdims=False, **kwargs):
    axes, crosses = _reduced(x, axis)
    if kwargs:
        return NotImplemented
    if not crosses:
        made = [(lo, hi, i, fn(a, axes, dtype=dtype, keepdims=keepdims)) for lo, hi, i, a in x.pieces]
        return sharded(x.mesh, _kept(x, axes, keepdims), x.cuts, made)
    kind = numpy.dtype(dtype) if dtype is not None else x.dtype if x.dtype.kind in "fcV" else numpy.dtype("float64")
    wide = "float32" if kind.itemsize == 2 and kind.kind in "fV" else kind
    if name == "mean":
        r = apply("sum", x, axes, dtype=wide, keepdims=keepdims) / _rows_of(x, axes)
    else:
        there = apply("sum", apply("isnan", x) == False, axes, keepdims=keepdims)  # noqa: E712
        r = apply("nansum", x, axes, dtype=wide, keepdims=keepdims) / there.astype(wide)
    return r.astype(kind, copy=False)


@rule("var std nanvar nanstd")
def _deviation(name, fn, x, axis=None, dtype=None, ddof=0, keepdims=False, correction=None, **kwargs):
    axes, crosses = _reduced(x, axis)
    if kwargs:
        return NotImplemented
    ddof = ddof if correction is None else correction
    if not crosses:
        made = [(lo, hi, i, fn(a, axes, dtype=dtype, ddof=ddof, keepdims=keepdims)) for lo, hi, i, a in x.pieces]
        return sharded(x.mesh, _kept(x, axes, keepdims), x.cuts, made)
    if name[:3] == "nan" or (x.dtype.itemsize == 2 and x.dtype.kind in "fV"):
        return NotImplemented
    away = x - apply("mean", x, axes, dtype=dtype, keepdims=True)
    squares = (away * away.conj()).real if away.dtype.kind == "c" else away * away
    r = apply("sum", squares, axes, keepdims=keepdims) / max(_rows_of(x, axes) - ddof, 0)
    return apply("sqrt", r) if name == "std" else r


@rule("ptp")
def _ptp(name, fn, x, axis=None, keepdims=False):
    return apply("max", x, axis, keepdims=keepdims) - apply("min", x, axis, keepdims=keepdims)


@rule("argmax argmin")
def _arg(name, fn, x, axis=None, keepdims=False):
    if axis is None and (x.ndim != 1 or keepdims):
        return NotImplemented
    axes, crosses = _reduced(x, axis)
    if not crosses or x.ndim > 1:
        return along(name, fn, x, axis, keepdims=keepdims)
    best, where = [], []
    for lo, _, _, a in x.pieces:
        at = fn(a)
        best.append(moved(a[at], x.mesh[0], name))
        where.append(moved(at + lo, x.mesh[0], name))
    k = fn(function("stack")(best))
    return replicated(x.mesh, 0, function("stack")(where)[k])


# ---- functions along axes ----

_ALONG = {
    names: signature
    for names, signature in _table.ARRAYS.items()
    if not names.startswith(("ufunc", "searchsorted", "digitize", "isin", "flip", "rot90", "transpose", "swapaxes",
                             "moveaxis", "expand_dims", "stack", "split", "unstack", "trace", "matrix_t"))
    and names != _table.REDUCTIONS
} | {
    "ufunc.accumulate": "a:x axis=0",
    "median nanmedian": "a:x axis:axes=None",
    "percentile quantile nanpercentile nanquantile": "a:x q axis:axes=None",
    "cumulative_sum cumulative_prod": "x:x * axis:axis=0",
}  # fmt: skip
_SIGNATURES = {name: _table._parameters(text) for names, text in _ALONG.items() for name in names.split()}


def _touched(name, args, kwargs):
    """The array, and the axes along which the function works; None where a call does not fit the row."""
    names, roles, defaults, _ = _SIGNATURES[name]
    if len(args) > len(names):
        return None
    given = defaults | dict(zip(names, args, strict=False)) | kwargs
    x = given[names[0]]
    if type(x) is not ShardedArray or len(leaves((args, kwargs))) > 1:
        return None
    axes = set()
    for key, value in given.items():
        role = roles.get(key, "")
        if role in ("axis", "axes", "flat"):
            if value is None and role != "axis":
                axes.update(range(x.ndim))
            elif value is not None:
                axes.update(_axes(value, x.ndim, "axis"))
    if roles[names[0]] == "m":
        axes.update((x.ndim - 2, x.ndim - 1))
    return x, axes, numpy.ndim(given["q"]) if "q" in given else 0


@rule(" ".join(_SIGNATURES))
def along(name, fn, *args, **kwargs):
    """The rule of functions along axes: the array is divided along an axis that they leave alone."""
    found = _touched(name, args, kwargs)
    if found is None:
        return NotImplemented
    x, axes, before = found
    if x.axis in axes:
        free = [k for k in range(x.ndim) if k not in axes and x.shape[k] > 1]
        if not free:
            return scan(name, fn, x, **kwargs) if x.ndim == 1 else NotImplemented
        x = x.reshard(max(free, key=lambda k: min(x.shape[k], len(x.mesh))))
        if x.axis is None:
            return NotImplemented
    rest = args[1:]
    if not args:
        kwargs = {k: v for k, v in kwargs.items() if type(v) is not ShardedArray}
    made = [(lo, hi, i, fn(a, *rest, **kwargs)) for lo, hi, i, a in x.pieces]
    return _like(x, axes, before, made)


def _like(x, axes, before, made):
    """The pieces of a function's results: arrays, or tuples of arrays."""
    first = made[0][3]
    if isinstance(first, tuple):
        columns = [_like(x, axes, before, [(*p[:3], p[3][k]) for p in made]) for k in range(len(first))]
        return type(first)(*columns) if hasattr(first, "_fields") else tuple(columns)
    lost = 0 if first.ndim - before == x.ndim else sum(k < x.axis for k in axes)
    return sharded(x.mesh, x.axis - lost + before, x.cuts, made)


# ---- along the only axis ----

_CARRIED = {"cumsum": "add", "cumprod": "multiply", "cumulative_sum": "add", "cumulative_prod": "multiply"}


def scan(name, fn, x, **kwargs):
    """Cumulative sums and products of an array of one axis: each device's, and what the devices before it end with."""
    by = fn.__self__ if name == "ufunc.accumulate" else _CARRIED.get(name)
    if by is None or set(kwargs) - {"axis", "dtype"}:
        return sort(x) if name == "sort" else NotImplemented
    by = function(by) if isinstance(by, str) else by
    carry, made = None, []
    for lo, hi, i, a in x.pieces:
        r = fn(a, **kwargs)
        r = r if carry is None else by(moved(carry, x.mesh[i], name), r)
        carry = r[-1:]
        made.append((lo, hi, i, r))
    return sharded(x.mesh, 0, x.cuts, made)


# ---- products ----


def contracted(fn, operands, labels, out):
    """A product of operands whose axes have these labels, one letter an axis, with the labels `out`.

    It is divided along one label: where that is in the result the devices compute parts of it, else the result is the
    sum of what the devices compute, in their order."""
    mesh = one_mesh(leaves(operands))
    operands = [as_sharded(x, mesh) for x in operands]
    extent = {c: n for x, text in zip(operands, labels, strict=True) for c, n in zip(text, x.shape, strict=True)}
    size = math.prod(extent[c] for c in out)

    def cost(label):
        bytes_moved = 0 if label in out else 2 * size * operands[0].dtype.itemsize
        for x, text in zip(operands, labels, strict=True):
            if x.axis is not None and text[x.axis] != label:
                bytes_moved += x.nbytes
        return bytes_moved

    choices = [text[x.axis] for x, text in zip(operands, labels, strict=True) if x.axis is not None]
    label = min(choices, key=cost)
    lead = next(x for x, text in zip(operands, labels, strict=True) if x.axis is not None and text[x.axis] == label)
    placed = [_divided(x, text, label) for x, text in zip(operands, labels, strict=True)]
    ranges = [(lead.cuts[i], lead.cuts[i + 1], i) for i in range(len(mesh)) if lead.cuts[i] < lead.cuts[i + 1]]
    # operands move before any product is begun: copies wait for their source's device
    whole = [x.everywhere([i for _, _, i in ranges]) if at < 0 else None for x, at in placed]
    given = [[_operand(x, at, *r) if at >= 0 else whole[k][n] for k, (x, at) in enumerate(placed)]
             for n, r in enumerate(ranges)]  # fmt: skip
    _core.evaluate(*(x for parts in given for x in parts))
    made = [(*r, fn(*parts)) for r, parts in zip(ranges, given, strict=True)]
    if label in out:
        return sharded(mesh, out.index(label), lead.cuts, made)
    at, r = combine(mesh, [(i, r) for _, _, i, r in made], function("add"), "product")
    return replicated(mesh, at, r)


def _divided(x, text, label):
    """x, and the axis along which devices take their parts; -1: they need all of it."""
    if label not in text:
        return x, -1
    at = text.index(label)
    return (x if x.axis is None or x.axis == at else x.reshard(at)), at


def _operand(x, at, lo, hi, i):
    if x.axis is None:
        return x.on(i)[(slice(None),) * at + (slice(lo, hi),)]
    return joined(x.rows(lo, hi, i, "product"), at)


@rule("matmul")
def _matmul(name, fn, a, b, **kwargs):
    mesh = one_mesh(leaves((a, b)))
    a, b = as_sharded(a, mesh), as_sharded(b, mesh)
    if not a.ndim or not b.ndim or kwargs:
        return NotImplemented
    if max(a.ndim, b.ndim) > 2 and a.shape[:-2] != b.shape[:-2]:
        return NotImplemented
    batch = "ABCDEFGHIJKLMNOP"[: max(a.ndim, b.ndim, 2) - 2]
    rows, columns = "i" if a.ndim > 1 else "", "j" if b.ndim > 1 else ""
    labels = [batch + rows + "k" if rows else "k", batch + "k" + columns if columns else "k"]
    return contracted(fn, [a, b], labels, batch + rows + columns)


@rule("dot")
def _dot(name, fn, a, b):
    mesh = one_mesh(leaves((a, b)))
    a, b = as_sharded(a, mesh), as_sharded(b, mesh)
    if not a.ndim or not b.ndim:
        return a * b
    return apply("matmul", a, b) if b.ndim <= 2 and a.ndim <= 2 else NotImplemented


@rule("inner vdot")
def _inner(name, fn, a, b):
    mesh = one_mesh(leaves((a, b)))
    a, b = as_sharded(a, mesh), as_sharded(b, mesh)
    return contracted(fn, [a, b], ["k", "k"], "") if a.ndim == b.ndim == 1 else NotImplemented


@rule("outer")
def _outer(name, fn, a, b):
    mesh = one_mesh(leaves((a, b)))
    a, b = as_sharded(a, mesh), as_sharded(b, mesh)
    return contracted(fn, [a, b], ["i", "j"], "ij") if a.ndim == b.ndim == 1 else NotImplemented


@rule("einsum")
def _einsum(name, fn, text, *operands, **kwargs):
    if not isinstance(text, str) or "." in text:
        return NotImplemented
    into, arrow, out = text.replace(" ", "").partition("->")
    labels = into.split(",")
    if not arrow:
        every = "".join(labels)
        out = "".join(sorted(c for c in set(every) if every.count(c) == 1))
    if any(len(set(t)) != len(t) for t in labels):  # a diagonal
        return NotImplemented
    return contracted(lambda *x: fn(text, *x, **kwargs), list(operands), labels, out)
