# Written by tools/stubs/write.py from the package itself.
import builtins
from treadle.torch import Tensor as _Tensor
from treadle.torch import _Operand
from treadle.torch import _TensorDevice
from treadle.torch import dtype as _dtype
from treadle.torch.nn.modules.module import Module as _Module
from typing import Any

class Embedding(_Module):
    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: builtins.float | _Tensor | None = None, norm_type: builtins.float | _Tensor = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None, _freeze: bool = False, device: _TensorDevice | None = None, dtype: _dtype | None = None) -> None: ...
    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, padding_idx: int | None = None, max_norm: builtins.float | _Tensor | None = None, norm_type: builtins.float | _Tensor = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Any: ...
    def forward(self, input: _Operand) -> Any: ...
    def extra_repr(self) -> Any: ...
    def reset_parameters(self) -> None: ...
    max_norm: Any
    norm_type: Any
    scale_grad_by_freq: Any
    sparse: Any
    padding_idx: Any
    num_embeddings: Any
    embedding_dim: Any
    weight: Any
class EmbeddingBag(_Module):
    def __init__(self, num_embeddings: int, embedding_dim: int, max_norm: builtins.float | _Tensor | None = None, norm_type: builtins.float | _Tensor = 2.0, scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False, _weight: Any = None, include_last_offset: bool = False, padding_idx: int | None = None, device: _TensorDevice | None = None, dtype: _dtype | None = None) -> None: ...
    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, max_norm: builtins.float | _Tensor | None = None, norm_type: builtins.float | _Tensor = 2.0, scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False, include_last_offset: bool = False, padding_idx: int | None = None) -> Any: ...
    def forward(self, input: _Operand, offsets: Any = None, per_sample_weights: Any = None) -> Any: ...
    def extra_repr(self) -> Any: ...
    def reset_parameters(self) -> None: ...
    include_last_offset: Any
    max_norm: Any
    norm_type: Any
    mode: Any
    scale_grad_by_freq: Any
    sparse: Any
    padding_idx: Any
    num_embeddings: Any
    embedding_dim: Any
    weight: Any
