"""What programs do with arrays that hold no numbers: text, objects, dates, records, long doubles.

Treadle has none of these dtypes, and NumPy has. NumPy computes a call that treadle refuses for that reason
(NoNumbersError), on NumPy's arrays, and ``treadle.fallbacks()`` counts it. Results with numbers are treadle's arrays
again, so that masks and indices that come of text serve arrays of treadle's. The core calls the functions of this file
(src/python/common/door.c, methods.c).
"""

import functools
import operator
import sys

import numpy

from .. import _core
from . import _host

_WHY = "text, objects, dates and records are NumPy's"


def function(name, refusal):
    """What computes a call of treadle.<name>: NumPy's function of that name. Raises refusal if there is none."""
    return functools.partial(_call, name, refusal)


@functools.cache
def dispatched(name):
    """What computes a call of treadle.<name> with an object of a library's first: NumPy's function, if NumPy leaves
    such calls to the object's class; None: treadle's."""
    try:
        theirs = operator.attrgetter(name)(numpy)
    except AttributeError:
        return None
    asks = isinstance(theirs, numpy.ufunc) or hasattr(theirs, "_implementation")
    return functools.partial(_call, name, None) if asks else None


def ufunc(name, refusal):
    """The same for a row of the table of operations or its method, `add.reduce`: the row may have a name under which
    NumPy has another function."""
    row = getattr(numpy, name.partition(".")[0], None)
    if not isinstance(row, numpy.ufunc):
        raise refusal
    if "." in name:
        return functools.partial(_call, name, refusal)
    return lambda *args, **kwargs: _call(
        name, refusal, *args[: row.nin], **(kwargs if len(args) == row.nin else {**kwargs, "out": args[row.nin :]})
    )


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
    """Whether x, an array of NumPy's, counts as a treadle.ndarray: it holds no numbers, or is of a derived class, or
    the file that asks calls treadle np or numpy. Such a file was written for NumPy, and asks of what a library gave it;
    others, as programs for CuPy, tell the two apart."""
    return isinstance(x, _Derived) or not _holds_numbers(x) or _is_for_numpy(sys._getframe(1).f_globals)


def _is_for_numpy(names):
    return any(getattr(names.get(n), "__name__", None) == "treadle" for n in ("np", "numpy"))


def _holds_numbers(x):
    """Whether x has a dtype that treadle has."""
    return x.dtype.char in _host._DTYPES and x.dtype.isnative


def is_subclass(cls):
    """Whether cls, a class of NumPy's arrays, is derived from treadle.ndarray or from a class that NumPy derives."""
    return cls is not numpy.ndarray


class _Derived(numpy.ndarray):
    """The base of classes that programs derive from treadle.ndarray. Their objects and the work on them are NumPy's."""

    _td_of_program = True

    def view(self, *args, **kwargs):
        """numpy.ndarray.view. Where treadle.ndarray is asked for it is treadle's array over the same memory."""
        asked = _core.ndarray_of_programs in (*args, *kwargs.values())
        args = (numpy.ndarray if a is _core.ndarray_of_programs else a for a in args)
        kwargs = {k: numpy.ndarray if a is _core.ndarray_of_programs else a for k, a in kwargs.items()}
        r = numpy.ndarray.view(self, *args, **kwargs)
        if not asked or not _holds_numbers(r):
            return r
        return _core.from_dlpack(r) if r.flags.writeable else _core.asarray(r)


class _Overriding(_Derived):
    """The base of derived classes with an __array_ufunc__ of their own, which calls this one through super()."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        theirs = functools.partial(super().__array_ufunc__, ufunc, method)
        return _host.fallback(f"numpy.{ufunc.__name__}", theirs, inputs, kwargs, _WHY, quiet=True)


def subclass(name, bases, namespace, **keywords):
    """The class that a program derives from treadle.ndarray."""
    base = _Overriding if "__array_ufunc__" in namespace else _Derived
    return type(name, tuple(base if b is _core.ndarray_of_programs else b for b in bases), namespace, **keywords)


@functools.cache
def unbound(name, own):
    """treadle.ndarray.<name>, which programs call with an array of treadle's or of a derived class. own: the method of
    treadle's arrays, None if there is none."""
    theirs = getattr(_Derived, name, None)
    if own is None or theirs is None:
        return own or theirs

    @functools.wraps(own)
    def method(self, /, *args, **kwargs):
        return (theirs if isinstance(self, numpy.ndarray) else own)(self, *args, **kwargs)

    return method


def new(cls, *args, **kwargs):
    """treadle.ndarray.__new__ of such a class."""
    return numpy.ndarray.__new__(cls, *args, **kwargs)
