# Written by tools/stubs/write.py from the package itself.
from typing import Any

def spectral_norm(module: Any, name: Any = 'weight', n_power_iterations: Any = 1, eps: Any = 1e-12, dim: Any = None) -> Any: ...
def weight_norm(module: Any, name: Any = 'weight', dim: Any = 0) -> Any: ...

__all__ = ['spectral_norm', 'weight_norm']
