# Written by tools/stubs/write.py from the package itself.
from collections.abc import Sequence as _Sequence
from treadle.torch import _Operand
from treadle.torch.nn.modules.module import Module as _Module
from typing import Any

class FractionalMaxPool2d(_Module):
    def __init__(self, kernel_size: int | _Sequence[int], output_size: int | _Sequence[int] | None = None, output_ratio: Any = None, return_indices: bool = False, _random_samples: Any = None) -> None: ...
    def forward(self, input: _Operand) -> Any: ...
    return_indices: Any
    kernel_size: Any
    output_size: Any
    output_ratio: Any
class FractionalMaxPool3d(_Module):
    def __init__(self, kernel_size: int | _Sequence[int], output_size: int | _Sequence[int] | None = None, output_ratio: Any = None, return_indices: bool = False, _random_samples: Any = None) -> None: ...
    def forward(self, input: _Operand) -> Any: ...
    return_indices: Any
    kernel_size: Any
    output_size: Any
    output_ratio: Any

__all__ = ['FractionalMaxPool2d', 'FractionalMaxPool3d']
