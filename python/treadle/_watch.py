"""Registers treadle's arrays with other libraries when a program imports these. treadle does not import them."""

import sys
from importlib import import_module

# the watched module: treadle's module with the function register
_WATCHED = {
    "json.encoder": "_exchange._json",
    "pandas": "_exchange._pandas",
    "numpy.testing": "_exchange._testing",
    "multiprocessing.reduction": "_exchange._processes",
    "dask.array": "_exchange._dask._names",
    "dask.array.backends": "_exchange._dask._arrays",
    "dask.sizeof": "_exchange._dask._size",
    "distributed.worker": "_exchange._dask._task",
    "distributed.protocol.serialize": "_exchange._dask._wire",
    **{
        f"{home}array_api_extra._lib.{helpers}": "_exchange._extra"
        for home in ("", "scipy._lib.", "scipy._external.", "sklearn.externals.")
        for helpers in ("_helpers", "_utils._helpers")
    },
}


def _register(name, module):
    import_module("treadle." + _WATCHED[name]).register(module)


class _Finder:
    def find_spec(self, name, path=None, target=None):
        """Find nothing itself. A watched module that the other finders find gets a loader that registers arrays
        afterwards."""
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


class _NumPysModules:
    """The last finder. `import treadle.ma` and `from treadle.lib.recfunctions import …` mean NumPy's public modules
    where treadle has none of that name."""

    def find_spec(self, name, path=None, target=None):
        top, _, below = name.partition(".")
        if top != "treadle" or "._" in name:
            return None
        from importlib.machinery import ModuleSpec

        home, _, last = name.rpartition(".")
        found = vars(sys.modules[home]).get(last)  # a module that has a second name here
        if type(found) is not type(sys):
            try:
                found = import_module(f"numpy.{below}")
            except ModuleNotFoundError:
                return None
        return ModuleSpec(name, _Given(found), is_package=hasattr(found, "__path__"))


class _Given:
    """The loader of a module that is there: it takes the place of the module that the import has made."""

    def __init__(self, module):
        self.module = module

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        sys.modules[module.__name__] = self.module


def watch():
    """Register treadle's arrays with the watched libraries: now if they are imported, otherwise on their import."""
    for name in _WATCHED:
        if name in sys.modules:
            _register(name, sys.modules[name])
    sys.meta_path.insert(0, _Finder())
    sys.meta_path.append(_NumPysModules())
