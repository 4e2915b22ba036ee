"""torch.autograd.forward_ad: forward-mode derivatives, called tangents.

A dual tensor is a leaf of a graph that its level keeps. The tangent of a result is computed at its first use, by two
backward passes. So every operation that has a backward pass has a forward mode, too.
"""

from collections import namedtuple

from ..._public import dir_of as _dir_of
from .._prim import Tensor
from ._passes import grad
from .grad_mode import enable_grad

UnpackedDualTensor = namedtuple("UnpackedDualTensor", "primal tangent")
_levels = []  # of each open level: [(dual, tangent)]


def enter_dual_level():
    """Open a level, and return its number. Raises RuntimeError if one is open."""
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append([])
    return len(_levels) - 1


def exit_dual_level(*, level=None):
    """Close the level: its tensors lose their tangents. Raises RuntimeError if another level is open."""
    if not _levels or (level is not None and level != len(_levels) - 1):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created.")
    _levels.pop()


class dual_level:
    """A level, as a context manager."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *exception):
        exit_dual_level()


def make_dual(tensor, tangent, *, level=None):
    """tensor with a tangent. Raises RuntimeError if no level is open, ValueError unless both are floating-point tensors
    of the same shape."""
    if not _levels:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if tensor.shape != tangent.shape:
        raise RuntimeError(f"Expected tangent of shape {tuple(tensor.shape)}, but got {tuple(tangent.shape)}")
    with enable_grad():
        dual = tensor.view_as(tensor) if tensor.requires_grad else tensor.detach().requires_grad_()
    _levels[-1].append((dual, tangent))
    return dual


def unpack_dual(tensor, *, level=None):
    """(the value of tensor, its tangent). The tangent is None if tensor does not depend on a dual tensor."""
    if not isinstance(tensor, Tensor) or not _levels or not _levels[-1] or not tensor.requires_grad:
        return UnpackedDualTensor(tensor, None)
    for dual, tangent in _levels[-1]:
        if dual is tensor:
            return UnpackedDualTensor(tensor.detach(), tangent)
    duals, tangents = zip(*_levels[-1], strict=True)
    with enable_grad():
        weight = tensor.detach().new_zeros(tensor.shape).requires_grad_()
        found = grad(tensor, duals, weight, create_graph=True, retain_graph=True, allow_unused=True)
        live = [(g, t) for g, t in zip(found, tangents, strict=True) if g is not None]
        if not live:
            return UnpackedDualTensor(tensor.detach(), None)
        live = [(g, t) for g, t in live if g.requires_grad]
        if not live:
            return UnpackedDualTensor(tensor.detach(), tensor.detach().new_zeros(tensor.shape))
        outs, given = zip(*live, strict=True)
        needs = any(t.requires_grad for t in given)
        (forward,) = grad(outs, weight, given, retain_graph=True, create_graph=needs, allow_unused=True)
    forward = tensor.detach().new_zeros(tensor.shape) if forward is None else forward
    return UnpackedDualTensor(tensor.detach(), forward)


__dir__ = _dir_of(__name__)
