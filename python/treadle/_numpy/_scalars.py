"""The types of numbers: elements, sums and what is computed from them, where NumPy has scalars.

There is one for each dtype. It is another object than NumPy's type, because a number may not have been computed yet.
But programs that compare types (``type(x) == np.float64``), call them or take them for dtypes find NumPy's.
"""

from .. import _core


class Scalars(type):
    """The type of the types of numbers."""

    def __eq__(cls, other):
        return True if other is cls or other is cls._numpys() else NotImplemented

    def __repr__(cls):
        return f"<class 'treadle.{cls.__name__}'>"

    # Not NumPy's: tables that libraries keep for types (of serializers, of caches) would mix the two up.
    __hash__ = type.__hash__

    def __call__(cls, *args, **kwargs):
        return cls._numpys()(*args, **kwargs)

    def __instancecheck__(cls, x):
        return isinstance(x, cls._numpys())

    def __subclasscheck__(cls, other):
        return type.__subclasscheck__(cls, other) or issubclass(other, cls._numpys())

    @property
    def dtype(cls):
        """The dtype, by which NumPy knows a type that is none of its own."""
        if cls.__name__ == "bfloat16":
            return _core._bfloat16()
        import numpy

        return numpy.dtype(cls.__name__)

    def _numpys(cls):
        return cls.dtype.type


def __getattr__(name):
    """The type of numbers of the dtype of that name, for pickle."""
    try:
        return type(_core.empty(1, name)[0])
    except TypeError:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'") from None
