"""Functions of CuPy's main module: the module of an array, memoization, and names that NumPy 2 has removed."""

import functools
import threading

import numpy

import treadle

from .. import _core, _old_numpy
from .._callers import outside

# CuPy's main module has these too.
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
disable_experimental_feature_warning = False  # a setting of CuPy's; treadle gives no such warning


# ---- arrays and devices ----


def get_array_module(*args):
    """The module whose functions take the arguments: treadle if one of them is an array or sparse array of treadle's,
    otherwise numpy."""
    for a in args:
        if isinstance(a, _core.ndarray) or type(a).__module__.partition(".")[0] == "treadle":
            return treadle
    return numpy


def is_available():
    """Whether there is a GPU. Arrays work without one, on the CPU."""
    return treadle.cuda.is_available()


def byte_bounds(a):
    """(the address of the array's first byte, the address after its last byte)."""
    low, high = a._address() if a.size else 0, a.itemsize if a.size else 0
    for n, stride in zip(a.shape, a.strides, strict=True):
        low, high = low + min(0, (n - 1) * stride), high + abs((n - 1) * stride)
    return (low, low + high) if a.size else (0, 0)


def fromDlpack(dltensor):
    """from_dlpack for a DLPack capsule, or an object with __dlpack__."""
    return treadle.from_dlpack(dltensor if hasattr(dltensor, "__dlpack__") else _Capsule(dltensor))


class _Capsule:
    """Presents a DLPack capsule as an object with __dlpack__. Raises TypeError for a capsule that was consumed."""

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
    """Print the name, shape, bytes and dtype of each treadle array in vardict (None: in the caller's frame)."""
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


# ---- memoization ----

_memos = []
_lock = threading.Lock()


def memoize(for_each_device=False):
    """Decorate a function to cache its results by its arguments, which must be hashable. for_each_device caches by the
    current device too. clear_memo() empties the caches."""

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
    """Empty the caches of all memoized functions."""
    with _lock:
        for memo in _memos:
            memo.clear()


# ---- names that NumPy 2 has removed ----


def in1d(ar1, ar2, assume_unique=False, invert=False):
    """isin for the flattened ar1."""
    return treadle.isin(treadle.ravel(treadle.asarray(ar1)), ar2, assume_unique=assume_unique, invert=invert)


def asfarray(a, dtype=float):
    """a as an array of floats: of dtype, or of float64 where dtype is neither float nor complex."""
    return treadle.asarray(a, dtype=dtype if numpy.dtype(dtype).kind in "fc" else float)


def msort(a):
    """A copy sorted along the first axis. Raises IndexError for an array without axes."""
    return treadle.sort(a, axis=0)


trapz, round_, product, cumproduct = treadle.trapezoid, treadle.round, treadle.prod, treadle.cumprod
alltrue, sometrue = treadle.all, treadle.any


def issctype(rep):
    """Whether rep is a NumPy scalar type, or a dtype."""
    kind = rep.type if isinstance(rep, numpy.dtype) else rep
    return isinstance(kind, type) and issubclass(kind, numpy.generic)


def issubclass_(arg1, arg2):
    """issubclass, but False where arg1 is not a class."""
    return isinstance(arg1, type) and issubclass(arg1, arg2)


def obj2sctype(rep, default=None):
    """The scalar type for a dtype, a type, a name or an array. default where there is none."""
    if isinstance(rep, type) and issubclass(rep, numpy.generic):
        return rep
    try:
        return numpy.dtype(getattr(rep, "dtype", rep)).type
    except TypeError:
        return default


def issubsctype(arg1, arg2):
    """Whether the scalar type of arg1 is a subtype of arg2's."""
    return issubclass(obj2sctype(arg1), arg2 if issctype(arg2) else obj2sctype(arg2))


def sctype2char(sctype):
    """The character code of a scalar type. Raises ValueError where sctype is none."""
    kind = obj2sctype(sctype)
    if kind is None:
        raise ValueError(f"sctype2char: {sctype!r} stands for no scalar type")
    return numpy.dtype(kind).char
