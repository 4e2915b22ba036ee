"""What of cupyx is here: `jit` (kernels in Python), `scipy`, `signal`, and functions that NumPy calls otherwise.

docs/guide-cupy.md tells what stands for the rest.
"""

import treadle

__all__ = ["jit", "rsqrt", "scatter_add", "scatter_max", "scatter_min", "scipy", "signal"]

rsqrt = treadle.rsqrt


def scatter_add(a, slices, value):
    """a[slices] += value, repeated places added up: treadle.add.at, whose sums are the same in every run."""
    treadle.add.at(a, slices, value)


def scatter_max(a, slices, value):
    """The greatest of a[slices] and value in the place of a[slices], repeated places too: treadle.maximum.at."""
    treadle.maximum.at(a, slices, value)


def scatter_min(a, slices, value):
    """The least of a[slices] and value in the place of a[slices], repeated places too: treadle.minimum.at."""
    treadle.minimum.at(a, slices, value)


def __getattr__(name):
    from importlib import import_module

    if name in ("jit", "signal"):
        return import_module(f"treadle.cupyx.{name}")
    if name == "scipy":
        return import_module("treadle.scipy")
    raise AttributeError(
        f"module 'treadle.cupyx' has no attribute '{name}'; docs/guide-cupy.md tells what stands for it"
    )
