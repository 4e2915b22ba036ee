"""Calls of NumPy's functions with arrays that are treadle's, or with results that would be big.

Treadle's function of the same name is tried first. If it declines, NumPy computes on the host, and also words the
errors. Such a fallback is counted (``treadle.fallbacks()``) and reported by ``--explain``.
"""

import inspect
import pkgutil
import time
from types import SimpleNamespace

import numpy

import treadle
from treadle import _core, _old_numpy
from treadle._exchange import _host
from treadle._numpy._spelled import Spelled

_lifted, _shown, _target, _present = (
    _core._unchanged_lifted, _core._unchanged_shown, _core._unchanged_target, _core._unchanged_present,
)  # fmt: skip
_ours = _core.ndarray

DECLINES = (
    TypeError, ValueError, IndexError, NotImplementedError, OverflowError, AttributeError, LookupError, ImportError,
    _core.CompileError,
)  # fmt: skip

# Functions that NumPy always computes, for one of three reasons. They hand arrays to functions of the program, which
# expect NumPy's. Their results are views. Or they return the argument itself, through which the program may write.
_NUMPYS = set(
    "fromfunction apply_along_axis apply_over_axes piecewise vectorize frompyfunc fromiter save savez "
    "savez_compressed load fuse result_type can_cast set_printoptions errstate require broadcast_arrays "
    "asarray asanyarray ascontiguousarray asfortranarray reshape ravel squeeze transpose permute_dims "
    "matrix_transpose broadcast_to expand_dims moveaxis swapaxes rollaxis atleast_1d atleast_2d atleast_3d "
    "diagonal real imag flip fliplr flipud rot90 split array_split hsplit vsplit dsplit unstack diag "
    "trim_zeros real_if_close asarray_chkfinite ix_ "
    "shares_memory may_share_memory ndim shape size iscomplexobj isrealobj isscalar "
    "from_dlpack astype frombuffer fromfile fromstring fromregex loadtxt genfromtxt savetxt "
    "printoptions get_printoptions array_repr array_str array2string nditer ndenumerate".split()
)

# These return an array even of no axes. All other functions return a scalar then.
_ARRAYS = set("array copy zeros ones empty full zeros_like ones_like empty_like full_like cov tensordot".split())
_BOOLS = set("allclose array_equal array_equiv".split())

# Functions that write into their first argument.
_WRITES = set(
    "copyto put place putmask fill_diagonal put_along_axis shuffle at recfunctions.assign_fields_by_name".split()
)

_NAMED = {  # functions whose results are named tuples in NumPy
    "numpy.linalg.svd": "SVDResult",
    "numpy.linalg.eig": "EigResult",
    "numpy.linalg.eigh": "EighResult",
    "numpy.linalg.qr": "QRResult",
    "numpy.linalg.slogdet": "SlogdetResult",
}

explanation = None  # the recorder of NumPy's work and of the reasons why treadle declined (_observe/_seen.py)
_known = {}  # full name: treadle's function or None
_outs = {}  # full name: result of _find_out


# On the CPU NumPy's library computes these directly on treadle's memory. Treadle's own functions would only be a
# detour to the same library.
_LIBRARY = set(
    "solve inv det slogdet cholesky qr svd svdvals eig eigh eigvals eigvalsh lstsq pinv matrix_rank cond tensorsolve "
    "tensorinv fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft".split()
)


def _is_library(full):
    home, _, name = full.rpartition(".")
    return home in ("numpy.linalg", "numpy.fft") and name in _LIBRARY and _core.device().host


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
    if len(path) == 2 and isinstance(vars(treadle).get(path[0]), _core.ufunc):  # a method of a ufunc
        return getattr(getattr(treadle, path[0]), path[1], None)
    return None


# NumPy's order of equal elements is an implementation detail, which treadle's sort does not reproduce.
_TIES = {"numpy.argsort", "numpy.argpartition"}


def native(full):
    """Treadle's function for NumPy's function of that full name, or None."""
    if full in _TIES and _core.device().host:
        return None
    try:
        return _known[full]
    except KeyError:
        f = _known[full] = _core._behind(_find(full))  # NumPy is asked after a refusal here, too
        return f


def quick(full):
    """Treadle's ufunc for a ufunc of NumPy's, if a call with operands alone needs no look at them; else None."""
    f = native(full)
    return f if isinstance(f, _core.ufunc) and full not in _RULES and full.count(".") == 1 else None


def has(full):
    """Whether treadle has a function that may do the work of this one of NumPy's."""
    last = full.rpartition(".")[2]
    return (full.startswith(("numpy.linalg.", "numpy.fft.")) and last in _LIBRARY) or native(full) is not None


def pickled(face):
    """How a face is pickled: as NumPy's function, found by its name when it is unpickled."""
    return pkgutil.resolve_name, (face._name.replace(".", ":", 1),)


# ---- how results lie in memory ----


def _kept(*arrays):
    """The memory order of the arrays' axes, outermost first. The axes of a later array are numbered after those of an
    earlier one."""
    order = []
    for a in arrays:
        steps, before = numpy.asarray(a).strides, len(order)
        order += [before + k for k in sorted(range(len(steps)), key=lambda k: -abs(steps[k]))]
    return order


def _fortran(x):
    """The axes reversed for an array in Fortran order. None means C order."""
    x = numpy.asarray(x)
    return range(x.ndim)[::-1] if x.flags.f_contiguous and not x.flags.c_contiguous else None


# Functions for which treadle's memory order differs from NumPy's: the order of the axes, outermost first. None: C
# order.
_ORDERS = {
    **dict.fromkeys("accumulate sort partition nan_to_num gradient unwrap".split(), lambda x, *_, **__: _kept(x)),
    **dict.fromkeys("isreal packbits unpackbits pad insert".split(), lambda x, *_, **__: _fortran(x)),
    **dict.fromkeys("choose select cross reduceat".split(), lambda *_, **__: None),
    "roll": lambda a, shift=0, axis=None: None if axis is None else _kept(a),
    "polyval": lambda p, x: _kept(x),
    "outer": lambda x, y, **_: _kept(x, y) if numpy.ndim(x) and numpy.ndim(y) else None,
    "argwhere": lambda a: (1, 0),
    "delete": lambda x, obj, axis=None: _fortran(x) if isinstance(obj, (int, slice)) else _kept(x),
}


def _ordered(r, order):
    """r with its axes in that memory order. None means C order."""
    if isinstance(r, (list, tuple)):
        return type(r)(_ordered(x, order) for x in r)
    if not isinstance(r, _ours) or r.ndim < 2 or (order is not None and len(order) != r.ndim):
        return r
    order = range(r.ndim) if order is None else order
    steps = [r.strides[k] for k in order if r.shape[k] > 1]
    if all(a >= b for a, b in zip(steps, steps[1:], strict=False)):
        return r
    back = sorted(range(r.ndim), key=order.__getitem__)
    return r.transpose(tuple(order)).copy().transpose(tuple(back))


def _finish(full, r, args, kwargs):
    """Convert treadle's result to what NumPy would return: memory order, scalars, bools and named tuples."""
    name = full.rpartition(".")[2]
    if name in _ORDERS:
        r = _ordered(r, _ORDERS[name](*args, **kwargs))
    if isinstance(r, _ours) and r.ndim == 0 and name in _ARRAYS:
        return r.get()
    if name in _BOOLS:
        return bool(r)
    named = getattr(_old_numpy.linalg, _NAMED.get(full, ""), None)
    if named and isinstance(r, tuple):
        r = named(*r)
    return _shown(r)


# ---- results that have a place ----

# The parameters of a ufunc's methods from out on.
_METHODS_OUT = {"reduce": ("out", "keepdims", "initial", "where"), "accumulate": ("out",), "reduceat": ("out",)}


def _find_out(full, target):
    """The position of out among the parameters, and the names of the parameters from there on. None where out can only
    be given by name."""
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


_names = {}  # full name: result of _find_names


def _find_names(target):
    """The names of arguments that NumPy's function accepts by keyword. None where they are unknown."""
    if isinstance(target, numpy.ufunc):
        return None
    try:
        known = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in known):
        return None
    return {p.name for p in known if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}


def named_out(full, target, args, kwargs):
    """(args, kwargs) of a call with out moved to kwargs, where _try looks for it. None where NumPy refuses the call."""
    if kwargs:
        if full not in _names:
            _names[full] = _find_names(target)
        if _names[full] is not None and not kwargs.keys() <= _names[full]:
            return None
    if full not in _outs:
        _outs[full] = _find_out(full, target)
    if _outs[full] is None or len(args) <= _outs[full][0]:
        return args, kwargs
    at, names = _outs[full]
    if isinstance(target, numpy.ufunc):
        several = (*args[at:], *[None] * (at + target.nout - len(args)))
        more = {"out": several if target.nout > 1 else args[at]}
    else:
        more = dict(zip(names, args[at:], strict=False))
    room = target.nout if isinstance(target, numpy.ufunc) else len(names)
    if len(args) > at + room or more.keys() & kwargs.keys():
        return None
    return args[:at], {**kwargs, **more}


def method(name, near):
    """A wrapper for NumPy's method (near) of an array that is called with out=. It treats the call like that of the
    function."""

    by_place = name in ("conj", "conjugate")  # their out is positional only

    def target(a, *args, **kwargs):
        if by_place:
            return near(a, *args, *kwargs.values())
        return near(args[0], a, *args[1:], **kwargs) if name == "compress" else near(a, *args, **kwargs)

    like = (lambda x, out=None: x) if by_place else getattr(numpy, name)
    target.__signature__ = inspect.signature(like)
    face = SimpleNamespace(_name=f"numpy.{name}", _target=target)
    if name == "compress":
        return lambda a, condition, *args, **kwargs: call(face, condition, a, *args, **kwargs)
    if by_place:
        return lambda a, *args, **kwargs: near(a, *args, **kwargs) if kwargs else call(face, a, *args)
    return lambda *args, **kwargs: call(face, *args, **kwargs)


_COPY_OUT = {"numpy.take", "numpy.compress"}  # NumPy computes these in a copy of out that has the result's dtype


def _store(full, out, value):
    """Write the result into the program's array out with NumPy's checks. Return out."""
    if isinstance(value, _ours):
        if out.shape != value.shape or not numpy.can_cast(value.dtype, out.dtype, "same_kind"):
            raise ValueError("out")  # let NumPy raise its own error
        if full == "numpy.dot" and (out.dtype != value.dtype or not out.flags.c_contiguous):
            raise ValueError("out")
        if full in _COPY_OUT and not numpy.can_cast(out.dtype, value.dtype, "safe"):
            raise ValueError("out")
        target = _target(out)
        if target is not None:
            try:
                target[...] = value
            finally:
                _core._unchanged_written(out, target)
            return out
        value = value.get()
    numpy.copyto(out, value, casting="same_kind")
    return out


_TYPING = {"casting", "dtype", "signature", "sig"}


def _native_order(x):
    if type(x) in (list, tuple):
        return all(map(_native_order, x))
    return type(x) is not numpy.ndarray or x.dtype.isnative


def _overlaps(x, y):
    return type(y) is numpy.ndarray and numpy.may_share_memory(x, y)


def _try(f, full, args, kwargs):
    out = kwargs.get("out")
    if type(out) is tuple and len(out) == 1:
        out = out[0]
    is_ufunc = isinstance(getattr(numpy, full.rpartition(".")[2], None), numpy.ufunc)
    if out is None and is_ufunc and kwargs.get("where", True) is not True:
        # the other elements are uninitialised, and NumPy warns of that
        raise NotImplementedError("where= without out=")
    if kwargs.get("where", True) is None:
        raise NotImplementedError("where=None")  # NumPy takes None for a false mask
    if "axes" in kwargs:
        raise NotImplementedError("axes=")
    if out is not None and (type(out) is not numpy.ndarray or kwargs.get("where", True) is not True):
        raise NotImplementedError("where= beside out=")  # elements outside of the mask keep their values
    if kwargs.get("order") not in (None, "C", "K", "A"):
        raise NotImplementedError("order=")  # NumPy decides the memory order
    if out is not None and kwargs.get("casting") not in (None, "same_kind"):
        raise NotImplementedError("casting= beside out=")  # the rule applies to out as well
    if isinstance(f, Spelled) and not _TYPING.isdisjoint(kwargs):
        raise NotImplementedError("casting=, dtype=, signature=")  # NumPy knows its loops and which casts they allow
    if full.endswith(".reduceat") and _kept(args[0]) != list(range(numpy.ndim(args[0]))):
        # NumPy chooses the memory order, with the reduced axis at a place of its own
        raise NotImplementedError("order")
    if not all(map(_native_order, args)):
        raise NotImplementedError("swapped bytes")  # whether NumPy's result keeps the byte order differs by function
    rest = {k: _lifted(v) for k, v in kwargs.items() if k != "out"}
    plain = [_lifted(a) for a in args]
    target = None
    if full.rpartition(".")[2] in _WRITES and plain:
        target = _target(args[0])
        if target is None:
            raise NotImplementedError("writes")  # the argument's memory is not treadle's
        if full != "numpy.copyto" and any(_overlaps(args[0], a) for a in (*args[1:], *kwargs.values())):
            raise NotImplementedError("overlap")  # NumPy writes element by element and reads what it has just written
        plain[0] = target
    _core._unchanged_busy(True)
    try:
        r = f(*plain, **rest)
        return _finish(full, r, args, kwargs) if out is None else _store(full, out, r)
    finally:
        _core._unchanged_busy(False)
        if target is not None:
            _core._unchanged_written(args[0], target)


def _product(face, a, b, *args, **kwargs):
    """On the CPU NumPy's BLAS multiplies arrays whose values are in the program's memory."""
    if args or kwargs or not _core.device().host or _core._unchanged_stays(a) or _core._unchanged_stays(b):
        return NotImplemented
    return host(face._target, face._name, (a, b), kwargs, note=False)


def _power(face, a, n, *args, **kwargs):
    """matrix_power(a, 1) is left to NumPy, which returns a itself."""
    return host(face._target, face._name, (a, n, *args), kwargs) if n == 1 else NotImplemented


def _reciprocal(face, x, *args, **kwargs):
    """Reciprocals of integers are left to NumPy: for 0 it gives what the machine makes of infinity, and it warns."""
    whole = numpy.asarray(x).dtype.kind in "bui"
    return host(face._target, face._name, (x, *args), kwargs, note=False) if whole else NotImplemented


_RULES = {f"numpy.{name}": _product for name in ("dot", "matmul", "vdot", "inner", "tensordot")}
_RULES["numpy.linalg.matrix_power"] = _power
_RULES["numpy.reciprocal"] = _reciprocal


def _answers(x):
    """Whether x, or an item of it, overrides NumPy's functions, as a pandas Series or a masked array does."""
    if type(x) in (list, tuple):
        return any(map(_answers, x))
    if type(x) is numpy.ndarray or isinstance(x, numpy.generic):
        return False
    return hasattr(type(x), "__array_ufunc__") or hasattr(type(x), "__array_function__")


def call(face, *args, **kwargs):
    """Call a face: by treadle's function where possible, else by NumPy's."""
    full = face._name
    named = named_out(full, face._target, args, kwargs)
    if named is None:
        return host(face._target, full, args, kwargs)
    args, kwargs = named
    if full in _RULES:
        r = _RULES[full](face, *args, **kwargs)
        if r is not NotImplemented:
            return r
    f = None if any(map(_answers, args)) or any(map(_answers, kwargs.values())) else native(full)
    if kwargs.get("copy", True) is not True or (full == "numpy.nan_to_num" and len(args) > 1):
        f = None  # with these NumPy may write into its argument and return it
    if f is not None and not (kwargs.get("retstep") or kwargs.get("like")):
        try:
            return _try(f, full, args, kwargs)
        except DECLINES as e:
            if explanation:
                explanation.declined(full, f"{type(e).__name__}: {e}".split("\n")[0][:90])
    return host(face._target, full, args, kwargs, note=f is not None or not _is_library(full))


def _nbytes(x):
    if type(x) is numpy.ndarray:
        return x.nbytes if _core._unchanged_far(x) else 0
    return sum(map(_nbytes, x)) if type(x) in (list, tuple) else 0


def host(target, full, args, kwargs, note=True):
    """Call NumPy's function. Values of its arguments that are still pending are computed first."""
    _present(args)
    _present(tuple(kwargs.values()))
    begin = time.perf_counter_ns()
    r = target(*args, **kwargs)
    ns = time.perf_counter_ns() - begin
    nbytes = sum(map(_nbytes, args)) if note else 0
    if nbytes:
        _host.note(full, nbytes)[2] += ns
    if explanation:
        most = max([a for a in (*args, r) if type(a) is numpy.ndarray], key=_telling, default=None)
        explanation.watch(full, 1 if most is None else most.size, ns, most)
    return r


def _telling(a):
    """A sort key for the array to report: the largest one, and of equally large ones the one with the widest strides.
    """
    return a.size, min((abs(s) for n, s in zip(a.shape, a.strides, strict=True) if n > 1 and s), default=0)
