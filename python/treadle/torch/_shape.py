"""Shapes: views, joining and splitting. What can be a view of the same memory is one."""

from math import prod
from operator import index as _index

from . import _axes, _dtypes
from ._prim import Tensor, apply, array, derived, expanded, join, permuted, reshaped, scalar, strided, td, wrap
from ._register import both, function, inplace, method
from ._size import Size

# ---- extents ----


@method()
def size(x, dim=None):
    """The shape; with dim one extent."""
    return x.shape if dim is None else x.shape[_axes.one(dim, x.ndim)]


@method("ndimension")
def dim(x):
    """The number of dimensions."""
    return x.ndim


@both()
def numel(x):
    """The number of elements."""
    return prod(x.shape)


@method("nelement")
def _nelement(x):
    """The number of elements."""
    return prod(x.shape)


@method()
def stride(x, dim=None):
    """How many elements lie between neighbours of each dimension; with dim of one."""
    a = array(x)
    steps = tuple(s // a.itemsize for s in a.strides)
    return steps if dim is None else steps[_axes.one(dim, x.ndim)]


@method()
def is_contiguous(x, memory_format=None):
    """Do the elements lie in order, without gaps?"""
    return array(x).flags.c_contiguous


@method()
def contiguous(x, memory_format=None):
    """x, or a copy whose elements lie in order."""
    return x if array(x).flags.c_contiguous else x.clone(memory_format="contiguous")


# ---- the same elements in another shape ----


@both()
def reshape(x, *shape):
    """The elements in another shape, of which one extent may be -1: a view where that can be."""
    return reshaped(x, _axes.given(shape))


@method()
def view(x, *shape):
    """The same memory in another shape, or as another dtype. RuntimeError: that cannot be without a copy."""
    if len(shape) == 1 and isinstance(shape[0], _dtypes.dtype):
        return x if shape[0] is x.dtype else wrap(array(x).view(shape[0]._numpy))
    r = reshaped(x, _axes.given(shape))
    if r.numel() and not array(x).flags.c_contiguous and not _shares(x, r):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return r


def _shares(x, y):
    return td.may_share_memory(array(x), array(y))


@method()
def view_as(x, other):
    """The same memory in other's shape."""
    return view(x, tuple(other.shape))


@method()
def reshape_as(x, other):
    """The elements in other's shape."""
    return reshaped(x, tuple(other.shape))


@both()
def flatten(x, start_dim=0, end_dim=-1):
    """Dims start_dim to end_dim as one."""
    if x.ndim == 0:
        return reshaped(x, (1,))
    first, last = _axes.one(start_dim, x.ndim), _axes.one(end_dim, x.ndim)
    if last < first:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    shape = tuple(x.shape)
    return x if first == last else reshaped(x, (*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :]))


@both()
def ravel(x):
    """The elements in one dimension."""
    return reshaped(x, (-1,)) if x.numel() else reshaped(x, (0,))


@both()
def unflatten(x, dim, sizes):
    """Dim as several of these sizes, of which one may be -1."""
    dim, shape, sizes = _axes.one(dim, x.ndim), tuple(x.shape), tuple(sizes)
    if -1 in sizes:
        rest = -prod(sizes)
        sizes = tuple(shape[dim] // rest if n == -1 else n for n in sizes)
    if prod(sizes) != shape[dim]:
        raise RuntimeError(f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[dim]}) in the input tensor")
    return reshaped(x, (*shape[:dim], *sizes, *shape[dim + 1 :]))


@both()
def squeeze(x, dim=None):
    """Without the dims of one element: all of them, or those named."""
    dims = range(x.ndim) if dim is None else _axes.several(dim, x.ndim) if x.ndim else ()
    gone = {d for d in dims if x.shape[d] == 1}
    return reshaped(x, tuple(n for d, n in enumerate(x.shape) if d not in gone))


@both()
def unsqueeze(x, dim):
    """With a dimension of one element more, at dim."""
    dim, shape = _axes.one(dim, x.ndim + 1), tuple(x.shape)
    return reshaped(x, (*shape[:dim], 1, *shape[dim:]))


@function()
def atleast_1d(*tensors):
    """The tensors with one dimension at least."""
    return _each(lambda t: reshaped(t, (1,)) if t.ndim == 0 else t, tensors)


@function()
def atleast_2d(*tensors):
    """The tensors with two dimensions at least: a vector is a row."""
    return _each(lambda t: reshaped(t, (1, *t.shape) if t.ndim else (1, 1)) if t.ndim < 2 else t, tensors)


@function()
def atleast_3d(*tensors):
    """The tensors with three dimensions at least."""

    def deep(t):
        if t.ndim == 2:
            return reshaped(t, (*t.shape, 1))
        return reshaped(t, (1, *t.shape, 1) if t.ndim else (1, 1, 1)) if t.ndim < 2 else t

    return _each(deep, tensors)


def _each(f, tensors):
    if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
        return tuple(map(f, tensors[0]))
    return f(tensors[0]) if len(tensors) == 1 else tuple(map(f, tensors))


# ---- dimensions in another order ----


@both()
def permute(x, *dims):
    """The dimensions in the order dims."""
    dims = _axes.given(dims)
    if len(dims) != x.ndim:
        raise RuntimeError(f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = {x.ndim} is not equal to len(dims) = {len(dims)}")
    return permuted(x, _axes.several(dims, x.ndim) if dims else ())


@both("swapaxes", "swapdims")
def transpose(x, dim0, dim1):
    """Two dimensions exchanged."""
    a, b = _axes.one(dim0, x.ndim), _axes.one(dim1, x.ndim)
    order = list(range(x.ndim))
    if x.ndim:
        order[a], order[b] = b, a
    return permuted(x, tuple(order))


@both()
def t(x):
    """A matrix transposed; a vector itself."""
    if x.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.ndim}D")
    return permuted(x, (1, 0)) if x.ndim == 2 else x


@both()
def adjoint(x):
    """The last two dimensions exchanged, conjugated."""
    return transpose(x, -2, -1).conj()


@both("moveaxis")
def movedim(x, source, destination):
    """Dims source at the places destination, the others in order."""
    source = _axes.several(source if isinstance(source, (tuple, list)) else (source,), x.ndim)
    there = _axes.several(destination if isinstance(destination, (tuple, list)) else (destination,), x.ndim)
    rest = iter(d for d in range(x.ndim) if d not in source)
    to = dict(zip(there, source, strict=True))
    return permuted(x, tuple(to[i] if i in to else next(rest) for i in range(x.ndim)))


# ---- broadcasting ----


@method()
def expand(x, *shape, implicit=False):
    """x broadcast to a shape, in which -1 keeps an extent."""
    shape = _axes.given(shape)
    lead = len(shape) - x.ndim
    if lead < 0:
        raise RuntimeError(f"expand({x.type()}{{{list(x.shape)}}}, size={list(shape)}): the number of sizes provided ({len(shape)}) must be greater or equal to the number of dimensions in the tensor ({x.ndim})")
    if any(n == -1 for n in shape):
        if -1 in shape[:lead]:
            raise RuntimeError("The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0")
        shape = tuple(x.shape[i - lead] if n == -1 else n for i, n in enumerate(shape))
    return expanded(x, shape)


@method()
def expand_as(x, other):
    """x broadcast to other's shape."""
    return expanded(x, tuple(other.shape))


@both()
def broadcast_to(x, size):
    """x broadcast to a shape."""
    return expand(x, tuple(size))


@function(out=False)
def broadcast_shapes(*shapes):
    """The shape that shapes broadcast to. RuntimeError: they do not."""
    shapes = [tuple(s) if isinstance(s, (tuple, list)) else (s,) for s in shapes]
    try:
        return Size(td.broadcast_shapes(*shapes))
    except ValueError:
        raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape") from None


@function(out=False)
def broadcast_tensors(*tensors):
    """The tensors broadcast to one shape: a tuple."""
    shape = broadcast_shapes(*(x.shape for x in tensors))
    return tuple(expanded(x, tuple(shape)) for x in tensors)


@method()
def repeat(x, *times):
    """x so many times along each dimension, of which there may be more in front."""
    times = _axes.given(times)
    lead = len(times) - x.ndim
    if lead < 0:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    shape = (1,) * lead + tuple(x.shape)
    paired = reshaped(x, tuple(n for extent in shape for n in (1, extent)))
    paired = expanded(paired, tuple(n for pair in zip(times, shape, strict=True) for n in pair))
    return reshaped(paired, tuple(k * n for k, n in zip(times, shape, strict=True)))


@both()
def tile(x, *dims):
    """x so many times along each dimension; missing ones in front count 1."""
    dims = _axes.given(dims)
    return repeat(x, (1,) * (x.ndim - len(dims)) + dims)


@both()
def repeat_interleave(x, repeats=None, dim=None, *, output_size=None):
    """Each element (each slice along dim) so many times; x alone: its counts as indices."""
    if repeats is None:
        return wrap(td.repeat(td.arange(len(x), device=array(x).device), array(x)))
    if dim is None:
        x, dim = ravel(x), 0
    dim = _axes.one(dim, x.ndim)
    if not isinstance(repeats, Tensor) or repeats.numel() == 1:
        k, shape = int(repeats), tuple(x.shape)
        spread = expanded(unsqueeze(x, dim + 1), (*shape[: dim + 1], k, *shape[dim + 1 :]))
        return reshaped(spread, (*shape[:dim], shape[dim] * k, *shape[dim + 1 :]))
    places = td.repeat(td.arange(x.shape[dim], device=array(x).device), array(repeats))
    return x.index_select(dim, wrap(places))


# ---- joining ----


@function("concat", "concatenate")
def cat(tensors, dim=0, *, axis=None):
    """The tensors one behind the other along dim; what has no elements in one dimension is passed over."""
    dim = dim if axis is None else axis
    parts = [x for x in tensors if not (x.ndim == 1 and x.shape[0] == 0)] or list(tensors)[:1]
    if not parts:
        raise RuntimeError("torch.cat(): expected a non-empty list of Tensors")
    if parts[0].ndim == 0:
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    _fitting(parts, _axes.one(dim, parts[0].ndim))
    kind = _dtypes.result_of(tensors)
    parts = [x.to(kind) for x in parts]
    return join(parts, _axes.one(dim, parts[0].ndim))


def _fitting(parts, dim):
    first = parts[0].shape
    for k, x in enumerate(parts):
        if x.ndim != len(first):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {x.ndim}")
        if any(a != b for i, (a, b) in enumerate(zip(first, x.shape, strict=True)) if i != dim):
            at = next(i for i, (a, b) in enumerate(zip(first, x.shape, strict=True)) if i != dim and a != b)
            raise RuntimeError(f"Sizes of tensors must match except in dimension {dim}. Expected size {first[at]} but got size {x.shape[at]} for tensor number {k} in the list.")


@function()
def stack(tensors, dim=0):
    """The tensors along a new dimension at dim."""
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    dim, first = _axes.one(dim, tensors[0].ndim + 1), tensors[0].shape
    for k, x in enumerate(tensors):
        if x.shape != first:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and {list(x.shape)} at entry {k}")
    return cat([unsqueeze(x, dim) for x in tensors], dim)


@function()
def hstack(tensors):
    """The tensors side by side: along the second dimension, vectors along the first."""
    tensors = atleast_1d(list(tensors))
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


@function("row_stack")
def vstack(tensors):
    """The tensors below each other, vectors as rows."""
    return cat(atleast_2d(list(tensors)), 0)


@function()
def dstack(tensors):
    """The tensors along the third dimension."""
    return cat(atleast_3d(list(tensors)), 2)


@function()
def column_stack(tensors):
    """The tensors side by side, vectors as columns."""
    return cat([reshaped(x, (-1, 1)) if x.ndim < 2 else x for x in tensors], 1)


@function()
def block_diag(*tensors):
    """The matrices along the diagonal of one, zeros elsewhere."""
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
    """length elements of dim from start on: a view."""
    dim = _axes.one(dim, x.ndim)
    start, n = int(start), x.shape[dim]
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start = start + n if start < 0 else start
    if length < 0 or start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return x[(slice(None),) * dim + (slice(start, start + length),)]


@both()
def select(x, dim, index):
    """The index-th slice along dim: a view."""
    return x[(slice(None),) * _axes.one(dim, x.ndim) + (_index(index),)]


@both()
def split_with_sizes(x, split_sizes, dim=0):
    """Parts along dim of those sizes: a tuple of views."""
    dim, at, parts = _axes.one(dim, x.ndim), 0, []
    if sum(split_sizes) != x.shape[dim]:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {x.shape[dim]} (input tensor's size at dimension {dim}), but got split_sizes={list(split_sizes)}")
    for n in split_sizes:
        parts.append(narrow(x, dim, at, n))
        at += n
    return tuple(parts)


@both()
def split(x, split_size_or_sections, dim=0):
    """Parts along dim, of one size (the last may be smaller) or of these sizes: a tuple of views."""
    if isinstance(split_size_or_sections, (tuple, list)):
        return split_with_sizes(x, split_size_or_sections, dim)
    dim, k = _axes.one(dim, x.ndim), _index(split_size_or_sections)
    n = x.shape[dim]
    if k < 1 and n:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={k}")
    return tuple(narrow(x, dim, at, min(k, n - at)) for at in range(0, max(n, 1), max(k, 1)))


@both()
def chunk(x, chunks, dim=0):
    """At most so many parts of one size along dim (the last may be smaller): a tuple of views."""
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = x.shape[_axes.one(dim, x.ndim)]
    return split(x, max(-(-n // chunks), 1), dim)


@both()
def tensor_split(x, indices_or_sections, dim=0):
    """Parts along dim, at indices or so many of nearly one size: a tuple of views."""
    dim = _axes.one(dim, x.ndim)
    n, cuts = x.shape[dim], indices_or_sections
    if isinstance(cuts, Tensor):
        cuts = cuts.tolist()
    if not isinstance(cuts, (tuple, list)):
        cuts = [n // cuts * i + min(i, n % cuts) for i in range(1, cuts)]
    edges = [0, *(slice(0, c).indices(n)[1] for c in cuts), n]
    return tuple(narrow(x, dim, a, max(b - a, 0)) for a, b in zip(edges[:-1], edges[1:], strict=True))


@both()
def hsplit(x, indices_or_sections):
    """tensor_split along the second dimension, of a vector along its only one."""
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
    if isinstance(cuts, int) and x.shape[dim] % cuts:
        raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {x.shape[dim]} is not divisible by the split_size {cuts}!")
    return tensor_split(x, cuts, dim)


@both()
def unbind(x, dim=0):
    """The slices along dim: a tuple of views."""
    dim = _axes.one(dim, x.ndim)
    return tuple(select(x, dim, i) for i in range(x.shape[dim]))


@both()
def flip(x, *dims):
    """The elements of dims in reverse order."""
    dims = _axes.several(_axes.given(dims), x.ndim) if dims and dims != ((),) else ()
    if not dims:
        return x.clone()
    return _flip(x, dims=dims)


@derived("Flip", linear=True)
def _flip(a, *, dims):
    return td.flip(a, axis=dims)


@_flip.backward
def _(inputs, r, g, *, dims):
    return _flip(g, dims=dims)


@both()
def fliplr(x):
    """The second dimension in reverse order."""
    return flip(x, 1)


@both()
def flipud(x):
    """The first dimension in reverse order."""
    return flip(x, 0)


@both()
def roll(x, shifts, dims=None):
    """The elements moved on by shifts along dims, the last ones to the front; without dims in the flattened tensor."""
    if dims is None:
        return reshaped(roll(ravel(x), shifts, 0), tuple(x.shape))
    shifts = shifts if isinstance(shifts, (tuple, list)) else (shifts,)
    dims = dims if isinstance(dims, (tuple, list)) else (dims,)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    for k, d in zip(shifts, dims, strict=True):
        n = x.shape[_axes.one(d, x.ndim)]
        k = _index(k) % n if n else 0
        x = cat([narrow(x, d, n - k, k), narrow(x, d, 0, n - k)], d) if k else x
    return x.clone() if all(k == 0 for k in shifts) else x


@both()
def rot90(x, k=1, dims=(0, 1)):
    """Turned k times by a right angle, from the first of dims towards the second."""
    a, b = (_axes.one(d, x.ndim) for d in dims)
    k %= 4
    if k == 2:
        return flip(x, (a, b))
    if k == 1:
        return transpose(flip(x, b), a, b)
    return flip(transpose(x, a, b), b) if k == 3 else x.clone()


@method()
def unfold(x, dimension, size, step):
    """Windows of size elements along dimension, step apart, as a last dimension: a view."""
    if x.ndim == 0:
        x, dimension = reshaped(x, (1,)), 0
    d, a = _axes.one(dimension, x.ndim), array(x)
    if size > x.shape[d]:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {x.shape[d]} but size is {size}")
    steps = [s // a.itemsize for s in a.strides]
    shape = [*x.shape[:d], (x.shape[d] - size) // step + 1, *x.shape[d + 1 :], size]
    return strided(x, shape, [*steps[:d], steps[d] * step, *steps[d + 1 :], steps[d]], None)


@both()
def as_strided(x, size, stride, storage_offset=None):
    """A view of x's memory: extents, steps in elements, and the first element."""
    return strided(x, tuple(size), tuple(stride), storage_offset)


# ---- diagonals and triangles ----


@both()
def diagonal(x, offset=0, dim1=0, dim2=1):
    """The diagonal of two dimensions, as a last one: a view."""
    a, b = _axes.one(dim1, x.ndim), _axes.one(dim2, x.ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows, cols = x.shape[a], x.shape[b]
    up, down = max(offset, 0), max(-offset, 0)
    n = max(min(rows - down, cols - up), 0)
    if n == 0:
        up = down = 0
    rest = [d for d in range(x.ndim) if d not in (a, b)]
    x = permuted(x, (*rest, a, b))[..., down:, up:]
    steps = [s // array(x).itemsize for s in array(x).strides]
    return strided(x, (*x.shape[:-2], n), (*steps[:-2], steps[-2] + steps[-1]), None)


@both()
def diag_embed(x, offset=0, dim1=-2, dim2=-1):
    """The last dimension as the diagonal of two new ones, zeros elsewhere."""
    n, side = x.shape[-1], x.shape[-1] + abs(offset)
    at = wrap(td.arange(side, device=array(x).device))
    rows, cols = at[:, None], at[None, :]
    first = cat([x.new_zeros((*x.shape[:-1], abs(offset))), x], -1) if offset else x
    on = cols - rows == offset
    spread = first[..., None, :] if offset > 0 else first[..., :, None]
    r = apply("select", on, expanded(spread, (*x.shape[:-1], side, side)), scalar(0, x))
    return movedim(r, (-2, -1), (dim1, dim2)) if (dim1, dim2) != (-2, -1) else r


@both()
def diag(x, diagonal=0):
    """A matrix with x on a diagonal, of a vector; the diagonal of a matrix."""
    if x.ndim == 1:
        return diag_embed(x, diagonal)
    if x.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {x.ndim}D")
    return _diagonal(x, diagonal).clone()


_diagonal = diagonal


@both()
def diagflat(x, offset=0):
    """A matrix with x's elements on a diagonal."""
    return diag_embed(ravel(x), offset)


@both()
def tril(x, diagonal=0):
    """The lower triangle up to a diagonal, zeros above."""
    return apply("select", _below(x, diagonal), x, scalar(0, x))


@both()
def triu(x, diagonal=0):
    """The upper triangle from a diagonal on, zeros below."""
    return apply("select", _below(x, diagonal - 1), scalar(0, x), x)


def _below(x, diagonal):
    dev = array(x).device
    rows, cols = td.arange(x.shape[-2], device=dev), td.arange(x.shape[-1], device=dev)
    return wrap(cols[None, :] - rows[:, None] <= diagonal)


@function()
def vander(x, N=None, increasing=False):
    """The powers of x as columns, N of them."""
    n = len(x) if N is None else N
    powers = wrap(td.arange(n, device=array(x).device))
    return apply("power", x[:, None], powers if increasing else flip(powers, 0))


# ---- grids ----


@function(out=False)
def meshgrid(*tensors, indexing="ij"):
    """Coordinates of the grid that vectors span: a tuple; indexing "ij" or "xy"."""
    tensors = tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    flat = [ravel(x) for x in tensors]
    swap = indexing == "xy" and len(flat) > 1
    order = [1, 0, *range(2, len(flat))] if swap else list(range(len(flat)))
    shape = [len(flat[i]) for i in order]
    grid = [expanded(reshaped(x, [-1 if order[j] == i else 1 for j in range(len(flat))]), shape) for i, x in enumerate(flat)]
    return tuple(grid)


@function(out=False)
def cartesian_prod(*tensors):
    """All combinations of an element of each, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    return stack([ravel(x) for x in meshgrid(*tensors)], 1)


@function(out=False)
def combinations(x, r=2, with_replacement=False):
    """All combinations of r elements, as rows."""
    from itertools import combinations as some
    from itertools import combinations_with_replacement as repeated

    places = list((repeated if with_replacement else some)(range(len(x)), r))
    if not places:
        return x.new_empty((0, r))
    return x[wrap(td.asarray(places, device=array(x).device))]


# ---- images ----


@function()
def pixel_shuffle(x, upscale_factor):
    """Channels (*, C r r, H, W) as finer pixels (*, C, H r, W r)."""
    r, (*lead, c, h, w) = upscale_factor, x.shape
    n = len(lead)
    x = reshaped(x, (*lead, c // (r * r), r, r, h, w))
    return reshaped(permuted(x, (*range(n + 1), n + 3, n + 1, n + 4, n + 2)), (*lead, c // (r * r), h * r, w * r))


@function()
def pixel_unshuffle(x, downscale_factor):
    """Pixels (*, C, H r, W r) as channels (*, C r r, H, W)."""
    r, (*lead, c, h, w) = downscale_factor, x.shape
    n = len(lead)
    x = reshaped(x, (*lead, c, h // r, r, w // r, r))
    return reshaped(permuted(x, (*range(n + 1), n + 2, n + 4, n + 1, n + 3)), (*lead, c * r * r, h // r, w // r))


@function()
def channel_shuffle(x, groups):
    """The channels (dimension 1) dealt out to groups in turn."""
    b, c, *rest = x.shape
    return reshaped(transpose(reshaped(x, (b, groups, c // groups, *rest)), 1, 2), (b, c, *rest))


inplace("tril", "triu")
