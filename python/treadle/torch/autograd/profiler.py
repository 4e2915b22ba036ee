"""torch.autograd.profiler: older names of torch.profiler."""

import contextlib

from .. import _modules
from .. import profiler as _profiler
from ..profiler import record_function as record_function


class profile(_profiler.profile):
    """with profile() as p: records what runs. enabled=False records nothing."""

    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, use_cpu=True, **options):
        known = {"record_shapes", "with_flops", "profile_memory", "with_stack", "with_modules", "acc_events"}
        super().__init__(**{k: v for k, v in options.items() if k in known})
        self.enabled = enabled

    def start(self):
        """Start recording, if enabled."""
        if self.enabled:
            super().start()

    def table(self, *args, **kwargs):
        """key_averages().table with the same arguments."""
        return self.key_averages().table(*args, **kwargs)

    def total_average(self):
        """One event that sums up all others."""
        return _profiler._filled(_profiler._Event("Total"), self._done().records)

    @property
    def self_cpu_time_total(self):
        """Microseconds on the CPU."""
        return self.events().self_cpu_time_total

    def __str__(self):
        return self.table() if self._last is not None else "<unfinished torch.autograd.profile>"


class emit_nvtx(contextlib.nullcontext):
    """A context manager without effect: Nsight shows treadle's kernels without ranges."""

    def __init__(self, enabled=True, record_shapes=False):
        super().__init__(self)


class emit_itt(contextlib.nullcontext):
    """A with statement that changes nothing."""

    def __init__(self, enabled=True, record_shapes=False):
        super().__init__(self)


EventList, FunctionEvent = _profiler._Events, _profiler._Event

__getattr__, __dir__ = _modules.refusing("torch.autograd.profiler")
