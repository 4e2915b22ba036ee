"""``torch.nn.utils``: clipping of gradients, parameters as one vector, sequences of different lengths."""

import math

from .... import torch
from ... import _modules
from . import rnn

_MODULES = set("parametrize parametrizations prune stateless".split())
_NORMS = set("weight_norm remove_weight_norm spectral_norm remove_spectral_norm".split())


_FUSIONS = set(
    "convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format fuse_conv_bn_eval fuse_conv_bn_weights "
    "fuse_linear_bn_eval fuse_linear_bn_weights skip_init".split()
)
_absent, __dir__ = _modules.refusing("torch.nn.utils")


def __getattr__(name):  # names made of modules, which import this package
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _NORMS:
        return getattr(import_module(f"{__name__}._weights"), name)
    if name in _FUSIONS:
        return getattr(import_module(f"{__name__}._fusion"), name)
    return _absent(name)


def _listed(parameters):
    return [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all elements of several tensors."""
    tensors = _listed(tensors)
    if not tensors:
        return torch.tensor(0.0)
    p = float(norm_type)
    with torch.no_grad():
        first = tensors[0].device
        if p == math.inf:
            parts = [t.abs().amax().to(first) for t in tensors]
            total = torch.stack(parts).amax()
        else:
            parts = [((t * t).sum() if p == 2 else (t.abs() ** p).sum()).to(first) for t in tensors]
            total = torch.stack(parts).sum() ** (1 / p)
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise RuntimeError(
                f"The total norm of order {p} for gradients from `parameters` is non-finite, so it cannot be "
                "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
                "`error_if_nonfinite=False`"
            )
        return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Multiply all gradients by max_norm / total_norm if that is less than 1."""
    with torch.no_grad():
        factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
        for p in _listed(parameters):
            if p.grad is not None:
                p.grad.mul_(factor.to(p.grad.device))


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scale all gradients in place so that their common norm is at most max_norm. Returns the norm before."""
    parameters = _listed(parameters)
    total = get_total_norm([p.grad for p in parameters if p.grad is not None], norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The older name of clip_grad_norm_."""
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Hold every element of the gradients between -clip_value and clip_value, in place."""
    with torch.no_grad():
        for p in _listed(parameters):
            if p.grad is not None:
                p.grad.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters):
    """All parameters as one vector."""
    return torch.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Write the pieces of a vector into the parameters."""
    at = 0
    with torch.no_grad():
        for p in parameters:
            p.data = vec[at : at + p.numel()].reshape(tuple(p.shape)).clone()
            at += p.numel()
