"""Settings of PyTorch. Most of them have no effect here."""

import os
from importlib import import_module

from ... import _core
from .. import _device
from .._register import function, method
from . import _dtypes
from ._convert import _BY_TYPE, TensorType

_state = {"precision": "highest", "threads": None}


@function(out=False)
def use_deterministic_algorithms(mode, *, warn_only=False):
    """Results have the same bits each time, as with treadle.config.deterministic. What cannot raises, with warn_only it
    warns."""
    _core._deterministic((1 if warn_only else 2) if mode else 0)


@function(out=False)
def are_deterministic_algorithms_enabled():
    """What use_deterministic_algorithms was told."""
    return _core._deterministic(None) > 0


@function(out=False)
def set_float32_matmul_precision(precision):
    """Keep the setting. Products of float32 are always computed in float32."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"Invalid float32 matmul precision: {precision!r}")
    _state["precision"] = precision


@function(out=False)
def get_float32_matmul_precision():
    """The setting of set_float32_matmul_precision."""
    return _state["precision"]


@function("set_num_interop_threads", out=False)
def set_num_threads(num):
    """Keep the number. TREADLE_THREADS sets how many threads the CPU's kernels use."""
    _state["threads"] = int(num)


@function("get_num_interop_threads", out=False)
def get_num_threads():
    """The number given to set_num_threads, else how many threads the CPU's kernels use."""
    return _state["threads"] or _core.options()["threads"] or len(os.sched_getaffinity(0))


@function(out=False)
def set_flush_denormal(mode):
    """Returns False: this is not supported."""
    return False


@function(out=False)
def set_warn_always(b):
    """Does nothing."""


@function(out=False)
def is_warn_always_enabled():
    """False."""
    return False


@function(out=False)
def compile(model=None, *args, **kwargs):
    """The function itself, or a module round the module: treadle compiles what it records in any case."""
    if model is not None and not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if model is None:
        return compile
    if isinstance(model, type) or not hasattr(model, "_modules"):
        return model
    return import_module("treadle.torch.nn.modules.optimized").OptimizedModule(model)


@function(out=False)
def compiled_with_cxx11_abi():
    """True."""
    return True


@function(out=False)
def set_default_tensor_type(t):
    """Set the dtype and device of new floating-point tensors by a type such as torch.DoubleTensor, or by its name."""
    name = t.__name__ if isinstance(t, TensorType) else str(t).rsplit(".", 1)[-1]
    if name not in _BY_TYPE:
        raise TypeError(f"invalid type object: {t!r}")
    _dtypes.set_default_dtype(_BY_TYPE[name])
    cuda = t._cuda if isinstance(t, TensorType) else ".cuda." in str(t)
    _device.set_default_device("cuda" if cuda else "cpu")


def _later(home, name):
    """A method that another module's function implements. The first call imports that module."""

    def call(self, *args, **kwargs):
        return getattr(import_module(f"treadle.torch.{home}"), name)(self, *args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"treadle.torch.{home}.{name} of the tensor."
    return call


_HOMES = {
    "_older": "as_strided_scatter cholesky lu new_empty_strided nonzero_static qr",
    "storage": "storage storage_type untyped_storage",
}
for _home, _names in _HOMES.items():
    for _name in _names.split():
        method(_name)(_later(_home, _name))


@method()
def coalesce(self):
    """RuntimeError: the tensor is dense."""
    raise RuntimeError("coalesce expected sparse coordinate tensor layout but got Strided")


method("is_coalesced")(coalesce)


@method()
def dense_dim(self):
    """The number of dims: the tensor is dense."""
    return self.dim()


@method()
def module_load(self, other, assign=False):
    """What load_state_dict stores for the tensor: other itself (assign=True), or a copy of its values."""
    return other.detach() if assign else self.detach().clone().copy_(other)
