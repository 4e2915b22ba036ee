"""The public names of the package's modules. dir() shows only these, so that completion offers nothing else."""

import sys
import types

from . import _core


def _private(module):
    return any(part.startswith("_") for part in module.split("."))


def _imported(value, module):
    """Whether `module` only imports the value, from another library or another public module."""
    if isinstance(value, types.ModuleType):
        return not value.__name__.startswith(module + ".")
    if not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return False
    home = getattr(value, "__module__", None) or module
    own = home in (module, "treadle") or home.startswith(module + ".") or _private(home)  # "treadle": the core's types
    return not (own and home.startswith("treadle"))


def names(module, more=()):
    """The public names of an imported module: __all__, or else what it defines and what it imports from private
    modules."""
    scope = vars(sys.modules[module])
    if "__all__" in scope:
        return sorted({*scope["__all__"], *more})
    return sorted({n for n, v in scope.items() if n[0] != "_" and not _imported(v, module)} | {*more})


def dir_of(module, more=()):
    """The __dir__ of a module, given by its name. more: names that the module makes at their first access."""

    def __dir__():
        return names(module, more)

    return __dir__


def set_doors(module, below):
    """Put a door (src/python/common/door.c) before each function that the module defines. NumPy's function of the same
    name stands in numpy.<below>."""
    scope = vars(sys.modules[module])
    for name in scope["__all__"]:
        f = scope[name]
        if isinstance(f, types.FunctionType):
            scope[name] = _core.door(f"{below}.{name}", f)
