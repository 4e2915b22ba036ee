"""What the faces of NumPy's functions leave to Python: arguments that treadle holds, and results that would be big.

Treadle's function of the name is tried first. What it declines NumPy computes on the host, which also words the
errors; that is counted (``treadle.fallbacks()``) and told by ``--explain``.
"""

import inspect
import sys
import time
from types import SimpleNamespace

import numpy

import treadle
from treadle import _core
from treadle._exchange import _host

_plain, _lifted, _wrap, _held = _core._proxy_plain, _core._proxy_lifted, _core._proxy_wrap, _core._proxy_held
_proxy, _ours = _core.proxy, _core.ndarray

DECLINES = (
    TypeError, ValueError, IndexError, NotImplementedError, OverflowError, AttributeError, LookupError, ImportError,
    _core.CompileError,
)  # fmt: skip

# Functions that hand arrays to functions of the program's, which must see proxies, or whose meaning here is another.
_NUMPYS = {
    "fromfunction", "apply_along_axis", "apply_over_axes", "piecewise", "vectorize", "frompyfunc", "fromiter", "save",
    "savez", "savez_compressed", "load", "fuse", "result_type", "can_cast", "set_printoptions", "errstate",
    "require", "broadcast_arrays",
}  # fmt: skip

# Without axes the result of these is an array, of all others a scalar.
_ARRAYS = set(
    "array asarray asanyarray ascontiguousarray asfortranarray copy reshape squeeze transpose broadcast_to zeros ones "
    "empty full zeros_like ones_like empty_like full_like expand_dims moveaxis swapaxes require atleast_1d".split()
)
_BOOLS = set("allclose array_equal array_equiv may_share_memory shares_memory iscomplexobj isrealobj isscalar".split())

# What writes into its first argument.
_WRITES = set(
    "copyto put place putmask fill_diagonal put_along_axis shuffle at recfunctions.assign_fields_by_name".split()
)

_NAMED = {  # functions whose results NumPy names
    "numpy.linalg.svd": "SVDResult",
    "numpy.linalg.eig": "EigResult",
    "numpy.linalg.eigh": "EighResult",
    "numpy.linalg.qr": "QRResult",
    "numpy.linalg.slogdet": "SlogdetResult",
}

explanation = None  # who is told why treadle declined: see _explain
faces = {}  # NumPy's ufuncs: their faces; filled by install()
is_own = bool  # of globals, as _imports has it; set by install()
_known = {}  # full name: treadle's function or None
_outs = {}  # full name: what _find_out says


# On the CPU these are NumPy's own work, on treadle's memory: no way round through treadle's functions of the names.
_LIBRARY = set(
    "solve inv det slogdet cholesky qr svd svdvals eig eigh eigvals eigvalsh lstsq pinv matrix_rank cond tensorsolve "
    "tensorinv fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft".split()
)


def _is_library(full):
    home, _, name = full.rpartition(".")
    return home in ("numpy.linalg", "numpy.fft") and name in _LIBRARY and _core.device().kind == "cpu"


def _find(full):
    _, *path = full.split(".")
    if _is_library(full):
        return None
    if path[-1] in _NUMPYS or path[-1].startswith("_"):
        return None
    if len(path) == 1:
        name = path[0]
        known = name in treadle._FROM or isinstance(vars(treadle).get(name), (_core.ufunc, type(_find), type(len)))
        return getattr(treadle, name, None) if known else None
    if len(path) == 2 and path[0] in ("linalg", "fft"):
        f = getattr(getattr(treadle, path[0]), path[1], None)
        return f if callable(f) else None
    if len(path) == 2 and isinstance(vars(treadle).get(path[0]), _core.ufunc):  # a ufunc's method
        return getattr(getattr(treadle, path[0]), path[1], None)
    return None


# NumPy leaves equal elements in an order of its own, which treadle's do not give.
_TIES = {"numpy.argsort", "numpy.argpartition"}


def native(full):
    """Treadle's function for NumPy's of that full name, or None."""
    if full in _TIES and _core.device().kind == "cpu":
        return None
    try:
        return _known[full]
    except KeyError:
        f = _known[full] = _find(full)
        return f


def _finish(full, r, args, kwargs):
    """Treadle's result as the program sees it."""
    name = full.rpartition(".")[2]
    if isinstance(r, _ours):
        for a in args:
            if type(a) is _proxy and _held(a) is r:
                return a
        if r.ndim == 0 and name in _ARRAYS:
            return _core._proxy_array(r.get())
    elif name in _BOOLS:
        return bool(r)
    elif full in _NAMED and isinstance(r, tuple):
        r = getattr(numpy.linalg._linalg, _NAMED[full])(*r)
    if name in _BOOLS:
        return bool(r)
    return _wrap(r)


# ---- results that have a place ----

# Of ufuncs.
_METHODS_OUT = {"reduce": ("out", "keepdims", "initial", "where"), "accumulate": ("out",), "reduceat": ("out",)}


def _find_out(full, target):
    """(where out= stands among the arguments, the names from there on); None: it is only ever named."""
    last = full.rpartition(".")[2]
    if isinstance(target, numpy.ufunc):
        return target.nin, ("out",)
    if last in _METHODS_OUT and isinstance(getattr(target, "__self__", None), numpy.ufunc):
        return 4 if last == "reduceat" else 3, _METHODS_OUT[last]
    try:
        known = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return None
    names = tuple(p.name for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    return (names.index("out"), names[names.index("out") :]) if "out" in names else None


def named_out(full, target, args, kwargs):
    """A call's arguments with out= among the named ones: a position says nothing of what is to be written. None: NumPy
    refuses the call."""
    if full not in _outs:
        _outs[full] = _find_out(full, target)
    if _outs[full] is None or len(args) <= _outs[full][0]:
        return args, kwargs
    at, names = _outs[full]
    if isinstance(target, numpy.ufunc):
        more = {"out": args[at:] if target.nout > 1 else args[at]}
    else:
        more = dict(zip(names, args[at:], strict=False))
    room = target.nout if isinstance(target, numpy.ufunc) else len(names)
    if len(args) > at + room or more.keys() & kwargs.keys():
        return None
    return args[:at], {**kwargs, **more}


def method(name):
    """NumPy's function for a method that is called with out=."""
    face = SimpleNamespace(_name=f"numpy.{name}", _target=getattr(numpy, name))
    if name == "compress":
        return lambda a, condition, *args, **kwargs: call(face, condition, a, *args, **kwargs)
    return lambda *args, **kwargs: call(face, *args, **kwargs)


_COPY_OUT = {"numpy.take", "numpy.compress"}  # NumPy's work in a copy of out that is as the result is


def _store(full, out, value):
    """value into the program's array out, as NumPy's functions do."""
    if isinstance(value, _ours):
        target = _held(out)
        if target.shape != value.shape or not numpy.can_cast(value.dtype, target.dtype, "same_kind"):
            raise ValueError("out")  # NumPy says it
        if full == "numpy.dot" and target.dtype != value.dtype:
            raise ValueError("out")
        if full in _COPY_OUT and not numpy.can_cast(target.dtype, value.dtype, "safe"):
            raise ValueError("out")
        if isinstance(target, _ours):
            target[...] = value
            return out
        value = value.get()
    numpy.copyto(_core._proxy_host(out), value, casting="same_kind")
    return out


def _try(f, full, args, kwargs):
    out = kwargs.get("out")
    if type(out) is tuple and len(out) == 1:
        out = out[0]
    if out is not None and kwargs.get("where", True) is not True:
        raise NotImplementedError("where= beside out=")  # what is not chosen stays as it is
    if kwargs.get("order") not in (None, "C", "K", "A") and full.rpartition(".")[2] not in ("reshape", "ravel"):
        raise NotImplementedError("order=")  # NumPy lays the elements out
    rest = {k: _lifted(v) for k, v in kwargs.items() if k != "out"}
    r = f(*map(_lifted, args), **rest)
    if out is None:
        return _finish(full, r, args, kwargs)
    if type(out) is not _proxy:
        raise NotImplementedError("out")
    return _store(full, out, r)


_FLAGS = {"writeable": "write", "aligned": "align", "writebackifcopy": "uic"}


class flagsobj:
    """Flags of an array that treadle holds, as NumPy shows its own."""

    __slots__ = ("_array", "_real")
    __module__ = "numpy._core.multiarray"

    def __init__(self, array, real):
        object.__setattr__(self, "_array", array)
        object.__setattr__(self, "_real", real)

    owndata = property(lambda self: self._array.base is None)

    def __getattr__(self, name):
        return getattr(self._real, name)

    def __setattr__(self, name, value):
        self._array.setflags(**{_FLAGS.get(name, name): value})

    def __getitem__(self, key):
        return self.owndata if key in ("OWNDATA", "O") else self._real[key]

    def __setitem__(self, key, value):
        setattr(self, {"W": "writeable", "WRITEABLE": "writeable"}.get(key, key), value)

    def __eq__(self, other):
        return repr(self) == repr(other)

    __hash__ = None

    def __repr__(self):
        return repr(self._real).replace("OWNDATA : False", f"OWNDATA : {self.owndata}")


def flags(array):
    """array.flags, where treadle holds the array. A GPU's is not copied for it."""
    held = _held(array)
    if held.device.kind == "cpu":
        return flagsobj(array, _core._proxy_host(array).flags)
    seen = numpy.lib.stride_tricks.as_strided(
        numpy.empty(1, held.dtype), held.shape, held.strides, writeable=bool(held.flags.writeable)
    )
    return flagsobj(array, seen.flags)


def _share(face, a, b, *args, **kwargs):
    """Do two arrays share memory? On the CPU their addresses tell; a GPU's memory is not the host's."""
    x, y = _held(a), _held(b)
    gpu = [isinstance(v, _ours) and v.device.kind != "cpu" for v in (x, y)]
    if all(gpu):
        return bool(getattr(treadle, face._target.__name__)(x, y))
    return False if any(gpu) else face._target(_plain(a), _plain(b), *args, **kwargs)


def _product(face, a, b, *args, **kwargs):
    """On the CPU products of what is there are NumPy's library's, on the same memory."""
    x, y = _core._proxy_ready(a), _core._proxy_ready(b)
    if x is None or y is None or args or kwargs:
        return NotImplemented
    return _core._proxy_call(face._target, (x, y), kwargs, None)


_RULES = {
    "numpy.shares_memory": _share,
    "numpy.may_share_memory": _share,
    **{f"numpy.{name}": _product for name in ("dot", "matmul", "vdot", "inner", "tensordot")},
}


def call(face, *args, **kwargs):
    """The call of a face with operands that treadle holds, or with a result that would be big."""
    full = face._name
    named = named_out(full, face._target, args, kwargs)
    if named is None:
        return host(face._target, full, args, kwargs)
    args, kwargs = named
    if full in _RULES:
        r = _RULES[full](face, *args, **kwargs)
        if r is not NotImplemented:
            return r
    f = native(full)
    if full.rpartition(".")[2] in _WRITES and args:
        _core._proxy_settle(args[0])
        if not isinstance(_held(args[0]), _ours):
            f = None  # treadle would write into a copy
    if f is not None and not (kwargs.get("retstep") or kwargs.get("like")):
        try:
            return _try(f, full, args, kwargs)
        except DECLINES as e:
            if explanation:
                explanation.declined(full, f"{type(e).__name__}: {e}".split("\n")[0][:90])
    return host(face._target, full, args, kwargs)


def _far_nbytes(x):
    if type(x) is _proxy:
        held = _held(x)
        return held.nbytes if isinstance(held, _ours) else 0
    if type(x) in (list, tuple):
        return sum(map(_far_nbytes, x))
    return 0


def host(target, full, args, kwargs):
    """NumPy's function on NumPy's arrays; what it writes into arguments arrives there."""
    plain = tuple(_plain(a) for a in args)
    named = {k: _plain(v) for k, v in kwargs.items()}
    pairs = list(zip(args, plain, strict=True)) if full.rpartition(".")[2] in _WRITES else []
    out = kwargs.get("out")
    if out is not None:
        pairs += zip(out, named["out"], strict=True) if type(out) is tuple else [(out, named["out"])]
    begin = time.perf_counter_ns() if explanation else 0
    try:
        r = _core._proxy_call(target, plain, named, args[0] if args else None)
    finally:  # what NumPy has written before it raised stays written
        for a, p in pairs:
            _back(a, p)
    nbytes = sum(map(_far_nbytes, args))
    if nbytes and not _is_library(full):
        _host.note(full, nbytes)
    if explanation:
        explanation.watch(full, sum(map(numpy.size, plain)), time.perf_counter_ns() - begin)
    same = _held(r) if type(r) is _proxy else r
    if isinstance(same, numpy.ndarray) and same.base is not None:
        for a, p in zip(args, plain, strict=True):  # a view of the copy from a GPU: that is the array now
            if type(a) is _proxy and _is_gpu(a) and numpy.may_share_memory(same, p):
                _core._proxy_take(a, p)
    for a, p in [*zip(args, plain, strict=True), *((kwargs[k], named[k]) for k in named)]:
        if type(a) is _proxy and p is same:
            return a
        if type(a) is tuple and len(a) == 1 and type(a[0]) is _proxy and p[0] is same:
            return a[0]
    return r


def _is_gpu(a):
    held = _held(a)
    return isinstance(held, _ours) and held.device.kind != "cpu"


def _back(a, host_copy):
    """An array on a GPU takes what was written into its copy."""
    held = _held(a) if type(a) is _proxy else None
    if isinstance(held, _ours) and held.device.kind != "cpu":
        held[...] = _core.asarray(host_copy, device=held.device)


def array_ufunc(self, ufunc, method, *inputs, out=None, **kwargs):
    """A library's ufunc with proxies among its operands: NumPy's, on NumPy's arrays."""
    if any(_defers(x) for x in inputs):
        return NotImplemented
    if method == "__call__" and is_own(sys._getframe(1).f_globals) and ufunc in faces:
        if out is not None:
            kwargs["out"] = out if len(out) > 1 else out[0]
        return faces[ufunc](*inputs, **kwargs)
    if out is not None:
        kwargs["out"] = tuple(map(_plain, out))
    plain = tuple(map(_plain, inputs))
    r = getattr(ufunc, method)(*plain, **kwargs)
    if method == "at":
        _back(inputs[0], plain[0])
    for o, p in zip(out or (), kwargs.get("out", ()), strict=True):
        _back(o, p)
        if p is r:
            return o
    return r


def _defers(x):
    """Is x of a class that answers ufuncs itself?"""
    if type(x) is _proxy or isinstance(x, (numpy.ndarray, numpy.generic)):
        return False
    f = getattr(type(x), "__array_ufunc__", None)
    return f is not None


def array_function(self, func, types, args, kwargs):
    """A library's call of a function of NumPy's with proxies among its arguments."""
    args, kwargs = named_out(f"{func.__module__}.{func.__name__}", func, tuple(args), kwargs) or (args, kwargs)
    plain = [_plain(a) for a in args]
    named = {k: _plain(v) for k, v in kwargs.items()}
    r = func(*plain, **named)
    for a, p in zip(args, plain, strict=True):
        if func.__name__ in _WRITES:
            _back(a, p)
    out = kwargs.get("out")
    if type(out) is _proxy:
        _back(out, named["out"])
        return out
    return r
