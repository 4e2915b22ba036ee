"""Reading and writing at indices that tensors hold: gather, scatter and similar functions, all made of indexing by
tensors.

The in-place forms are implemented. The others apply them to a copy.
"""

import functools
import math
from operator import index as _index

import numpy

from .._prim import (
    Tensor,
    add_at,
    apply,
    array,
    cast,
    derived,
    gathered,
    joint_shape,
    recording,
    reshaped,
    scalar,
    td,
    wrap,
)
from .._register import METHODS, both, function, method
from . import _axes, _dtypes
from ._create import tensor
from ._layout import FORMATS
from ._parts import cat, narrow
from ._shape import expand, permute, ravel

_LONG, _BOOL = _dtypes.DTYPES["int64"], _dtypes.DTYPES["bool"]


def _whole(name, places):
    if not places.numel():
        return cast(places.detach(), _LONG)  # an empty index may have any dtype
    if places.dtype._name not in ("int64", "int32"):
        raise RuntimeError(
            f"{name}(): Expected dtype int64 for index"
            if name != "index_select"
            else f"{name}(): Expected dtype int32 or int64 for index"
        )
    return places.detach()


def _along(places, dim):
    """Index tensors for every dimension: `places` in dim, and each element's own coordinate in the others."""
    dev = array(places).device
    return tuple(
        places
        if d == dim
        else wrap(td.arange(n, device=dev).reshape([-1 if i == d else 1 for i in range(places.ndim)]))
        for d, n in enumerate(places.shape)
    )


class _in_range:
    """Turn the IndexError of an index out of bounds into the RuntimeError that gather and scatter raise."""

    def __enter__(self):
        pass

    def __exit__(self, kind, problem, trace):
        if kind is IndexError:
            raise RuntimeError(str(problem)) from None


def _fits(name, x, places, dim):
    if x.ndim != places.ndim and x.ndim and places.ndim:
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {'input' if name == 'gather' else 'self'} tensor"
        )
    for d in range(x.ndim):
        if d != dim and places.shape[d] > x.shape[d]:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(places.shape)} to be no larger than "
                f"self {list(x.shape)} apart from dimension {dim}"
            )


@both()
def gather(x, dim, index, *, sparse_grad=False):
    """x[i, index[i, j], …] for each element of index, which replaces the coordinate along dim."""
    if index.numel() and max(x.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    if x.ndim == 0 or index.ndim == 0:
        return reshaped(reshaped(x, (-1,))[_whole("gather", reshaped(index, (-1,)))], tuple(index.shape))
    dim = _axes.one(dim, x.ndim)
    if not index.numel():
        return reshaped(reshaped(x, (-1,))[:0], tuple(index.shape))
    _fits("gather", x, index, dim)
    with _in_range():
        return gathered(x, dim, cast(_whole("gather", index), _LONG))


@both()
def take_along_dim(x, indices, dim=None):
    """gather with an index and a tensor that broadcast. Without dim it indexes the flattened tensor."""
    if indices.dtype is not _LONG:
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype._word}")
    if dim is None:
        return ravel(x)[ravel(indices)]
    if x.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{x.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = _axes.one(dim, x.ndim)
    shape = joint_shape(*(tuple(1 if i == dim else n for i, n in enumerate(t.shape)) for t in (x, indices)))
    x = expand(x, tuple(x.shape[i] if i == dim else n for i, n in enumerate(shape)))
    return gather(x, dim, expand(indices, tuple(indices.shape[i] if i == dim else n for i, n in enumerate(shape))))


@both()
def index_select(x, dim, index):
    """The slices at these indices along dim."""
    dim = _axes.one(dim, x.ndim)
    if x.ndim == 0:
        return x.clone()
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    where = (slice(None),) * dim + (reshaped(_whole("index_select", index), (-1,)),)
    return x[where].contiguous()


@both()
def take(x, index):
    """The elements of the flattened tensor at these indices, in index's shape."""
    if index.numel() and index.dtype is not _LONG:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype._word}")
    return ravel(x)[_whole("take", index)]


@both()
def masked_select(x, mask):
    """The elements where mask is true, in one dimension."""
    if mask.dtype._name not in ("bool", "uint8"):
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = joint_shape(tuple(x.shape), tuple(mask.shape))
    return expand(x, shape)[expand(mask, shape)]


# ---- writing one value ----


@method()
def masked_fill_(self, mask, value):
    """value where mask is true."""
    if mask.dtype is not _BOOL:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    return self.copy_(masked_fill(self.clone(), mask, value))


@both()
def masked_fill(x, mask, value):
    """x with value where mask is true."""
    if mask.dtype is not _BOOL:
        raise RuntimeError(f"masked_fill only supports boolean masks, but got mask with dtype {mask.dtype}")
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    _holds(x.dtype, value)
    value = value.to(x.dtype) if isinstance(value, Tensor) else scalar(value, x)
    return apply("select", mask, value, x).contiguous()


def _holds(kind, value):
    """Raise RuntimeError if a mask cannot write the value: half types refuse numbers above their limits here."""
    if isinstance(value, Tensor):
        wrong = value.dtype.is_complex and kind._kind != "c"
    else:
        wrong = kind._kind == "f" and isinstance(value, (int, float)) and math.isfinite(value)
        wrong = wrong and abs(value) > _dtypes.finfo(kind).max
    if wrong:
        raise RuntimeError(f"value cannot be converted to type {kind} without overflow: {value}")


def _with_a_dim(f):
    """Let f, which takes (self, dim, index, …), also take tensors without dimensions. These are treated as tensors of
    one element."""

    @functools.wraps(f)
    def call(self, dim, index, *args, **kwargs):
        if self.ndim and index.ndim:
            return f(self, dim, index, *args, **kwargs)
        line, index = (reshaped(t, (1,)) if t.ndim == 0 else t for t in (self, index))
        args = [reshaped(t, (1,)) if isinstance(t, Tensor) and t.ndim == 0 and f is not _filled else t for t in args]
        r = f(line, dim, index, *args, **kwargs)
        return self if r is line else reshaped(r, tuple(self.shape))

    return call


@method()
def index_fill_(self, dim, index, value):
    """Write value, a number or a tensor without dimensions, to the slices at these indices along dim."""
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    if (value.is_complex() if isinstance(value, Tensor) else isinstance(value, complex)) and not self.is_complex():
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    return _filled_in(self, dim, index, value)


def _filled(self, dim, index, value):
    """Written through a mask, so that the gradient of value counts each slice once, even if an index occurs several
    times."""
    d = _axes.one(dim, self.ndim)
    named = td.zeros(self.shape[d], dtype="bool", device=array(self).device)
    named[array(_whole("index_fill_", index))] = True
    mask = reshaped(wrap(named), tuple(-1 if i == d else 1 for i in range(self.ndim)))
    value = value.to(self.dtype) if isinstance(value, Tensor) else scalar(value, self)
    return self.copy_(apply("select", mask, value, self.clone()))


_filled_in = _with_a_dim(_filled)


@method()
def fill_diagonal_(self, fill_value, wrap=False):
    """Write fill_value to the diagonal. wrap=True repeats the diagonal below the square part of a tall matrix."""
    if self.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    n, shape = min(self.shape), tuple(self.shape)
    steps = [1]
    for extent in shape[:0:-1]:
        steps.insert(0, steps[0] * extent)
    step = sum(steps)
    count = -(-self.numel() // step) if wrap and self.ndim == 2 and shape[0] > shape[1] else n
    flat = td.arange(count, device=array(self).device) * step
    self[tuple(_wrapped(i) for i in td.unravel_index(flat, shape))] = fill_value
    return self


_wrapped = wrap


# ---- writing many ----


@method()
def index_put_(self, indices, values, accumulate=False):
    """self[indices] = values. accumulate=True adds instead, once for each time that an index occurs."""
    key = tuple(slice(None) if i is None else i for i in indices)
    if not accumulate:
        self[key] = values
        return self
    return _added(self, key, values)


def _added(self, key, values, alpha=1):
    values = values if type(alpha) is int and alpha == 1 else values * alpha
    return add_at(self, key, values)


@method()
@_with_a_dim
def index_add_(self, dim, index, source, *, alpha=1):
    """Add alpha times source's slices to self's slices at these indices along dim."""
    if source.dtype is not self.dtype:
        raise RuntimeError(
            f"index_add_(): self ({self.dtype}) and source ({source.dtype}) must have the same scalar type"
        )
    d = _axes.one(dim, self.ndim)
    own, other = ([*t.shape[:d], *t.shape[d + 1 :]] for t in (self, source))
    if source.ndim != self.ndim or own != other:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(self.shape)} source.shape = {list(source.shape)}"
        )
    alpha = int(alpha) if isinstance(alpha, float) and self.dtype._kind in "ui" else alpha
    return _added(self, (slice(None),) * d + (_whole("index_add_", index),), source, alpha)


@method()
@_with_a_dim
def index_copy_(self, dim, index, source):
    """Write source's slices to self's slices at these indices along dim."""
    d = _axes.one(dim, self.ndim)
    if source.ndim != self.ndim and source.ndim and self.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({source.ndim}), destination dimensionality ({self.ndim})"
        )
    own, other = ([*t.shape[:d], *t.shape[d + 1 :]] for t in (self, source))
    if own != other:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{own} at dimension {d} and source slice shape: {other} at dimension 0."
        )
    self[(slice(None),) * d + (_whole("index_copy_", index),)] = source
    return self


def _cut(src, index, dtype):
    """The part of src that index covers. Raises RuntimeError if src has another dtype or another number of dimensions.
    """
    if src.dtype is not dtype:
        raise RuntimeError(f"scatter(): Expected self.dtype to be equal to src.dtype, but got {dtype} and {src.dtype}")
    if src.ndim != index.ndim and src.ndim and index.ndim:
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as src tensor, but got {index.ndim} and {src.ndim}"
        )
    for d, n in enumerate(index.shape):
        src = narrow(src, d, 0, n) if src.shape[d] != n else src
    return src


@method()
@_with_a_dim
def scatter_(self, dim, index, src=None, *, value=None, reduce=None):
    """self[i, index[i, j], …] = src[i, j, …]. src is a tensor or a number. reduce: "add" or "multiply" combines instead
    of writing."""
    src = value if src is None else src
    d = _axes.one(dim, self.ndim)
    if reduce is not None:
        if not isinstance(src, Tensor):
            src = scalar(src, self).expand(index.shape)
        return scatter_reduce_(self, d, index, src, {"add": "sum", "multiply": "prod"}[reduce])
    if index.numel() == 0:
        return self
    _fits("scatter", self, index, d)
    src = _cut(src, index, self.dtype) if isinstance(src, Tensor) else src
    with _in_range():
        self[_along(_whole("scatter", index), d)] = src
    return self


@method()
@_with_a_dim
def scatter_add_(self, dim, index, src):
    """self[i, index[i, j], …] += src[i, j, …]."""
    d = _axes.one(dim, self.ndim)
    if not index.numel():
        return self
    _fits("scatter_add", self, index, d)
    src = _cut(src, index, self.dtype)
    with _in_range():
        return _added(self, _along(_whole("scatter_add", index), d), src)


_REDUCE = {"sum": "add", "mean": "add", "prod": "multiply", "amax": "maximum", "amin": "minimum"}
_NEUTRAL = {"sum": 0, "mean": 0, "prod": 1, "amax": float("-inf"), "amin": float("inf")}


def _start_of(x, name):
    """A tensor of the value that does not change a reduction. For integer extremes this is a limit of the type."""
    value = _NEUTRAL[name]
    if x.dtype is _BOOL:
        value = value > 0
    if x.dtype._kind in "iu" and abs(value) > 1:
        info = _dtypes.iinfo(x.dtype)
        value = info.max if value > 0 else info.min
    return scalar(value, x).expand(x.shape)


@derived("ScatterReduce")
def _folded(a, values, *places, row):
    r = td.array(a)
    getattr(td, row).at(r, tuple(places), values)
    return r


@_folded.backward
def _(inputs, r, g, *, row):
    """The gradients of a product or an extreme. All elements that are equal to an extreme share its gradient."""
    a, values, *places = inputs
    key = tuple(places)
    if row == "multiply" and recording():
        others_a, others_v = _others(a, values, places)
        return (g * others_a, g[key] * others_v, *(None for _ in places))
    if row == "multiply":
        # The product of the other elements is r divided by the element. Zeros cannot be divided by, so they are
        # counted.
        zero_a, zero_v = (a == 0), (values == 0)
        zeros = _added(zero_a.long(), key, zero_v.long())
        one = scalar(1, a)
        rest = _folded(apply("select", zero_a, one, a), apply("select", zero_v, one, values), *places, row=row)
        own_a = apply("select", zeros - zero_a.long() == 0, rest, scalar(0, a)) / apply("select", zero_a, one, a)
        at_v = apply("select", zeros[key] - zero_v.long() == 0, rest[key], scalar(0, a))
        return (g * own_a, g[key] * at_v / apply("select", zero_v, one, values), *(None for _ in places))
    hit_a, hit_v = (a == r).to(g.dtype), (values == r[key]).to(g.dtype)
    share = g / _added(hit_a.clone(), key, hit_v)
    return (share * hit_a, share[key] * hit_v, *(None for _ in places))


def _others(a, values, places):
    """For each element of a and of values: the product of the other elements that are folded into the same place. This
    compares all pairs, so that zeros have second derivatives, too."""
    at = functools.reduce(lambda line, dn: line * dn[1] + dn[0], zip(places, a.shape, strict=True), 0)
    at, flat = reshaped(expand(at, tuple(values.shape)), (-1,)), reshaped(values, (-1,))
    count = wrap(td.arange(flat.shape[0], device=array(a).device))
    where = wrap(td.arange(a.numel(), device=array(a).device))
    one = scalar(1, a)
    of_a = apply("select", where[:, None] == at[None, :], flat[None, :], one).prod(1)
    meet = (at[:, None] == at[None, :]) & (count[:, None] != count[None, :])
    of_values = apply("select", meet, flat[None, :], one).prod(1) * reshaped(a, (-1,))[at]
    return reshaped(of_a, tuple(a.shape)), reshaped(of_values, tuple(values.shape))


def _fold(x, key, values, name, include_self):
    """The common part of scatter_reduce and index_reduce, out of place."""
    if name not in _REDUCE:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {name}")
    count = _added(scalar(0, x, _LONG).expand(x.shape).clone(), key, scalar(1, x, _LONG).expand(values.shape))
    base = x if include_self else apply("select", count > 0, _start_of(x, name), x)
    if name in ("sum", "mean"):
        r = _added(base.clone(), key, values)
        if name == "sum":
            return r
        count = count + 1 if include_self else count.clamp(min=1)
        return r / count if x.dtype._kind in "fc" else cast(apply("floor_divide", r, count), x.dtype)
    return _folded(base, values, *_full_key(x, key), row=_REDUCE[name])


def _full_key(x, key):
    """The index with tensors in place of slices, so that every dimension has one."""
    if all(isinstance(k, Tensor) for k in key) and len(key) == x.ndim:
        return key
    dev, out = array(x).device, []
    for d in range(x.ndim):
        one = key[d] if d < len(key) and isinstance(key[d], Tensor) else wrap(td.arange(x.shape[d], device=dev))
        out.append(reshaped(one, tuple(-1 if i == d else 1 for i in range(x.ndim))))
    return tuple(out)


@both()
@_with_a_dim
def scatter_reduce(x, dim, index, src, reduce, *, include_self=True):
    """x with src's elements reduced into the places that index names. reduce: sum, prod, mean, amax or amin."""
    d = _axes.one(dim, x.ndim)
    _fits("scatter_reduce", x, index, d)
    return _fold(x, _along(_whole("scatter_reduce", index), d), _cut(src, index, x.dtype), reduce, include_self)


@method()
def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    """scatter_reduce, written into the tensor itself."""
    return self.copy_(scatter_reduce(self.clone(), dim, index, src, reduce, include_self=include_self))


@both()
@_with_a_dim
def index_reduce(x, dim, index, source, reduce, *, include_self=True):
    """x with source's slices reduced into the places that index names along dim. reduce: prod, mean, amax or amin."""
    key = (slice(None),) * _axes.one(dim, x.ndim) + (_whole("index_reduce", index),)
    return _fold(x, key, source, reduce, include_self)


@method()
def index_reduce_(self, dim, index, source, reduce, *, include_self=True):
    """index_reduce, written into the tensor itself."""
    return self.copy_(index_reduce(self.clone(), dim, index, source, reduce, include_self=include_self))


@method()
def masked_scatter_(self, mask, source):
    """source's elements, in order, where mask is true."""
    return self.copy_(masked_scatter(self.clone(), mask, source))


@both()
def masked_scatter(x, mask, source):
    """x with source's elements, in order, where mask is true."""
    if mask.dtype is not _BOOL:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    if source.dtype is not x.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got {x.dtype} and {source.dtype}"
        )
    shape = joint_shape(tuple(x.shape), tuple(mask.shape))
    x, mask = expand(x, shape), expand(mask.detach(), shape)
    flat = ravel(mask)
    place = wrap(td.cumsum(array(flat).astype("int64")) - 1).clamp(min=0, max=max(source.numel() - 1, 0))
    return apply("select", mask, reshaped(ravel(source)[place], shape), x).contiguous()


@method()
def put_(self, index, source, accumulate=False):
    """Write source to these places of the flattened tensor, or add it there."""
    if self.ndim == 0:
        return self.copy_(reshaped(put_(reshaped(self.clone(), (1,)), index, source, accumulate), ()))
    flat = array(reshaped(_whole("put_", index), (-1,))) % max(self.numel(), 1)
    places = tuple(wrap(i) for i in td.unravel_index(flat, tuple(self.shape)))
    return index_put_(self, places, reshaped(source, (-1,)), accumulate)


# ---- the same, out of place ----


def _on_a_copy(name, order):
    def f(x, *args, **kwargs):
        return METHODS[name + "_"](x.clone(memory_format=order), *args, **kwargs)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"{name}_ on a copy: " + (METHODS[name + "_"].__doc__ or "")
    both()(f)


for _name in "index_fill index_put put".split():
    _on_a_copy(_name, FORMATS["preserve_format"])
for _name in "index_add index_copy scatter scatter_add".split():
    _on_a_copy(_name, FORMATS["contiguous_format"])


@both()
def select_scatter(x, src, dim, index):
    """x with src as its slice at index along dim."""
    r = x.clone()
    r[(slice(None),) * _axes.one(dim, x.ndim) + (_index(index),)] = src
    return r


@both()
def slice_scatter(x, src, dim=0, start=None, end=None, step=1):
    """x with src in its slice start:end:step along dim."""
    r = x.clone()
    r[(slice(None),) * _axes.one(dim, x.ndim) + (slice(start, end, step),)] = src
    return r


@both()
def diagonal_scatter(x, src, offset=0, dim1=0, dim2=1):
    """x with src on the diagonal of two dimensions."""
    r = x.clone()
    r.diagonal(offset, dim1, dim2).copy_(src)
    return r


# ---- where something is ----


@both()
def nonzero(x, *, as_tuple=False):
    """The indices of nonzero elements, one row for each. as_tuple=True gives one tensor for each dimension."""
    found = [wrap(i) for i in td.nonzero(array(x.detach()))] if x.ndim else []
    if as_tuple:
        return tuple(found) if x.ndim else tuple(wrap(i) for i in td.nonzero(array(x.detach()).reshape(-1)))
    if not found:
        n = int(bool(x)) if x.ndim == 0 else 0
        return x.new_zeros((n, 0), dtype=_LONG)
    return permute(cat([reshaped(i, (1, -1)) for i in found], 0), 1, 0).contiguous()


@both()
def argwhere(x):
    """The indices of nonzero elements, one row for each."""
    return nonzero(x)


@function(out=False)
def unravel_index(indices, shape):
    """The coordinates of indices into a flattened tensor of that shape, as a tuple."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return tuple(wrap(i) for i in td.unravel_index(array(indices), shape))


def _triangle(name):
    def f(row, col, offset=0, *, dtype=_LONG, device=None, layout=None, requires_grad=False, pin_memory=False):
        both = numpy.stack(getattr(numpy, name)(row, offset, col))
        return tensor(both, dtype=dtype, device=device, requires_grad=requires_grad)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "Rows and columns of a matrix's triangle, as two rows of a tensor."
    function()(f)


_triangle("tril_indices")
_triangle("triu_indices")
