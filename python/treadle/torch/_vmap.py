"""torch.vmap and torch.map: a function of one item's tensors, run once for all items (see treadle/_vmap.py).

Item stands for a tensor of one item. Functions are composed of few primitives (_prim.py), so that only those have a
rule; whatever is computed as an array goes through the rules for arrays. A rule computes with tensors that hold all
items, so that gradients flow through them, to tensors outside and to those of every item (torch.func.grad).
"""

import functools
import sys
import threading
import types
from functools import partial

import treadle as td

from .. import _core, _vmap, _vmap_dispatch
from .._vmap_array import ITEMS, Batched, Call, Unbatched, find, over, ruled, running
from . import _dtypes, _prim
from ._prim import Tensor, wrap
from ._register import FUNCTIONS, METHODS
from ._size import Size

RULES = {}  # primitive: (rule, does it give values?)


class Item:
    """A tensor of one of all items."""

    __slots__ = ("_value", "_trace", "__weakref__")
    __class__ = property(lambda self: Tensor)
    __array_priority__ = 1000.0
    __array_ufunc__ = None  # operators and subscripts of arrays ask this one
    __hash__ = object.__hash__

    def __init__(self, value, trace):
        self._value, self._trace = value, trace

    shape = property(lambda self: Size(self._value.shape[1:]))
    ndim = property(lambda self: self._value.ndim - 1)
    dtype = property(lambda self: self._value.dtype)
    device = property(lambda self: self._value.device)
    itemsize = property(lambda self: self._value.itemsize)
    nbytes = property(lambda self: self.numel() * self.itemsize)
    requires_grad = property(lambda self: self._value.requires_grad)
    is_leaf = property(lambda self: self._value.is_leaf)
    grad_fn = property(lambda self: self._value.grad_fn)
    _version = property(lambda self: self._value._version)
    _array = property(lambda self: Batched(self._value._array, self._trace))
    data = property(lambda self: self.detach())
    T = property(lambda self: _prim.permuted(self, range(self.ndim)[::-1]))
    mT = property(lambda self: self.transpose(-2, -1))
    H = property(lambda self: self.mT.conj())
    mH = property(lambda self: self.mT.conj())
    real = property(lambda self: self._elementwise("real"))
    imag = property(lambda self: self._elementwise("imag"))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"'Tensor' object has no attribute {name!r}")
        if name.endswith("_") and name[:-1] in METHODS:
            return partial(self._written, METHODS[name[:-1]])
        if name in METHODS:
            return partial(METHODS[name], self)
        if name.startswith("is_"):
            return getattr(self._value, name)
        raise AttributeError(f"'Tensor' object has no attribute {name!r}")

    def _written(self, f, *args, **kwargs):
        r = f(self.clone(), *args, **kwargs)  # whose backward pass may want the old values
        if not _dtypes.can_cast(r.dtype, self.dtype):
            raise RuntimeError(f"result type {r.dtype} can't be cast to the desired output type {self.dtype}")
        return self.copy_(r)

    def _elementwise(self, name):
        return _like(self, getattr(self._value, name))

    def __repr__(self):
        return f"<one of {self._trace.size} tensors of shape {tuple(self.shape)}, {self.dtype}>"

    def __len__(self):
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(self.shape[0]))

    def __getitem__(self, key):
        return _call("getitem", _get, (self, key), {})

    def __setitem__(self, key, value):
        _call("setitem", _set, (self, key, value), {})

    def _subscript(self, name, x, *args):
        """What x[key] means whose key holds this one (_tensor_index.py asks)."""
        return _call(name, _get if name == "getitem" else _set, (x, *args), {})

    def matmul(self, other):
        return _call("matmul", _core.Tensor.matmul, (self, other), {})

    __matmul__ = matmul

    def __rmatmul__(self, other):
        return _call("matmul", _core.Tensor.matmul, (other, self), {})

    def clone(self, *, memory_format=None):
        return _like(self, self._value.clone())

    def detach(self):
        return _like(self, self._value.detach())

    def requires_grad_(self, requires_grad=True):
        self._value.requires_grad_(requires_grad)
        return self

    def _cast(self, dtype):
        return _like(self, self._value._cast(dtype))

    def copy_(self, src, non_blocking=False):
        return _call("copy_", _copy, (self, src), {})

    def fill_(self, value):
        return self.copy_(value if isinstance(value, Tensor) else _prim.scalar(value, self))

    def zero_(self):
        self._value.zero_()
        return self

    def backward(self, *args, **kwargs):
        raise Unbatched("backward() adds up in tensors' grad for one item after another; use torch.func.grad")


def _like(item, value):
    return Item(value, item._trace)


def _refuse(name, text):
    def method(self, *args, **kwargs):
        raise Unbatched(f"{text} of a tensor has another value for every item")

    setattr(Item, name, method)


_REFUSED = {
    "__bool__": "the truth value", "__float__": "float()", "__int__": "int()", "__complex__": "complex()",
    "__contains__": "`in`", "item": ".item()", "tolist": ".tolist()", "numpy": ".numpy()", "__reduce__": "pickling",
}  # fmt: skip
for _name, _text in _REFUSED.items():
    _refuse(_name, _text)

_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
_COMPARED = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
_UNARY = {"neg": "negative", "pos": "positive", "invert": "invert", "abs": "absolute"}


def _operator(name, row):
    setattr(Item, f"__{name}__", lambda self, other: _prim.apply(row, self, other))
    if name in _OPERATORS:
        setattr(Item, f"__r{name}__", lambda self, other: _prim.apply(row, other, self))
        setattr(Item, f"__i{name}__", lambda self, other: self._written(partial(_prim.apply, row), other))


for _name, _row in (_OPERATORS | _COMPARED).items():
    _operator(_name, _row)
for _name, _row in _UNARY.items():
    setattr(Item, f"__{_name}__", lambda self, row=_row: _prim.apply(row, self))

ITEMS.add(Item)


# ---- calls ----


class TensorCall(Call):
    """A primitive that is called for one trace."""

    __slots__ = ()

    def box(self, value):
        if isinstance(value, Tensor):
            return Item(value, self.trace)
        return super().box(value)

    def plain(self, x):
        return x

    def front(self, x):
        return x._value if self.own(x) else _spread(x, self.n)

    def each(self, args, kwargs, why):
        if not self.trace.loop or not self.n:
            return super().each(args, kwargs, why)
        _vmap._told(self, why, 0)
        results = [self.fn(*self.item(args, i), **self.item(kwargs, i)) for i in range(self.n)]
        return _stacked(results, self.box)

    __name__ = property(lambda self: self.name)


def _spread(x, n):
    return x.expand((n, *x.shape))


def _stacked(results, box):
    first = results[0]
    if isinstance(first, Tensor):
        from ._parts import stack

        return box(stack(results))
    if isinstance(first, (tuple, list)):
        parts = [_stacked(list(part), box) for part in zip(*results, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if isinstance(first, dict):
        return type(first)((k, _stacked([r[k] for r in results], box)) for k in first)
    if all(r is None for r in results):
        return None
    raise Unbatched(f"results of type {type(first).__name__} are not stacked")


def _call(name, fn, args, kwargs):
    trace = find((args, kwargs))
    if trace is None:
        return fn(*args, **kwargs)
    c = TensorCall(trace, name, fn)
    return c.outside(ruled, c, RULES.get(name, (None, False)), args, kwargs)


def _asking(name, f):
    """The primitive f, which looks at its arguments while a vmap runs."""

    @functools.wraps(f)
    def ask(*args, **kwargs):
        if running.depth and find((args, kwargs)) is not None:
            return _call(name, ask, args, kwargs)
        return f(*args, **kwargs)

    return ask


def rule(*names, boxed=True):
    """Enters a rule for primitives: f(c, *args) gives values, or with boxed=False items."""

    def enter(f):
        for name in names:
            RULES[name] = f, boxed
        return f

    return enter


# ---- rules ----


@rule("apply")
def _apply(c, row, *operands):
    tensors = [x for x in operands if isinstance(x, Tensor)]
    n = max(x.ndim for x in tensors)
    if len({x.dtype for x in tensors}) > 1 and any(c.own(x) and not x.ndim for x in tensors) and row != "select":
        # Items without dimensions have one more as values: what they make of dtypes is settled here.
        kind = _dtypes.result_of(tensors, [x for x in operands if not isinstance(x, Tensor)])
        operands = [_prim.cast(x, kind) if isinstance(x, Tensor) else x for x in operands]
    return c.fn(row, *(c.aligned(x, n) for x in operands))


@rule("join")
def _join(c, tensors, dim):
    return c.fn([c.front(x) for x in tensors], dim + 1 if dim >= 0 else dim)


@rule("cumulate")
def _cumulate(c, row, x, dim):
    return c.fn(row, c.front(x), dim + 1) if x.ndim else c.front(x)


@rule("gathered")
def _gathered(c, x, dim, index):
    return c.fn(c.front(x), dim + 1 if dim >= 0 else dim, c.front(index))


@rule("reshaped")
def _reshaped(c, x, *shape):
    shape = _settled(tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape, x)
    return c.fn(x._value, (c.n, *shape))


@rule("view")
def _viewed(c, x, *shape):
    shape = _settled(tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape, x)
    return x._value.view((c.n, *shape))


def _settled(shape, x):
    """The shape with its -1 counted, which an item's elements say."""
    if -1 not in shape:
        return shape
    known = 1
    for n in shape:
        known *= n if n != -1 else 1
    if not known or x.numel() % known or shape.count(-1) > 1:
        raise RuntimeError(f"shape {list(shape)} is invalid for input of size {x.numel()}")
    return tuple(x.numel() // known if n == -1 else n for n in shape)


@rule("expanded")
def _expanded(c, x, *shape):
    shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return c.fn(c.aligned(x, len(shape)), (c.n, *shape))


@rule("permuted", "permute")
def _permuted(c, x, *order):
    order = tuple(order[0]) if len(order) == 1 and not isinstance(order[0], int) else order
    return x._value.permute((0, *(k % x.ndim + 1 for k in order)))


@rule("reduce")
def _reduce(c, row, x, dim, keepdim, ddof=0):
    if not x.ndim:  # an empty tuple of dims would mean all
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


@rule("cast")
def _cast(c, x, dtype):
    return c.fn(x._value, dtype)


@rule("to_device")
def _to_device(c, x, where):
    return c.fn(x._value, where)


@rule("strided")
def _strided(c, x, shape, steps, offset):
    if offset is not None:
        raise Unbatched("as_strided with an offset in the storage of all items")
    v = x._value
    return c.fn(v, (c.n, *shape), (v.stride(0), *steps), None)


@rule("matmul")
def _matmul(c, a, b):
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")
    if c.own(a) and not c.own(b) and b.ndim <= 2 and (a.ndim <= 2 or b.ndim == 1):  # one product of all rows
        v = a._value
        return (v.reshape((-1, v.shape[-1])) @ b).reshape((*v.shape[:-1], *b.shape[1:]))
    if c.own(b) and not c.own(a) and b.ndim == 1 and a.ndim == 2:
        return b._value @ a.transpose(0, 1)
    row, column = a.ndim == 1, b.ndim == 1
    a = a.unsqueeze(0) if row else a
    b = b.unsqueeze(1) if column else b
    n = max(a.ndim, b.ndim)
    r = c.aligned(a, n) @ c.aligned(b, n)
    r = r.squeeze(-1) if column else r
    return r.squeeze(-1 if column else -2) if row else r


def _get(x, key):
    return x[key]


def _set(x, key, value):
    x[key] = value


def _copy(x, src):
    return x.copy_(src)


def _subscript(c, x, key):
    """The subscript of values, by the rules of arrays'."""
    from .._vmap_shapes import _Subscript

    def plain(k):
        return _prim.array(k) if isinstance(k, Tensor) else k

    arrays = Call(c.trace, "getitem", None)
    return _Subscript(arrays, Batched(_prim.array(c.front(x)), c.trace), over(plain, key))


def _key(s):
    return tuple(wrap(k) if isinstance(k, td.ndarray) else k for k in s.key)


@rule("getitem")
def _getitem(c, x, key):
    s = _subscript(c, x, key)
    r = c.front(x)[_key(s)]
    return r.permute(_order(s, r.ndim)) if s.moves else r


def _order(s, ndim):
    """The permutation that brings the index arrays' dimensions behind the slices before them."""
    n, before = s.move
    rest = [*range(1 + n, 1 + n + before), *range(1, 1 + n), *range(1 + n + before, ndim)]
    return (0, *rest)


@rule("setitem", boxed=False)
def _setitem(c, x, key, value):
    if not c.own(x):
        raise Unbatched("a tensor that all items share is written")
    s = _subscript(c, x, key)
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
    x._value.copy_(c.aligned(src, x.ndim) if isinstance(src, Tensor) else src)
    return x


@rule("add_at", boxed=False)
def _add_at(c, x, key, values):
    if not c.own(x):
        raise Unbatched("a tensor that all items share is written")
    s = _subscript(c, x, key)
    if s.moves:
        raise Unbatched("index_put_ behind slices")
    values = c.aligned(values, s.of(_prim.array(x._value)).ndim - 1) if c.own(values) else values
    c.fn(x._value, _key(s), values)
    return x


@rule("run", boxed=False)
def _run(c, tensors, gradients, inputs, keep, create, alone):
    """The gradients of every item's results: the results of the items together are differentiated."""
    if inputs is None or not all(c.own(x) for x in inputs):
        raise Unbatched("a gradient by what all items share adds up over the items")
    tensors = [c.front(t) for t in tensors]
    gradients = [t.detach().new_ones(t.shape) if g is None else c.front(g)
                 for t, g in zip(tensors, gradients, strict=True)]  # fmt: skip
    found = c.fn(tuple(tensors), tuple(gradients), tuple(x._value for x in inputs), keep, create, alone)
    return tuple(c.box(g) for g in found)


@rule("custom")
def _custom(c, state, back, inputs, outputs):
    """A function with a formula for its gradients: the formula is asked for items' gradients, of items."""
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
                tuple(c.front(x) for x in outputs))  # fmt: skip


def _collected(c, g, own):
    """An operand's gradient as a value: what items share has the sum of theirs."""
    if g is None or (not own and not c.own(g)):
        return None if g is None else g * c.n
    return c.front(g) if own else g._value.sum(0)


# ---- the package's functions ask ----

_PRIMITIVES = (
    "apply join cumulate gathered reshaped expanded permuted array reduce scalar cast to_device strided add_at wrap"
).split()
_lock, _done = threading.Lock(), []


def install():
    """Lets torch's primitives look for items, once: wherever the package's modules hold them."""
    _vmap_dispatch.install()
    with _lock:
        if _done:
            return
        from . import autograd, fft, func, linalg, special  # noqa: F401  (modules that hold primitives)

        swap = {id(getattr(_prim, name)): _asking(name, getattr(_prim, name)) for name in _PRIMITIVES}
        package = __name__.rpartition(".")[0]
        modules = [m for n, m in list(sys.modules.items()) if n == package or n.startswith(package + ".")]
        for module in modules:
            if module.__name__ != __name__:
                _replace(module, swap)
        globals()["wrap"] = swap[id(wrap)]
        _core._grad_run = _asking("run", _core._grad_run)
        _core._grad_custom = _asking("custom", _core._grad_custom)
        _natives(sys.modules[package])
        func._leaves = _leaves_of(func._leaves)
        _done.append(True)


def _replace(module, swap):
    for name, value in list(vars(module).items()):
        if id(value) in swap:
            setattr(module, name, swap[id(value)])
        elif isinstance(value, types.MethodDescriptorType) and value.__objclass__ is Tensor:
            swap[id(value)] = _asking_method(value.__name__, value)
            setattr(module, name, swap[id(value)])


def _asking_method(name, f):
    """A method of the core's that is called as a function: of an item it is the method of that name."""

    @functools.wraps(f)
    def ask(*args, **kwargs):
        if running.depth and find((args, kwargs)) is not None:
            if name in RULES or not (args and type(args[0]) is Item):
                return _call(name, ask, args, kwargs)
            return getattr(args[0], name)(*args[1:], **kwargs)
        return f(*args, **kwargs)

    return ask


def _natives(torch):
    """torch.f whose f is the core's method."""
    for name, f in FUNCTIONS.items():
        held = vars(torch).get(name)
        native = getattr(held, "__wrapped__", held)
        if isinstance(native, types.MethodDescriptorType):
            setattr(torch, name, _asking_named(held, f))


def _asking_named(held, composed):
    @functools.wraps(held)
    def ask(*args, **kwargs):
        if running.depth and find((args, kwargs)) is not None:
            if "input" in kwargs:
                args = (kwargs.pop("input"), *args)
            return composed(*args, **kwargs)
        return held(*args, **kwargs)

    return ask


def _leaves_of(f):
    """torch.func's tensors to differentiate by: inside of a vmap every item has its own."""

    @functools.wraps(f)
    def leaves(o, found):
        if running.traces and isinstance(o, Tensor):
            trace = running.traces[-1]
            if type(o) is not Item or o._trace is not trace:
                o = Item(_spread(o, trace.size), trace)
        return f(o, found)

    return leaves


# ---- vmap and map ----


class Tensors:
    """What torch's vmap maps over: see _vmap.Arrays."""

    item, stacked = Item, staticmethod(_stacked)
    spread = staticmethod(_spread)

    @staticmethod
    def array(leaf):
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"vmap: Got in_dim=0 for an input but the input is of type {type(leaf)}. We cannot vmap over "
                "non-Tensor arguments, please use None as the respective in_dim"
            )
        return leaf

    @staticmethod
    def result(leaf):
        if not isinstance(leaf, Tensor):
            raise ValueError(f"vmap: the function must only return Tensors, got type {type(leaf)} as a return.")
        return leaf

    @staticmethod
    def moved(x, source, destination):
        order = list(range(x.ndim))
        order.insert(destination % x.ndim, order.pop(source % x.ndim))
        return x.permute(order)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps func over a dimension of its tensors: func is written for one item and runs once.

    in_dims: the dimension of every argument that items stand along, None for what all items share; a tuple has one for
    each argument, and tuples, lists and dicts for the parts of those. out_dims: where the items' dimension stands in
    the results. randomness: "error", "different" or "same", of draws in func. chunk_size: how many items at once.

    Gradients flow through it, and torch.func.grad of what it maps gives every item's own. What cannot be done for all
    items at once runs item by item, with one PerformanceWarning (treadle.fallbacks() lists it).
    """
    install()
    mapped = _vmap.batched(func, in_dims, out_dims, randomness=randomness, face=Tensors)
    return mapped if chunk_size is None else _chunked(mapped, func, in_dims, out_dims, chunk_size)


def _chunked(mapped, func, in_dims, out_dims, size):
    if size < 1:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {size})")

    @functools.wraps(func)
    def chunks(*args, **kwargs):
        from ._parts import cat

        dims = tuple(in_dims) if isinstance(in_dims, (tuple, list)) else in_dims
        taken, n = _vmap._mapped_sizes((args, kwargs), (dims, 0), Tensors)
        parts = []
        for lo in range(0, max(n, 1), size):
            hi = min(lo + size, n)
            some, more = _vmap._each(
                lambda leaf, _: Tensors.moved(leaf.value[lo:hi], 0, leaf.axis)  # noqa: B023
                if isinstance(leaf, _vmap._Mapped)
                else leaf,
                taken, None, "",
            )  # fmt: skip
            parts.append(mapped(*some, **more))
        return _vmap.zipped(lambda leaves, axis: leaves[0] if axis is None else cat(leaves, axis), parts, out_dims)

    return chunks


def map(f, *tensors):
    """f of the items along the first dimension of tensors, stacked.

    Functions of numbers are compiled where no gradient is wanted; others run once for all items (vmap), or item by item
    with one PerformanceWarning.
    """
    if not tensors:
        raise TypeError("map needs a function and one tensor at least")
    if all(x.ndim == 1 and not x.requires_grad for x in tensors) and tensors[0].numel():
        r = _vmap._elements(f, [x._array for x in tensors])
        if r is not None:
            return wrap(r)
    return vmap(f, randomness="different")(*tensors)
