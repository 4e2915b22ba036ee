"""NumPy's modules as an unchanged program sees them: numpy, numpy.linalg and numpy.fft, with faces for functions that
treadle has.

A face stands in for one of NumPy's functions and decides at each call whether treadle or NumPy computes it.
"""

import contextlib
import functools
import importlib
import types

import numpy

from treadle import _core

from . import _far

# Functions whose result may be big though their operands are small, by what its size follows (face.c): 1 numbers and
# shapes, 2 the product of the arrays' sizes, 3 the first array's size times a number or a tuple, 4 as 1 where NumPy
# makes the values at once without work.
_SIZED = {
    f"numpy.{name}": how
    for how, names in (
        # a program that fills an empty array part by part fills it with what is recorded
        (1, "empty linspace logspace geomspace tri indices bartlett blackman hamming hanning kaiser"),
        (2, "outer kron meshgrid linalg.outer"),
        (3, "tile repeat"),
        (4, "zeros ones full arange eye identity"),
    )
    for name in names.split()
}

_modules = {}  # name of the real module: the module that the program sees


class ufunc(type):
    """The class that a program sees as numpy.ufunc."""

    def __instancecheck__(cls, x):
        return isinstance(x, (numpy.ufunc, _core.uface))

    def __getattr__(cls, name):
        return getattr(numpy.ufunc, name)


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
    "numpy.ufunc": lambda: ufunc("ufunc", (), {"__module__": "numpy"}),
    "numpy.fromfunction": _fromfunction,
}


def _face_of(value, full):
    if full in _SPECIAL:
        return _SPECIAL[full]()
    if isinstance(value, types.ModuleType):
        return face(value.__name__) if value.__name__.split(".")[0] == "numpy" else value
    if isinstance(value, numpy.ufunc):
        return _core.uface(value, full, value.nin if value.nout == 1 else 0)
    if callable(value) and not isinstance(value, type) and _far.has(full):
        return _core.face(value, full, 0, _SIZED.get(full, 0))
    return value


# a module's __dict__, which the classes of modules here hide behind a property
real_dict = types.ModuleType.__dict__["__dict__"].__get__


class Module(_core.module_face):
    """A stand-in for a real module. It makes a face for an attribute at the first access."""

    @property
    def __dict__(self):
        """All names with their values, for programs that iterate over them (vars(np))."""
        for name in vars(real_dict(self)["_td_real"]):
            with contextlib.suppress(AttributeError, ImportError):
                getattr(self, name)
        return {name: value for name, value in real_dict(self).items() if not name.startswith("_td_")}

    def __init__(self, real):
        super().__init__(real.__name__, real.__doc__)
        for name in ("__file__", "__path__", "__spec__", "__loader__", "__package__", "__version__", "__all__"):
            if hasattr(real, name):
                real_dict(self)[name] = getattr(real, name)
        real_dict(self).update(_td_real=real, _td_plain={})

    def _missing(self, name):
        real = real_dict(self)["_td_real"]
        try:
            value = getattr(real, name)
        except AttributeError:
            if name.startswith("__") or not _is_submodule(real, name):
                raise
            value = importlib.import_module(f"{real.__name__}.{name}")
        face = real_dict(self)[name] = _face_of(value, f"{self.__name__}.{name}")
        if face is not value:
            real_dict(self)["_td_plain"][name] = face, value
        return face

    def __setattr__(self, name, value):
        """Set a name in NumPy's real module, for all importers. Setting a face back restores NumPy's function."""
        face, plain = real_dict(self)["_td_plain"].get(name, (None, None))
        back = face is not None and value is face
        setattr(real_dict(self)["_td_real"], name, plain if back else value)
        real_dict(self)[name] = value

    def __delattr__(self, name):
        delattr(real_dict(self)["_td_real"], name)
        real_dict(self).pop(name, None)

    def __dir__(self):
        return dir(real_dict(self)["_td_real"])

    def __repr__(self):
        return repr(real_dict(self)["_td_real"])


def made():
    """The modules that programs have seen so far."""
    return [m for m in _modules.values() if isinstance(m, Module)]


def _is_submodule(real, name):
    try:
        return importlib.util.find_spec(f"{real.__name__}.{name}") is not None
    except (ImportError, ValueError):
        return False


def face(name):
    """Import NumPy's module of that name and return what a program sees for it. Raises ImportError like an import."""
    made = _modules.get(name)
    if made is None:
        real = importlib.import_module(name)
        made = _modules[name] = Module(real) if name in ("numpy", "numpy.linalg", "numpy.fft") else real
    return made
