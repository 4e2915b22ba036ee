# Written by tools/stubs/write.py from the package itself.
import builtins
from treadle.torch import Tensor as _Tensor
from treadle.torch import _Operand
from treadle.torch import _TensorDevice
from treadle.torch import dtype as _dtype
from treadle.torch.nn.modules.module import Module as _Module
from typing import Any

class FeatureAlphaDropout(_Module):
    def __init__(self, p: builtins.float | _Tensor = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: _Operand) -> Any: ...
    def extra_repr(self) -> str: ...
    p: Any
    inplace: Any
class LinearCrossEntropyLoss(_Module):
    def __init__(self, in_features: int, num_classes: int, *, out_features: Any = ..., bias: bool = False, device: _TensorDevice | None = None, dtype: _dtype | None = None, reduction: str = 'mean', weight: Any = None, ignore_index: Any = None, label_smoothing: builtins.float | _Tensor = 0.0, options: Any = None) -> None: ...
    def forward(self, input: _Operand, target: Any) -> Any: ...
    options: Any
    linear: Any
    num_classes: Any
    out_features: Any
    reduction: Any
    ignore_index: Any
    label_smoothing: Any
class LinearCrossEntropyOptions:
    def __init__(self, allow_retain_graph: bool = False, batch_chunk_size: Any = None, chunking_method: str = 'auto', acc_policy: str = 'auto', acc_dtype: Any = None) -> None: ...
    allow_retain_graph: Any
    batch_chunk_size: Any
    chunking_method: Any
    acc_policy: Any
    acc_dtype: Any
    __match_args__: Any

__all__ = ['FeatureAlphaDropout', 'LinearCrossEntropyLoss', 'LinearCrossEntropyOptions']
