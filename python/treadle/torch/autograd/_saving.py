"""Hooks on the tensors that operations save for their backward passes.

Until a program first enters such hooks, operations cost nothing more. Then the operations that save operands are
replaced, in Tensor and wherever modules hold them, by wrappers that look at their thread's hooks. With hooks an
operation packs its operands. Its backward pass unpacks them and computes the operation again.
"""

import functools
import threading
from importlib import import_module

from .. import _autocast
from .._override import shown_as
from .._prim import Tensor, recording
from .function import Function
from .grad_mode import enable_grad, is_grad_enabled


class _State(threading.local):
    """A thread's hooks: pairs (pack, unpack), the innermost last. disabled: the message of the error that entering
    hooks raises."""

    disabled = None

    def __init__(self):
        self.hooks = []


state = _State()
_lock = threading.Lock()
_installed = False


class _Packed(Function):
    """An operation with packed operands. calls: how to call it with a list of tensors."""

    @staticmethod
    def forward(ctx, call, hooks, *tensors):
        ctx.call, (pack, ctx.unpack) = call, hooks
        ctx.flags = [t.requires_grad for t in tensors]
        ctx.packed = [pack(t.detach()) for t in tensors]
        return call(tensors)

    @staticmethod
    def backward(ctx, *grads):
        from ._passes import grad

        tensors = [ctx.unpack(p).detach().requires_grad_(flag) for p, flag in zip(ctx.packed, ctx.flags, strict=True)]
        with enable_grad():
            out = ctx.call(tensors)
        outs = out if isinstance(out, tuple) else (out,)
        pairs = [(o, g) for o, g in zip(outs, grads, strict=True) if isinstance(o, Tensor) and o.requires_grad]
        wanted = [t for t in tensors if t.requires_grad]
        found = iter(grad([o for o, _ in pairs], wanted, [g for _, g in pairs], create_graph=is_grad_enabled(),
                          allow_unused=True))  # fmt: skip
        return (None, None, *(next(found) if t.requires_grad else None for t in tensors))


def _run(f, args, kwargs):
    flat, places = [*args, *kwargs.values()], []
    for i, a in enumerate(flat):
        if isinstance(a, Tensor):
            places.append(i)
    hooks, state.hooks = state.hooks, []

    def call(tensors):
        given = list(flat)
        for i, t in zip(places, tensors, strict=True):
            given[i] = t
        return f(*given[: len(args)], **dict(zip(kwargs, given[len(args) :], strict=True)))

    try:
        return _Packed.apply(call, hooks[-1], *(flat[i] for i in places))
    finally:
        state.hooks = hooks


def _asking(f):
    @functools.wraps(f)
    def op(*args, **kwargs):
        if state.hooks and recording() and kwargs.get("out") is None:
            if any(isinstance(a, Tensor) and a.requires_grad for a in (*args, *kwargs.values())):
                return _run(f, args, kwargs)
        return f(*args, **kwargs)

    op._plain = getattr(f, "_plain", f)
    shown_as(f, op)
    return op


def _names():
    """The operations that save operands: the rows of the core's tables, and the operations that autocast lists."""
    from .._tensor import _elementwise

    signs = "__mul__ __rmul__ __truediv__ __rtruediv__ __pow__ __rpow__ __matmul__ __rmatmul__".split()
    found = {*_elementwise.ROWS, *_elementwise.ROWS_OF_TWO, *signs, *_autocast._kinds()}
    return {n for n in found if not n.endswith("_") or n.startswith("__")}


def install():
    """Replace the operations. Only the first call does anything."""
    global _installed
    with _lock:
        if _installed:
            return
        torch, functional = (import_module(n) for n in ("treadle.torch", "treadle.torch.nn.functional"))
        new = {}
        for name in sorted(_names()):
            part, _, own = name.rpartition(".")
            for space in (import_module(f"treadle.torch.{part}"),) if part else (torch, functional, Tensor):
                old = getattr(space, own, None)
                if callable(old) and not isinstance(old, type):
                    _autocast.put_wrapped(space, own, _asking, new)
        _autocast.replace_held(new, globals())
        _installed = True
