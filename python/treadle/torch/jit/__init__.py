"""torch.jit: functions and modules stay Python code, because treadle compiles what they record in any case.

script() and trace() return their argument as an object that can be saved. A file holds the module's values and the name
of its class. A program that loads it must be able to import that class.
"""

import builtins as _builtins
import functools
import io
import os
import zipfile
from typing import Final as Final

from .. import _modules
from ..futures import Future as Future
from ..nn.modules.module import Module

__all__ = [
    "Attribute", "Error", "Final", "Future", "ScriptFunction", "ScriptModule", "annotate",
    "enable_onednn_fusion", "export", "fork", "freeze", "ignore", "interface", "is_scripting", "is_tracing",
    "isinstance", "load", "onednn_fusion_enabled", "optimize_for_inference", "save", "script", "script_if_tracing",
    "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused", "wait",
]  # fmt: skip


class Error(RuntimeError):
    """An exception that a scripted function raised; here functions raise their own."""


class ScriptFunction:
    """A function that was given to script() or trace(). It is called unchanged, and saved by its name."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __reduce__(self):
        return ScriptFunction, (self._function,)

    def save(self, f, _extra_files=None):
        """torch.jit.save(self, f)."""
        save(self, f, _extra_files)


class ScriptModule(Module):
    """A module that was given to script() or trace(), with the same parameters and submodules, and with save().
    Programs may derive modules from it."""

    _scripted = None  # the class of the module that script() was given

    def save(self, f, _extra_files=None):
        """torch.jit.save(self, f)."""
        save(self, f, _extra_files)

    @property
    def original_name(self):
        """The name of the module's class."""
        return (self._scripted or type(self)).__name__

    def __reduce_ex__(self, protocol):
        if self._scripted is None:
            return super().__reduce_ex__(protocol)
        return _scripted, (self._scripted, self.__dict__)


@functools.cache
def _class(cls):
    """cls with ScriptModule's methods."""
    return type(cls.__name__, (ScriptModule, cls), {"_scripted": cls, "__doc__": cls.__doc__})


def _scripted(cls, state):
    made = object.__new__(_class(cls))
    made.__dict__.update(state)
    return made


def script(obj=None, *args, **kwargs):
    """Return a module as a ScriptModule with the same parameters, a function as a ScriptFunction, a class unchanged."""
    if obj is None:
        return script
    if _builtins.isinstance(obj, (ScriptModule, ScriptFunction, type)):
        return obj
    if _builtins.isinstance(obj, Module):
        return _scripted(type(obj), obj.__dict__)
    if not callable(obj):
        raise TypeError(f"torch.jit.script: a module, a function or a class; {type(obj).__name__} given")
    return ScriptFunction(obj)


def trace(func=None, example_inputs=None, *args, example_kwarg_inputs=None, **kwargs):
    """script(func). Nothing is traced, so branches stay branches. If there are example inputs, func is called once."""
    made = script(func)
    if example_inputs is not None or example_kwarg_inputs is not None:
        given = () if example_inputs is None else example_inputs
        made(*(given if _builtins.isinstance(given, (tuple, list)) else (given,)), **(example_kwarg_inputs or {}))
    return made


def trace_module(mod, inputs, *args, **kwargs):
    """script(mod)."""
    return script(mod)


def script_if_tracing(fn):
    """fn itself, because nothing is traced."""
    return fn


_script_if_tracing = script_if_tracing


def save(m, f, _extra_files=None):
    """Write a module or function to a path or file: its values, and where its class or function is defined.

    _extra_files: {name: text}, which load() returns.
    """
    from .. import serialization

    if not _builtins.isinstance(m, (ScriptModule, ScriptFunction)):
        raise TypeError(f"torch.jit.save: give what torch.jit.script or trace returned, not {type(m).__name__}")
    serialization.save({"treadle.torch.jit": 1, "module": m, "extra": dict(_extra_files or {})}, f)


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """Load what save() wrote. Raises RuntimeError for PyTorch's own TorchScript code, which treadle cannot run."""
    from .. import serialization

    if _builtins.isinstance(f, (bytes, bytearray)):
        f = io.BytesIO(f)
    if _builtins.isinstance(f, (str, os.PathLike)) and not os.path.exists(f):
        raise ValueError(f"The provided filename {f} does not exist")
    if zipfile.is_zipfile(f):
        with zipfile.ZipFile(f) as archive:
            if any(n.split("/")[1:2] == ["code"] for n in archive.namelist()):
                raise RuntimeError(
                    "torch.jit.load: the file holds TorchScript's code, which treadle cannot run: save the model's "
                    "state_dict() with PyTorch, and load it into the module's class"
                )
    if hasattr(f, "seek"):
        f.seek(0)
    found = serialization.load(f, map_location, weights_only=False)
    if not (_builtins.isinstance(found, dict) and "treadle.torch.jit" in found):
        raise RuntimeError(
            "torch.jit.load: torch.jit.save did not write this file; torch.load reads those of torch.save"
        )
    for name in _extra_files or ():
        _extra_files[name] = found["extra"].get(name, "")
    return found["module"]


def _same(obj=None, *args, **kwargs):
    return (lambda f: f) if not callable(obj) else obj


def ignore(drop=False, **kwargs):
    """A decorator that leaves the function as it is."""
    return _same(drop)


def unused(fn):
    """fn itself."""
    return fn


def export(fn):
    """fn itself."""
    return fn


def interface(obj):
    """obj itself."""
    return obj


script_method = _overload = _overload_method = _same  # libraries declare second signatures by the last two


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """The module in evaluation mode. Raises RuntimeError if it is in training mode."""
    if mod.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Call eval() before freezing."
        )
    return mod


def optimize_for_inference(mod, other_methods=None):
    """The module in evaluation mode. It is compiled in any case."""
    return mod.eval()


run_frozen_optimizations = optimize_for_inference


def annotate(the_type, the_value):
    """the_value."""
    return the_value


class Attribute:
    """A value with its type. value is the value itself."""

    def __init__(self, value, type):
        self.value, self.type = value, type


def isinstance(obj, target_type):
    """Is obj of the type? For list[int] and similar types only the outer class is checked."""
    from typing import get_origin

    types = target_type if _builtins.isinstance(target_type, tuple) else (target_type,)
    return any(_builtins.isinstance(obj, get_origin(t) or t) for t in types)


def fork(func, *args, **kwargs):
    """A Future of func's result. func is called at once, since its operations run later in any case."""
    made = Future()
    try:
        made.set_result(func(*args, **kwargs))
    except Exception as error:
        made.set_exception(error)
    return made


def wait(future):
    """The result of a fork."""
    return future.wait()


def is_scripting():
    """False."""
    return False


def is_tracing():
    """False."""
    return False


def enable_onednn_fusion(enabled):
    """Does nothing: kernels are fused by treadle."""


def onednn_fusion_enabled():
    """False."""
    return False


def set_fusion_strategy(strategy):
    """Does nothing: kernels are fused by treadle. Returns the strategy."""
    return strategy


class strict_fusion:
    """A with statement that changes nothing."""

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        pass


__getattr__, __dir__ = _modules.refusing("torch.jit")
