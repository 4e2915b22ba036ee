"""torch.cuda.amp: torch.amp by its older name."""

from ..amp import GradScaler, custom_bwd, custom_fwd
from ..amp import autocast as _autocast

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(_autocast):
    """torch.amp.autocast for GPUs: changes no dtype."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)
