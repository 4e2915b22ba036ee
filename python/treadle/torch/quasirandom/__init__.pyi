# Written by tools/stubs/write.py from the package itself.
from collections.abc import Sequence as _Sequence
from treadle.torch import Tensor as _Tensor
from treadle.torch import dtype as _dtype
from typing import Any
from typing import Self as _Self

class SobolEngine:
    def __init__(self, dimension: Any, scramble: bool = False, seed: Any = None) -> None: ...
    MAXBIT: Any
    MAXDIM: Any
    def draw(self, n: Any = 1, out: _Tensor | _Sequence[_Tensor] | None = None, dtype: _dtype | None = None) -> Any: ...
    def draw_base2(self, m: Any, out: _Tensor | _Sequence[_Tensor] | None = None, dtype: _dtype | None = None) -> Any: ...
    def reset(self) -> _Self: ...
    def fast_forward(self, n: Any) -> _Self: ...
    num_generated: Any
    dimension: Any
    scramble: Any
    seed: Any

__all__ = ['SobolEngine']
