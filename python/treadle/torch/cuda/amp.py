"""torch.cuda.amp: torch.amp by its older name."""

from functools import partial

from .. import _modules
from .. import amp as _amp
from ..amp import GradScaler

__path__ = []  # PyTorch's is a package
__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


custom_fwd, custom_bwd = (partial(f, device_type="cuda") for f in (_amp.custom_fwd, _amp.custom_bwd))


class autocast(_amp.autocast):
    """torch.amp.autocast for GPUs."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)


__getattr__, __dir__ = _modules.refusing("torch.cuda.amp")
