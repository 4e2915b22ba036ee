"""Shapes of tensors: views, dimensions in another order, broadcasting, diagonals. A result is a view whenever it can be
one."""

from math import prod

from .._prim import Tensor, apart, apply, array, expanded, permuted, recording, reshaped, scalar, strided, td, wrap
from .._register import both, function, inplace, method
from . import _axes, _dtypes
from ._layout import FORMATS
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
    """The strides in elements; with dim one of them."""
    a = array(x)
    steps = tuple(s // a.itemsize for s in a.strides)
    return steps if dim is None else steps[_axes.one(dim, x.ndim)]


@method()
def is_contiguous(x, memory_format=None):
    """Do the elements lie in C order, without gaps?"""
    return array(x).flags.c_contiguous


@method()
def contiguous(x, memory_format=None):
    """x, or a copy whose elements lie in C order."""
    return x if array(x).flags.c_contiguous else x.clone(memory_format=FORMATS["contiguous_format"])


# ---- the same elements in another shape ----


@both()
def reshape(x, *shape):
    """The elements in another shape, in which one extent may be -1. The result is a view if that is possible."""
    return reshaped(x, _axes.given(shape))


_view = Tensor.view


@method()
def view(x, *shape, size=None, dtype=None):
    """The same memory in another shape or dtype. Raises RuntimeError if that needs a copy."""
    shape = shape or tuple(given for given in (size, dtype) if given is not None)
    if len(shape) == 1 and isinstance(shape[0], _dtypes.dtype):
        return x if shape[0] is x.dtype else wrap(array(x).view(shape[0]._numpy))
    return _view(x, *shape)


@method()
def view_as(x, other):
    """A view in other's shape."""
    return view(x, tuple(other.shape))


@method()
def reshape_as(x, other):
    """The elements in other's shape."""
    return reshaped(x, tuple(other.shape))


@both()
def flatten(x, start_dim=0, end_dim=-1):
    """Merge the dims start_dim to end_dim into one."""
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
    """Split a dim into several of these sizes, one of which may be -1."""
    dim, shape, sizes = _axes.one(dim, x.ndim), tuple(x.shape), tuple(sizes)
    if -1 in sizes:
        rest = -prod(sizes)
        sizes = tuple(shape[dim] // rest if n == -1 else n for n in sizes)
    if prod(sizes) != shape[dim]:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[dim]}) "
            "in the input tensor"
        )
    return reshaped(x, (*shape[:dim], *sizes, *shape[dim + 1 :]))


@both()
def squeeze(x, dim=None):
    """Remove the dims that have one element: all of them, or only those given."""
    none = isinstance(dim, (tuple, list)) and not dim
    dims = range(x.ndim) if dim is None else _axes.several(dim, x.ndim) if x.ndim and not none else ()
    gone = {d for d in dims if x.shape[d] == 1}
    return reshaped(x, tuple(n for d, n in enumerate(x.shape) if d not in gone))


@both()
def unsqueeze(x, dim):
    """Insert a dim of one element at dim."""
    dim, shape = _axes.one(dim, x.ndim + 1), tuple(x.shape)
    return reshaped(x, (*shape[:dim], 1, *shape[dim:]))


@function()
def atleast_1d(*tensors):
    """The tensors, with at least one dimension."""
    return _each(lambda t: reshaped(t, (1,)) if t.ndim == 0 else t, tensors)


@function()
def atleast_2d(*tensors):
    """The tensors, with at least two dimensions. A vector becomes a row."""
    return _each(lambda t: reshaped(t, (1, *t.shape) if t.ndim else (1, 1)) if t.ndim < 2 else t, tensors)


@function()
def atleast_3d(*tensors):
    """The tensors, with at least three dimensions."""

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
def permute(x, *dims_, dims=None):
    """The dimensions in the order dims."""
    dims = _axes.given(dims_, dims)
    if len(dims) != x.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
            f"desired ordering of dimensions i.e. input.dim() = {x.ndim} is not equal to len(dims) = {len(dims)}"
        )
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
    """Move the dims source to the positions destination. The others keep their order."""
    source = _axes.several(source if isinstance(source, (tuple, list)) else (source,), x.ndim)
    there = _axes.several(destination if isinstance(destination, (tuple, list)) else (destination,), x.ndim)
    if len(source) != len(there):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same number "
            f"of dims as destination ({list(there)} dims)"
        )
    rest = iter(d for d in range(x.ndim) if d not in source)
    to = dict(zip(there, source, strict=True))
    return permuted(x, tuple(to[i] if i in to else next(rest) for i in range(x.ndim)))


# ---- broadcasting ----


@method()
def expand(x, *shape, size=None, implicit=False):
    """x broadcast to a shape. -1 keeps an extent."""
    shape = _axes.given(shape, size)
    lead = len(shape) - x.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand({x.type()}{{{list(x.shape)}}}, size={list(shape)}): the number of sizes provided "
            f"({len(shape)}) must be greater or equal to the number of dimensions in the tensor ({x.ndim})"
        )
    if any(n == -1 for n in shape):
        if -1 in shape[:lead]:
            raise RuntimeError(
                "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0"
            )
        shape = tuple(x.shape[i - lead] if n == -1 else n for i, n in enumerate(shape))
    return expanded(x, shape)


@method()
def expand_as(x, other):
    """x broadcast to other's shape."""
    return expanded(x, tuple(other.shape))


@both()
def broadcast_to(x, *size_, size=None):
    """x broadcast to a shape, given as a sequence or as ints."""
    size = size_ if size is None else size
    return expand(x, tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size))


@function(out=False)
def broadcast_shapes(*shapes):
    """The shape that the shapes broadcast to. Raises RuntimeError if they do not."""
    shapes = [tuple(s) if isinstance(s, (tuple, list)) else (s,) for s in shapes]
    try:
        return Size(td.broadcast_shapes(*shapes))
    except ValueError:
        raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape") from None


@function(out=False)
def broadcast_tensors(*tensors):
    """The tensors broadcast to one shape: a tuple."""
    shape = broadcast_shapes(*(x.shape for x in tensors))
    return tuple(x if x.shape == shape else expanded(x, tuple(shape)) for x in tensors)


@method()
def repeat(x, *times, repeats=None):
    """x repeated this many times along each dimension. Additional dimensions come first."""
    times = _axes.given(times, repeats)
    lead = len(times) - x.ndim
    if lead < 0:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    shape = (1,) * lead + tuple(x.shape)
    paired = reshaped(x, tuple(n for extent in shape for n in (1, extent)))
    paired = expanded(paired, tuple(n for pair in zip(times, shape, strict=True) for n in pair))
    return apart(reshaped(paired, tuple(k * n for k, n in zip(times, shape, strict=True))), x)


@both()
def tile(x, *times, dims=None):
    """x repeated this many times along each dimension. Missing counts at the front are 1."""
    dims = _axes.given(times, dims)
    return repeat(x, (1,) * (x.ndim - len(dims)) + dims)


@both()
def repeat_interleave(x=None, repeats=None, dim=None, *, output_size=None):
    """Repeat each element, or each slice along dim. With one tensor alone: it holds counts, and the result each index
    that often."""
    if x is None:
        x, repeats = repeats, None
    if repeats is None:
        if x.dtype._kind not in "ui":
            raise NotImplementedError(f'"repeat_interleave" not implemented for {x.dtype}')
        return wrap(td.repeat(td.arange(len(x), dtype=x.dtype._numpy, device=array(x).device), array(x)))
    if dim is None:
        x, dim = ravel(x), 0
    dim = _axes.one(dim, x.ndim)
    if isinstance(repeats, Tensor) and repeats.dtype._kind not in "ui":
        raise NotImplementedError(f"\"repeat_interleave\" not implemented for '{repeats.dtype._word}'")
    if not isinstance(repeats, Tensor) or repeats.numel() == 1:
        k, shape = int(repeats), tuple(x.shape)
        spread = expanded(unsqueeze(x, dim + 1), (*shape[: dim + 1], k, *shape[dim + 1 :]))
        return apart(reshaped(spread, (*shape[:dim], shape[dim] * k, *shape[dim + 1 :])), x)
    places = td.repeat(td.arange(x.shape[dim], device=array(x).device), array(repeats))
    return x.index_select(dim, wrap(places))


# ---- diagonals and triangles ----


@both()
def diagonal(x, offset=0, dim1=0, dim2=1):
    """A view of the diagonal of two dimensions. It becomes the last dimension."""
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
    if recording() and x.requires_grad and any(s == 0 and m > 1 for s, m in zip(x.stride(), x.shape)):
        x = contiguous(x)  # no window on an expanded tensor, whose elements share memory, has a gradient
    steps = [s // array(x).itemsize for s in array(x).strides]
    return strided(x, (*x.shape[:-2], n), (*steps[:-2], steps[-2] + steps[-1]), None)


@both()
def diag_embed(x, offset=0, dim1=-2, dim2=-1):
    """The last dimension on the diagonal of two new dimensions, with zeros elsewhere."""
    n, side = x.shape[-1], x.shape[-1] + abs(offset)
    at = wrap(td.arange(side, device=array(x).device))
    rows, cols = at[:, None], at[None, :]
    line = rows if offset >= 0 else cols
    spread = (
        x[..., line.clamp(max=max(n - 1, 0)).expand((side, side))] if n else x.new_zeros((*x.shape[:-1], side, side))
    )
    r = apply("select", cols - rows == offset, spread, scalar(0, x))
    return movedim(r, (-2, -1), (dim1, dim2)) if (dim1, dim2) != (-2, -1) else r


@both()
def diag(x, diagonal=0):
    """A matrix with the vector x on a diagonal, or a diagonal of the matrix x."""
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
    return apply("select", _below(x, diagonal), x.contiguous(), scalar(0, x))


@both()
def triu(x, diagonal=0):
    """The upper triangle from a diagonal on, zeros below."""
    return apply("select", _below(x, diagonal - 1), scalar(0, x), x.contiguous())


def _below(x, diagonal):
    if x.ndim < 2:
        raise RuntimeError(f"tril, triu: input tensor must have at least 2 dimensions, not {x.ndim}")
    dev = array(x).device
    rows, cols = td.arange(x.shape[-2], device=dev), td.arange(x.shape[-1], device=dev)
    return wrap(cols[None, :] - rows[:, None] <= diagonal)


@function()
def vander(x, N=None, increasing=False):
    """The powers of x as the N columns of a matrix."""
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = len(x) if N is None else N
    powers = wrap(td.arange(n, device=array(x).device))
    return apply("power", x[:, None], powers if increasing else n - 1 - powers)


inplace("tril", "triu")
