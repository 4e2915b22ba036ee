"""SciPy's modules as tables: which names are ours, and everything else by SciPy on the host.

A module of treadle.scipy is made of one Table. It lists the names that are *native* (kernels, or the vendor's library)
and *composed* (of native functions), each with the file that holds it. All other names of SciPy's module are *host*:
functions go through _host.fallback, classes and objects become ones whose calls and attributes do. SciPy is looked for
when a host name is asked for; without it the name is there and its call says what to install.

What is on the host and not an array is a HostObject here. A class of ours that has a counterpart there may have
``_scipy_()``, which gives it, and `converts` says what SciPy's objects of a type become here.
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

TABLES = {}  # module -> Table, of the modules that have been imported
_FORWARDED = (
    "len getitem setitem delitem iter next contains bool float int index add radd sub rsub mul rmul matmul rmatmul "
    "truediv rtruediv pow neg eq ne lt le gt ge"
).split()
_SIMPLE = (str, bytes, int, float, complex, bool, type(None), numpy.ndarray, numpy.generic, numpy.dtype)
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
_converters = {}


class Table:
    """The names of scipy.<module>. native, composed: {file of treadle.scipy: its names, in one string}."""

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
        """__getattr__, __dir__ and __all__ of the module."""
        place = f"{__package__}.{self.module}"

        def lookup(name):
            value = self.find(name)
            setattr(sys.modules[place], name, value)
            return value

        names = sorted(self.status)
        return lookup, lambda: names, names

    def find(self, name):
        """The value of a name. AttributeError: neither the table nor the installed SciPy has it."""
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
    """What stands here for SciPy's value: a function, a class, an object whose calls go to the host; or itself."""
    if isinstance(value, type):
        return value if issubclass(value, BaseException) else _type_of(value)
    if callable(value) and not isinstance(type(value), _HostType) and not _is_scipys(type(value)):
        return _function(name, value)
    return _wrap(value)


def converts(cls, make):
    """Says that results of SciPy's class cls (its full name) become make(result)."""
    _converters[cls] = make


def call(name, f, args, kwargs, why=None):
    """f(*args, **kwargs) on the host, noted as name; out= and output= are written to."""
    if isinstance(f, numpy.ufunc) and len(args) > f.nin:
        args, kwargs = args[: f.nin], {**kwargs, "out": args[f.nin] if f.nout == 1 else args[f.nin :]}
    if _holds_array(kwargs.get("output")):
        kwargs = {**kwargs, "out": kwargs["output"]}
        del kwargs["output"]
        f = _with_output(f)
    return _wrap(_host.fallback(name, f, _down(args), _down(kwargs), why))


def _with_output(f):
    """f, which calls output what others call out."""
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


# ---- to the host and back, of what is no array ----


def _down(x):
    """x with SciPy's objects for ours, functions of the user answering NumPy's arrays, in tuples, lists and dicts."""
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
    """f whose results of treadle's arrays are NumPy's: SciPy calls it."""

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
    """SciPy's objects as HostObjects, in tuples, lists and dicts."""
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
    """An attribute of an object on the host as it is seen here; reading one computes nothing and counts nothing."""
    if callable(value) and not isinstance(value, type):
        return _function(name, value)
    return _wrap(_host._Trip(name).up(value))


class _HostType(type):
    """The type of classes that stand for SciPy's: class methods and constants are found there."""

    def __getattr__(cls, name):
        if name.startswith("__") or "_class" not in cls.__dict__:
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        return _attribute(f"{cls._path()}.{name}", getattr(cls._class, name))

    def _path(cls):
        c = cls._class
        return ".".join(part for part in f"{c.__module__}.{c.__name__}".split(".") if not part.startswith("_"))


class HostObject(metaclass=_HostType):
    """An object of SciPy's on the host: what its methods are given as treadle's arrays they get as NumPy's, and what
    they return comes back as treadle's."""

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
    """The class here that stands for SciPy's cls, with bases that stand for its bases."""
    bases = tuple(_type_of(b) for b in cls.__bases__ if b.__module__.startswith("scipy.")) or (HostObject,)
    module = "treadle." + ".".join(part for part in cls.__module__.split(".") if not part.startswith("_"))
    return _HostType(cls.__name__, bases, {"_class": cls, "__doc__": cls.__doc__, "__module__": module})
