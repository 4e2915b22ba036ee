"""The package's functions ask, from the first vmap on, whether a Batched is among their arguments.

NumPy's functions have a protocol for that (`__array_function__`), and so have ufuncs. Ours are plain functions: a call
costs nothing more until a program maps. Then each public function is replaced by one that looks at its arguments first.
"""

import functools
import inspect
import threading

import numpy

from . import _core
from ._vmap_array import RULES, boxed, call, find, running

_MADE = ("zeros", "empty", "ones", "full")
_SUBMODULES = ("linalg", "fft")
_SKIPPED = set(
    "vmap map use device devices synchronize from_dlpack fallbacks graph jit njit prange vectorize guvectorize stencil "
    "fuse profile debug install build load".split()
)
_lock = threading.Lock()
_done = False


def _asking(name, f):
    @functools.wraps(f)
    def fn(*args, **kwargs):
        if running.depth and find((args, kwargs)) is not None:
            return call(name, fn, args, kwargs)
        return f(*args, **kwargs)

    return fn


def _asking_ufunc(f):
    @functools.wraps(f)
    def ask(self, *args, **kwargs):
        if running.depth and find((args, kwargs)) is not None:
            return call(self.__name__ if self.__name__ in RULES else "ufunc", self, args, kwargs)
        return f(self, *args, **kwargs)

    return ask


def _made(f, args, kwargs):
    """zeros, empty, ones or full, called while a function runs for all items: every item has an array of its own, which
    it can write."""
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
    """Replaces the functions of treadle, treadle.linalg and treadle.fft, once."""
    global _done
    with _lock:
        if _done:
            return
        import treadle

        from . import _names, _spelled, _vmap_random, _vmap_rules, _vmap_shapes  # noqa: F401  (the table)
        from .scipy import _special_kernel

        names = {n for n, v in vars(treadle).items() if inspect.isroutine(v)} | set(treadle._FROM)
        for name in names - _SKIPPED:
            if name[0] != "_":
                _replace(treadle, name, name)
        for part in _SUBMODULES:
            module = getattr(treadle, part)
            for name in _names.numpys(part):
                if hasattr(module, name):
                    _replace(module, name, f"{part}.{name}")
        for kind in (_spelled.Spelled, _special_kernel.Kernel):
            kind.__call__ = _asking_ufunc(kind.__call__)
        _vmap_random.install()
        _done = True


def _replace(module, name, known):
    value = getattr(module, name)
    if value is getattr(numpy, name, None):  # NumPy's own: it asks by itself
        return
    if inspect.isroutine(value) and not isinstance(value, _core.ufunc):
        setattr(module, name, (_making if known in _MADE else _asking)(known, value))
