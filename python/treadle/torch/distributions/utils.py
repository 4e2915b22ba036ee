"""torch.distributions.utils: broadcast parameters, probabilities and logits, triangular matrices."""

import math
from functools import update_wrapper

from ... import torch
from .. import _modules
from ._base import broadcast

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip


def broadcast_all(*values):
    """Tensors and numbers broadcast to tensors of one shape. Raises ValueError for anything else."""
    for v in values:
        if not isinstance(v, (torch.Tensor, int, float)):
            raise ValueError(f"broadcast_all: values are numbers and tensors; {type(v).__name__} is neither")
    return tuple(broadcast(*values))


def logits_to_probs(logits, is_binary=False):
    """Probabilities from log odds (is_binary), or from logarithms up to a constant along the last dim."""
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, -1)


def clamp_probs(probs):
    """Probabilities, kept away from 0 and 1 by the dtype's eps."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    """Log odds (is_binary) or logarithms of probabilities."""
    held = clamp_probs(probs)
    return held.log() - (-held).log1p() if is_binary else held.log()


class lazy_property:
    """A property that is computed at the first access and kept as an attribute."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        update_wrapper(self, wrapped)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def tril_matrix_to_vec(mat, diag=0):
    """The elements of (..., n, n) on and below a diagonal, row by row. Raises ValueError if there is no such diagonal.
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = torch.tril_indices(n, n, diag, device=mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec, diag=0):
    """A matrix with vec's elements on and below a diagonal, row by row. Raises ValueError if no matrix has that many.
    """
    k = vec.shape[-1]
    n = (-(1 + 2 * diag) + math.sqrt((1 + 2 * diag) ** 2 + 8 * k + 4 * abs(diag) * (diag + 1))) / 2
    if abs(n - round(n)) > torch.finfo(vec.dtype).eps:
        raise ValueError(f"vec_to_tril_matrix: {k} elements are no lower part of a square matrix up to diagonal {diag}")
    n = round(n)
    rows, columns = torch.tril_indices(n, n, diag, device=vec.device)
    flat = vec.new_zeros((*vec.shape[:-1], n * n))
    index = (rows * n + columns).expand(vec.shape)
    return flat.scatter(-1, index, vec).reshape(*vec.shape[:-1], n, n)


__getattr__, __dir__ = _modules.refusing("torch.distributions.utils")
