"""CuPy's class of arrays, by its own name: results without axes are instances of it, which are numbers here."""

import treadle
from treadle import _core


class _Arrays(type):
    def __instancecheck__(cls, x):
        return isinstance(x, _core.ndarray)

    def __subclasscheck__(cls, other):
        return type.__subclasscheck__(_core.ndarray, other)

    def __eq__(cls, other):
        return issubclass(other, _core.ndarray) if isinstance(other, type) else NotImplemented

    def __hash__(cls):
        return hash(treadle.ndarray)

    def __call__(cls, *args, **kwargs):
        return treadle.ndarray(*args, **kwargs)


class ndarray(_core.ndarray, metaclass=_Arrays):
    __slots__ = ()
    __doc__ = treadle.ndarray.__doc__
    __module__ = "cupy"

    def __init_subclass__(cls):
        raise TypeError("type 'cupy.ndarray' is not an acceptable base type")
