"""Settings and switches that programs turn, most of which have nothing to turn here."""

import os

from ... import _core
from .. import _device
from .._register import function
from . import _dtypes
from ._convert import _BY_TYPE, TensorType

_state = {"deterministic": False, "precision": "highest", "threads": None}


@function(out=False)
def use_deterministic_algorithms(mode, *, warn_only=False):
    """Noted; sums by atomic operations on a GPU may still differ in the last bit."""
    _state["deterministic"] = bool(mode)


@function(out=False)
def are_deterministic_algorithms_enabled():
    """What use_deterministic_algorithms was told."""
    return _state["deterministic"]


@function(out=False)
def set_float32_matmul_precision(precision):
    """Noted; products of float32 are computed in float32."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"Invalid float32 matmul precision: {precision!r}")
    _state["precision"] = precision


@function(out=False)
def get_float32_matmul_precision():
    """What set_float32_matmul_precision was told."""
    return _state["precision"]


@function("set_num_interop_threads", out=False)
def set_num_threads(number):
    """Noted; TREADLE_THREADS says how many threads the CPU's kernels use."""
    _state["threads"] = int(number)


@function("get_num_interop_threads", out=False)
def get_num_threads():
    """How many threads the CPU's kernels use, or what set_num_threads was told."""
    return _state["threads"] or _core.options()["threads"] or len(os.sched_getaffinity(0))


@function(out=False)
def set_flush_denormal(mode):
    """Not supported: False."""
    return False


@function(out=False)
def set_warn_always(b):
    """Nothing."""


@function(out=False)
def is_warn_always_enabled():
    """False."""
    return False


@function(out=False)
def compile(model=None, *args, **kwargs):
    """The function or module itself: what it records is compiled anyway."""
    return (lambda f: f) if model is None else model


@function(out=False)
def compiled_with_cxx11_abi():
    """True."""
    return True


@function(out=False)
def set_default_tensor_type(t):
    """The dtype and device of new floating-point tensors, by a type such as torch.DoubleTensor or its name."""
    name = t.__name__ if isinstance(t, TensorType) else str(t).rsplit(".", 1)[-1]
    if name not in _BY_TYPE:
        raise TypeError(f"invalid type object: {t!r}")
    _dtypes.set_default_dtype(_BY_TYPE[name])
    cuda = t._cuda if isinstance(t, TensorType) else ".cuda." in str(t)
    _device.set_default_device("cuda" if cuda else "cpu")
