"""``vectorize``: a function of numbers that takes arrays. With NumPy's parameters it is a function of elements,
compiled where it can be, else called on the host."""

import functools
import inspect

import numpy

from .. import _core, types
from .._core import asarray, ndarray
from .._exchange import _host
from ._function import Function, is_signature
from ._ufunc import REFUSALS, WHY, UFunc

PARAMETERS = ("pyfunc", "otypes", "doc", "excluded", "signature")


class Mapped:
    """numpy.vectorize. otypes: dtypes of the results; excluded: arguments that are passed as they are; signature: axes
    of arrays that the function takes whole."""

    def __init__(self, pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        self._theirs = numpy.vectorize(pyfunc, otypes, doc, excluded, cache, signature)
        functools.update_wrapper(self, pyfunc) if hasattr(pyfunc, "__name__") else None
        if doc is not None:
            self.__doc__ = doc
        self.pyfunc, self.otypes = pyfunc, self._theirs.otypes
        self._compiled = None
        if not excluded and signature is None and (otypes is None or len(self.otypes) == 1):
            self._compiled = self._compile(pyfunc)

    @staticmethod
    def _compile(pyfunc):
        try:
            return UFunc(pyfunc)
        except (AttributeError, *REFUSALS):  # not a Python function, or one that cannot be compiled
            return None

    def __call__(self, *args, **kwargs):
        arrays = _numbers(args) if self._compiled and not kwargs and len(args) == self._compiled.nin else []
        if arrays and all(a.size for a in arrays):
            try:
                self._compiled.resolve(arrays)
            except REFUSALS:
                self._compiled = None
            else:
                r = self._compiled(*_core._beside(self.__name__, *arrays))
                return r if self.otypes is None else r.astype(self.otypes[0])
        return _host.fallback("numpy.vectorize", self._theirs, args, kwargs, WHY)


def _numbers(args):
    """Arguments as arrays, or an empty list where one of them holds no numbers."""
    try:
        return [a if isinstance(a, ndarray) else asarray(a) for a in args]
    except (TypeError, ValueError):
        return []


def _is_of_operands(fn):
    """Whether fn is a Python function whose parameters are all positional and have to be given, as a ufunc's are."""
    if isinstance(fn, Function):
        fn = fn.py_func
    if not inspect.isfunction(fn) or fn.__defaults__:
        return False
    code = fn.__code__
    return not code.co_kwonlyargcount and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)


def mapped(given, options):
    """What vectorize gives for NumPy's parameters: a Mapped, or the decorator that makes one."""
    pyfunc = options.pop("pyfunc", given)
    if callable(pyfunc):
        return Mapped(pyfunc, **options)
    return lambda f: Mapped(f, **options)


def vectorize(ftylist_or_function=(), target="cpu", identity=None, **options):
    """Make a function of numbers a ufunc: ``@vectorize`` or ``@vectorize([float64(float64, float64)])``.

    With otypes, excluded, signature or doc it is numpy.vectorize, and so it is of builtin functions, classes, methods
    and functions whose parameters have defaults. What cannot be compiled is called on the host for
    treadle's arrays; fallbacks() tells.

    Parameters
    ----------
    ftylist_or_function : callable, str, signature or list of them, default ()
        The function, or signatures: the first one that the operands go into safely is taken. Without any it is compiled
        for what it meets.
    target : {"cpu", "parallel", "cuda"}, default 'cpu'
        The first two use all cores; "cuda" takes NumPy arrays to the current device and back.
    identity : number, optional
        What reduce begins with.
    **options : any
        As jit's.

    Returns
    -------
    UFunc
        Called with arrays and numbers; or a decorator.

    Raises
    ------
    TypeError
        The function cannot be compiled, or no signature takes the operands.

    Examples
    --------
    >>> larger = np.vectorize(lambda x, y: x if x > y else y)
    >>> larger(np.asarray([1.0, 5.0]), 3.0)
    array([3., 5.])
    """
    given = ftylist_or_function
    bare = callable(given) and not is_signature(given) and not options.keys() - {"cache"}
    if any(k in options for k in PARAMETERS) or (bare and not _is_of_operands(given)):
        return mapped(given, options)
    options.pop("cache", None)

    def decorate(fn):
        several = isinstance(given, list) or (
            isinstance(given, tuple) and given and is_signature(given[0]) and not isinstance(given[0], types.Type)
        )
        signatures = given if is_signature(given) else ()
        return UFunc(fn, list(signatures) if several else [signatures] if signatures else [], target, identity, options)

    return decorate if is_signature(given) else decorate(given)
