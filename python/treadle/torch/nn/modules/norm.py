"""Normalisations as modules."""

from .... import torch
from ...._public import dir_of as _dir_of
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module


def _register_affine(module, shape, affine, bias, made):
    module.register_parameter("weight", Parameter(torch.ones(shape, **made)) if affine else None)
    module.register_parameter("bias", Parameter(torch.zeros(shape, **made)) if affine and bias else None)


def _reset_affine(module):
    if module.weight is not None:
        init.ones_(module.weight)
    if module.bias is not None:
        init.zeros_(module.bias)


def _reset_if_replaced(module, kind):
    """Call a subclass's reset_parameters() or reset_running_stats(): that of kind would give what is there already."""
    names = [n for n in ("reset_parameters", "reset_running_stats") if hasattr(kind, n)]
    if any(getattr(type(module), n) is not getattr(kind, n) for n in names):
        module.reset_parameters()


class _NormBase(Module):
    """The base of batch and instance norms: weight and bias of the channels, running mean and variance."""

    dims = batch = None  # the dims that an input may have; whether the batch's statistics are used

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        made = {"device": device, "dtype": dtype}
        _register_affine(self, num_features, affine, bias, made)
        for name, start in (("running_mean", torch.zeros), ("running_var", torch.ones)):
            self.register_buffer(name, start(num_features, **made) if track_running_stats else None)
        count = torch.tensor(0, dtype=torch.int64, device=device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", count)
        _reset_if_replaced(self, _NormBase)

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        self.reset_running_stats()
        _reset_affine(self)

    def _check_input_dim(self, input):  # PyTorch's name: subclasses put others in its place
        if input.dim() not in self.dims:
            wanted = " or ".join(f"{n}D" for n in self.dims)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

    def forward(self, input):
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        return self._normalised(input, momentum)

    def _normalised(self, input, momentum):
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches so far
                momentum = 1.0 / self.num_batches_tracked.item()
        own = self.training or self.running_mean is None
        keep = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if keep else None,
            self.running_var if keep else None,
            self.weight,
            self.bias,
            own,
            momentum,
            self.eps,
        )

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, *rest):
        key = prefix + "num_batches_tracked"  # older state dictionaries lack it
        if local_metadata.get("version") is None and self.track_running_stats and key not in state_dict:
            state_dict[key] = torch.tensor(0, dtype=torch.int64)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, *rest)

    _version = 2

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_NormBase):
    """The base of batch norms, for which programs look."""


class BatchNorm1d(_BatchNorm):
    """Normalises each channel of (N, C) or (N, C, L) by the batch's mean and variance."""

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of (N, C, H, W) by the batch's mean and variance."""

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalises each channel of (N, C, D, H, W) by the batch's mean and variance."""

    dims = (5,)


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _normalised(self, input, momentum):
        if input.dim() == min(self.dims):
            return self._normalised(input.unsqueeze(0), momentum).squeeze(0)
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            momentum,
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, L) by its own mean and variance."""

    dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, H, W) by its own mean and variance."""

    dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, D, H, W) by its own mean and variance."""

    dims = (4, 5)


class LayerNorm(Module):
    """Gives the last dims mean 0 and variance 1, then applies weight and bias."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        _register_affine(self, shape, elementwise_affine, bias, {"device": device, "dtype": dtype})
        _reset_if_replaced(self, LayerNorm)

    def reset_parameters(self):
        _reset_affine(self)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divides by the root mean square over the last dims, then multiplies by weight."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.register_parameter(
            "weight", Parameter(torch.ones(shape, device=device, dtype=dtype)) if elementwise_affine else None
        )
        _reset_if_replaced(self, RMSNorm)

    def reset_parameters(self):
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Gives groups of channels mean 0 and variance 1, then applies each channel's weight and bias."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        _register_affine(self, num_channels, affine, bias, {"device": device, "dtype": dtype})
        _reset_if_replaced(self, GroupNorm)

    def reset_parameters(self):
        _reset_affine(self)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """Divides channels by a power of the mean square of their neighbours."""

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"



__dir__ = _dir_of(__name__)
