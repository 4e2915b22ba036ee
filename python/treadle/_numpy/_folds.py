"""reduce, accumulate, reduceat and outer of binary ufuncs.

Sums, products and extremes are kernels of the core. Operations that are associative and commutative fold one half of
the axis onto the other. For the rest a compiled loop computes each result in one thread, in order.
"""

import functools
from math import prod

import numpy

from .. import _core
from .._core import asarray, empty, full
from .._exchange._host import check_out, library, store
from .._exchange._place import on
from .._exchange._place import own as _own
from . import _masked
from ._join import concatenate
from ._shape import _axes, _axis, moveaxis

_UFUNC = _core.ufuncs()
_select = _UFUNC["select"]

# Associative and commutative operations.
_GROUPED = set(
    "add multiply maximum minimum fmax fmin logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor gcd "
    "lcm hypot logaddexp logaddexp2".split()
)
# Operations for which the core has a reduction or a cumulative operation: (name of the function, dtype or None).
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_SCANS = {
    "add": (_core._cumsum, None),
    "multiply": (_core._cumprod, None),
    "maximum": (_core._cummax, None),
    "minimum": (_core._cummin, None),
    "logical_or": (_core._cumsum, "bool"),
    "logical_and": (_core._cumprod, "bool"),
}


def _binary(name, method):
    f = getattr(numpy, name, None)
    if not isinstance(f, numpy.ufunc) or f.nin != 2 or f.nout != 1:
        raise ValueError(f"{method} only supported for binary functions")
    return f


def _need_loop(name, dtype):
    """Raise TypeError unless the operation of two numbers of this dtype gives this dtype."""
    if dtype.kind == "V":  # NumPy lacks bfloat16
        return
    try:
        found = getattr(numpy, name).resolve_dtypes((dtype, dtype, None))
    except TypeError:
        found = ()
    if set(found) != {dtype}:
        raise TypeError(f"No loop matching the specified signature and casting was found for ufunc {name}: {dtype}")


def _looped(name, a, dtype, method):
    """a in the dtype of the repeated operation. Its result must have the dtype of its operands."""
    if dtype is not None:
        _need_loop(name, numpy.dtype(dtype))
        return a.astype(dtype, copy=False)
    if name in ("add", "multiply") and a.dtype.kind in "biu" and a.dtype.itemsize < 8:
        return a.astype("uint64" if a.dtype.kind == "u" else "int64")
    if name.startswith("logical_"):
        return a.astype("bool", copy=False)
    one = empty(0, a.dtype, device=a.device)
    dt = _UFUNC[name](one, one).dtype
    again = empty(0, dt, device=a.device)
    if _UFUNC[name](again, again).dtype != dt or (dt.kind == "b" and a.dtype.kind != "b"):
        raise TypeError(f"the resolved dtypes are not compatible with {name}.{method}")
    return a.astype(dt, copy=False)


def _given(out):
    return out[0] if type(out) is tuple else out


def _into(out, r, name, method):
    out = _given(out)
    if out is None:
        return r
    check_out(f"{name}.{method}", out)
    if out.shape != r.shape:
        raise ValueError(f"{name}.{method}: out has shape {out.shape}, the result {r.shape}")
    return store(f"{name}.{method}", out, r)


# ---- loops of our compiler's ----


@functools.cache
def _loops(name):
    """Compiled loops along the last axis, one element after the other."""
    from .._compile._guvectorize import guvectorize

    op = getattr(numpy, name)

    @guvectorize("(n)->()", error_model="numpy")
    def fold(x, out):
        acc = x[0]
        for i in range(1, x.shape[0]):
            acc = op(acc, x[i])
        out[0] = acc

    @guvectorize("(n),(n),()->()", error_model="numpy")
    def chosen(x, mask, start, out):
        acc = start
        for i in range(x.shape[0]):
            if mask[i]:
                acc = op(acc, x[i])
        out[0] = acc

    @guvectorize("(n)->(n)", error_model="numpy")
    def scan(x, out):
        acc = x[0]
        out[0] = acc
        for i in range(1, x.shape[0]):
            acc = op(acc, x[i])
            out[i] = acc

    @guvectorize("(n),(),()->()", error_model="numpy")
    def segments(x, start, stop, out):
        acc = x[start]
        for i in range(start + 1, stop):
            acc = op(acc, x[i])
        out[0] = acc

    @guvectorize("(n),(),(),()->()", error_model="numpy")
    def runs(x, start, stop, first, out):
        acc = first
        for i in range(start, stop):
            acc = op(acc, x[i])
        out[0] = acc

    return {"fold": fold, "chosen": chosen, "scan": scan, "segments": segments, "runs": runs}


def _refuse_negative(name, exponents):
    """Raise the error of the operation itself for negative exponents. A loop over integers could not."""
    if name == "power" and exponents.dtype.kind == "i" and bool((exponents < 0).any()):
        raise ValueError("Integers to negative integer powers are not allowed.")


def _empty_last(a):
    return empty(a.shape[:-1], a.dtype, device=a.device)


# ---- reduce ----


def _halves(name, a):
    """Fold the last axis: combine its first half with its second until one element is left."""
    while a.shape[-1] > 1:
        n = a.shape[-1]
        half = n // 2
        r = _UFUNC[name](a[..., :half], a[..., half : 2 * half])
        a = concatenate((r, a[..., 2 * half :]), -1) if n % 2 else r
    return a[..., 0]


def _matrix(x):
    """Merge the axes before the last one, because a GPU spreads only two nested loops over its threads."""
    return x if x.ndim <= 2 else x.reshape((prod(x.shape[:-1]), x.shape[-1]))


def _rows(x, axes):
    """The folded axes moved to the end and merged; the kept axes merged before them."""
    keep = [k for k in range(x.ndim) if k not in axes]
    if not axes:
        return x.reshape((x.size, 1))
    shape = prod(x.shape[k] for k in keep), prod(x.shape[k] for k in axes)
    return x.transpose([*keep, *axes]).reshape(shape if keep else shape[1:])


def _identity(f, dtype):
    """The operation's identity, or None. For bit operations that is all bits set."""
    if f.identity == -1 and dtype.kind in "bu":
        return ~dtype.type(0)
    return f.identity


def _folded(name, x, initial, mask, identity):
    """Fold the last axis of x. mask has x's shape, or is None."""
    if mask is not None:
        if initial is None and identity is None:
            raise ValueError(
                f"reduction operation '{name}' does not have an identity, so to use a where mask one has to specify "
                "'initial'"
            )
        if identity is None:
            _refuse_negative(name, _select(mask, x, asarray(0, x.dtype, device=x.device)))
            start = full(x.shape[:-1], initial, dtype=x.dtype, device=x.device)
            return _loops(name)["chosen"](x, mask, start, out=_empty_last(x))
        x = _select(mask, x, asarray(identity, x.dtype, device=x.device))
    first = identity if initial is None else initial
    if x.shape[-1] == 0:
        if first is None:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        return full(x.shape[:-1], first, dtype=x.dtype, device=x.device)
    if initial is not None:
        start = _core._broadcast_to(asarray(initial, x.dtype, device=x.device), (*x.shape[:-1], 1))
        x = concatenate((start, x), -1)
    if x.size == 0:
        return _empty_last(x)
    # combine a single element with the identity, since the result may differ from the element
    if x.shape[-1] == 1 and name in ("gcd", "hypot"):
        x = _UFUNC["absolute"](x)
    _refuse_negative(name, x[..., 1:])
    return _halves(name, x) if name in _GROUPED or x.shape[-1] == 1 else _loops(name)["fold"](x, out=_empty_last(x))


def reduce(name, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """ufunc.reduce of an operation for which the core has no reduction."""
    f = _binary(name, "reduce")
    a = _own(array)
    if name in _REDUCTIONS:
        if type(axis) is int and a.ndim == 0 and axis in (0, -1):
            axis = None
        if dtype is not None and name not in ("add", "multiply"):
            a = _looped(name, a, numpy.dtype(dtype), "reduce")
        dtype = dtype if name in ("add", "multiply") else None
        if initial is not None or where is not True:
            return _masked.reduce(
                _REDUCTIONS[name], a, axis, dtype, _given(out), keepdims, None, initial, where, None
            )
        more = {} if dtype is None else {"dtype": dtype}
        return getattr(a, _REDUCTIONS[name])(axis, out=_given(out), keepdims=keepdims, **more)
    axes = list(range(a.ndim)) if axis is None else _axes(axis, a.ndim, name) if a.ndim else []
    x = _looped(name, a, dtype, "reduce")
    if len(axes) > 1 and name not in _GROUPED - {"lcm"}:
        raise ValueError(f"reduction operation '{name}' is not reorderable, so at most one axis may be specified")
    where = False if where is None else where
    mask = None if where is True else _core._broadcast_to(on(a.device, where).astype("bool", copy=False), a.shape)
    r = _folded(name, _rows(x, axes), initial, mask if mask is None else _rows(mask, axes), _identity(f, x.dtype))
    kept = [1 if k in axes else n for k, n in enumerate(a.shape) if keepdims or k not in axes]
    return _into(out, r.reshape(kept), name, "reduce")


# ---- accumulate ----


CHUNK = 1 << 12  # elements from which an axis is cut into pieces that are accumulated in parallel


def _accumulated(name, x):
    """Accumulate along the last axis."""
    n = x.shape[-1]
    if name in _SCANS:
        f, dtype = _SCANS[name]
        return f(x, x.ndim - 1, dtype if dtype else x.dtype if name in ("add", "multiply") else None)
    if n <= 1:
        return x.copy()
    if name not in _GROUPED or n < CHUNK:
        return _loops(name)["scan"](x, out=empty(x.shape, x.dtype, device=x.device))
    pieces = int(n**0.5)
    each = n // pieces
    body = _accumulated_pieces(name, x[..., : pieces * each].reshape((*x.shape[:-1], pieces, each)))
    body = body.reshape((*x.shape[:-1], pieces * each))
    rest = x[..., pieces * each :]
    if rest.shape[-1] == 0:
        return body
    rest = _UFUNC[name](body[..., -1:], _accumulated(name, rest))
    return concatenate((body, rest), -1)


def _accumulated_pieces(name, x):
    """Accumulate each piece, then combine each with the total of those before it."""
    r = _loops(name)["scan"](x, out=empty(x.shape, x.dtype, device=x.device))
    before = _loops(name)["scan"](r[..., -1], out=empty(r.shape[:-1], r.dtype, device=r.device))
    r[..., 1:, :] = _UFUNC[name](before[..., :-1, None], r[..., 1:, :])
    return r


def accumulate(name, array, axis=0, dtype=None, out=None):
    """ufunc.accumulate: the operation repeated up to each element along axis."""
    _binary(name, "accumulate")
    a = _own(array)
    if a.ndim == 0:
        raise TypeError("cannot accumulate on a scalar")
    axis = _axis(axis, a.ndim, f"{name}.accumulate")
    x = moveaxis(_looped(name, a, dtype, "accumulate"), axis, -1)
    _refuse_negative(name, x[..., 1:])
    r = _accumulated(name, _matrix(x)).reshape(x.shape) if x.size else x.copy()
    return _into(out, moveaxis(r, -1, axis), name, "accumulate")


# ---- reduceat ----


FEW, LONG = 64, 1 << 16  # up to FEW segments, of at least LONG elements each, are reduced one by one


def reduceat(name, array, indices, axis=0, dtype=None, out=None):
    """ufunc.reduceat: the elements from each index to the next one folded; the element there where the next is no
    larger."""
    _binary(name, "reduceat")
    a = _own(array)
    if a.ndim == 0:
        raise TypeError("cannot reduceat on a scalar")
    axis = _axis(axis, a.ndim, f"{name}.reduceat")
    x = moveaxis(_looped(name, a, dtype, "reduceat"), axis, -1)
    start, n = on(a.device, indices), x.shape[-1]
    if start.dtype.kind not in "iub" and start.size:
        raise TypeError(f"{name}.reduceat: the indices are {start.dtype}, not integers")
    if start.ndim != 1:
        raise ValueError(f"{name}.reduceat: expected indices of one axis, not of {start.ndim}")
    start = start.astype("int64")
    if start.size and bool(((start < 0) | (start >= n)).any()):
        bad = int(start.min()) if int(start.min()) < 0 else int(start.max())
        raise IndexError(f"index {bad} out-of-bounds in {name}.reduceat [0, {n})")
    s = start.shape[0]
    # which elements are exponents depends on the indices
    if name == "power" and x.dtype.kind == "i" and bool((x < 0).any()):
        r = library("numpy.power.reduceat", numpy.power.reduceat, (x, start, -1), {})
    elif not s or not x.size:
        r = empty((*x.shape[:-1], s), x.dtype, device=a.device)
    elif s <= FEW and n >= LONG and name in _GROUPED:
        ends = [int(k) for k in start.get()] + [n]
        pairs = zip(ends[:-1], ends[1:], strict=True)
        parts = [reduce(name, x[..., i : max(j, i + 1)], -1, x.dtype, keepdims=True) for i, j in pairs]
        r = concatenate(parts, -1)
    else:
        stop = concatenate((start[1:], asarray([n], device=a.device)))
        rows = _matrix(x)
        shape = (*rows.shape[:-1], s)
        rows = _core._broadcast_to(rows[..., None, :], (*shape, n))
        r = _loops(name)["segments"](rows, start, stop, out=empty(shape, x.dtype, device=a.device))
        r = r.reshape((*x.shape[:-1], s))
    return _into(out, moveaxis(r, -1, axis), name, "reduceat")


def fold_runs(name, x, start, stop, first):
    """For each pair of start and stop: the fold of `first` with x[start:stop]."""
    rows = _core._broadcast_to(x, (start.shape[0], x.shape[0]))
    return _loops(name)["runs"](rows, start, stop, first, out=empty(start.shape, x.dtype, device=x.device))


# ---- outer ----


def outer(name, a, b, /, **kw):
    """ufunc.outer: the operation of every element of a with every element of b."""
    _binary(name, "outer")
    a, b = _core._beside(f"{name}.outer", a, b)
    return _UFUNC[name](a.reshape((*a.shape, *(1 for _ in b.shape))), b, **kw)
