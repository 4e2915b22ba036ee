# Written by tools/stubs/write.py from the package itself.
from treadle.torch import GradScaler as GradScaler
from treadle.torch import dtype as _dtype
from treadle.torch.amp import autocast as _autocast
from typing import Any

class autocast(_autocast):
    def __init__(self, enabled: bool = True, dtype: _dtype | None = None, cache_enabled: bool = True) -> None: ...
custom_bwd: Any
custom_fwd: Any

__all__ = ['GradScaler', 'autocast', 'custom_bwd', 'custom_fwd']
