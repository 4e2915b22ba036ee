"""``vectorize``: a function of numbers that takes arrays. With NumPy's parameters it is a function of elements,
compiled where it can be, else called on the host."""

import functools

import numpy

from .. import _core, types
from .._core import asarray, ndarray
from .._exchange import _host
from ._function import is_signature
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
        arrays = [a if isinstance(a, ndarray) else asarray(a) for a in args] if self._compiled and not kwargs else []
        if arrays and all(a.size for a in arrays):
            try:
                self._compiled.resolve(arrays)
            except REFUSALS:
                self._compiled = None
            else:
                r = self._compiled(*_core._beside(self.__name__, *arrays))
                return r if self.otypes is None else r.astype(self.otypes[0])
        return _host.fallback("numpy.vectorize", self._theirs, args, kwargs, WHY)


def mapped(given, options):
    """What vectorize gives for NumPy's parameters: a Mapped, or the decorator that makes one."""
    pyfunc = options.pop("pyfunc", given)
    if callable(pyfunc):
        return Mapped(pyfunc, **options)
    return lambda f: Mapped(f, **options)


def vectorize(ftylist_or_function=(), target="cpu", identity=None, **options):
    """Make a function of numbers a ufunc: ``@vectorize`` or ``@vectorize([float64(float64, float64)])``.

    With otypes, excluded, signature or doc it is numpy.vectorize. What cannot be compiled is called on the host for
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
    if any(k in options for k in PARAMETERS):
        return mapped(ftylist_or_function, options)
    options.pop("cache", None)

    def decorate(fn):
        several = isinstance(ftylist_or_function, list) or (
            isinstance(ftylist_or_function, tuple) and ftylist_or_function and is_signature(ftylist_or_function[0])
            and not isinstance(ftylist_or_function[0], types.Type)
        )  # fmt: skip
        given = ftylist_or_function if is_signature(ftylist_or_function) else ()
        return UFunc(fn, list(given) if several else [given] if given else [], target, identity, options)

    return decorate if is_signature(ftylist_or_function) else decorate(ftylist_or_function)
