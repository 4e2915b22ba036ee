# Written by tools/stubs/write.py from the package itself.
from treadle.torch import GradScaler as _GradScaler
from treadle.torch import Tensor as _Tensor
from treadle.torch import dtype as _dtype
from treadle.torch.amp import autocast as _autocast
from typing import Any

class GradScaler(_GradScaler):
    def __init__(self, init_scale: float | _Tensor = 65536.0, growth_factor: float | _Tensor = 2.0, backoff_factor: float | _Tensor = 0.5, growth_interval: Any = 2000, enabled: bool = True) -> None: ...
class autocast(_autocast):
    def __init__(self, enabled: bool = True, dtype: _dtype | None = None, cache_enabled: bool = True) -> None: ...
custom_bwd: Any
custom_fwd: Any

__all__ = ['GradScaler', 'autocast', 'custom_bwd', 'custom_fwd']
