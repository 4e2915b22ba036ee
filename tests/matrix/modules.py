"""Every module of the package is imported, and every public name asked for: some are made when they are asked for."""

import importlib
import importlib.util
import pkgutil

import treadle as td

# Libraries that may be absent, which faces of theirs need.
ABSENT = {name for name in ("scipy", "dask", "mpi4py", "torch", "jax") if importlib.util.find_spec(name) is None}
NOT_IMPORTED = ("treadle.examples", "treadle.demo", "treadle.__main__", "treadle.lib", "treadle.unchanged._worker")  # programs, and libraries


def below(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as e:
        assert e.name.partition(".")[0] in ABSENT, f"{name}: {e}"
        return
    yield module
    for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not f"{name}.{info.name}".startswith(NOT_IMPORTED):
            yield from below(f"{name}.{info.name}")


modules = list(below("treadle"))
assert len(modules) > 300, len(modules)
for module in modules:
    for name in [] if "._" in module.__name__ else dir(module):
        try:
            getattr(module, name)
        except ImportError as e:
            assert getattr(e, "name", None) and e.name.partition(".")[0] in ABSENT, f"{module.__name__}.{name}: {e}"
        except AttributeError as e:
            raise AssertionError(f"{module.__name__}.{name}: {e}") from e
print(len(modules), "modules of treadle", td.__version__)
