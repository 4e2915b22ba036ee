"""torch.autograd.functional: Jacobians, Hessians and their products with vectors, computed by backward passes."""

from ..._public import dir_of as _dir_of
from .._prim import Tensor
from .._tensor._parts import stack
from ._passes import _tuple, grad
from .grad_mode import enable_grad


def _as_given(parts, given):
    return parts[0] if isinstance(given, Tensor) else tuple(parts)


def _leaves(inputs, graph):
    """Tensors to differentiate with respect to. If a graph is wanted they are views of inputs that keep the history,
    else leaves."""
    return tuple(x.view_as(x) if graph and x.requires_grad else x.detach().requires_grad_() for x in _tuple(inputs))


def _called(func, leaves):
    with enable_grad():
        return func(*leaves)


def _wanted(graph, outputs, leaves):
    """Is a graph wanted? torch.func asks with a function of the outputs and the leaves."""
    return graph(_tuple(outputs), leaves) if callable(graph) else graph


def _without(t, graph):
    return t if graph or t is None else t.detach()


def _zero(g, like):
    return like.detach().new_zeros(like.shape) if g is None else g


@enable_grad()
def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The derivatives of func's outputs with respect to its inputs: for each pair of them a tensor of both shapes, in
    tuples as func has them."""
    leaves = _leaves(inputs, create_graph)
    outputs = _called(func, leaves)
    create_graph = _wanted(create_graph, outputs, leaves)
    rows = []
    for out in _tuple(outputs):
        parts = [[] for _ in leaves]
        flat = out.reshape(-1)
        for k in range(out.numel()):
            found = [None] * len(leaves)
            if flat.requires_grad:
                found = grad(flat[k], leaves, retain_graph=True, create_graph=create_graph, allow_unused=True)
            for rows_of, g, x in zip(parts, found, leaves, strict=True):
                if g is None and strict:
                    raise RuntimeError(
                        "Output 0 of the user-provided function is independent of input 0. This is not allowed "
                        "in strict mode."
                    )
                rows_of.append(_zero(g, x))
        rows.append(_as_given([_rows(p, out, x) for p, x in zip(parts, leaves, strict=True)], inputs))
    return _as_given(rows, outputs)


def _rows(parts, out, x):
    if not parts:
        return out.new_zeros((*out.shape, *x.shape))
    return stack(parts).reshape((*out.shape, *x.shape))


@enable_grad()
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of func, whose output is one number."""

    def slope(*given):
        out = func(*given)
        found = grad(out, given, create_graph=True, allow_unused=True)
        parts = [_zero(g, x) for g, x in zip(found, given, strict=True)]
        return parts[0] if isinstance(inputs, Tensor) else tuple(parts)

    return jacobian(slope, inputs, create_graph)


def _vector(v, outputs):
    if v is None:
        if outputs.numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a "
                "single element."
            )
        return (outputs.detach().new_ones(outputs.shape),)
    return _tuple(v)


@enable_grad()
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(outputs, v times the Jacobian)."""
    leaves = _leaves(inputs, create_graph)
    outputs = _called(func, leaves)
    found = grad(_tuple(outputs), leaves, _vector(v, outputs), create_graph=create_graph, allow_unused=True)
    back = [_without(_zero(g, x), create_graph) for g, x in zip(found, leaves, strict=True)]
    return _as_given([_without(t, create_graph) for t in _tuple(outputs)], outputs), _as_given(back, inputs)


@enable_grad()
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(outputs, the Jacobian times v). This is the derivative of vjp with respect to its vector."""
    leaves = _leaves(inputs, create_graph)
    outputs = _called(func, leaves)
    create_graph = _wanted(create_graph, outputs, leaves)
    outs = _tuple(outputs)
    dual = [t.detach().new_zeros(t.shape).requires_grad_() for t in outs]
    along = _vector(v, leaves[0])
    found = grad(outs, leaves, tuple(dual), create_graph=True, allow_unused=True)
    pairs = [(g, w) for g, w in zip(found, along, strict=True) if g is not None and g.requires_grad]
    if pairs:
        r = grad([g for g, _ in pairs], dual, [w for _, w in pairs], create_graph=create_graph, allow_unused=True)
    else:
        r = [None] * len(outs)
    parts = [_without(_zero(g, t), create_graph) for g, t in zip(r, outs, strict=True)]
    return _as_given([_without(t, create_graph) for t in outs], outputs), _as_given(parts, outputs)


def _slopes(func, inputs):
    leaves = _leaves(inputs, False)
    out = _called(func, leaves)
    found = grad(out, leaves, create_graph=True, allow_unused=True)
    return leaves, out, [_zero(g, x) for g, x in zip(found, leaves, strict=True)]


@enable_grad()
def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(output, v times the Hessian)."""
    leaves, out, slopes = _slopes(func, inputs)
    live = [(g, w) for g, w in zip(slopes, _vector(v, leaves[0]), strict=True) if g.requires_grad]
    found = [None] * len(leaves)
    if live:
        found = grad([g for g, _ in live], leaves, [w for _, w in live], create_graph=create_graph, allow_unused=True)
    return _without(out, create_graph), _as_given([_zero(g, x) for g, x in zip(found, leaves, strict=True)], inputs)


@enable_grad()
def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(output, the Hessian times v), by vhp, since the Hessian is symmetric."""
    return vhp(func, inputs, v, create_graph, strict)


__dir__ = _dir_of(__name__)
