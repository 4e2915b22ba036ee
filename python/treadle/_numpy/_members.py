"""Methods and attributes of ndarray that need no C. src/python/ndarray/members.c calls these with the array."""

import builtins
import operator
import pickle
from math import prod
from numbers import Number

import numpy

from .. import _core
from .._core import empty
from .._exchange._host import _DTYPES, fallback
from ._flat import flat, set_flat  # noqa: F401  (the C type finds them here)
from ._math._values import clipped


def matrix_transposed(a):
    if a.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return a.swapaxes(-1, -2)


def _memory(a, what):
    """NumPy's view of the memory of an array on a CPU."""
    if not a.device.host:
        raise AttributeError(f"'{what}' is for arrays on the CPU, and this one is on {a.device}")
    if a.dtype.kind == "V":
        raise AttributeError(f"'{what}': NumPy has no bfloat16")
    try:
        return numpy.asarray(memoryview(a))  # not asarray(a), which would ask for these members again if it failed
    except MemoryError as error:  # the memory limit keeps the values on the host, where get() reads them
        raise AttributeError(f"'{what}': {error}") from error


def ctypes(a):
    return _memory(a, "ctypes").ctypes


def array_struct(a):
    return _memory(a, "__array_struct__").__array_struct__


def repr_html(a):
    from .._observe import _html

    return _html.array(a)


# ---- to and from the host, by CuPy's names ----


def set(a, arr, stream=None):
    """a[...] = arr, an array of NumPy's or treadle's of this shape and dtype. TypeError: arr is no array; ValueError:
    another shape or dtype. The values are read before it returns."""
    if not isinstance(arr, (numpy.ndarray, _core.ndarray)):
        raise TypeError(f"set: {type(arr).__name__} is no numpy.ndarray; asarray makes an array of it")
    if arr.dtype != a.dtype:
        raise TypeError(f"set: the array holds {a.dtype}, arr {arr.dtype}; arr.astype({str(a.dtype)!r}) fits")
    if arr.shape != a.shape:
        raise ValueError(f"set: the array's shape is {a.shape}, arr's {arr.shape}")
    a[...] = arr


def toDlpack(a):
    return a.__dlpack__()


# ---- bytes ----


def byteswap(a, inplace=False):
    size = a.itemsize // 2 if a.dtype.kind == "c" else a.itemsize
    if inplace and not a.flags.writeable:
        raise ValueError("assignment destination is read-only")
    swapped = a.copy()
    if size > 1 and a.size:
        bits = swapped.reshape(-1).view("uint8").reshape((-1, size))
        bits[...] = bits[:, ::-1].copy()
    if not inplace:
        return swapped
    # As integers, which keep the bits of a NaN.
    word = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}[size]
    if a.dtype.kind == "c":
        a.real, a.imag = swapped.real, swapped.imag
    else:
        a.view(word)[...] = swapped.view(word)
    return a


def _field(a, dtype, offset):
    dtype = empty(0, dtype).dtype
    if not 0 <= offset <= a.itemsize - dtype.itemsize:
        raise ValueError(
            f"Need 0 <= offset <= {a.itemsize - dtype.itemsize} for requested type but received offset = {offset}"
        )
    if dtype.itemsize == a.itemsize:
        return a.view(dtype)
    return a[..., None].view("uint8")[..., offset : offset + dtype.itemsize].view(dtype)[..., 0]


def getfield(a, dtype, offset=0):
    return _field(a, dtype, offset)


def setfield(a, val, dtype, offset=0):
    if not a.flags.writeable:
        raise ValueError("assignment destination is read-only")
    _field(a, dtype, offset)[...] = val


def to_numpy(a):
    return _core.asnumpy(a)


def tofile(a, fid, sep="", format="%s"):
    _core.asnumpy(a).tofile(fid, sep, format)


# ---- SciPy's protocol of matrices ----


def matvec(a, x, /):
    return a @ _core.asarray(x, device=a.device)


def rmatvec(a, x, /):
    return a.T.conj() @ _core.asarray(x, device=a.device)


# ---- numbers ----

_OPERATORS = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv, "floor_divide":
    operator.floordiv, "remainder": operator.mod, "power": operator.pow,
}  # fmt: skip


def scalar(a):
    """NumPy's scalar of an array without axes."""
    return a.get()[()]


def _left_to(name, op, x, y):
    """x op y, one of them an object to whose class NumPy's arrays leave the operation: a sparse matrix of SciPy's.
    Where the class refuses treadle's array it is asked again, with NumPy's."""
    other = y if isinstance(x, _core.ndarray) else x
    if type(other).__module__.partition(".")[0] == "treadle":
        return NotImplemented
    if other is y and (reflected := getattr(type(y), _REFLECTED[op], None)):
        r = reflected(y, x)
        if r is not NotImplemented:
            return r
    return fallback(name, op, (x, y), {}, "it computes with objects")


_REFLECTED = {
    operator.add: "__radd__", operator.sub: "__rsub__", operator.mul: "__rmul__", operator.truediv: "__rtruediv__",
    operator.floordiv: "__rfloordiv__", operator.mod: "__rmod__", operator.pow: "__rpow__", operator.lt: "__gt__",
    operator.le: "__ge__", operator.gt: "__lt__", operator.ge: "__le__", operator.eq: "__eq__", operator.ne: "__ne__",
}  # fmt: skip


def beside_object(name, x, y):
    """x op y, one of them no array of numbers: what NumPy's array or scalar gives, which calls the elements' operators.
    NotImplemented where NumPy leaves the operation to the other's class."""
    other = y if isinstance(x, _core.ndarray) else x
    if name not in _OPERATORS:
        return NotImplemented
    if not isinstance(other, numpy.ndarray):
        if hasattr(type(other), "__array_ufunc__"):
            return NotImplemented
        if getattr(other, "__array_priority__", 0) > 0:
            return _left_to(f"numpy.{name}", _OPERATORS[name], x, y)
    if all(v._is_number() for v in (x, y) if isinstance(v, _core.ndarray)):
        r = _OPERATORS[name](*(scalar(v) if isinstance(v, _core.ndarray) else v for v in (x, y)))
        return _core.asarray(r)[()] if isinstance(r, numpy.number) and r.dtype.char in _DTYPES else r
    return fallback(f"numpy.{name}", _OPERATORS[name], (x, y), {}, "it computes with objects")


def inplace_object(name, x, y):
    """x op= y, y an object, an array without numbers or of a class of its own: NumPy writes into x, or y's class says
    what comes of it. NotImplemented where it has only operators."""
    of = type(y)
    asked = getattr(of, "__array_ufunc__", None)
    if asked is None and (hasattr(of, "__array_ufunc__") or getattr(y, "__array_priority__", 0) > 0):
        return NotImplemented
    if of.__module__.partition(".")[0] == "treadle":
        return NotImplemented
    return fallback(f"numpy.{name}", getattr(numpy, name), (x, y), {"out": x}, "it computes with objects")


# ---- the array itself ----


def resize(a, *new_shape, refcheck=True):
    shape = new_shape[0] if len(new_shape) == 1 and not hasattr(new_shape[0], "__index__") else new_shape
    if shape is None or not new_shape:
        return
    shape = tuple(int(n) for n in shape)
    if any(n < 0 for n in shape):
        raise ValueError("all elements of 'new_shape' must be non-negative")
    if not a.flags.owndata:
        raise ValueError("cannot resize this array: it does not own its data")
    if not a.flags.writeable:
        raise ValueError("cannot resize this array: it is read-only")
    old, n = a.reshape(-1), min(a.size, prod(shape))
    r = _core.zeros(prod(shape), a.dtype, device=a.device)
    r[:n] = old[:n]
    a._become(r.reshape(shape))


def setstate(a, state, /):
    host = numpy.empty(0)
    host.__setstate__(state)
    a._become(_core.array(host, device=a.device))


def over_buffer(shape, dtype, buffer, offset, strides, order):
    """ndarray(shape, dtype, buffer, offset, strides, order): NumPy's array over the buffer's memory, shared on the CPU;
    or an array over the memory that a treadle.cuda.MemoryPointer points to. ValueError: the default device is another,
    where the buffer is not."""
    if hasattr(buffer, "_laid"):
        if isinstance(offset, tuple):  # cupy.ndarray(shape, dtype, memptr, strides)
            offset, strides = 0, offset
        return (buffer + offset)._laid(shape, dtype, strides, order)
    host = numpy.ndarray(shape, dtype or float, buffer, offset, strides, order)
    if not _core.device().host:
        raise ValueError(
            f"ndarray: buffer= and strides= are about memory of the host, and the default device is {_core.device()}; "
            "treadle.asarray copies from the host, treadle.from_dlpack shares memory of a device"
        )
    return _core.asarray(host, copy=False)


def clip(a, min=None, max=None, out=None, **kwargs):
    return clipped(a, min, max, out, **kwargs)


# ---- beside objects ----


_COMPARISONS = {
    "<": ("numpy.less", operator.lt), "<=": ("numpy.less_equal", operator.le),
    ">": ("numpy.greater", operator.gt), ">=": ("numpy.greater_equal", operator.ge),
    "==": ("numpy.equal", operator.eq), "!=": ("numpy.not_equal", operator.ne),
}  # fmt: skip


def compare_objects(a, other, how):
    """a == other and its like where other is no array of numbers: lists and arrays of objects or text, and numbers of
    other classes, as NumPy compares them; what nothing equals, without a look at a's values; NotImplemented: other's
    class may know better."""
    if isinstance(other, (list, tuple, bytearray, numpy.ndarray, numpy.generic, Number)):
        return fallback(*_COMPARISONS[how], (a, other), {}, "it compares objects")
    if not hasattr(type(other), "__array_ufunc__") and getattr(other, "__array_priority__", 0) > 0:
        return _left_to(*_COMPARISONS[how], a, other)
    if how in ("==", "!=") and (isinstance(other, _UNEQUAL) or type(other).__eq__ is object.__eq__):
        r = _core.full(a.shape, how == "!=", "bool", device=a.device)
        return r[()] if a._is_number() else r
    if hasattr(type(other), "__array_ufunc__") or type(other).__module__.partition(".")[0] == "treadle":
        return NotImplemented
    return fallback(*_COMPARISONS[how], (a, other), {}, "it compares objects")


# Classes with an __eq__ of their own. `set` is a method of arrays in this file.
_UNEQUAL = (type(None), str, bytes, dict, builtins.set, frozenset, slice, range, numpy.dtype)


# ---- pickles ----


def dumps(a):
    return pickle.dumps(a, protocol=-1)


def dump(a, file):
    if hasattr(file, "write"):
        pickle.dump(a, file, protocol=-1)
    else:
        with open(file, "wb") as f:
            pickle.dump(a, f, protocol=-1)


def conj(a, *args, **kwargs):
    """Of real numbers the array itself."""
    if a.dtype.kind != "c" and not args and not kwargs:
        return a
    return _core.ufuncs()["conjugate"](a, *args, **kwargs)
