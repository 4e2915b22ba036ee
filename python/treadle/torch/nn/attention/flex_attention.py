"""``torch.nn.attention.flex_attention``: attention with scores and masks that are functions of the program.

The functions get tensors of indices that broadcast, so each is called once. Its operations fuse with the softmax.
"""

import math
from typing import NamedTuple

from .... import torch
from ... import _modules


def noop_mask(batch, head, token_q, token_kv):
    """A mask that hides nothing."""
    return batch.new_ones((), dtype=torch.bool)


def and_masks(*mask_mods):
    """The mask of what all of these masks show. Raises RuntimeError if one cannot be called."""
    return _joined(mask_mods, torch.logical_and)


def or_masks(*mask_mods):
    """The mask of what any of these masks shows. Raises RuntimeError if one cannot be called."""
    return _joined(mask_mods, torch.logical_or)


def _joined(mods, join):
    if not all(map(callable, mods)):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mods}")

    def mask(b, h, q, kv):
        result = mods[0](b, h, q, kv)
        for mod in mods[1:]:
            result = join(result, mod(b, h, q, kv))
        return result

    return mask


def _indices(B, H, Q_LEN, KV_LEN, device):
    """The indices of batch, head, query and key, each along its own axis of four."""
    return [torch.arange(n, device=device).reshape([-1 if d == k else 1 for d in range(4)])
            for k, n in enumerate((B, H, Q_LEN, KV_LEN))]  # fmt: skip


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    """The mask (B, H, Q_LEN, KV_LEN) of bools from a function of (batch, head, query, key). None stands for 1."""
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    return mod_fn(*_indices(*shape, device)).expand(shape).contiguous()


class BlockMask:
    """A function of (batch, head, query, key), with the sizes that it is for. No mask is stored."""

    def __init__(self, mask_mod, shape, block_size=128):
        self.mask_mod, self.shape = mask_mod, tuple(shape)
        self.BLOCK_SIZE = (block_size, block_size) if isinstance(block_size, int) else tuple(block_size)
        self.seq_lengths = self.shape[2:]

    def to_dense(self):
        """1 for each block with a visible element, else 0."""
        mask = create_mask(self.mask_mod, *self.shape)
        rows, columns = self.BLOCK_SIZE
        mask = torch.nn.functional.pad(mask.int(), (0, -self.shape[3] % columns, 0, -self.shape[2] % rows))
        b, h, q, kv = mask.shape
        return mask.reshape(b, h, q // rows, rows, kv // columns, columns).amax((3, 5))

    def sparsity(self):
        """The percentage of blocks without a visible element."""
        return 100 * (1 - self.to_dense().float().mean().item())

    def to(self, device):
        """The object itself: no mask is stored."""
        return self

    def __repr__(self):
        return f"BlockMask(shape={self.shape}, block_size={self.BLOCK_SIZE})"


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=128, _compile=False, **unused):
    """A BlockMask of a function of (batch, head, query, key)."""
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), BLOCK_SIZE)


class AuxRequest(NamedTuple):
    """What flex_attention shall return besides its result: the logarithms of the rows' sums, the rows' largest scores.
    """

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What an AuxRequest asked for, and None for the rest."""

    lse: object = None
    max_scores: object = None


def flex_attention(
    query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False,
    kernel_options=None, *, return_aux=None,
):  # fmt: skip
    """softmax(score_mod(query @ key.T * scale, batch, head, query's index, key's index)) @ value.

    block_mask: what is visible. enable_gqa: there are fewer heads of keys than of queries. return_lse: return the
    logarithms of the rows' sums, too. return_aux: return (the result, AuxOutput). Raises ValueError if the heads do not
    divide.
    """
    if key.size(1) != query.size(1):
        if not enable_gqa or query.size(1) % key.size(1):
            raise ValueError(
                f"Expect query and key/value to have the same number of heads but got Hq={query.size(1)} and "
                f"Hkv={key.size(1)}. Try setting enable_gqa=True for GQA."
            )
        key, value = (t.repeat_interleave(query.size(1) // t.size(1), 1) for t in (key, value))
    scores = query @ key.transpose(-2, -1) * (query.size(-1) ** -0.5 if scale is None else scale)
    places = _indices(*scores.shape, query.device)
    if score_mod is not None:
        scores = score_mod(scores, *places)
    if block_mask is not None:
        scores = torch.where(block_mask.mask_mod(*places), scores, -math.inf)
    weights = torch.softmax(scores, -1)
    if block_mask is not None:  # for rows without a visible key
        weights = torch.where(torch.isnan(weights), 0.0, weights)
    out = weights.to(value.dtype) @ value
    if return_aux is not None:
        lse = torch.logsumexp(scores, -1) if return_aux.lse else None
        return out, AuxOutput(lse, scores.amax(-1) if return_aux.max_scores else None)
    return (out, torch.logsumexp(scores, -1)) if return_lse else out


__getattr__, __dir__ = _modules.refusing("torch.nn.attention.flex_attention")
