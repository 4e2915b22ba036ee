"""The module that unchanged programs get as numba: treadle's compilers and types.

Numba's functions run on the host. When treadle works on a GPU, they run there if their loops are independent;
otherwise their arrays come to the host. Numbers have the types that Numba gives them. Functions that treadle cannot
compile go to the real Numba, where it is installed.
"""

import functools
import inspect
import sys
import warnings

import numpy

from treadle import _core, experimental, prange, typed, types
from treadle._compile import _function, _guvectorize, _jit, _stencil, _vectorize
from treadle.types import *  # noqa: F403  (Numba has the types' names at its top)

from . import _numbacuda as cuda
from . import _numbaparts, _realnumba
from ._numbaparts import get_num_threads, get_thread_id

__all__ = [
    "cfunc", "cuda", "experimental", "get_num_threads", "get_thread_id", "guvectorize", "jit", "jit_module",
    "literal_unroll", "literally", "njit", "pndindex", "prange", "set_num_threads", "stencil", "typed", "typeof",
    "types", "vectorize",
]  # fmt: skip

_RULES = {"_numba": True}


def __getattr__(name):
    """Names that treadle lacks come from the real Numba, or in its absence from _numbaparts."""
    there = None if name.startswith("__") else _realnumba.numba()
    if there is None and name in _numbaparts.__all__:
        return getattr(_numbaparts, name)
    if there is None and hasattr(_numbaparts.errors, name):  # Numba has its errors' names at its top
        return getattr(_numbaparts.errors, name)
    if there is None or not hasattr(there, name):
        why = "treadle has no such part, and Numba is not installed" if there is None else "nor has Numba"
        raise AttributeError(f"module 'numba' has no attribute {name!r}: {why}")
    return getattr(there, name)


class HostFunction(_jit.CPUFunction):
    """A compiled function of the program. If treadle cannot compile it, the real Numba does, where it is installed."""

    def declare(self, args, returns):
        try:
            super().declare(args, returns)
        except TypeError:  # which compile_declared meets again, and hands the function to Numba
            if not _realnumba.is_there():
                raise

    def compile_declared(self, args):
        try:
            super().compile_declared(args)
        except Exception as why:
            self._leave(why)
            _realnumba.compile(_realnumba.dispatcher(self.py_func, self.targetoptions), [args])

    def _refused(self, why, args, kw):
        if not _realnumba.is_there():
            return super()._refused(why, args, kw)
        self._leave(why)
        return self._elsewhere(*args, **kw or {})

    def _leave(self, why):
        """Hand all further calls to Numba's dispatcher.

        Raises why where Numba is not installed, or where it is no refusal to compile."""
        if not isinstance(why, Exception) or isinstance(why, MemoryError) or not _realnumba.is_there():
            raise why
        where = f"{self.__name__}: Numba compiles it, treadle cannot: {why}"
        warnings.warn(where, RuntimeWarning, stacklevel=4)
        self._elsewhere = _realnumba.caller(_realnumba.dispatcher(self.py_func, self.targetoptions))


class FarFunction(HostFunction):
    """A compiled function of a program whose arrays are on a GPU."""

    _down = False  # set when a call showed that the loops need the host

    def __call__(self, *args):
        if not self._down:
            there = {i: _core._unchanged_target(a) for i, a in enumerate(args) if _is_far(a)}
            try:
                if there and all(target is not None for target in there.values()):
                    return _core._unchanged_shown(super().__call__(*[there.get(i, a) for i, a in enumerate(args)]))
            except TypeError:
                self._down = True
            finally:
                for i, target in there.items():
                    _core._unchanged_written(args[i], target)
        return super().__call__(*args)

    def _refused(self, why, args, kw):
        # not the last attempt: the call is repeated with NumPy's arrays
        if any(isinstance(a, _core.ndarray) for a in args):
            raise why
        return super()._refused(why, args, kw)


def _is_far(a):
    return type(a) is numpy.ndarray and _core._unchanged_far(a)


@functools.wraps(_jit.jit)
def jit(signature_or_function=None, **options):
    cls = HostFunction if _core.device().host else FarFunction
    if not options.get("locals"):
        options.pop("locals", None)
    if options.get("forceobj") or (_realnumba.is_there() and not _knows_locals(options)):
        return _elsewhere(signature_or_function, options)
    return _jit.decorator(cls, signature_or_function, options | _RULES)


njit = jit


@functools.wraps(_vectorize.vectorize)
def vectorize(ftylist_or_function=(), target="cpu", identity=None, **options):
    return _vectorize.vectorize(ftylist_or_function, target, identity, **options, **_RULES)


@functools.wraps(_guvectorize.guvectorize)
def guvectorize(ftylist, signature=None, target="cpu", **options):
    return _guvectorize.guvectorize(ftylist, signature, target, **options, **_RULES)


@functools.wraps(_stencil.stencil)
def stencil(func_or_mode="constant", **options):
    return _stencil.stencil(func_or_mode, **options, **_RULES)


def cfunc(sig, **options):
    """A function that C code can call by its address. The real Numba compiles it; without Numba its address leads to
    Python, which calls the compiled function, or the function itself where it takes pointers."""
    if not _realnumba.is_there():
        return functools.partial(_numbaparts.CFunc, *_function.declared_in(sig)[:1])
    made = _realnumba.numba().cfunc(_realnumba.real(sig), **options)
    return lambda fn: made(_realnumba.whole_copy(fn))


def _knows_locals(options):
    """Whether treadle has the types that the program declares of variables."""
    try:
        for name, t in options.get("locals", {}).items():
            _jit.variable_type(name, t)
    except TypeError:
        return False
    return True


def _elsewhere(given, options):
    """Compile with the real Numba: object mode, and variables of types that treadle has not. Without Numba return the
    Python function."""

    def decorate(fn):
        if not _realnumba.is_there():
            return fn
        signatures = _function.signatures_of(given) if given is not fn else ()
        return _realnumba.dispatcher(fn, options, signatures)

    return decorate if _jit.is_signature(given) else decorate(given)


def jit_module(**options):
    """Compile all functions of the caller's module that are defined so far, with these options for numba.jit."""
    scope = sys._getframe(1).f_globals
    for name, f in list(scope.items()):
        if inspect.isfunction(f) and f.__module__ == scope.get("__name__"):
            scope[name] = jit(**options)(f)


def set_num_threads(n):
    """Keep the number for get_num_threads, and tell the real Numba, if the program has loaded it."""
    _numbaparts.set_num_threads(n)
    if "numba" in sys.modules and _realnumba.is_there():
        sys.modules["numba"].set_num_threads(n)


def typeof(value):
    """The type of a value as an argument. Of what treadle has no type for, the real Numba's type."""
    try:
        return types.typeof(value)
    except TypeError:
        if not _realnumba.is_there():
            raise
        return _realnumba.numba().typeof(_realnumba.real(value))


def literal_unroll(items):
    """Return the items: treadle compiles the body of every loop over a tuple for each item."""
    return items


def literally(value):
    """Return the value: treadle compiles for the types of arguments, and knows constants where it sees them."""
    return value


literal_unroll._td_name, literally._td_name = "treadle.literal_unroll", "treadle.literally"


def pndindex(*shape):
    """numpy.ndindex. The caller allows the indices to come in any order."""
    return numpy.ndindex(*shape)


_realnumba.register({name: globals()[name] for name in __all__})
