"""torch.cpu.amp: mixed precision on the CPU."""

from ..._public import dir_of as _dir_of
from .. import amp as _amp
from .._scaler import GradScaler as GradScaler


class autocast(_amp.autocast):
    """torch.amp.autocast for the CPU."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


__dir__ = _dir_of(__name__)
