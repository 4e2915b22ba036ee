"""Indices of places, choosing between arrays, and arrays with elements less and more."""

import numpy

from . import _core
from ._core import arange, asarray, asnumpy, empty, ndarray
from ._indexing import Pick, flatnonzero, nonzero, take, write
from ._place import on

_UFUNC = _core.ufuncs()


# ---- numbers of places ----


def unravel_index(indices, shape, order="C"):
    """The indices along each axis of places that are numbered through an array of that shape."""
    at = asarray(indices)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if at.dtype.kind not in "iu":
        raise TypeError("only int indices permitted")
    total = int(numpy.prod(shape, dtype=object)) if shape else 1
    if at.size and (int(at.min()) < 0 or int(at.max()) >= total):
        bad = int(at.min()) if int(at.min()) < 0 else int(at.max())
        raise ValueError(f"index {bad} is out of bounds for array with size {total}")
    at, axes = at.astype("int64"), []
    for n in reversed(shape) if order == "C" else shape:
        axes.append(at % n)
        at = at // n
    return tuple(reversed(axes) if order == "C" else axes)


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """The number of each place, counted through an array of shape dims."""
    arrays = [asarray(i) for i in multi_index]
    if len(arrays) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    modes = mode if isinstance(mode, tuple) else (mode,) * len(dims)
    total, step = 0, 1
    pairs = list(zip(arrays, dims, modes, strict=True))
    for i, n, how in reversed(pairs) if order == "C" else pairs:
        if i.dtype.kind not in "iu":
            raise TypeError("only int indices permitted")
        i = i.astype("int64")
        if how == "wrap":
            i = i % n
        elif how == "clip":
            i = _UFUNC["minimum"](_UFUNC["maximum"](i, 0), n - 1)
        elif i.size and (int(i.min()) < 0 or int(i.max()) >= n):
            raise ValueError("invalid entry in coordinates array")
        total = total + i * step
        step *= n
    return total


def diag_indices(n, ndim=2):
    """The indices of the main diagonal of an array of ndim axes of extent n."""
    return (arange(n),) * ndim


def _triangle(keep, n, k, m):
    rows, columns = arange(n).reshape((n, 1)), arange(n if m is None else m)
    return nonzero(_core._broadcast_to(keep(columns - rows, k), (n, n if m is None else m)))


def tril_indices(n, k=0, m=None):
    """The indices of the elements on and below the k-th diagonal."""
    return _triangle(lambda d, k: d <= k, n, k, m)


def triu_indices(n, k=0, m=None):
    """The indices of the elements on and above the k-th diagonal."""
    return _triangle(lambda d, k: d >= k, n, k, m)


def _square(a, name):
    a = asarray(a)
    if a.ndim != 2:
        raise ValueError(f"{name}: the array has {a.ndim} dimensions, not 2")
    return a


def tril_indices_from(arr, k=0):
    """tril_indices of a matrix's extents."""
    rows, columns = _square(arr, "tril_indices_from").shape
    return tril_indices(rows, k, columns)


def triu_indices_from(arr, k=0):
    """triu_indices of a matrix's extents."""
    rows, columns = _square(arr, "triu_indices_from").shape
    return triu_indices(rows, k, columns)


def diag_indices_from(arr):
    """diag_indices of an array whose axes have one extent."""
    arr = asarray(arr)
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) > 1:
        raise ValueError(f"All dimensions of input must be of equal length, not {arr.shape}")
    return diag_indices(arr.shape[0], arr.ndim)


def ix_(*args):
    """Index arrays that pick every combination of the given ones."""
    out = []
    for k, seq in enumerate(args):
        a = asarray(seq)
        if a.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if a.size == 0:
            a = a.astype("int64")
        if a.dtype.kind == "b":
            a = flatnonzero(a)
        out.append(a.reshape([-1 if j == k else 1 for j in range(len(args))]))
    return tuple(out)


# ---- choosing ----


def choose(a, choices, out=None, mode="raise"):
    """Element by element one of the choices, the one that a numbers."""
    a = asarray(a)
    if a.dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from {a.dtype} to int64 according to the rule 'safe'")
    choices = list(choices)
    n = len(choices)
    if mode == "raise" and a.size and (int(a.min()) < 0 or int(a.max()) >= n):
        raise ValueError("invalid entry in choice array")
    if mode == "wrap":
        a = a % n
    choices = [on(a.device, c) for c in choices]
    dt = numpy.result_type(*(c.dtype for c in choices))
    shape = numpy.broadcast_shapes(a.shape, *(c.shape for c in choices))
    r = _core._broadcast_to(choices[-1].astype(dt), shape)
    for k in range(n - 2, -1, -1):
        r = _UFUNC["select"](a <= k, choices[k].astype(dt), r)
    r = r.copy() if n == 1 else r
    if out is None:
        return r
    out[...] = r
    return out


def select(condlist, choicelist, default=0):
    """Element by element the choice of the first condition that is true, else default."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    conditions = [asarray(c) for c in condlist]
    for k, c in enumerate(conditions):
        if c.dtype.kind != "b":
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    weak = [c if type(c) in (bool, int, float) else asarray(c) for c in (*choicelist, default)]
    dt = numpy.result_type(*(c.dtype if isinstance(c, ndarray) else c for c in weak))
    r = on(conditions[0].device, weak[-1], dt)
    for c, v in zip(reversed(conditions), reversed(weak[:-1]), strict=True):
        r = _UFUNC["select"](c, on(c.device, v, dt), r)
    return r


def piecewise(x, condlist, funclist, *args, **kw):
    """The functions (or numbers) of funclist where their conditions hold; one more is for the rest."""
    x = asarray(x)
    one = not isinstance(condlist, (list, tuple))
    if one or (x.ndim and not isinstance(condlist[0], (list, tuple, ndarray, numpy.ndarray))):
        condlist = [condlist]
    conditions = [on(x.device, c).astype("bool") for c in condlist]
    funclist = list(funclist)
    if len(funclist) == len(conditions) + 1:
        rest = conditions[0]
        for c in conditions[1:]:
            rest = rest | c
        conditions.append(~rest)
    elif len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions "
            "are expected"
        )
    y = _core._broadcast_to(asarray(0, dtype=x.dtype, device=x.device), x.shape).copy()
    for c, f in zip(conditions, funclist, strict=True):
        if not callable(f):
            y[c] = f
        elif (part := x[c]).size:
            y[c] = f(part, *args, **kw)
    return y


# ---- arrays with elements less and more ----


def _places(obj, n, what):
    """obj, a number, slice, list or array, as places on the host."""
    if isinstance(obj, slice):
        return numpy.arange(n)[obj]
    at = asnumpy(obj)
    if at.dtype.kind == "b":
        if at.ndim != 1 or at.shape[0] != n:
            raise ValueError(
                f"{what}: boolean array argument obj must be one dimensional and match the axis length of {n}"
            )
        return numpy.flatnonzero(at)
    return at.astype("int64") if at.size == 0 else at


def delete(arr, obj, axis=None):
    """arr without the elements that obj (a number, slice or array) names along axis (None: of the flat array)."""
    a = asarray(arr)
    if axis is None:
        a, axis = a.ravel(), 0
    axis = _axis(axis, a.ndim)
    n = a.shape[axis]
    keep = numpy.delete(numpy.arange(n), _places(obj, n, "delete"))
    return take(a, on(a.device, keep), axis)


def _axis(axis, ndim):
    if not -ndim <= axis < ndim:
        raise numpy.exceptions.AxisError(axis, ndim)
    return axis % ndim


def insert(arr, obj, values, axis=None):
    """arr with values before the places that obj names along axis (None: of the flat array)."""
    a = asarray(arr)
    if axis is None:
        a, axis = a.ravel(), 0
    axis = _axis(axis, a.ndim)
    n = a.shape[axis]
    at = _places(obj, n, "insert")
    values = on(a.device, values).astype(a.dtype)
    if at.size == 1 and at.ndim <= 1:
        i = int(at.reshape(()))
        if not -n <= i <= n:
            raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {n}")
        values = values.reshape((1,) * (a.ndim - values.ndim) + values.shape)
        if at.ndim == 0:
            order = [*range(1, axis + 1), 0, *range(axis + 1, a.ndim)]
            values = values.transpose(order)
        many = values.shape[axis]
        places = (i % n if i < 0 else i) + numpy.arange(many)
    else:
        if at.size and (at.min() < -n or at.max() > n):
            raise IndexError(f"insert: an index is out of bounds for axis {axis} with size {n}")
        at = numpy.where(at < 0, at + n, at)
        order, many = numpy.argsort(at, kind="stable"), len(at)
        places = at.copy()
        places[order] += numpy.arange(many)
    r = empty((*a.shape[:axis], n + many, *a.shape[axis + 1 :]), a.dtype, device=a.device)
    rest = numpy.ones(n + many, dtype=bool)
    rest[places] = False
    for index, value in ((numpy.flatnonzero(rest), a), (places, values)):
        if len(index):
            p = Pick(r, [axis], [on(a.device, index)], axis, Pick.DISTINCT | Pick.TRUSTED)
            write(p, value)
    return r
