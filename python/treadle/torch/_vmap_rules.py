"""The rules of tensors' primitives for all items at once. Rules compute with tensors that hold all items, so gradients
flow through them, both to outer tensors and to those of single items (torch.func.grad)."""

import treadle as td

from .._vmap._array import Batched, Call, Unbatched, over, running
from .._vmap._rules import matmul
from .._vmap._shapes import _Subscript
from .._vmap._table import TENSORS, enter
from . import _prim
from ._prim import Tensor, wrap
from ._tensor import _dtypes
from ._vmap_item import Item, rule

enter(TENSORS, rule)


@rule("apply")
def _apply(c, row, *operands):
    tensors = [x for x in operands if isinstance(x, Tensor)]
    n = max(x.ndim for x in tensors)
    if len({x.dtype for x in tensors}) > 1 and any(c.own(x) and not x.ndim for x in tensors) and row != "select":
        # The values of an item without dimensions have one dimension. PyTorch promotes dtypes by dimensions, so this
        # settles the dtypes first.
        kind = _dtypes.result_of(tensors, [x for x in operands if not isinstance(x, Tensor)])
        operands = [_prim.cast(x, kind) if isinstance(x, Tensor) else x for x in operands]
    return c.fn(row, *(c.aligned(x, n) for x in operands))


@rule("cumulate")
def _cumulate(c, row, x, dim):
    return c.fn(row, c.front(x), dim + 1) if x.ndim else c.front(x)


@rule("expanded")
def _expanded(c, x, *shape):
    shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return c.fn(c.aligned(x, len(shape)), (c.n, *shape))


@rule("reduce")
def _reduce(c, row, x, dim, keepdim, ddof=0):
    if not x.ndim:  # an empty tuple of dims would mean all of them
        return c.fn(row, x._value.unsqueeze(1), 1, False, ddof)
    dims = range(x.ndim) if dim is None or dim == () else dim if isinstance(dim, (tuple, list)) else (dim,)
    if any(not -x.ndim <= k < x.ndim for k in dims):
        raise IndexError("Dimension out of range")
    return c.fn(row, x._value, tuple(k % x.ndim + 1 for k in dims), keepdim, ddof)


@rule("array", boxed=False)
def _array(c, x):
    return Batched(_prim.array(x._value), c.trace)


@rule("wrap", boxed=False)
def _wrap(c, a, *args, **kwargs):
    return Item(c.outside(_prim.wrap, a._value, *args, **kwargs), c.trace)


@rule("scalar", boxed=False)
def _scalar(c, value, like, dtype=None):
    return c.fn(value, like._value, dtype)


@rule("strided")
def _strided(c, x, shape, steps, offset):
    if offset is not None:
        raise Unbatched("as_strided with an offset in the storage of all items")
    v = x._value
    return c.fn(v, (c.n, *shape), (v.stride(0), *steps), None)


rule("matmul")(matmul)


def _subscript(c, x, key):
    """The subscript of values, by the rules for arrays."""

    def plain(k):
        return _prim.array(k) if isinstance(k, Tensor) else k

    arrays = Call(c.trace, "getitem", None)
    return _Subscript(arrays, Batched(_prim.array(c.front(x)), c.trace), over(plain, key))


def _key(s):
    return tuple(wrap(k) if isinstance(k, td._core.ndarray) else k for k in s.key)


@rule("getitem")
def _getitem(c, x, key):
    s = _subscript(c, x, key)
    r = c.front(x)[_key(s)]
    return r.permute(_order(s, r.ndim)) if s.moves else r


def _order(s, ndim):
    """The permutation that moves the dimensions of the index arrays after those of the slices before them."""
    n, before = s.move
    rest = [*range(1 + n, 1 + n + before), *range(1, 1 + n), *range(1 + n + before, ndim)]
    return (0, *rest)


@rule("setitem", boxed=False)
def _setitem(c, x, key, value):
    if not c.own(x):
        raise Unbatched("a tensor that all items share is written")
    s = _subscript(c, x, key)
    c.trace.keep(x)
    v = x._value
    if isinstance(value, Tensor) and (value.ndim or c.own(value)):
        into = v.detach()[_key(s)]
        shape = tuple(into.permute(_order(s, into.ndim)).shape if s.moves else into.shape)
        value = c.aligned(value, len(shape) - 1) if c.own(value) else value
        extra = value.ndim - len(shape)
        if extra > 0:  # leading extents of 1
            value = value.reshape((*value.shape[: int(c.own(value))], *value.shape[extra:]))
        value = value.expand(shape)
        if s.moves:
            order = _order(s, len(shape))
            value = value.permute([order.index(k) for k in range(len(order))])
    v[_key(s)] = value


@rule("copy_", boxed=False)
def _copied(c, x, src):
    if not c.own(x):
        raise Unbatched("a tensor that all items share is written")
    c.trace.keep(x)
    x._value.copy_(c.aligned(src, x.ndim) if isinstance(src, Tensor) else src)
    return x


@rule("add_at", boxed=False)
def _add_at(c, x, key, values):
    if not c.own(x):
        raise Unbatched("a tensor that all items share is written")
    s = _subscript(c, x, key)
    if s.moves:
        raise Unbatched("index_put_ behind slices")
    c.trace.keep(x)
    values = c.aligned(values, s.of(_prim.array(x._value)).ndim - 1) if c.own(values) else values
    c.fn(x._value, _key(s), values)
    return x


@rule("run", boxed=False)
def _run(c, tensors, gradients, inputs, keep, create, alone):
    """The gradients of every item's results, found by differentiating the results of all items together."""
    if inputs is None or not all(c.own(x) for x in inputs):
        raise Unbatched("a gradient by what all items share adds up over the items")
    tensors = [c.front(t) for t in tensors]
    gradients = [t.detach().new_ones(t.shape) if g is None else c.front(g)
                 for t, g in zip(tensors, gradients, strict=True)]  # fmt: skip
    found = c.fn(tuple(tensors), tuple(gradients), tuple(x._value for x in inputs), keep, create, alone)
    return tuple(c.box(g) for g in found)


@rule("custom")
def _custom(c, state, back, inputs, outputs, *name):
    """A function with a formula for its gradients. The formula runs for all items, with items as gradients."""
    own = [c.own(x) for x in inputs]
    inside = (*running.traces, c.trace)

    def backward(state, *grads):
        before = running.traces
        running.traces = inside
        running.depth += 1
        try:
            found = back(state, *(c.box(g) for g in grads))
            return tuple(_collected(c, g, one) for g, one in zip(found, own, strict=True))
        finally:
            running.traces = before
            running.depth -= 1

    return c.fn(state, backward, tuple(x._value if o else x for x, o in zip(inputs, own, strict=True)),
                tuple(c.front(x) for x in outputs), *name)  # fmt: skip


def _collected(c, g, own):
    """An operand's gradient as a value. An operand that the items share gets the sum of their gradients."""
    if g is None or (not own and not c.own(g)):
        return None if g is None else g * c.n
    return c.front(g) if own else g._value.sum(0)
