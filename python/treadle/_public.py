"""What dir() shows of a module of the package: its public names, so that completion offers nothing else."""

import sys
import types


def _private(module):
    return any(part.startswith("_") for part in module.split("."))


def _imported(value, module):
    """Whether `module` only uses the value: another library's, or another public module's."""
    if isinstance(value, types.ModuleType):
        return not value.__name__.startswith(module + ".")
    if not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return False
    home = getattr(value, "__module__", None) or module
    own = home in (module, "treadle") or home.startswith(module + ".") or _private(home)  # "treadle": the core's types
    return not (own and home.startswith("treadle"))


def names(module, more=()):
    """The public names of an imported module: __all__, or what it defines and what it takes from private modules."""
    scope = vars(sys.modules[module])
    if "__all__" in scope:
        return sorted({*scope["__all__"], *more})
    return sorted({n for n, v in scope.items() if n[0] != "_" and not _imported(v, module)} | {*more})


def dir_of(module, more=()):
    """The __dir__ of a module, by its name; more: names that it makes when they are asked for."""

    def __dir__():
        return names(module, more)

    return __dir__
