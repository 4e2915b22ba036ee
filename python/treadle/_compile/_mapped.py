"""``vectorize`` with NumPy's parameters: a function of elements, compiled where it can be, else called on the host."""

import functools

import numpy

from .. import _core
from .._core import asarray, ndarray
from .._exchange import _host

PARAMETERS = ("pyfunc", "otypes", "doc", "excluded", "signature")
WHY = "it calls a Python function that is not compiled"

# What the compiler says of functions that it does not take.
REFUSALS = (TypeError, ValueError, NotImplementedError, OSError, _core.CompileError)


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
        from ._vectorize import UFunc

        try:
            return UFunc(pyfunc)
        except (AttributeError, *REFUSALS):  # no Python function
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


def on_host(fn, args):
    """fn of each element of arrays, called on the host."""
    return _host.fallback("numpy.vectorize", numpy.vectorize(fn), args, {}, WHY)
