"""Handles of hooks, and hooks on the gradients of a module."""

import itertools
import warnings
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
    """values, which is a tensor or a tuple with tensors, and whether it has a history. ``see`` gets a gradient for each
    value, None for what is no tensor."""
    alone = isinstance(values, torch.Tensor)
    values = (values,) if alone else tuple(values)
    places = [i for i, v in enumerate(values) if isinstance(v, torch.Tensor)]
    if not torch.is_grad_enabled() or not any(values[i].requires_grad for i in places):
        return values[0] if alone else values, False

    def spread(grads):
        whole = [None] * len(values)
        for i, g in zip(places, grads):
            whole[i] = g
        got = see(tuple(whole))
        return tuple(got[i] for i in places)

    new = list(values)
    for i, t in zip(places, _Watch.apply(spread, *(values[i] for i in places))):
        new[i] = t
    return new[0] if alone else tuple(new), True


def _replaced(grads, hooks, call, hook_name, what):
    """The gradients after hooks that may give others, as PyTorch takes them."""
    for hook in list(hooks.values()):
        got = call(hook, grads)
        if got is None:
            continue
        if len(got) != len(grads):
            raise RuntimeError(
                f"{hook_name} returned an invalid number of {what}, got {len(got)}, but expected {len(grads)}"
            )
        for old, new in zip(grads, got):
            if isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor) and old.shape != new.shape:
                raise RuntimeError("hook 'hook' has changed the size of value")
        grads = tuple(got)
    return grads


def grad_hooked(module, forward, args, kwargs):
    """forward(*args, **kwargs), with the module's hooks on the gradients of its outputs and inputs."""
    if not (module._backward_hooks or module._backward_pre_hooks):
        return forward(*args, **kwargs)
    outputs = []  # the gradients of the outputs, once they are known

    def see_outputs(grads):
        outputs[:] = _replaced(
            grads, module._backward_pre_hooks, lambda hook, g: hook(module, g), "Backward pre hook", "grad_output"
        )
        if not watched and module._backward_hooks:  # no hook waits for the gradients of the inputs
            _see_no_inputs(module, (None,) * len(args), tuple(outputs))
        return tuple(outputs)

    def see_inputs(grads):
        if not outputs:  # a result that is neither a tensor nor a tuple
            return grads
        given = tuple(outputs)
        outputs.clear()
        return _replaced(
            grads, module._backward_hooks, lambda hook, g: hook(module, g, given), "Backward hook", "grad_input"
        )

    args, watched = _watched(see_inputs, args)
    result = forward(*args, **kwargs)
    if isinstance(result, (torch.Tensor, tuple)):
        return _watched(see_outputs, result)[0]
    warnings.warn(
        "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
        f"{type(result)}",
        stacklevel=4,
    )
    return result


def _see_no_inputs(module, grads, outputs):
    warnings.warn(
        "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
        "require gradients.",
        stacklevel=2,
    )
    for hook in list(module._backward_hooks.values()):
        got = hook(module, grads, outputs)
        if got is not None and not (isinstance(got, tuple) and all(g is None for g in got)):
            raise RuntimeError(
                "Backward hook for Modules where no input requires gradient should always return None or None for all "
                "gradients."
            )
