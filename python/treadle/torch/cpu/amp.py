"""torch.cpu.amp: mixed precision on the CPU."""

from .. import amp as _amp
from .._scaler import GradScaler as GradScaler


class autocast(_amp.autocast):
    """torch.amp.autocast for the CPU."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)
