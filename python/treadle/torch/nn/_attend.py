"""``multi_head_attention_forward``: what MultiheadAttention computes, as a function of its weights."""

import math

from ... import torch


def _heads(x, num_heads):
    """(length, batch, features) as (batch, heads, length, features of a head)."""
    return x.reshape(x.size(0), x.size(1), num_heads, -1).permute(1, 2, 0, 3)


def _grown(mask, count):
    """A mask of keys with count more, which are seen."""
    return mask if mask is None or not count else torch.nn.functional.pad(mask, (0, count))


def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
    dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
    use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None,
    static_v=None, average_attn_weights=True, is_causal=False,
):  # fmt: skip
    """(output, weights or None) of attention over (length, batch, features), or without a batch; masks of bools are
    True
    where attention may not go.

    bias_k, bias_v: a key and a value more; add_zero_attn: one more of zeros; static_k, static_v: (batch * heads,
    length,
    features of a head) instead of projections. AssertionError: embed_dim_to_check is not the features' number."""
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
    attn_mask, key_padding_mask = _grown(attn_mask, more), _grown(key_padding_mask, more)
    if attn_mask is not None:
        shape = attn_mask.shape if attn_mask.dim() == 2 else (batch, num_heads, *attn_mask.shape[1:])
        scores = _masked(scores, attn_mask.reshape(tuple(shape)))
    if key_padding_mask is not None:
        scores = _masked(scores, key_padding_mask.reshape(-1, 1, 1, k.size(2)))
    found = torch.softmax(scores, -1)
    mixed = (F.dropout(found, dropout_p) if dropout_p and training else found) @ v
    out = F.linear(mixed.permute(2, 0, 1, 3).reshape(length, batch, width), out_proj_weight, out_proj_bias)
    out = out if batched else out.squeeze(1)
    if not need_weights:
        return out, None
    found = found.mean(1) if average_attn_weights else found
    return out, found if batched else found.squeeze(0)


def _masked(scores, mask):
    return torch.where(mask, -math.inf, scores) if mask.dtype == torch.bool else scores + mask
