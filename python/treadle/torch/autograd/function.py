"""torch.autograd.Function: a function of tensors with a backward formula that the program gives."""

import functools

from ... import _core
from .. import _modules
from .._prim import SPENT as _SPENT
from .._prim import Tensor, _Node
from .._prim import check_version as _check_version
from .._prim import recording as _recording
from .._tensor._create import zeros
from .grad_mode import no_grad


class FunctionCtx(_Node):
    """The object that passes data from forward to backward: ctx.save_for_backward(tensors), and any attributes."""

    _saved = ()
    _plain = ()
    _zeros = True
    _dirty = ()

    def save_for_backward(self, *tensors):
        """Keeps tensors (or None) for backward, which finds them in saved_tensors."""
        self._saved = tuple((t, None if t is None else t._version) for t in tensors)

    @property
    def saved_tensors(self):
        """What save_for_backward was given. RuntimeError: one was written to since, or a pass has freed them."""
        if self._saved is None:
            raise RuntimeError(_SPENT)
        for t, version in self._saved:
            if t is not None and t._version != version:
                _check_version(t, version)
        return tuple(t for t, _ in self._saved)

    saved_variables = saved_tensors

    def _let_go(self):
        self._saved = None

    def save_for_forward(self, *tensors):
        """Save tensors for jvp. Nothing calls jvp here."""

    def mark_non_differentiable(self, *tensors):
        """Mark results that require no gradient."""
        self._plain = tuple(id(t) for t in tensors)

    def mark_dirty(self, *tensors):
        """Tell that forward wrote to these operands. They count as results, and the function becomes part of their
        history."""
        self._dirty = tensors

    def set_materialize_grads(self, value):
        """Set what backward gets for a result without a gradient: zeros (True) or None (False)."""
        self._zeros = value


class Function:
    """A function with its own derivative. Subclasses define static methods forward(ctx, *args) and backward(ctx,
    *gradients), which returns a gradient or None for each argument of forward. Call it as apply(*args).

    If the subclass defines setup_context(ctx, inputs, output), forward gets no ctx.
    """

    @staticmethod
    def forward(*args, **kwargs):
        """Computes the results: a tensor or several."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keeps what backward needs."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """The gradients of the arguments, given those of the results."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it "
            "with backward mode AD."
        )

    def __new__(cls, *args, **kwargs):
        raise RuntimeError(
            f"{cls} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch."
        )

    @classmethod
    def apply(cls, *args, **kwargs):
        """Call forward. The results have a history if an argument requires a gradient."""
        ctx = _contexts(cls)()
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        with no_grad():
            if cls.setup_context is not Function.setup_context:
                r = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, r)
            else:
                r = cls.forward(ctx, *args, **kwargs)
        if not _recording() or not any(ctx.needs_input_grad):
            return r
        return _recorded(cls, ctx, args, r)

    vjp = backward


def _recorded(cls, ctx, args, r):
    """forward's results, with cls.backward as their history."""
    many = isinstance(r, (tuple, list))
    all_of = tuple(r) if many else (r,)
    for t, _ in ctx._saved:
        _core._grad_savable(t)
    _check_dirty(ctx, all_of)
    places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
    live = [
        k for k, t in enumerate(all_of) if isinstance(t, Tensor) and t.dtype._kind in "fc" and id(t) not in ctx._plain
    ]
    ctx._call = (
        cls,
        len(args),
        places,
        [(all_of[k].shape, all_of[k].dtype, all_of[k].device) for k in live],
        live,
        len(all_of),
    )
    outputs = _core._grad_custom(
        ctx,
        _backward,
        tuple(args[i] for i in places),
        tuple(all_of[k].detach() for k in live),
        type(ctx).__name__.removesuffix("Backward"),
    )
    out = list(all_of)
    for k, t in zip(live, outputs, strict=True):
        # An operand that forward wrote to is a result itself. It and the views of its memory take over the history.
        out[k] = out[k].copy_(t) if any(out[k] is d for d in ctx._dirty) else t
    ctx._saved = tuple((t, None if t is None else t._version) for t, _ in ctx._saved)
    return (tuple(out) if isinstance(r, tuple) else out) if many else out[0]


def _check_dirty(ctx, results):
    for t in ctx._dirty:
        if t.requires_grad and t.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        if not any(t is r for r in results):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                "are modified inplace must all be outputs of the Function."
            )


def _backward(ctx, *grads):
    cls, count, places, facts, live, total = ctx._call
    given = [None] * total
    for k, g, (shape, dtype, device) in zip(live, grads, facts, strict=True):
        given[k] = zeros(tuple(shape), dtype=dtype, device=device) if g is None and ctx._zeros else g
    back = cls.backward(ctx, *given)
    back = back if isinstance(back, tuple) else (back,)
    if len(back) > count and any(g is not None for g in back[count:]) or len(back) < count:
        raise RuntimeError(
            f"function {type(ctx).__name__} returned an incorrect number of gradients (expected {count}, got "
            f"{len(back)})"
        )
    return tuple(back[i] for i in places)


@functools.cache
def _contexts(cls):
    return type(cls.__name__ + "Backward", (FunctionCtx,), {"name": lambda self: type(self).__name__})


def once_differentiable(f):
    """A decorator for backward formulas that cannot be differentiated again: nothing in them is recorded."""

    @functools.wraps(f)
    def once(ctx, *args):
        with no_grad():
            return f(ctx, *args)

    return once


__getattr__, __dir__ = _modules.refusing("torch.autograd.function")
