# Written by tools/stubs/write.py from the package itself.
import builtins
from treadle.torch import Tensor as _Tensor
from treadle.torch import _Operand
from treadle.torch import _TensorDevice
from treadle.torch import dtype as _dtype
from treadle.torch.nn.modules.module import Module as _Module
from typing import Any

class AdaptiveLogSoftmaxWithLoss(_Module):
    def __init__(self, in_features: int, n_classes: Any, cutoffs: Any, div_value: builtins.float | _Tensor = 4.0, head_bias: bool = False, device: _TensorDevice | None = None, dtype: _dtype | None = None) -> None: ...
    def reset_parameters(self) -> None: ...
    def forward(self, input_: Any, target_: Any) -> Any: ...
    def log_prob(self, input: _Operand) -> Any: ...
    def predict(self, input: _Operand) -> Any: ...
    cutoffs: Any
    head_size: Any
    head: Any
    tail: Any
    in_features: Any
    n_classes: Any
    div_value: Any
    head_bias: Any
    shortlist_size: Any
    n_clusters: Any

__all__ = ['AdaptiveLogSoftmaxWithLoss']
