# Written by tools/stubs/write.py from the package itself.
import builtins
from treadle.torch import Tensor as _Tensor
from treadle.torch import _Operand
from treadle.torch import _TensorDevice
from treadle.torch import dtype as _dtype
from treadle.torch.nn.modules.module import Module as _Module
from typing import Any

class SyncBatchNorm(_Module):
    def __init__(self, num_features: int, eps: builtins.float | _Tensor = 1e-05, momentum: builtins.float | _Tensor = 0.1, affine: bool = True, track_running_stats: bool = True, process_group: Any = None, device: _TensorDevice | None = None, dtype: _dtype | None = None, *, bias: bool = True) -> None: ...
    dims: Any
    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any: ...
    batch: Any
    def reset_running_stats(self) -> None: ...
    def reset_parameters(self) -> None: ...
    def forward(self, input: _Operand) -> Any: ...
    def extra_repr(self) -> str: ...
    process_group: Any
    num_features: Any
    eps: Any
    momentum: Any
    affine: Any
    track_running_stats: Any

__all__ = ['SyncBatchNorm']
