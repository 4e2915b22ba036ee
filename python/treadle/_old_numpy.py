"""Differences between versions of NumPy: what has moved, is missing, or behaves differently."""

from types import SimpleNamespace

import numpy


def _exception(name):
    """An exception of NumPy's. It is in numpy.exceptions since 1.25 (RankWarning since 2.0), before that in numpy."""
    return getattr(getattr(numpy, "exceptions", None), name, None) or getattr(numpy, name)


_EXCEPTIONS = "AxisError ComplexWarning ModuleDeprecationWarning RankWarning TooHardError VisibleDeprecationWarning"
exceptions = SimpleNamespace(**{name: _exception(name) for name in _EXCEPTIONS.split()})
linalg = getattr(numpy.linalg, "_linalg", None) or numpy.linalg.linalg  # the module with the named results, since 1.25
array_utils = getattr(numpy.lib, "array_utils", None) or numpy.core.multiarray  # since 2.0


def _refuses_parts():
    """Whether ``x.real = v`` refuses what ``x.real[...] = v`` refuses. Before NumPy 2.5 it converted v to an array."""
    try:
        numpy.zeros(1, "u1").real = 300
    except OverflowError:
        return True
    return False


parts_are_items = _refuses_parts()
