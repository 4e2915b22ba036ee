"""numba.extending: implementations of functions by the types of their arguments, for treadle and the real Numba."""

import functools

from treadle._compile import _overloads

from . import _realnumba

__all__ = ["intrinsic", "overload", "overload_attribute", "overload_method", "register_jitable"]


def __getattr__(name):
    """Names that treadle lacks come from the real Numba."""
    there = None if name.startswith("__") else _realnumba.numba("numba.extending")
    if there is None or not hasattr(there, name):
        raise AttributeError(f"module 'numba.extending' has no attribute {name!r}: it needs Numba's compiler")
    return getattr(there, name)


def overload(func, jit_options=None, strict=True, inline="never", prefer_literal=False, **kwargs):
    """Register an implementation: where compiled code calls func, compile what the decorated function returns for the
    argument types."""

    def decorate(factory):
        _overloads.register(func, factory)
        options = {"jit_options": jit_options or {}, "strict": strict, "inline": inline}
        _realnumba.extend(
            lambda: _realnumba.numba("numba.extending").overload(
                _realnumba.real(func), prefer_literal=prefer_literal, **options, **kwargs
            )(_realnumba.whole_copy(factory))
        )
        return factory

    return decorate


def _for_numba(register, of, attribute, options):
    """Keep a factory of a method or an attribute for the real Numba, whose class of types has the same name."""

    def decorate(factory):
        def extend():
            cls = getattr(_realnumba.numba("numba.core.types"), of.__name__, of)
            extending = _realnumba.numba("numba.extending")
            getattr(extending, register)(cls, attribute, **options)(_realnumba.whole_copy(factory))

        _realnumba.extend(extend)
        return factory

    return decorate


def overload_method(of, attribute, **options):
    """Register a method of a type for the real Numba. treadle compiles the methods that it knows, and no others."""
    return _for_numba("overload_method", of, attribute, options)


def overload_attribute(of, attribute, **options):
    """As overload_method, of an attribute."""
    return _for_numba("overload_attribute", of, attribute, options)


def register_jitable(*args, **kwargs):
    """Return the function itself, because treadle compiles every function that compiled code calls. The real Numba
    gets it too."""

    def decorate(fn):
        _realnumba.extend(
            lambda: _realnumba.numba("numba.extending").register_jitable(_realnumba.whole_copy(fn), **kwargs)
        )
        return fn

    return decorate if kwargs else decorate(*args)


class Intrinsic:
    """A function that only Numba's compiler can turn into code."""

    def __init__(self, fn, options):
        functools.update_wrapper(self, fn)
        self._fn, self._options = fn, options

    @functools.cached_property
    def _td_real(self):
        """Numba's own intrinsic, made at the first use."""
        return _realnumba.numba("numba.extending").intrinsic(_realnumba.whole_copy(self._fn), **self._options)

    def __call__(self, *args, **kwargs):
        return self._fn(*args, **kwargs)


def intrinsic(*args, **kwargs):
    """Keep the function for the real Numba."""
    return (lambda fn: Intrinsic(fn, kwargs)) if kwargs else Intrinsic(args[0], {})
