"""Item: the tensor that a function sees in torch.vmap. It stands for one item's tensor while the function runs once for
all items.

Item is to Tensor what Batched is to an array (treadle/_vmap/_array.py). Functions are composed of a few primitives
(_prim.py), which look their rules up (_vmap_rules.py). A function that computes on arrays goes through the rules for
arrays.
"""

import functools
from functools import partial

from .. import _core
from .._vmap import _array
from .._vmap._array import (
    ITEMS,
    Batched,
    Call,
    Unbatched,
    entering,
    find,
    ruled,
    running,
)
from .._vmap._like import ARITHMETIC, COMPARISONS, UNARY
from . import _prim
from ._prim import Tensor
from ._register import METHODS
from ._tensor import _dtypes
from ._tensor._parts import stack
from ._tensor._size import Size

RULES = {}  # primitive: (rule, does it give values?)
rule = entering(RULES)


class Item:
    """A tensor that stands for one of the items."""

    __slots__ = ("_value", "_trace", "__weakref__")
    __class__ = property(lambda self: Tensor)
    __array_priority__ = 1000.0
    __array_ufunc__ = None  # an array's operator leaves the operation to this class
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
        r = f(self.clone(), *args, **kwargs)  # the backward pass may need the old values
        if not _dtypes.can_cast(r.dtype, self.dtype):
            words = r.dtype._word, self.dtype._word
            raise RuntimeError("result type {} can't be cast to the desired output type {}".format(*words))
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

    def __reversed__(self):
        return self.flip(0) if self.ndim else self

    def __getitem__(self, key):
        return called("getitem", get, (self, key), {})

    def __setitem__(self, key, value):
        called("setitem", put, (self, key, value), {})

    def _subscript(self, name, x, *args):
        """The meaning of x[key] when key holds this item. _tensor_index.py calls it."""
        return called(name, get if name == "getitem" else put, (x, *args), {})

    def matmul(self, other):
        return called("matmul", _core.Tensor.matmul, (self, other), {})

    __matmul__ = matmul

    def __rmatmul__(self, other):
        return called("matmul", _core.Tensor.matmul, (other, self), {})

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
        return called("copy_", copy, (self, src), {})

    def fill_(self, value):
        return self.copy_(value if isinstance(value, Tensor) else _prim.scalar(value, self))

    def zero_(self):
        return self.fill_(0)

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


def _operator(name, row):
    setattr(Item, f"__{name}__", lambda self, other: _prim.apply(row, self, other))
    if name in ARITHMETIC:
        setattr(Item, f"__r{name}__", lambda self, other: _prim.apply(row, other, self))
        setattr(Item, f"__i{name}__", lambda self, other: self._written(partial(_prim.apply, row), other))


for _name, _row in (ARITHMETIC | COMPARISONS).items():
    _operator(_name, _row)
for _name, _row in UNARY.items():
    setattr(Item, f"__{_name}__", lambda self, row=_row: _prim.apply(row, self))

ITEMS.add(Item)


# ---- calls ----


def get(x, key):
    """x[key]."""
    return x[key]


def put(x, key, value):
    """x[key] = value."""
    x[key] = value


def copy(x, src):
    """Writes src into x; x."""
    return x.copy_(src)


def _joined(results, box):
    if not isinstance(results[0], Tensor):
        raise Unbatched(f"results of type {type(results[0]).__name__} are not stacked")
    return box(stack(results))


class TensorCall(Call):
    """A primitive that is called while a trace runs."""

    __slots__ = ()
    joined = staticmethod(_joined)

    def box(self, value):
        if isinstance(value, Tensor):
            return Item(value, self.trace)
        return super().box(value)

    def plain(self, x):
        return x

    def front(self, x):
        return x._value if self.own(x) else spread(x, self.n)


def spread(x, n):
    return x.expand((n, *x.shape))


def own(x):
    """The tensor x. Inside of a vmap: x with a copy of its own for every item."""
    trace = running.traces[-1] if running.traces else None
    if trace is None or (type(x) is Item and x._trace is trace):
        return x
    return Item(spread(x, trace.size), trace)


stacked = partial(_array.stacked, joined=_joined)


def called(name, fn, args, kwargs):
    trace = find((args, kwargs))
    if trace is None:
        return fn(*args, **kwargs)
    c = TensorCall(trace, name, fn)
    return c.outside(ruled, c, RULES.get(name, (None, False)), args, kwargs)


def asking(name, f):
    """The primitive f, which looks for items among its arguments while a vmap runs."""

    @functools.wraps(f)
    def ask(*args, **kwargs):
        if running.depth and find((args, kwargs)) is not None:
            return called(name, ask, args, kwargs)
        return f(*args, **kwargs)

    return ask
