"""torch.autograd.graph: the recorded graph, and hooks on the tensors that it saves."""

import contextlib
import threading
from collections import namedtuple

from .. import _modules
from .._prim import Tensor
from .._tensor._create import zeros
from . import _saving

Node = type((zeros((), requires_grad=True) * 2).grad_fn)
GradientEdge = namedtuple("GradientEdge", "node output_nr ownership_token", defaults=(None,))


class saved_tensors_hooks:
    """with saved_tensors_hooks(pack, unpack): an operation saves pack(tensor) for its backward pass, and unpack() of
    that must return the tensor. The backward pass computes the operation again from it, for first derivatives only."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        if _saving.state.disabled is not None:
            raise RuntimeError(_saving.state.disabled)
        _saving.install()
        _saving.state.hooks = [*_saving.state.hooks, (self.pack_hook, self.unpack_hook)]

    def __exit__(self, *exception):
        _saving.state.hooks = _saving.state.hooks[:-1]


class save_on_cpu(saved_tensors_hooks):
    """with save_on_cpu(): operations save their tensors on the CPU."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda t: (t.device, t.cpu()), lambda kept: kept[1].to(kept[0]))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """with disable_saved_tensors_hooks(message): entering saved_tensors_hooks raises RuntimeError with this message."""
    before, _saving.state.disabled = _saving.state.disabled, error_message
    if _saving.state.hooks:
        _saving.state.disabled = before
        raise RuntimeError(error_message)
    try:
        yield
    finally:
        _saving.state.disabled = before


class allow_mutation_on_saved_tensors(saved_tensors_hooks):
    """with allow_mutation_on_saved_tensors(): backward passes use the values that operands had at the time of the
    operation, even if a program has written to them since. Copies keep these values."""

    def __init__(self):
        super().__init__(lambda t: t.clone(), lambda kept: kept)


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call fn when a backward pass has given gradients to tensors. mode "all": fn(gradients), with None for those
    without one. mode "any": fn(gradient) for the first. Returns a handle.

    For "all" the call comes once every tensor that requires a gradient has got one.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    lock, found = threading.Lock(), {}
    live = [i for i, t in enumerate(tensors) if t.requires_grad]

    def hook_of(i):
        def hook(grad):
            with lock:
                found[i] = grad
                first, full = len(found) == 1, len(found) == len(live)
                given = [found.get(k) for k in range(len(tensors))]
                if full:
                    found.clear()
            if mode == "any" and first:
                fn(grad)
            elif mode == "all" and full:
                fn(given)

        return hook

    handles = [tensors[i].register_hook(hook_of(i)) for i in live]
    return _Handles(handles)


class _Handles:
    """Several handles as one."""

    def __init__(self, handles):
        self._handles = handles

    def remove(self):
        """Takes the hooks away."""
        for handle in self._handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


def get_gradient_edge(tensor):
    """The GradientEdge of a tensor. Raises ValueError if it requires no gradient."""
    if not tensor.requires_grad:
        raise ValueError("It is not possible to get the gradient edge for a Tensor that does not require gradients.")
    return GradientEdge(tensor.grad_fn if tensor.grad_fn is not None else tensor, 0)


def increment_version(tensor):
    """Count the tensor, or each of several, as written to."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        t.detach().add_(0)


__getattr__, __dir__ = _modules.refusing("torch.autograd.graph")
