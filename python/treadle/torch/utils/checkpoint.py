"""``torch.utils.checkpoint``: computes again what a backward pass needs, instead of keeping it."""

import contextlib

from ... import _core
from .. import _autocast, _device, _modules, autograd
from .._prim import Tensor
from .._tensor import _random
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad
from ..func import _flat, _shaped

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential", "noop_context_fn"]


class CheckpointError(RuntimeError):
    """The second computation differs from the first."""


def noop_context_fn():
    """Two context managers that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def _listed(o):
    found = []
    _flat(o, found)
    return found


def _fresh(o, graph, found):
    """o, with new tensors in place of those that require gradients. Also returns all of its tensors, in order."""
    if isinstance(o, Tensor):
        own = o if not o.requires_grad else o.view_as(o) if graph else o.detach().requires_grad_()
        found.append(own)
        return own
    if isinstance(o, dict):
        return {k: _fresh(v, graph, found) for k, v in o.items()}
    return type(o)(_fresh(v, graph, found) for v in o) if type(o) in (tuple, list) else o


class _Call:
    """A call of function that can be repeated in the same autocast mode and with the same random numbers."""

    def __init__(self, function, preserve_rng_state, context_fn):
        self.function, self.mode = function, _autocast.again()
        self.first, self.second = context_fn()
        self.generator = _random.get_rng_state() if preserve_rng_state else None

    def rewind(self):
        """Make the random numbers from here on those of the first call."""
        if self.generator is not None:
            _random.set_rng_state(self.generator)

    def again(self, args, kwargs):
        """Compute the function's result for these arguments again. The generator's state is restored afterwards."""
        now = _random.get_rng_state()
        self.rewind()
        try:
            with enable_grad(), self.mode, self.second:
                return self.function(*args, **kwargs)
        finally:
            _random.set_rng_state(now)


class _Checkpointed(Function):
    """The step of the graph from (call, its (args, kwargs), its result, its tensors, the leaves that take part) to its
    result."""

    @staticmethod
    def forward(ctx, call, given, outputs, *tensors):
        ctx.call, ctx.given, ctx.count = call, given, len(outputs)
        ctx.save_for_backward(*tensors)
        return tuple(outputs)

    @staticmethod
    def backward(ctx, *grads):
        graph, found = _core._grad_mode(), []
        args, kwargs = _fresh(_shaped(ctx.given, iter(ctx.saved_tensors)), graph, found)
        outputs = [t for t in _listed(ctx.call.again(args, kwargs)) if t.requires_grad]
        if len(outputs) != ctx.count:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {ctx.count}\nNumber of tensors saved during "
                f"recomputation: {len(outputs)}."
            )
        inputs = (*found, *ctx.saved_tensors[len(found) :])
        wanted = [t for t in inputs if t.requires_grad]
        got = iter(autograd.grad(outputs, wanted, grads, create_graph=graph, allow_unused=True))
        return (None, None, None, *(next(got) if t.requires_grad else None for t in inputs))


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=noop_context_fn,
    determinism_check="default",
    debug=False,
    preserve_rng_state=True,
    **kwargs,
):
    """function(*args, **kwargs), of which nothing is saved for the backward pass: that calls function again.

    preserve_rng_state: with the same random numbers. If function uses tensors with a history that are not among its
    arguments, it is recorded as without checkpoint. use_reentrant, determinism_check and debug are accepted; there is
    only one way. Raises CheckpointError if the second call gives another number of tensors.
    """
    if use_reentrant is None:
        _device.once(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Here is one way only."
        )
    call = _Call(function, preserve_rng_state, context_fn)
    if not _core._grad_mode():
        with call.first:
            return function(*args, **kwargs)
    since, found = _core._grad_serial(), []
    own_args, own_kwargs = _fresh((args, kwargs), False, found)
    with call.first:
        r = function(*own_args, **own_kwargs)
    live = [t for t in _listed(r) if t.requires_grad]
    leaves = _core._grad_reach(tuple(live), since)
    if leaves is None:
        call.rewind()
        return function(*args, **kwargs)
    own = {id(t) for t in found}
    outputs = iter(
        _Checkpointed.apply(
            call, (args, kwargs), live, *_listed((args, kwargs)), *(t for t in leaves if id(t) not in own)
        )
    )
    return _shaped(r, (next(outputs) if t.requires_grad else t for t in _listed(r)))


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """input, passed through all functions (a Sequential or a list) in segments. Each segment but the last is a
    checkpoint."""
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(functions) // segments
    if size == 0:
        raise ValueError(f"checkpoint_sequential: {segments} segments of {len(functions)} functions")

    def run(start, end):
        def part(x):
            for f in functions[start:end]:
                x = f(x)
            return x

        return part

    for start in range(0, size * (segments - 1), size):
        input = checkpoint(run(start, start + size), input, use_reentrant=use_reentrant, **kwargs)
    return run(size * (segments - 1), len(functions))(input)


__getattr__, __dir__ = _modules.refusing("torch.utils.checkpoint")
