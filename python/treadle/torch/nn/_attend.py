"""``multi_head_attention_forward``: the computation of MultiheadAttention, as a function of its weights."""

import math

from ... import torch


def _heads(x, num_heads):
    """Reshape (length, batch, features) to (batch, heads, length, features of a head)."""
    return x.reshape(x.size(0), x.size(1), num_heads, -1).permute(1, 2, 0, 3)


def _grown(mask, count):
    """A mask of keys, extended by `count` keys that every query sees."""
    return mask if mask is None or not count else torch.nn.functional.pad(mask, (0, count))


def masked_scores(scores, mask):
    """(scores with the mask applied, whether each row sees any key). A mask of bools is True where attention may go;
    other masks are added.

    A row that sees no key keeps its scores, so that its weights and gradients stay numbers. The caller sets its result
    to 0.
    """
    if mask.dtype == torch.bool:
        seen = mask.any(-1, keepdim=True)
        return torch.where(mask | ~seen, scores, -math.inf), seen
    seen = (mask != -math.inf).any(-1, keepdim=True)
    return scores + torch.where(seen, mask, 0), seen


def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
    dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
    use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None,
    static_v=None, average_attn_weights=True, is_causal=False,
):  # fmt: skip
    """(output, weights or None) of attention over (length, batch, features), or without a batch dim. Masks of bools are
    True where attention may not go.

    bias_k, bias_v: one additional key and value. add_zero_attn: another one of zeros. static_k, static_v: tensors
    (batch * heads, length, features of a head) in place of projections. Raises AssertionError unless embed_dim_to_check
    is the number of features.
    """
    F = torch.nn.functional
    if query.size(-1) != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {query.size(-1)}")
    if query.size(-1) % num_heads:
        raise AssertionError(f"embed_dim {query.size(-1)} not divisible by num_heads {num_heads}")
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    batched = query.dim() == 3
    query, key, value = (x if batched else x.unsqueeze(1) for x in (query, key, value))
    length, batch, width = query.shape
    if use_separate_proj_weight:
        weights = q_proj_weight, k_proj_weight, v_proj_weight
    else:
        weights = in_proj_weight.chunk(3)
    biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
    q, k, v = (F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))
    more = (bias_k is not None) + bool(add_zero_attn)
    if bias_k is not None:
        k, v = (torch.cat([x, b.expand(1, batch, -1)]) for x, b in ((k, bias_k), (v, bias_v)))
    q, k, v = (_heads(x, num_heads) for x in (q, k, v))
    if static_k is not None:
        k = static_k.reshape(batch, num_heads, *static_k.shape[1:])
    if static_v is not None:
        v = static_v.reshape(batch, num_heads, *static_v.shape[1:])
    if add_zero_attn:
        k, v = (F.pad(x, (0, 0, 0, 1)) for x in (k, v))
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.size(-1)))
    scores, seen = padded_scores(scores, _grown(attn_mask, more), _grown(key_padding_mask, more), need_weights)
    found = torch.softmax(scores, -1)
    mixed = (F.dropout(found, dropout_p) if dropout_p and training else found) @ v
    mixed = mixed if seen is None else torch.where(seen, mixed, 0)
    out = F.linear(mixed.permute(2, 0, 1, 3).reshape(length, batch, width), out_proj_weight, out_proj_bias)
    out = out if batched else out.squeeze(1)
    if not need_weights:
        return out, None
    found = found.mean(1) if average_attn_weights else found
    return out, found if batched else found.squeeze(0)


def padded_scores(scores, attn_mask, key_padding_mask, need_weights):
    """masked_scores of scores (batch, heads, queries, keys), for MultiheadAttention's masks, which are True where
    attention may not go. If the weights are wanted, a row that sees no key becomes NaN, and the second result is None.
    """
    mask = _joined(attn_mask, key_padding_mask, scores.shape[:2], scores.dtype)
    if mask is None:
        return scores, None
    return (scores + mask, None) if need_weights else masked_scores(scores, mask)


def _joined(attn_mask, key_padding_mask, heads, dtype):
    """The sum that both masks add to scores (batch, heads, queries, keys), or None without masks."""
    if attn_mask is not None:
        shape = attn_mask.shape if attn_mask.dim() == 2 else (*heads, *attn_mask.shape[1:])
        attn_mask = _added(attn_mask, dtype).reshape(tuple(shape))
    if key_padding_mask is None:
        return attn_mask
    padding = _added(key_padding_mask, dtype).reshape(-1, 1, 1, key_padding_mask.size(-1))
    return padding if attn_mask is None else attn_mask + padding


def _added(mask, dtype):
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, -math.inf)
