"""torch.cuda.amp: torch.amp by its older name."""

import warnings
from functools import partial

from .. import _modules
from .. import amp as _amp

__path__ = []  # PyTorch's is a package
__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


custom_fwd, custom_bwd = (partial(f, device_type="cuda") for f in (_amp.custom_fwd, _amp.custom_bwd))


def _warn(name):
    text = f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('cuda', args...)` instead."
    warnings.warn(text, FutureWarning, stacklevel=3)


class GradScaler(_amp.GradScaler):
    """torch.amp.GradScaler for GPUs."""

    def __init__(
        self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True
    ):
        _warn("GradScaler")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


class autocast(_amp.autocast):
    """torch.amp.autocast for GPUs."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        _warn("autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


__getattr__, __dir__ = _modules.refusing("torch.cuda.amp")
