"""SciPy's modules as tables: which names treadle defines. SciPy computes all others on the host.

Each module of treadle.scipy has one Table. It lists *native* names (kernels, or the vendor's library) and *composed*
ones (made of native functions), each with the file that defines it. All other names of SciPy's module are *host* names.
Their functions go through _host.fallback; their classes and objects are wrapped, so that calls and attributes do. SciPy
is imported at the first access to a host name. Without it the name exists, and calling it says what to install.

An object of SciPy's that is not an array becomes a HostObject. A class of treadle's that has a counterpart in SciPy may
have the method ``_scipy_()``, which makes it. `converts` registers what SciPy's objects of a type become here.
"""

import functools
import importlib
import sys
import types

import numpy

from .. import _core
from .._exchange import _host
from .._words import near
from ._names import NAMES

TABLES = {}  # the Table of each module that has been imported
_FORWARDED = (
    "len getitem setitem delitem iter next contains bool float int index add radd sub rsub mul rmul matmul rmatmul "
    "truediv rtruediv pow neg eq ne lt le gt ge"
).split()
_SIMPLE = (str, bytes, int, float, complex, bool, type(None), numpy.ndarray, numpy.generic, numpy.dtype)
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
_converters = {}


class Table:
    """The names of scipy.<module>. native, composed: for each file of treadle.scipy its names, in one string."""

    def __init__(self, module, native=None, composed=None):
        self.module = module
        self.home, self.status = {}, {}
        for status, files in (("native", native or {}), ("composed", composed or {})):
            for file, names in files.items():
                for name in names.split():
                    self.home[name], self.status[name] = file, status
        for name in NAMES.get(module, "").split():
            self.status.setdefault(name, "host")
        TABLES[module] = self

    def attach(self):
        """The module's (__getattr__, __dir__, __all__)."""
        place = f"{__package__}.{self.module}"

        def lookup(name):
            value = self.find(name)
            setattr(sys.modules[place], name, value)
            return value

        names = sorted(self.status)
        return lookup, lambda: names, names

    def find(self, name):
        """The value of a name. Raises AttributeError if neither the table nor the installed SciPy has it."""
        if name in self.home:
            return getattr(importlib.import_module(f"{__package__}.{self.home[name]}"), name)
        full = f"scipy.{self.module}.{name}"
        if name.startswith("_") or name not in self.status and "scipy" not in sys.modules:
            guess = "" if name.startswith("_") else near(name, self.status)
            raise AttributeError(f"module 'treadle.scipy.{self.module}' has no attribute '{name}'{guess}", name=name)
        try:
            there = importlib.import_module(f"scipy.{self.module}")
        except ImportError:
            return _missing(full)
        if not hasattr(there, name) or isinstance(getattr(there, name), types.ModuleType):
            guess = near(name, [*self.status, *dir(there)])
            raise AttributeError(f"neither treadle nor the installed SciPy has {full}{guess}", name=name)
        return on_host(full, getattr(there, name))


def on_host(name, value):
    """The stand-in for SciPy's value: a function, a class or an object whose calls go to the host. Or the value
    itself."""
    if isinstance(value, type):
        return value if issubclass(value, BaseException) else _type_of(value)
    if callable(value) and not isinstance(type(value), _HostType) and not _is_scipys(type(value)):
        return _function(name, value)
    return _wrap(value)


def converts(cls, make):
    """Register make(result) as the conversion of results of SciPy's class cls, given by its full name."""
    _converters[cls] = make


def call(name, f, args, kwargs, why=None):
    """Call f(*args, **kwargs) on the host and record it under name. The results go to out= or output= if given."""
    if isinstance(f, numpy.ufunc) and len(args) > f.nin:
        args, kwargs = args[: f.nin], {**kwargs, "out": args[f.nin] if f.nout == 1 else args[f.nin :]}
    if _holds_array(kwargs.get("output")):
        kwargs = {**kwargs, "out": kwargs["output"]}
        del kwargs["output"]
        f = _with_output(f)
    return _wrap(_host.fallback(name, f, _down(args), _down(kwargs), why))


def _with_output(f):
    """f with its parameter output renamed to out."""
    return lambda *args, out, **kwargs: f(*args, output=out, **kwargs)


def _holds_array(x):
    return isinstance(x, _core.ndarray) or type(x) is tuple and bool(x) and all(map(_holds_array, x))


def _function(name, f):
    def there(*args, **kwargs):
        return call(name, f, args, kwargs)

    there.__name__ = there.__qualname__ = name.rpartition(".")[2]
    there.__doc__ = f"{name}, computed by SciPy on the host.\n\n{getattr(f, '__doc__', None) or ''}"
    there.__wrapped__ = f
    return there


def _missing(name):
    def there(*args, **kwargs):
        raise _core.MissingLibraryError(f"{name} is computed by SciPy, which is not installed: pip install scipy")

    there.__name__ = there.__qualname__ = name.rpartition(".")[2]
    there.__doc__ = f"{name}, computed by SciPy on the host, which is not installed."
    there.__wrapped__ = there
    return there


# ---- conversion of what is no array ----


def _down(x):
    """x for SciPy: treadle's objects become SciPy's, also in tuples, lists and dicts, and functions return NumPy
    arrays."""
    if isinstance(x, (*_SIMPLE, _core.ndarray)):
        return x
    if type(x) in (tuple, list):
        return type(x)(map(_down, x))
    if type(x) is dict:
        return {k: _down(v) for k, v in x.items()}
    if hasattr(type(x), "_scipy_"):
        return x._scipy_()
    if isinstance(x, _HostType):
        return x._class
    if isinstance(x, _FUNCTIONS):
        return x.__wrapped__ if getattr(x, "__module__", "") == __name__ else _answering(x)
    return x


def _answering(f):
    """f for SciPy to call: results that are treadle's arrays become NumPy's."""

    @functools.wraps(f)
    def asked(*args, **kwargs):
        return _answer(f(*args, **kwargs))

    return asked


def _answer(r):
    if isinstance(r, _core.ndarray):
        return r.get()
    return type(r)(map(_answer, r)) if type(r) in (tuple, list) else r


def _is_scipys(cls):
    return any(base.__module__.partition(".")[0] == "scipy" for base in cls.__mro__)


def _wrap(x):
    """SciPy's objects as HostObjects, also in tuples, lists and dicts."""
    if isinstance(x, (*_SIMPLE, _core.ndarray)):
        return x
    for cls in type(x).__mro__:
        make = _converters.get(f"{cls.__module__}.{cls.__name__}")
        if make:
            return make(x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return _host._named(x, _wrap)
    if type(x) in (tuple, list):
        return type(x)(map(_wrap, x))
    if type(x) is dict:
        return {k: _wrap(v) for k, v in x.items()}
    if not _is_scipys(type(x)) or isinstance(x, (type, tuple)):
        return x
    wrapped = object.__new__(_type_of(type(x)))
    object.__setattr__(wrapped, "_object", x)
    return wrapped


def _attribute(name, value):
    """An attribute of an object on the host, converted. Reading one is not recorded as a fallback."""
    if callable(value) and not isinstance(value, type):
        return _function(name, value)
    return _wrap(_host._Trip(name).up(value))


class _HostType(type):
    """The type of stand-ins for SciPy's classes. It finds their class methods and constants."""

    def __getattr__(cls, name):
        if name.startswith("__") or "_class" not in cls.__dict__:
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        return _attribute(f"{cls._path()}.{name}", getattr(cls._class, name))

    def _path(cls):
        c = cls._class
        return ".".join(part for part in f"{c.__module__}.{c.__name__}".split(".") if not part.startswith("_"))


class HostObject(metaclass=_HostType):
    """An object of SciPy's on the host. Its methods get treadle's arrays as NumPy's, and their results become
    treadle's."""

    def __new__(cls, *args, **kwargs):
        return call(cls._path(), cls._class, args, kwargs)

    def __getattr__(self, name):
        return _attribute(f"{type(self)._path()}.{name}", getattr(self._object, name))

    def __setattr__(self, name, value):
        setattr(self._object, name, _host._Trip(name).down(_down(value)))

    def __call__(self, *args, **kwargs):
        return call(type(self)._path(), self._object, args, kwargs)

    def __repr__(self):
        return repr(self._object)

    def __dir__(self):
        return dir(self._object)

    def __hash__(self):
        return hash(self._object)

    def __reduce__(self):
        return _wrap, (self._object,)

    def _scipy_(self):
        return self._object


def _forward(name):
    dunder = f"__{name}__"

    def method(self, *args):
        f = getattr(type(self._object), dunder, None)
        if f is None:
            return NotImplemented if args else _refuse(self, dunder)
        return call(f"{type(self)._path()}.{dunder}", f, (self, *args), {})

    method.__name__ = dunder
    return method


def _refuse(x, dunder):
    if dunder == "__bool__":
        return len(x._object) > 0 if hasattr(type(x._object), "__len__") else True
    raise TypeError(f"{type(x).__name__} has no {dunder}")


for _name in _FORWARDED:
    setattr(HostObject, f"__{_name}__", _forward(_name))


@functools.cache
def _type_of(cls):
    """The stand-in for SciPy's class cls, whose bases are the stand-ins for its bases."""
    bases = tuple(_type_of(b) for b in cls.__bases__ if b.__module__.startswith("scipy.")) or (HostObject,)
    module = "treadle." + ".".join(part for part in cls.__module__.split(".") if not part.startswith("_"))
    return _HostType(cls.__name__, bases, {"_class": cls, "__doc__": cls.__doc__, "__module__": module})
