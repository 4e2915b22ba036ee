"""Attention, and the layers of the transformer."""

import copy
import math

from .... import torch
from ...._public import dir_of as _dir_of
from .. import functional as F
from .. import init
from .._attend import padded_scores
from ..parameter import Parameter
from .activation import Dropout
from .container import ModuleList
from .linear import Linear, NonDynamicallyQuantizableLinear
from .module import Module
from .norm import LayerNorm


class MultiheadAttention(Module):
    """Attention with several heads, over (length, batch, features), or over (batch, length, features) with batch_first.
    The batch may be missing."""

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        made = {"device": device, "dtype": dtype}
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim, self.head_dim = kdim or embed_dim, vdim or embed_dim, embed_dim // num_heads
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        same = self._qkv_same_embed_dim
        shapes = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        for name, width in shapes.items():
            self.register_parameter(name, None if same else Parameter(torch.empty(embed_dim, width, **made)))
        whole = Parameter(torch.empty(3 * embed_dim, embed_dim, **made)) if same else None
        self.register_parameter("in_proj_weight", whole)
        self.register_parameter("in_proj_bias", Parameter(torch.empty(3 * embed_dim, **made)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, **made)
        for name in ("bias_k", "bias_v"):
            more = Parameter(torch.empty(1, 1, embed_dim, **made)) if add_bias_kv else None
            self.register_parameter(name, more)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for more in (self.bias_k, self.bias_v):
            if more is not None:
                init.xavier_normal_(more)

    def _with_more(self, q, k, v, masks):
        """Keys and values followed by the trained one and by zeros, with masks that let attention see these."""
        ends = [] if self.bias_k is None else [(self.bias_k, self.bias_v)]
        if self.add_zero_attn:
            ends.append((torch.zeros_like(k[:1]), torch.zeros_like(v[:1])))
        for more_k, more_v in ends:
            k, v = (torch.cat([x, more.expand(1, x.size(1), x.size(2))]) for x, more in ((k, more_k), (v, more_v)))
            masks = [None if m is None else F.pad(m, (0, 1), value=0) for m in masks]
        return (q, k, v), masks

    def _projected(self, query, key, value):
        bias = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        if not self._qkv_same_embed_dim:
            weights = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        elif query is key and key is value:  # one product computes all three
            return F.linear(query, self.in_proj_weight, self.in_proj_bias).chunk(3, -1)
        else:
            weights = self.in_proj_weight.chunk(3)
        return tuple(F.linear(*xwb) for xwb in zip((query, key, value), weights, bias))

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        """(output, weights or None). Masks of bools are True where attention may not go."""
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        if query.size(-1) != self.embed_dim:
            raise AssertionError(f"was expecting embedding dimension of {self.embed_dim}, but got {query.size(-1)}")
        batched = query.dim() == 3
        self_attention = query is key and key is value
        query, key, value = (x if batched else x.unsqueeze(1) for x in (query, key, value))
        if batched and self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        if self_attention:
            key = value = query
        heads, masks = [], (attn_mask, key_padding_mask)
        projected, masks = self._with_more(*self._projected(query, key, value), masks)
        for x in projected:  # as (batch, heads, length, features of a head)
            heads.append(x.reshape(x.size(0), x.size(1), self.num_heads, self.head_dim).permute(1, 2, 0, 3))
        q, k, v = heads
        attn_mask, key_padding_mask = masks
        scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(self.head_dim))
        scores, seen = padded_scores(scores, attn_mask, key_padding_mask, need_weights)
        weights = torch.softmax(scores, -1)
        mixed = (F.dropout(weights, self.dropout) if self.dropout and self.training else weights) @ v
        mixed = mixed if seen is None else torch.where(seen, mixed, 0)
        out = self.out_proj(mixed.permute(2, 0, 1, 3).reshape(query.size(0), query.size(1), self.embed_dim))
        if not batched:
            out = out.squeeze(1)
        elif self.batch_first:
            out = out.transpose(0, 1)
        if not need_weights:
            return out, None
        weights = weights.mean(1) if average_attn_weights else weights
        return out, weights if batched else weights.squeeze(0)


def _function(activation):
    if callable(activation):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


class _Layer(Module):
    """The base of both layers: attentions (_attentions, by name) and two linear layers. norm1, … and dropout1, … belong
    to these parts in order."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        made = {"bias": bias, "device": device, "dtype": dtype}
        parts = range(1, len(self._attentions) + 2)
        for name in self._attentions:
            self.add_module(name, MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, **made))
        self.linear1, self.dropout = Linear(d_model, dim_feedforward, **made), Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        for i in parts:
            self.add_module(f"norm{i}", LayerNorm(d_model, layer_norm_eps, **made))
        for i in parts:
            self.add_module(f"dropout{i}", Dropout(dropout))
        self.activation = _function(activation)

    # The parts of a layer have PyTorch's names: subclasses call them, and put others in their place.

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        r = self.self_attn(x, x, x, key_padding_mask, need_weights=False, attn_mask=attn_mask, is_causal=is_causal)
        return self.dropout1(r[0])

    def _ff_block(self, x):
        last = getattr(self, f"dropout{len(self._attentions) + 1}")
        return last(self.linear2(self.dropout(self.activation(self.linear1(x)))))

    def _through(self, x, *parts):
        """x after functions that are applied one after another, each with its norm and a residual connection."""
        for i, part in enumerate(parts, 1):
            norm = getattr(self, f"norm{i}")
            x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return x


class TransformerEncoderLayer(_Layer):
    """Self-attention and two linear layers, each with a norm and a residual connection."""

    _attentions = ("self_attn",)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        def attend(x):
            return self._sa_block(x, src_mask, src_key_padding_mask, is_causal=is_causal)

        return self._through(src, attend, self._ff_block)


class TransformerDecoderLayer(_Layer):
    """As an encoder's layer, with attention to the encoder's output in between."""

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=False,
        memory_is_causal=False,
    ):
        def own(x):
            return self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)

        def other(x):
            return self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal)

        return self._through(tgt, own, other, self._ff_block)

    def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
        masks = {"key_padding_mask": key_padding_mask, "attn_mask": attn_mask, "is_causal": is_causal}
        return self.dropout2(self.multihead_attn(x, mem, mem, need_weights=False, **masks)[0])


class _Stack(Module):
    def __init__(self, layer, num_layers, norm=None):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm


def _could_skip_padding(layer):
    """Is it a layer of which PyTorch computes the places that are no padding only?"""
    if not isinstance(layer, TransformerEncoderLayer) or layer.norm_first or layer.activation not in (F.relu, F.gelu):
        return False
    attention = layer.self_attn
    joined = attention.batch_first and attention.num_heads % 2 == 0 and attention.in_proj_bias is not None
    return joined and attention._qkv_same_embed_dim and layer.norm1.eps == layer.norm2.eps


def _at_the_end(padding):
    """Does the padding of each row follow its other places?"""
    return not bool((padding[:, :-1] & ~padding[:, 1:]).any())


class TransformerEncoder(_Stack):
    """A stack of num_layers copies of a layer."""

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        self.use_nested_tensor = enable_nested_tensor and _could_skip_padding(encoder_layer)

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        padding = self._skipped(src, mask, src_key_padding_mask)
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=bool(is_causal), src_key_padding_mask=src_key_padding_mask)
        src = src if padding is None else src.masked_fill(padding.unsqueeze(-1), 0.0)
        return src if self.norm is None else self.norm(src)

    def _skipped(self, src, mask, padding):
        """The mask of the padded places if PyTorch leaves these out in evaluation: its result is 0 there."""
        first = self.layers[0]
        if not self.use_nested_tensor or first.training or src.dim() != 3 or padding is None or mask is not None:
            return None
        if torch.is_grad_enabled() and (src.requires_grad or any(p.requires_grad for p in first.parameters())):
            return None
        padding = padding if padding.dtype is torch.bool else padding == -math.inf
        if torch.is_autocast_enabled() or (self.mask_check and not _at_the_end(padding)):
            return None
        return padding


class TransformerDecoder(_Stack):
    """A stack of num_layers copies of a layer."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        masks = {"tgt_mask": tgt_mask, "memory_mask": memory_mask, "tgt_key_padding_mask": tgt_key_padding_mask}
        masks |= {"memory_key_padding_mask": memory_key_padding_mask, "memory_is_causal": memory_is_causal}
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_is_causal=bool(tgt_is_causal), **masks)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder."""

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        args = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            device,
            dtype,
        )
        norm = (d_model, layer_norm_eps, True, bias, device, dtype)
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*args), num_encoder_layers, LayerNorm(*norm)
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*args), num_decoder_layers, LayerNorm(*norm)
        )
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        src_is_causal=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        return self.decoder(tgt, memory, *masks, bool(tgt_is_causal), memory_is_causal)

    def _reset_parameters(self):
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """-inf above the diagonal, 0 elsewhere."""
        places = torch.arange(sz, device=device)
        return torch.where(places > places.unsqueeze(1), -math.inf, 0.0).to(dtype or torch.get_default_dtype())


__dir__ = _dir_of(__name__)
