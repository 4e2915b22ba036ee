"""What of cupyx is here: `jit` (kernels in Python), `scipy`, `signal`, `linalg`, `profiler`, arrays in pinned memory,
settings, and functions that NumPy calls otherwise. docs/cupy.md lists all names, with the reasons of those refused.
"""

from importlib import import_module

import treadle

from .._cupy import _names

_HOME = {
    "_gufunc": "GeneralizedUFunc",
    "_pinned": "empty_like_pinned empty_pinned zeros_like_pinned zeros_pinned",
    "_settings": "errstate get_runtime_info geterr seterr",
}
_FROM = {name: module for module, names in _HOME.items() for name in names.split()}
_MODULES = ("jit", "linalg", "optimizing", "profiler", "signal", "time")
__all__ = ["rsqrt", "scatter_add", "scatter_max", "scatter_min", "scipy", *_FROM, *_MODULES]  # noqa: PLE0604  (all are str)

rsqrt = treadle.rsqrt


def scatter_add(a, slices, value):
    """a[slices] += value, repeated places added up: treadle.add.at."""
    treadle.add.at(a, slices, value)


def scatter_max(a, slices, value):
    """The greatest of a[slices] and value in the place of a[slices], repeated places too: treadle.maximum.at."""
    treadle.maximum.at(a, slices, value)


def scatter_min(a, slices, value):
    """The least of a[slices] and value in the place of a[slices], repeated places too: treadle.minimum.at."""
    treadle.minimum.at(a, slices, value)


def __getattr__(name):
    if name in _MODULES:
        return import_module(f"treadle.cupyx.{name}")
    if name in _FROM:
        return getattr(import_module(f"treadle.cupyx.{_FROM[name]}"), name)
    if name == "scipy":
        return import_module("treadle.scipy")
    raise AttributeError(_names.refusal("cupyx", name), name=name)


def __dir__():
    return sorted(__all__)
