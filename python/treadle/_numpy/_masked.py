"""Reductions with where=, initial= and mean=, composed of reductions without them."""

import math

from .. import _core
from .._core import asarray
from .._exchange._host import check_out, store

_UFUNC = _core.ufuncs()
_select, _subtract, _multiply, _divide = (_UFUNC[k] for k in ("select", "subtract", "multiply", "divide"))

# The value in place of a masked element, and the operation that joins an initial value to the result.
_IDENTITY = {"sum": 0, "prod": 1, "any": False, "all": True}
_JOIN = {
    "sum": "add",
    "prod": "multiply",
    "min": "minimum",
    "max": "maximum",
    "any": "logical_or",
    "all": "logical_and",
}


def reduce(name, a, axis, dtype, out, keepdims, ddof, initial, where, mean):
    """Compute the reduction `name` of a. None stands for a parameter that was not given; a where of None is False, as
    in NumPy."""
    if where is None and name in ("mean", "var", "std"):
        raise TypeError(f"{name}: where is None; give booleans, or leave it out")
    if where is not True:
        where = asarray(False if where is None else where, device=a.device)
        if where.dtype.kind != "b":
            held = repr(where.dtype)
            raise TypeError(f"Cannot cast array data from {held} to dtype('bool') according to the rule 'safe'")
        where = _core._broadcast_to(where, a.shape)
    else:
        where = None
    if isinstance(initial, (list, tuple)) or getattr(initial, "size", 1) != 1:
        raise TypeError(f"{name}: initial is one number, not {initial!r}")
    keepdims = bool(keepdims)
    if name == "mean":
        r = _mean(a, axis, dtype, keepdims, where)
    elif name in ("var", "std"):
        r = _variance(a, axis, dtype, keepdims, ddof or 0, where, mean)
        r = _root(r) if name == "std" else r
    else:
        r = _fold(name, a, axis, dtype, keepdims, initial, where)
    if out is None:
        return r
    check_out(name, out)
    if out.shape != r.shape:
        raise ValueError(f"{name}: out has the shape {out.shape}, the result {r.shape}")
    return store(name, out, r)


def _root(r):
    """The square root in r's dtype. NumPy truncates the root of a single integer, and refuses to cast an array of
    integers."""
    root = _UFUNC["sqrt"](r)
    if r.ndim and r.dtype.kind not in "fcV":
        have = f"{root.dtype!r} to {r.dtype!r}"
        raise TypeError(f"Cannot cast ufunc 'sqrt' output from {have} with casting rule 'same_kind'")
    return root.astype(r.dtype, copy=False)


def _fold(name, a, axis, dtype, keepdims, initial, where):
    if where is not None:
        if name not in _IDENTITY and initial is None:
            raise ValueError(
                f"reduction operation '{_JOIN[name]}' does not have an identity, so to use a where mask one has to "
                "specify 'initial'"
            )
        other = _IDENTITY.get(name)
        a = _select(where, a, asarray(initial if other is None else other, dtype=a.dtype, device=a.device))
    kw = {} if dtype is None else {"dtype": dtype}
    if initial is None:
        return getattr(a, name)(axis, keepdims=keepdims, **kw)
    if name not in _IDENTITY and a.size == 0:
        shape = a.any(axis, keepdims=keepdims).shape
        return _core.full(shape, initial, dtype=a.dtype, device=a.device)
    r = getattr(a, name)(axis, keepdims=keepdims, **kw)
    return _UFUNC[_JOIN[name]](r, asarray(initial, dtype=r.dtype, device=r.device))


def _counts(a, axis, keepdims, where):
    """How many elements each result is made of: a number, or an array if a mask decides."""
    if where is not None:
        return where.sum(axis, keepdims=keepdims)
    axes = range(a.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return math.prod(a.shape[k] for k in axes)


def _mean(a, axis, dtype, keepdims, where):
    dtype = dtype or ("float64" if a.dtype.kind in "biu" else None)
    total = _fold("sum", a, axis, dtype, keepdims, None, where)
    return _divide(total, _counts(a, axis, keepdims, where)).astype(total.dtype, copy=False)


def _variance(a, axis, dtype, keepdims, ddof, where, mean):
    """The variance as NumPy computes it: the sum of squared distances from the mean, over the number of elements minus
    ddof."""
    if dtype is None and a.dtype.kind in "biu":
        a = a.astype("float64")
    mean = _mean(a, axis, dtype, True, where) if mean is None else mean
    x = _subtract(a, mean)
    x = _multiply(x, x) if a.dtype.kind != "c" else x.real * x.real + x.imag * x.imag
    total = _fold("sum", x, axis, dtype, keepdims, None, where)
    n = _counts(a, axis, keepdims, where) - ddof
    n = _UFUNC["maximum"](n, 0) if isinstance(n, _core.ndarray) else max(n, 0)
    return _divide(total, asarray(n, device=a.device)).astype(total.dtype, copy=False)
