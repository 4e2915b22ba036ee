"""``torch.nn.init``: functions that fill parameters in place."""

import math
import warnings

from ... import torch
from ..._public import dir_of as _dir_of

_GAINS = {
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0,
    "conv_transpose3d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 0.75,
}


def calculate_gain(nonlinearity, param=None):
    """The factor for the weights before a nonlinearity. param: leaky_relu's slope."""
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _fan(tensor, mode):
    fans = _calculate_fan_in_and_fan_out(tensor)
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return fans[mode.lower() == "fan_out"]


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform values between a and b."""
    with torch.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal values of this mean and standard deviation."""
    with torch.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal values, of which only those between a and b are taken."""
    with torch.no_grad():
        low, high = ((1 + math.erf((v - mean) / std / math.sqrt(2))) / 2 for v in (a, b))
        tensor.uniform_(2 * low - 1, 2 * high - 1, generator=generator).erfinv_()
        return tensor.mul_(std * math.sqrt(2)).add_(mean).clamp_(a, b)


def constant_(tensor, val):
    """Set every element to val."""
    with torch.no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    return constant_(tensor, 1.0)


def zeros_(tensor):
    return constant_(tensor, 0.0)


def eye_(tensor):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with torch.no_grad():
        return tensor.copy_(torch.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor, groups=1):
    """Weights of a convolution that passes its input on."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups:
        raise ValueError("dim 0 must be divisible by groups")
    of_group = tensor.size(0) // groups
    middle = tuple(n // 2 for n in tensor.shape[2:])
    with torch.no_grad():
        tensor.fill_(0)
        for g in range(groups):
            for i in range(min(of_group, tensor.size(1))):
                tensor[(g * of_group + i, i, *middle)] = 1
    return tensor


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform values with the bound of Glorot and Bengio for the numbers of inputs and outputs."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    a = gain * math.sqrt(6 / (fan_in + fan_out))
    return uniform_(tensor, -a, a, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal values with the standard deviation of Glorot and Bengio for the numbers of inputs and outputs."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2 / (fan_in + fan_out)), generator)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform values with the bound of He et al. for the number of inputs (mode="fan_in") or outputs."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3 / _fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal values with the standard deviation of He et al. for the number of inputs or outputs (mode)."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


def orthogonal_(tensor, gain=1, generator=None):
    """A matrix with orthonormal rows or columns, times gain. All dims but the first count as one."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows, cols = tensor.size(0), tensor.numel() // tensor.size(0)
    with torch.no_grad():
        draw = torch.empty(max(rows, cols), min(rows, cols), dtype=tensor.dtype, device=tensor.device)
        q, r = torch.linalg.qr(draw.normal_(0, 1, generator=generator))
        q = q * torch.sign(torch.diagonal(r))
        return tensor.copy_((q.t() if rows < cols else q).reshape(tuple(tensor.shape)) * gain)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal values, with the share `sparsity` of each column set to 0."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with torch.no_grad():
        tensor.normal_(0, std, generator=generator)
        place = torch.rand(rows, cols, generator=generator, device=tensor.device).argsort(0).argsort(0)
        return tensor.copy_(torch.where(place < zeros, 0.0, tensor))


def _older(function):
    """The function under its name without the underscore. It gives PyTorch's warning."""
    name = function.__name__[:-1]

    def older(*args, **kwargs):
        warnings.warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    older.__name__ = older.__qualname__ = name
    older.__wrapped__ = function
    older.__doc__ = f"{name}_ by an older name."
    return older


constant, dirac, eye, normal, orthogonal, sparse, uniform = map(
    _older, (constant_, dirac_, eye_, normal_, orthogonal_, sparse_, uniform_)
)
kaiming_normal, kaiming_uniform, xavier_normal, xavier_uniform = map(
    _older, (kaiming_normal_, kaiming_uniform_, xavier_normal_, xavier_uniform_)
)

# Libraries call them by these names.
_calculate_correct_fan = _fan
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_


__dir__ = _dir_of(__name__)
