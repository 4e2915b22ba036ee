"""cupyx.time.repeat, the old name of cupyx.profiler.benchmark."""

import math

from .._public import dir_of as _dir_of
from .profiler import benchmark

__all__ = ["repeat"]


def repeat(func, args=(), kwargs=None, n_repeat=10000, *, name=None, n_warmup=10, max_duration=math.inf, devices=None):
    """cupyx.profiler.benchmark, with a warning that it is called so."""
    import warnings

    warnings.warn("cupyx.time.repeat is called cupyx.profiler.benchmark", DeprecationWarning, stacklevel=2)
    return benchmark(
        func, args, kwargs, n_repeat, name=name, n_warmup=n_warmup, max_duration=max_duration, devices=devices
    )


__dir__ = _dir_of(__name__)
