"""Batch norms merged into the layers before them, and modules that are created without values."""

import copy

from .... import torch
from ..parameter import Parameter


def _folded(weight, bias, mean, var, eps, scale, shift, dim):
    """The weights and bias of a layer that includes the batch norm after it. dim: the weight's dim of channels."""
    bias = torch.zeros_like(mean) if bias is None else bias
    scale = torch.ones_like(mean) if scale is None else scale
    shift = torch.zeros_like(mean) if shift is None else shift
    factor = scale * torch.rsqrt(var + eps)
    shape = [1] * weight.dim()
    shape[dim] = -1
    return (
        Parameter((weight * factor.reshape(shape)).to(weight.dtype), weight.requires_grad),
        Parameter(((bias - mean) * factor + shift).to(bias.dtype), bias.requires_grad),
    )


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """(weight, bias) of a convolution that includes the batch norm after it."""
    return _folded(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """(weight, bias) of a linear layer that includes the batch norm after it."""
    return _folded(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _fused(layer, norm, transpose):
    if layer.training or norm.training:
        raise AssertionError("Fusion only for eval!")
    if norm.running_mean is None or norm.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    made = copy.deepcopy(layer)
    made.weight, made.bias = fuse_conv_bn_weights(
        made.weight, made.bias, norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias, transpose
    )
    return made


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of a convolution that includes the batch norm after it. Raises AssertionError if one of them is in
    training mode."""
    return _fused(conv, bn, transpose)


def fuse_linear_bn_eval(linear, bn):
    """A copy of a linear layer that includes the batch norm after it. Raises AssertionError if one of them is in
    training mode."""
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    return _fused(linear, bn, False)


def _laid_out(module, memory_format, rank):
    for m in module.modules():
        weight = getattr(m, "weight", None)
        if isinstance(weight, torch.Tensor) and weight.dim() == rank:
            weight.data = weight.detach().clone().contiguous(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module, memory_format):
    """module, with its 4-d weights in that memory format."""
    return _laid_out(module, memory_format, 4)


def convert_conv3d_weight_memory_format(module, memory_format):
    """module, with its 5-d weights in that memory format."""
    return _laid_out(module, memory_format, 5)


def skip_init(module_cls, *args, **kwargs):
    """module_cls(*args, **kwargs). PyTorch leaves its values uninitialised; here they are those of a new module."""
    if not issubclass(module_cls, torch.nn.Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    return module_cls(*args, **kwargs)
