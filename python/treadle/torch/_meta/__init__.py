"""Tensors of the device "meta": a shape, a dtype and a device, without values.

A Meta tensor lies on one zero that is repeated. An operation computes with that zero, and of its result only shape and
dtype are kept; since results are computed when they are looked at, elementwise operations compute nothing. Writes do
nothing, and whoever asks for values gets an error. This package is imported when a program names the device.
"""

import functools
import inspect
import math

from ... import torch
from .. import _device
from .._override import put
from .._prim import Tensor, td, wrap
from .._tensor._create import _shape

_META = _device.device("meta")
_MOVED = (
    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() "
    "when moving module from meta to a different device."
)
# What needs values, and PyTorch's exception.
_READS = {
    **dict.fromkeys("item __bool__ __int__ __float__ __complex__ __index__".split(), RuntimeError),
    **dict.fromkeys("is_nonzero equal allclose".split(), RuntimeError),
    **dict.fromkeys("numpy _numpy __array__".split(), TypeError),
    **dict.fromkeys("tolist cpu cuda __dlpack__ nonzero masked_select unique argwhere".split(), NotImplementedError),
}
# Methods that end like writes and change the tensor itself.
_CHANGES = set(
    "requires_grad_ detach_ resize_ resize_as_ squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_".split()
)
_LARGE = 1 << 24  # elements; a tensor that has more is not laid out in memory
_DRAWN = {"rand": "zeros", "randn": "zeros", "rand_like": "zeros_like", "randn_like": "zeros_like"}


class Meta(Tensor):
    """A tensor without values."""

    device = property(lambda self: _META, doc="torch.device('meta').")
    is_meta = property(lambda self: True, doc="Yes.")
    is_cpu = property(lambda self: False, doc="No.")

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return _called(func, args, kwargs or {})

    def stride(self, dim=None):
        """The strides of memory in C order."""
        steps = _steps(self.shape)
        return steps if dim is None else steps[dim]

    def is_contiguous(self, memory_format=None):
        """Yes, but for channels_last."""
        return memory_format is None or memory_format._rank <= 0

    def to(self, *args, **kwargs):
        """Itself, in another dtype too. NotImplementedError: to another device, as there are no values."""
        named = [a for a in (*args, *kwargs.values()) if _names_device(a)]
        if any(a.type != "meta" for a in map(_place, named)):
            raise NotImplementedError(_MOVED)
        kept = {k: v for k, v in kwargs.items() if k not in ("device", "other")}
        return emptied(Tensor.to(_plain(self), *(a for a in args if not any(a is n for n in named)), **kept))

    def __repr__(self):
        rest = "" if self.dtype is torch.get_default_dtype() else f", dtype={self.dtype}"
        rest += ", requires_grad=True" if self.requires_grad else ""
        return f"tensor(..., device='meta', size={tuple(self.shape)}{rest})"

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = emptied(self, type(self))
        return memo[id(self)]


def parameter_of(cls, data, requires_grad):
    """A parameter without values: of Meta and of cls, whose name it has."""
    if cls not in _PARAMETERS:
        body = {"__new__": _new_parameter, "__repr__": lambda self: "Parameter containing:\n" + Meta.__repr__(self)}
        _PARAMETERS[cls] = type(cls.__name__, (Meta, cls), body)
    return _PARAMETERS[cls](data, requires_grad)


_PARAMETERS = {}


def _new_parameter(cls, data, requires_grad=True):
    return emptied(data, cls, requires_grad)


def _names_device(a):
    return isinstance(a, (str, _device.device, Tensor)) or type(a) is int


def _place(a):
    return a.device if isinstance(a, Tensor) else _device.device(a)


def _steps(shape):
    steps = [1] * len(shape)
    for k in range(len(shape) - 1, 0, -1):
        steps[k - 1] = steps[k] * max(shape[k], 1)
    return tuple(steps)


def _plain(x):
    """x with ordinary tensors in place of Meta ones."""
    if isinstance(x, Meta):
        zero = wrap(td.zeros((), dtype=x.dtype._numpy))
        whole = zero.expand(tuple(x.shape))  # most functions read it as it is; windows want memory in order
        return (whole if math.prod(x.shape) > _LARGE else whole.contiguous()).requires_grad_(x.requires_grad)
    if isinstance(x, (list, tuple)):
        return type(x)(map(_plain, x)) if not hasattr(x, "_fields") else type(x)(*map(_plain, x))
    return {k: _plain(v) for k, v in x.items()} if isinstance(x, dict) else x


def emptied(r, cls=Meta, requires_grad=None):
    """The tensors in r as Meta ones of their shapes and dtypes."""
    if isinstance(r, Tensor):
        wants = r.requires_grad if requires_grad is None else requires_grad
        zero = wrap(td.zeros((), dtype=r.dtype._numpy)).expand(tuple(r.shape))
        return Tensor._make_subclass(cls, zero, wants)
    if isinstance(r, (list, tuple)):
        return type(r)(*map(emptied, r)) if hasattr(r, "_fields") else type(r)(map(emptied, r))
    return r


def _writes(name):
    return name == "__setitem__" or name.startswith("__i") or (name.endswith("_") and not name.endswith("__"))


def _called(func, args, kwargs):
    name = getattr(func, "__name__", "")
    if name in _READS:
        told = _MOVED if name in ("cpu", "cuda") else f"{name}: the tensor is on the meta device, and has no data"
        raise _READS[name](told)
    if _writes(name) and name not in _CHANGES:
        return args[0] if args else None
    if name.endswith("_like") or name.startswith("new_"):
        where = kwargs.get("device")
        if where is not None and _device.device(where).type != "meta":  # there are no values to be copied
            return func(*_plain(args), **kwargs)
        kwargs = {k: v for k, v in kwargs.items() if k != "device"}
    return emptied(func(*_plain(args), **_plain(kwargs)))


# ---- creation ----


def _on_meta(f, quick):
    """f, which makes tensors. quick gives one of the same shape and dtype without drawing."""

    @functools.wraps(f)
    def made(*args, device=None, **kwargs):
        if args and isinstance(args[0], Meta):  # empty_like and its kind
            return _called(quick, args, kwargs if device is None else {**kwargs, "device": device})
        where = _device.get_default_device() if device is None else device
        if _device.device(where).type != "meta":
            return f(*args, **kwargs) if device is None else f(*args, device=device, **kwargs)
        with _device.device("cpu"):
            if f.__name__ in _OF_SIZES:
                return _of_size(*args, **kwargs)
            return emptied(quick(*args, device="cpu", **kwargs))

    return made


def _moving(f):
    @functools.wraps(f)
    def to(self, *args, **kwargs):
        named = [a for a in (*args, *kwargs.values()) if isinstance(a, (str, _device.device, Meta))]
        if not any(_place(a).type == "meta" for a in named):
            return f(self, *args, **kwargs)
        rest = {k: v for k, v in kwargs.items() if not any(v is n for n in named)}
        return emptied(f(self, *(a for a in args if not any(a is n for n in named)), **rest))

    return to


_OF_SIZES = set("empty ones rand randn zeros".split())


def _of_size(*size_, size=None, dtype=None, requires_grad=False, **_):
    one = torch.empty(1, dtype=dtype, device="cpu")
    return emptied(one.expand(_shape(size_, size)), requires_grad=requires_grad)


def _attach():
    plain = {name: getattr(torch, name).__wrapped__ for name in _device.MAKERS}
    for name, f in plain.items():
        made = _on_meta(f, plain[_DRAWN[name]] if name in _DRAWN else f)
        made.__signature__ = inspect.signature(getattr(torch, name))
        put(torch, name, made)
    Tensor.to = _moving(Tensor.to)


_attach()
