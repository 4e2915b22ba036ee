"""Private functions of PyTorch's torch.nn.functional, which copies of its attention and norms call."""

import math
import warnings

from ... import torch
from ..nn import functional as F

NAMES = (
    "_canonical_mask _get_softmax_dim _in_projection _in_projection_packed _mha_shape_check _none_or_dtype "
    "_verify_batch_size"
)


def _none_or_dtype(input):
    """The dtype of a tensor, None of None. Raises RuntimeError for anything else."""
    if input is not None and not isinstance(input, torch.Tensor):
        raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
    return None if input is None else input.dtype


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """A mask of bools as floats of target_type: -inf where it is True. A mask of floats stays."""
    if mask is None or mask.is_floating_point():
        if mask is not None and check_other and other_type not in (None, mask.dtype):
            warnings.warn(
                f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
                stacklevel=2,
            )
        return mask
    if mask.dtype is not torch.bool:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    return torch.zeros_like(mask, dtype=target_type).masked_fill(mask, -math.inf)


def _in_projection_packed(q, k, v, w, b=None):
    """[queries, keys, values] of weights that lie one after another in w, and biases in b."""
    if q is k and k is v:
        return list(F.linear(q, w, b).chunk(3, -1))
    biases = (None,) * 3 if b is None else b.chunk(3)
    return [F.linear(x, *parts) for x, *parts in zip((q, k, v), w.chunk(3), biases, strict=True)]


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    """(queries, keys, values) of weights and biases of their own."""
    width = q.size(-1)
    for name, w, x in (("query", w_q, q), ("key", w_k, k), ("value", w_v, v)):
        if tuple(w.shape) != (width, x.size(-1)):
            raise AssertionError(f"expecting {name} weights shape of {(width, x.size(-1))}, but got {w.shape}")
    return F.linear(q, w_q, b_q), F.linear(k, w_k, b_k), F.linear(v, w_v, b_v)


def _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Do attention's operands have a batch dim? Raises AssertionError if their dims do not fit each other."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
    kind = "batched (3-D)" if dims == 3 else "unbatched (2-D)"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {dims}-D but found {key.dim()}-D and "
            f"{value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {dims - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor "
            "instead"
        )
    if dims == 2 and attn_mask is not None and attn_mask.dim() == 3:
        wanted = (num_heads, query.shape[0], key.shape[0])
        if tuple(attn_mask.shape) != wanted:
            raise AssertionError(f"Expected `attn_mask` shape to be {wanted} but got {attn_mask.shape}")
    return dims == 3


def _verify_batch_size(size):
    """Raise ValueError if a norm would have one value per channel."""
    if math.prod(size) == size[1]:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def _get_softmax_dim(name, ndim, stacklevel):
    """The dim that softmax takes when a program gives none, with PyTorch's warning."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1
