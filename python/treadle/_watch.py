"""Tells other libraries of arrays when a program imports them: treadle does not do so itself."""

import sys
from importlib import import_module

# module: ours that has register
_WATCHED = {
    "multiprocessing.reduction": "_exchange._processes",
    "dask.array.backends": "_exchange._dask",
    "distributed.protocol.serialize": "_exchange._dask_wire",
}


def _register(name, module):
    import_module("treadle." + _WATCHED[name]).register(module)


class _Finder:
    def find_spec(self, name, path=None, target=None):
        """Finds nothing itself; what the others find of a watched name is told of arrays once it has run."""
        if name not in _WATCHED:
            return None
        sys.meta_path.remove(self)
        try:
            from importlib.util import find_spec

            spec = find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is None:
            return None
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            _register(name, module)

        spec.loader.exec_module = exec_module
        return spec


def watch():
    """Registers arrays where they are to be known: now, or when the library is imported."""
    for name in _WATCHED:
        if name in sys.modules:
            _register(name, sys.modules[name])
    sys.meta_path.insert(0, _Finder())
