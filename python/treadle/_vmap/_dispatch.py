"""Makes the package's functions look for Batched arguments, from the first vmap on, and for sharded arrays, from the
first mesh on.

NumPy's functions and ufuncs have a protocol for that (`__array_function__`). Treadle's are plain functions, and should
cost nothing more until a program maps. So the first vmap replaces each public function by one that checks its
arguments first, both in the package and in all modules of the program that have imported it by name.
"""

import functools
import inspect
import sys
import threading
import types

import numpy

from .. import _core
from ._array import ALIASES, RULES, boxed, call, find, running

_MADE = ("zeros", "empty", "ones", "full")
_SUBMODULES = ("linalg", "fft")
_SKIPPED = set(
    "vmap map mesh shard use device devices synchronize from_dlpack fallbacks graph jit njit prange vectorize "
    "guvectorize stencil fuse profile debug install build load".split()
)
_lock = threading.Lock()
_done = False
_asked = {}  # id of a replaced function: (the function, its replacement)
_others = []  # besides Batched, what functions look for: (f(args, kwargs): is it there?, what is called then)


def ask(found, called):
    """Have the package's functions call `called(name, f, args, kwargs)` where found(args, kwargs), from now on."""
    install()
    if (found, called) not in _others:
        _others.append((found, called))


def _asking(name, f):
    @functools.wraps(f)
    def fn(*args, **kwargs):
        if running.depth and find((args, kwargs)) is not None:
            return call(name, fn, args, kwargs)
        for found, called in _others:
            if found(args, kwargs):
                return called(name, f, args, kwargs)
        return f(*args, **kwargs)

    return fn


def _asking_ufunc(f):
    @functools.wraps(f)
    def ask(self, *args, **kwargs):
        if running.depth and find((args, kwargs)) is not None:
            return call(self.__name__ if self.__name__ in RULES else "ufunc", self, args, kwargs)
        for found, called in _others:
            if found(args, kwargs):
                return called(self.__name__, self, args, kwargs)
        return f(self, *args, **kwargs)

    return ask


def _made(f, args, kwargs):
    """Make zeros, empty, ones or full inside of a mapped function. Every item gets an array of its own, which it can
    write."""
    shape, *rest = args if args else (kwargs.pop("shape"),)
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return boxed(f((*(t.size for t in running.traces), *shape), *rest, **kwargs))


def _making(name, f):
    asking = _asking(name, f)

    @functools.wraps(f)
    def fn(*args, **kwargs):
        if running.traces and find((args, kwargs)) is None:
            return _made(f, args, kwargs)
        return asking(*args, **kwargs)

    return fn


def install():
    """Replace the functions of treadle, treadle.linalg and treadle.fft, once."""
    global _done
    with _lock:
        if _done:
            return
        import treadle

        from .._numpy import _names, _spelled
        from ..scipy._special import _kernel as _special_kernel
        from . import _random, _rules, _shapes  # noqa: F401  (the table)

        names = {n for n, v in vars(treadle).items() if inspect.isroutine(v)} | set(treadle._FROM)
        made = {}
        for name in sorted(names - _SKIPPED, key=lambda n: (ALIASES.get(n, n) not in RULES, n)):
            if name[0] != "_":
                _replace(treadle, name, name, made)
        for part in _SUBMODULES:
            module, made = getattr(treadle, part), {}
            for name in _names.numpys(part):
                if hasattr(module, name):
                    _replace(module, name, f"{part}.{name}", made)
        for kind in (_spelled.Spelled, _special_kernel.Kernel):
            kind.__call__ = _asking_ufunc(kind.__call__)
        _random.install()
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] not in ("treadle", "numpy") and isinstance(module, types.ModuleType):
                _exchange(vars(module))
        _done = True


def _exchange(names):
    for name, value in list(names.items()):
        known = _asked.get(id(value))
        if known is not None and known[0] is value:
            names[name] = known[1]


def adopt(f):
    """Replace the package's functions in f's closure, and in its globals if they are not a module's."""
    f = getattr(f, "func", f)  # the function of a functools.partial
    f = getattr(f, "__func__", f)
    f = f if isinstance(f, types.FunctionType) else vars(type(f)).get("__call__")
    if not isinstance(f, types.FunctionType):
        return
    if _asked.get(id(getattr(f, "__wrapped__", None)), (None, None))[1] is f:  # a replacement itself
        return
    module = sys.modules.get(f.__globals__.get("__name__"))
    if module is None or vars(module) is not f.__globals__:
        _exchange(f.__globals__)
    for cell in f.__closure__ or ():
        try:
            known = _asked.get(id(cell.cell_contents))
        except ValueError:  # the cell has no value yet
            continue
        if known is not None and known[0] is cell.cell_contents:
            cell.cell_contents = known[1]


def _replace(module, name, known, made):
    """Replace one function. made maps the ids of this module's functions to replacements, so that two names of one
    function stay one function."""
    value = getattr(module, name)
    if value is getattr(numpy, name, None):  # NumPy's own functions use __array_function__
        return
    if inspect.isroutine(value) and not isinstance(value, _core.ufunc):
        if id(value) not in made:
            behind = _core._behind(value)
            fn = (_making if known in _MADE else _asking)(known, behind)
            fn.__module__, fn.__qualname__ = module.__name__, name  # where pickle finds this one
            if getattr(module, behind.__name__, None) is value:  # the other name is a synonym
                known = known.removesuffix(name) + behind.__name__
            made[id(value)] = value, fn if behind is value else _core.door(known, fn)
            made[id(made[id(value)][1])] = made[id(value)]  # what a synonym finds that is looked up later
        setattr(module, name, made[id(value)][1])
        _asked.setdefault(id(value), made[id(value)])
