"""Programs that run unchanged: ``python -m treadle script.py``, ``%load_ext treadle``, ``treadle.install()``."""

import warnings

from treadle import _core

_installed = False


def install():
    """From now on numpy, cupy, numba and pycuda mean treadle in files of the program that are imported later, and
    in later imports of the caller's own file. Libraries keep NumPy. May be called again: nothing more happens."""
    global _installed

    if _installed:
        return
    from treadle import _host, config

    from . import _crossover, _faces, _far

    _far.faces.update(_faces.ufuncs())
    _core._proxy_setup(_far, _far.faces)
    config.fallback = "allow"
    config.implicit_host = "allow"
    warnings.filterwarnings("ignore", category=_core.PerformanceWarning)
    _core._proxy_set(_crossover.elements(), _host.note, None)
    from . import _imports

    _far.is_own = _imports.is_own
    _imports.hook()
    _installed = True
