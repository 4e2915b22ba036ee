"""SciPy's functions on treadle's arrays, under SciPy's names; a module is imported when it is first asked for."""

_MODULES = ("fft", "interpolate", "linalg", "ndimage", "signal", "sparse", "spatial", "special", "stats")


def __getattr__(name):
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module 'treadle.scipy' has no attribute '{name}'; it has {', '.join(_MODULES)}")
    return import_module(f"treadle.scipy.{name}")


def __dir__():
    return sorted({*globals(), *_MODULES})
