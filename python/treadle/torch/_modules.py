"""Modules of PyTorch's that have no file here: those whose names stand in another module, and those that are refused.

A refused module can be imported, so that a program that may not need it runs. What it would hold is a Refused, which
raises NotImplementedError with the reason when it is used.
"""

import sys
import types
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder

from .._public import dir_of
from .._words import near_in
from ._names import HOMES, REFUSED, reason
from ._override import _Off

_ROOT = __package__  # treadle.torch


def refusal(module, name):
    """An AttributeError for a name that a module of treadle.torch lacks, with the reason where the table has one."""
    why = reason(module, name) or "docs/torch.md lists what treadle.torch has"
    guess = near_in(_ROOT + module.removeprefix("torch"), name)
    return AttributeError(f"module '{module}' has no attribute '{name}': {why}{guess}", name=name)


def refusing(module):
    """The __getattr__ and __dir__ of a module of treadle.torch, by PyTorch's name: a module below it is imported, all
    else refused."""
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
    """{name: a method that is NotImplementedError with the reason} of those of torch.Tensor that are refused."""
    return {name: _method(name, why) for names, why in REFUSED["torch.Tensor"].items() for name in names.split()}


def _method(name, why):
    def refused(self, *args, **kwargs):
        raise NotImplementedError(f"Tensor.{name} is not in treadle.torch: {why}")

    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = f"NotImplementedError: {why}."
    refused._refused = True
    return refused


class Refused:
    """Stands for a name of a refused module: an import of it goes through, its use is NotImplementedError."""

    def __init__(self, name, why):
        self.__dict__.update(_name=name, _why=why, __name__=name.rpartition(".")[2], __doc__=why)

    def _refuse(self, *args, **kwargs):
        raise NotImplementedError(f"{self._name} is not in treadle.torch: {self._why}")

    __call__ = __iter__ = __enter__ = __setattr__ = _refuse

    def __mro_entries__(self, bases):
        """A class that a program derives from it is made; an object of it is refused."""

        def __new__(cls, *args, **kwargs):
            self._refuse()

        return (type(self.__name__, (), {"__new__": __new__, "__doc__": self.__doc__}),)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self._name}.{name}"
        return _HARMLESS.get(full) or Refused(full, self._why)  # what stands below it is refused when it is used

    def __instancecheck__(self, instance):
        return False  # nothing is an instance of a class that is not there

    def __subclasscheck__(self, cls):
        return False

    def __getitem__(self, item):  # in annotations
        return self

    __or__ = __ror__ = __getitem__

    def __repr__(self):
        return f"<refused: {self._name}: {self._why}>"


def _itself(f):
    """f: it is called as it is, and nothing traces it."""
    return f


class _Keys:
    """Names that stand for themselves."""

    def __getattr__(self, name):
        return name


_HARMLESS = {  # of refused modules: what libraries call while they are imported
    "torch.fx.wrap": _itself,
    "torch.distributed.rpc.api._require_initialized": _itself,
    "torch.onnx.symbolic_helper.parse_args": lambda *kinds: _itself,
    "torch._C._get_tracing_state": lambda: None,
    "torch._jit_internal._copy_to_script_wrapper": _itself,
    "torch.onnx.is_in_onnx_export": lambda: False,
    "torch.onnx.register_custom_op_symbolic": lambda name, function, opset_version: None,
    "torch.backends.cpu.get_cpu_capability": lambda: "DEFAULT",  # asked by those who choose among PyTorch's kernels
    "torch._C.DisableTorchFunctionSubclass": _Off,
    "torch._C._log_api_usage_once": lambda event: None,
    "torch._C.DispatchKey": _Keys(),
    "torch._C.DispatchKeySet": lambda *keys: frozenset(keys),
}


def _whole(module):
    """Why a module, or one above it, is refused whole; None: it is not."""
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
    """A module of PyTorch's whose names stand in another one here."""

    def __getattr__(self, name):
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)
        *first, last = (import_module(f"{_ROOT}.{home}") for home in _home(self.__spec__.name).split())
        return getattr(next((m for m in first if name in vars(m)), last), name)

    def __call__(self, *args, **kwargs):
        """The function of the module's own name, which the import has hidden behind it (nn.utils.weight_norm)."""
        return getattr(self, self.__spec__.name.rpartition(".")[2])(*args, **kwargs)

    def __dir__(self):
        return sorted({n for home in _home(self.__spec__.name).split() for n in dir(import_module(f"{_ROOT}.{home}"))})


def _theirs(name):
    return "torch" + name.removeprefix(_ROOT)


def _home(name):
    """Where the names of a module of treadle.torch's that has no file stand; None: nowhere."""
    package, _, last = name.removeprefix(_ROOT + ".").rpartition(".")
    return HOMES.get(package, {}).get(last)


class _Finder:
    """Finds modules without a file; asked after Python's own finders."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.startswith(_ROOT + ".") and (_home(name) or _whole(_theirs(name))):
            return ModuleSpec(name, _Finder, is_package=True)
        return None

    @staticmethod
    def create_module(spec):
        return (_Elsewhere if _home(spec.name) else _Refused)(spec.name)

    @staticmethod
    def exec_module(module):
        """Does nothing: names are looked up when they are asked for."""


sys.meta_path.append(_Finder)
