# Written by tools/stubs/write.py from the package itself.
from collections.abc import Sequence as _Sequence
from treadle.torch import Tensor as _Tensor
from typing import Any

def orthogonal(module: Any, name: str = 'weight', orthogonal_map: Any = None, *, use_trivialization: bool = True) -> Any: ...
def spectral_norm(module: Any, name: str = 'weight', n_power_iterations: Any = 1, eps: float | _Tensor = 1e-12, dim: int | _Sequence[int] | None = None) -> Any: ...
def weight_norm(module: Any, name: str = 'weight', dim: int | _Sequence[int] = 0) -> Any: ...

__all__ = ['orthogonal', 'spectral_norm', 'weight_norm']
