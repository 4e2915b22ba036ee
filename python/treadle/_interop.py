"""What NumPy calls: ``np.exp(a)``, ``np.float64(2) * a``, ``np.concatenate([a, n])``."""

import numpy

import treadle
from treadle import _core, _implicit, _names


class Flags:
    """Layout of an array, as attributes and as NumPy's keys."""

    __slots__ = ("_array", "c_contiguous", "f_contiguous", "owndata", "_writeable")
    _KEYS = {"C": "c_contiguous", "F": "f_contiguous", "CONTIGUOUS": "c_contiguous", "FORTRAN": "f_contiguous"}
    _KEYS |= {"O": "owndata", "W": "writeable", "A": "aligned", "B": "behaved", "CA": "carray", "FA": "farray"}
    _SHOWN = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "writebackifcopy")

    def __init__(self, array, c, f, own, writeable):
        self._array, self._writeable = array, bool(writeable)
        self.c_contiguous, self.f_contiguous, self.owndata = bool(c), bool(f), bool(own)

    contiguous = property(lambda self: self.c_contiguous)
    fortran = property(lambda self: self.f_contiguous)
    aligned = property(lambda self: True)
    writebackifcopy = property(lambda self: False)
    behaved = property(lambda self: self.writeable)
    carray = property(lambda self: self.writeable and self.c_contiguous)
    farray = property(lambda self: self.writeable and self.f_contiguous and not self.c_contiguous)
    fnc = property(lambda self: self.f_contiguous and not self.c_contiguous)
    forc = property(lambda self: self.f_contiguous or self.c_contiguous)
    _BITS = {"c_contiguous": 1, "f_contiguous": 2, "owndata": 4, "aligned": 256, "writeable": 1024}
    num = property(lambda self: sum(bit for name, bit in self._BITS.items() if getattr(self, name)))

    @property
    def writeable(self):
        """Can the array be written? Setting it is array.setflags(write=…)."""
        return self._writeable

    @writeable.setter
    def writeable(self, value):
        self._array.setflags(write=bool(value))
        self._writeable = bool(value)

    def _name(self, key):
        name = self._KEYS.get(key, key.lower())
        if name.startswith("_") or not isinstance(getattr(type(self), name, None), (property, type(Flags.owndata))):
            raise KeyError("Unknown flag")
        return name

    def __getitem__(self, key):
        return getattr(self, self._name(key))

    def __setitem__(self, key, value):
        name = self._name(key)
        if name != "writeable":
            raise KeyError("Unknown flag")
        self.writeable = value

    def __eq__(self, other):
        return isinstance(other, Flags) and self.num == other.num

    __hash__ = None

    def __repr__(self):
        return "\n".join(f"  {k.upper()} : {getattr(self, k)}" for k in self._SHOWN)


def _ours(name):
    """The package's function that stands for NumPy's of that name, or None."""
    own = isinstance(vars(treadle).get(name), (_core.ufunc, type(_ours), type(_core.sum)))
    known = own or name in treadle._FROM or name in _names.HOST
    return getattr(treadle, name, None) if known and not name.startswith("_") else None


def _advice(name):
    return TypeError(f"numpy.{name} is not available for treadle arrays: bring them to the host with .get()")


def _fill(out, value):
    """What an operation gives where NumPy's own array is to receive it."""
    if isinstance(value, _core.ndarray):
        if value.device.kind != "cpu":
            _implicit.note(value)
        value = value.get()
    numpy.copyto(out, value, casting="same_kind")
    return out


def array_ufunc(self, ufunc, method, *inputs, out=None, **kwargs):
    """The protocol of NumPy's ufuncs; results are treadle arrays, but for out= of NumPy's."""
    name = ufunc.__name__
    f = _ours(name)
    if f is None or method not in ("__call__", "reduce"):
        raise _advice(name if method == "__call__" else f"{name}.{method}")
    if method == "reduce":
        f = getattr(f, "reduce", None)
        if f is None:
            raise _advice(f"{name}.reduce")
    if out is None:
        return f(*inputs, **kwargs)
    target = out[0]
    if isinstance(target, _core.ndarray):
        return f(*inputs, out=target, **kwargs)
    return _fill(target, f(*inputs, **kwargs))


def array_function(self, func, types, args, kwargs):
    """The protocol of NumPy's other functions: the one of that name here, if there is one."""
    if func.__name__ in ("result_type", "can_cast"):  # of dtypes alone
        return func(*(a.dtype if isinstance(a, _core.ndarray) else a for a in args), **kwargs)
    home, name = func.__module__.partition(".")[2], func.__name__
    if home in ("linalg", "fft"):
        f = getattr(getattr(treadle, home), name, None)
    else:
        f = None if home else _ours(name)
    if f is None:
        raise _advice(f"{home}.{name}" if home else name)
    out = kwargs.get("out")
    if isinstance(out, numpy.ndarray):
        return _fill(out, f(*args, **{k: v for k, v in kwargs.items() if k != "out"}))
    return f(*args, **kwargs)
