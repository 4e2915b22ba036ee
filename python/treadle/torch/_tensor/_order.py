"""Sorting, searching and counting. Sorted values are read through their indices, so gradients flow to the right
elements."""

from .._prim import Tensor, array, cast, gathered, scalar, td, wrap
from .._register import both, function, method
from . import _axes, _dtypes
from ._layout import laid_like
from ._results import named

_LONG, _INT = _dtypes.DTYPES["int64"], _dtypes.DTYPES["int32"]


@both()
def argsort(x, dim=-1, descending=False, stable=False):
    """The indices that would sort the tensor along dim."""
    _dtypes.want_order("sort", x, TypeError)
    dim = _axes.one(dim, x.ndim)
    if x.ndim == 0:
        return x.new_zeros((), dtype=_LONG)
    return laid_like(_places(array(x.detach()), dim, descending), x)


def _places(a, dim, descending):
    if not descending:
        return wrap(td.argsort(a, axis=dim, stable=True))
    # A descending sort reverses the input and its result: NaN comes first then, and equal elements keep their order.
    return wrap(a.shape[dim] - 1 - td.flip(td.argsort(td.flip(a, dim), axis=dim, stable=True), dim))


@both()
def sort(x, dim=-1, descending=False, stable=False):
    """(values, indices) in order along dim; NaN counts as the largest."""
    if isinstance(dim, bool):
        dim, descending = -1, dim
    places = argsort(x, dim, descending, stable)
    values = laid_like(gathered(x, _axes.one(dim, x.ndim), places, True), x) if x.ndim else x.clone()
    return named("sort", "values indices")(values, places)


@both()
def msort(x):
    """The values in order along the first dimension."""
    return sort(x, 0)[0]


@both()
def topk(x, k, dim=-1, largest=True, sorted=True):
    """The k largest (or smallest) along dim, in order: (values, indices)."""
    _dtypes.want_order("topk", x, TypeError)
    kind, dim = named("topk", "values indices"), _axes.one(dim, x.ndim)
    if x.ndim == 0:
        return kind(x.clone(), x.new_zeros((), dtype=_LONG))
    if not 0 <= k <= x.shape[dim]:
        raise RuntimeError("selected index k out of range")
    places = wrap(td.topk(array(x.detach()), k, dim, largest, True)[1]).to(_LONG).contiguous()
    return kind(gathered(x, dim, places, True), places)


@both()
def unique(x, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements, or slices along dim, in order. On request also each element's position among them, and how
    often each occurs."""
    _dtypes.want_order("unique", x)
    a = array(x.detach())
    r = td.unique(
        a if dim is not None else a.reshape(-1), False, return_inverse, return_counts, axis=dim, equal_nan=False
    )
    r = [wrap(part) for part in (r if isinstance(r, tuple) else (r,))]
    if return_inverse:
        r[1] = r[1].reshape(x.shape if dim is None else (-1,))
    return r[0] if len(r) == 1 else tuple(r)


@both()
def unique_consecutive(x, return_inverse=False, return_counts=False, dim=None):
    """The elements, or slices along dim, without those that equal their predecessor."""
    x = x.detach()
    rows = x.reshape(-1) if dim is None else x.movedim(dim, 0)
    n = len(rows)
    flat = rows.reshape((n, -1))
    new = array((flat[1:] != flat[:-1]).any(1)) if n else td.zeros(0, "bool")
    first = td.concatenate([td.ones(min(n, 1), dtype="bool", device=array(x).device), new])
    starts = td.flatnonzero(first)
    values = rows[wrap(starts)]
    r = [values if dim is None else values.movedim(0, dim)]
    if return_inverse:
        r.append(wrap(td.cumsum(first.astype("int64")) - 1).reshape(x.shape if dim is None else (-1,)))
    if return_counts:
        r.append(wrap(td.diff(td.concatenate([starts, td.asarray([n], device=starts.device)]))))
    return r[0] if len(r) == 1 else tuple(r)


@function()
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    """Where the elements of input would have to be inserted into the sorted last dimension: before equal elements, or
    after them with right=True."""
    if side is not None and (right and side == "left"):
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    side = "right" if right or side == "right" else "left"
    given = input if isinstance(input, Tensor) else scalar(input, sorted_sequence)
    dtype = _dtypes.result_of([sorted_sequence, given], [])
    if dtype._kind in "bc":
        raise NotImplementedError(f"\"searchsorted\" not implemented for '{dtype._word}'")
    edges, a = (array(cast(t.detach(), dtype)) for t in (sorted_sequence, given))
    if sorter is not None:
        edges = td.take_along_axis(edges, array(sorter), axis=-1)
    if edges.ndim == 1:
        r = td.searchsorted(edges, a, side)
    else:
        r = _by_rows(edges, a, side)
    return wrap(td.asarray(r, device=edges.device)).to(_INT if out_int32 else _LONG)


def _by_rows(edges, a, side):
    """searchsorted for each row: the number of the row's edges that come before each of its values."""
    if edges.shape[:-1] != a.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
            "boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{list(edges.shape)} and input value tensor {list(a.shape)}"
        )
    before = edges[..., None, :] < a[..., :, None] if side == "left" else edges[..., None, :] <= a[..., :, None]
    return td.sum(before, axis=-1)


@function()
def bucketize(x, boundaries, *, out_int32=False, right=False):
    """The index of the bucket between boundaries in which each element lies. right=True: an element on a boundary
    belongs to the bucket after it."""
    return searchsorted(boundaries, x, out_int32=out_int32, right=right)


@both()
def bincount(x, weights=None, minlength=0):
    """How often each integer from 0 on occurs, or the sum of its weights."""
    w = None if weights is None else array(weights.detach())
    try:
        r = wrap(td.bincount(array(x), w, minlength))
    except ValueError:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.") from None
    return r.to(weights.dtype) if weights is not None and weights.dtype._name == "float32" else r


def _limits(x, low, high, around=1):
    """The range of the bins. If low equals high it is the range of the elements, widened if that is a single number."""
    if low == high:
        low, high = (float(x.min()), float(x.max())) if x.numel() else (0.0, 0.0)
    return (low - around, high + around) if low == high else (low, high)


@both()
def histc(x, bins=100, min=0, max=0):
    """How many elements lie in each of `bins` equal bins from min to max, in x's dtype. If both are 0 they mean the
    extremes."""
    x = x.detach()
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if x.dtype._name in ("float16", "bfloat16"):
        return histc(x.float(), bins, min, max).to(x.dtype)
    counts = td.histogram(array(x).reshape(-1), bins, _limits(x, min, max))[0]
    return wrap(counts).to(x.dtype)


@both()
def histogram(x, bins=100, *, range=None, weight=None, density=False):
    """(hist, bin_edges): how many elements lie in each bin, or the sum of their weights.

    bins: the number of bins, or their edges.
    """
    x = x.detach()
    if isinstance(bins, Tensor):
        edges, limits = array(bins.detach()), None
    else:
        edges, limits = bins, range or _limits(x, 0, 0, 0.5)
    w = None if weight is None else array(weight.detach()).reshape(-1)
    hist, at = td.histogram(array(x).reshape(-1), edges, limits, density, w)
    return named("histogram", "hist bin_edges")(wrap(td.asarray(hist)).to(x.dtype), wrap(td.asarray(at)).to(x.dtype))


@function()
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Which elements are among test_elements."""
    a, b = (array(t.detach()) if isinstance(t, Tensor) else t for t in (elements, test_elements))
    if not isinstance(elements, Tensor):
        a = array(scalar(elements, test_elements))
    if not isinstance(test_elements, Tensor):
        b = array(scalar(test_elements, elements))
    return wrap(td.isin(a, b, assume_unique, invert))


@method()
def is_nonzero(x):
    """Is the one element nonzero? Raises RuntimeError if there is not exactly one."""
    if x.numel() != 1:
        raise RuntimeError(
            "Boolean value of Tensor with "
            + ("no values is ambiguous" if not x.numel() else "more than one value is ambiguous")
        )
    return bool(x)
