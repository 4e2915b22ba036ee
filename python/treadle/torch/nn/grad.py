"""Gradients of convolutions by themselves: of the input, and of the weights."""

from ... import torch
from ..._public import dir_of as _dir_of

__all__ = [f"conv{dims}d_{part}" for dims in (1, 2, 3) for part in ("input", "weight")]


def _gradient(conv, input, weight, wanted, grad_output, stride, padding, dilation, groups):
    with torch.enable_grad():
        wanted.requires_grad_()
        out = conv(input, weight, None, stride, padding, dilation, groups)
        return torch.autograd.grad(out, wanted, grad_output)[0]


def _of_dims(dims):
    def of_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        conv = getattr(torch.nn.functional, f"conv{dims}d")
        x = grad_output.new_empty(1).expand(tuple(input_size)).detach()
        return _gradient(conv, x, weight, x, grad_output, stride, padding, dilation, groups)

    def of_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        conv = getattr(torch.nn.functional, f"conv{dims}d")
        w = grad_output.new_empty(1).expand(tuple(weight_size)).detach()
        return _gradient(conv, input, w, w, grad_output, stride, padding, dilation, groups)

    for f, part in ((of_input, "input"), (of_weight, "weight")):
        f.__name__ = f.__qualname__ = f"conv{dims}d_{part}"
        f.__doc__ = f"The gradient of conv{dims}d's {part}, of shape {part}_size, given that of its result."
        globals()[f.__name__] = f


for _dims in (1, 2, 3):
    _of_dims(_dims)

__dir__ = _dir_of(__name__)
