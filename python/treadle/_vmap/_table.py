"""How the items' axis, which stands before all others, passes through functions: what a row can say of it.

A row names functions and gives their parameters in order, `name:role=default`; those behind `*` are given by name,
`*role` takes all that follow. A role says what the argument of an item is as an argument of all items:

    x      an operand: the items' axis goes first; xs: a list of operands
    m      an operand of two axes at least
    like   broadcasts to the first operand, and may be the same for all items
    axis   an axis of the first operand, or several; new: of a result that has more
    axes   the same, or None for all
    flat   an axis, or None for all elements in order
    order  a permutation of the axes, or None for the reverse
    shape  extents, of which one may be -1

An argument without a role is the same for all items. A call that its row does not take runs item by item. What no row
can say has a rule (_rules.py, _shapes.py, torch/_vmap_rules.py). Which functions work on elements ops.def
says, and which reduce reduce.def.
"""

import ast
import math
import re

import numpy

from .. import _core
from .._numpy._shape import _axes, _axis
from ._array import rule

# Functions of elements beside the rows of ops.def.
ELEMENTS = (
    "clip where isclose float_power fix sinc nan_to_num real imag angle around round real_if_close isneginf isposinf "
    "divmod frexp ldexp modf nextafter spacing bitwise_count iscomplex isreal i0 heaviside"
)
MATRIX = (
    "cholesky det eig eigh eigvals eigvalsh inv pinv qr slogdet svd svdvals matrix_power diagonal trace matrix_norm "
    "matrix_transpose cond matrix_rank"
)
REDUCTIONS = (
    " ".join(row[0] for row in _core.reductions())
    + " amin amax ptp nansum nanprod nanmean nanstd nanvar nanmax nanmin median nanmedian"
)

ARRAYS = {
    REDUCTIONS: "a:x axis:axes=None * initial:like where:like",
    "ufunc.reduce": "a:x axis:axes=0",
    "ufunc.accumulate": "a:x axis=0",
    "argmax argmin nanargmax nanargmin cumsum cumprod nancumsum nancumprod": "a:x axis:flat=None",
    "sort argsort": "a:x axis:flat=-1",
    "partition argpartition diff topk": "a:x _ axis:flat=-1",
    "unwrap fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft": "a:x _ axis=-1",
    "trapezoid": "y:x _ _ axis=-1",
    "repeat delete": "a:x _ axis:flat=None",
    "searchsorted": "a v:x",
    "digitize interp": "x:x",
    "isin": "element:x",
    "trace diagonal": "a:x _ axis1:axis=0 axis2:axis=1",
    " ".join(f"linalg.{name}" for name in MATRIX.split()): "a:m",
    "linalg.vector_norm": "x:x axis:axes=None",
    "matrix_transpose": "x:m",
    "tril triu": "m:m",
    "fft.fftshift fft.ifftshift": "x:x axes:axes=None",
    "flip": "m:x axis:axes=None",
    "rot90": "m:x _ axes:axis=(0,1)",
    "transpose permute_dims": "a:x axes:order=None",
    "swapaxes": "a:x axis1:axis axis2:axis",
    "moveaxis": "a:x source:axis destination:axis",
    "expand_dims": "a:x axis:new",
    "stack": "arrays:xs axis:new=0",
    "split array_split": "ary:x _ axis=0",
    "unstack": "x:x axis=0",
    "take_along_axis": "arr:x indices:x axis=-1",
}

# The primitive operations of tensors.
TENSORS = {
    "join": "tensors:xs dim:axis",
    "gathered": "x:x dim:axis index:x",
    "reshaped view": "x:x *shape",
    "permuted permute": "x:x *order",
    "cast to_device": "x:x",
}

# ---- what the roles are of all items ----


def places(axis, ndim):
    """The axes of the values for axes of an item. None means all of an item's axes."""
    if axis is None:
        return tuple(range(1, ndim + 1))
    return _after(axis, ndim) if isinstance(axis, (tuple, list)) else _axis(axis, ndim, "axis") + 1


def _after(axes, ndim):
    return tuple(k + 1 for k in _axes(axes, ndim, "axis"))


def _one(c, axis, x):
    if axis is None:
        raise TypeError(f"{c.name}: an axis is needed")
    return places(axis, x.ndim)


def _new(c, axis, x):
    several = isinstance(axis, (tuple, list))
    found = _after(axis, x.ndim + len(axis)) if several else _after((axis,), x.ndim + 1)
    return found if several else found[0]


def _order(c, axes, x):
    axes = tuple(range(x.ndim)[::-1] if axes is None else axes)
    if len(axes) != x.ndim:
        raise ValueError(f"{c.name}: {len(axes)} axes for an array of {x.ndim}")
    return (0, *_after(axes, x.ndim))


def _settled(c, shape, x):
    """The values' shape for an item's shape, with a -1 resolved by the item's size."""
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if -1 in shape:
        size, known = _size(x), math.prod(n for n in shape if n != -1)
        if not known or size % known or shape.count(-1) > 1:
            raise ValueError(f"{c.name}: {size} elements into {shape}")
        shape = tuple(size // known if n == -1 else n for n in shape)
    return (c.n, *shape)


def _size(x):
    return math.prod(x.shape)


ROLES = {
    "x": lambda c, a, x: c.front(a),
    "m": lambda c, a, x: c.front(a),
    "xs": lambda c, arrays, x: [c.front(a) for a in arrays],
    "like": lambda c, a, x: c.aligned(a, x.ndim),
    "axis": _one,
    "new": _new,
    "axes": lambda c, axis, x: places(axis, x.ndim),
    "flat": lambda c, axis, x: 1 if axis is None else places(axis, x.ndim),
    "order": _order,
    "shape": _settled,
    "": lambda c, a, x: a,
}
OPERANDS = ("x", "m", "xs")

# ---- rows ----


def _parameters(signature):
    """Parse a signature: names of the parameters in order, their roles, their defaults, and the role of what `*`
    collects."""
    names, roles, defaults, rest = [], {}, {}, ""
    before, star, behind = signature.partition("*")
    if star and behind[:1] != " ":
        rest, behind = behind, ""
    for word in (before + behind).split():
        name, role, default = re.fullmatch(r"(\w+)(?::(\w+))?(?:=(.+))?", word).groups()
        names += [name] if word in before.split() else []
        roles[name] = role or ("axis" if name == "axis" else "")
        if default:
            defaults[name] = ast.literal_eval(default)
    return names, roles, defaults, rest


def row(signature):
    """The rule that a table's row describes."""
    names, roles, defaults, rest = _parameters(signature)
    n = len(names)

    def by_row(c, *args, **kwargs):
        if rest:
            more = args[n:]
            args = (*args[:n], more[0] if len(more) == 1 and not isinstance(more[0], int) else more)
        spoken = [*map(roles.get, names), rest, *[""] * len(args)]
        given = [list(pair) for pair in zip(spoken, args, strict=False)]
        kwargs = {k: v for k, v in defaults.items() if k not in names[: len(args)]} | kwargs
        named = {k: [roles.get(k, ""), v] for k, v in kwargs.items()}
        every = [*given, *named.values()]
        lead = next(pair for pair in every if pair[0] in OPERANDS)
        x = c.plain(lead[1][0] if lead[0] == "xs" else lead[1])
        if any(not role and c.has(v) for role, v in every) or (lead[0] == "m" and x.ndim < 2):
            return NotImplemented
        ndim, flat, keep = x.ndim, ["flat", None] in every, False
        if flat:
            x = lead[1] = c.box(c.front(x).reshape((c.n, _size(x))))
            keep = named.pop("keepdims", ("", False))[1]
        r = c.fn(*(ROLES[role](c, v, x) for role, v in given), **{k: ROLES[p[0]](c, p[1], x) for k, p in named.items()})
        return r.reshape((c.n, *(1,) * ndim)) if keep else r

    return by_row


def enter(table, rule):
    """Add the rows of a table to the rules."""
    for names, signature in table.items():
        rule(names)(row(signature))


def _ndim(x):
    return x.ndim if hasattr(x, "ndim") else numpy.ndim(x) if isinstance(x, (list, tuple)) else 0


def elements(c, *args, **kwargs):
    """The rule of functions of elements: their operands broadcast."""
    n = max(map(_ndim, [*args, *kwargs.values()]))
    return c.fn(*(c.aligned(a, n) for a in args), **{k: c.aligned(a, n) for k, a in kwargs.items()})


rule(" ".join(["ufunc", ELEMENTS, *_core.ufuncs()]))(elements)
enter(ARRAYS, rule)
