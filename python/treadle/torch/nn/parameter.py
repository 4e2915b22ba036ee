"""``Parameter`` and ``Buffer``: tensors that a module takes note of when they become its attributes."""

from ... import torch
from .. import _override


class Parameter(torch.Tensor):
    """A tensor that is a module's parameter: it shares data's memory, requires gradients, and an assignment
    ``module.name = parameter`` registers it. What operations make of it are plain tensors."""

    __torch_function__ = classmethod(_override.disabled)

    def __new__(cls, data=None, requires_grad=True):
        data = torch.empty(0) if data is None else data.detach()
        return torch.Tensor._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol):
        return _rebuild, (type(self), self.detach(), self.requires_grad)


def _rebuild(cls, data, requires_grad):
    return cls(data, requires_grad)


class _BufferMeta(type):
    """isinstance(t, Buffer) asks for the mark: a buffer is an ordinary tensor."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, torch.Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_BufferMeta):
    """Buffer(data, persistent=True): a tensor that an assignment to a module's attribute registers as a buffer."""

    def __new__(cls, data=None, *, persistent=True):
        data = _Buffer(torch.empty(0) if data is None else data)
        data._is_buffer, data.persistent = True, persistent
        return data


class _Buffer(torch.Tensor):
    __torch_function__ = classmethod(_override.disabled)

    def __new__(cls, data):
        return torch.Tensor._make_subclass(cls, data.detach(), data.requires_grad)
