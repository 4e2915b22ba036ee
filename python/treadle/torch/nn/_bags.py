"""Embeddings, which look up rows of a table, and embedding bags, which reduce such rows."""

import math

from ... import _core, torch
from ._losses import anywhere


class _Spread(torch.autograd.Function):
    """rows themselves. Their gradients are divided by how often each row was named."""

    @staticmethod
    def forward(ctx, rows, times):
        ctx.save_for_backward(times)
        return rows.view_as(rows)

    @staticmethod
    def backward(ctx, g):
        (times,) = ctx.saved_tensors
        return g / times.to(g.dtype), None


def _renormed(input, weight, max_norm, norm_type):
    """Scale the rows that input names and whose norm exceeds max_norm, in place."""
    with torch.no_grad():
        norm = weight.norm(norm_type, 1, keepdim=True)
        used = torch.zeros(weight.size(0), dtype=torch.bool, device=weight.device)
        used[input.reshape(-1)] = True
        weight.copy_(torch.where(used.unsqueeze(1) & (norm > max_norm), weight * (max_norm / (norm + 1e-7)), weight))


def _rows(input, weight, max_norm, norm_type, scale_grad_by_freq):
    if weight.dim() != 2:
        raise RuntimeError(f"'weight' must be 2-D, not {weight.dim()}-D")
    if input.dtype not in (torch.int64, torch.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{input.dtype._word}Tensor instead (while checking arguments for embedding)"
        )
    if max_norm is not None:
        _renormed(input, weight, max_norm, norm_type)
    if input.device.type == "cpu" and not _core._capturing():
        if anywhere((input < 0) | (input >= weight.size(0))):
            raise IndexError("index out of range in self")
    rows = weight[input]
    if scale_grad_by_freq and rows.requires_grad:
        times = torch.bincount(input.reshape(-1), minlength=weight.size(0))[input]
        rows = _Spread.apply(rows, times.unsqueeze(-1))
    return rows


def _own(input, weight, padding_idx):
    """Where input names the padding row."""
    return input == (padding_idx if padding_idx >= 0 else weight.size(0) + padding_idx)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of weight that the integers of input name. The row padding_idx gets no gradient.

    max_norm: longer rows are scaled down, in weight itself. scale_grad_by_freq: gradients are divided by how often a
    row was named. sparse is accepted; gradients are dense.
    """
    rows = _rows(input, weight, max_norm, norm_type, scale_grad_by_freq)
    if padding_idx is None:
        return rows
    return torch.where(_own(input, weight, padding_idx).unsqueeze(-1), rows.detach(), rows)


def _check(input, offsets, mode, per_sample_weights):
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
    elif input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    elif offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub."
        )
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have "
            f"the same shape as the input ({input.shape})"
        )


def _reduced(rows, counted, bag, bags, mode):
    """Reduce rows (n, features) to their bags. Only the rows that count take part."""
    n, width = rows.shape
    if mode == "max":
        rows = torch.where(counted.unsqueeze(1), rows, -math.inf)
        none = torch.full((bags, width), -math.inf, dtype=rows.dtype, device=rows.device)
        most = none.scatter_reduce(0, bag.unsqueeze(1).expand(n, width), rows, "amax")
        return torch.where(most == -math.inf, 0.0, most)
    sums = rows.new_zeros(bags, width).index_add(0, bag, torch.where(counted.unsqueeze(1), rows, 0.0))
    if mode == "sum":
        return sums
    sizes = torch.zeros(bags, dtype=rows.dtype, device=rows.device).index_add(0, bag, counted.to(rows.dtype))
    return sums / sizes.clamp(min=1).unsqueeze(1)


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """The sum, mean or maximum of the rows of weight that each bag of integers names: (bags, features).

    input is (bags, n), or one bag after another with offsets at which bags begin. include_last_offset: the last offset
    is the end. Rows padding_idx do not count, and an empty bag gives zeros. The other parameters are those of
    embedding.
    """
    _check(input, offsets, mode, per_sample_weights)
    if input.dim() == 2:
        bags = input.size(0)
        bag = torch.arange(bags, device=input.device).repeat_interleave(input.size(1))
    else:
        bags = offsets.size(0) - include_last_offset
        if bags and offsets.device.type == "cpu" and not _core._capturing() and anywhere(offsets[:1] != 0):
            raise RuntimeError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
                f"However, got {offsets[0].item()}"
            )
        places = torch.arange(input.size(0), device=input.device)
        bag = torch.searchsorted(offsets[:bags].to(torch.int64), places, right=True) - 1
    input = input.reshape(-1)
    rows = _rows(input, weight, max_norm, norm_type, scale_grad_by_freq)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    if padding_idx is None:
        counted = torch.ones(input.shape, dtype=torch.bool, device=input.device)
    else:
        counted = ~_own(input, weight, padding_idx)
    return _reduced(rows, counted, bag, bags, mode)
