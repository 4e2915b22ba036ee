"""Functions of CuPy's own module: which module an array belongs to, memos, and names that NumPy 2 has given up."""

import functools
import threading

import numpy

import treadle

from .. import _core, _old_numpy
from .._callers import outside

# CuPy has them in its own module too.
AxisError = _old_numpy.exceptions.AxisError
ComplexWarning = _old_numpy.exceptions.ComplexWarning
ModuleDeprecationWarning = _old_numpy.exceptions.ModuleDeprecationWarning
RankWarning = _old_numpy.exceptions.RankWarning
TooHardError = _old_numpy.exceptions.TooHardError
VisibleDeprecationWarning = _old_numpy.exceptions.VisibleDeprecationWarning

Inf = Infinity = PINF = infty = float("inf")
NINF = -Inf
NaN = NAN = float("nan")
PZERO, NZERO = 0.0, -0.0
float_, complex_, cfloat, singlecomplex = numpy.float64, numpy.complex128, numpy.complex128, numpy.complex64
disable_experimental_feature_warning = False  # a setting of CuPy's; nothing here warns of being experimental


# ---- arrays and devices ----


def get_array_module(*args):
    """The module whose functions fit the arguments: treadle where one of them is a treadle array or a sparse one of
    treadle's, else numpy."""
    for a in args:
        if isinstance(a, _core.ndarray) or type(a).__module__.partition(".")[0] == "treadle":
            return treadle
    return numpy


def is_available():
    """Is there a GPU? Arrays work without one, on the CPU."""
    return treadle.cuda.is_available()


def byte_bounds(a):
    """(the address of the array's first byte, the address behind its last byte)."""
    low, high = a._address() if a.size else 0, a.itemsize if a.size else 0
    for n, stride in zip(a.shape, a.strides, strict=True):
        low, high = low + min(0, (n - 1) * stride), high + abs((n - 1) * stride)
    return (low, low + high) if a.size else (0, 0)


def fromDlpack(dltensor):
    """An array on the memory of a DLPack capsule, or of an object with __dlpack__: from_dlpack."""
    return treadle.from_dlpack(dltensor if hasattr(dltensor, "__dlpack__") else _Capsule(dltensor))


class _Capsule:
    """A DLPack capsule as the object that it came from. TypeError for another capsule, or one that was taken."""

    def __init__(self, capsule):
        self._capsule = capsule
        if type(capsule).__name__ != "PyCapsule":
            raise TypeError(f"fromDlpack: {type(capsule).__name__} is neither a capsule nor has it __dlpack__")

    def __dlpack__(self, **kwargs):
        return self._capsule

    def __dlpack_device__(self):
        import ctypes

        find = ctypes.pythonapi.PyCapsule_GetPointer
        find.restype, find.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        try:
            at = find(self._capsule, b"dltensor")
        except ValueError:
            raise TypeError("fromDlpack: the capsule is no DLPack one, or has been taken already") from None
        kind, number = (ctypes.c_int32 * 2).from_address(at + ctypes.sizeof(ctypes.c_void_p))
        return kind, number


def who(vardict=None):
    """Prints name, shape, bytes and dtype of the treadle arrays in vardict; None: of those in the caller's frame."""
    if vardict is None:
        vardict = outside()[0].f_locals
    rows, seen = [("Name", "Shape", "Bytes", "Type")], {}
    for name, a in vardict.items():
        if isinstance(a, _core.ndarray):
            first = seen.setdefault(id(a), name)
            shape = " x ".join(str(n) for n in a.shape) or "()"
            rows.append((name, shape, str(a.nbytes) if first == name else f"{a.nbytes} ({first}'s)", a.dtype.name))
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    for row in rows:
        print("   ".join(text.ljust(n) for text, n in zip(row, widths, strict=True)).rstrip())
    print(f"\n{sum(vardict[name].nbytes for name in seen.values())} bytes in {len(seen)} arrays")


# ---- memos ----

_memos = []
_lock = threading.Lock()


def memoize(for_each_device=False):
    """A decorator: a function's results are kept, by its arguments, which must be hashable; for_each_device: and by the
    current device. clear_memo() forgets them."""

    def decorate(f):
        memo = {}
        with _lock:
            _memos.append(memo)

        @functools.wraps(f)
        def kept(*args, **kwargs):
            key = (_core.device() if for_each_device else None, args, frozenset(kwargs.items()))
            if key not in memo:
                memo.setdefault(key, f(*args, **kwargs))
            return memo[key]

        return kept

    return decorate


def clear_memo():
    """Forgets what the functions of memoize have kept."""
    with _lock:
        for memo in _memos:
            memo.clear()


# ---- names that NumPy 2 has given up ----


def in1d(ar1, ar2, assume_unique=False, invert=False):
    """isin of the raveled ar1."""
    return treadle.isin(treadle.ravel(treadle.asarray(ar1)), ar2, assume_unique=assume_unique, invert=invert)


def asfarray(a, dtype=float):
    """a as an array of floats: dtype, or float64 where dtype is none of floats or complex numbers."""
    return treadle.asarray(a, dtype=dtype if numpy.dtype(dtype).kind in "fc" else float)


def msort(a):
    """A copy sorted along the first axis. IndexError for an array without axes."""
    return treadle.sort(a, axis=0)


trapz, round_, product, cumproduct = treadle.trapezoid, treadle.round, treadle.prod, treadle.cumprod
alltrue, sometrue = treadle.all, treadle.any


def issctype(rep):
    """Is rep a NumPy scalar type, or a dtype of one?"""
    kind = rep.type if isinstance(rep, numpy.dtype) else rep
    return isinstance(kind, type) and issubclass(kind, numpy.generic)


def issubclass_(arg1, arg2):
    """issubclass, False where arg1 is no class."""
    return isinstance(arg1, type) and issubclass(arg1, arg2)


def obj2sctype(rep, default=None):
    """The scalar type of a dtype, a type, its name, or an array; default for what has none."""
    if isinstance(rep, type) and issubclass(rep, numpy.generic):
        return rep
    try:
        return numpy.dtype(getattr(rep, "dtype", rep)).type
    except TypeError:
        return default


def issubsctype(arg1, arg2):
    """Is the scalar type of arg1 one of arg2's?"""
    return issubclass(obj2sctype(arg1), arg2 if issctype(arg2) else obj2sctype(arg2))


def sctype2char(sctype):
    """The letter of a scalar type. ValueError: sctype stands for none."""
    kind = obj2sctype(sctype)
    if kind is None:
        raise ValueError(f"sctype2char: {sctype!r} stands for no scalar type")
    return numpy.dtype(kind).char
