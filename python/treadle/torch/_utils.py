"""What libraries take of torch._utils: one flat tensor for several, and back."""

from .. import torch


def _flatten_dense_tensors(tensors):
    """The elements of all tensors, one after another, as a vector."""
    return torch.cat([t.reshape(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """Parts of the vector, in the shapes of tensors."""
    parts = flat.split([t.numel() for t in tensors])
    return tuple(part.reshape(t.shape) for part, t in zip(parts, tensors, strict=True))
