"""PyTorch's modules that have no file here: those whose names are defined in another module, and those that are
refused.

An import of a refused module succeeds, so that a program that does not use it runs. Each of its names is a Refused
object, which raises NotImplementedError with the reason at its first use.
"""

import inspect
import sys
import types
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder

from .._public import dir_of
from .._words import near_in
from ._names import HOMES, REFUSED, reason
from ._override import _Off

_ROOT = __package__  # "treadle.torch"


def refusal(module, name):
    """An AttributeError for a name that a module of treadle.torch lacks. It gives the reason if the table has one."""
    why = reason(module, name) or "docs/torch.md lists what treadle.torch has"
    guess = near_in(_ROOT + module.removeprefix("torch"), name)
    return AttributeError(f"module '{module}' has no attribute '{name}': {why}{guess}", name=name)


def refusing(module):
    """The __getattr__ and __dir__ of a module, given by PyTorch's name. __getattr__ imports submodules and refuses all
    other names."""
    ours = _ROOT + module.removeprefix("torch")

    def __getattr__(name):
        full = f"{ours}.{name}"
        private = _private(module, name)
        if private is not None:
            return private
        folder = None if name.startswith("__") else getattr(sys.modules[ours], "__path__", None)
        below = folder and PathFinder.find_spec(full, folder)
        if below or _home(full) or "*" in REFUSED.get(f"{module}.{name}", ()):
            return import_module(full)
        raise refusal(module, name)

    return __getattr__, dir_of(ours)


def _private(module, name):
    return import_module(f"{_ROOT}._private").found(module, name)


def refused_methods():
    """{name: method that raises NotImplementedError with the reason} for the methods of torch.Tensor that are refused.
    """
    return {name: _method(name, why) for names, why in REFUSED["torch.Tensor"].items() for name in names.split()}


def _method(name, why):
    def refused(self, *args, **kwargs):
        raise NotImplementedError(f"Tensor.{name} is not in treadle.torch: {why}")

    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = f"NotImplementedError: {why}."
    refused._refused = True
    return refused


class Refused:
    """A name of a refused module. It can be imported; any use raises NotImplementedError."""

    def __init__(self, name, why):
        self.__dict__.update(_name=name, _why=why, __name__=name.rpartition(".")[2], __doc__=why)

    def _refuse(self, *args, **kwargs):
        raise NotImplementedError(f"{self._name} is not in treadle.torch: {self._why}")

    __call__ = __iter__ = __enter__ = __setattr__ = _refuse

    def __mro_entries__(self, bases):
        """Allow a program to derive a class from a refused one. Creating an instance of that class raises."""

        def __new__(cls, *args, **kwargs):
            self._refuse()

        return (type(self.__name__, (), {"__new__": __new__, "__doc__": self.__doc__}),)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self._name}.{name}"
        return _HARMLESS.get(full) or Refused(full, self._why)  # a name below it is refused at its use, too

    def __instancecheck__(self, instance):
        return False  # a class that does not exist has no instances

    def __subclasscheck__(self, cls):
        return False

    def __getitem__(self, item):  # subscripts in annotations
        return self

    __or__ = __ror__ = __getitem__

    def __repr__(self):
        return f"<refused: {self._name}: {self._why}>"


def _itself(f):
    """f, unchanged, because nothing traces it."""
    return f


class _Keys:
    """A namespace in which each name has itself as its value."""

    def __getattr__(self, name):
        return name


_HARMLESS = {  # names of refused modules that libraries call while they are imported
    "torch.fx.wrap": _itself,
    "torch.distributed.rpc.api._require_initialized": _itself,
    "torch.onnx.symbolic_helper.parse_args": lambda *kinds: _itself,
    "torch._C._get_tracing_state": lambda: None,
    "torch._jit_internal._copy_to_script_wrapper": _itself,
    "torch.onnx.is_in_onnx_export": lambda: False,
    "torch.onnx.register_custom_op_symbolic": lambda name, function, opset_version: None,
    "torch.backends.cpu.get_cpu_capability": lambda: "DEFAULT",  # libraries choose kernels by it
    "torch._C.DisableTorchFunctionSubclass": _Off,
    "torch._C._log_api_usage_once": lambda event: None,
    "torch._C.DispatchKey": _Keys(),
    "torch._C.DispatchKeySet": lambda *keys: frozenset(keys),
}


def _whole(module):
    """Why this module, or a package above it, is refused as a whole. None: it is not."""
    while module:
        why = REFUSED.get(module, {}).get("*")
        if why and module != "torch":
            return why
        module = module.rpartition(".")[0]
    return None


class _Refused(types.ModuleType):
    """A refused module."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        torch = _theirs(self.__spec__.name)
        value = _HARMLESS.get(f"{torch}.{name}") or _private(torch, name) or Refused(f"{torch}.{name}", _whole(torch))
        setattr(self, name, value)
        return value


class _Elsewhere(types.ModuleType):
    """A module of PyTorch's whose names are defined in another module here."""

    def __getattr__(self, name):
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)
        *first, last = (import_module(_at(home)) for home in _home(self.__spec__.name).split())
        return getattr(next((m for m in first if name in vars(m)), last), name)

    def __dir__(self):
        return sorted({n for home in _home(self.__spec__.name).split() for n in dir(import_module(_at(home)))})


class _Hiding(_Elsewhere):
    """Such a module whose import hides a function of its own name in the package, as nn.utils.weight_norm: it is called
    as the function is."""

    def _hidden(self):
        return vars(self)[self.__spec__.name.rpartition(".")[2]]

    def __call__(self, *args, **kwargs):
        """Call the function."""
        return self._hidden()(*args, **kwargs)

    @property
    def __signature__(self):
        return inspect.signature(self._hidden())


def _at(home):
    """The full name of a module of HOMES. "." is the package itself."""
    return _ROOT if home == "." else f"{_ROOT}.{home}"


def _theirs(name):
    return "torch" + name.removeprefix(_ROOT)


def _home(name):
    """The module that defines the names of a module of treadle.torch without a file, or None."""
    package, _, last = name.removeprefix(_ROOT + ".").rpartition(".")
    return HOMES.get(package, {}).get(last)


class _Finder:
    """Finds the modules that have no file. Python asks it after its own finders."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.startswith(_ROOT + ".") and (_home(name) or _whole(_theirs(name))):
            return ModuleSpec(name, _Finder, is_package=True)
        return None

    @staticmethod
    def create_module(spec):
        home, own = _home(spec.name), spec.name.rpartition(".")[2]
        if not home:
            return _Refused(spec.name)
        scopes = (vars(import_module(_at(h))) for h in home.split())
        hidden = next((s[own] for s in scopes if inspect.isfunction(s.get(own))), None)
        if hidden is None:
            return _Elsewhere(spec.name)
        module = _Hiding(spec.name)
        setattr(module, own, hidden)
        return module

    @staticmethod
    def exec_module(module):
        """Does nothing: the module looks names up at their first use."""


sys.meta_path.append(_Finder)
