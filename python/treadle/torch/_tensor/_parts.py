"""Joining and splitting tensors, reversing and rotating them, windows and grids."""

import itertools
from operator import index as _index

from .._device import once
from .._prim import (
    Tensor,
    apart,
    array,
    cast,
    derived,
    expanded,
    join,
    permuted,
    recording,
    reshaped,
    strided,
    td,
    wrap,
)
from .._register import METHODS, both, function, method
from . import _axes, _dtypes
from ._layout import laid_like
from ._shape import atleast_1d, atleast_2d, atleast_3d, ravel, transpose

# ---- joining ----


@function("concat", "concatenate")
def cat(tensors, dim=0, *, axis=None):
    """The tensors one after another along dim. A one-dimensional tensor without elements is ignored."""
    dim = dim if axis is None else axis
    if isinstance(tensors, Tensor):
        raise TypeError("cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    for i, x in enumerate(tensors):
        if x is None or isinstance(x, (int, float)):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
    parts = [x for x in tensors if not (x.ndim == 1 and x.shape[0] == 0)] or list(tensors)[:1]
    if not parts:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    if parts[0].ndim == 0:
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    dim, kind = _axes.one(dim, parts[0].ndim), parts[0].dtype
    if any(x.dtype is not kind for x in tensors):
        kind = _dtypes.result_of(tensors)
        parts = [cast(x, kind) for x in parts]
    try:
        return join(parts, dim)
    except RuntimeError:
        _fitting(parts, dim)
        raise


def _fitting(parts, dim):
    first = parts[0].shape
    for k, x in enumerate(parts):
        if x.ndim != len(first):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {x.ndim}")
        if any(a != b for i, (a, b) in enumerate(zip(first, x.shape, strict=True)) if i != dim):
            at = next(i for i, (a, b) in enumerate(zip(first, x.shape, strict=True)) if i != dim and a != b)
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {dim}. Expected size {first[at]} but got size "
                f"{x.shape[at]} for tensor number {k} in the list."
            )


@function()
def stack(tensors, dim=0):
    """The tensors along a new dimension at dim."""
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    dim, first = _axes.one(dim, tensors[0].ndim + 1), tensors[0].shape
    for k, x in enumerate(tensors):
        if x.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                f"{list(x.shape)} at entry {k}"
            )
    shape = (*first[:dim], 1, *first[dim:])
    return cat([x.reshape(shape) for x in tensors], dim)


@function()
def hstack(tensors):
    """The tensors side by side: vectors along their only dimension, others along the second."""
    tensors = atleast_1d(list(tensors))
    if not tensors:
        raise RuntimeError("hstack expects a non-empty TensorList")
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


@function("row_stack")
def vstack(tensors):
    """The tensors on top of each other. Vectors count as rows."""
    if not len(tensors):
        raise RuntimeError("vstack expects a non-empty TensorList")
    return cat(atleast_2d(list(tensors)), 0)


@function()
def dstack(tensors):
    """The tensors one behind another, along the third dimension."""
    if not len(tensors):
        raise RuntimeError("dstack expects a non-empty TensorList")
    return cat(atleast_3d(list(tensors)), 2)


@function()
def column_stack(tensors):
    """The tensors side by side. Vectors count as columns."""
    return cat([reshaped(x, (-1, 1)) if x.ndim < 2 else x for x in tensors], 1)


@function()
def block_diag(*tensors):
    """One matrix with the given ones along its diagonal and zeros elsewhere."""
    tensors = [atleast_2d(x) for x in tensors]
    width, at, rows = sum(x.shape[1] for x in tensors), 0, []
    for x in tensors:
        left, right = x.new_zeros((x.shape[0], at)), x.new_zeros((x.shape[0], width - at - x.shape[1]))
        rows.append(cat([left, x, right], 1))
        at += x.shape[1]
    return cat(rows, 0)


# ---- parts ----


@both()
def narrow(x, dim, start, length):
    """A view of length elements along dim, from start on."""
    if x.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start.ndim or start.dtype._kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    dim = _axes.one(dim, x.ndim)
    start, n = int(start), x.shape[dim]
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start = start + n if start < 0 else start
    if length < 0 or start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return x[(slice(None),) * dim + (slice(start, start + length),)]


@both()
def narrow_copy(x, dim, start, length):
    """A copy of narrow."""
    return narrow(x, dim, start, length).clone()


@both()
def select(x, dim, index):
    """The index-th slice along dim: a view."""
    return x[(slice(None),) * _axes.one(dim, x.ndim) + (_index(index),)]


@both("unsafe_split_with_sizes")
def split_with_sizes(x, split_sizes, dim=0):
    """Views of consecutive parts along dim that have these sizes, as a tuple."""
    dim, at, parts = _axes.one(dim, x.ndim), 0, []
    if sum(split_sizes) != x.shape[dim]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {x.shape[dim]} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    for n in split_sizes:
        parts.append(narrow(x, dim, at, n))
        at += n
    return tuple(parts)


@both("unsafe_split")
def split(x, split_size_or_sections, dim=0):
    """Views of consecutive parts along dim, as a tuple. One size holds for all parts, of which the last may be smaller;
    a list gives each part its size."""
    if isinstance(split_size_or_sections, (tuple, list)):
        return split_with_sizes(x, split_size_or_sections, dim)
    dim, k = _axes.one(dim, x.ndim), _index(split_size_or_sections)
    n = x.shape[dim]
    if k < 1 and n:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={k}")
    return tuple(narrow(x, dim, at, min(k, n - at)) for at in range(0, max(n, 1), max(k, 1)))


@both("unsafe_chunk")
def chunk(x, chunks, dim=0):
    """Views of at most `chunks` equal parts along dim, as a tuple. The last part may be smaller."""
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = x.shape[_axes.one(dim, x.ndim)]
    if not n:
        return tuple(narrow(x, dim, 0, 0) for _ in range(chunks))
    return split(x, -(-n // chunks), dim)


@both()
def tensor_split(x, indices_or_sections, dim=0):
    """Views of parts along dim, as a tuple. A list of indices says where to split; a number gives that many parts of
    nearly equal size."""
    dim = _axes.one(dim, x.ndim)
    n, cuts = x.shape[dim], indices_or_sections
    if isinstance(cuts, Tensor):
        if cuts.dtype._name != "int64":
            raise RuntimeError(
                f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {cuts.dtype._word}"
            )
        cuts = cuts.tolist()
    if not isinstance(cuts, (tuple, list)):
        cuts = [n // cuts * i + min(i, n % cuts) for i in range(1, cuts)]
    edges = [0, *(slice(0, c).indices(n)[1] for c in cuts), n]
    return tuple(narrow(x, dim, a, max(b - a, 0)) for a, b in zip(edges[:-1], edges[1:], strict=True))


@both()
def hsplit(x, indices_or_sections):
    """tensor_split along the second dimension; of a vector along its only one."""
    return _even_split("hsplit", x, indices_or_sections, 0 if x.ndim == 1 else 1)


@both()
def vsplit(x, indices_or_sections):
    """tensor_split along the first dimension."""
    return _even_split("vsplit", x, indices_or_sections, 0)


@both()
def dsplit(x, indices_or_sections):
    """tensor_split along the third dimension."""
    return _even_split("dsplit", x, indices_or_sections, 2)


def _even_split(name, x, cuts, dim):
    least = {"hsplit": 1, "vsplit": 2, "dsplit": 3}[name]
    if x.ndim < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {x.ndim}"
        )
    if isinstance(cuts, int) and (cuts == 0 or x.shape[dim] % cuts):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {x.shape[dim]} "
            f"is not divisible by the split_size {cuts}!"
        )
    return tensor_split(x, cuts, dim)


@both()
def unbind(x, dim=0):
    """The slices along dim: a tuple of views."""
    dim = _axes.one(dim, x.ndim)
    return tuple(select(x, dim, i) for i in range(x.shape[dim]))


@both()
def flip(x, *args, dims=None):
    """The elements in reverse order along dims, which come as a tuple or as separate arguments."""
    dims = args if dims is None else (dims,)
    dims = _axes.several(_axes.given(dims), x.ndim) if dims and dims != ((),) else ()
    if not dims:
        return x.clone()
    return laid_like(_flip(x, dims=dims), x)


@derived("Flip", linear=True)
def _flip(a, *, dims):
    return td.flip(a, axis=dims).copy()


@_flip.backward
def _(inputs, r, g, *, dims):
    return _flip(g, dims=dims)


@both()
def fliplr(x):
    """The second dimension in reverse order."""
    if x.ndim < 2:
        raise RuntimeError(f"Input must be >= 2-d., not {x.ndim}-d.")
    return flip(x, 1)


@both()
def flipud(x):
    """The first dimension in reverse order."""
    if x.ndim < 1:
        raise RuntimeError("Input must be >= 1-d., not 0-d.")
    return flip(x, 0)


@both()
def roll(x, shifts, dims=None):
    """The elements shifted along dims. Those that leave at the end come back at the start. Without dims the flattened
    tensor is shifted."""
    if dims is None:
        return reshaped(roll(ravel(x), shifts, 0), tuple(x.shape))
    shifts = shifts if isinstance(shifts, (tuple, list)) else (shifts,)
    dims = dims if isinstance(dims, (tuple, list)) else (dims,)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    given = x
    for k, d in zip(shifts, dims, strict=True):
        n = x.shape[_axes.one(d, x.ndim)]
        k = _index(k) % n if n else 0
        x = cat([narrow(x, d, n - k, k), narrow(x, d, 0, n - k)], d) if k else x
    return x.clone() if x is given else x


@both()
def rot90(x, k=1, dims=(0, 1)):
    """The tensor rotated k times by 90 degrees, from the first of dims towards the second."""
    if len(dims) != 2 or x.ndim < 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)} of a tensor with {x.ndim}")
    a, b = (_axes.one(d, x.ndim) for d in dims)
    if a == b:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    k %= 4
    if k == 2:
        return flip(x, (a, b))
    if k == 1:
        return transpose(flip(x, b), a, b)
    return flip(transpose(x, a, b), b) if k == 3 else x.clone()


@method()
def unfold(x, dimension, size, step):
    """A view of windows of `size` elements along dimension, `step` apart. The windows' elements are a new last
    dimension."""
    d = _axes.one(dimension, x.ndim)
    if x.ndim == 0:
        return unfold(reshaped(x, (1,)), 0, size, step)[0]
    a = array(x)
    if size > x.shape[d]:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {x.shape[d]} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    count = (x.shape[d] - size) // step + 1
    if step < size and recording() and x.requires_grad:  # windows share elements, whose gradients add up
        dev = a.device
        places = wrap(td.arange(count, device=dev)[:, None] * step + td.arange(size, device=dev))
        return x[(slice(None),) * d + (places,)].movedim(d + 1, -1)
    steps = [s // a.itemsize for s in a.strides]
    shape = [*x.shape[:d], count, *x.shape[d + 1 :], size]
    return strided(x, shape, [*steps[:d], steps[d] * step, *steps[d + 1 :], steps[d]], None)


@both()
def as_strided(x, size, stride, storage_offset=None):
    """A view of x's memory with this shape, these strides in elements, and this first element."""
    size, stride = ([_index(n) for n in numbers] for numbers in (size, stride))
    if recording() and x.requires_grad and array(x).flags.c_contiguous and not storage_offset:
        at = td.asarray(0, device=array(x).device)
        for n, s in zip(size, stride, strict=True):
            at = at[..., None] + td.arange(n, device=at.device) * s
        return ravel(x)[wrap(at)]
    return strided(x, tuple(size), tuple(stride), storage_offset)


# ---- grids ----


@function(out=False)
def meshgrid(*tensors, indexing=None):
    """The coordinates of the grid that vectors span, one tensor for each vector. indexing: "ij", which is meant if
    nothing is given, or "xy"."""
    tensors = tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    if indexing is None:
        once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if several := [x for x in tensors if x.ndim > 1]:
        raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {several[0]}")
    flat = [ravel(x) for x in tensors]
    swap = indexing == "xy" and len(flat) > 1
    order = [1, 0, *range(2, len(flat))] if swap else list(range(len(flat)))
    shape = [len(flat[i]) for i in order]
    grid = [
        expanded(reshaped(x, [-1 if order[j] == i else 1 for j in range(len(flat))]), shape) for i, x in enumerate(flat)
    ]
    return tuple(grid)


@function(out=False)
def cartesian_prod(*tensors):
    """All combinations of an element of each, as rows."""
    for x in tensors:
        if x.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(x.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return stack([ravel(x) for x in meshgrid(*tensors, indexing="ij")], 1)


@function(out=False)
def combinations(input, r=2, with_replacement=False):
    """All combinations of r elements, one in a row."""
    if input.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    some = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = list(some(range(len(input)), r))
    if not places:
        return input.new_empty((0, r))
    return input[wrap(td.asarray(places, device=array(input).device))]


# ---- images ----


def _of_pixels(name, x):
    if x.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {x.ndim} dimension(s)"
        )


@function()
def pixel_shuffle(x, upscale_factor):
    """Rearrange channels (*, C r r, H, W) into a finer grid of pixels (*, C, H r, W r)."""
    _of_pixels("pixel_shuffle", x)
    r, (*lead, c, h, w) = upscale_factor, x.shape
    n = len(lead)
    x = reshaped(x, (*lead, c // (r * r), r, r, h, w))
    return reshaped(permuted(x, (*range(n + 1), n + 3, n + 1, n + 4, n + 2)), (*lead, c // (r * r), h * r, w * r))


@function()
def pixel_unshuffle(x, downscale_factor):
    """Rearrange pixels (*, C, H r, W r) into channels (*, C r r, H, W)."""
    _of_pixels("pixel_unshuffle", x)
    r, (*lead, c, h, w) = downscale_factor, x.shape
    n = len(lead)
    x = reshaped(x, (*lead, c, h // r, r, w // r, r))
    return reshaped(permuted(x, (*range(n + 1), n + 2, n + 4, n + 1, n + 3)), (*lead, c * r * r, h // r, w // r))


@function()
def channel_shuffle(x, groups):
    """Deal the channels (dimension 1) out to groups in turn."""
    if x.ndim < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(x.shape)}")
    b, c, *rest = x.shape
    return apart(reshaped(transpose(reshaped(x, (b, groups, c // groups, *rest)), 1, 2), (b, c, *rest)), x)


# ---- PyTorch's copies of views ----


def _copied(name, f):
    def copy(x, *args, **kwargs):
        r = f(x, *args, **kwargs)
        return tuple(part.clone() for part in r) if isinstance(r, tuple) else r.clone()

    copy.__name__ = copy.__qualname__ = name + "_copy"
    copy.__doc__ = f"A copy of {name}."
    function()(copy)


def _enter_copies():
    for name in "as_strided detach diagonal permute squeeze t transpose unsqueeze".split():
        _copied(name, METHODS.get(name) or getattr(Tensor, name))


_enter_copies()
