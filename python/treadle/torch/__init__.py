"""PyTorch's names over treadle's arrays: ``import treadle.torch as torch``.

A Tensor is a lazy array with a history: operations are recorded, fused and compiled as all of treadle's, and so are
the backward passes that follow from them. Tensors lie on the CPU until a program moves them to a GPU.
"""

import math as _math

from .. import _core
from . import _convert, _device, _dtypes, _elementwise, _index, _misc, _order, _printing, _products, _reduce, _shape
from . import autograd as autograd
from . import fft as fft
from . import linalg as linalg
from . import random as random
from . import special as special
from ._create import tensor
from ._device import device, get_default_device, set_default_device
from ._dtypes import can_cast, dtype, finfo, get_default_dtype, iinfo, promote_types, set_default_dtype
from ._printing import set_printoptions
from ._random import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from ._register import FUNCTIONS, METHODS, with_out
from ._size import Size
from .autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)

Tensor = _core.Tensor
__version__ = "2.9.0+treadle"

pi, e, inf, nan = _math.pi, _math.e, _math.inf, _math.nan
newaxis = None
strided, layout, memory_format = _convert.strided_layout, _convert.layout, _convert.memory_format
OutOfMemoryError = _core.OutOfMemoryError
backends, jit = _misc.backends(), _misc.JIT()
globals().update(_dtypes.NAMES)
globals().update(_convert.FORMATS)
globals().update(_convert.types(cuda=False))

# Methods that the core has and that take more here.
_OURS = set("clamp".split())


def _attach():
    """Gives the core's Tensor what is composed, and this module its functions."""
    _core._tensor_classes(
        size=Size, dtype={dt._numpy: dt for dt in _dtypes.DTYPES.values()}, device=_device.ours, make=_convert._made
    )
    native = {k for k in vars(Tensor)}
    for name, f in METHODS.items():
        if name not in native or name in ("__repr__", "__format__"):
            setattr(Tensor, name, f)
    for name, value in _convert.facts().items():
        if name not in native:
            setattr(Tensor, name, value)
    for name, f in FUNCTIONS.items():
        own = getattr(Tensor, name) if name in native and METHODS.get(name) is f and name not in _TWO else f
        globals()[name] = with_out(own, name)
    for name in native:
        if name.endswith("_") and not name.startswith("_") and name not in _NO_FUNCTIONS:
            globals()[name] = getattr(Tensor, name)
    for name in METHODS:
        if name.endswith("_") and name[:-1] in _elementwise.ROWS:
            globals().setdefault(name, getattr(Tensor, name))
    globals()["detach"], globals()["clone"] = Tensor.detach, Tensor.clone
    Tensor.__module__ = "torch"


_TWO = _elementwise.ROWS_OF_TWO
_NO_FUNCTIONS = set("copy_ requires_grad_ add_ sub_ mul_ div_ eq_ ge_ gt_ le_ lt_ ne_ pow_ atan2_".split())
_attach()


def result_type(tensor1, tensor2):
    """The dtype of an operation of two tensors or numbers."""
    both = (tensor1, tensor2)
    return _dtypes.result_of([t for t in both if isinstance(t, Tensor)], [t for t in both if not isinstance(t, Tensor)])


def is_nonzero(input):
    """Is the one element not 0?"""
    return input.is_nonzero()


def get_device_module(device=None):
    """torch.cuda."""
    from . import cuda

    return cuda


# Modules that are imported when they are first asked for, and the names that stand in them.
_MODULES = set("amp cuda distributed func multiprocessing nn optim testing utils serialization types".split())
_FROM = {"save": "serialization", "load": "serialization", "vmap": "func", "autocast": "amp", "GradScaler": "amp"}


def __getattr__(name):
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _FROM:
        value = getattr(import_module(f"{__name__}.{_FROM[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'torch' has no attribute {name!r}: docs/torch.md lists what treadle.torch has")


def __dir__():
    return sorted({*globals(), *_MODULES, *_FROM})
