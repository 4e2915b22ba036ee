"""What programs do with arrays that hold no numbers: text, objects, dates, records, long doubles.

Treadle has none of these dtypes, and NumPy has. NumPy computes a call that treadle refuses for that reason
(NoNumbersError), on NumPy's arrays, and ``treadle.fallbacks()`` counts it. Results with numbers are treadle's arrays
again, so that masks and indices that come of text serve arrays of treadle's. The core calls the functions of this file
(src/python/common/door.c, methods.c).
"""

import functools
import operator

import numpy

from .. import _core
from . import _host

_WHY = "text, objects, dates and records are NumPy's"


def function(name, refusal):
    """What computes a call of treadle.<name>: NumPy's function of that name. Raises refusal if there is none."""
    return functools.partial(_call, name, refusal)


def ufunc(name, refusal):
    """The same for a row of the table of operations or its method, `add.reduce`: the row may have a name under which
    NumPy has another function."""
    row = getattr(numpy, name.partition(".")[0], None)
    if not isinstance(row, numpy.ufunc):
        raise refusal
    return functools.partial(_call, name, refusal)


def method(name, refusal):
    """What computes x.<name>(…): the method of the array that NumPy has of x's values."""
    return functools.partial(_method, name)


def _call(name, refusal, /, *args, **kwargs):
    try:
        theirs = operator.attrgetter(name)(numpy)
    except AttributeError:
        raise refusal from None
    if kwargs.get("device") is not None and kwargs["device"] != "cpu":
        raise refusal
    kwargs.pop("device", None)
    return _host.fallback(f"numpy.{name}", theirs, args, kwargs, _WHY, quiet=True)


def _method(name, /, x, *args, **kwargs):
    if name == "view" and x.device.host:
        _host.note("ndarray.view", 0, _WHY, quiet=True)
        return numpy.asarray(x).view(*args, **kwargs)  # of the same memory

    def theirs(host, *args, **kwargs):
        r = getattr(host, name)(*args, **kwargs)
        if name == "view":
            r.flags.writeable = False  # a copy: a write would not arrive
        return r

    return _host.fallback(f"ndarray.{name}", theirs, (x, *args), kwargs, _WHY)


# ---- the class ----


def is_instance(x):
    """Whether x, an array of NumPy's, counts as a treadle.ndarray: it holds no numbers, or is of a class of the
    program's."""
    return x.dtype.char not in _host._DTYPES or not x.dtype.isnative or hasattr(x, "_td_of_program")


def subclass(name, bases, namespace, **keywords):
    """The class that a program derives from treadle.ndarray: one of numpy.ndarray, whose objects and the work on them
    are NumPy's."""
    own = tuple(numpy.ndarray if b is _core.ndarray_of_programs else b for b in bases)
    return type(name, own, {**namespace, "_td_of_program": True}, **keywords)


def new(cls, *args, **kwargs):
    """treadle.ndarray.__new__ of such a class."""
    return numpy.ndarray.__new__(cls, *args, **kwargs)
