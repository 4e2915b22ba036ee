"""``Parameter`` and ``Buffer``: tensors that a module registers when they become its attributes. Also those whose shape
is not known yet."""

from ... import torch
from ..._public import dir_of as _dir_of
from .. import _override


class Parameter(torch.Tensor):
    """A tensor that is a module's parameter. It shares data's memory and requires gradients. The assignment
    ``module.name = parameter`` registers it. Operations on it give plain tensors."""

    __torch_function__ = classmethod(_override.disabled)

    def __new__(cls, data=None, requires_grad=True):
        data = torch.empty(0) if data is None else data.detach()
        if data.is_meta and cls is Parameter:
            from .._meta import parameter_of

            return parameter_of(cls, data, requires_grad)
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
    """isinstance(t, Buffer) looks for a mark, because a buffer is an ordinary tensor."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, torch.Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_BufferMeta):
    """Buffer(data, persistent=True): a tensor that a module registers as a buffer when it becomes its attribute."""

    def __new__(cls, data=None, *, persistent=True):
        data = _Buffer(torch.empty(0) if data is None else data)
        data._is_buffer, data.persistent = True, persistent
        return data


class _Buffer(torch.Tensor):
    __torch_function__ = classmethod(_override.disabled)

    def __new__(cls, data):
        return torch.Tensor._make_subclass(cls, data.detach(), data.requires_grad)


class UninitializedTensorMixin:
    """The base of parameters and buffers without a shape. materialize(shape) gives them one."""

    def materialize(self, shape, device=None, dtype=None):
        """Give the tensor this shape. Its values are arbitrary."""
        self.data = torch.empty(
            tuple(shape), device=self.device if device is None else device, dtype=self.dtype if dtype is None else dtype
        )
        self.__class__ = self.cls_to_become

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def _unknown(self, *args, **kwargs):
        raise RuntimeError(
            f"{type(self).__name__} has no shape yet: run a forward pass of its module once, which gives it one"
        )

    shape = property(_unknown)
    numel = size = dim = __len__ = sum = clone = _unknown

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, self.device, self.dtype)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter without a shape. Its module's first forward pass gives it one."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        data = torch.empty(0, device=device, dtype=dtype)
        return torch.Tensor._make_subclass(cls, data, requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, _Buffer):
    """A buffer without a shape. Its module's first forward pass gives it one."""

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        data = torch.empty(0, device=device, dtype=dtype)
        made = torch.Tensor._make_subclass(cls, data, requires_grad)
        made._is_buffer, made.persistent = True, persistent
        return made


UninitializedBuffer.cls_to_become = _Buffer


def is_lazy(param):
    """Is it a parameter or buffer without a shape?"""
    return isinstance(param, UninitializedTensorMixin)


__dir__ = _dir_of(__name__)
