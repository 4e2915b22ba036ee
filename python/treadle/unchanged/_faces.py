"""Modules as unchanged programs see them: numpy and its submodules, whose functions take proxies."""

import functools
import importlib
import types

import numpy

from treadle import _core

_plain, _wrap = _core._proxy_plain, _core._proxy_wrap

# Functions that make arrays of a size that their numbers say.
_SIZED = set(
    "zeros ones empty full arange linspace logspace geomspace eye identity tri indices bartlett blackman hamming "
    "hanning kaiser".split()
)
_GETTERS = {"r_", "c_", "mgrid", "ogrid"}

_modules = {}  # name of the real module: its face


class _Class(_core.proxy_class):
    """The class of numpy.ndarray: NumPy's own arrays are instances too, and a subclass is a subclass of NumPy's."""

    def __instancecheck__(cls, x):
        return type(x) is cls or isinstance(x, numpy.ndarray)

    def __subclasscheck__(cls, sub):
        return sub is cls or issubclass(sub, numpy.ndarray)

    def __new__(meta, name, bases, namespace, **kwargs):
        bases = tuple(numpy.ndarray if b is _core.proxy else b for b in bases)
        return types.new_class(name, bases, kwargs, lambda ns: ns.update(namespace))

    def _unbound(cls, name, value):
        """What ndarray.name is, a method got from the class; value: the type's own."""
        if name == "__new__":
            return _new
        return _either(value, getattr(numpy.ndarray, name)) if hasattr(numpy.ndarray, name) else value


def _either(ours, numpys):
    """For proxies ours, for subclasses of NumPy's array NumPy's."""

    @functools.wraps(numpys)
    def method(self, *args, **kwargs):
        return (ours if type(self) is _core.proxy else numpys)(self, *args, **kwargs)

    return method


def _new(cls, *args, **kwargs):
    if cls is _core.proxy:
        return cls(*args, **kwargs)
    return numpy.ndarray.__new__(cls, *_plain(args), **{k: _plain(v) for k, v in kwargs.items()})


class ufunc(type):
    """The class of numpy.ufunc."""

    def __instancecheck__(cls, x):
        return isinstance(x, (numpy.ufunc, _core.uface))


class _Getter:
    """numpy.r_ and its kin."""

    def __init__(self, real):
        self._real = real

    def __getitem__(self, key):
        return _wrap(self._real[_plain(key)])

    def __getattr__(self, name):
        return getattr(self._real, name)

    def __len__(self):
        return len(self._real)


def _vectorize():
    class vectorize(numpy.vectorize):
        __doc__ = numpy.vectorize.__doc__
        __module__ = "numpy"

        def __call__(self, *args, **kwargs):
            return _wrap(super().__call__(*_plain(args), **{k: _plain(v) for k, v in kwargs.items()}))

    return vectorize


def _generator(real):
    """numpy.random.Generator or RandomState whose methods give and take proxies."""
    names = [n for n in dir(real) if not n.startswith("_") and callable(getattr(real, n))]
    full = f"numpy.random.{real.__name__}."

    def init(self, *args, **kwargs):
        real.__init__(self, *args, **kwargs)
        for n in names:
            self.__dict__[n] = _core.face(getattr(real, n).__get__(self), full + n)

    return type(real.__name__, (real,), {"__init__": init, "__module__": real.__module__, "__doc__": real.__doc__})


def _default_rng():
    def default_rng(seed=None):
        g = numpy.random.default_rng(_plain(seed))
        return face("numpy.random").Generator(g.bit_generator) if type(g) is numpy.random.Generator else g

    return functools.wraps(numpy.random.default_rng)(default_rng)


def _fromfunction():
    def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
        if like is not None:
            return numpy.fromfunction(function, shape, dtype=dtype, like=like, **kwargs)
        return function(*face("numpy").indices(shape, dtype=dtype), **kwargs)

    return functools.wraps(numpy.fromfunction)(fromfunction)


def _errors(name):
    def make():
        from treadle._numpy import _errstate

        return _errstate.of_numpy()[name]

    return make


_SPECIAL = {
    "numpy.errstate": _errors("errstate"),
    "numpy.seterr": _errors("seterr"),
    "numpy.seterrcall": _errors("seterrcall"),
    "numpy.ndarray": lambda: _core.proxy,
    "numpy.ufunc": lambda: ufunc("ufunc", (), {"__module__": "numpy"}),
    "numpy.vectorize": _vectorize,
    "numpy.fromfunction": _fromfunction,
    "numpy.random.default_rng": _default_rng,
    "numpy.random.Generator": lambda: _generator(numpy.random.Generator),
    "numpy.random.RandomState": lambda: _generator(numpy.random.RandomState),
}


def _face_of(value, full):
    if full in _SPECIAL:
        return _SPECIAL[full]()
    if isinstance(value, types.ModuleType):
        return face(value.__name__) if value.__name__.split(".")[0] == "numpy" else value
    if isinstance(value, numpy.ufunc):
        return _core.uface(value, full, value.nin if value.nout == 1 else 0)
    if isinstance(value, type):
        return _core.proxy if value is numpy.ndarray else value
    name = full.rpartition(".")[2]
    if name in _GETTERS and full.count(".") == 1:
        return _Getter(value)
    if callable(value) and not hasattr(value, "__origin__"):  # annotations are called, too
        return _core.face(value, full, 0, full.count(".") == 1 and name in _SIZED)
    return value


def ufuncs():
    """A dict of NumPy's ufuncs to their faces."""
    numpys = {k: v for k, v in vars(numpy).items() if isinstance(v, numpy.ufunc)}
    return {v: getattr(face("numpy"), k) for k, v in numpys.items()}


class Module(types.ModuleType):
    """A module whose attributes are faces of another's, made when they are asked for."""

    def __init__(self, real):
        super().__init__(real.__name__, real.__doc__)
        for name in ("__file__", "__path__", "__spec__", "__loader__", "__package__", "__version__", "__all__"):
            if hasattr(real, name):
                self.__dict__[name] = getattr(real, name)
        self.__dict__["_td_real"] = real

    def __getattr__(self, name):
        real = self.__dict__["_td_real"]
        try:
            value = getattr(real, name)
        except AttributeError:
            if name.startswith("__") or not _is_submodule(real, name):
                raise
            value = importlib.import_module(f"{real.__name__}.{name}")
        value = self.__dict__[name] = _face_of(value, f"{self.__name__}.{name}")
        return value

    def __dir__(self):
        return dir(self.__dict__["_td_real"])

    def __repr__(self):
        return repr(self.__dict__["_td_real"])


def _is_submodule(real, name):
    try:
        return importlib.util.find_spec(f"{real.__name__}.{name}") is not None
    except (ImportError, ValueError):
        return False


def face(name):
    """The face of NumPy's module of that name, which is imported; ImportError as by an import."""
    made = _modules.get(name)
    if made is None:
        made = _modules[name] = Module(importlib.import_module(name))
    return made


_core._proxy_class(_Class)
