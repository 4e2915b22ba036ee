"""Handles of hooks, and hooks on the gradients of a module."""

import itertools
import weakref

from .... import torch

_numbers = itertools.count()


# What PyTorch keeps beside a table of hooks: which of them take keyword arguments, and which are always called.
FLAGS = {
    "_forward_pre_hooks": ["_forward_pre_hooks_with_kwargs"],
    "_forward_hooks": ["_forward_hooks_with_kwargs", "_forward_hooks_always_called"],
}


class _WrappedHook:
    """A hook that takes its module first. PyTorch's files of whole modules have this class and these attributes."""

    def __init__(self, hook, module=None):
        self.hook, self.module, self.with_module = hook, module, module is not None

    def __call__(self, *args, **kwargs):
        return self.hook(self.module, *args, **kwargs) if self.with_module else self.hook(*args, **kwargs)


class Handle:
    """The object that registering a hook returns. ``remove()`` removes the hook, and so does leaving a with statement.
    """

    def __init__(self, hooks, hook, prepend=False):
        self.id = next(_numbers)
        self._hooks = weakref.ref(hooks)
        hooks[self.id] = hook
        if prepend:
            hooks.move_to_end(self.id, last=False)

    def remove(self):
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


class _Watch(torch.autograd.Function):
    """The identity. In the backward pass ``see`` gets the gradients and may change them."""

    @staticmethod
    def forward(ctx, see, *tensors):
        ctx.see = see
        return tuple(t.view_as(t) for t in tensors)

    @staticmethod
    def backward(ctx, *grads):
        return (None, *ctx.see(grads))


def _watched(see, values):
    """values, which is a tensor or a tuple with tensors. ``see`` gets the gradients of its tensors."""
    alone = isinstance(values, torch.Tensor)
    values = (values,) if alone else tuple(values)
    places = [i for i, v in enumerate(values) if isinstance(v, torch.Tensor)]
    if not torch.is_grad_enabled() or not any(values[i].requires_grad for i in places):
        return values[0] if alone else values, False
    new = list(values)
    for i, t in zip(places, _Watch.apply(see, *(values[i] for i in places))):
        new[i] = t
    return new[0] if alone else tuple(new), True


def grad_hooked(module, forward, args, kwargs):
    """forward(*args, **kwargs), with the module's hooks on the gradients of its outputs and inputs."""
    if not (module._backward_hooks or module._backward_pre_hooks):
        return forward(*args, **kwargs)
    outputs = []

    def run(grads, call):
        for hook in list((module._backward_hooks if call else module._backward_pre_hooks).values()):
            got = hook(module, grads, tuple(outputs)) if call else hook(module, grads)
            if got is not None:
                grads = got if isinstance(got, tuple) else (got,)
        return grads

    def see_outputs(grads):
        outputs[:] = run(grads, False)
        if not watched:  # no hook waits for the gradients of the inputs
            run((None,) * len(args), True)
        return tuple(outputs)

    args, watched = _watched(lambda grads: run(grads, True), args)
    result = forward(*args, **kwargs)
    if isinstance(result, (torch.Tensor, tuple)):
        result, _ = _watched(see_outputs, result)
    return result
