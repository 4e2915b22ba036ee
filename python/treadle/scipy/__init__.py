"""SciPy's functions on treadle's arrays, by SciPy's names. Each module is imported at its first use.

docs/scipy.md lists which of them run on the device and which SciPy computes on the host.
"""

from .. import _public

_MODULES = (
    "cluster", "constants", "datasets", "differentiate", "fft", "fftpack", "integrate", "interpolate", "io", "linalg",
    "ndimage", "odr", "optimize", "signal", "sparse", "spatial", "special", "stats",
)  # fmt: skip


def get_array_module(*args):
    """treadle.scipy if one of args is a treadle array or sparse matrix, otherwise scipy."""
    import sys

    if any(type(x).__module__.partition(".")[0] == "treadle" for x in args):
        return sys.modules[__name__]
    import scipy

    return scipy


def __getattr__(name):
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module 'treadle.scipy' has no attribute '{name}'; it has {', '.join(_MODULES)}")
    return import_module(f"treadle.scipy.{name}")


def __dir__():
    return _public.names(__name__, _MODULES)
