"""What unchanged programs need before their first array: types looked up, the crossover known, the hook in place."""

import warnings

from treadle import _core, config
from treadle._exchange import _host

from . import _crossover, _faces, _far, _imports

_state = {"watch": None}


def set_watch(watch):
    """watch(name, elements, ns) is told of NumPy's work on the host; None: nobody is."""
    _state["watch"] = watch
    apply()


def apply():
    """Gives the core what decides: config.crossover, and who is told."""
    _core._proxy_set(config.crossover, _host.note, _state["watch"])


def start():
    """Sets everything up and puts the hook in."""
    _far.faces.update(_faces.ufuncs())
    _core._proxy_setup(_far, _far.faces)
    config.fallback = "allow"
    config.implicit_host = "allow"
    warnings.filterwarnings("ignore", category=_core.PerformanceWarning)
    if config.crossover is None:
        config.crossover = _crossover.elements()
    apply()
    _far.is_own = _imports.is_own
    _imports.hook()
