# Written by tools/stubs/write.py from the package itself.
import builtins
from treadle.torch import Tensor as _Tensor
from treadle.torch import _TensorDevice
from treadle.torch import dtype as _dtype
from treadle.torch.nn.modules.module import Module as _Module
from typing import Any

class MultiheadAttention(_Module):
    def __init__(self, embed_dim: int, num_heads: int, dropout: builtins.float | _Tensor = 0.0, bias: bool = True, add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: Any = None, vdim: Any = None, batch_first: bool = False, device: _TensorDevice | None = None, dtype: _dtype | None = None) -> None: ...
    def forward(self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False) -> Any: ...
    out_proj: Any
    add_zero_attn: Any
    embed_dim: Any
    num_heads: Any
    dropout: Any
    batch_first: Any
    kdim: Any
    vdim: Any
    head_dim: Any
class Transformer(_Module):
    def __init__(self, d_model: Any = 512, nhead: Any = 8, num_encoder_layers: Any = 6, num_decoder_layers: Any = 6, dim_feedforward: Any = 2048, dropout: builtins.float | _Tensor = 0.1, activation: Any = ..., custom_encoder: Any = None, custom_decoder: Any = None, layer_norm_eps: builtins.float | _Tensor = 1e-05, batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: _TensorDevice | None = None, dtype: _dtype | None = None) -> None: ...
    def forward(self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None, src_key_padding_mask: Any = None, tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None, src_is_causal: Any = None, tgt_is_causal: Any = None, memory_is_causal: bool = False) -> Any: ...
    @staticmethod
    def generate_square_subsequent_mask(sz: Any, device: _TensorDevice | None = None, dtype: _dtype | None = None) -> Any: ...
    encoder: Any
    decoder: Any
    d_model: Any
    nhead: Any
    batch_first: Any
class TransformerDecoder(_Module):
    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None: ...
    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None, tgt_is_causal: Any = None, memory_is_causal: bool = False) -> Any: ...
    layers: Any
    num_layers: Any
    norm: Any
class TransformerDecoderLayer(_Module):
    def __init__(self, d_model: Any, nhead: Any, dim_feedforward: Any = 2048, dropout: builtins.float | _Tensor = 0.1, activation: Any = ..., layer_norm_eps: builtins.float | _Tensor = 1e-05, batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: _TensorDevice | None = None, dtype: _dtype | None = None) -> None: ...
    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None, tgt_is_causal: bool = False, memory_is_causal: bool = False) -> Any: ...
    linear2: Any
    norm_first: Any
    activation: Any
    linear1: Any
    dropout: Any
class TransformerEncoder(_Module):
    def __init__(self, encoder_layer: Any, num_layers: int, norm: Any = None, enable_nested_tensor: bool = True, mask_check: bool = True) -> None: ...
    def forward(self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: Any = None) -> Any: ...
    use_nested_tensor: Any
    enable_nested_tensor: Any
    mask_check: Any
    layers: Any
    num_layers: Any
    norm: Any
class TransformerEncoderLayer(_Module):
    def __init__(self, d_model: Any, nhead: Any, dim_feedforward: Any = 2048, dropout: builtins.float | _Tensor = 0.1, activation: Any = ..., layer_norm_eps: builtins.float | _Tensor = 1e-05, batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: _TensorDevice | None = None, dtype: _dtype | None = None) -> None: ...
    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any: ...
    linear2: Any
    norm_first: Any
    activation: Any
    linear1: Any
    dropout: Any
def padded_scores(scores: Any, attn_mask: Any, key_padding_mask: Any, need_weights: Any) -> Any: ...
