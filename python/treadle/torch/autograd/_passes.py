"""Backward passes, which add gradients to the leaves or return them."""

import warnings

from ... import _core
from .._prim import Tensor
from .._tensor._parts import stack


def _tuple(o):
    return (o,) if isinstance(o, Tensor) else tuple(o)


def _gradients(tensors, given):
    """A gradient for each tensor. It is 1 for a tensor of one element. Raises RuntimeError if the caller gave none for
    a larger tensor."""
    given = (None,) * len(tensors) if given is None else _tuple(given)
    for t, g in zip(tensors, given, strict=True):
        if g is None and t.requires_grad and t.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if g is not None and g.shape != t.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[0] has a shape of {g.shape} and output[0] has a shape of {t.shape}."
            )
    return given


def backward(
    tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None
):  # fmt: skip
    """Add the gradients of the leaves, or of inputs, to their grad."""
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to backward(). Please only use "
                "`grad_tensors`."
            )
        grad_tensors = grad_variables
    tensors = _tuple(tensors)
    keep = create_graph if retain_graph is None else retain_graph
    inputs = None if inputs is None else _tuple(inputs)
    _core._grad_run(tensors, _gradients(tensors, grad_tensors), inputs, keep, create_graph, False)


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
    is_grads_batched=False, materialize_grads=False,
):  # fmt: skip
    """The gradients of outputs with respect to inputs, as a tuple. No tensor's grad changes.

    Raises RuntimeError if the outputs do not depend on an input. allow_unused gives None for such an input,
    materialize_grads zeros.
    """
    outputs, inputs = _tuple(outputs), _tuple(inputs)
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        return _batched(outputs, inputs, _tuple(grad_outputs), keep, create_graph, allow_unused)
    for t in inputs:
        if not t.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    found = _core._grad_run(outputs, _gradients(outputs, grad_outputs), inputs, keep, create_graph, True)
    if materialize_grads:
        return tuple(t.new_zeros(t.shape) if g is None else g for t, g in zip(inputs, found, strict=True))
    if not allow_unused and any(g is None for g in found):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if "
            "this is the desired behavior."
        )
    return found


def _batched(outputs, inputs, given, keep, graph, unused):
    """grad for each row of the given gradients, stacked."""
    count = len(given[0])
    rows = [
        grad(outputs, inputs, tuple(g[i] for g in given), True if i + 1 < count else keep, graph, allow_unused=unused)
        for i in range(count)
    ]
    return tuple(None if parts[0] is None else stack(parts) for parts in zip(*rows, strict=True))
