"""``torch.utils``: data sets and loaders, checkpoints, timing, trees of values, event files for TensorBoard."""

from .. import _modules
from . import checkpoint, data

__all__ = ["checkpoint", "data", "set_module", "swap_tensors"]


def swap_tensors(t1, t2):
    """Exchange t1 and t2: each name gets the other's value, gradient and attributes."""
    one, other = t1.data, t2.data
    grads, needs = (t1.grad, t2.grad), (t1.requires_grad, t2.requires_grad)
    t1.grad = t2.grad = None
    t1.requires_grad_(False), t2.requires_grad_(False)
    t1.data, t2.data = other, one
    t1.requires_grad_(needs[1]), t2.requires_grad_(needs[0])
    t1.grad, t2.grad = grads[1], grads[0]
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__


def set_module(obj, mod):
    """Set obj.__module__ to the text mod."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


__getattr__, __dir__ = _modules.refusing("torch.utils")
