"""torch.autograd.graph: the graph of what was recorded, and hooks on what it keeps."""

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
    """with saved_tensors_hooks(pack, unpack): what an operation keeps for its backward pass is pack(tensor), and
    unpack() of that gives the tensor back. The operation is computed again from it: first derivatives only."""

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
    """with save_on_cpu(): what is kept for backward passes lies on the CPU."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda t: (t.device, t.cpu()), lambda kept: kept[1].to(kept[0]))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """In the with statement saved_tensors_hooks is a RuntimeError with this message."""
    before, _saving.state.disabled = _saving.state.disabled, error_message
    if _saving.state.hooks:
        _saving.state.disabled = before
        raise RuntimeError(error_message)
    try:
        yield
    finally:
        _saving.state.disabled = before


class allow_mutation_on_saved_tensors(saved_tensors_hooks):
    """with allow_mutation_on_saved_tensors(): backward passes take the values that operands had, from copies of them,
    also where a program has written to the operands since."""

    def __init__(self):
        super().__init__(lambda t: t.clone(), lambda kept: kept)


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """fn(gradients, None for those that have none) when a backward pass has given the tensors theirs ("all"), or
    fn(gradient) for the first ("any"). Returns a handle.

    "all" calls fn when every tensor that requires a gradient has got one."""
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
    """The GradientEdge of a tensor. ValueError: it requires no gradient."""
    if not tensor.requires_grad:
        raise ValueError("It is not possible to get the gradient edge for a Tensor that does not require gradients.")
    return GradientEdge(tensor.grad_fn if tensor.grad_fn is not None else tensor, 0)


def increment_version(tensor):
    """The tensor, or each of several, counts as written to."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        t.detach().add_(0)


__getattr__, __dir__ = _modules.refusing("torch.autograd.graph")
