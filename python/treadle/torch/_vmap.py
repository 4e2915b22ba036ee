"""torch.vmap and torch.map: a function written for one item's tensors, run once for all items (see
treadle/_vmap/_vmap.py)."""

import functools
import sys
import threading
import types

from .. import _core
from .._vmap import _dispatch as _vmap_dispatch
from .._vmap import _vmap
from .._vmap._array import find, running
from . import _prim, _vmap_rules  # noqa: F401  (enters the rules)
from ._override import put, shown_as, target
from ._prim import Tensor, wrap
from ._register import FUNCTIONS
from ._tensor._parts import cat
from ._vmap_item import RULES, Item, asking, called, spread, stacked

# ---- wrappers that look for items ----

_PRIMITIVES = (
    "apply join cumulate gathered reshaped expanded permuted array reduce scalar cast to_device strided add_at wrap"
).split()
_lock, _done = threading.Lock(), []


def install():
    """Wrap torch's primitives so that they look for items, wherever modules of the package hold them. Only the first
    call does anything."""
    _vmap_dispatch.install()
    with _lock:
        if _done:
            return
        from . import autograd, fft, linalg, special  # noqa: F401  (modules that hold primitives)

        swap = {id(getattr(_prim, name)): asking(name, getattr(_prim, name)) for name in _PRIMITIVES}
        package = __name__.rpartition(".")[0]
        modules = [m for n, m in list(sys.modules.items()) if n == package or n.startswith(package + ".")]
        for module in modules:
            _replace(module, swap)
        _core._grad_run = asking("run", _core._grad_run)
        _core._grad_custom = asking("custom", _core._grad_custom)
        _natives(sys.modules[package])
        _done.append(True)


def _replace(module, swap):
    for name, held in list(vars(module).items()):
        value = target(held)
        if id(value) in swap:
            put(module, name, swap[id(value)])
        elif _is_native(value) and value not in swap.values():
            swap[id(value)] = _asking_method(value.__name__, value)
            put(module, name, swap[id(value)])


def _plain(f):
    """f as it was before autocast wrapped it."""
    return getattr(f, "_plain", f)


def _is_native(f):
    f = _plain(f) if isinstance(f, types.FunctionType) else f  # other objects may answer to any attribute, or to none
    return isinstance(f, types.MethodDescriptorType) and f.__objclass__ is Tensor


def _asking_method(name, f):
    """A method of the core's that is called as a function. If its operand is an item, the item's method of that name
    runs."""

    @functools.wraps(f)
    def ask(*args, **kwargs):
        if running.depth and find((args, kwargs)) is not None:
            if name in RULES or not (args and type(args[0]) is Item):
                return called(name, ask, args, kwargs)
            return getattr(args[0], name)(*args[1:], **kwargs)
        return f(*args, **kwargs)

    return ask


def _natives(torch):
    """The functions torch.f that are methods of the core's Tensor."""
    for name, f in FUNCTIONS.items():
        held = target(vars(torch).get(name))
        plain = _plain(held)
        if isinstance(getattr(plain, "__wrapped__", plain), types.MethodDescriptorType):
            put(torch, name, _asking_named(held, f))


def _asking_named(held, composed):
    @functools.wraps(held)
    def ask(*args, **kwargs):
        if running.depth and find((args, kwargs)) is not None:
            if "input" in kwargs:
                args = (kwargs.pop("input"), *args)
            return composed(*args, **kwargs)
        return held(*args, **kwargs)

    shown_as(held, ask)
    return ask


# ---- vmap and map ----


class Tensors:
    """The kind of arrays that torch's vmap maps over: see _vmap.Arrays."""

    item, stacked = Item, staticmethod(stacked)
    spread = staticmethod(spread)

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
    """A function that maps func over a dimension of its tensors. func is written for one item, and runs once.

    in_dims: the dimension that items lie along in every argument, or None for an argument that all items share. A tuple
    has one entry for each argument; nested tuples, lists and dicts have entries for the parts of an argument. out_dims:
    the dimension of the items in the results. randomness: "error", "different" or "same", for draws in func.
    chunk_size: how many items run at once.

    Gradients flow through it. torch.func.grad of the mapped function gives every item's own gradient. What cannot run
    for all items at once runs item by item, with one PerformanceWarning; treadle.fallbacks() lists it.
    """
    install()
    mapped = _vmap.batched(func, in_dims, out_dims, randomness=randomness, face=Tensors)
    return mapped if chunk_size is None else _chunked(mapped, func, in_dims, out_dims, chunk_size)


def _chunked(mapped, func, in_dims, out_dims, size):
    if size < 1:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {size})")

    @functools.wraps(func)
    def chunks(*args, **kwargs):
        dims = tuple(in_dims) if isinstance(in_dims, (tuple, list)) else in_dims
        taken, n = _vmap._mapped_sizes((args, kwargs), (dims, 0), Tensors)
        parts = []
        for lo in range(0, max(n, 1), size):
            hi = min(lo + size, n)
            some, more = _vmap._each(
                lambda leaf, _: Tensors.moved(leaf.value[lo:hi], 0, leaf.axis)  # noqa: B023  (called at once)
                if isinstance(leaf, _vmap._Mapped)
                else leaf,
                taken, None, "",
            )  # fmt: skip
            parts.append(mapped(*some, **more))
        return _vmap.zipped(lambda leaves, axis: leaves[0] if axis is None else cat(leaves, axis), parts, out_dims)

    return chunks


def map(f, *tensors):
    """Stack f(item) for all items along the first dimension of tensors.

    A function of numbers is compiled if no gradient is wanted. Any other function runs once for all items, as in vmap,
    or item by item with one PerformanceWarning.
    """
    if not tensors:
        raise TypeError("map needs a function and one tensor at least")
    if all(x.ndim == 1 and not x.requires_grad for x in tensors) and tensors[0].numel():
        r = _vmap._elements(f, [x._array for x in tensors])
        if r is not None:
            return wrap(r)
    return vmap(f, randomness="different")(*tensors)
