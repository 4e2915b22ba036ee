"""Modules that learn their sizes from the first input."""

from .... import torch
from ...._public import dir_of as _dir_of
from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .linear import Linear
from .module import Module
from .norm import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d",
    "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
    "LazyInstanceNorm3d", "LazyLinear", "LazyModuleMixin",
]  # fmt: skip


class LazyModuleMixin:
    """The base of modules with UninitializedParameters. initialize_parameters(input) gives these a shape at the first
    input.

    cls_to_become: the class that a module has after that. None: it keeps its own.
    """

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._sized_as_loaded)
        self._initialize_hook = self.register_forward_pre_hook(_first_call, with_kwargs=True)

    def _sized_as_loaded(self, state_dict, prefix, *unused):
        """Give parameters without a shape the shapes of the values that are loaded."""
        for name, value in (*self._parameters.items(), *self._buffers.items()):
            if is_lazy(value) and prefix + name in state_dict and not is_lazy(state_dict[prefix + name]):
                with torch.no_grad():
                    value.materialize(state_dict[prefix + name].shape)

    def has_uninitialized_params(self):
        """Does a parameter or buffer have no shape yet?"""
        return any(is_lazy(t) for t in (*self._parameters.values(), *self._buffers.values()))

    def initialize_parameters(self, *args, **kwargs):
        """Give the parameters their shapes and values, according to an input."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def __reduce_ex__(self, protocol):
        return _unpickled, (type(self), {k: v for k, v in self.__dict__.items() if k not in _HOOKS})


_HOOKS = ("_load_hook", "_initialize_hook", "_forward_pre_hooks", "_load_state_dict_pre_hooks", "_hooked")


def _unpickled(cls, state):
    made = cls.__new__(cls)
    Module.__init__(made)
    made.__dict__.update(state)
    made._load_hook = made._register_load_state_dict_pre_hook(made._sized_as_loaded)
    made._initialize_hook = made.register_forward_pre_hook(_first_call, with_kwargs=True)
    return made


def _first_call(module, args, kwargs):
    """The first forward pass. It gives the parameters their shapes, and the module its other class."""
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"module {type(module).__name__} has not been fully initialized")
    module._initialize_hook.remove()
    module._load_hook.remove()
    del module._initialize_hook, module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


def _sized(module, made, names):
    """module, with UninitializedParameters under the names that it has."""
    for name in names:
        if getattr(module, name, None) is not None:
            setattr(module, name, UninitializedParameter(**made))


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear whose in_features is the extent of the first input's last dim."""

    cls_to_become = Linear

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        made = {"device": device, "dtype": dtype}
        super().__init__(0, 0, bias, **made)
        self.out_features = out_features
        _sized(self, made, ("weight", "bias"))

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input):
        if self.has_uninitialized_params():
            with torch.no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
            self.reset_parameters()


class _LazyConv(LazyModuleMixin):
    """The base of convolutions whose in_channels is the first input's."""

    def __init__(self, out_channels, kernel_size, *args, **kwargs):
        super().__init__(1, 1, kernel_size, *args, **{**kwargs, "groups": 1})
        self.in_channels, self.out_channels = 0, out_channels
        self.groups = kwargs.get("groups", self.groups)
        made = {k: kwargs.get(k) for k in ("device", "dtype")}
        _sized(self, made, ("weight", "bias"))

    def reset_parameters(self):
        if self.in_channels and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        if not self.has_uninitialized_params():
            return
        if input.dim() not in (self.rank + 1, self.rank + 2):
            raise RuntimeError(
                f"Expected {self.rank + 1}D (unbatched) or {self.rank + 2}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {tuple(input.shape)}"
            )
        self.in_channels = input.shape[-self.rank - 1]
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        first, second = self.out_channels, self.in_channels
        first, second = (second, first) if self.transposed else (first, second)
        with torch.no_grad():
            self.weight.materialize((first, second // self.groups, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyNorm(LazyModuleMixin):
    """The base of batch and instance norms whose num_features is the first input's number of channels."""

    def __init__(
        self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True
    ):
        made = {"device": device, "dtype": dtype}
        super().__init__(0, eps, momentum, affine, track_running_stats, **made, bias=bias)
        _sized(self, made, ("weight", "bias") if bias else ("weight",))
        for name in ("running_mean", "running_var"):
            if getattr(self, name) is not None:
                setattr(self, name, UninitializedBuffer(**made))

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.num_features:
            super().reset_parameters()

    def initialize_parameters(self, input):
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for t in (*self._parameters.values(), *self._buffers.values()):
                if is_lazy(t):
                    t.materialize((self.num_features,))
            self.reset_parameters()


def _lazy(mixin, cls):
    text = f"{cls.__name__} whose size comes from its first input."
    return type("Lazy" + cls.__name__, (mixin, cls), {"cls_to_become": cls, "__doc__": text, "__module__": __name__})


LazyConv1d, LazyConv2d, LazyConv3d = (_lazy(_LazyConv, c) for c in (Conv1d, Conv2d, Conv3d))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (
    _lazy(_LazyConv, c) for c in (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
)
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (
    _lazy(_LazyNorm, c) for c in (BatchNorm1d, BatchNorm2d, BatchNorm3d)
)
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = (
    _lazy(_LazyNorm, c) for c in (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)
)

__dir__ = _dir_of(__name__)
