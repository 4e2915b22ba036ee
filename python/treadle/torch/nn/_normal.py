"""Normalisations, which subtract the mean and divide by the deviation over some dims."""

import functools
import math

from ... import torch
from ._windows import plain

_HALVES = (torch.float16, torch.bfloat16)


def _in_float32(f, mixed=False):
    """Let f compute in float32 for tensors of half types, as PyTorch does, and return its result in the half type. Its
    other tensors have to be of the first one's dtype, or all of float32 beside a half type; mixed=True: of any."""

    @functools.wraps(f)
    def call(input, *args, **kwargs):
        dtype = input.dtype
        own = {a.dtype for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)}
        half = dtype in _HALVES
        if own - {dtype} and not (half and own == {torch.float32}) and not mixed:
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        return f(input.float(), *args, **kwargs).to(dtype) if half else f(input, *args, **kwargs)

    return call


def _like_shape(shape, weight, bias=None):
    """Raise RuntimeError if the factors have not the normalised shape."""
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and tuple(t.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(t.shape)} and "
                f"normalized_shape = {list(shape)}"
            )


def _one_for_each(count, **given):
    """Raise RuntimeError if a tensor does not hold one element for each channel, in one dimension."""
    for name, t in given.items():
        if t is not None and tuple(t.shape) != (count,):
            raise RuntimeError(f"{name} should contain {count} elements not {t.numel()}")


def _affine(x, weight, bias, shape):
    """x * weight + bias, in x's dtype."""
    dtype = x.dtype
    if weight is not None:
        x = x * weight.reshape(shape)
    x = x if bias is None else x + bias.reshape(shape)
    return x if x.dtype is dtype else x.to(dtype)


def _scaled(x, dims, eps):
    """x minus its mean over dims, divided by its standard deviation."""
    mean = x.mean(dims, keepdim=True)
    d = x - mean
    var = (d * d).mean(dims, keepdim=True)
    return d * torch.rsqrt(var + eps)


@_in_float32
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Give the last dims mean 0 and variance 1, then multiply by weight and add bias, which have their shape."""
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    _like_shape(shape, weight, bias)
    if tuple(input.shape[max(0, input.dim() - len(shape)) :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape "
            f"[*{''.join(f', {n}' for n in shape)}], but got input of size{list(input.shape)}"
        )
    return _affine(_scaled(input.contiguous(), tuple(range(-len(shape), 0)), eps), weight, bias, shape)


@functools.partial(_in_float32, mixed=True)
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divide by the root mean square over the last dims, then multiply by weight."""
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, but got normalized_shape = []")
    _like_shape(shape, weight)
    if tuple(input.shape[max(0, input.dim() - len(shape)) :]) != shape:
        raise RuntimeError(f"Given normalized_shape={list(shape)}, got input of size{list(input.shape)}")
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    input = input.contiguous()
    scaled = input * torch.rsqrt((input * input).mean(tuple(range(-len(shape), 0)), keepdim=True) + eps)
    return _affine(scaled, weight, None, shape)


@_in_float32
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Give each sample's groups of channels mean 0 and variance 1, then apply each channel's weight and bias."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    n, c = input.shape[:2]
    if not c or not math.prod(input.shape[2:]):
        raise RuntimeError(f"Expected channels and what is in them to be more than 0, got {list(input.shape)}")
    if c % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and tuple(t.shape) != (c,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(t.shape)} and input of shape {list(input.shape)}"
            )
    each = c // num_groups * math.prod(input.shape[2:])
    x = _scaled(input.reshape(n, num_groups, each), (2,), eps).reshape(tuple(input.shape))
    return _affine(x, weight, bias, (1, c, *[1] * (input.dim() - 2)))


def _update(running, value, momentum):
    if running is not None:
        running.mul_(1 - momentum).add_(value.detach().to(running.dtype), alpha=momentum)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Give each channel (dim 1) mean 0 and variance 1, then apply its weight and bias.

    In training the statistics are those of the batch, and they update the running ones in place. Otherwise the running
    statistics are used.
    """
    if training and eps <= 0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if input.dim() > 1 and input.numel():
        given = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
        _one_for_each(input.size(1), **given)
    return _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@_in_float32
def _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps):
    input, shape = plain(input), (1, -1, *[1] * (input.dim() - 2))
    dims = (0, *range(2, input.dim()))
    count = input.numel() // max(input.size(1), 1)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
        scale = torch.rsqrt(running_var + eps)
        x = (input - running_mean.reshape(shape)) * scale.reshape(shape)
        return _affine(x if x.dtype is input.dtype else x.to(input.dtype), weight, bias, shape)
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    mean = input.mean(dims, keepdim=True)
    d = input - mean
    var = (d * d).mean(dims, keepdim=True)
    if count and (running_mean is not None or running_var is not None):
        with torch.no_grad():
            _update(running_mean, mean.reshape(-1), momentum)
            _update(running_var, var.reshape(-1) * (count / (count - 1)), momentum)
    return _affine(d * torch.rsqrt(var + eps), weight, bias, shape)


@_in_float32
def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5
):
    """Give each channel of each sample mean 0 and variance 1."""
    shape = (1, -1, *[1] * (input.dim() - 2))
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    _one_for_each(input.size(1), running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    dims = tuple(range(2, input.dim()))
    if running_mean is not None or running_var is not None:
        with torch.no_grad():
            _update(running_mean, input.mean(dims).mean(0), momentum)
            _update(running_var, input.var(dims).mean(0), momentum)
    return _affine(_scaled(plain(input), dims, eps), weight, bias, shape)


@_in_float32
def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divide by (k + alpha * mean square of `size` neighbouring channels) ** beta."""
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)"
        )
    squares = input * input
    n = input.size(1)
    low, high = size // 2, (size - 1) // 2
    total = squares
    for shift in [s for s in range(-low, high + 1) if s]:
        zeros = torch.zeros_like(squares.narrow(1, 0, min(abs(shift), n)))
        kept = squares.narrow(1, max(shift, 0), max(n - abs(shift), 0))
        total = total + torch.cat([kept, zeros] if shift > 0 else [zeros, kept], 1)
    return input / (total / size * alpha + k) ** beta


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divide by the p-norm along dim, which is held above eps."""
    return torch.div(input, torch.norm(input, p, dim, True).clamp(min=eps), out=out)
