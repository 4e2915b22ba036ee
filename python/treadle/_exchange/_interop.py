"""NumPy's protocols: ``np.exp(a)``, ``np.float64(2) * a`` and ``np.concatenate([a, n])`` call the functions of this
file.
"""

import functools
import importlib
import inspect
import re
import sys

import numpy

import treadle
from treadle import _callers, _core
from treadle._exchange import _host, _implicit


class Flags:
    """An array's flags, as attributes and under NumPy's keys."""

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


# ---- whose call it is ----


def _strangers(values):
    """Whether an operand's class overrides ufuncs itself (pandas, Dask, sparse arrays …). Such a class must be asked.
    """
    for v in values:
        kind = type(v)
        if isinstance(v, (_core.ndarray, numpy.ndarray, numpy.generic, int, float, complex)):
            continue
        if getattr(kind, "__array_ufunc__", _core.ndarray.__array_ufunc__) is not _core.ndarray.__array_ufunc__:
            return True
    return False


def _held(x):
    """Whether x can be an operand of treadle's. NumPy's arrays of other dtypes (objects, dates, long doubles) are left
    to NumPy."""
    if not isinstance(x, (numpy.ndarray, numpy.generic)):
        return True
    return x.dtype.char in _host._DTYPES


def _classed(values):
    """Whether there is an array of a subclass of NumPy's with a meaning of its own, which treadle would lose: a masked
    array, a matrix. Its priority is above that of plain arrays."""
    return any(
        _classed(v)
        if isinstance(v, (tuple, list))
        else isinstance(v, numpy.ndarray)
        and type(v) is not numpy.ndarray
        and (v.__array_priority__ > 0 or hasattr(v, "_td_of_program"))
        for v in values
    )


def _down(x):
    """x with values on the host, for a call of NumPy's that returns no array of treadle's."""
    if isinstance(x, _core.ndarray):
        if not x.device.host:
            _implicit.note(x)
        return x.get()
    return type(x)(map(_down, x)) if type(x) in (tuple, list) else x


def _downs(kwargs):
    return {k: _down(v) for k, v in kwargs.items()}


# ---- results that are to go somewhere ----


def _give(out, value, where=True, casting="same_kind"):
    """Write value into out, treadle's array or NumPy's, where the mask is true. Return the call's result."""
    if out is None:
        return value if where is True else treadle.where(where, value, value.dtype.type(0))
    if isinstance(out, _core.ndarray):
        if isinstance(value, _core.ndarray):
            _core._beside("out", out, value)  # raises ValueError where they are on two devices
        else:
            value = _core.asarray(value, device=out.device)
        treadle.copyto(out, value, casting=casting, where=where)
    else:
        numpy.copyto(out, _down(value), casting=casting, where=_down(where))
    return out


def _each(outs, values, **how):
    """_give for one result or a tuple of them."""
    if not isinstance(values, tuple):
        return _give(outs[0] if outs else None, values, **how)
    return tuple(_give(o, v, **how) for o, v in zip(outs or (None,) * len(values), values, strict=True))


def _on_host(name, call, args, kwargs, outs=()):
    """Call NumPy on the host and count it as a fallback. outs are arrays of treadle's and NumPy's, or None, for the
    results."""
    if not any(o is not None for o in outs):
        return _host.fallback(name, call, args, kwargs)
    hosts = tuple(o.get() if isinstance(o, _core.ndarray) else o for o in outs)
    kwargs = {**kwargs, "out": hosts if len(hosts) > 1 or isinstance(call.__self__, numpy.ufunc) else hosts[0]}
    results = _host.fallback(name, call, args, kwargs)
    results = results if isinstance(results, tuple) else (results,)
    for o, h in zip(outs, hosts, strict=True):
        if isinstance(o, _core.ndarray):
            o[...] = h
    given = tuple(r if o is None else o for o, r in zip(outs, results, strict=True))
    return given if len(given) > 1 else given[0]


# ---- ufuncs ----


@functools.lru_cache(maxsize=1024)
def _ours_for(ufunc):
    """Treadle's counterpart of a ufunc of NumPy's or scipy.special's. None also for other libraries' ufuncs of the
    same name."""
    name = ufunc.__name__
    if getattr(numpy, name, None) is ufunc or (name == "clip" and ufunc.nin == 3):
        value = getattr(treadle, name, None) if name in treadle._FROM or name in vars(treadle) else None
        return value if callable(value) and value is not ufunc else None
    special = sys.modules.get("scipy.special")
    if special is not None and getattr(special, name, None) is ufunc:
        return getattr(treadle.scipy.special, name, None)
    return None


def _weak(x):
    """What NumPy's promotion needs to know of an operand: a Python number's type, or a dtype."""
    if type(x) in (int, float, complex):
        return type(x)
    return x.dtype if hasattr(x, "dtype") else numpy.asarray(x).dtype


def _resolved(ufunc, inputs, outs, dtype=None, signature=None, sig=None, casting="same_kind"):
    """The operands cast to the dtypes of the loop that NumPy would choose, and the dtypes of its results.

    Raises NumPy's TypeError where there is no loop or a cast is not allowed."""
    signature = signature or sig
    if isinstance(signature, str):
        sides = signature.split("->")
        signature = tuple(numpy.dtype(c) for c in "".join(sides)) if len(sides) > 1 else (numpy.dtype(signature),)
    if signature is not None and len(signature) == 1:
        dtype, signature = signature[0], None
    if signature is None and dtype is not None:
        signature = (None,) * ufunc.nin + (numpy.dtype(dtype),) * ufunc.nout
    given = (*map(_weak, inputs), *(None if o is None else o.dtype for o in outs or (None,) * ufunc.nout))
    loop = ufunc.resolve_dtypes(given, casting=casting, **({} if signature is None else {"signature": signature}))
    return [_cast(x, d) for x, d in zip(inputs, loop, strict=False)], loop[ufunc.nin :]


def _cast(x, dtype):
    if dtype.char not in _host._DTYPES:
        return numpy.empty(0, dtype)  # an array of a dtype that treadle lacks; the caller notices and declines
    if hasattr(x, "astype"):
        return x.astype(dtype, copy=False)
    return dtype.type(x) if numpy.isscalar(x) else numpy.asarray(x, dtype)


def _call(ufunc, f, inputs, outs, kwargs):
    """Compute a ufunc with treadle's function f and NumPy's keywords. NotImplemented where NumPy's loop uses dtypes
    that treadle lacks."""
    where = kwargs.pop("where", True)
    casting = kwargs.get("casting", "same_kind")
    kwargs.pop("subok", None), kwargs.pop("order", None)
    typed = {k: kwargs.pop(k) for k in ("dtype", "signature", "sig", "casting") if k in kwargs}
    if not isinstance(where, (bool, _core.ndarray)):
        where = numpy.asarray(where)
    plain = all(getattr(x, "dtype", None) is None or x.dtype.kind in "biufc" for x in inputs)
    results = None
    if plain and (typed or outs):
        inputs, results = _resolved(ufunc, inputs, outs, **typed)
        if not all(map(_held, inputs)) or any(d.char not in _host._DTYPES for d in results):
            return NotImplemented
    value = f(*inputs, **kwargs)
    if results is not None and typed.get("dtype") is not None:
        several = value if isinstance(value, tuple) else (value,)
        several = tuple(v.astype(d, copy=False) for v, d in zip(several, results, strict=True))
        value = several if len(several) > 1 else several[0]
    return _each(outs, value, where=where, casting=casting)


def _checked(ufunc, method, inputs, kwargs):
    """The operands of a ufunc's method. Raises NumPy's TypeError where NumPy has no loop for their dtypes."""
    dtype = kwargs.get("dtype")
    if method == "outer":
        # outer treats numbers as arrays, so they do not adapt to the other operand
        inputs = [x if hasattr(x, "dtype") else numpy.asarray(x) for x in inputs]
        return _resolved(ufunc, inputs, None, **{k: kwargs.pop(k) for k in ("dtype", "casting") if k in kwargs})[0]
    x = inputs[0]
    if hasattr(x, "dtype") and x.dtype.kind in "biufc":
        asked = {} if dtype is None else {"signature": (numpy.dtype(dtype), None, None)}
        ufunc.resolve_dtypes((None, x.dtype, None), reduction=True, **asked)
        if dtype is not None:
            return (x.astype(dtype, copy=False), *inputs[1:])
    return inputs


def _at(ufunc, f, a, *rest):
    """ufunc.at, which writes into its first operand."""
    if not isinstance(a, _core.ndarray):
        return ufunc.at(a, *map(_down, rest))
    if isinstance(f, _core.ufunc) and all(map(_held, rest)):
        return f.at(a, *rest)
    host = a.get()
    _host.fallback(_called(ufunc, "at"), lambda *values: ufunc.at(host, *values), rest, {})
    a[...] = host
    return None


@functools.lru_cache(maxsize=64)
def _core_dims(signature):
    """The least number of axes of each operand of a generalized ufunc."""
    sides = re.findall(r"\(([^)]*)\)", signature.split("->")[0])
    return [sum(bool(n) and not n.endswith("?") for n in side.split(",")) for side in sides]


def _enough(ufunc, inputs):
    dims = _core_dims(ufunc.signature) if ufunc.signature else ()
    return all(numpy.ndim(x) >= n for x, n in zip(inputs, dims, strict=False))


def _called(ufunc, method):
    name = f"numpy.{ufunc.__name__}" if getattr(numpy, ufunc.__name__, None) is ufunc else ufunc.__name__
    return name if method == "__call__" else f"{name}.{method}"


def array_ufunc(self, ufunc, method, *inputs, out=None, **kwargs):
    """The protocol of NumPy's ufuncs: all of them and all their methods, scipy.special's too. Results are treadle
    arrays, but for out= of NumPy's; what treadle lacks is a fallback."""
    if isinstance(ufunc, _core.ufunc):  # treadle's own ufunc, in a program that imports treadle in NumPy's place
        ufunc = getattr(numpy, ufunc.__name__)
    if _strangers(inputs) or (out and _strangers(out)) or _strangers((kwargs.get("where", True),)):
        return NotImplemented
    if _classed(inputs):
        kwargs |= {"out": tuple(map(_down, out))} if out else {}
        return getattr(ufunc, method)(*map(_down, inputs), **kwargs)
    f = _ours_for(ufunc)
    if method == "at":
        return _at(ufunc, f, *inputs)
    if f is not None and all(map(_held, inputs)) and _enough(ufunc, inputs):
        if method == "__call__":
            if not out and not kwargs:
                return f(*inputs)
            if _binds(f, inputs, {k: v for k, v in kwargs.items() if k not in _KEYWORDS}):
                value = _call(ufunc, f, inputs, out, dict(kwargs))
                if value is not NotImplemented:
                    return value
        elif ufunc.nin == 2 and (isinstance(f, _core.ufunc) or (method == "outer" and hasattr(f, "outer"))):
            inputs = _checked(ufunc, method, inputs, kwargs)
            return _each(out, getattr(f, method)(*inputs, **kwargs))
    if f is None and method == "__call__" and all(map(_held, inputs)) and ufunc.signature is None:
        _resolved(ufunc, inputs, out)  # raise NumPy's TypeError, instead of a fallback, where NumPy has no loop either
    return _on_host(_called(ufunc, method), getattr(ufunc, method), inputs, kwargs, out or ())


_KEYWORDS = {"where", "dtype", "casting", "order", "subok", "signature", "sig"}

# ---- functions ----

_MODULES = {
    "numpy": "treadle",
    "numpy.linalg": "treadle.linalg",
    "numpy.fft": "treadle.fft",
    "numpy.lib.scimath": "treadle.emath",
    "numpy.lib.stride_tricks": "treadle.lib.stride_tricks",
    "numpy.polynomial.polynomial": "treadle.polynomial.polynomial",
}
_WRITING = {"put", "place", "putmask", "put_along_axis", "fill_diagonal"}


@functools.lru_cache(maxsize=1024)
def _function_for(func):
    """Treadle's counterpart of a function of NumPy's, or None."""
    name, home = func.__name__, _MODULES.get(func.__module__)
    if home is None or (home == "treadle" and getattr(numpy, name, None) is not func):
        return None
    try:
        value = getattr(importlib.import_module(home), name, None)
    except ImportError:
        return None
    return _core._behind(value) if value is not func else None


@functools.lru_cache(maxsize=1024)
def _signature(f):
    try:
        return inspect.signature(f)
    except (TypeError, ValueError):
        return None


@functools.lru_cache(maxsize=4096)
def _takes(f, count, names):
    """Whether f takes so many positional arguments and keywords of these names. True for functions without a
    signature."""
    signature = _signature(f)
    if signature is not None:
        try:
            signature.bind(*range(count), **dict.fromkeys(names))
        except TypeError:
            return False
    return True


def _binds(f, args, kwargs):
    return _takes(f, len(args), tuple(kwargs))


def _arranged(func, f, args, kwargs):
    """The arguments as treadle's f takes them: unchanged, or reordered by NumPy's parameters. None where neither fits.
    """
    if _binds(f, args, kwargs):
        return args, kwargs
    theirs = _signature(func)
    if theirs is None:
        return None
    bound = theirs.bind(*args, **kwargs)
    return (bound.args, bound.kwargs) if _binds(f, bound.args, bound.kwargs) else None


def _has_ours(x):
    if isinstance(x, (tuple, list)):
        return any(map(_has_ours, x))
    return isinstance(x, _core.ndarray)


# What SciPy's optimizers call on the program's gradients to have arrays of NumPy's, which their C code takes.
_CONVERTING = ("atleast_1d", "atleast_2d")


def array_function(self, func, types, args, kwargs):
    """The protocol of NumPy's other functions: the one of that name here, or NumPy's on the host, as a fallback."""
    if not all(issubclass(t, (_core.ndarray, numpy.ndarray)) for t in types):
        return NotImplemented
    name = func.__name__
    if _classed(args):
        return func(*map(_down, args), **_downs(kwargs))
    if name in ("result_type", "can_cast"):  # promotion needs only dtypes
        return func(*(a.dtype if isinstance(a, _core.ndarray) else a for a in args), **kwargs)
    if name == "min_scalar_type" and args[0].ndim:
        return args[0].dtype
    # the program itself asks for the copy to the host
    if name == "copyto" and args and isinstance(args[0], numpy.ndarray):
        return func(*(a.get() if isinstance(a, _core.ndarray) else a for a in args), **_downs(kwargs))
    if name in _WRITING and args and isinstance(args[0], numpy.ndarray):
        return func(*map(_down, args), **_downs(kwargs))
    if name in _CONVERTING and _callers.outside()[0].f_globals.get("__name__", "").startswith("scipy.optimize."):
        return func(*map(_down, args), **_downs(kwargs))
    out = kwargs.get("out")
    f = _function_for(func)
    given = _arranged(func, f, args, {k: v for k, v in kwargs.items() if k != "out"}) if f is not None else None
    if given is None:
        full = f"{func.__module__}.{name}"
        if isinstance(out, _core.ndarray):
            return _give(out, _host.fallback(full, func, args, {k: v for k, v in kwargs.items() if k != "out"}))
        return _host.fallback(full, func, args, kwargs)
    args, kwargs = given
    if out is not None and not isinstance(out, _core.ndarray):
        return _give(out, f(*args, **kwargs))
    if out is not None:
        kwargs = {**kwargs, "out": out}
    if not _has_ours(args) and not _has_ours(tuple(kwargs.values())):  # called because of like= alone
        with self.device:
            return f(*args, **kwargs)
    try:
        return f(*args, **kwargs)
    except _core.NoNumbersError as error:
        if not str(error).startswith("treadle arrays hold numbers"):
            raise  # dtype= asks for what is like treadle's arrays, and cannot be: libraries have another way then
    return _host.fallback(f"{func.__module__}.{name}", func, args, kwargs)


def array_wrap(self, array, context=None, return_scalar=False):
    """NumPy's result as an array on this array's device."""
    return _core.asarray(array, device=self.device)
