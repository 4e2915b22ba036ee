"""The import hook: in the program's own files numpy means treadle, in libraries it stays NumPy.

A file is the program's own unless it lies in Python's library, in a folder of installed packages, or in treadle. torch
means treadle's in libraries too, because the tensors of a library and of the program must be of one kind.
"""

import builtins
import contextlib
import functools
import importlib
import importlib.machinery
import os
import site
import sys
import sysconfig
import types

import numpy

from .. import _core
from . import _faces

_ALIASES = {  # the name that a program imports: the module of treadle's that it gets
    "cupy": "treadle",
    "cupyx": "treadle.cupyx",
    "cupyx.scipy": "treadle.scipy",
    "pycuda": "treadle.pycuda",
    "numba": "treadle.unchanged._numba",
    "numba.cuda": "treadle.unchanged._numbacuda",
    "numba.cuda.types": "treadle.types",
    "numba.extending": "treadle.unchanged._extending",
    "numba.types": "treadle.types",
    "numba.core": "treadle.unchanged._numba",
    "numba.typed": "treadle.typed",
    "numba.experimental": "treadle.experimental",
    "numba.typed.typedlist": "treadle.typed",
    "numba.typed.typeddict": "treadle.typed",
    "numba.core.types": "treadle.types",
    "torch": "treadle.torch",
    "concurrent": "concurrent",
    "concurrent.futures": "treadle.unchanged._futures",
    "concurrent.futures._base": "concurrent.futures._base",
    "concurrent.futures.process": "concurrent.futures.process",
    "concurrent.futures.thread": "concurrent.futures.thread",
}
# Modules of Numba's that treadle has only where Numba is not installed: the module and name that stand for them.
_WITHOUT_NUMBA = {
    "numba.core.errors": ("treadle.unchanged._numbaparts", "errors"),
    "numba.errors": ("treadle.unchanged._numbaparts", "errors"),
    "numba.core.config": ("treadle.unchanged._numbaparts", "config"),
    "numba.config": ("treadle.unchanged._numbaparts", "config"),
    "numba.core.decorators": ("treadle.unchanged", "_numba"),
    "numba.cuda.cudadrv.error": ("treadle.unchanged._numbaparts", "cuda_errors"),
    "numba.misc": ("treadle.unchanged", "_numba"),
    "numba.misc.special": ("treadle.unchanged", "_numba"),
    "numba.cuda.misc": ("treadle.unchanged", "_numba"),
    "numba.cuda.misc.special": ("treadle.unchanged", "_numba"),
    "numba.np": ("treadle.unchanged", "_numba"),
    "numba.np.ufunc": ("treadle.unchanged", "_numba"),
}
# modules that are left alone (TREADLE_KEEP)
KEPT = frozenset(os.environ.get("TREADLE_KEEP", "").replace(",", " ").split())
_EVERYWHERE = {"torch"} - KEPT  # replaced in libraries too
TOPS = tuple({"numpy", "cupy", "cupyx", "numba", "pycuda", "torch", "concurrent"} - KEPT)
_VERSIONS = {"cupy": "13.6.0", "cupyx": "13.6.0", "numba": "0.62.1", "pycuda": "2025.1"}

_clocks = {}  # modules whose clocks wait for recorded work, by name; filled by wait_at_clocks()

_import, _import_module, _reload = builtins.__import__, importlib.import_module, importlib.reload
_owned = {}  # folder or file: whether it is the program's own
_aliases = {}  # name: the module that stands for it


def _library_folders():
    paths = sysconfig.get_paths()
    found = [paths[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")]
    found += [*site.getsitepackages(), site.getusersitepackages()]
    found.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return tuple({os.path.join(os.path.realpath(p), "") for p in found})


_FOLDERS = _library_folders()


def _is_own(file):
    if file.startswith("<"):
        return file.startswith(("<ipython", "<stdin>", "<string>"))
    path = os.path.realpath(file)
    if path.startswith(_FOLDERS) or any(f"{os.sep}{d}{os.sep}" in path for d in ("site-packages", "dist-packages")):
        return False
    for entry in sys.path:  # a folder on sys.path into which packages were installed by hand
        root = os.path.join(os.path.realpath(entry or "."), "")
        if path.startswith(root) and _installed(root):
            return False
    return True


def _installed(root):
    try:
        return any(name.endswith((".dist-info", ".egg-info")) for name in os.listdir(root))
    except OSError:
        return False


def is_own(namespace):
    """Whether these globals belong to the program's own code."""
    if namespace is None:
        return False
    file = namespace.get("__file__")
    if not isinstance(file, str):
        return namespace.get("__name__") == "__main__"
    known = _owned.get(file)
    if known is None:
        known = _owned[file] = _is_own(file)
    return known


def _imports_into(namespace, frame):
    """Whether an import is the program's own, by its globals, which may be None, and the frame that imports. Text that
    exec runs with globals that tell of no file belongs to the file that runs it."""
    while namespace is None or not isinstance(namespace.get("__file__"), str):
        if frame is None or is_own(namespace):
            return is_own(namespace)
        namespace, frame = frame.f_globals, frame.f_back
    return is_own(namespace)


class _Alias(types.ModuleType):
    """A module of treadle's under another package's name."""

    @property
    def __dict__(self):
        """All names with their values, for programs that iterate over them (vars(torch.distributions))."""
        found = dict(_faces.real_dict(self))
        for name in dir(self):
            with contextlib.suppress(AttributeError, ImportError):
                found[name] = getattr(self, name)
        return found

    def __init__(self, name, real):
        super().__init__(name, real.__doc__)
        _faces.real_dict(self).update(_td_real=real, __path__=[], __file__=getattr(real, "__file__", None))
        if name in _VERSIONS:
            _faces.real_dict(self)["__version__"] = _VERSIONS[name]

    def __getattr__(self, name):
        real = _faces.real_dict(self)["_td_real"]
        full = f"{self.__name__}.{name}"
        if full in _ALIASES:
            return _alias(full)
        if name == "__all__":
            return getattr(real, "__all__", [n for n in dir(real) if not n.startswith("_")])
        try:
            value = getattr(real, name)
        except AttributeError as e:
            why = str(e).partition(": ")[2]
            try:
                return _alias(full)
            except ImportError:
                there = _installed_numba(self.__name__)
                if hasattr(there, name):
                    return getattr(there, name)
                text = f"module '{self.__name__}' has no attribute '{name}'" + (f": {why}" if why else "")
                raise AttributeError(text, name=name) from None
        if value is real:  # a name for the module itself, as torch.torch
            return self
        if full == "cupy.ndarray":
            from .._cupy._class import ndarray

            return ndarray
        if self.__name__.partition(".")[0] == "cupy":
            value = _core._behind(value)  # CuPy refuses what holds no numbers
        if name == "get_array_module":
            value = _faces.real_dict(self)[name] = self._programs_own(value)
        if not isinstance(value, types.ModuleType) or value.__name__.partition(".")[0] == "numba":
            return value
        try:
            return _alias(full)
        except ModuleNotFoundError:  # a module that only the face's own code imports
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'", name=name) from None

    def _programs_own(self, get_array_module):
        """The function with the modules that the program has imported, which it compares: `if xp is np`."""

        @functools.wraps(get_array_module)
        def found(*args):
            module = get_array_module(*args)
            if module is _faces.real_dict(self)["_td_real"]:
                return self
            return resolve("numpy") if module is numpy and "numpy" in TOPS else module

        return found

    def __dir__(self):
        return dir(_faces.real_dict(self)["_td_real"])


class _CalledAlias(_Alias):
    """The same for a module that hides a function of its own name, and is called as the function is."""

    def __call__(self, *args, **kwargs):
        """Call the function."""
        return _faces.real_dict(self)["_td_real"](*args, **kwargs)


def _alias(name):
    made = _aliases.get(name)
    if made is None:
        real = _ALIASES.get(name)
        if real is None:
            home, _, last = name.rpartition(".")
            if not home:
                raise ModuleNotFoundError(f"No module named '{name}'", name=name)
            above = _alias(home)
            if not isinstance(above, _Alias):  # a module of the real Numba, which treadle lacks
                return _import_module(name)
            there = _faces.real_dict(above)["_td_real"]
            real = f"{vars(there).get('_td_home', there.__name__)}.{last}"
        try:
            module = _import_module(real)
        except ModuleNotFoundError as e:
            if not (e.name or "").startswith(real.rpartition(".")[0] or real):
                raise
            module = _installed_numba(name)
            if module is not None:
                return module
            if name not in _WITHOUT_NUMBA:
                raise ModuleNotFoundError(f"No module named '{name}'", name=name) from None
            home, part = _WITHOUT_NUMBA[name]
            module = getattr(_import_module(home), part)
        made = _aliases[name] = (_CalledAlias if callable(module) else _Alias)(name, module)
        if name.partition(".")[0] in _EVERYWHERE:
            _faces.real_dict(made)["__spec__"] = importlib.machinery.ModuleSpec(name, _Everywhere, is_package=True)
            sys.modules.setdefault(name, made)
    return made


def _installed_numba(name):
    """The real Numba's module of that name. None where it is not installed, or the name is not Numba's."""
    if name.partition(".")[0] != "numba":
        return None
    return _import_module("treadle.unchanged._realnumba").numba(name)


class _Everywhere:
    """A finder on sys.meta_path that gives libraries torch and its submodules. The import hook does not see their
    imports."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] not in _EVERYWHERE:
            return None
        try:
            return _alias(name).__spec__
        except ModuleNotFoundError:
            return None

    @staticmethod
    def find_distributions(context):
        """A distribution with PyTorch's version, for libraries that ask importlib.metadata."""
        from importlib.metadata import Distribution  # imported here because it is slow and rarely needed

        class Told(Distribution):
            def read_text(self, filename):
                version = _alias(context.name).__version__
                text = f"Metadata-Version: 2.1\nName: {context.name}\nVersion: {version}\n"
                return text if filename == "METADATA" else None

            def locate_file(self, path):
                return path

        return [Told()] if context.name in _EVERYWHERE else []

    @staticmethod
    def create_module(spec):
        return _alias(spec.name)

    @staticmethod
    def exec_module(module):
        """Nothing to execute: the module is complete."""


def resolve(name):
    """The module that a program gets for this name."""
    if name in _clocks:
        return _clocks[name]
    return _faces.face(name) if name.split(".")[0] == "numpy" else _alias(name)


def _hooked(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and name.partition(".")[0] in TOPS and _imports_into(globals, sys._getframe().f_back):
        module = resolve(name)
        if not fromlist:
            return resolve(name.partition(".")[0])
        if name in _clocks:
            return module
        if isinstance(module, (_faces.Module, _Alias)):
            return module
    return _import(name, globals, locals, fromlist, level)


def import_module(name, package=None):
    """importlib.import_module for the program's own files."""
    if name.partition(".")[0] in TOPS and _imports_into(None, sys._getframe().f_back):
        return resolve(name)
    return _import_module(name, package)


def reload(module):
    """importlib.reload, which leaves treadle's stand-ins alone."""
    kept = isinstance(module, (_faces.Module, _Alias)) or module in _clocks.values()
    return module if kept else _reload(module)


def wait_at_clocks():
    """From now on the clocks that the program's own files import compute recorded work before they are read."""
    global TOPS
    from . import _clocks as faces

    _clocks.update(faces.FACES)
    TOPS = (*TOPS, *faces.FACES)


def hook():
    """Install the import hook."""
    builtins.__import__ = _hooked
    importlib.import_module = import_module
    importlib.reload = reload
    sys.meta_path.insert(0, _Everywhere)
