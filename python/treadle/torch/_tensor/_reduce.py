"""Reductions and running sums that the core's Tensor lacks, composed of sum, amax, gather and similar functions."""

import math

from .._prim import Tensor, apply, array, cast, cumulate, derived, gathered, recording, reduce, scalar, td, wrap
from .._register import both, function, inplace, method
from . import _axes, _dtypes
from ._elementwise import logaddexp, truth
from ._parts import cat
from ._results import named

_LONG, _BOOL = _dtypes.DTYPES["int64"], _dtypes.DTYPES["bool"]


def _floating(name, x, dtype=None):
    if dtype is not None:
        if dtype._kind not in "fc":
            raise NotImplementedError(
                f"{name}(): could not infer output dtype. Optional dtype must be either a floating point or complex "
                f"dtype. Got: {_spelled(dtype)}"
            )
        return x.to(dtype)
    if x.dtype._kind not in "fc":
        raise NotImplementedError(
            f"{name}(): could not infer output dtype. Input dtype must be either a floating point or complex "
            f"dtype. Got: {_spelled(x.dtype)}"
        )
    return x


def _spelled(dt):
    return {"int64": "Long", "int32": "Int", "bool": "Bool", "uint8": "Byte", "int16": "Short", "int8": "Char"}.get(
        dt._name, dt._name
    )


# ---- sums ----


@both()
def sum_(x, dim=None, keepdim=False, *, dtype=None, axis=None):
    """The sum over dim, or over all dims for None. Integers and bools are summed as int64."""
    dim = axis if dim is None else dim
    if dtype is not None:
        x = x.to(dtype)
    elif x.dtype._kind in "bui" and x.dtype is not _LONG:
        x = x.to(_LONG)
    r = reduce("sum", x, dim, keepdim)
    return r if dtype is None else r.to(dtype)


@both()
def mean(x, dim=None, keepdim=False, *, dtype=None, axis=None):
    """The mean over dim (None: all)."""
    return reduce("mean", _floating("mean", x, dtype), axis if dim is None else dim, keepdim)


@both()
def prod(x, dim=None, keepdim=False, *, dtype=None):
    """The product over dim, or over all dims for None. Integers and bools are multiplied as int64."""
    x = x.to(dtype) if dtype is not None else x.to(_LONG) if x.dtype._kind in "bui" else x
    if not (recording() and x.requires_grad and x.ndim):
        r = reduce("prod", x, dim, keepdim)
        return r if dtype is None else r.to(dtype)
    dims = _axes.several(dim, x.ndim)
    r = _prod(x, dims=dims)
    return r.reshape([1 if d in dims else n for d, n in enumerate(x.shape)]) if keepdim else r


@derived("Prod")
def _prod(a, *, dims):
    return td.prod(a, axis=dims)


@_prod.backward
def _(inputs, r, g, *, dims):
    """For each x[k] the product of all others: the product before it times the product after it. Nothing is divided, so
    zeros do no harm."""
    (x,) = inputs
    order = [d for d in range(x.ndim) if d not in dims] + list(dims)
    lead = [x.shape[d] for d in order[: x.ndim - len(dims)]]
    flat = x.permute(order).reshape([*lead, math.prod(x.shape[d] for d in dims)])
    others = _before(flat) * _before(flat.flip(-1)).flip(-1)
    back = (g.unsqueeze(-1) * others.conj()).reshape([x.shape[d] for d in order])
    return back.permute([order.index(d) for d in range(x.ndim)])


def _before(x):
    """For each element along the last dim the product of those before it."""
    n = x.shape[-1]
    if not n:
        return x
    return joined([x.new_ones((*x.shape[:-1], 1)), cumprod(x, -1).narrow(-1, 0, n - 1)], -1)


@both()
def nansum(x, dim=None, keepdim=False, *, dtype=None):
    """The sum of the elements that are not NaN."""
    return sum_(apply("select", x != x, scalar(0, x), x), dim, keepdim, dtype=dtype)


@both()
def nanmean(x, dim=None, keepdim=False, *, dtype=None):
    """The mean of the elements that are not NaN."""
    return nansum(x, dim, keepdim, dtype=dtype) / sum_(x == x, dim, keepdim)


@both()
def var(x, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """The variance over dim, or over all dims for None. The sum is divided by the count less correction, which is 1, or
    0 for unbiased=False."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    ddof = correction if correction is not None else 1 if unbiased is None else int(unbiased)
    return reduce("var", x, dim, keepdim, ddof)


@both()
def std(x, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """The standard deviation over dim: the square root of var."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    ddof = correction if correction is not None else 1 if unbiased is None else int(unbiased)
    return reduce("std", x, dim, keepdim, ddof)


@function()
def var_mean(x, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """(var, mean)."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return var(x, dim, unbiased, keepdim, correction=correction), mean(x, dim, keepdim)


@function()
def std_mean(x, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """(std, mean)."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return std(x, dim, unbiased, keepdim, correction=correction), mean(x, dim, keepdim)


@both()
def count_nonzero(x, dim=None):
    """How many elements along dim are nonzero."""
    return sum_(truth(x), dim)


@both()
def logsumexp(x, dim=None, keepdim=False):
    """log(sum(exp(x))), computed without overflow."""
    x = x if x.dtype._kind in "fc" else x.to(_dtypes.get_default_dtype())
    dims = _axes.several(dim, x.ndim)
    if not x.numel():
        return apply("log", reduce("sum", x, dims, keepdim))
    top = reduce("max", x.detach().real, dims, True)  # real() copies no real tensor
    top = apply("select", apply("isfinite", top), top, scalar(0, top))
    r = apply("log", reduce("sum", apply("exp", x - top), dims, True)) + top
    return r if keepdim else squeezed(r, dims)


def squeezed(x, dims):
    """x without these dims, each of which has one element."""
    return x.reshape([n for i, n in enumerate(x.shape) if i not in dims])


@both()
def softmax(x, dim, dtype=None):
    """exp(x) divided by its sum along dim."""
    return _softmax((x if dtype is None else x.to(dtype)).contiguous(), dim=_axes.one(dim, x.ndim))


@both()
def log_softmax(x, dim, dtype=None):
    """The logarithm of softmax."""
    return _log_softmax((x if dtype is None else x.to(dtype)).contiguous(), dim=_axes.one(dim, x.ndim))


def _shifted(a, dim):
    return a - td.max(a, axis=dim, keepdims=True) if a.ndim and a.size else a - a


def _softmax_of(a, dim):
    e = td.exp(_shifted(a, dim))
    return e / td.sum(e, axis=dim, keepdims=True) if a.ndim else e


@derived("Softmax")
def _softmax(a, *, dim):
    return _softmax_of(a, dim)


@_softmax.backward
def _(inputs, r, g, *, dim):
    part = g * r
    return part - r * reduce("sum", part, dim, True) if r.ndim else part * 0


@derived("LogSoftmax")
def _log_softmax(a, *, dim):
    s = _shifted(a, dim)
    return s - td.log(td.sum(td.exp(s), axis=dim, keepdims=True)) if a.ndim else s


@_log_softmax.backward
def _(inputs, r, g, *, dim):
    return g - apply("exp", r) * reduce("sum", g, dim, True) if r.ndim else g * 0


# ---- truth ----


def _true(name):
    def f(x, dim=None, keepdim=False):
        r = reduce(name, truth(x.detach()), dim, keepdim)
        return r.to(x.dtype) if x.dtype._name == "uint8" else r

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"Is {name} element along dim (None: of all) nonzero?"
    return both()(f)


all_, any_ = _true("all"), _true("any")

# ---- extremes ----


def _extreme(name):
    def f(x, dim=None, keepdim=False):
        if x.numel() == 0 and dim is not None:
            for d in _axes.several(dim, x.ndim):
                if not x.shape[d]:
                    raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
        return reduce(name[1:], x, dim, keepdim)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The {name[1:]} over dim (None: all); ties share the gradient."
    return both()(f)


amax, amin = _extreme("amax"), _extreme("amin")


def _arg(name):
    def f(x, dim=None, keepdim=False):
        _dtypes.want_order(name, x, TypeError)
        x = x.detach()
        if dim is None:
            r = wrap(getattr(td, name)(array(x).reshape(-1)))
            return r.reshape([1] * x.ndim) if keepdim else r
        dim = _axes.one(dim, x.ndim)
        if x.ndim == 0:
            return x.new_zeros((), dtype=_LONG)
        return wrap(getattr(td, name)(array(x), axis=dim, keepdims=keepdim))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"Where the {name[3:]} along dim is, counted from 0 (None: in the flattened tensor)."
    return both()(f)


argmax, argmin = _arg("argmax"), _arg("argmin")


def _picked(x, places, dim, keepdim):
    """The elements of x at these indices along dim. The indices have one element along dim."""
    r = gathered(x, dim, places, True)
    return (r, places) if keepdim else (r.squeeze(dim), places.squeeze(dim))


def _max_or_min(name, two, arg, all_of):
    def f(x, dim=None, keepdim=False, *, other=None):
        if isinstance(dim, Tensor) or other is not None:
            return apply(two, x, dim if other is None else other)
        if dim is None:
            return all_of(x)
        kind = named(name, "values indices")
        dim = _axes.one(dim, x.ndim)
        if x.ndim == 0:
            return kind(x.clone(), x.new_zeros((), dtype=_LONG))
        return kind(*_picked(x, arg(x, dim, True), dim, keepdim))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The {name} of all elements; along dim: (values, indices); with another tensor: of pairs."
    return both()(f)


max_ = _max_or_min("max", "maximum", argmax, amax)
min_ = _max_or_min("min", "minimum", argmin, amin)


@both()
def aminmax(x, *, dim=None, keepdim=False):
    """(min, max) over all elements, or along dim."""
    return named("aminmax", "min max")(amin(x, dim, keepdim), amax(x, dim, keepdim))


# ---- order statistics ----


def _of_one(kind, f, x, *args):
    """Let f, which works along a dim, also take tensors without dims: they are treated as tensors of one element."""
    return kind(*(t.reshape(()) for t in f(x.reshape(1), *args, dim=0)))


def _sorted_at(x, place, dim, keepdim, kind):
    order = x.detach().argsort(dim)
    return kind(*_picked(x, order.narrow(dim, place, 1), dim, keepdim))


@both()
def kthvalue(x, k, dim=-1, keepdim=False):
    """The k-th smallest along dim, counted from 1: (values, indices)."""
    _dtypes.want_order("kthvalue", x)
    kind, dim = named("kthvalue", "values indices"), _axes.one(dim, x.ndim)
    if x.ndim == 0:
        return _of_one(kind, kthvalue, x, k)
    if not 1 <= k <= x.shape[dim]:
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(dim))
    return _sorted_at(x, k - 1, dim, keepdim, kind)


@derived("Median")
def _one_of(a, *, value):
    """value, which equals one or more elements of a. These share its gradient equally."""
    return value


@_one_of.backward
def _(inputs, r, g, *, value):
    (x,) = inputs
    shares = ((x == r) | ((r != r) & (x != x))).detach().to(x.dtype)
    return g * shares / shares.sum()


def _median(name):
    def f(x, dim=None, keepdim=False):
        _dtypes.want_order(name, x)
        if dim is None and not x.numel():
            return x.new_full((), math.nan if x.dtype._kind == "f" else _dtypes.iinfo(x.dtype).min)
        if dim is None:
            r = f(x.detach().reshape(-1), 0)[0]
            return _one_of(x, value=array(r)) if x.requires_grad else r
        kind, dim = named(name, "values indices"), _axes.one(dim, x.ndim)
        if x.ndim == 0:
            return _of_one(kind, f, x)
        if not x.shape[dim]:
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
        order = x.detach().argsort(dim)
        if x.dtype._kind != "f":
            place = scalar((x.shape[dim] - 1) // 2, order)
        else:  # NaN sorts last
            count = sum_(x.detach() == x.detach(), dim, True)
            place = apply("floor_divide", count - 1, 2).clamp(min=0)
            if name == "median":
                n = x.shape[dim]
                place = apply("select", count < n, count.clamp(max=n - 1), place)
        place = place.expand([1 if i == dim else n for i, n in enumerate(x.shape)])
        return kind(*_picked(x, gathered(order, dim, place, True), dim, keepdim))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "The median of all elements, the lower one of two; along dim: (values, indices)." + (
        " NaN is passed over." if name == "nanmedian" else " NaN where there is one."
    )
    return both()(f)


median, nanmedian = _median("median"), _median("nanmedian")


@both()
def mode(x, dim=-1, keepdim=False):
    """The most frequent value along dim, or the smallest of several: (values, indices). The index is that of its last
    occurrence."""
    _dtypes.want_order("mode", x)
    kind, dim = named("mode", "values indices"), _axes.one(dim, x.ndim)
    if x.ndim == 0:
        return _of_one(kind, mode, x)
    values = x.detach().transpose(dim, -1).sort(-1)[0]
    counts = (values[..., :, None] == values[..., None, :]).sum(-1)
    best = values.gather(-1, counts.argmax(-1, True)).transpose(dim, -1)
    at = wrap(td.arange(x.shape[dim], device=array(x).device)).reshape([-1 if i == dim else 1 for i in range(x.ndim)])
    places = reduce("max", apply("select", x.detach() == best, at, -1), dim, True)
    return kind(*_picked(x, places, dim, keepdim))


def _quantile(name, known):
    def f(x, q, dim=None, keepdim=False, *, interpolation="linear"):
        several = isinstance(q, Tensor) and q.ndim == 1
        if not isinstance(q, Tensor) and not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q}")
        q = q if isinstance(q, Tensor) else scalar(q, x)
        if x.ndim == 0:
            r = f(x.reshape(1), q, 0 if dim is None else _axes.one(dim, 0), interpolation=interpolation)
            return r
        shape = tuple(x.shape)
        if dim is None:
            y, where = x.reshape(-1), None
        else:
            where = _axes.one(dim, x.ndim)
            y = x.transpose(where, -1)
        y = y.sort(-1)[0]
        here = known(y)
        at = q.reshape([-1] + [1] * y.ndim) * (here - 1).to(y.dtype)
        low, high, part = _between(at, interpolation)
        a, b = (_at_last(y, i) for i in (low, high))
        r = a if part is None else a + (b - a) * part
        r = apply("select", here == 0, math.nan, r)
        if known is _all_or_none:
            r = apply("select", apply("isnan", y[..., -1:]), math.nan, r)
        if where is None:
            r = r.reshape((-1, *([1] * len(shape) if keepdim else ())))
        else:
            r = r.transpose(where + 1, -1)
            r = r if keepdim else r.squeeze(where + 1)
        return (r if several else r[0]).contiguous()

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "The q-quantiles along dim (None: of all); interpolation: linear, lower, higher, nearest, midpoint." + (
        " NaN is passed over." if name == "nanquantile" else ""
    )
    return both()(f)


def _between(at, interpolation):
    """The indices below and above a fractional index, and how far between them to go. None: take the first as it is."""
    low, high = apply("floor", at.detach()).long(), apply("ceil", at.detach()).long()
    if interpolation == "linear":
        return low, high, at - apply("floor", at.detach())
    if interpolation == "midpoint":
        return low, high, 0.5
    chosen = {"lower": low, "higher": high, "nearest": apply("rint", at.detach()).long()}
    if interpolation not in chosen:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            + interpolation
        )
    return chosen[interpolation], chosen[interpolation], None


def _at_last(y, places):
    """y[..., places] for places of shape (q, *batch, 1)."""
    y = y.expand((places.shape[0], *y.shape))
    return gathered(y, y.ndim - 1, places.clamp(min=0).expand((*y.shape[:-1], 1)), True)


def _all_or_none(y):
    return scalar(y.shape[-1], y, _LONG)


def _not_nan(y):
    return sum_(y.detach() == y.detach(), -1, True)


quantile, nanquantile = _quantile("quantile", _all_or_none), _quantile("nanquantile", _not_nan)

# ---- running ----


@both()
def cumsum(x, dim, *, dtype=None):
    """Running sums along dim; integers add up as int64."""
    x = x.to(dtype) if dtype is not None else x.to(_LONG) if x.dtype._kind in "bui" else x
    dim = _axes.one(dim, x.ndim)
    return cast(cumulate("sum", x, dim), x.dtype) if x.ndim else x.clone()


@both()
def cumprod(x, dim, *, dtype=None):
    """Running products along dim."""
    x = x.to(dtype) if dtype is not None else x.to(_LONG) if x.dtype._kind in "bui" else x
    dim = _axes.one(dim, x.ndim)
    return cast(_cumprod(x.contiguous(), dim=dim), x.dtype) if x.ndim else x.clone()


@derived("Cumprod")
def _cumprod(a, *, dim):
    return td.cumprod(a, axis=dim)


@_cumprod.backward
def _(inputs, r, g, *, dim):
    """For each x[k] the sum over j of g[j] times the product of x[:j+1] without x[k]. These products are computed one
    by one, since x may be 0."""
    (x,) = inputs
    x, g = x.transpose(dim, -1), g.transpose(dim, -1)
    n = x.shape[-1]
    at = wrap(td.arange(n, device=array(x).device))
    # without[..., k, j] is the product of x[0..j] with 1 in place of x[k], for j >= k.
    spread = apply("select", at[:, None] == at[None, :], scalar(1, x), x[..., None, :])
    without = _cumprod(spread, dim=x.ndim) * (at[None, :] >= at[:, None])
    return (without.conj() * g[..., None, :]).sum(-1).transpose(dim, -1)


def _running(name, better):
    def f(x, dim):
        _dtypes.want_order(name, x)
        kind, dim = named(name, "values indices"), _axes.one(dim, x.ndim)
        if x.ndim == 0:
            return kind(x.clone(), x.new_zeros((), dtype=_LONG))
        a = array(x.detach())
        best = (td.maximum if better == "max" else td.minimum).accumulate(a, axis=dim)
        at = td.arange(a.shape[dim], device=a.device).reshape([-1 if i == dim else 1 for i in range(a.ndim)])
        met = (a == best) | (a != a)  # NaN stays the best
        places = wrap(td.maximum.accumulate(td.where(met, at, 0), axis=dim)).contiguous()
        return kind(gathered(x, dim, places, True), places)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The running {better} along dim and where it stands: (values, indices)."
    return both()(f)


cummax, cummin = _running("cummax", "max"), _running("cummin", "min")


@both()
def logcumsumexp(x, dim):
    """log(cumsum(exp(x))), computed without overflow. Each pass adds sums that are twice as far
    apart, so that a sum is relative to its own neighbours and not to a maximum of all elements."""
    dim, step = _axes.one(dim, x.ndim), 1
    if x.ndim == 0:
        return x.clone()
    n = x.shape[dim]
    while step < n:
        later = logaddexp(x.narrow(dim, step, n - step), x.narrow(dim, 0, n - step))
        x = joined([x.narrow(dim, 0, step), later], dim)
        step *= 2
    return x


def joined(tensors, dim):
    return cat(tensors, dim)


@method()
def sum_to_size(x, *size_, size=None):
    """x summed to `size`, a shape that would broadcast to x's."""
    size = _axes.given(size_, size)
    lead = x.ndim - len(size)
    if lead < 0 or any(m not in (1, n) for n, m in zip(x.shape[lead:], size, strict=True)):
        raise RuntimeError(f"size {list(size)} is not expandable to size {list(x.shape)}.")
    x = reduce("sum", x, tuple(range(lead)), False) if lead else x
    dims = tuple(i for i, (n, m) in enumerate(zip(x.shape, size, strict=True)) if m == 1 and n != 1)
    return reduce("sum", x, dims, True) if dims else x


@both()
def hash_tensor(x, dim=(), *, keepdim=False, mode=0):
    """The exclusive or of the bits of all elements."""
    x = x.detach()
    bits = array(x.double()).view("uint64") if x.dtype._kind in "fc" else array(x.to(_LONG)).astype("uint64")
    for d in sorted(_axes.several(dim, x.ndim), reverse=True):
        bits = td.bitwise_xor.reduce(bits, axis=d, keepdims=keepdim)
    return wrap(bits)


inplace("cumsum", "cumprod")
